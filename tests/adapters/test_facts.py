"""What a recorded reply tells."""

import pytest

from cirrus_env.adapters.dialogue import language_of, one_line, slug
from cirrus_env.adapters.facts import MOST, facts_of, figures
from cirrus_env.adapters.functions import effect_of, function_name, given_functions, schema_problem


def first(reply, results=None, known=()):
    return [writings[0] for writings in facts_of(reply, results, known)]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("It takes 5 days and costs 12.50 USD.", ["5 days", "12.50"]),
        ("Write to help@example.com or see https://example.com/a?b=1.",
         ["help@example.com", "https://example.com/a?b=1"]),
        ("1. Open it\n2. Call DescribeInstances", ["describeinstances"]),
        ("The disk d-9f3a is at 80%.", ["d-9f3a", "80%"]),
        ("On 2026-05-04 at 4 PM.", ["2026-05-04", "4:00 pm"]),
        ("I am happy to help.", []),
        ("需要3个工作日", ["3个"]),
    ],
)  # fmt: skip
def test_words_alone_state_figures_addresses_ids_and_labels(reply, expected):
    assert first(reply) == expected


@pytest.mark.parametrize(
    ("reply", "results", "expected"),
    [
        ("It reads 47.5 and 12.", [{"w": 47.5}], ["47.5"]),
        ("At 7:30 and 9:15.", [{"t": "07:30:00"}], ["7:30"]),
        ("At 4 PM.", [{"t": "16:00:00"}], ["4:00 pm"]),
        ("There are 20 of them.", [{"id": "2020"}], []),
        ("Chess club and lunch.", [{"a": "Chess Club", "b": "lunch"}], ["chess club"]),
        ("The total is 1,250.", [{"sum": 1250}], ["1,250"]),
        ("Order 4417 it is.", ["order 4417 found"], ["4417"]),
        ("True, none, 10.", [True, None, {}], []),
    ],
)
def test_with_results_only_what_they_brought_is_a_fact(reply, results, expected):
    assert first(reply, results) == expected


def test_what_is_known_already_is_no_fact():
    assert first("Your 40 GB are 90% full.", None, ["I have 40 GB"]) == ["90%"]
    assert len(facts_of(" ".join(f"{n}.{n}" for n in range(100, 140)), None, ())) == MOST


@pytest.mark.parametrize(
    ("figure", "others"),
    [("1,234.50", {"1234.50", "1234.5"}), ("12.00", {"12"}), ("7:30", {"07:30"}),
     ("07:30", {"7:30"}), ("4417", {"4,417"}), ("12", set())],
)  # fmt: skip
def test_a_figure_may_be_written_in_other_ways(figure, others):
    assert others <= set(figures(figure)) - {figure}


def test_names_become_ids_of_their_own():
    assert slug("golden_conversation_1") == "golden-conversation-1"
    assert slug("7", "a") == "t-7-a"
    assert slug("", "") == "t"
    assert slug("x" * 99) != slug("x" * 98)
    assert slug("名前") != slug("名字")
    assert len(slug("x" * 999)) <= 80


def test_language_and_title():
    assert language_of(("备案多久?", "ICP")) == "zh"
    assert language_of(("How long is 备案?",)) == "en"
    assert one_line(" a\n\x1bb  c ", 4) == "a b"


@pytest.mark.parametrize(
    ("name", "effect"),
    [("GetAlarm", "read"), ("CurrentWeather", "read"), ("search_flights", "read"),
     ("calculate", "read"), ("UserLogin", "write"), ("get_order", "read"), ("book_seat", "write"),
     ("ring", "write"), ("", "write"), ("DBQuery", "read")],
)  # fmt: skip
def test_a_function_changes_something_unless_its_name_says_otherwise(name, effect):
    assert effect_of(name) == effect


def test_schemas_are_checked_before_they_are_offered():
    tools = [
        {"name": "a", "parameters": {"type": "object", "properties": {"x": {"type": "number"}}}},
        {"function": {"name": "b#c"}},
        {"function": {"name": "bad", "parameters": {"type": "object", "properties": 3}}},
        {"function": {"name": "worse", "parameters": {"properties": {"x": {"type": "nope"}}}}},
        {"function": {"parameters": {}}},
        "text",
    ]
    functions, wrong = given_functions(tools)
    assert [function["name"] for function in functions] == ["a", "b_c"]
    assert len(wrong) == 5
    assert function_name("reply_to_customer") == "reply_to_customer_"
    assert schema_problem({"$ref": "file:///etc/passwd"}) != ""
    assert (
        schema_problem(
            {"type": "object", "$defs": {"a": {}}, "properties": {"x": {"$ref": "#/$defs/a"}}}
        )
        == ""
    )
