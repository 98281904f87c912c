"""Reinstalling a server: its system disk is destroyed and a new one made from an image."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import CLIENT_TOKEN, parameters, text, view
from cirrus_env.cloud.images import PUBLIC_IMAGES, PublicImage
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.ecs import errors
from cirrus_env.cloud.services.ecs.charging import unpaid_order
from cirrus_env.cloud.services.ecs.power import INSTANCE_ID, expired, find
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError


def image_of(work: Work, id: str) -> PublicImage:
    """The image as far as an installation needs it, or the refusal that it can't be used."""
    if id in PUBLIC_IMAGES:
        return PUBLIC_IMAGES[id]
    image = work.peek("image.image", id)
    if image is None:
        raise CloudError("InvalidImageId.NotFound", f"There is no image {id}.", 404)
    if view(image, "status") != "Available":
        raise CloudError("ImageNotAvailable", f"The image is {view(image, 'status')}.", 403)
    return PublicImage(
        view(image, "name"), view(image, "os_name"), view(image, "os_type"), view(image, "size_gib")
    )


def replace_system_disk(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ReplaceSystemDisk."""
    instance = find(work, arguments["InstanceId"])
    image = image_of(work, arguments["ImageId"])
    if "security" in instance.lock_reasons:
        raise errors.locked_for_security()
    if instance.lock_reasons or expired(instance, work.now):
        raise errors.expired_or_overdue()
    if unpaid_order(work, instance.id):
        raise CloudError("INST_HAS_UNPAID_ORDER", "An order for it waits for its payment.", 403)
    if instance.status != "Stopped":
        raise errors.wrong_status(instance.status, "Stopped")
    size: int = arguments.get("SystemDisk.Size", 0)
    if size and size < image.size_gib:
        raise CloudError(
            "InvalidSystemDiskSize.LessThanImageSize",
            f"The image needs {image.size_gib} GiB.", 403,
        )  # fmt: skip
    disk = "d-bp1" + work.stream("disk.disk").letters(17)
    while work.peek("disk.disk", disk) is not None:
        disk = "d-bp1" + work.stream("disk.disk").letters(17)
    work.change(
        instance, image_id=arguments["ImageId"], os_name=image.os_name, os_type=image.os_type,
        listening=("3389",) if image.os_type == "windows" else ("22",), guest_blocked=(),
        screen="", password_reset=True,
    )  # fmt: skip
    work.emit(
        "system_disk.replaced", instance=instance.id, image=arguments["ImageId"], size=size,
        disk=disk,
    )  # fmt: skip
    return {"DiskId": disk}


OPERATIONS: Final = (
    Operation(
        name="ReplaceSystemDisk",
        description=(
            "Reinstall a stopped instance from an image: its system disk is destroyed with all "
            "data and gets a new id, and older snapshots can't roll the new one back."
        ),
        effect="irreversible",
        parameters=parameters(
            ("InstanceId", "ImageId"),
            InstanceId=INSTANCE_ID,
            ImageId=text("A system or custom image, such as m-bp1abc.", 64),
            **{
                "SystemDisk.Size": {
                    "type": "integer",
                    "minimum": 20,
                    "maximum": 2048,
                    "description": "GiB; as before unless named.",
                }
            },
            ClientToken=CLIENT_TOKEN,
        ),
        run=replace_system_disk,
        resource="InstanceId",
        propose={
            "en": (("reinstall", "replace", "re-install"), ("system", "operating system", "image")),
            "zh": (("重装", "更换"), ("系统", "系统盘", "镜像")),
        },
    ),
)
