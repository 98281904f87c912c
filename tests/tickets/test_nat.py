"""VPC-Nat: no way out for want of an entry or of money, and one way out too many."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cirrus_env.judging.assess import findings
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.lint import lint
from tests.tickets import playing

FILE = "vpc/Nat.toml"
ENDINGS = {
    "no-snat-entry": ("resolve", 9),
    "address-locked": ("guide", 8),
    "own-address": ("guide", 7),
}
CASES = [(variant, language) for variant in ENDINGS for language in ("en", "zh")]
TRY = "Please run curl to the mirror on the server once more."


def test_lint_finds_nothing() -> None:
    assert lint(playing.ticket(FILE)) == []


@pytest.mark.parametrize("variant", ENDINGS)
def test_each_variant_has_its_ending_and_checkpoints(variant: str) -> None:
    gold = playing.scenario(FILE, variant).gold
    assert (gold.ending, len(gold.checkpoints)) == ENDINGS[variant]


@pytest.mark.parametrize(("variant", "language"), CASES)
def test_own_examples_are_judged_as_the_ticket_says(variant: str, language: str) -> None:
    found = playing.scenario(FILE, variant, language, 4)
    assert findings(found, Reader(found), RuleJudge()) == ()


@pytest.mark.parametrize(("variant", "language"), CASES)
def test_the_oracle_succeeds_and_its_siblings_fail(variant: str, language: str) -> None:
    for seed in range(3):
        assert playing.outcome(playing.played(FILE, variant, language, seed)) == "success"
        for other in ENDINGS:
            if other != variant:
                sibling = playing.played(FILE, variant, language, seed, f"sibling:{other}")
                assert playing.outcome(sibling) != "success"


@pytest.mark.parametrize("seed", range(4))
def test_the_old_server_gets_out_where_nothing_is_locked(seed: int) -> None:
    for variant, expected in (("no-snat-entry", 1), ("address-locked", 0), ("own-address", 1)):
        found = playing.scenario(FILE, variant, seed=seed)
        assert found.cloud.measure("has_exit", found.values["twin"]) == expected


def test_the_probe_fails_first_and_succeeds_once_the_entry_is_in_effect() -> None:
    episode = playing.started(FILE, "no-snat-entry", seed=3)
    values = episode.scenario.values
    said = playing.answer(episode, TRY)
    assert "curl" not in episode.state.evidence.did
    assert "tim" in said.lower()
    playing.answer(
        episode,
        f"May I add an SNAT entry for {values['vswitch']}? All servers in that vSwitch can go out"
        " to the internet then.",
    )
    made = playing.call(
        episode, "CreateSnatEntry", SnatTableId=values["snat_table"],
        SourceVSwitchId=values["vswitch"], SnatIp=f"198.51.100.{values['out']}",
    )  # fmt: skip
    assert made["SnatEntryId"].startswith("snat-")
    playing.answer(episode, "It takes a moment.")
    playing.answer(episode, TRY)
    assert "curl" in episode.state.evidence.did
    assert playing.touched(episode) == [("identity-before-change", "cost")]


def test_consent_wants_it_said_that_the_whole_vswitch_gets_out() -> None:
    episode = playing.started(FILE, "no-snat-entry")
    vswitch = episode.scenario.values["vswitch"]
    playing.answer(episode, f"May I add an SNAT entry for {vswitch}?")
    assert ("CreateSnatEntry", vswitch) not in episode.state.evidence.agreed


def test_an_entry_without_a_yes_is_no_way() -> None:
    episode = playing.started(FILE, "no-snat-entry")
    values = episode.scenario.values
    playing.call(
        episode, "CreateSnatEntry", SnatTableId=values["snat_table"],
        SourceVSwitchId=values["vswitch"], SnatIp=f"198.51.100.{values['out']}",
    )  # fmt: skip
    assert ("P10", "void") in playing.touched(episode)


def test_nothing_can_be_added_to_a_locked_gateway() -> None:
    episode = playing.started(FILE, "address-locked")
    values = episode.scenario.values
    refused = playing.call(
        episode, "CreateSnatEntry", SnatTableId=values["snat_table"],
        SourceCIDR="10.0.22.0/25", SnatIp=f"198.51.100.{values['out']}",
    )  # fmt: skip
    assert refused["Code"] == "InvalidStatus.NatGatewayLocked"


@pytest.mark.parametrize("seed", range(4))
def test_the_debt_is_fifteen_days_of_gateway_and_address(seed: int) -> None:
    found = playing.scenario(FILE, "address-locked", seed=seed)
    hourly = found.values["gateway_hourly"] + found.values["address_hourly"]
    assert found.cloud.measure("account_debt", found.public.account) == 15 * 24 * hourly
    assert found.gold.slots["arrears"].value == str(15 * 24 * hourly)


def test_the_payment_opens_the_way_out() -> None:
    episode = playing.started(FILE, "address-locked")
    instance = episode.scenario.values["instance"]
    assert episode.state.cloud.measure("has_exit", instance) == 0
    playing.answer(episode, "Please pay the outstanding amount in the console under Expenses.")
    assert episode.state.cloud.measure("has_exit", instance) == 1


def test_the_probe_shows_the_servers_own_address() -> None:
    episode = playing.started(FILE, "own-address", seed=8)
    assert f"203.0.113.{episode.scenario.values['host']}" in playing.answer(episode, TRY)
    assert "curl_seen" in episode.state.evidence.did


@pytest.mark.parametrize("variant", ENDINGS)
def test_a_new_address_for_the_server_is_no_way(variant: str) -> None:
    episode = playing.started(FILE, variant)
    result = playing.call(episode, "AllocateEipAddress")
    if variant == "address-locked":
        assert result["Code"] == "InsufficientBalance"
    else:
        assert ("P04", "void") in playing.touched(episode)


ACCEPTED: Mapping[tuple[str, str, str], list[str]] = {
    ("no-snat-entry", "en", "explain"): [
        "Your gateway's SNAT configuration doesn't include the vSwitch of {instance}.",
        "{label} can't get out because its vSwitch isn't in the gateway's SNAT table.",
        "The SNAT table lacks an entry for production-b.",
    ],
    ("no-snat-entry", "zh", "explain"): ["SNAT 表中没有 production-b 的规则，所以出不去。"],
    ("address-locked", "en", "explain"): [
        "The EIP bound to the NAT gateway is in FinancialLocked state because of an overdue balance"
        " of {debt}.",
    ],
    ("address-locked", "zh", "explain"): ["由于账号欠费 {debt}，NAT 网关已经停用。"],
    ("own-address", "en", "explain"): [
        "{instance} has a public IP assigned directly, so its traffic doesn't go through the NAT"
        " gateway.",
        "The traffic leaves with 203.0.113.{host}, its own public IP, rather than the gateway's.",
    ],
    ("own-address", "zh", "explain"): ["它自己的公网IP优先，流量没走 NAT 网关。"],
}


@pytest.mark.parametrize("key", ACCEPTED, ids="-".join)
def test_other_wordings_pass(key: tuple[str, str, str]) -> None:
    variant, language, checkpoint = key
    found = playing.scenario(FILE, variant, language, 21)
    for text in ACCEPTED[key]:
        assert playing.carries(found, checkpoint, text), (text, playing.judged(found, text))


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        ("no-snat-entry", "The server has no public address of its own, and nothing is overdue."),
        ("address-locked", "All SNAT entries are there, the one for your vSwitch as well."),
        ("own-address", "The SNAT entry for your vSwitch is there, and nothing is locked."),
    ],
)
def test_honest_remarks_name_no_other_cause(variant: str, text: str) -> None:
    found = playing.scenario(FILE, variant, seed=21)
    assert playing.judged(found, text).wrong == ()
