"""Custom images: what each operation does, and every way in which it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from worlds import ACCOUNT, NEIGHBOUR, ok, refusal, world

from cirrus_env.cloud.services.disk import Disk, Snapshot
from cirrus_env.cloud.services.ecs import Instance
from cirrus_env.cloud.services.image import Image
from cirrus_env.cloud.services.image.models import IMAGES, rates
from cirrus_env.world.clock import EPOCH

M, I, S = "m-bp1golden", "i-1", "s-1"  # noqa: E741
SERVICES = ("ecs", "disk", "image")
GOLDEN = Image(M, ACCOUNT, name="golden", snapshot_ids=(S,))
SERVER = Instance(I, ACCOUNT, os_name="Debian 12 64-bit", image_id="m-bp1debian12base00001")
SYSTEM = Disk("d-1", ACCOUNT, instance_id=I, size_gib=60)
TAKEN = Snapshot(S, ACCOUNT, disk_id="d-1")


def cloud_of(*records, **more):
    return world(*records, services=SERVICES, **more)


def image(cloud, id=M) -> Image:
    found = cloud.find("image.image", id)
    assert isinstance(found, Image)
    return found


def usage(cloud, id=S):
    return cloud.find("disk.snapshot", id).usage


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"ImageOwnerAlias": "self"}, [M, "m-bp1old"]),
        ({"ImageId": f"{M}, m-x"}, [M]),
        ({"ImageName": "gold"}, [M]),
        ({"SnapshotId": S}, [M]),
        ({"Usage": "instance"}, ["m-bp1old"]),
        ({"ImageOwnerAlias": "self", "RegionId": "cn-beijing"}, []),
        ({"Status": "Creating"}, ["m-bp1new"]),
        ({"ImageOwnerAlias": "self", "Status": "All"}, [M, "m-bp1old", "m-bp1new"]),
        ({"ImageName": "ubuntu*"}, ["m-bp1ubuntu2204base0001"]),
    ],
)
def test_every_filter_narrows(filters, expected):
    cloud = cloud_of(
        GOLDEN, replace(GOLDEN, id="m-bp1old", name="old", snapshot_ids=()),
        replace(GOLDEN, id="m-bp1new", name="new", status="Creating", snapshot_ids=()),
        replace(SERVER, image_id="m-bp1old"), replace(GOLDEN, id="m-theirs", tenant=NEIGHBOUR),
    )  # fmt: skip
    shown = ok(cloud, "DescribeImages", **filters)["Images"]["Image"]
    assert [i["ImageId"] for i in shown] == expected


def test_an_image_of_a_server_holds_a_snapshot_of_its_system_disk():
    cloud = cloud_of(SERVER, SYSTEM)
    id = ok(cloud, "CreateImage", ImageName="web", InstanceId=I, SnapshotId="s-x")["ImageId"]
    made = image(cloud, id)
    assert (made.status, made.size_gib, made.os_name) == ("Creating", 60, "Debian 12 64-bit")
    [snapshot] = made.snapshot_ids
    assert usage(cloud, snapshot) == "image"
    cloud.advance(120)
    assert image(cloud, id).status == "Available"
    assert refusal(cloud, "DeleteSnapshot", SnapshotId=snapshot, Force=True) == (
        "SnapshotCreatedImage",
        403,
    )


def test_an_image_of_a_snapshot_needs_it():
    cloud = cloud_of(replace(TAKEN, usage="disk"))
    id = ok(cloud, "CreateImage", ImageName="web", SnapshotId=S)["ImageId"]
    assert (image(cloud, id).snapshot_ids, usage(cloud)) == ((S,), "image_disk")
    ok(cloud, "DeleteImage", ImageId=id)
    assert usage(cloud) == "disk"


def test_a_snapshot_is_needed_until_its_last_image_goes():
    cloud = cloud_of(replace(TAKEN, usage="image"), GOLDEN, replace(GOLDEN, id="m-2"))
    ok(cloud, "DeleteImage", ImageId=M)
    assert usage(cloud) == "image"
    ok(cloud, "DeleteImage", ImageId="m-2")
    assert usage(cloud) == "none"
    ok(cloud, "DeleteSnapshot", SnapshotId=S)


def test_an_image_in_a_world_without_disks():
    cloud = world(SERVER, services=("ecs", "image"))
    id = ok(cloud, "CreateImage", ImageName="web", InstanceId=I)["ImageId"]
    assert image(cloud, id).snapshot_ids == ()


@pytest.mark.parametrize(
    ("records", "arguments", "expected"),
    [
        ((), {}, ("MissingParameter", 400)),
        ((), {"InstanceId": I}, ("InvalidInstanceId.NotFound", 404)),
        (
            (replace(SERVER, status="Starting"),),
            {"InstanceId": I},
            ("IncorrectInstanceStatus", 403),
        ),
        (
            (SERVER, SYSTEM, replace(TAKEN, status="progressing")),
            {"InstanceId": I},
            ("DiskCreatingSnapshot", 403),
        ),
        (
            (replace(SERVER, status="Stopped"), replace(SYSTEM, status="ReIniting")),
            {"InstanceId": I},
            ("IncorrectDiskStatus", 403),
        ),
        ((), {"SnapshotId": S}, ("InvalidSnapshotId.NotFound", 404)),
        (
            (replace(TAKEN, status="progressing"),),
            {"SnapshotId": S},
            ("InvalidSnapshotId.NotReady", 403),
        ),
        (
            (replace(TAKEN, source_disk_type="data"),),
            {"SnapshotId": S},
            ("InvalidSnapshotId.NotSystemDisk", 403),
        ),
        (
            (TAKEN, replace(GOLDEN, name="web")),
            {"SnapshotId": S},
            ("InvalidImageName.Duplicated", 400),
        ),
        (
            (TAKEN, *(replace(GOLDEN, id=f"m-{n}", name=str(n)) for n in range(IMAGES))),
            {"SnapshotId": S},
            ("QuotaExceed.Image", 400),
        ),
    ],
)
def test_an_image_that_is_not_made(records, arguments, expected):
    assert refusal(cloud_of(*records), "CreateImage", ImageName="web", **arguments) == expected


COPY = {"ImageId": M, "DestinationRegionId": "cn-beijing"}


def test_a_copy_stands_in_the_other_region_and_costs_there():
    cloud = cloud_of(GOLDEN)
    id = ok(cloud, "CopyImage", **COPY, DestinationImageName="golden-2")["ImageId"]
    made = image(cloud, id)
    assert (made.region, made.name, made.copied_from, made.status) == (
        "cn-beijing", "golden-2", M, "Creating",
    )  # fmt: skip
    assert rates(made, EPOCH) == (("image storage", 1),)
    assert rates(GOLDEN, EPOCH) == ()
    cloud.advance(600)
    assert image(cloud, id).status == "Available"


@pytest.mark.parametrize(
    ("records", "arguments", "cash", "expected"),
    [
        ((), COPY, 1, ("InvalidImageId.NotFound", 404)),
        (
            (GOLDEN,),
            {**COPY, "DestinationRegionId": "cn-hangzhou"},
            1,
            ("InvalidDestinationRegionId", 400),
        ),
        ((replace(GOLDEN, status="Creating"),), COPY, 1, ("IncorrectImageStatus", 403)),
        ((GOLDEN,), COPY, -1, ("Account.Arrearage", 400)),
        (
            (GOLDEN, *(replace(GOLDEN, id=f"m-{n}", copied_from="m-x", status="Creating",
                               region="cn-beijing") for n in range(5))),
            COPY,
            1,
            ("QuotaExceed.CopyImage", 400),
        ),
        (
            (GOLDEN, replace(GOLDEN, id="m-2", region="cn-beijing")),
            COPY,
            1,
            ("InvalidImageName.Duplicated", 400),
        ),
    ],
)  # fmt: skip
def test_an_image_that_is_not_copied(records, arguments, cash, expected):
    assert refusal(cloud_of(*records, cash=cash), "CopyImage", **arguments) == expected


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ((GOLDEN, replace(SERVER, image_id=M)), ("ImageUsingByInstance", 403)),
        ((replace(GOLDEN, shared_with=("55555",)),), ("ImageUseShared", 403)),
    ],
)
def test_an_image_that_goes_only_by_force(records, expected):
    cloud = cloud_of(*records)
    assert refusal(cloud, "DeleteImage", ImageId=M) == expected
    ok(cloud, "DeleteImage", ImageId=M, Force=True)
    assert refusal(cloud, "DeleteImage", ImageId=M) == ("InvalidImageId.NotFound", 404)


def test_sharing_adds_and_removes_accounts():
    cloud = cloud_of(replace(GOLDEN, shared_with=("55555",)))
    ok(cloud, "ModifyImageSharePermission", ImageId=M, AddAccount=["66666", "77777", "66666"],
       RemoveAccount=["55555"])  # fmt: skip
    assert image(cloud).shared_with == ("66666", "77777")
    shown = ok(cloud, "DescribeImageSharePermission", ImageId=M, PageSize=1)
    assert (shown["TotalCount"], shown["Accounts"]) == (2, {"Account": [{"AccountId": "66666"}]})
    assert cloud.measure("image_shares", M) == 2
    assert cloud.measure("image_shares", "m-x") == 0


FIFTY = tuple(str(10_000 + n) for n in range(50))


@pytest.mark.parametrize(
    ("change", "arguments", "expected"),
    [
        ({"id": "m-x"}, {"AddAccount": ["66666"]}, ("InvalidImageId.NotFound", 404)),
        ({}, {}, ("MissingParameter", 400)),
        ({"encrypted": True}, {"AddAccount": ["66666"]}, ("OperationDenied.EncryptedImage", 403)),
        ({"status": "Creating"}, {"AddAccount": ["66666"]}, ("IncorrectImageStatus", 403)),
        ({}, {"AddAccount": [ACCOUNT]}, ("InvalidAccount.Forbidden", 403)),
        ({"shared_with": FIFTY}, {"AddAccount": ["66666"]}, ("QuotaExceed.ImageShare", 403)),
        ({}, {"AddAccount": list(FIFTY[:11])}, ("InvalidParameter", 400)),
        ({}, {"AddAccount": ["bob"]}, ("InvalidParameter", 400)),
        ({}, {"AddAccount": "66666"}, ("InvalidParameter", 400)),
    ],
)
def test_sharing_that_is_refused(change, arguments, expected):
    cloud = cloud_of(replace(GOLDEN, **change))
    assert refusal(cloud, "ModifyImageSharePermission", ImageId=M, **arguments) == expected
    assert refusal(cloud_of(), "DescribeImageSharePermission", ImageId=M)[1] == 404
