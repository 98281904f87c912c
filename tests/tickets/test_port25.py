"""ECS-Port25: a port that stays closed, and one that the customer closed itself."""

from __future__ import annotations

import pytest

from cirrus_env.judging.assess import findings
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.lint import lint
from tests.tickets import playing

FILE = "ecs/Port25.toml"
ENDINGS = {"platform-25": ("refuse", 2), "group-465": ("guide", 3)}
CASES = [(variant, language) for variant in ENDINGS for language in ("en", "zh")]


def test_lint_finds_nothing() -> None:
    assert lint(playing.ticket(FILE)) == []


@pytest.mark.parametrize("variant", ENDINGS)
def test_each_variant_has_its_ending_and_few_checkpoints(variant: str) -> None:
    gold = playing.scenario(FILE, variant).gold
    assert (gold.ending, len(gold.checkpoints)) == ENDINGS[variant]


@pytest.mark.parametrize(("variant", "language"), CASES)
def test_own_examples_are_judged_as_the_ticket_says(variant: str, language: str) -> None:
    found = playing.scenario(FILE, variant, language, 4)
    assert findings(found, Reader(found), RuleJudge()) == ()


@pytest.mark.parametrize(("variant", "language"), CASES)
def test_the_oracle_succeeds_and_its_siblings_fail(variant: str, language: str) -> None:
    other = next(name for name in ENDINGS if name != variant)
    for seed in range(4):
        assert playing.outcome(playing.played(FILE, variant, language, seed)) == "success"
        sibling = playing.played(FILE, variant, language, seed, f"sibling:{other}")
        assert playing.outcome(sibling) != "success"


def test_the_right_answer_without_having_asked_is_not_enough() -> None:
    episode = playing.started(FILE, "platform-25")
    playing.answer(episode, "TCP port 25 is closed by the platform; please use port 465 or 587.")
    episode.step({"role": "assistant", "content": "Is there anything else?"})
    assert episode.outcome is None or not episode.outcome.success


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_same_question_brings_the_port_in_both_variants(language: str) -> None:
    question = {"en": "Which port does the program use?", "zh": "请问程序用的是哪个端口？"}
    for variant, port in (("platform-25", "25"), ("group-465", "465")):
        episode = playing.started(FILE, variant, language)
        assert port in playing.answer(episode, question[language])


def test_the_platforms_answer_voids_where_the_own_group_is_the_cause() -> None:
    episode = playing.started(FILE, "group-465")
    text = "TCP port 25 is closed by the platform and no rule opens it, please use 465."
    playing.answer(episode, text)
    assert playing.touched(episode) == [("wrong-cause", "void")]


@pytest.mark.parametrize(
    "text",
    [
        "All outgoing connections to TCP 25 are blocked by the platform. Please use 587 instead.",
        "By default, port 25 is closed on the platform; sending works on port 465 with TLS.",
    ],
)
def test_a_rule_for_everybody_refuses_as_well(text: str) -> None:
    found = playing.scenario(FILE, "platform-25")
    assert playing.carries(found, "refuse_opening", text)
