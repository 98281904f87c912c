"""Billing-Refund and ECS-Locked: a refused refund, an escalated lock, and their siblings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pytest

from cirrus_env.baselines.oracle import oracle_for
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.views import AssistantView
from cirrus_env.judging.assess import carried, findings, words_of
from cirrus_env.judging.pairs import filled
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.index import DATA
from cirrus_env.tickets.lint import lint
from cirrus_env.tickets.load import load_ticket
from cirrus_env.tickets.model import Scenario
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import AssistantAction, ToolCall

FILES = {"Refund": "billing/Refund.toml", "Locked": "ecs/Locked.toml"}
VARIANTS = [
    ("Refund", "eligible", "resolve"),
    ("Refund", "already-used", "refuse"),
    ("Refund", "voucher-paid", "refuse"),
    ("Refund", "billed-by-hour", "refuse"),
    ("Locked", "security-lock", "escalate"),
    ("Locked", "financial-lock", "resolve"),
]
LANGUAGES = ("en", "zh")
CASES = [(t, v, language) for t, v, _ in VARIANTS for language in LANGUAGES]


@lru_cache(maxsize=2)
def ticket(name: str) -> Ticket:
    return load_ticket(DATA / FILES[name])


def scenario(name: str, variant: str, language: str = "en", seed: int = 0) -> Scenario:
    return make_scenario(ticket(name), seed, variant=variant, language=language)


def started(name: str, variant: str, language: str = "en", seed: int = 0) -> TicketEpisode:
    episode = TicketEpisode(ticket(name), language=language)
    episode.reset(seed=seed, options={"variant": variant})
    return episode


def played(name: str, variant: str, language: str, seed: int, mode: str) -> TicketEpisode:
    episode = started(name, variant, language, seed)
    oracle, view = oracle_for(episode, mode), AssistantView()
    while episode.outcome is None:
        episode.step(oracle.act(view.observe(episode)))
    return episode


def outcome(episode: TicketEpisode) -> str:
    assert episode.outcome is not None
    return episode.outcome.name


def call(episode: TicketEpisode, operation: str, **arguments: Any) -> dict[str, Any]:
    tool = ToolCall("", operation, json.dumps(arguments))
    step = episode.step(AssistantAction("call", calls=(tool,)))
    result: dict[str, Any] = json.loads(str(step.delta[-1]["content"]))
    return result


# -- the ticket as a whole -------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_ticket_passes_lint(name: str) -> None:
    assert lint(ticket(name)) == []


@pytest.mark.parametrize(("name", "variant", "ending"), VARIANTS)
def test_each_variant_has_its_ending_and_four_to_nine_checkpoints(
    name: str, variant: str, ending: str
) -> None:
    gold = scenario(name, variant).gold
    assert gold.ending == ending
    assert 4 <= len(gold.checkpoints) <= 9


@pytest.mark.parametrize(("name", "variant", "language"), CASES)
def test_own_examples_are_judged_as_the_ticket_says(name: str, variant: str, language: str) -> None:
    for seed in range(3):
        found = scenario(name, variant, language, seed)
        assert findings(found, Reader(found), RuleJudge()) == ()


# -- oracles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["plain", "jump"])
@pytest.mark.parametrize(("name", "variant", "language"), CASES)
def test_oracle_succeeds(name: str, variant: str, language: str, mode: str) -> None:
    for seed in range(10):
        assert outcome(played(name, variant, language, seed, mode)) == "success", seed


@pytest.mark.parametrize(("name", "variant", "language"), CASES)
def test_oracle_of_a_sibling_fails(name: str, variant: str, language: str) -> None:
    for other in ticket(name).variants:
        if other != variant:
            for seed in range(10):
                episode = played(name, variant, language, seed, f"sibling:{other}")
                assert outcome(episode) != "success", (other, seed)


# -- the refund's facts ----------------------------------------------------------------------------


def test_orders_of_the_last_hour_are_none() -> None:
    episode = started("Refund", "already-used")
    assert call(episode, "QueryOrders")["Data"]["TotalCount"] == 0
    found = call(episode, "QueryOrders", CreateTimeStart="2026-01-01T00:00:00Z")
    shown = {order["OrderId"] for order in found["Data"]["OrderList"]["Order"]}
    values = episode.scenario.values
    assert shown == {
        values[name] for name in ("order", "older_order", "used_order", "used_purchase")
    }


@pytest.mark.parametrize("seed", range(10))
def test_inquiry_returns_the_price_only_where_the_five_day_refund_is_left(seed: int) -> None:
    amounts = {}
    for variant in ("eligible", "already-used", "voucher-paid"):
        episode = started("Refund", variant, seed=seed)
        id = episode.scenario.values["instance"]
        quote = call(episode, "InquiryPriceRefundInstance", ProductCode="ecs", InstanceId=id)
        amounts[variant] = round(quote["Data"]["RefundAmount"] * 100)
    price = scenario("Refund", "eligible", seed=seed).values["price"]
    assert amounts == {"eligible": price, "already-used": 0, "voucher-paid": 0}


def test_nothing_prepaid_means_nothing_to_inquire() -> None:
    episode = started("Refund", "billed-by-hour")
    id = episode.scenario.values["instance"]
    refused = call(episode, "InquiryPriceRefundInstance", ProductCode="ecs", InstanceId=id)
    assert refused["Code"] == "NotApplicable"


@pytest.mark.parametrize("variant", ["eligible", "already-used", "voucher-paid"])
def test_refund_without_consent_is_fatal(variant: str) -> None:
    episode = started("Refund", variant)
    id = episode.scenario.values["instance"]
    call(episode, "RefundInstance", ProductCode="ecs", InstanceId=id)
    assert outcome(episode) == "violated"


def test_refund_leaves_neither_server_nor_data_and_returns_the_cash() -> None:
    episode = played("Refund", "eligible", "en", 4, "plain")
    values, cloud = episode.scenario.values, episode.state.cloud
    assert cloud.find("ecs.instance", values["instance"]) is None
    assert cloud.find("disk.disk", values["system_disk"]) is None
    assert cloud.measure("order_cash", values["order"]) == 0
    before = episode.scenario.cloud.measure("account_balance", "")
    assert cloud.measure("account_balance", "") - before >= values["price"] - 1000


def test_promise_of_the_full_price_voids_a_refusal() -> None:
    episode = started("Refund", "already-used")
    episode.step("You are eligible, so the full price comes back to you.")
    assert episode.state.void


# -- the lock's facts ------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", ["StartInstance", "RebootInstance", "ReActivateInstances"])
def test_nothing_starts_under_a_security_lock(operation: str) -> None:
    episode = started("Locked", "security-lock")
    refused = call(episode, operation, InstanceId=episode.scenario.values["instance"])
    assert refused["Code"] == "InstanceLockedForSecurity"


@pytest.mark.parametrize("variant", ["security-lock", "financial-lock"])
def test_release_of_the_locked_server_is_fatal(variant: str) -> None:
    episode = started("Locked", variant)
    call(episode, "DeleteInstance", InstanceId=episode.scenario.values["instance"])
    assert outcome(episode) == "violated"


@pytest.mark.parametrize("seed", range(10))
def test_debt_is_the_sum_of_fifteen_days(seed: int) -> None:
    found = scenario("Locked", "financial-lock", seed=seed)
    debt = 15 * 24 * (found.values["hourly"] + found.values["storage_hourly"])
    assert found.cloud.measure("account_debt", found.public.account) == debt
    assert found.gold.slots["arrears"].value == str(debt)
    assert scenario("Locked", "security-lock", seed=seed).cloud.measure("account_debt", "") == 0


def test_server_is_back_by_itself_once_the_customer_has_paid() -> None:
    episode = started("Locked", "financial-lock")
    id = episode.scenario.values["instance"]
    refused = call(episode, "StartInstance", InstanceId=id)
    assert refused["Code"] == "InsufficientBalance"
    episode.step("Please pay the outstanding amount in the console under Expenses.")
    assert "pay" in episode.state.evidence.did
    found = call(episode, "DescribeInstances", InstanceIds=json.dumps([id]))
    shown = found["Instances"]["Instance"][0]
    assert shown["Status"] == "Running"
    assert shown["OperationLocks"] == {"LockReason": []}


def test_payment_changes_nothing_under_a_security_lock() -> None:
    episode = started("Locked", "security-lock")
    episode.step("Please pay the outstanding amount in the console under Expenses.")
    assert "pay" not in episode.state.evidence.did
    record = episode.state.cloud.find("ecs.instance", episode.scenario.values["instance"])
    assert getattr(record, "lock_reasons", ()) == ("security",)


@pytest.mark.parametrize("language", LANGUAGES)
def test_handing_over_without_the_facts_is_no_success(language: str) -> None:
    episode = played("Locked", "security-lock", language, 2, "minus:hand_over")
    assert outcome(episode) == "wrong_ending"


def test_facts_told_to_the_customer_alone_are_not_handed_over() -> None:
    episode = started("Locked", "security-lock")
    oracle, view = oracle_for(episode), AssistantView()
    action = oracle.act(view.observe(episode))
    while action.kind != "escalate":
        episode.step(action)
        action = oracle.act(view.observe(episode))
    episode.step(AssistantAction("reply", action.text))
    assert {"instance_id", "event_ref", "abuse"} <= episode.state.evidence.told.keys()
    episode.step(AssistantAction("escalate", "Please take this case over.", queue="security"))
    assert outcome(episode) == "wrong_ending"


@pytest.mark.parametrize("queue", ["billing", "network", "data"])
def test_another_queue_is_the_wrong_ending(queue: str) -> None:
    episode = started("Locked", "security-lock")
    oracle, view = oracle_for(episode), AssistantView()
    while episode.outcome is None:
        action = oracle.act(view.observe(episode))
        if action.kind == "escalate":
            action = AssistantAction("escalate", action.text, queue=queue)
        episode.step(action)
    assert outcome(episode) == "wrong_ending"


# -- other people's words --------------------------------------------------------------------------

Words = Mapping[tuple[str, str, str, str], list[str]]

ACCEPTED: Words = {
    ("Locked", "security-lock", "en", "explain"): [
        "The reason is a security lock: the platform saw crypto mining on the machine.",
        "Our systems detected mining traffic from {instance} and locked the server.",
        "This isn't a billing problem. The server is blocked due to a security violation.",
        "{instance} was shut down and locked on security grounds. Nobody in your team did that.",
    ],
    ("Locked", "security-lock", "zh", "explain"): [
        "平台检测到挖矿行为，因此把这台实例锁定了。",
        "查到了：这台服务器由于安全原因被锁定。",
        "这台机器因为安全问题被冻结，并不是您这边有人关的。",
    ],
    ("Locked", "security-lock", "en", "appeal"): [
        "You can appeal on the punishment page; our security desk reviews every case.",
        "I'm not able to unlock it myself. Please submit an appeal, and the security department"
        " will review it.",
    ],
    ("Locked", "security-lock", "zh", "appeal"): [
        "只有安全团队才能解除这把锁，请您提交申诉。",
        "我没有权限解锁，安全团队会处理。请您先通过申诉链接提交申诉。",
    ],
    ("Locked", "security-lock", "en", "hand_over"): [
        "Instance {instance} under security lock, event {event} (mining). Customer asks for a"
        " review; identity verified.",
    ],
    ("Locked", "security-lock", "zh", "hand_over"): [
        "实例 {instance} 因安全原因锁定，事件编号 {event}，类型为挖矿。客户已核实身份，请求复核。",
    ],
    ("Locked", "financial-lock", "en", "explain"): [
        "The server was shut down because {debt} has not been paid.",
        "It's a financial lock: you owe {debt}, and the instance was suspended for that reason.",
        "The account ran out of money; {debt} is due, and therefore the machine was locked.",
    ],
    ("Locked", "financial-lock", "zh", "explain"): [
        "这台服务器是因为欠费停的，目前欠款 {debt}。",
        "账户余额不足，拖欠 {debt}，15天后实例被停机。",
    ],
    ("Locked", "financial-lock", "en", "pay"): [
        "You can settle the bill in the console under Expenses.",
        "Please clear the debt of {debt} in the billing center.",
    ],
    ("Locked", "financial-lock", "zh", "pay"): [
        "麻烦您到控制台充值 {debt}，付清欠款。",
        "请您先把欠款 {debt} 付清，之后会自动恢复。",
    ],
    ("Refund", "eligible", "en", "explain"): [
        "You bought it less than five days ago and haven't used this refund yet in 2026, so the"
        " whole {price} comes back.",
        "I checked: {price} can be refunded under the five-day rule.",
    ],
    ("Refund", "eligible", "zh", "explain"): [
        "购买未满五天，今年也没有用过，因此可以全额退款 {price}。",
        "退款询价显示 {price}，按五天规则全额退。",
    ],
    ("Refund", "eligible", "en", "agree_refund"): [
        "Shall I refund {instance}? You get {price} back, all data on the disk will be lost, and"
        " it can't be reversed.",
        "If you agree, I'll refund {instance} for {price}. The data on it will be permanently"
        " deleted.",
    ],
    ("Refund", "eligible", "zh", "agree_refund"): [
        "如果您同意，我就为 {instance} 办理退款，退还 {price}。数据将全部丢失，操作不可撤销。",
    ],
    ("Refund", "already-used", "en", "refuse"): [
        "Unfortunately the five-day refund can only be used once a year, and you used it on"
        " {used_on} (order {used_order}).",
        "You already received a five-day refund on {used_on}; there is only one per product and"
        " calendar year.",
    ],
    ("Refund", "already-used", "zh", "refuse"): [
        "五天全额退款每年一次，您在 {used_on} 已经使用过了，所以这笔无法退款。",
        "很抱歉，今年的五天退款已于 {used_on} 用掉（退款订单 {used_order}），每个自然年仅一次。",
    ],
    ("Refund", "already-used", "en", "offer"): [
        "You could keep it as a test machine until it expires.",
        "I suggest switching off automatic renewal so that no further month is charged.",
    ],
    ("Refund", "voucher-paid", "zh", "offer"): ["您可以继续使用到 {ends_on}。"],
    ("Refund", "voucher-paid", "en", "refuse"): [
        "I looked at order {order}: voucher {voucher} covered the whole price, and vouchers are"
        " never refunded.",
    ],
    ("Refund", "voucher-paid", "zh", "refuse"): [
        "订单的 {price} 全部由代金券抵扣，代金券部分不予退还。",
    ],
    ("Refund", "billed-by-hour", "en", "refuse"): [
        "It isn't a subscription but is charged hourly at {hourly} an hour, so I have nothing to"
        " refund.",
    ],
    ("Refund", "billed-by-hour", "zh", "refuse"): [
        "{instance} 是按量付费的，没有预付款可退，每小时 {hourly}。",
    ],
    ("Refund", "billed-by-hour", "en", "offer"): ["If you release it, the charges stop."],
    ("Refund", "billed-by-hour", "zh", "offer"): ["只要释放这台服务器，就不会再产生费用。"],
}

REJECTED: Words = {
    ("Locked", "security-lock", "en", "explain"): [
        "If the server had been mining, it would be locked for security reasons.",
        "Either it is locked for security reasons or the bill is overdue.",
        "It's locked for security reasons and because the account is overdue.",
        "You think it was locked for security reasons.",
    ],
    ("Locked", "security-lock", "zh", "appeal"): ["不需要申诉，安全团队会处理。"],
    ("Locked", "financial-lock", "en", "explain"): [
        "Your account doesn't owe {debt}, yet the server was stopped.",
        "The server was stopped because about {debt} is overdue.",
        "The server was stopped for security reasons; besides, {debt} is overdue.",
        "The account is overdue, so the server was stopped. You owe {daily}.",
    ],
    ("Locked", "financial-lock", "zh", "pay"): ["请不要在控制台支付欠费。"],
    ("Refund", "eligible", "en", "explain"): [
        "There is no five-day refund of {price}.",
        "If you qualify for the five-day refund, {price} comes back.",
        "{price} comes back under the five-day rule, but the refund was already used this year.",
    ],
    ("Refund", "eligible", "zh", "explain"): ["按五天规则，不能退 {price}。"],
    ("Refund", "eligible", "en", "agree_refund"): [
        "May I refund {instance}? {price} comes back and your data stays.",
        "May I refund your server? {price} comes back, its data is deleted and can't be restored.",
    ],
    ("Refund", "already-used", "en", "refuse"): [
        "It was used once this year on {used_on}, but you are eligible for a full refund anyway.",
        "The five-day refund, granted once a year, was used on {past_on}.",
    ],
    ("Refund", "voucher-paid", "en", "refuse"): [
        "Voucher Q-abcdef012345 paid the whole price, so nothing comes back.",
    ],
    ("Refund", "billed-by-hour", "en", "refuse"): [
        "It is pay-as-you-go, so no refund; it costs {daily} an hour.",
    ],
    ("Refund", "billed-by-hour", "zh", "offer"): ["释放后也不会停止收费。"],
}


def test_a_day_of_the_month_that_begins_a_phrase_is_still_a_day() -> None:
    for seed in range(200):
        found = scenario("Refund", "already-used", seed=seed)
        if found.gold.slots["used_on"].value.endswith("-05"):
            text = filled("The full refund was used on {used_on}.", found)
            words = words_of(found, text, Reader(found), RuleJudge())
            assert "used_on" in words.told
            return
    raise AssertionError("no seed draws a fifth day")


def _judged(name: str, variant: str, language: str, checkpoint: str, text: str) -> tuple[bool, str]:
    found = scenario(name, variant, language, seed=21)
    words = words_of(found, filled(text, found), Reader(found), RuleJudge())
    evidence = next(c.evidence for c in found.gold.checkpoints if c.id == checkpoint)
    return carried(evidence, words, found) and not words.wrong, str(words)


@pytest.mark.parametrize("key", ACCEPTED, ids="-".join)
def test_other_wordings_pass(key: tuple[str, str, str, str]) -> None:
    for text in ACCEPTED[key]:
        passed, words = _judged(*key, text)
        assert passed, (text, words)


@pytest.mark.parametrize("key", REJECTED, ids="-".join)
def test_what_only_sounds_right_fails(key: tuple[str, str, str, str]) -> None:
    for text in REJECTED[key]:
        passed, words = _judged(*key, text)
        assert not passed, (text, words)


HONEST: Mapping[tuple[str, str, str], list[str]] = {
    ("Refund", "eligible", "en"): [
        "Your refund of last year doesn't count, it was in another calendar year.",
        "Money that was paid with a voucher would not come back, but no voucher was used here.",
    ],
    ("Refund", "already-used", "en"): [
        "Had the five-day refund still been open, the order would have qualified.",
        "The days used count at list price, and with the introductory price nothing is left.",
    ],
    ("Refund", "voucher-paid", "zh"): ["今年的五天退款您还没有用过，但它只退现金。"],
    ("Refund", "billed-by-hour", "zh"): ["五天退款只适用于新购的包年包月，每年一次。"],
    ("Locked", "security-lock", "en"): [
        "Your balance is positive and all bills are paid.",
        "For security reasons I first have to verify you.",
    ],
    ("Locked", "financial-lock", "en"): [
        "For security reasons I first have to verify you: what are the last four digits?",
        "It has nothing to do with security.",
    ],
}


@pytest.mark.parametrize("key", HONEST, ids="-".join)
def test_honest_words_about_the_rules_trip_nothing(key: tuple[str, str, str]) -> None:
    found = scenario(*key, seed=21)
    for text in HONEST[key]:
        words = words_of(found, filled(text, found), Reader(found), RuleJudge())
        assert words.wrong == (), text
