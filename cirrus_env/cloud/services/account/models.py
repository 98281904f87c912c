"""Who the account belongs to, and whether the person in this conversation is that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from cirrus_env.cloud.model import Resource


@dataclass(frozen=True, slots=True)
class Profile(Resource):
    """What is registered for an account; its id is the account's. Never shown unmasked.

    Attributes:
        name: The account's name.
        real_name_type: Whose real name it is registered under.
        company: The registered company; empty for an individual.
        holder: The registered person.
        phone: The registered mobile number.
        email: The registered address.
        account_type: The account itself, or a RAM user of it.
        owner: For a RAM user: the account that it belongs to.
        created: When it was registered.
    """

    kind: ClassVar[str] = "account.profile"

    name: str = ""
    real_name_type: Literal["individual", "enterprise"] = "individual"
    company: str = ""
    holder: str = ""
    phone: str = ""
    email: str = ""
    account_type: Literal["owner", "ram"] = "owner"
    owner: str = ""
    created: int = 0


@dataclass(frozen=True, slots=True)
class Verification(Resource):
    """Where the identity check of this conversation stands; its id is the account's.

    Kept apart from the profile, which a check never changes.

    Attributes:
        verified: Whether a statement has matched.
        attempts: Statements that did not match.
    """

    kind: ClassVar[str] = "account.verification"

    verified: bool = False
    attempts: int = 0
