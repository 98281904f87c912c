import pytest

from cirrus_env.tickets.predicates import Called, State
from cirrus_env.tickets.templates import (
    PICK,
    Fixed,
    Pick,
    Placeholder,
    Texts,
    assemble,
    combine,
    combine_tuple,
    joined,
    parse,
    pick,
    plain_money,
    writer,
)
from cirrus_env.world.clock import EPOCH


def test_a_template_splits_into_text_and_placeholders():
    assert parse("pay {daily|plain} for {x}{{}}") == [
        "pay ",
        Placeholder("daily", "plain", ""),
        " for ",
        Placeholder("x", "", ""),
        "{}",
    ]
    assert parse("{billing.daily_charge:{instance}}") == [
        Placeholder("instance", "", "billing.daily_charge")
    ]


@pytest.mark.parametrize("text", ["{", "}", "{Big}", "{a b}", "a { b", "{x:y}", "{x|fancy}"])
def test_a_brace_that_is_no_placeholder_is_refused(text):
    with pytest.raises(ValueError):
        parse(text)


@pytest.mark.parametrize(
    ("nature", "style", "language", "raw", "written"),
    [
        ("money", "", "en", 2784, "CNY 27.84"),
        ("money", "", "zh", 2784, "27.84元"),
        ("money", "plain", "en", 5, "0.05"),
        ("money", "raw", "en", 2784, "2784"),
        ("money", "", "", -150, "-1.50"),
        ("date", "", "en", EPOCH, "30 November 2026"),
        ("date", "", "zh", EPOCH, "2026年11月30日"),
        ("date", "plain", "en", EPOCH, "2026-11-30"),
        ("date", "", "", EPOCH, "2026-11-30"),
        ("number", "", "en", 7, "7"),
    ],
)
def test_values_are_written_for_people_and_for_machines(nature, style, language, raw, written):
    assert writer(nature, style, language)(raw) == written


def test_plain_money_has_two_decimals():
    assert [plain_money(c) for c in (0, 9, 100, 123456)] == ["0.00", "0.09", "1.00", "1234.56"]


def test_what_is_fixed_stays_one_object():
    part = combine_tuple([Fixed("a"), Fixed("b")])
    assert isinstance(part, Fixed)
    assert part({}) is part({"x": 1})


def test_percent_signs_are_text():
    assert (
        joined(["100% of ", ("x",), " and %s ", ("y",)])({"x": 1, "y": 2}) == "100% of 1 and %s 2"
    )
    assert joined([("x",)])({"x": 5}) == "5"


def test_assembled_objects_equal_constructed_ones():
    given = {"operation": Fixed("StopInstance"), "returned": lambda values: values["id"]}
    assert assemble(Called, given)({"id": "i-1"}) == Called("StopInstance", returned="i-1")
    fixed = assemble(State, {n: Fixed(n) for n in ("kind", "id", "field", "test", "value")})
    assert isinstance(fixed, Fixed)
    assert fixed({}) == State("kind", "id", "field", "test", "value")


def test_a_pick_is_the_seeds_and_spreads_over_its_texts():
    part = pick([Fixed("a"), Fixed("b"), Fixed("c")], "opening")
    drawn = [part({PICK: seed * 0x9E3779B97F4A7C15 % 2**64}) for seed in range(300)]
    assert {drawn.count(x) > 60 for x in "abc"} == {True}


def test_a_pick_of_fixed_texts_is_assembled_once_for_each():
    part = assemble(State, {
        "kind": Fixed("k"), "id": pick([Fixed("a"), Fixed("b")], "x"), "field": Fixed("f"),
        "test": Fixed("is"), "value": Fixed(1),
    })  # fmt: skip
    assert isinstance(part, Pick)
    assert part({PICK: 3}) is part({PICK: 3})
    again = combine(lambda one, two: (one, two), [Fixed(1), part])
    assert isinstance(again, Pick)


def test_texts_are_written_when_they_are_read():
    calls = []

    def part(values):
        calls.append(1)
        return values["x"]

    texts = Texts((part, Fixed("b")), {"x": "a"})
    assert len(texts) == 2
    assert not calls
    assert texts == ("a", "b")
    assert texts[0] == "a"
    assert texts[0:] == ("a", "b")
    assert hash(texts) == hash(("a", "b"))
    assert repr(texts) == "('a', 'b')"
