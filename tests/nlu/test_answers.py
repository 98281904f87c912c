from __future__ import annotations

import pytest
from nlu_lexicons import EIP, ID, READERS

from cirrus_env.wire import Act

STOP = Act("proposed", "StopInstance", ID)
RELEASE = Act("proposed", "ReleaseEipAddress", EIP)


def answer(text: str, *proposed: Act, language: str = "en") -> list[tuple[str, str]]:
    return [(a.kind, a.value) for a in READERS[language].read_customer(text, proposed)]


@pytest.mark.parametrize(
    "text",
    ["Yes.", "ok", "Yes, please go ahead.", "Sure, do it!", "I agree.", "Fine with me, thanks.",
     "Of course, please do.", "Go ahead"],
)  # fmt: skip
def test_yes_agrees_to_what_was_proposed(text: str) -> None:
    assert answer(text, STOP) == [("agreed", ID)]


@pytest.mark.parametrize(
    "text", ["No.", "No, don't do that.", "I do not agree.", "Wait, let me think.", "Not now."]
)
def test_no_declines(text: str) -> None:
    assert answer(text, STOP) == [("declined", ID)]


@pytest.mark.parametrize(
    "text",
    [
        "Yes, if it costs nothing.",
        "Maybe yes.",
        "Would it be ok?",
        "What happens to my data?",
        "You said yes.",
        "",
    ],
)
def test_conditional_or_doubtful_answer_is_none(text: str) -> None:
    assert answer(text, STOP) == []


def test_one_of_two_may_be_agreed_to() -> None:
    assert answer("Yes to the first.", STOP, RELEASE) == [("agreed", ID)]
    assert answer("Yes to the second one.", STOP, RELEASE) == [("agreed", EIP)]
    assert answer(f"Yes for {EIP}.", STOP, RELEASE) == [("agreed", EIP)]
    assert answer("Yes.", STOP, RELEASE) == [("agreed", ID), ("agreed", EIP)]
    assert answer("Yes to the first. No to the second.", STOP, RELEASE) == [
        ("agreed", ID),
        ("declined", EIP),
    ]


def test_no_after_yes_wins() -> None:
    assert answer("Yes. No, wait!", STOP) == [("declined", ID)]


@pytest.mark.parametrize(
    ("text", "kind"), [("好的，请继续。", "agreed"), ("同意。", "agreed"), ("不行。", "declined"),
                       ("不同意。", "declined"), ("先不要。", "declined")]
)  # fmt: skip
def test_chinese_answers(text: str, kind: str) -> None:
    assert answer(text, STOP, language="zh") == [(kind, ID)]


def test_chinese_condition_agrees_to_nothing() -> None:
    assert answer("如果不收费就可以。", STOP, language="zh") == []


def test_nothing_proposed_nothing_answered() -> None:
    assert answer("Yes!") == []
