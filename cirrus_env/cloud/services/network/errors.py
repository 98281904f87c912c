"""Refusals of the network operations, with the provider's codes."""

from __future__ import annotations

from cirrus_env.errors import CloudError


def no_group(id: str) -> CloudError:
    """No such security group in this account."""
    return CloudError(
        "InvalidSecurityGroupId.NotFound", f"This account has no security group {id}.", 404
    )


def no_rule(id: str) -> CloudError:
    """No such rule in the group."""
    return CloudError(
        "InvalidSecurityGroupRuleId.NotFound", f"The security group has no rule {id}.", 404
    )


def no_instance(id: str) -> CloudError:
    """No such instance in this account."""
    return CloudError("InvalidInstanceId.NotFound", f"This account has no instance {id}.", 404)


def no_vpc(id: str) -> CloudError:
    """No such VPC in this account."""
    return CloudError("InvalidVpcId.NotFound", f"This account has no VPC {id}.", 404)


def no_vswitch(id: str) -> CloudError:
    """No such switch in this account."""
    return CloudError("InvalidVSwitchId.NotFound", f"This account has no vSwitch {id}.", 404)


def managed(id: str) -> CloudError:
    """Another product owns the group."""
    return CloudError(
        "InvalidOperation.ResourceManagedByCloudProduct",
        f"{id} belongs to another product, which alone may change it.",
        403,
    )


def depends(code: str, what: str) -> CloudError:
    """Something still needs it."""
    return CloudError(f"DependencyViolation.{code}", f"It is still used: {what}.", 400)
