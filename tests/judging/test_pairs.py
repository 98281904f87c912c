"""Labelled pairs: reading them, filling them, and the rule judge's agreement with them."""

import json

import pytest

from cirrus_env.cloud.services.knowledge.articles import article
from cirrus_env.errors import TicketError
from cirrus_env.judging.judge import Assessment
from cirrus_env.judging.pairs import (
    ADVERSARIAL,
    DEV,
    KINDS,
    agreement,
    filled,
    load_pairs,
    sets,
    verdict,
)
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.scenario import make_scenario

LINE = {
    "ticket": "ECS-Billing",
    "variant": "kept-charging",
    "seed": 3,
    "language": "en",
    "checkpoint": "explain",
    "kind": "correct",
    "accept": True,
    "reply": "{instance} was stopped in the standard mode. It costs {daily} a day.",
}


def written(folder, *lines):
    text = "\n".join(json.dumps(line) if isinstance(line, dict) else line for line in lines)
    (folder / "some.jsonl").write_text(text + "\n\n", encoding="utf-8")
    return load_pairs(folder)


def scenario(**more):
    return make_scenario(bundled("ECS-Billing"), 3, variant="kept-charging", **more)


# -- the development set ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def dev():
    return load_pairs(DEV)


@pytest.fixture(scope="module")
def agreed(dev):
    return agreement(dev)


def test_the_development_set_is_wide_enough(dev):
    assert len(dev) >= 250
    assert {pair.ticket for pair in dev} >= {
        "ECS-Billing", "ECS-Renewal", "Billing-Refund", "ECS-Locked", "ECS-Port25", "ECS-Password",
        "ECS-Ssh", "ECS-Upgrade",
    }  # fmt: skip
    assert {pair.language for pair in dev} == {"en", "zh"}
    assert {pair.kind for pair in dev} == set(KINDS)
    assert len({(p.variant, p.language, p.checkpoint, p.slots, p.reply) for p in dev}) == len(dev)


def test_adversarial_kinds_hold_labels_of_refusal(dev):
    assert not any(pair.accept for pair in dev if pair.kind in ADVERSARIAL)
    assert all(pair.accept for pair in dev if pair.kind in ("correct", "paraphrased"))


def test_the_rule_judge_agrees_and_accepts_nothing_adversarial(agreed):
    shown = [(v.pair.where, v.text, v.told, v.wrong) for v in agreed.disagreements]
    assert agreed.false_accepts == (), shown
    assert agreed.overall.hits >= 0.95 * agreed.overall.n, shown


# -- the report ------------------------------------------------------------------------------


def test_the_report_counts_by_kind_and_language(tmp_path):
    pairs = written(
        tmp_path,
        LINE,
        {**LINE, "kind": "missing", "accept": False, "reply": "Hello."},
        {**LINE, "kind": "negated", "accept": False},
        {**LINE, "kind": "paraphrased", "reply": "Hello."},
    )
    got = agreement(pairs, RuleJudge())
    assert (got.overall.hits, got.overall.n) == (2, 4)
    assert 0 < got.overall.low < 0.5 < got.overall.high < 1
    assert {kind: share[:2] for kind, share in got.by_kind.items()} == {
        "correct": (1, 1),
        "paraphrased": (0, 1),
        "missing": (1, 1),
        "negated": (0, 1),
    }
    assert got.by_language["en"][:2] == (2, 4)
    assert [v.pair.where for v in got.false_accepts] == ["some.jsonl:3"]
    assert got.to_json()["disagreements"] == ["some.jsonl:3", "some.jsonl:4"]
    assert got.to_json()["by_kind"]["correct"]["agree"] == 1


def test_no_pairs_no_claim():
    got = agreement([])
    assert got.overall == (0, 0, 0.0, 1.0)


class Yes:
    """A judge that is never satisfied with less than everything, and finds something wrong."""

    name = "yes"

    def assess(self, scenario, text, acts):
        return Assessment(tuple(scenario.gold.slots), (("cause", "subscription"),))


def test_an_accepted_reply_must_be_clean(tmp_path):
    (pair,) = written(tmp_path, LINE)
    got = verdict(pair, Yes())
    assert (got.accepted, got.wrong) == (False, (("cause", "subscription"),))


def test_slots_may_be_asked_instead_of_a_checkpoint(tmp_path):
    line = {key: value for key, value in LINE.items() if key != "checkpoint"}
    one, two = written(
        tmp_path, {**line, "slots": ["daily_cost"]}, {**line, "slots": ["daily_cost", "ip_change"]}
    )
    assert verdict(one, RuleJudge()).accepted
    assert not verdict(two, RuleJudge()).accepted


def test_what_was_read_before_may_not_be_pasted(tmp_path):
    paste = "<article ecs/stop-modes 2>"
    kind = {"kind": "verbatim_article", "accept": False, "reply": paste + " That is {daily} a day."}
    (pair,) = written(tmp_path, {**LINE, **kind, "hears": ["ecs/stop-modes", "You pay {daily}."]})
    assert not verdict(pair, RuleJudge()).accepted


# -- filling ---------------------------------------------------------------------------------


def test_placeholders_are_written_as_the_tickets_own_words():
    made = scenario()
    assert filled("{instance}: {daily}, {daily|plain}, {label}", made) == (
        f"{made.values['instance']}: CNY {made.values['daily'] / 100:.2f}, "
        f"{made.values['daily'] / 100:.2f}, {made.values['label']}"
    )
    zh = scenario(language="zh")
    assert filled("{daily}", zh) == f"{zh.values['daily'] / 100:.2f}元"


def test_articles_are_pasted_whole_or_by_paragraph():
    text = article("ecs/stop-modes", "en").text
    assert filled("So: <article ecs/stop-modes>", scenario()) == "So: " + text
    second = text.split("\n\n")[1]
    assert filled("<article ecs/stop-modes 2>", scenario()) == second


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reply": "{nothing}"}, "has no value 'nothing'"),
        ({"reply": "a { b"}, "brace"),
        ({"reply": "<article ecs/nothing>"}, "no article 'ecs/nothing'"),
        ({"checkpoint": "see_state"}, "no spoken 'see_state'"),
        ({"checkpoint": "zzz"}, "no spoken 'zzz'"),
        ({"checkpoint": "", "slots": ["zzz"]}, "no slot 'zzz'"),
    ],
)
def test_a_pair_must_fit_its_ticket(tmp_path, change, message):
    (pair,) = written(tmp_path, {**LINE, **change})
    with pytest.raises(TicketError, match=message):
        verdict(pair, RuleJudge())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[]", "a JSON object"),
        ({**LINE, "mood": 1}, "unknown keys mood"),
        ({"ticket": "x"}, "'variant' is missing"),
        ({**LINE, "kind": "nice"}, "no kind 'nice'"),
        ({**LINE, "slots": ["cause"]}, "not both"),
        ({**LINE, "checkpoint": ""}, "not neither"),
    ],
)
def test_a_line_that_is_no_pair_is_named(tmp_path, line, message):
    with pytest.raises(TicketError, match=message) as caught:
        written(tmp_path, line)
    assert caught.value.file == "some.jsonl"
    assert caught.value.path == "line 1"


def test_the_sets_that_ship():
    assert sets()["dev"] == load_pairs(DEV)
