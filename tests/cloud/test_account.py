"""The identity check tells whether a statement matches, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from cirrus_env.cloud.catalogue import catalogue
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.services.account import MOST_ATTEMPTS, masking
from cirrus_env.cloud.services.account.models import Profile
from cirrus_env.world.clock import EPOCH

ACCOUNT = "1234567890123456"
REGISTERED = {
    "name": "northwind-ops",
    "company": "Northwind Trading Ltd.",
    "holder": "Nadia Ferrow",
    "phone": "13900004821",
    "email": "nadia@example.com",
}


@pytest.fixture
def cloud() -> Cloud:
    cloud = Cloud(catalogue(("account",)), 7, ACCOUNT, EPOCH)
    cloud.insert(Profile(ACCOUNT, ACCOUNT, real_name_type="enterprise", **REGISTERED))  # type: ignore[arg-type]
    return cloud


def verify(cloud: Cloud, **stated: str) -> Any:
    return cloud.call("VerifyIdentity", {"AccountId": ACCOUNT, **stated})


@pytest.mark.parametrize(
    "stated",
    [
        {"PhoneLastFour": "4821"},
        {"CompanyName": "northwind trading ltd"},
        {"CompanyName": "Ｎorthwind Trading, Ltd."},
        {"HolderName": "nadia ferrow"},
        {"PhoneLastFour": "4821", "CompanyName": "Northwind Trading Ltd."},
    ],
)
def test_a_matching_statement_verifies(cloud: Cloud, stated: dict[str, str]) -> None:
    assert verify(cloud, **stated).result["Verified"] is True
    profile = cloud.call("GetAccountProfile", {}).result
    assert profile["VerifiedInThisConversation"] is True


@pytest.mark.parametrize(
    "stated",
    [
        {"PhoneLastFour": "4822"},
        {"CompanyName": "Northwind"},
        {"CompanyName": "..."},
        {"PhoneLastFour": "4821", "CompanyName": "Southwind Trading Ltd."},
        {"PhoneLastFour": "4821", "AccountId": "6543210987654321"},
    ],
)
def test_one_wrong_part_fails_the_whole_statement(cloud: Cloud, stated: dict[str, str]) -> None:
    result = verify(cloud, **stated).result
    assert (result["Verified"], result["AttemptsLeft"]) == (False, MOST_ATTEMPTS - 1)


def test_an_account_number_alone_is_no_statement(cloud: Cloud) -> None:
    assert verify(cloud).code == "MissingParameter"


@pytest.mark.parametrize("digits", ["482", "04821", "４８２１", "abcd", ""])
def test_the_last_four_are_four_digits(cloud: Cloud, digits: str) -> None:
    assert verify(cloud, PhoneLastFour=digits).code == "InvalidParameter"


def test_nothing_registered_matches_nothing_stated(cloud: Cloud) -> None:
    cloud.insert(Profile(ACCOUNT, ACCOUNT))
    assert verify(cloud, HolderName="-").result["Verified"] is False
    assert verify(cloud, PhoneLastFour="0000").result["Verified"] is False


def test_three_failures_close_the_check(cloud: Cloud) -> None:
    for _ in range(MOST_ATTEMPTS):
        assert verify(cloud, PhoneLastFour="0000").ok
    closed = verify(cloud, PhoneLastFour="4821")
    assert closed.code == "OperationDenied.AttemptsExceeded"


def test_no_result_shows_what_is_registered(cloud: Cloud) -> None:
    shown = [
        str(result.result)
        for result in (
            verify(cloud, PhoneLastFour="0000"),
            verify(cloud, HolderName="Nadia Ferrow"),
            cloud.call("GetAccountProfile", {}),
        )
    ]
    for text in shown:
        for value in REGISTERED.values():
            assert value not in text
        assert "4821" not in text


def test_a_check_changes_the_verification_and_never_the_profile(cloud: Cloud) -> None:
    changed = verify(cloud, PhoneLastFour="4821").changed
    assert [entry.after.kind for entry in changed if entry.after] == ["account.verification"]


@pytest.mark.parametrize(
    ("masked", "text"),
    [
        (masking.name("陈立群"), "陈***"),
        (masking.name(""), ""),
        (masking.phone("13900004821"), "139********"),
        (masking.phone(""), ""),
        (masking.email("nadia@example.com"), "n***@example.com"),
        (masking.email("nadia"), "n***"),
    ],
)
def test_masks(masked: str, text: str) -> None:
    assert masked == text


def test_an_account_without_a_profile_says_so() -> None:
    bare = Cloud(catalogue(("account",)), 7, ACCOUNT, EPOCH)
    assert bare.call("GetAccountProfile", {}).code == "EntityNotExist.Account"


def test_a_ram_user_s_owner_and_age_are_shown(cloud: Cloud) -> None:
    cloud.insert(
        Profile(ACCOUNT, ACCOUNT, account_type="ram", owner="6543210987654321", created=EPOCH)
    )
    shown = cloud.call("GetAccountProfile", {}).result
    assert (shown["AccountType"], shown["OwnerAccountId"]) == ("ram", "6543210987654321")
    assert shown["CreateTime"] == "2026-11-30T08:00Z"
