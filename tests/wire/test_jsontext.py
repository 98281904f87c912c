"""JSON at the edge."""

from __future__ import annotations

import contextlib
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.errors import MalformedText
from cirrus_env.wire.jsontext import (
    MAX_DEPTH,
    canonical,
    canonical_result,
    digest,
    encodes,
    strict_loads,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(values)
def test_what_is_written_is_read_again(value):
    assert strict_loads(canonical(value)) == value
    assert strict_loads(json.dumps(value)) == value


@given(st.dictionaries(texts, st.integers(), min_size=2, max_size=6))
def test_the_canonical_text_does_not_depend_on_the_order_of_keys(mapping):
    backward = dict(reversed(list(mapping.items())))
    assert canonical(backward) == canonical(mapping)
    assert digest(backward) == digest(mapping)


def test_the_canonical_text_is_compact_sorted_and_unescaped():
    assert canonical({"b": [1, 2.5, None], "a": "云é", "c": True}) == (
        '{"a":"云é","b":[1,2.5,null],"c":true}'
    )


amounts = st.integers(-(10**13), 10**13).map(lambda cents: cents / 100)
results = st.recursive(
    st.none() | st.booleans() | st.integers() | amounts | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner)
    | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(results)
def test_a_result_is_written_as_any_value_is(value):
    assert canonical_result(value) == canonical(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_json_is_not_written(value):
    with pytest.raises(ValueError):
        canonical(value)


def test_digests_of_bytes_texts_and_values():
    assert digest(b"abc") == digest("abc") == hashlib.sha256(b"abc").hexdigest()
    assert digest({"a": 1}) == digest('{"a":1}')
    assert digest("\ud800") != digest("\udfff")


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "{", "[1,]", "{'a': 1}", "NaN", "Infinity", "-Infinity", "[1, NaN]", "1e999",
        "-1e999", '{"a": 1, "a": 2}', '{"x": {"a": 1, "b": 2, "a": 1}}', '"\\ud800"',
        '{"\\udfff": 1}', '["\\ud83d"]', '"\ud800"', "1 2", "// x\n1", '"a\nb"', "\x00", "01",
        "9" * 5000, "[" * 65 + "]" * 65, '{"a":' * 65 + "1" + "}" * 65, "[" * 100_000, "tru",
    ],
)  # fmt: skip
def test_what_a_model_may_not_send_is_one_typed_error(text):
    with pytest.raises(MalformedText):
        strict_loads(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, None),
        (json.dumps("[{" * 500), "[{" * 500),
        (json.dumps(['\\"[', "[" * 80]), ['\\"[', "[" * 80]),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\u0000"', "\x00"),
        (" \n[1]\t", [1]),
        ("18446744073709551616", 2**64),
        ("-0.0", -0.0),
        ("1E2", 100.0),
        ('{"a":{"a":1}}', {"a": {"a": 1}}),
    ],
)
def test_what_only_looks_wrong_is_read(text, expected):
    value = strict_loads(text)
    if expected is not None:
        assert value == expected


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(MalformedText):
        value = strict_loads(text)
        assert strict_loads(canonical(value)) == value


@pytest.mark.parametrize(
    ("text", "expected"), [("", True), ("a", True), ("云", True), ("😀", True), ("\ud800", False)]
)
def test_a_lone_surrogate_has_no_utf_8_form(text, expected):
    assert encodes(text) is expected
