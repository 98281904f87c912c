"""Refusals of the ECS service, with the provider's codes."""

from __future__ import annotations

from cirrus_env.errors import CloudError


def not_found(id: str) -> CloudError:
    """No such instance in this account (a neighbour's doesn't exist either)."""
    return CloudError("InvalidInstanceId.NotFound", f"This account has no instance {id}.", 404)


def wrong_status(status: str, wanted: str) -> CloudError:
    """The instance isn't in a status that the operation needs."""
    return CloudError(
        "IncorrectInstanceStatus", f"The instance is {status}; it has to be {wanted}.", 403
    )


def locked_for_security() -> CloudError:
    """A security lock holds the instance."""
    return CloudError(
        "InstanceLockedForSecurity",
        "The instance is locked for security reasons; only the security desk can lift the lock.",
        403,
    )


def expired() -> CloudError:
    """The subscription has ended."""
    return CloudError("InstanceExpired", "The subscription has ended; renew it first.", 403)


def expired_or_overdue() -> CloudError:
    """The instance is locked because money is owed."""
    return CloudError(
        "InstanceExpiredOrInArrears",
        "The instance has expired or the account owes money; settle that first.",
        403,
    )


def insufficient_balance() -> CloudError:
    """The account can't pay for it."""
    return CloudError("InsufficientBalance", "The account's balance doesn't cover this.", 403)


def no_stock() -> CloudError:
    """The zone has no capacity for the type."""
    return CloudError(
        "OperationDenied.NoStock", "The zone has no capacity left for this instance type.", 403
    )


def charge_type_violation(message: str) -> CloudError:
    """The operation isn't for this way of paying."""
    return CloudError("ChargeTypeViolation", message, 403)


def arrearage() -> CloudError:
    """The account owes money, so nothing that costs may be bought."""
    return CloudError("Account.Arrearage", "The account owes money; pay what is due first.", 400)
