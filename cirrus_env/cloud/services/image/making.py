"""Operations that make, copy and delete images; and what other services tell of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.api import (
    CLIENT_TOKEN,
    DRY_RUN,
    FLAG,
    REGION,
    REGION_ID,
    overdue,
    parameters,
    text,
    view,
)
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.image.models import (
    COPIES_AT_ONCE,
    COPY_SECONDS,
    IMAGE_SECONDS,
    IMAGES,
    Image,
)
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError

ECS: Final = "ecs.instance"
SNAPSHOT: Final = "disk.snapshot"
DISK: Final = "disk.disk"
IMAGE_ID: Final = text("The image's id, such as m-bp1abc.", 64)


def find(work: Work, id: str) -> Image:
    """The image, or the refusal that the account has none of its own."""
    image = work.get(Image, id)
    if image is None:
        raise CloudError("InvalidImageId.NotFound", f"This account has no image {id}.", 404)
    return image


def users(work: Work, image_id: str) -> list[str]:
    """The instances that were made from an image or reinstalled with it."""
    return [i.id for i in work.peek_all(ECS) if view(i, "image_id") == image_id]


def _check_name(work: Work, name: str, region: str) -> None:
    if name and any(i.name == name and i.region == region for i in work.all(Image)):
        raise CloudError("InvalidImageName.Duplicated", f"An image is called {name}.", 400)
    if sum(i.region == region for i in work.all(Image)) >= IMAGES:
        raise CloudError("QuotaExceed.Image", f"A region holds at most {IMAGES} images.", 400)


def create(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """CreateImage: of an instance, else of a system disk's snapshot."""
    region, name = arguments.get("RegionId", REGION), arguments.get("ImageName", "")
    _check_name(work, name, region)
    given: dict[str, Any] = {"name": name, "description": arguments.get("Description", "")}
    if "InstanceId" in arguments:
        image = _of_instance(work, arguments["InstanceId"], region, given)
    elif "SnapshotId" in arguments:
        image = _of_snapshot(work, arguments["SnapshotId"], region, given)
    else:
        raise CloudError("MissingParameter", "Name InstanceId or SnapshotId.", 400)
    return {"ImageId": image.id}


def _of_instance(work: Work, id: str, region: str, given: dict[str, Any]) -> Image:
    instance = work.peek(ECS, id)
    if instance is None:
        raise CloudError("InvalidInstanceId.NotFound", f"This account has no instance {id}.", 404)
    if view(instance, "status") not in ("Running", "Stopped"):
        raise CloudError(
            "IncorrectInstanceStatus",
            f"The instance is {view(instance, 'status')}; it has to be Running or Stopped.", 403,
        )  # fmt: skip
    disks = [d for d in work.linked(DISK, id) if view(d, "type") == "system"]
    image = Image(
        work.new_id(Image), work.tenant, status="Creating", os_name=view(instance, "os_name"),
        os_type=view(instance, "os_type"), region=region, created_time=work.now,
        size_gib=view(disks[0], "size_gib") if disks else 40,
        encrypted=bool(disks) and view(disks[0], "encrypted"), **given,
    )  # fmt: skip
    work.put(image)
    work.later(IMAGE_SECONDS, image, status="Available")
    if disks:
        work.emit("image.ordered", image=image.id, disk=disks[0].id)
    return image


def _of_snapshot(work: Work, id: str, region: str, given: dict[str, Any]) -> Image:
    snapshot = work.peek(SNAPSHOT, id)
    if snapshot is None:
        raise CloudError("InvalidSnapshotId.NotFound", f"This account has no snapshot {id}.", 404)
    if view(snapshot, "status") != "accomplished":
        raise CloudError(
            "InvalidSnapshotId.NotReady", f"The snapshot is {view(snapshot, 'status')}.", 403
        )
    if view(snapshot, "source_disk_type") != "system":
        raise CloudError(
            "InvalidSnapshotId.NotSystemDisk", "An image needs a system disk's snapshot.", 403
        )
    image = Image(
        work.new_id(Image), work.tenant, status="Creating", snapshot_ids=(id,), region=region,
        size_gib=view(snapshot, "source_size_gib"), encrypted=view(snapshot, "encrypted"),
        created_time=work.now, **given,
    )  # fmt: skip
    work.put(image)
    work.later(IMAGE_SECONDS, image, status="Available")
    work.emit("image.made", snapshot=id)
    return image


