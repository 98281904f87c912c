"""Operations that show images and share them with other accounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cirrus_env.cloud.api import PAGING, REGION, REGION_ID, fuzzy, one_of, page, parameters, text
from cirrus_env.cloud.images import PUBLIC_IMAGES
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.model import Measure, Operation
from cirrus_env.cloud.services.image.making import IMAGE_ID, find, users
from cirrus_env.cloud.services.image.models import SHARES, SHARES_A_CALL, Image
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import iso_second


def _shown(work: Work, image: Image) -> dict[str, Any]:
    return {
        "ImageId": image.id,
        "ImageName": image.name,
        "Description": image.description,
        "ImageOwnerAlias": "self",
        "Status": image.status,
        "Progress": "0%" if image.status == "Creating" else "100%",
        "OSName": image.os_name,
        "OSType": image.os_type,
        "Size": image.size_gib,
        "Usage": "instance" if users(work, image.id) else "none",
        "IsSelfShared": "True" if image.shared_with else "False",
        "IsCopied": bool(image.copied_from),
        "Encrypted": image.encrypted,
        "RegionId": image.region,
        "CreationTime": iso_second(image.created_time),
        "DiskDeviceMappings": {
            "DiskDeviceMapping": [{"SnapshotId": id} for id in image.snapshot_ids]
        },
    }


def _system(id: str) -> dict[str, Any]:
    public = PUBLIC_IMAGES[id]
    return {
        "ImageId": id,
        "ImageName": public.name,
        "ImageOwnerAlias": "system",
        "Status": "Available",
        "OSName": public.os_name,
        "OSType": public.os_type,
        "Size": public.size_gib,
    }


def describe(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeImages: the account's own and the system's; every filter narrows."""
    owner = arguments.get("ImageOwnerAlias")
    region, status = arguments.get("RegionId", REGION), arguments.get("Status", "Available")
    shown: list[dict[str, Any]] = []
    if owner in (None, "self"):
        shown += [_shown(work, i) for i in work.all(Image) if i.region == region]
    if owner in (None, "system"):
        shown += [_system(id) for id in PUBLIC_IMAGES]
    if "ImageId" in arguments:
        ids = {id.strip() for id in arguments["ImageId"].split(",", 100)[:100]}
        shown = [i for i in shown if i["ImageId"] in ids]
    if "ImageName" in arguments:
        shown = [i for i in shown if fuzzy(arguments["ImageName"], i["ImageName"])]
    if "SnapshotId" in arguments:
        made = {i.id for i in work.all(Image) if arguments["SnapshotId"] in i.snapshot_ids}
        shown = [i for i in shown if i["ImageId"] in made]
    if "Usage" in arguments:
        shown = [i for i in shown if i.get("Usage") == arguments["Usage"]]
    if status != "All":
        shown = [i for i in shown if i["Status"] == status]
    items, paging = page(shown, arguments)
    return {"Images": {"Image": list(items)}, **paging}


def describe_shares(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeImageSharePermission."""
    image = find(work, arguments["ImageId"])
    accounts, paging = page(image.shared_with, arguments)
    return {
        "ImageId": image.id,
        "RegionId": image.region,
        "Accounts": {"Account": [{"AccountId": id} for id in accounts]},
        **paging,
    }


def share(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ModifyImageSharePermission: accounts are added and removed in one go."""
    image = find(work, arguments["ImageId"])
    adding, removing = arguments.get("AddAccount", ()), arguments.get("RemoveAccount", ())
    if not adding and not removing:
        raise CloudError("MissingParameter", "Name AddAccount or RemoveAccount.", 400)
    if adding and image.encrypted:
        raise CloudError(
            "OperationDenied.EncryptedImage", "An image with encrypted snapshots isn't shared.", 403
        )
    if image.status != "Available":
        raise CloudError("IncorrectImageStatus", f"The image is {image.status}.", 403)
    if work.tenant in adding:
        raise CloudError("InvalidAccount.Forbidden", "The image is this account's own.", 403)
    kept = [id for id in image.shared_with if id not in removing]
    accounts = tuple(dict.fromkeys((*kept, *adding)))
    if len(accounts) > SHARES:
        raise CloudError(
            "QuotaExceed.ImageShare", f"An image is shared with at most {SHARES} accounts.", 403
        )
    work.change(image, shared_with=accounts)
    return {}


def image_shares(cloud: Cloud, of: str) -> int:
    """How many accounts an image is shared with."""
    image = cloud.find(Image.kind, of)
    return len(image.shared_with) if isinstance(image, Image) else 0


MEASURES: Final[Mapping[str, Measure]] = {"image_shares": image_shares}

_ACCOUNTS: Final = {
    "type": "array",
    "items": {"type": "string", "pattern": "^[0-9]{5,20}$"},
    "minItems": 1,
    "maxItems": SHARES_A_CALL,
    "description": "Account ids, at most 10.",
}
OPERATIONS: Final = (
    Operation(
        name="DescribeImages",
        description=(
            "List the account's custom images and the system's, with status, snapshots and whether "
            "an instance uses them."
        ),
        effect="read",
        parameters=parameters(
            (), RegionId=REGION_ID, ImageId=text("Up to 100 ids, parted by commas.", 8192),
            ImageName=text("A name or a part of one.", 128),
            ImageOwnerAlias=one_of("self", "system"),
            Status=one_of("All", "Waiting", "Creating", "Available", "CreateFailed", "UnAvailable",
                          "Deprecated", default="Available"),
            SnapshotId=text("Only images made from this snapshot.", 64),
            Usage=one_of("instance", "none"), **PAGING,
        ),
        run=describe,
    ),
    Operation(
        name="DescribeImageSharePermission",
        description="List the accounts that a custom image is shared with.",
        effect="read",
        parameters=parameters(("ImageId",), RegionId=REGION_ID, ImageId=IMAGE_ID, **PAGING),
        run=describe_shares,
    ),
    Operation(
        name="ModifyImageSharePermission",
        description=(
            "Share a custom image with other accounts or end that; at most 10 in a call and 50 in "
            "all. One with encrypted snapshots can't be shared."
        ),
        effect="write",
        parameters=parameters(
            ("ImageId",), RegionId=REGION_ID, ImageId=IMAGE_ID, AddAccount=_ACCOUNTS,
            RemoveAccount=_ACCOUNTS,
        ),
        run=share,
        resource="ImageId",
        propose={
            "en": (("share", "unshare", "stop sharing"),),
            "zh": (("共享", "取消共享"),),
        },
    ),
)  # fmt: skip
