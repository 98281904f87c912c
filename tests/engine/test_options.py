"""Reset options: unknown ones are ignored, near-misses and wrong types are told."""

import pytest

from cirrus_env.engine.options import ResetOptions, distance, read_options
from cirrus_env.errors import OptionError


def test_nothing_and_unknown_keys_are_the_defaults():
    assert read_options(None) == ResetOptions()
    assert read_options({"render": 1, 5: 6}) == ResetOptions()


def test_known_keys_are_read():
    given = {"variant": "a", "turn": 2, "customer": "replay", "language": "zh", "ticket": "x"}
    assert read_options(given) == ResetOptions("a", 2, "replay", "zh")


@pytest.mark.parametrize("key", ["varaint", "variants", "Variant ", "tur", "turns", "custmer"])
def test_a_near_miss_is_told(key):
    with pytest.raises(OptionError, match="did you mean"):
        read_options({key: 1})


@pytest.mark.parametrize(
    "options",
    [{"variant": 3}, {"turn": -1}, {"turn": True}, {"turn": 1.0}, {"turn": "1"}, {"language": 1}],
)
def test_a_wrong_type_is_told(options):
    with pytest.raises(OptionError):
        read_options(options)


def test_options_that_are_no_mapping_are_told():
    with pytest.raises(OptionError, match="mapping"):
        read_options([("variant", "a")])  # type: ignore[arg-type]


def test_distance_counts_edits():
    assert distance("kitten", "sitting") == 3
    assert distance("", "abc") == 3
