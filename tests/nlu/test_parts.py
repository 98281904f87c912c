from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nlu_lexicons import ID, OTHER_ID, READERS, gist, scenario

from cirrus_env.nlu.heard import Heard
from cirrus_env.nlu.lexicon import cue_tree
from cirrus_env.nlu.normalise import as_written, flat, plain, tokens
from cirrus_env.nlu.reader import Reader
from cirrus_env.nlu.stems import forms, stem
from cirrus_env.nlu.subjects import Subjects, kind
from cirrus_env.nlu.values import cents, decimal
from cirrus_env.tickets import predicates as p
from cirrus_env.tickets.model import Slot


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's “fine” – I cannot, don’t.", 'it is "fine" – i can not, do not.'),
        (
            "can't won't server's you're we'll I've",
            "can not will not server you are we will i've",
        ),
        ("ＣＮＹ　２７．８４", "cny 27.84"),
        ("a\u200bb\ufeffc", "abc"),
        ("keep\n> quoted\nkeep", "keep\n\nkeep"),
        ("x ```code``` y ~~gone~~", "x \n y  "),
        ("* item", "- item"),
        ("e.g. this", "eg  this"),
        ("好。不", "好. 不"),
    ],
)
def test_plain_text(text: str, expected: str) -> None:
    assert plain(flat(text).lower()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i-bp1abc costs 27.84.", ["i-bp1abc", "costs", "27.84", "."]),
        ("pay-as-you-go", ["pay", "-", "as", "-", "you", "-", "go"]),
        ("cny27.84/15days", ["cny", "27.84", "/", "15", "days"]),
        ("on 2026-12-04t08:00z", ["on", "2026-12-04t08:00z"]),
        ("ecs.g6.large 192.0.2.1", ["ecs.g6.large", "192.0.2.1"]),
        ("保留15天", ["保", "留", "15", "天"]),
        ("a\nb", ["a", "\n", "b"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@given(st.text(alphabet="ab1-., \n'不", max_size=40))
def test_known_words_split_as_unknown_ones(text: str) -> None:
    assert tokens(text, {"a", "ab"}) == [t for t in tokens(text) if t]


def test_case_is_found_again() -> None:
    assert as_written("It is i-bp1", "i-bp1") == "i-bp1"
    assert as_written("It is I-BP1.", "i-bp1") == "I-BP1"
    assert as_written("I-BP1 is not i-bp1", "i-bp1") == "?i-bp1"
    assert as_written("İ X1", "x1") == "?x1"


@pytest.mark.parametrize(
    ("digits", "value"),
    [("27.84", 2784), ("2,784.5", 278450), ("7", 700), ("1,50", None), ("1.234", None),
     ("1.500", 150), ("1.2.3", None), ("0.05", 5), ("12,345,678", 1234567800), ("1234,567", None)],
)  # fmt: skip
def test_cents(digits: str, value: int | None) -> None:
    assert cents(digits) == value


@pytest.mark.parametrize(
    ("digits", "value"),
    [("15", "15"), ("15.0", "15"), ("015", "15"), ("1,500", "1500"), ("1.25", "1.25"),
     ("1,5", None), ("1.2.3", None), ("0", "0")],
)  # fmt: skip
def test_decimals(digits: str, value: str | None) -> None:
    assert decimal(digits) == value


@given(st.integers(0, 10**9))
def test_money_is_read_as_it_is_written(amount: int) -> None:
    whole, rest = divmod(amount, 100)
    for text in (f"CNY {whole:,}.{rest:02}", f"¥{whole}.{rest:02}", f"{whole}.{rest:02} yuan"):
        slot = Slot("daily", "money", str(amount), near=(("a day",),))
        told = Reader(scenario(slots={"daily": slot})).read(f"It is {text} a day.", Heard())
        assert [(a.name, a.value) for a in told] == [("daily", str(amount))]


@pytest.mark.parametrize(
    ("one", "other"),
    [("charge", "charging"), ("stop", "stopped"), ("keep", "kept"), ("release", "releases"),
     ("copy", "copies"), ("run", "running"), ("halt", "halted"), ("bill", "billed")],
)  # fmt: skip
def test_inflected_forms_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)
    assert other in forms(one)
    assert one in forms(other)


def test_short_and_foreign_words_keep_their_form() -> None:
    assert forms("ip") == ("ip", "ips")
    assert forms("在") == ("在",)
    assert forms("2x") == ("2x",)


def test_cues_are_compiled_once() -> None:
    assert cue_tree(False) is cue_tree(False)
    assert READERS["en"]._lexicon is Reader(scenario("en"))._lexicon


def test_kinds_of_ids() -> None:
    assert kind("i-bp1") == "i"
    assert kind("EIP-bp1") == "eip"
    assert kind("12345") == ""
    assert kind("pay-") == ""


def test_subjects_are_the_ids_that_the_evidence_names() -> None:
    evidence = p.All(
        (
            p.Called("DescribeInstances", {"InstanceIds": ["i-2"]}, returned="i-1"),
            p.AnyOf((p.State("ecs.instance", "i-3", "status", "is", "Stopped"),)),
            p.Not((p.Exists("vpc.eip", "eip-1"), p.Told("cause"))),
            p.Measure("charge", "i-4", "is", 0),
            p.Agreed("StopInstance", "i-5"),
        )
    )
    gold = SimpleNamespace(
        checkpoints=(SimpleNamespace(evidence=evidence),),
        must_flip=(("x", p.Absent("disk.disk", "d-1")),),
        must_hold=(("y", p.Untouched("disk.disk", "d-2")),),
    )
    action: Any = SimpleNamespace(arguments={"InstanceId": "i-6", "n": 1})
    private = SimpleNamespace(
        consents=(SimpleNamespace(id="i-7"), SimpleNamespace(id="123")), console={"a": action}
    )
    found: Any = SimpleNamespace(gold=gold, private=private)
    wanted = {f"i-{n}" for n in range(1, 8)} | {"eip-1", "d-1", "d-2"}
    assert Subjects(found).ids == wanted


def test_words_about_another_server_tell_nothing_of_this_one() -> None:
    claim = "was shut down inside and is still running, and costs CNY 27.84 a day"
    assert gist(f"{ID} {claim}.") == "cause=guest daily=2784"
    assert gist(f"{OTHER_ID} {claim}.") == ""
    assert gist(f"{ID.upper()} {claim}.") == ""
    assert gist(f"Unlike {OTHER_ID}, {ID} {claim}.") == "cause=guest daily=2784"
