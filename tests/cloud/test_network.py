"""VPCs, security groups and rules: what each operation does, and every way in which it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from worlds import ACCOUNT, NEIGHBOUR, ok, refusal, world

from cirrus_env.cloud.services.ecs import Instance
from cirrus_env.cloud.services.nat import NatGateway, SnatEntry
from cirrus_env.cloud.services.network import (
    Interface,
    Route,
    Rule,
    SecurityGroup,
    Vpc,
    VSwitch,
)
from cirrus_env.cloud.services.network.models import RULES_A_GROUP

SERVICES = ("ecs", "vpc", "network", "nat")
I, G = "i-1", "sg-1"  # noqa: E741
OFFICE = "198.51.100.7"
MAIN = Vpc("vpc-1", ACCOUNT, name="main")
SWITCH = VSwitch("vsw-1", ACCOUNT, vpc_id="vpc-1", name="front")
GROUP = SecurityGroup(G, ACCOUNT, name="web", vpc_id="vpc-1")
OTHER = replace(GROUP, id="sg-2", name="db")
OWNED = replace(GROUP, id="sg-owned", service_managed=True)
SSH = Rule("sgr-1", ACCOUNT, group_id=G, cidr=f"{OFFICE}/32", priority=5)
RUNNING = Instance(
    I, ACCOUNT, security_groups=(G,), vpc_id="vpc-1", vswitch_id="vsw-1", private_ip="10.0.0.11",
    public_ip="203.0.113.9", listening=("22", "80", "127.0.0.1:8080"),
)  # fmt: skip


def cloud_of(*records):
    return world(*records, services=SERVICES)


def office(*records):
    return cloud_of(MAIN, SWITCH, GROUP, OTHER, OWNED, SSH, RUNNING, *records)


def rules(cloud, group=G, **arguments):
    shown = ok(cloud, "DescribeSecurityGroupAttribute", SecurityGroupId=group, **arguments)
    return shown["Permissions"]["Permission"]


def groups_of(cloud, id=I):
    return cloud.find("ecs.instance", id).security_groups


# -- groups --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [G, "sg-2", "sg-owned"]),
        ({"SecurityGroupIds": '["sg-2","sg-x"]'}, ["sg-2"]),
        ({"SecurityGroupId": "sg-2"}, ["sg-2"]),
        ({"InstanceId": I}, [G]),
        ({"InstanceId": "i-x"}, []),
        ({"VpcId": "vpc-x"}, []),
        ({"SecurityGroupName": "d*"}, ["sg-2"]),
        ({"RegionId": "cn-beijing"}, []),
        ({"PageSize": 1, "PageNumber": 2}, ["sg-2"]),
    ],
)
def test_every_filter_of_groups_narrows(filters, expected):
    cloud = office(replace(GROUP, id="sg-theirs", tenant=NEIGHBOUR))
    shown = ok(cloud, "DescribeSecurityGroups", **filters)["SecurityGroups"]["SecurityGroup"]
    assert [g["SecurityGroupId"] for g in shown] == expected


def test_a_group_shows_how_many_are_in_it():
    shown = ok(office(), "DescribeSecurityGroups", SecurityGroupId=G)
    [group] = shown["SecurityGroups"]["SecurityGroup"]
    assert (group["EcsCount"], group["RuleCount"], group["ServiceManaged"]) == (1, 1, False)


def test_a_new_group_lets_nothing_in():
    cloud = office()
    id = ok(cloud, "CreateSecurityGroup", VpcId="vpc-1", SecurityGroupName="new")["SecurityGroupId"]
    assert id.startswith("sg-bp1")
    assert rules(cloud, id) == []
    ok(cloud, "CreateSecurityGroup", VpcId=RUNNING.vpc_id)
    assert refusal(cloud, "CreateSecurityGroup", VpcId="vpc-x") == ("InvalidVpcId.NotFound", 404)


def test_an_unused_group_is_deleted_with_its_rules():
    cloud = office(replace(SSH, id="sgr-2", group_id="sg-2"))
    ok(cloud, "DeleteSecurityGroup", SecurityGroupId="sg-2")
    assert list(cloud.records("network.rule")) == ["sgr-1"]


@pytest.mark.parametrize(
    ("group", "records", "expected"),
    [
        ("sg-x", (), ("InvalidSecurityGroupId.NotFound", 404)),
        ("sg-owned", (), ("InvalidOperation.ResourceManagedByCloudProduct", 403)),
        (G, (), ("DependencyViolation.SecurityGroup", 400)),
        (
            "sg-2",
            (Interface("eni-1", ACCOUNT, security_groups=("sg-2",)),),
            ("DependencyViolation.SecurityGroup", 400),
        ),
        (
            "sg-2",
            (replace(SSH, id="sgr-2", cidr="", source_group_id="sg-2"),),
            ("DependencyViolation.SecurityGroup", 400),
        ),
    ],
)
def test_a_group_that_stays(group, records, expected):
    assert refusal(office(*records), "DeleteSecurityGroup", SecurityGroupId=group) == expected


def test_joining_and_leaving():
    cloud = office()
    ok(cloud, "JoinSecurityGroup", SecurityGroupId="sg-2", InstanceId=I)
    assert groups_of(cloud) == (G, "sg-2")
    assert refusal(cloud, "JoinSecurityGroup", SecurityGroupId="sg-2", InstanceId=I) == (
        "InvalidInstanceId.AlreadyExists",
        403,
    )
    ok(cloud, "LeaveSecurityGroup", SecurityGroupId=G, InstanceId=I)
    assert groups_of(cloud) == ("sg-2",)
    assert refusal(cloud, "LeaveSecurityGroup", SecurityGroupId="sg-2", InstanceId=I) == (
        "InstanceLastSecurityGroup",
        403,
    )
    assert refusal(cloud, "LeaveSecurityGroup", SecurityGroupId=G, InstanceId=I) == (
        "InstanceNotInSecurityGroup",
        403,
    )


@pytest.mark.parametrize("name", ["JoinSecurityGroup", "LeaveSecurityGroup"])
@pytest.mark.parametrize(
    ("group", "instance", "change", "expected"),
    [
        ("sg-x", I, {}, ("InvalidSecurityGroupId.NotFound", 404)),
        ("sg-owned", I, {}, ("InvalidOperation.ResourceManagedByCloudProduct", 403)),
        ("sg-2", "i-x", {}, ("InvalidInstanceId.NotFound", 404)),
        ("sg-2", I, {"status": "Starting"}, ("IncorrectInstanceStatus", 403)),
    ],
)
def test_whom_a_group_does_not_take(name, group, instance, change, expected):
    cloud = cloud_of(GROUP, OTHER, OWNED, replace(RUNNING, **change))
    assert refusal(cloud, name, SecurityGroupId=group, InstanceId=instance) == expected


def test_an_instance_joins_groups_of_its_own_network_and_not_too_many():
    cloud = cloud_of(OTHER, replace(RUNNING, vpc_id="vpc-2"))
    arguments = {"SecurityGroupId": "sg-2", "InstanceId": I}
    assert refusal(cloud, "JoinSecurityGroup", **arguments) == (
        "InvalidInstanceId.NetworkTypeMismatch",
        403,
    )
    full = replace(RUNNING, security_groups=tuple(f"sg-{n}" for n in range(10, 15)))
    assert refusal(cloud_of(OTHER, full), "JoinSecurityGroup", **arguments) == (
        "InstanceSecurityGroupLimitExceeded",
        403,
    )


def test_an_instance_is_put_into_known_groups_only():
    cloud = office()
    ok(cloud, "ModifyInstanceAttribute", InstanceId=I, SecurityGroupIds=["sg-2", G, "sg-2"])
    assert groups_of(cloud) == ("sg-2", G)
    assert refusal(
        cloud, "ModifyInstanceAttribute", InstanceId=I, SecurityGroupIds=["sg-theirs"]
    ) == ("InvalidSecurityGroupId.NotFound", 404)


# -- rules ---------------------------------------------------------------------------------------


def test_rules_are_listed_strongest_first_and_refusals_before_equals():
    drop = replace(SSH, id="sgr-2", policy="Drop", cidr="0.0.0.0/0")
    out = replace(SSH, id="sgr-3", direction="egress", priority=1)
    cloud = office(drop, out, replace(SSH, id="sgr-4", priority=1, cidr="", source_group_id="sg-2"))
    assert [r["SecurityGroupRuleId"] for r in rules(cloud)] == ["sgr-3", "sgr-4", "sgr-2", "sgr-1"]
    assert [r["SecurityGroupRuleId"] for r in rules(cloud, Direction="egress")] == ["sgr-3"]
    first, second, *_ = rules(cloud, Direction="ingress")
    assert (first["SourceGroupId"], first["SourceCidrIp"]) == ("sg-2", "")
    assert (second["Policy"], second["Priority"], second["PortRange"]) == ("Drop", 5, "22/22")
    assert refusal(cloud, "DescribeSecurityGroupAttribute", SecurityGroupId="sg-x") == (
        "InvalidSecurityGroupId.NotFound",
        404,
    )


@pytest.mark.parametrize("name", ["AuthorizeSecurityGroup", "ConsoleAuthorizeSecurityGroup"])
def test_a_rule_opens_a_port_for_whom_it_names(name):
    cloud = office()
    actor = "customer" if name.startswith("Console") else "assistant"
    assert cloud.measure("port_open", f"{I}:80:{OFFICE}") == 0
    ok(
        cloud, name, actor, SecurityGroupId=G, IpProtocol="TCP", PortRange="80/80",
        SourceCidrIp="198.51.100.0/24",
    )  # fmt: skip
    assert cloud.measure("port_open", f"{I}:80:{OFFICE}") == 1
    assert cloud.measure("port_open", f"{I}:80:192.0.2.1") == 0
    assert cloud.measure("port_open", f"{I}:80") == 0


RULE = {
    "SecurityGroupId": G, "IpProtocol": "TCP", "PortRange": "80/80", "SourceCidrIp": OFFICE,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"SecurityGroupId": "sg-x"}, ("InvalidSecurityGroupId.NotFound", 404)),
        (
            {"SecurityGroupId": "sg-owned"},
            ("InvalidOperation.ResourceManagedByCloudProduct", 403),
        ),
        ({"SourceCidrIp": None}, ("MissingParameter.Source", 400)),
        ({"SourceGroupId": "sg-2"}, ("MissingParameter.Source", 400)),
        ({"SourceCidrIp": None, "SourceGroupId": "sg-x"}, ("InvalidSecurityGroupId.NotFound", 404)),
        ({"SourceCidrIp": "office"}, ("InvalidSourceCidrIp.Malformed", 400)),
        ({"SourceCidrIp": "2001:db8::/32"}, ("InvalidSourceCidrIp.Malformed", 400)),
        ({"PortRange": "80"}, ("InvalidPortRange.Malformed", 400)),
        ({"PortRange": "90/80"}, ("InvalidPortRange.Malformed", 400)),
        ({"PortRange": "0/80"}, ("InvalidPortRange.Malformed", 400)),
        ({"PortRange": "1/65536"}, ("InvalidPortRange.Malformed", 400)),
        ({"PortRange": "８/80"}, ("InvalidPortRange.Malformed", 400)),
        ({"IpProtocol": "ICMP"}, ("InvalidPortRange.Malformed", 400)),
        ({"IpProtocol": "GRE"}, ("InvalidParameter", 400)),
        ({"Priority": 0}, ("InvalidParameter", 400)),
        ({"Priority": 101}, ("InvalidParameter", 400)),
        (
            {"PortRange": "22/22", "SourceCidrIp": f"{OFFICE}/32", "Priority": 5},
            ("InvalidPermission.Duplicate", 400),
        ),
    ],
)
def test_a_rule_that_is_not_taken(change, expected):
    arguments = {k: v for k, v in {**RULE, **change}.items() if v is not None}
    assert refusal(office(), "AuthorizeSecurityGroup", **arguments) == expected


def test_a_group_has_only_so_many_rules():
    many = [replace(SSH, id=f"sgr-{n}", port_range=f"{n}/{n}") for n in range(100, 298)]
    cloud = office(*many)
    ok(cloud, "AuthorizeSecurityGroup", **RULE)
    assert len(rules(cloud)) == RULES_A_GROUP
    assert refusal(cloud, "AuthorizeSecurityGroup", **{**RULE, "PortRange": "81/81"}) == (
        "AuthorizationLimitExceed",
        403,
    )


def test_a_rule_goes_by_its_id_or_by_what_it_says():
    cloud = office(replace(SSH, id="sgr-2", group_id="sg-2"))
    arguments = {
        "SecurityGroupId": G, "IpProtocol": "TCP", "PortRange": "22/22",
        "SourceCidrIp": f"{OFFICE}/32", "Priority": 5,
    }  # fmt: skip
    assert refusal(cloud, "RevokeSecurityGroup", **{**arguments, "Priority": 6}) == (
        "InvalidPermission.NotFound",
        404,
    )
    assert refusal(
        cloud, "RevokeSecurityGroup", SecurityGroupId=G, SecurityGroupRuleId="sgr-2"
    ) == ("InvalidSecurityGroupRuleId.NotFound", 404)
    assert refusal(cloud, "RevokeSecurityGroup", SecurityGroupId=G) == ("MissingParameter", 400)
    assert refusal(cloud, "RevokeSecurityGroup", SecurityGroupId="sg-owned") == (
        "InvalidOperation.ResourceManagedByCloudProduct",
        403,
    )
    ok(cloud, "RevokeSecurityGroup", **arguments)
    assert rules(cloud) == []
    ok(
        cloud, "ConsoleRevokeSecurityGroup", "customer", SecurityGroupId="sg-2",
        SecurityGroupRuleId="sgr-2",
    )  # fmt: skip
    assert rules(cloud, "sg-2") == []


def test_a_rule_is_narrowed_in_place():
    wide = replace(SSH, id="sgr-2", cidr="0.0.0.0/0")
    cloud = office(wide)
    arguments = {"SecurityGroupId": G, "SecurityGroupRuleId": "sgr-2"}
    assert cloud.measure("exposed_ports", G) == 1
    ok(cloud, "ModifySecurityGroupRule", **arguments, SourceCidrIp="198.51.100.8/32")
    assert cloud.measure("exposed_ports", G) == 0
    changed = cloud.find("network.rule", "sgr-2")
    assert (changed.cidr, changed.port_range, changed.priority) == ("198.51.100.8/32", "22/22", 5)
    ok(cloud, "ModifySecurityGroupRule", **arguments, Description="office", Priority=9)
    assert cloud.find("network.rule", "sgr-2").description == "office"
    assert refusal(cloud, "ModifySecurityGroupRule", **arguments) == ("MissingParameter", 400)
    assert refusal(
        cloud, "ModifySecurityGroupRule", **arguments, SourceCidrIp=f"{OFFICE}/32", Priority=5
    ) == ("InvalidPermission.Duplicate", 400)
    assert refusal(
        cloud, "ModifySecurityGroupRule", SecurityGroupId=G, SecurityGroupRuleId="sgr-x", Priority=5
    ) == ("InvalidSecurityGroupRuleId.NotFound", 404)


def test_a_rule_of_a_group_keeps_its_group_when_changed():
    cloud = office(replace(SSH, id="sgr-2", cidr="", source_group_id="sg-2"))
    ok(
        cloud, "ModifySecurityGroupRule", SecurityGroupId=G, SecurityGroupRuleId="sgr-2",
        PortRange="80/80",
    )  # fmt: skip
    changed = cloud.find("network.rule", "sgr-2")
    assert (changed.source_group_id, changed.port_range) == ("sg-2", "80/80")


def test_rules_for_what_goes_out():
    cloud = office()
    given = {
        "SecurityGroupId": G, "IpProtocol": "TCP", "PortRange": "443/443",
        "DestCidrIp": "0.0.0.0/0", "Policy": "Drop",
    }  # fmt: skip
    assert cloud.measure("outbound_open", f"{I}:443") == 1
    ok(cloud, "AuthorizeSecurityGroupEgress", **given)
    assert cloud.measure("outbound_open", f"{I}:443") == 0
    [rule] = rules(cloud, Direction="egress")
    assert (rule["DestCidrIp"], rule["SourceCidrIp"]) == ("0.0.0.0/0", "")
    assert refusal(
        cloud, "RevokeSecurityGroup", SecurityGroupId=G,
        SecurityGroupRuleId=rule["SecurityGroupRuleId"],
    ) == ("InvalidSecurityGroupRuleId.NotFound", 404)  # fmt: skip
    ok(cloud, "RevokeSecurityGroupEgress", **given)
    assert cloud.measure("outbound_open", f"{I}:443") == 1


# -- VPCs ----------------------------------------------------------------------------------------


def test_vpcs_with_what_is_in_them():
    cloud = office(NatGateway("ngw-1", ACCOUNT, vpc_id="vpc-1"), replace(MAIN, id="vpc-2", name=""))
    shown = ok(cloud, "DescribeVpcs", VpcId="vpc-1, vpc-x")["Vpcs"]["Vpc"]
    assert [v["VpcId"] for v in shown] == ["vpc-1"]
    assert shown[0]["VSwitchIds"] == {"VSwitchId": ["vsw-1"]}
    assert shown[0]["NatGatewayIds"] == {"NatGatewayIds": ["ngw-1"]}
    assert [v["VpcId"] for v in ok(cloud, "DescribeVpcs", VpcName="main")["Vpcs"]["Vpc"]] == [
        "vpc-1"
    ]
    assert ok(cloud, "DescribeVpcs", RegionId="cn-beijing")["TotalCount"] == 0
    counts = {
        r["ResourceType"]: r["ResourceCount"]
        for r in ok(cloud, "DescribeVpcAttribute", VpcId="vpc-1")["CloudResources"][
            "CloudResourceSetType"
        ]
    }
    assert counts == {"VSwitch": 1, "SecurityGroup": 3, "Instance": 1, "NatGateway": 1}
    assert refusal(cloud, "DescribeVpcAttribute", VpcId="vpc-x") == ("InvalidVpcId.NotFound", 404)


def test_switches_routes_and_interfaces_are_filtered():
    cloud = office(
        replace(SWITCH, id="vsw-2", zone="cn-hangzhou-i"),
        Route("rte-1", ACCOUNT, vpc_id="vpc-1", next_hop_id="ngw-1"),
        Route("rte-2", ACCOUNT, vpc_id="vpc-1", entry_type="System", next_hop_type="local"),
        Interface("eni-1", ACCOUNT, vpc_id="vpc-1", vswitch_id="vsw-1", owner="rds",
                  security_groups=(G,)),
        Interface("eni-2", ACCOUNT, vpc_id="vpc-1", vswitch_id="vsw-1"),
    )  # fmt: skip

    def switches(**given):
        shown = ok(cloud, "DescribeVSwitches", **given)["VSwitches"]["VSwitch"]
        return [s["VSwitchId"] for s in shown]

    def routes(**given):
        shown = ok(cloud, "DescribeRouteEntryList", **given)["RouteEntrys"]["RouteEntry"]
        return [r["RouteEntryId"] for r in shown]

    def interfaces(**given):
        shown = ok(cloud, "DescribeNetworkInterfaces", **given)["NetworkInterfaceSets"]
        return [(e["NetworkInterfaceId"], e["OwnerService"]) for e in shown["NetworkInterfaceSet"]]

    assert switches() == ["vsw-1", "vsw-2"]
    assert switches(ZoneId="cn-hangzhou-i") == ["vsw-2"]
    assert switches(VSwitchId="vsw-1", VpcId="vpc-1") == ["vsw-1"]
    assert switches(VpcId="vpc-2") == []
    assert routes() == ["rte-1", "rte-2"]
    assert routes(RouteEntryType="System") == ["rte-2"]
    assert routes(NextHopId="ngw-1") == ["rte-1"]
    assert interfaces(SecurityGroupId=G) == [("eni-1", "rds")]
    assert interfaces(VSwitchId="vsw-1") == [("eni-1", "rds"), ("eni-2", "")]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ((RUNNING,), ("DependencyViolation.VSwitch", 400)),
        ((NatGateway("ngw-1", ACCOUNT, vswitch_id="vsw-1"),), ("DependencyViolation.VSwitch", 400)),
        (
            (Interface("eni-1", ACCOUNT, vswitch_id="vsw-1"),),
            ("DependencyViolation.VSwitch", 400),
        ),
        (
            (
                NatGateway("ngw-1", ACCOUNT),
                SnatEntry("snat-1", ACCOUNT, nat_id="ngw-1", source_vswitch_id="vsw-1"),
            ),
            ("DependencyViolation.SnatEntry", 400),
        ),
    ],
)
def test_a_switch_that_is_used_stays(records, expected):
    cloud = cloud_of(MAIN, SWITCH, *records)
    assert refusal(cloud, "DeleteVSwitch", VSwitchId="vsw-1") == expected


def test_a_network_is_taken_down_from_the_inside_out():
    cloud = cloud_of(MAIN, SWITCH, GROUP, Route("rte-1", ACCOUNT, vpc_id="vpc-1"))
    assert refusal(cloud, "DeleteVpc", VpcId="vpc-1") == ("DependencyViolation.VpcResources", 400)
    ok(cloud, "DeleteVSwitch", VSwitchId="vsw-1")
    assert refusal(cloud, "DeleteVSwitch", VSwitchId="vsw-1") == ("InvalidVSwitchId.NotFound", 404)
    ok(cloud, "DeleteSecurityGroup", SecurityGroupId=G)
    ok(cloud, "DeleteVpc", VpcId="vpc-1")
    assert refusal(cloud, "DeleteVpc", VpcId="vpc-1") == ("InvalidVpcId.NotFound", 404)
    assert not cloud.records("network.route")
