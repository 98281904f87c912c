"""Refusals of the elastic address operations, with the provider's codes."""

from __future__ import annotations

from cirrus_env.errors import CloudError


def not_found(id: str) -> CloudError:
    """No such address in this account."""
    return CloudError("InvalidAllocationId.NotFound", f"This account has no address {id}.", 404)


def no_instance(id: str) -> CloudError:
    """No such instance in this account."""
    return CloudError("InvalidInstanceId.NotFound", f"This account has no instance {id}.", 404)


def wrong_status(status: str, wanted: str) -> CloudError:
    """The address isn't in a status that the operation needs."""
    return CloudError("IncorrectEipStatus", f"The address is {status}; it has to be {wanted}.", 400)


def locked() -> CloudError:
    """Arrears lock the address."""
    return CloudError("IncorrectEipStatus", "The address is locked because money is owed.", 400)
