"""The system images that every account can use; custom ones are records of the image service."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal, NamedTuple


class PublicImage(NamedTuple):
    """One system image."""

    name: str
    os_name: str
    os_type: Literal["linux", "windows"]
    size_gib: int


PUBLIC_IMAGES: Final = MappingProxyType(
    {
        "m-bp1ubuntu2204base0001": PublicImage(
            "ubuntu_22_04_x64_20G", "Ubuntu 22.04 64-bit", "linux", 20
        ),
        "m-bp1debian12base00001": PublicImage("debian_12_x64_20G", "Debian 12 64-bit", "linux", 20),
        "m-bp1rocky9base0000001": PublicImage(
            "rocky_9_x64_20G", "Rocky Linux 9 64-bit", "linux", 20
        ),
        "m-bp1winserver2022base1": PublicImage(
            "win2022_x64_40G", "Windows Server 2022 64-bit", "windows", 40
        ),
    }
)
