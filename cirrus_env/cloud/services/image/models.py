"""Custom images (domain/infrastructure.md, section 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from cirrus_env.cloud.api import REGION
from cirrus_env.cloud.model import Resource
from cirrus_env.world.clock import DAY, EPOCH

IMAGE_SECONDS: Final = 120
COPY_SECONDS: Final = 600
IMAGES: Final = 100
COPIES_AT_ONCE: Final = 5
SHARES: Final = 50
SHARES_A_CALL: Final = 10

LIFECYCLE: Final = frozenset(
    {
        ("Creating", "Available"),
        ("Creating", "CreateFailed"),
        ("Waiting", "Creating"),
        ("Available", "UnAvailable"),
        ("Available", "Deprecated"),
        ("Deprecated", "Available"),
    }
)


@dataclass(frozen=True, slots=True)
class Image(Resource):
    """One custom image.

    Attributes:
        snapshot_ids: The snapshots that hold its data; they can't be deleted before it.
        shared_with: The accounts that may use it.
        copied_from: The image of another region that it is a copy of.
        hourly_cents: What its own storage costs an hour; that of its snapshots is theirs.
    """

    kind: ClassVar[str] = "image.image"
    id_prefix: ClassVar[str] = "m-bp1"

    name: str = ""
    description: str = ""
    status: Literal[
        "Waiting", "Creating", "Available", "CreateFailed", "UnAvailable", "Deprecated"
    ] = "Available"
    os_name: str = "Ubuntu 22.04 64-bit"
    os_type: Literal["linux", "windows"] = "linux"
    size_gib: int = 40
    snapshot_ids: tuple[str, ...] = ()
    shared_with: tuple[str, ...] = ()
    copied_from: str = ""
    encrypted: bool = False
    region: str = REGION
    created_time: int = EPOCH - 60 * DAY
    hourly_cents: int = 0


def rates(image: Image, now: int) -> tuple[tuple[str, int], ...]:
    """Storage of its own, such as a copy's, is charged while it is there."""
    return (("image storage", image.hourly_cents),) if image.hourly_cents else ()
