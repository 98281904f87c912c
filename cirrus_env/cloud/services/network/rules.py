"""Operations on the rules of security groups: the tools and the customer's own console."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import CLIENT_TOKEN, REGION_ID, one_of, parameters, text
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.reach import network, port_bounds
from cirrus_env.cloud.services.network import errors
from cirrus_env.cloud.services.network.groups import GROUP_ID, editable, find, rules_of
from cirrus_env.cloud.services.network.models import RULES_A_GROUP, Rule, SecurityGroup
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import iso_second


def shown(rule: Rule) -> dict[str, Any]:
    """A rule as DescribeSecurityGroupAttribute shows it."""
    inward = rule.direction == "ingress"
    return {
        "SecurityGroupRuleId": rule.id,
        "Direction": rule.direction,
        "IpProtocol": rule.protocol,
        "PortRange": rule.port_range,
        "SourceCidrIp": rule.cidr if inward else "",
        "DestCidrIp": "" if inward else rule.cidr,
        "SourceGroupId": rule.source_group_id if inward else "",
        "DestGroupId": "" if inward else rule.source_group_id,
        "Policy": rule.policy,
        "Priority": rule.priority,
        "NicType": "intranet",
        "Description": rule.description,
        "CreateTime": iso_second(rule.created_time),
    }


def describe(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeSecurityGroupAttribute: the rules, strongest first."""
    group = find(work, arguments["SecurityGroupId"])
    wanted = arguments.get("Direction", "all")
    rules = [r for r in rules_of(work, group.id) if wanted in ("all", r.direction)]
    rules.sort(key=lambda r: (r.direction, r.priority, r.policy == "Accept", r.id))
    return {
        "SecurityGroupId": group.id,
        "SecurityGroupName": group.name,
        "Description": group.description,
        "VpcId": group.vpc_id,
        "RegionId": group.region,
        "InnerAccessPolicy": "Accept" if group.group_type == "normal" else "Drop",
        "Permissions": {"Permission": [shown(r) for r in rules]},
    }


def _fields(work: Work, arguments: dict[str, Any], direction: str) -> dict[str, Any]:
    """The rule that the arguments describe, checked."""
    side = "Source" if direction == "ingress" else "Dest"
    cidr, group = arguments.get(f"{side}CidrIp", ""), arguments.get(f"{side}GroupId", "")
    if bool(cidr) == bool(group):
        raise CloudError(
            "MissingParameter.Source", f"Name one of {side}CidrIp and {side}GroupId.", 400
        )
    if cidr and network(cidr) is None:
        raise CloudError(
            f"Invalid{side}CidrIp.Malformed", f"{cidr[:64]} is no IPv4 address or block.", 400
        )
    if group:
        find(work, group)
    protocol, ports = arguments["IpProtocol"], arguments["PortRange"]
    whole = protocol in ("ICMP", "ALL")
    if (ports != "-1/-1") if whole else (port_bounds(ports) is None):
        raise CloudError(
            "InvalidPortRange.Malformed",
            "Ports are first/last from 1/65535, or -1/-1 for ICMP and ALL.", 400,
        )  # fmt: skip
    return {
        "direction": direction, "protocol": protocol, "port_range": ports, "cidr": cidr,
        "source_group_id": group, "policy": arguments.get("Policy", "Accept"),
        "priority": arguments.get("Priority", 1),
    }  # fmt: skip


_SAME: Final = ("direction", "protocol", "port_range", "cidr", "source_group_id", "policy",
                "priority")  # fmt: skip


def _twin(rules: list[Rule], fields: dict[str, Any], but: str = "") -> Rule | None:
    for rule in rules:
        if rule.id != but and all(getattr(rule, name) == fields[name] for name in _SAME):
            return rule
    return None


def _authorize(work: Work, arguments: dict[str, Any], direction: str) -> dict[str, Any]:
    group = editable(work, arguments["SecurityGroupId"])
    fields = _fields(work, arguments, direction)
    present = rules_of(work, group.id)
    if _twin(present, fields) is not None:
        raise CloudError(
            "InvalidPermission.Duplicate", "The group has this very rule already.", 400
        )
    if len(present) >= RULES_A_GROUP:
        raise CloudError(
            "AuthorizationLimitExceed", f"A group has at most {RULES_A_GROUP} rules.", 403
        )
    rule = Rule(
        work.new_id(Rule), work.tenant, group_id=group.id, created_time=work.now,
        description=arguments.get("Description", ""), **fields,
    )  # fmt: skip
    work.put(rule)
    return {"SecurityGroupRuleId": rule.id}


