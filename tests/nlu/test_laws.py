from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nlu_lexicons import READERS, gist
from reply_table_en import TOLD

from cirrus_env.nlu.heard import Heard

TELLING = [text for text, expected in TOLD if expected == "cause=guest" and "\n" not in text]
PLAIN = "the server is still running, because you shut down inside Linux"
NEGATIONS = [
    "It is not true that {}.", "It is not the case that {}.", "I do not think that {}.",
    "There is no evidence that {}.", "It would be wrong to say that {}.", "We rule out that {}.",
    "It is a myth that {}.", "Nobody says that {}.",
]  # fmt: skip
CONDITIONS = [
    "If {}, call me.", "Unless {}, all is well.", "In case {}, call me.", "Suppose {}.",
    "Provided that {}, you pay.", "Even if {}, do not worry.", "Call me if {}.",
    "Whenever {}, you pay.",
]  # fmt: skip
QUESTIONS = [
    "Is it so that {}?", "Could it be that {}?", "{}?", "{}, right?", "Do you think that {}?",
    "{}, isn't it?", "Did you see that {}?",
]  # fmt: skip
HEDGES = [
    "Maybe {}.", "Perhaps {}.", "I think {}.", "It seems that {}.", "Possibly {}.", "I guess {}.",
    "Presumably {}.", "It could be that {}.", "It may be that {}.", "{}, I believe.",
    "{}, probably.",
]  # fmt: skip
REPORTS = [
    "You said that {}.", "Some people say {}.", "The article says that {}.", "You think {}.",
    '"{}"', "> {}", "I was told that {}.",
]  # fmt: skip
COURTESY = [
    "Thank you for your patience.", "I am sorry for the trouble.", "Hello!", "Have a nice day.",
    "I understand your frustration.", "You are welcome.",
]  # fmt: skip
TURNED = [f for fs in (NEGATIONS, CONDITIONS, QUESTIONS, HEDGES, REPORTS) for f in fs]


@pytest.mark.parametrize("frame", TURNED)
def test_turned_claim_tells_nothing(frame: str) -> None:
    assert "cause=" not in gist(frame.format(PLAIN))


@pytest.mark.parametrize(
    "frame",
    [
        "如果{}，请联系我们。", "要是{}，请联系我们。", "可能{}。", "也许{}。", "我猜{}。",
        "看起来{}。", "是不是{}？", "{}吗？", "{}，对吗？", "您说{}。", "有人说{}。",
        "文章说{}。", "「{}」", "没有证据说明{}。", "可以排除{}。", "一般来说{}。", "据说{}。",
        "除非{}。", "假如{}，请告知。", "不确定是否{}。",
    ],
)  # fmt: skip
def test_turned_chinese_claim_tells_nothing(frame: str) -> None:
    assert gist("您在系统内关机所以实例仍在运行。", "zh") == "cause=guest"
    assert "cause=" not in gist(frame.format("您在系统内关机所以实例仍在运行"), "zh")


@pytest.mark.parametrize("text", TELLING)
def test_courtesy_changes_no_told_act(text: str) -> None:
    expected = gist(text)
    for words in COURTESY:
        assert gist(f"{words} {text}") == expected
        assert gist(f"{text}\n\n{words}") == expected


@pytest.mark.parametrize("text", TELLING)
def test_taking_back_leaves_nothing(text: str) -> None:
    for words in ("Forget what I said.", "Ignore the above.", "I was wrong.", "Scratch that."):
        assert gist(f"{text} {words}") == ""


WORDS = st.sampled_from(
    [
        "not",
        "if",
        "may",
        "you",
        "shut",
        "down",
        "inside",
        "still",
        "running",
        "?",
        ".",
        ",",
        ";",
        ":",
        "(",
        ")",
        '"',
        "'",
        "\n",
        "-",
        "1.",
        "but",
        "because",
        "and",
        "or",
        "subscription",
        "paid",
        "in",
        "advance",
        "i-bp1k2m3",
        "27.84",
        "CNY",
        "a",
        "day",
        "refund",
        "15",
        "days",
        "kept",
        "shall",
        "I",
        "stop",
        "never",
        "您",
        "不",
        "在系统内关机",
        "仍在运行",
        "吗",
        "。",
        "，",
        "如果",
        "可能",
        "「",
        "」",
        "said",
        "that",
        "wrong",
        "forget",
        "scratch",
    ]
)


@given(st.lists(WORDS, max_size=60).map(" ".join))
def test_reading_never_fails_and_is_the_same_again(text: str) -> None:
    for reader in READERS.values():
        assert reader.read(text, Heard()) == reader.read(text, Heard())


@given(st.text())
@example("\ud800 still running, shut down inside")
@example("İ i-bp1k2m3 İ-BP1K2M3 is your server")
@example("\x00\u202e\ufeff")
@example("٣ days kept ৪ ² ½ ① 〇 一")
@example("2026-13-45 1/2 1,2,3.4.5 ..,, 5. 5, kept 9999999999999999999999 days a day CNY 1e9")
@example('"' * 101)
def test_any_text_can_be_read(text: str) -> None:
    memory = Heard()
    memory.add_source(text)
    memory.add_customer(text)
    for reader in READERS.values():
        reader.read(text, memory)
        reader.read_customer(text, ())


@given(st.text(), st.sampled_from(TELLING))
def test_memory_of_other_texts_changes_nothing(noise: str, text: str) -> None:
    memory = Heard()
    memory.add_source(noise)
    assert gist(text, heard=memory) == gist(text)


@pytest.mark.parametrize(
    "piece",
    [
        "a ", "the ", "it ", "stop it ", "that is wrong ", "not ", "refund CNY 15.00 ",
        "still running ", '" ', "\n", "shut down inside, ", "if ", "may ", "I think ", "1. ",
        "i-bp1k2m3 ", "shall I stop i-bp1k2m3 ", "which instance ? ", "吗", "不", "系统内关机",
        ", ", "stop the ", "a-", "forget that ", "'", "-", "15 days kept ", "is not the case ",
        "also ", "x", "@", "7.", "as well, ", "or ", "because ",
        "stop the server in the console ", "one ", "`", "**", "~~", "<del>", "```", "> a\n",
        "e.g. ",
    ],
)  # fmt: skip
def test_time_grows_in_step_with_length(piece: str) -> None:
    """Twenty thousand characters take a bounded time, whatever they are."""
    text = (piece * (20_000 // len(piece) + 1))[:20_000]
    memory = Heard()
    memory.add_source(text[:3000])
    begin = time.process_time()  # of this process: a busy machine changes little
    READERS["en"].read(text, memory)
    READERS["zh"].read(text, memory)
    assert time.process_time() - begin < 30  # a quadratic walk would take minutes
