"""Custom images.

Events that it tells: ``image.ordered`` (image, disk): the disk service takes the snapshot and
answers ``image.snapshot_taken`` (image, snapshot); ``image.made`` (snapshot) and ``image.released``
(record), so that the snapshots know what needs them.
"""

from __future__ import annotations

from typing import Final

from cirrus_env.cloud.model import Service
from cirrus_env.cloud.services.image import making, sharing
from cirrus_env.cloud.services.image.models import LIFECYCLE, Image, rates

SERVICE: Final = Service(
    name="image",
    kinds=(Image,),
    operations=(*sharing.OPERATIONS, *making.OPERATIONS),
    lifecycle={Image.kind: LIFECYCLE},
    rates={Image.kind: rates},
    measures=sharing.MEASURES,
    handlers=making.HANDLERS,
)

__all__ = ["SERVICE", "Image"]
