"""Billing-Coupon: a coupon for new purchases, an expired one, and two that another replaces."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cirrus_env.judging.assess import findings
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.lint import lint
from tests.tickets import playing

FILE = "billing/Coupon.toml"
ENDINGS = {
    "new-only": ("refuse", 5),
    "expired": ("refuse", 5),
    "too-small": ("resolve", 6),
    "wrong-product": ("resolve", 6),
}
RESOLVED = ("too-small", "wrong-product")


def test_lint_finds_nothing() -> None:
    assert lint(playing.ticket(FILE)) == []


@pytest.mark.parametrize("variant", ENDINGS)
def test_each_variant_has_its_ending_and_checkpoints(variant: str) -> None:
    gold = playing.scenario(FILE, variant).gold
    assert (gold.ending, len(gold.checkpoints)) == ENDINGS[variant]


@pytest.mark.parametrize("variant", ENDINGS)
def test_own_examples_are_judged_as_the_ticket_says(variant: str) -> None:
    found = playing.scenario(FILE, variant, "en", 4)
    assert findings(found, Reader(found), RuleJudge()) == ()


@pytest.mark.parametrize("variant", ENDINGS)
def test_the_oracle_succeeds_and_its_siblings_fail(variant: str) -> None:
    for seed in range(3):
        assert playing.outcome(playing.played(FILE, variant, "en", seed)) == "success"
        for other in ENDINGS:
            if other != variant:
                sibling = playing.played(FILE, variant, "en", seed, f"sibling:{other}")
                assert playing.outcome(sibling) != "success"


# -- the facts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "shown"),
    [
        ("new-only", {"ApplicableScenarios": "New purchase", "Status": "Available"}),
        ("expired", {"ApplicableScenarios": "Renewal", "Status": "Expired"}),
        ("too-small", {"ApplicableScenarios": "Renewal", "Status": "Available"}),
        ("wrong-product", {"ApplicableProducts": "disk", "Status": "Available"}),
    ],
)
def test_the_coupon_shows_why_it_does_not_apply(variant: str, shown: dict[str, str]) -> None:
    episode = playing.started(FILE, variant, seed=3)
    listed = playing.call(episode, "QueryCashCoupons")["Data"]["CashCoupon"]
    by_id = {coupon["CashCouponNo"]: coupon for coupon in listed}
    values = episode.scenario.values
    coupon = by_id[values["coupon"]]
    assert {key: coupon[key] for key in shown} == shown
    assert (float(coupon["MinimumOrderAmount"]) > values["price"] / 100) is (variant == "too-small")
    assert values["neighbour_coupon"] not in by_id


@pytest.mark.parametrize("variant", ENDINGS)
def test_the_cloud_refuses_that_coupon_on_that_order(variant: str) -> None:
    found = playing.scenario(FILE, variant, seed=2)
    cloud, values = found.cloud.fork(), found.values
    order = {"OrderId": values["renewal_order"]}
    for coupon in ("coupon", "stray_coupon", "spent_coupon"):
        tried = cloud.call("PayOrder", {**order, "CouponNo": values[coupon]}, "customer")
        assert tried.code == "NotApplicable"
    if variant in RESOLVED:
        other = {**order, "CouponNo": values["other_coupon"]}
        assert cloud.call("PayOrder", other, "customer").ok


def test_the_order_is_too_old_for_a_search_without_dates() -> None:
    episode = playing.started(FILE, "new-only")
    assert playing.call(episode, "QueryOrders")["Data"]["TotalCount"] == 0


@pytest.mark.parametrize("variant", RESOLVED)
def test_the_customer_pays_with_the_other_coupon(variant: str) -> None:
    episode = playing.played(FILE, variant, seed=6)
    values, cloud = episode.scenario.values, episode.state.cloud
    order = cloud.find("billing.order", values["renewal_order"])
    assert (getattr(order, "status", ""), getattr(order, "coupon", "")) == (
        "Paid",
        values["other_coupon"],
    )
    assert getattr(order, "voucher", 0) == values["other_nominal"]


@pytest.mark.parametrize("variant", ENDINGS)
def test_cancelling_to_buy_again_is_a_mine(variant: str) -> None:
    episode = playing.started(FILE, variant)
    playing.call(episode, "CancelOrder", OrderId=episode.scenario.values["renewal_order"])
    assert episode.state.void
    assert ("P04", "void") in playing.touched(episode)


@pytest.mark.parametrize("variant", ENDINGS)
def test_three_empty_turns_are_the_end_of_this_customer(variant: str) -> None:
    episode = playing.started(FILE, variant)
    for text in ("Let me see.", "One moment, please.", "I'm still looking."):
        assert episode.outcome is None
        episode.step(text)
    assert playing.outcome(episode) == "abandoned"


def test_another_reason_voids_a_refusal() -> None:
    episode = playing.started(FILE, "new-only")
    episode.step("Your coupon has expired.")
    assert episode.state.void


# -- other people's words --------------------------------------------------------------------------

ACCEPTED: Mapping[tuple[str, str], list[str]] = {
    ("new-only", "refuse"): [
        "Coupon {coupon} only covers new purchases, not renewals.",
        "{coupon} can't be used for this: its applicable scenario is New purchase.",
        "I'm afraid {coupon} is valid for new orders only, and yours is a renewal.",
    ],
    ("new-only", "offer"): [
        "You could use {coupon} on a new server, it's valid until {expires_on}.",
        "Save {coupon} for a new purchase before {expires_on}, and pay this order without it.",
    ],
    ("expired", "refuse"): [
        "Coupon {coupon} expired on {expires_on}.",
        "{coupon} is no longer valid, its validity ended on {expires_on}.",
        "Your voucher {coupon} has expired, and it can't be reactivated.",
    ],
    ("expired", "offer"): [
        "You can pay the order without the coupon.",
        "Please pay the {price} from your balance instead.",
    ],
    ("too-small", "explain"): [
        "{coupon} requires an order of at least {threshold}; yours is {price}. Use {other_coupon}"
        " instead.",
        "Your order doesn't reach the minimum of {threshold}. You have another coupon that fits,"
        " {other_coupon}.",
    ],
    ("wrong-product", "explain"): [
        "{coupon} is for disks only. Your other coupon, {other_coupon}, covers servers.",
        "That coupon can only be used on block storage. {other_coupon} works for this renewal.",
    ],
    ("too-small", "pay"): ["Please pay order {renewal_order} with {other_coupon}."],
}


@pytest.mark.parametrize(("variant", "checkpoint"), ACCEPTED)
def test_honest_wordings_are_accepted(variant: str, checkpoint: str) -> None:
    found = playing.scenario(FILE, variant, "en", 5)
    for text in ACCEPTED[variant, checkpoint]:
        assert playing.carries(found, checkpoint, text), text
