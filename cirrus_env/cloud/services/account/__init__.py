"""Account: the identity check, and the account's profile with everything personal masked."""

from __future__ import annotations

import unicodedata
from typing import Any

from cirrus_env.cloud.model import Operation, Service
from cirrus_env.cloud.services.account import masking
from cirrus_env.cloud.services.account.models import Profile, Verification
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError
from cirrus_env.world.clock import iso_minute

MOST_ATTEMPTS = 3
"""Statements that may fail before the check is closed for this conversation."""


def _profile(work: Work) -> Profile:
    profile = work.get(Profile, work.tenant)
    if profile is None:
        raise CloudError("EntityNotExist.Account", "The account has no profile.", 404)
    return profile


def _same(stated: str, registered: str) -> bool:
    def plain(text: str) -> str:
        folded = unicodedata.normalize("NFKC", text).casefold()
        return "".join(character for character in folded if character.isalnum())

    return bool(registered) and plain(stated) == plain(registered)


def _verify(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    profile = _profile(work)
    state = work.get(Verification, work.tenant) or Verification(work.tenant, work.tenant)
    if state.attempts >= MOST_ATTEMPTS:
        raise CloudError(
            "OperationDenied.AttemptsExceeded", "Too many statements did not match.", 403
        )
    checks = []
    if "PhoneLastFour" in arguments:
        digits = arguments["PhoneLastFour"]
        checks.append(len(profile.phone) >= 4 and profile.phone.endswith(digits))
    if "CompanyName" in arguments:
        checks.append(_same(arguments["CompanyName"], profile.company))
    if "HolderName" in arguments:
        checks.append(_same(arguments["HolderName"], profile.holder))
    if not checks:
        raise CloudError(
            "MissingParameter", "State PhoneLastFour, CompanyName or HolderName as well."
        )
    verified = arguments["AccountId"] == work.tenant and all(checks)
    if verified:
        state = Verification(state.id, state.tenant, True, state.attempts)
    else:
        state = Verification(state.id, state.tenant, state.verified, state.attempts + 1)
    work.put(state)
    return {
        "AccountId": arguments["AccountId"],
        "Verified": verified,
        "AttemptsLeft": MOST_ATTEMPTS - state.attempts,
    }


def _get_profile(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    profile = _profile(work)
    state = work.get(Verification, work.tenant)
    shown: dict[str, Any] = {
        "AccountId": profile.id,
        "AccountName": masking.name(profile.name),
        "AccountType": profile.account_type,
        "RealNameType": profile.real_name_type,
        "HolderName": masking.name(profile.holder),
        "CompanyName": masking.name(profile.company),
        "Mobile": masking.phone(profile.phone),
        "Email": masking.email(profile.email),
        "VerifiedInThisConversation": state is not None and state.verified,
    }
    if profile.owner:
        shown["OwnerAccountId"] = profile.owner
    if profile.created:
        shown["CreateTime"] = iso_minute(profile.created)
    return shown


SERVICE = Service(
    name="account",
    kinds=(Profile, Verification),
    operations=(
        Operation(
            "VerifyIdentity",
            "Checks what the customer states against the registered account: AccountId and at least"
            " one of the others. Tells only whether it matches; three failures close the check.",
            "write",
            {
                "type": "object",
                "properties": {
                    "AccountId": {"type": "string", "minLength": 1, "maxLength": 64},
                    "PhoneLastFour": {
                        "type": "string",
                        "pattern": "^[0-9]{4}$",
                        "description": "The last four digits of the registered mobile number.",
                    },
                    "CompanyName": {"type": "string", "minLength": 1, "maxLength": 128},
                    "HolderName": {"type": "string", "minLength": 1, "maxLength": 128},
                },
                "required": ["AccountId"],
                "additionalProperties": False,
            },
            _verify,
            propose={
                "en": (
                    ("verify", "confirm", "check"),
                    ("identity", "who you are", "account holder"),
                ),
                "zh": (("核实", "验证", "确认", "核验"), ("身份", "账号持有人")),
            },
        ),
        Operation(
            "GetAccountProfile",
            "Gets the account's profile; personal values are masked.",
            "read",
            {"type": "object", "properties": {}, "additionalProperties": False},
            _get_profile,
        ),
    ),
)
"""What the catalogue reads."""
