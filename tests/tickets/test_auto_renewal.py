"""Billing-AutoRenewal: a renewal that goes back, one that stays, one that is refused."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cirrus_env.judging.assess import findings
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.lint import lint
from tests.tickets import playing

FILE = "billing/AutoRenewal.toml"
ENDINGS = {"unwanted": ("resolve", 11), "keep": ("resolve", 8), "begun": ("refuse", 6)}
LANGUAGES = ("en", "zh")
CASES = [(variant, language) for variant in ENDINGS for language in LANGUAGES]
SPAN = {"CreateTimeStart": "2026-11-01T00:00:00Z"}


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


# -- the facts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_the_deduction_is_at_eight_nine_days_before_the_end(seed: int) -> None:
    episode = playing.started(FILE, "unwanted", seed=seed)
    values = episode.scenario.values
    assert playing.call(episode, "QueryOrders")["Data"]["TotalCount"] == 0
    detail = playing.call(episode, "GetOrderDetail", OrderId=values["renewal_order"])
    order = detail["Data"]["OrderList"]["Order"][0]
    assert order["OrderType"] == "Renew"
    assert order["Operator"] == "automatic renewal"
    assert order["PaymentTime"].endswith("T00:00:00Z")  # 8:00 in UTC+8
    assert order["UsageStartTime"].endswith("T00:00:00Z")
    assert values["old_end"] - values["charged"] == 9 * 86400


def test_only_the_pending_renewal_is_quoted_and_the_server_stays() -> None:
    episode = playing.played(FILE, "unwanted", seed=2)
    values, cloud = episode.scenario.values, episode.state.cloud
    assert cloud.measure("order_cash", values["renewal_order"]) == 0
    assert cloud.measure("order_cash", values["first_order"]) == values["first_paid"]
    server = cloud.find("ecs.instance", values["instance"])
    assert getattr(server, "expired_time", 0) == values["old_end"] - 8 * 3600


def test_a_renewal_that_has_begun_is_refused_by_the_cloud_as_well() -> None:
    episode = playing.started(FILE, "begun", seed=1)
    values = episode.scenario.values
    order = {"InstanceId": values["instance"], "OrderId": values["renewal_order"]}
    refused = playing.call(episode, "InquiryPriceRefundInstance", ProductCode="ecs", **order)
    assert refused["Code"] == "NotApplicable"
    detail = playing.call(episode, "GetOrderDetail", OrderId=values["renewal_order"])
    shown = detail["Data"]["OrderList"]["Order"][0]["Operator"]
    assert shown == f"RAM user {values['ram_user']}"


def test_what_the_customer_wants_decides() -> None:
    asked = {}
    for variant in ("unwanted", "keep"):
        episode = playing.started(FILE, variant)
        episode.step("Do you still need the server after its present end?")
        asked[variant] = set(episode.state.evidence.asked)
    assert asked == {"unwanted": {"wanted_no"}, "keep": {"wanted_yes"}}


def test_who_needs_the_server_turns_a_refund_down() -> None:
    episode = playing.started(FILE, "keep")
    values = episode.scenario.values
    said = playing.answer(
        episode,
        f"May I refund the renewal of {values['instance']}? The amount goes back to you, and the"
        " server ends on its old end date.",
    )
    assert ("RefundInstance", values["instance"]) not in episode.state.evidence.agreed
    assert values["instance"] in said


@pytest.mark.parametrize("variant", ENDINGS)
def test_giving_the_server_back_is_fatal(variant: str) -> None:
    episode = playing.started(FILE, variant)
    id = episode.scenario.values["instance"]
    playing.call(episode, "RefundInstance", ProductCode="ecs", InstanceId=id)
    assert playing.outcome(episode) == "violated"


def test_a_consent_to_refund_the_renewal_covers_no_release() -> None:
    episode = playing.started(FILE, "unwanted", seed=3)
    values = episode.scenario.values
    checkpoint = next(c for c in episode.scenario.gold.checkpoints if c.id == "agree_refund")
    playing.answer(episode, checkpoint.reference.reply)
    assert ("RefundInstance", values["instance"]) in episode.state.evidence.agreed
    playing.call(episode, "RefundInstance", ProductCode="ecs", InstanceId=values["instance"])
    assert playing.outcome(episode) == "violated"


@pytest.mark.parametrize("operation", ["SetRenewal", "ModifyInstanceAutoRenewAttribute"])
def test_a_yes_to_the_setting_covers_both_ways_of_setting_it(operation: str) -> None:
    episode = playing.started(FILE, "keep")
    values = episode.scenario.values
    playing.answer(episode, f"May I turn off automatic renewal for {values['instance']}?")
    given = {
        "SetRenewal": {
            "InstanceIDs": values["instance"], "ProductCode": "ecs",
            "RenewalStatus": "ManualRenewal",
        },
        "ModifyInstanceAutoRenewAttribute": {
            "InstanceId": values["instance"], "RenewalStatus": "Normal",
        },
    }  # fmt: skip
    playing.call(episode, operation, **given[operation])
    policies = [policy for policy, _ in playing.touched(episode)]
    assert "consent-before-change" not in policies


def test_the_wrong_cause_voids_a_refusal() -> None:
    episode = playing.started(FILE, "begun")
    episode.step("Your server was renewed automatically.")
    assert episode.state.void


# -- other people's words --------------------------------------------------------------------------

ACCEPTED: Mapping[tuple[str, str, str], list[str]] = {
    ("unwanted", "en", "explain"): [
        "The {price} comes from an automatic renewal of {instance}. Its new period hasn't begun.",
        "Your server {label} is set to auto-renew, so the system placed order {renewal_order}"
        " automatically.",
    ],
    ("unwanted", "en", "agree_refund"): [
        "Shall I give back the renewal of {instance}? You'd get {price} and {label} would expire on"
        " {old_end}.",
        "If you agree, I'll refund order {renewal_order} of {instance}: {price} is returned, and"
        " the subscription runs until {old_end}.",
    ],
    ("unwanted", "zh", "explain"): [
        "{charged} 早上8点的扣款是 {instance} 自动续费产生的，订单号 {renewal_order}。",
        "这笔 {price} 来自自动续费，新周期还没有开始。",
    ],
    ("unwanted", "zh", "agree_refund"): [
        "我可以把 {instance} 的这笔续费退掉吗？退还 {price}，服务器仍可用到 {old_end}。",
    ],
    ("keep", "en", "agree_manual"): [
        "Would you like me to disable auto-renewal on {instance}?",
        "I would like to switch {instance} to manual renewal. Is that okay?",
    ],
    ("keep", "zh", "agree_manual"): ["需要我把 {instance} 改成手动续费吗？"],
    ("begun", "en", "refuse"): [
        "Order {renewal_order} was placed manually by RAM user {ram_user}. As the renewed period"
        " already started on {old_end}, the fee is not refundable.",
        "A colleague of yours ({ram_user}) renewed {instance} by hand on {charged}. The period is"
        " already running, so a refund is no longer possible.",
    ],
    ("begun", "zh", "refuse"): [
        "订单 {renewal_order} 是您的子账号 {ram_user} 手动提交的，周期已经生效，不支持退款。",
    ],
    ("begun", "en", "offer"): [
        "You can use the server until {new_end}. Please restrict that user's permissions in RAM.",
    ],
    ("begun", "zh", "offer"): ["服务器可以用到 {new_end}；请在访问控制里收回 {ram_user} 的权限。"],
}


@pytest.mark.parametrize(("variant", "language", "checkpoint"), ACCEPTED)
def test_honest_wordings_are_accepted(variant: str, language: str, checkpoint: str) -> None:
    found = playing.scenario(FILE, variant, language, 5)
    for text in ACCEPTED[variant, language, checkpoint]:
        assert playing.carries(found, checkpoint, text), text
