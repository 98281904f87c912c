"""Operations on security groups and on who is in them."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import (
    CLIENT_TOKEN,
    DRY_RUN,
    PAGING,
    REGION,
    REGION_ID,
    fuzzy,
    id_list,
    one_of,
    page,
    parameters,
    text,
    view,
)
from cirrus_env.cloud.model import Operation, Resource
from cirrus_env.cloud.services.network import errors
from cirrus_env.cloud.services.network.models import (
    GROUPS_AN_INSTANCE,
    Interface,
    Rule,
    SecurityGroup,
    Vpc,
)
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import iso_second

ECS: Final = "ecs.instance"
GROUP_ID: Final = text("The security group's id, such as sg-bp1abc.", 64)
INSTANCE_ID: Final = text("The instance's id, such as i-bp1abc.", 64)


def find(work: Work, id: str) -> SecurityGroup:
    """The group, or the refusal that there is none."""
    group = work.get(SecurityGroup, id)
    if group is None:
        raise errors.no_group(id)
    return group


def editable(work: Work, id: str) -> SecurityGroup:
    """The group if it may be changed by hand."""
    group = find(work, id)
    if group.service_managed:
        raise errors.managed(id)
    return group


def rules_of(work: Work, group_id: str) -> list[Rule]:
    """The group's rules, oldest first."""
    return [rule for rule in work.linked(Rule.kind, group_id) if isinstance(rule, Rule)]


def members(work: Work, group_id: str) -> list[Resource]:
    """The instances in a group."""
    return [i for i in work.peek_all(ECS) if group_id in view(i, "security_groups")]


def shown(work: Work, group: SecurityGroup) -> dict[str, Any]:
    """A group as DescribeSecurityGroups shows it."""
    return {
        "SecurityGroupId": group.id,
        "SecurityGroupName": group.name,
        "Description": group.description,
        "SecurityGroupType": group.group_type,
        "VpcId": group.vpc_id,
        "EcsCount": len(members(work, group.id)),
        "RuleCount": len(rules_of(work, group.id)),
        "ServiceManaged": group.service_managed,
        "CreationTime": iso_second(group.created_time),
    }


