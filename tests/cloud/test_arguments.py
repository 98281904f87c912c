"""Arguments: who decides, what is told, and the one canonical form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.cloud import api
from cirrus_env.cloud.arguments import LONGEST, ArgumentSchema, plain, same
from cirrus_env.cloud.catalogue import SERVICES, catalogue

SCHEMA = ArgumentSchema(
    api.parameters(
        ("Id",),
        Id=api.text("An id.", 8),
        Size={"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        Force=api.FLAG,
        Names={"type": "array", "items": {"type": "string"}},
        Token=api.CLIENT_TOKEN,
    )
)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({}, "MissingParameter", '"Id" is a required property'),
        ({"Id": 1}, "InvalidParameter", "Id: 1 is not of type"),
        ({"Id": ""}, "InvalidParameter", "Id: "),
        ({"Id": "x" * 9}, "InvalidParameter", "Id: "),
        ({"Id": None}, "InvalidParameter", "Id: null"),
        ({"Id": "x", "Size": "1"}, "InvalidParameter", "Size: "),
        ({"Id": "x", "Size": True}, "InvalidParameter", "Size: true"),
        ({"Id": "x", "Size": 1.5}, "InvalidParameter", "Size: 1.5"),
        ({"Id": "x", "Size": 2**64}, "InvalidParameter", "Size: "),
        ({"Id": "x", "Size": float("nan")}, "InvalidParameter", "Size: "),
        ({"Id": "x", "Size": float("inf")}, "InvalidParameter", "Size: "),
        ({"Id": "x", "Size": -0.0}, "InvalidParameter", "Size: "),
        ({"Id": "x", "Force": 1}, "InvalidParameter", "Force: 1"),
        ({"Id": "x", "Names": ["a", 1]}, "InvalidParameter", "Names.1: 1"),
        ({"Id": "x", "Other": 1}, "InvalidParameter", "Other"),
        ({"Id": "x", "id": "y"}, "InvalidParameter", "id"),
        ({"Id": "x", "Token": "ｔ"}, "InvalidParameter", "Token: "),
        ({"Id": "x", "Token": "a\n"}, "InvalidParameter", "Token: "),
        ({"Id": "\ud800"}, "InvalidParameter", "surrogate"),
        ({"Id": "x", "Names": ["\udfff"]}, "InvalidParameter", "surrogate"),
        ({1: 2}, "InvalidParameter", "str"),
        ({"Id": object()}, "InvalidParameter", "object"),
        ([], "InvalidParameter", "[] is not of type"),
        (None, "InvalidParameter", "null is not of type"),
        ("{}", "InvalidParameter", "is not of type"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(arguments, code, words):
    problem = SCHEMA.problem(arguments)
    assert problem is not None
    assert problem.code == code
    assert words in problem.message


def test_a_message_stays_short_however_much_was_sent():
    problem = SCHEMA.problem({"Id": "x" * 10**6})
    assert problem is not None
    assert len(problem.message) == LONGEST
    deep: dict = {}
    for _ in range(5000):
        deep = {"Id": deep}
    problem = SCHEMA.problem(deep)
    assert problem is not None
    assert len(problem.message) <= LONGEST


def test_of_several_problems_the_same_one_is_always_told():
    wrong = {"Size": "x", "Force": "y", "Names": 3}
    assert {SCHEMA.problem(dict(reversed(list(wrong.items())))), SCHEMA.problem(wrong)} == {
        SCHEMA.problem(wrong)
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"Size": 5, "Id": "x"}, {"Id": "x", "Size": 5}),
        ({"Id": "x", "Size": 5.0}, {"Id": "x", "Size": 5}),
        ({"Id": "x", "Size": 10}, {"Id": "x"}),
        ({"Id": "x", "Size": 10.0, "Force": False}, {"Id": "x"}),
        ({"Id": "x", "Force": True}, {"Force": True, "Id": "x"}),
        ({"Id": " x ", "Names": [" "]}, {"Id": " x ", "Names": [" "]}),
        ({"Id": "1"}, {"Id": "1"}),
    ],
)
def test_the_canonical_form(given, expected):
    assert SCHEMA.problem(given) is None
    form = SCHEMA.canonical(given)
    assert form == expected
    assert list(form) == sorted(form)
    assert json.dumps(form) == json.dumps(expected, sort_keys=True)


@given(json_values)
def test_the_plain_form_is_a_fixed_point_and_the_same(value):
    form = plain(value)
    assert plain(form) == form
    assert json.dumps(plain(form)) == json.dumps(form)
    assert same(form, form)


@given(json_values, json_values)
def test_sameness_is_that_of_json_texts(a, b):
    a, b = plain(a), plain(b)
    texts = json.dumps(a, sort_keys=True), json.dumps(b, sort_keys=True)
    assert same(a, b) == same(b, a) == (texts[0] == texts[1])


@pytest.mark.parametrize(
    ("a", "b"),
    [(1, True), (0, False), ("1", 1), (None, False), ([1], [True]), ({"a": 1}, {"a": True}),
     ([1], [1, 1]), ({"a": 1}, {"b": 1}), ([], {}), ("", None)],
)  # fmt: skip
def test_what_looks_alike_is_not_the_same(a, b):
    assert not same(a, b)


@given(json_values)
def test_any_json_either_fits_or_is_told_why(value):
    problem = SCHEMA.problem(value)
    if problem is None:
        assert isinstance(value, dict)
        assert "Id" in value
    else:
        assert problem.code in ("MissingParameter", "InvalidParameter")
        assert problem.message


RESOURCE_IS_A_CHOICE = ("CreateSnatEntry",)
"""A SourceCIDR may stand for the vSwitch; no consent covers that form of the call."""


@pytest.mark.parametrize("name", sorted(catalogue(tuple(SERVICES)).operations))
def test_every_operation_has_a_strict_schema_and_words(name):
    operation = catalogue(tuple(SERVICES)).operations[name]
    parameters = operation.parameters
    assert parameters["type"] == "object"
    assert parameters["additionalProperties"] is False
    assert set(parameters.get("required", ())) <= set(parameters["properties"])
    assert json.loads(json.dumps(parameters)) == parameters
    text = json.dumps(parameters)
    assert "\\\\d" not in text
    assert "\\\\w" not in text
    assert "multipleOf" not in text
    assert 10 < len(operation.description) < 300
    assert operation.description.endswith(".")
    if operation.resource:
        assert operation.resource in parameters["properties"]
        assert (operation.resource in parameters["required"]) != (name in RESOURCE_IS_A_CHOICE)
    if operation.effect == "read":
        assert not operation.propose
    else:
        assert set(operation.propose) == {"en", "zh"}
        for groups in operation.propose.values():
            assert groups
            for group in groups:
                assert group
                assert all(phrase == phrase.lower().strip() != "" for phrase in group)
    catalogue(tuple(SERVICES)).schema(name)


# -- forms shared by the services ----------------------------------------------------------------


@given(st.integers(0, 30), st.integers(1, 5), st.integers(1, 8))
def test_pages_together_are_the_whole(count, number, size):
    items = list(range(count))
    shown, fields = api.page(items, {"PageNumber": number, "PageSize": size})
    assert fields == {"TotalCount": count, "PageNumber": number, "PageSize": size}
    assert list(shown) == items[(number - 1) * size : number * size]


@given(st.integers(0, 30), st.integers(1, 8))
def test_following_the_tokens_gives_the_whole(count, size):
    items, seen, token = list(range(count)), [], ""
    while True:
        arguments = {"MaxResults": size, "NextToken": token} if token else {"MaxResults": size}
        shown, fields = api.cursor(items, arguments)
        seen += shown
        token = fields["NextToken"]
        if not token:
            break
    assert seen == items


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("web", "my-web-1", True),
        ("web", "db", False),
        ("*", "", True),
        ("web*", "web-1", True),
        ("web*", "my-web", False),
        ("*web", "my-web", True),
        ("*web", "web-1", False),
        ("a*b*c", "a-b-c", True),
        ("a*b*c", "acb", False),
        ("ab*ba", "aba", False),
        ("a**c", "abc", True),
    ],
)
def test_a_star_in_a_name_filter_is_any_text(pattern, name, expected):
    assert api.fuzzy(pattern, name) is expected
