from collections.abc import Mapping
from typing import Any, Literal

import pytest

from cirrus_env.tickets.fields import fits


@pytest.mark.parametrize(
    ("hint", "value", "wanted"),
    [
        (int, 3, True), (int, True, False), (int, 3.0, False), (bool, True, True), (bool, 1, False),
        (float, 3, True), (float, 3.5, True), (float, True, False), (float, "3", False),
        (str, "x", True), (str, 3, False), (Any, object(), True),
        (Literal["a", 1], "a", True), (Literal["a", 1], 1, True), (Literal["a", 1], True, False),
        (int | None, None, True), (int | None, 3, True), (int | None, "x", False),
        (tuple[str, ...], ("a", "b"), True), (tuple[str, ...], ("a", 1), False),
        (tuple[str, ...], ["a"], False), (tuple[int, str], (1, "a"), True),
        (tuple[int, str], (1,), False), (Mapping[str, int], {"a": 1}, True),
        (Mapping[str, int], 3, False), (None, None, True), (type(None), 0, False),
    ],
)  # fmt: skip
def test_a_value_fits_its_annotation_or_not(hint, value, wanted):
    assert fits(hint, value) is wanted