def describe(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeSecurityGroups: every filter narrows."""
    region = arguments.get("RegionId", REGION)
    found = [group for group in work.all(SecurityGroup) if group.region == region]
    if "SecurityGroupIds" in arguments:
        ids = id_list(arguments["SecurityGroupIds"], "SecurityGroupIds")
        found = [group for group in found if group.id in ids]
    if "SecurityGroupId" in arguments:
        found = [group for group in found if group.id == arguments["SecurityGroupId"]]
    if "InstanceId" in arguments:
        instance = work.peek(ECS, arguments["InstanceId"])
        joined = () if instance is None else view(instance, "security_groups")
        found = [group for group in found if group.id in joined]
    if "VpcId" in arguments:
        found = [group for group in found if group.vpc_id == arguments["VpcId"]]
    if "SecurityGroupName" in arguments:
        found = [group for group in found if fuzzy(arguments["SecurityGroupName"], group.name)]
    items, paging = page(found, arguments)
    return {"SecurityGroups": {"SecurityGroup": [shown(work, g) for g in items]}, **paging}


def create(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """CreateSecurityGroup: without rules, so that nothing comes in."""
    vpc = arguments["VpcId"]
    instances = work.peek_all(ECS)
    if work.get(Vpc, vpc) is None and all(view(i, "vpc_id") != vpc for i in instances):
        raise errors.no_vpc(vpc)
    group = SecurityGroup(
        work.new_id(SecurityGroup), work.tenant, name=arguments.get("SecurityGroupName", ""),
        description=arguments.get("Description", ""), vpc_id=vpc, created_time=work.now,
        group_type=arguments.get("SecurityGroupType", "normal"),
        region=arguments.get("RegionId", REGION),
    )  # fmt: skip
    work.put(group)
    return {"SecurityGroupId": group.id}


def delete(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DeleteSecurityGroup: only one that nothing is in and no other group's rule names."""
    group = editable(work, arguments["SecurityGroupId"])
    inside = [i.id for i in members(work, group.id)]
    inside += [e.id for e in work.all(Interface) if group.id in e.security_groups]
    if inside:
        raise errors.depends("SecurityGroup", f"{', '.join(inside[:10])} in it")
    naming = {
        r.group_id for r in work.all(Rule)
        if r.source_group_id == group.id and r.group_id != group.id
    }  # fmt: skip
    if naming:
        raise errors.depends("SecurityGroup", f"rules of {', '.join(sorted(naming))} name it")
    for rule in rules_of(work, group.id):
        work.delete(rule)
    work.delete(group)
    return {}


def _pair(work: Work, arguments: dict[str, Any]) -> tuple[SecurityGroup, Resource]:
    group = editable(work, arguments["SecurityGroupId"])
    instance = work.peek(ECS, arguments["InstanceId"])
    if instance is None:
        raise errors.no_instance(arguments["InstanceId"])
    if view(instance, "status") not in ("Running", "Stopped"):
        raise CloudError(
            "IncorrectInstanceStatus",
            f"The instance is {view(instance, 'status')}; it has to be Running or Stopped.", 403,
        )  # fmt: skip
    return group, instance


def join(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """JoinSecurityGroup."""
    group, instance = _pair(work, arguments)
    groups: tuple[str, ...] = view(instance, "security_groups")
    if group.id in groups:
        raise CloudError(
            "InvalidInstanceId.AlreadyExists", "The instance is in the group already.", 403
        )
    if view(instance, "network") != "vpc" or view(instance, "vpc_id") != group.vpc_id:
        raise CloudError(
            "InvalidInstanceId.NetworkTypeMismatch", "The instance isn't in the group's VPC.", 403
        )
    if len(groups) >= GROUPS_AN_INSTANCE:
        raise CloudError(
            "InstanceSecurityGroupLimitExceeded",
            f"An instance is in at most {GROUPS_AN_INSTANCE} groups.", 403,
        )  # fmt: skip
    work.emit("security_groups.changed", instance=instance.id, groups=(*groups, group.id))
    return {}


def leave(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """LeaveSecurityGroup: never the last one."""
    group, instance = _pair(work, arguments)
    groups: tuple[str, ...] = view(instance, "security_groups")
    if group.id not in groups:
        raise CloudError("InstanceNotInSecurityGroup", "The instance isn't in the group.", 403)
    if len(groups) == 1:
        raise CloudError(
            "InstanceLastSecurityGroup", "It is the instance's last group; it needs one.", 403
        )
    kept = tuple(id for id in groups if id != group.id)
    work.emit("security_groups.changed", instance=instance.id, groups=kept)
    return {}


OPERATIONS: Final = (
    Operation(
        name="DescribeSecurityGroups",
        description=(
            "List security groups with the number of their rules and instances. "
            "DescribeSecurityGroupAttribute gives the rules."
        ),
        effect="read",
        parameters=parameters(
            (),
            RegionId=REGION_ID,
            SecurityGroupId=text("Only this group.", 64),
            SecurityGroupIds=text("A JSON array of up to 100 ids as text.", 8192),
            InstanceId=text("Only the groups that this instance is in.", 64),
            VpcId=text("Only groups of this VPC.", 64),
            SecurityGroupName=text("A name or a part of one.", 128),
            **PAGING,
        ),
        run=describe,
    ),
    Operation(
        name="CreateSecurityGroup",
        description="Make a security group in a VPC; it has no rules, so nothing comes in.",
        effect="write",
        parameters=parameters(
            ("VpcId",),
            RegionId=REGION_ID,
            VpcId=text("The VPC's id, such as vpc-bp1abc.", 64),
            SecurityGroupName=text("The name.", 128),
            Description=text("The description.", 256),
            SecurityGroupType=one_of("normal", "enterprise", default="normal"),
            ClientToken=CLIENT_TOKEN,
        ),
        run=create,
        resource="VpcId",
        propose={
            "en": (("create", "make", "set up"), ("security group",)),
            "zh": (("创建", "新建"), ("安全组",)),
        },
    ),
    Operation(
        name="DeleteSecurityGroup",
        description="Delete a security group that nothing is in and that no rule names.",
        effect="irreversible",
        parameters=parameters(
            ("SecurityGroupId",), RegionId=REGION_ID, SecurityGroupId=GROUP_ID, DryRun=DRY_RUN
        ),
        run=delete,
        resource="SecurityGroupId",
        propose={
            "en": (("delete", "remove"), ("security group",)),
            "zh": (("删除", "移除"), ("安全组",)),
        },
    ),
    Operation(
        name="JoinSecurityGroup",
        description="Put an instance into one more security group of its VPC.",
        effect="write",
        parameters=parameters(
            ("SecurityGroupId", "InstanceId"),
            RegionId=REGION_ID,
            SecurityGroupId=GROUP_ID,
            InstanceId=INSTANCE_ID,
        ),
        run=join,
        resource="InstanceId",
        propose={
            "en": (("add", "put", "join"), ("security group", "group")),
            "zh": (("加入", "添加"), ("安全组",)),
        },
    ),
    Operation(
        name="LeaveSecurityGroup",
        description="Take an instance out of a security group; it has to stay in one.",
        effect="write",
        parameters=parameters(
            ("SecurityGroupId", "InstanceId"),
            RegionId=REGION_ID,
            SecurityGroupId=GROUP_ID,
            InstanceId=INSTANCE_ID,
        ),
        run=leave,
        resource="InstanceId",
        propose={
            "en": (("take out", "remove", "leave"), ("security group", "group")),
            "zh": (("移出", "退出"), ("安全组",)),
        },
    ),
)
