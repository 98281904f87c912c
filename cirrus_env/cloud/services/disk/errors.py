"""Refusals of the disk and snapshot operations, with the provider's codes."""

from __future__ import annotations

from cirrus_env.errors import CloudError


def disk_not_found(id: str) -> CloudError:
    """No such disk in this account."""
    return CloudError("InvalidDiskId.NotFound", f"This account has no disk {id}.", 404)


def snapshot_not_found(id: str) -> CloudError:
    """No such snapshot in this account."""
    return CloudError("InvalidSnapshotId.NotFound", f"This account has no snapshot {id}.", 404)


def instance_not_found(id: str) -> CloudError:
    """No such instance in this account."""
    return CloudError("InvalidInstanceId.NotFound", f"This account has no instance {id}.", 404)


def wrong_status(status: str, wanted: str) -> CloudError:
    """The disk isn't in a status that the operation needs."""
    return CloudError("IncorrectDiskStatus", f"The disk is {status}; it has to be {wanted}.", 403)


def in_arrears() -> CloudError:
    """Arrears lock the disk."""
    return CloudError("DiskInArrears", "The disk is locked because money is owed.", 403)


def creating_snapshot() -> CloudError:
    """A snapshot of the disk is being taken."""
    return CloudError("DiskCreatingSnapshot", "A snapshot of the disk is being taken.", 403)


def locked_for_security() -> CloudError:
    """A security lock holds the instance."""
    return CloudError(
        "InstanceLockedForSecurity",
        "The instance is locked for security reasons; only the security desk can lift the lock.",
        403,
    )


def instance_overdue() -> CloudError:
    """The instance is locked because money is owed."""
    return CloudError(
        "InstanceExpiredOrInArrears",
        "The instance has expired or the account owes money; settle that first.",
        403,
    )
