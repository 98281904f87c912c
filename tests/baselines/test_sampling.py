import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.baselines.sampling import Missing, arguments, sample
from cirrus_env.cloud.catalogue import SERVICES, catalogue
from cirrus_env.world import Stream

OPERATIONS = sorted(catalogue(tuple(SERVICES)).operations.items())
WORDS = ("i-bp1abcdefgh", "d-bp1abcdefgh", "220011223344556")


@pytest.mark.parametrize("name", [name for name, _ in OPERATIONS])
def test_arguments_fit_the_schema_of_every_operation(name):
    parameters = dict(OPERATIONS)[name].parameters
    for seed in range(5):
        made = arguments(parameters, WORDS, Stream(seed, "test"), optional=True)
        assert made is None or jsonschema.Draft202012Validator(parameters).is_valid(made)


SCHEMAS = st.sampled_from(
    [
        {"const": 7},
        {"enum": ["a", 2]},
        {"type": "string", "minLength": 3, "maxLength": 20},
        {"type": "string", "pattern": "^i-"},
        {"type": "integer", "minimum": 3, "maximum": 9},
        {"type": "number", "minimum": 1},
        {"type": "boolean"},
        {"type": ["boolean", "null"]},
        {"anyOf": [{"type": "boolean"}, {"const": "x"}]},
        {"oneOf": [{"type": "integer"}, {"const": "x"}]},
        {"type": "array", "items": {"type": "integer"}, "minItems": 2},
        {
            "type": "object",
            "properties": {"A": {"type": "boolean"}, "B": {"type": "string"}},
            "required": ["A"],
        },
    ]
)


@given(SCHEMAS, st.integers(0, 10**9))
def test_samples_fit(schema, seed):
    value = sample(schema, WORDS, Stream(seed, "test"))
    assert jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^no such text$"},
        {"type": "null"},
        {"type": "array", "items": {"type": "null"}},
        {"type": "object", "properties": {"A": {"type": "null"}}, "required": ["A"]},
    ],
)
def test_says_where_nothing_fits(schema):
    assert sample(schema, WORDS, Stream(1, "test")) is Missing
    assert arguments({"properties": {"A": schema}, "required": ["A"]}, (), Stream(1, "t")) is None


def test_names_of_arguments_tell_their_form():
    schema = {"type": "string"}
    parameters = {
        "properties": {"InstanceIds": schema, "StartTime": schema},
        "required": ["InstanceIds", "StartTime"],
    }
    made = arguments(parameters, WORDS[:1], Stream(1, "test"))
    assert made == {"InstanceIds": '["i-bp1abcdefgh"]', "StartTime": "2026-11-30T08:00Z"}