def on_snapshots_taken(work: Work, data: Mapping[str, Any]) -> None:
    """The disk service took the snapshot of an image that was ordered."""
    image = work.get(Image, data["image"])
    if image is not None:
        work.change(image, snapshot_ids=(data["snapshot"],))


def copy(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """CopyImage: to another region, as an image of its own that is charged there."""
    image = find(work, arguments["ImageId"])
    target = arguments["DestinationRegionId"]
    if target == image.region:
        raise CloudError("InvalidDestinationRegionId", "The image is in that region already.", 400)
    if image.status != "Available":
        raise CloudError("IncorrectImageStatus", f"The image is {image.status}.", 403)
    if overdue(work):
        raise CloudError("Account.Arrearage", "The account owes money; pay it first.", 400)
    going = [i for i in work.all(Image) if i.copied_from and i.status == "Creating"]
    if sum(i.region == target for i in going) >= COPIES_AT_ONCE:
        raise CloudError(
            "QuotaExceed.CopyImage", f"At most {COPIES_AT_ONCE} copies a region at once.", 400
        )
    name = arguments.get("DestinationImageName", image.name)
    _check_name(work, name, target)
    new = Image(
        work.new_id(Image), work.tenant, name=name, status="Creating", os_name=image.os_name,
        description=arguments.get("DestinationDescription", ""), os_type=image.os_type,
        size_gib=image.size_gib, copied_from=image.id, encrypted=image.encrypted, region=target,
        created_time=work.now, hourly_cents=-(-image.size_gib // 40),
    )  # fmt: skip
    work.put(new)
    work.later(COPY_SECONDS, new, status="Available")
    return {"ImageId": new.id}


def delete(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DeleteImage: its snapshots stay, and can be deleted from then on."""
    image = find(work, arguments["ImageId"])
    if not arguments.get("Force"):
        using = users(work, image.id)
        if using:
            raise CloudError(
                "ImageUsingByInstance", f"Used by {', '.join(using[:10])}; they can't be "
                "reinitialised without it.", 403,
            )  # fmt: skip
        if image.shared_with:
            raise CloudError("ImageUseShared", "The image is shared with other accounts.", 403)
    work.delete(image)
    work.emit("image.released", record=image)
    return {}


HANDLERS: Final = {"image.snapshot_taken": on_snapshots_taken}

OPERATIONS: Final = (
    Operation(
        name="CreateImage",
        description=(
            "Make a custom image of an instance, or of a system disk's snapshot. It takes minutes; "
            "the snapshot that holds its data is charged."
        ),
        effect="write",
        parameters=parameters(
            ("ImageName",), RegionId=REGION_ID,
            ImageName=text("The name; none of the region's images has it.", 128),
            InstanceId=text("Of this instance, such as i-bp1abc.", 64),
            SnapshotId=text("Of this snapshot, such as s-bp1abc; InstanceId wins.", 64),
            Description=text("The description.", 256), ClientToken=CLIENT_TOKEN,
        ),
        run=create,
        propose={
            "en": (("create", "make", "take", "build"), ("image",)),
            "zh": (("创建", "制作", "做"), ("镜像",)),
        },
    ),
    Operation(
        name="CopyImage",
        description="Copy a custom image to another region, where it is charged as well.",
        effect="write",
        parameters=parameters(
            ("ImageId", "DestinationRegionId"), RegionId=REGION_ID, ImageId=IMAGE_ID,
            DestinationRegionId=text("Such as cn-beijing.", 64),
            DestinationImageName=text("The copy's name.", 128),
            DestinationDescription=text("The copy's description.", 256), ClientToken=CLIENT_TOKEN,
        ),
        run=copy,
        resource="ImageId",
        propose={"en": (("copy",),), "zh": (("复制", "拷贝"),)},
    ),
    Operation(
        name="DeleteImage",
        description=(
            "Delete a custom image for good. Instances made from it can't be reinitialised then; "
            "its snapshots stay and go on being charged."
        ),
        effect="irreversible",
        parameters=parameters(
            ("ImageId",), RegionId=REGION_ID, ImageId=IMAGE_ID,
            Force={**FLAG, "description": "Even if instances use it or it is shared."},
            DryRun=DRY_RUN,
        ),
        run=delete,
        resource="ImageId",
        propose={"en": (("delete", "remove"),), "zh": (("删除",),)},
    ),
)  # fmt: skip