def authorize(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """AuthorizeSecurityGroup: a rule for what comes in."""
    return _authorize(work, arguments, "ingress")


def authorize_egress(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """AuthorizeSecurityGroupEgress: a rule for what goes out."""
    return _authorize(work, arguments, "egress")


def _named(work: Work, group: SecurityGroup, id: str, direction: str) -> Rule:
    rule = work.get(Rule, id)
    if rule is None or rule.group_id != group.id or rule.direction != direction:
        raise errors.no_rule(id)
    return rule


def _revoke(work: Work, arguments: dict[str, Any], direction: str) -> dict[str, Any]:
    group = editable(work, arguments["SecurityGroupId"])
    if "SecurityGroupRuleId" in arguments:
        work.delete(_named(work, group, arguments["SecurityGroupRuleId"], direction))
        return {}
    for name in ("IpProtocol", "PortRange"):
        if name not in arguments:
            raise CloudError(
                "MissingParameter", "Name SecurityGroupRuleId, or IpProtocol and PortRange.", 400
            )
    twin = _twin(rules_of(work, group.id), _fields(work, arguments, direction))
    if twin is None:
        raise CloudError("InvalidPermission.NotFound", "The group has no such rule.", 404)
    work.delete(twin)
    return {}


def revoke(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """RevokeSecurityGroup."""
    return _revoke(work, arguments, "ingress")


def revoke_egress(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """RevokeSecurityGroupEgress."""
    return _revoke(work, arguments, "egress")


def modify(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """ModifySecurityGroupRule: what isn't named stays as it is."""
    group = editable(work, arguments["SecurityGroupId"])
    rule = _named(work, group, arguments["SecurityGroupRuleId"], "ingress")
    given = {k: v for k, v in arguments.items() if k in _RULE or k == "Description"}
    if not given:
        raise CloudError("MissingParameter", "Name what to change.", 400)
    whole: dict[str, Any] = {
        "IpProtocol": rule.protocol, "PortRange": rule.port_range, "Policy": rule.policy,
        "Priority": rule.priority,
    }  # fmt: skip
    if "SourceCidrIp" not in given and "SourceGroupId" not in given:
        if rule.cidr:
            whole["SourceCidrIp"] = rule.cidr
        else:
            whole["SourceGroupId"] = rule.source_group_id
    fields = _fields(work, {**whole, **given}, "ingress")
    if _twin(rules_of(work, group.id), fields, rule.id) is not None:
        raise CloudError(
            "InvalidPermission.Duplicate", "The group has this very rule already.", 400
        )
    work.change(rule, description=given.get("Description", rule.description), **fields)
    return {}


_PROTOCOL: Final = one_of("TCP", "UDP", "ICMP", "ALL")
_PORTS: Final = text("First and last port, such as 22/22; -1/-1 for ICMP and ALL.", 16)
_CIDR: Final = text("An address or block, such as 203.0.113.7/32.", 64)
_PRIORITY: Final = {
    "type": "integer", "minimum": 1, "maximum": 100, "default": 1,
    "description": "1 is strongest; at equal priority Drop wins.",
}  # fmt: skip
_POLICY: Final = one_of("Accept", "Drop", default="Accept")
_COMMON: Final = {
    "IpProtocol": _PROTOCOL, "PortRange": _PORTS, "Policy": _POLICY, "Priority": _PRIORITY,
}  # fmt: skip
_GROUP: Final = text("Another security group, such as sg-bp1abc.", 64)
_RULE: Final = {**_COMMON, "SourceCidrIp": _CIDR, "SourceGroupId": _GROUP}
_RULE_OUT: Final = {**_COMMON, "DestCidrIp": _CIDR, "DestGroupId": _GROUP}
_RULE_ID: Final = text("The rule's id, such as sgr-bp1abc.", 64)
_DESCRIPTION: Final = text("What the rule is for.", 256)
_NEEDED: Final = ("SecurityGroupId", "IpProtocol", "PortRange")
_CHANGED: Final = {
    name: {k: v for k, v in schema.items() if k != "default"} for name, schema in _RULE.items()
}
_OPEN_WORDS: Final = {
    "en": (
        ("open", "allow", "authorize", "authorise", "add", "permit", "let", "admit", "create"),
        ("port", "rule", "access", "traffic", "security group"),
    ),
    "zh": (("放行", "开放", "添加", "允许", "授权"), ("端口", "规则", "访问", "安全组")),
}
_CLOSE_WORDS: Final = {
    "en": (
        ("close", "revoke", "remove", "delete", "block"),
        ("port", "rule", "access", "traffic", "security group"),
    ),
    "zh": (("关闭", "撤销", "删除", "移除", "禁止"), ("端口", "规则", "访问", "安全组")),
}

OPERATIONS: Final = (
    Operation(
        name="DescribeSecurityGroupAttribute",
        description=(
            "The rules of a security group, strongest first. What no rule lets in is refused in "
            "silence; what no rule refuses may go out."
        ),
        effect="read",
        parameters=parameters(
            ("SecurityGroupId",),
            RegionId=REGION_ID,
            SecurityGroupId=GROUP_ID,
            Direction=one_of("ingress", "egress", "all", default="all"),
        ),
        run=describe,
    ),
    Operation(
        name="AuthorizeSecurityGroup",
        description="Add a rule for incoming traffic to a security group.",
        effect="write",
        parameters=parameters(
            _NEEDED, RegionId=REGION_ID, SecurityGroupId=GROUP_ID, **_RULE,
            Description=_DESCRIPTION, ClientToken=CLIENT_TOKEN,
        ),
        run=authorize,
        resource="SecurityGroupId",
        propose=_OPEN_WORDS,
    ),
    Operation(
        name="RevokeSecurityGroup",
        description=(
            "Delete a rule for incoming traffic, named by its id or by all that it says."
        ),
        effect="write",
        parameters=parameters(
            ("SecurityGroupId",), RegionId=REGION_ID, SecurityGroupId=GROUP_ID,
            SecurityGroupRuleId=_RULE_ID, **_RULE, ClientToken=CLIENT_TOKEN,
        ),
        run=revoke,
        resource="SecurityGroupId",
        propose=_CLOSE_WORDS,
    ),
    Operation(
        name="ModifySecurityGroupRule",
        description="Change a rule for incoming traffic; what isn't named stays.",
        effect="write",
        parameters=parameters(
            ("SecurityGroupId", "SecurityGroupRuleId"), RegionId=REGION_ID,
            SecurityGroupId=GROUP_ID, SecurityGroupRuleId=_RULE_ID, **_CHANGED,
            Description=_DESCRIPTION, ClientToken=CLIENT_TOKEN,
        ),
        run=modify,
        resource="SecurityGroupId",
        propose={
            "en": (("change", "modify", "narrow", "restrict", "update"), ("rule", "source")),
            "zh": (("修改", "收窄", "调整", "变更"), ("规则", "来源")),
        },
    ),
    Operation(
        name="AuthorizeSecurityGroupEgress",
        description="Add a rule for outgoing traffic to a security group.",
        effect="write",
        parameters=parameters(
            _NEEDED, RegionId=REGION_ID, SecurityGroupId=GROUP_ID, **_RULE_OUT,
            Description=_DESCRIPTION, ClientToken=CLIENT_TOKEN,
        ),
        run=authorize_egress,
        resource="SecurityGroupId",
        propose={
            "en": (("open", "allow", "add", "permit"), ("outbound", "outgoing", "egress")),
            "zh": (("放行", "开放", "添加", "允许"), ("出方向", "出站")),
        },
    ),
    Operation(
        name="RevokeSecurityGroupEgress",
        description=(
            "Delete a rule for outgoing traffic, named by its id or by all that it says."
        ),
        effect="write",
        parameters=parameters(
            ("SecurityGroupId",), RegionId=REGION_ID, SecurityGroupId=GROUP_ID,
            SecurityGroupRuleId=_RULE_ID, **_RULE_OUT, ClientToken=CLIENT_TOKEN,
        ),
        run=revoke_egress,
        resource="SecurityGroupId",
        propose={
            "en": (("close", "revoke", "remove", "delete"), ("outbound", "outgoing", "egress")),
            "zh": (("关闭", "撤销", "删除", "移除"), ("出方向", "出站")),
        },
    ),
    Operation(
        name="ConsoleAuthorizeSecurityGroup",
        description="The customer adds a rule for incoming traffic in the console.",
        effect="write",
        parameters=parameters(
            _NEEDED, SecurityGroupId=GROUP_ID, **_RULE, Description=_DESCRIPTION
        ),
        run=authorize,
        resource="SecurityGroupId",
        propose=_OPEN_WORDS,
        actor="customer",
    ),
    Operation(
        name="ConsoleRevokeSecurityGroup",
        description="The customer deletes a rule for incoming traffic in the console.",
        effect="write",
        parameters=parameters(
            ("SecurityGroupId",), SecurityGroupId=GROUP_ID, SecurityGroupRuleId=_RULE_ID, **_RULE
        ),
        run=revoke,
        resource="SecurityGroupId",
        propose=_CLOSE_WORDS,
        actor="customer",
    ),
)  # fmt: skip
