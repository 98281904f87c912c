"""Billing-UnpaidOrder: of two unpaid orders the customer says which goes; or none is unpaid."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cirrus_env.judging.assess import findings
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.lint import lint
from tests.tickets import playing

FILE = "billing/UnpaidOrder.toml"
ENDINGS = {
    "drop-upgrade": ("resolve", 11),
    "drop-renewal": ("resolve", 11),
    "provisioning": ("guide", 5),
}
CASES = [(variant, language) for variant in ENDINGS for language in ("en", "zh")]
TWO = ("drop-upgrade", "drop-renewal")
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


@pytest.mark.parametrize("variant", TWO)
def test_a_search_without_dates_shows_none_of_the_two(variant: str) -> None:
    episode = playing.started(FILE, variant)
    values = episode.scenario.values
    assert playing.call(episode, "QueryOrders")["Data"]["TotalCount"] == 0
    found = playing.call(episode, "QueryOrders", **SPAN, PaymentStatus="Unpaid")["Data"]
    ids = {order["OrderId"] for order in found["OrderList"]["Order"]}
    assert ids == {values["upgrade_order"], values["renewal_order"]}


@pytest.mark.parametrize(
    ("variant", "code"),
    [
        ("drop-upgrade", "Instance.UnPaidOrder"),
        ("drop-renewal", "Instance.UnPaidOrder"),
        ("provisioning", "LastOrderProcessing"),
    ],
)
def test_the_open_order_blocks_a_renewal(variant: str, code: str) -> None:
    episode = playing.started(FILE, variant)
    id = episode.scenario.values["instance"]
    assert playing.call(episode, "RenewInstance", InstanceId=id)["Code"] == code


def test_the_customer_decides_which_order_goes() -> None:
    decided = {}
    for variant in ENDINGS:
        episode = playing.started(FILE, variant)
        episode.step("What should happen to the orders, do you still need each of them?")
        decided[variant] = sorted(episode.state.evidence.asked)
    assert decided == {
        "drop-upgrade": ["drop_upgrade"],
        "drop-renewal": ["drop_renewal"],
        "provisioning": ["leave_renewal"],
    }


@pytest.mark.parametrize("variant", TWO)
def test_the_wanted_order_is_not_given_up(variant: str) -> None:
    episode = playing.started(FILE, variant)
    values = episode.scenario.values
    wanted = values["renewal_order" if variant == "drop-upgrade" else "upgrade_order"]
    playing.answer(episode, f"May I cancel order {wanted}?")
    assert ("CancelOrder", wanted) not in episode.state.evidence.agreed
    playing.call(episode, "CancelOrder", OrderId=wanted)
    assert episode.state.void


@pytest.mark.parametrize("variant", TWO)
def test_all_three_orders_end_as_the_customer_wants(variant: str) -> None:
    episode = playing.played(FILE, variant, seed=3)
    values, cloud = episode.scenario.values, episode.state.cloud
    states = {
        name: getattr(cloud.find("billing.order", values[name]), "status", "")
        for name in ("upgrade_order", "renewal_order")
    }
    dropped, kept = ("upgrade_order", "renewal_order")[:: 1 if variant == "drop-upgrade" else -1]
    assert states == {dropped: "Cancelled", kept: "Paid"}
    renewed = "instance" if variant == "drop-upgrade" else "second_instance"
    ends = "ends" if variant == "drop-upgrade" else "second_ends"
    subscription = cloud.find("billing.subscription", values[renewed])
    assert getattr(subscription, "ends", 0) == values[ends] + 30 * 86400


def test_cancelling_is_a_mine_while_the_paid_order_is_under_way() -> None:
    episode = playing.started(FILE, "provisioning")
    values = episode.scenario.values
    paid = playing.call(episode, "CancelOrder", OrderId=values["upgrade_order"])
    assert paid["Code"] == "ResourceStatusError"
    assert not episode.state.void
    playing.call(episode, "CancelOrder", OrderId=values["renewal_order"])
    assert episode.state.void


def test_naming_unpaid_orders_voids_the_advice_to_wait() -> None:
    episode = playing.started(FILE, "provisioning")
    episode.step("You have two unpaid orders, that's why you are blocked.")
    assert episode.state.void


@pytest.mark.parametrize("variant", TWO)
def test_no_renewal_without_the_price(variant: str) -> None:
    episode = playing.started(FILE, variant)
    values = episode.scenario.values
    id = values["instance" if variant == "drop-upgrade" else "second_instance"]
    said = playing.answer(episode, f"May I renew {id} for one month?")
    assert ("RenewInstance", id) not in episode.state.evidence.agreed
    assert said


# -- other people's words --------------------------------------------------------------------------

ACCEPTED: Mapping[tuple[str, str, str], list[str]] = {
    ("drop-upgrade", "en", "explain"): [
        "I found two unpaid orders: {upgrade_order}, the upgrade of {label}, and {renewal_order},"
        " the renewal of {second}.",
        "Both orders are waiting for payment: upgrade order {upgrade_order} ({upgrade_price}) and"
        " renewal order {renewal_order} ({renewal_amount}).",
    ],
    ("drop-upgrade", "en", "agree_cancel"): [
        "Shall I cancel the upgrade order {upgrade_order} for {instance}?",
        "I'd cancel order {upgrade_order} now. Is that okay?",
    ],
    ("drop-upgrade", "en", "agree_retry"): [
        "Shall I now renew {instance} for one month at {price}?",
        "If you agree, I'll renew {instance} for one month. It costs {price}.",
    ],
    ("drop-upgrade", "en", "pay"): ["Please pay the renewal order {renewal_order} in the console."],
    ("drop-upgrade", "zh", "explain"): [
        "升级订单 {upgrade_order} 和续费订单 {renewal_order} 都还没有支付，所以操作被挡住。",
        "账号下有两个未支付的订单：{upgrade_order}（升级）、{renewal_order}（续费）。",
    ],
    ("drop-upgrade", "zh", "agree_cancel"): [
        "需要我帮您取消 {label} 的升级订单 {upgrade_order} 吗？"
    ],
    ("drop-renewal", "en", "agree_cancel"): ["May I cancel renewal order {renewal_order}?"],
    ("drop-renewal", "zh", "agree_retry"): [
        "我将为 {second_instance} 续费一个月，价格 {second_price}，可以吗？",
    ],
    ("provisioning", "en", "explain"): [
        "Your upgrade order {upgrade_order} is already paid, but it's still being processed.",
        "The upgrade ({upgrade_order}) was paid minutes ago and its provisioning is in progress.",
    ],
    ("provisioning", "en", "advise"): [
        "Please wait about half an hour and try the renewal again then.",
        "Once the upgrade has finished, you can renew {label} as usual.",
    ],
    ("provisioning", "zh", "explain"): ["升级订单 {upgrade_order} 已付款，系统还在处理。"],
    ("provisioning", "zh", "advise"): ["请耐心等待，升级完成后再续费即可，一般不超过30分钟。"],
}


@pytest.mark.parametrize(("variant", "language", "checkpoint"), ACCEPTED)
def test_honest_wordings_are_accepted(variant: str, language: str, checkpoint: str) -> None:
    found = playing.scenario(FILE, variant, language, 5)
    for text in ACCEPTED[variant, language, checkpoint]:
        assert playing.carries(found, checkpoint, text), text
