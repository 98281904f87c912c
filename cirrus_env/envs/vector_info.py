"""Infos of several environments as one, in Gymnasium's form: arrays, each with a mask ``_key``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def merged(infos: Sequence[Mapping[str, Any] | None]) -> dict[str, Any]:
    """One info for all.

    Integers, floats and booleans become arrays of their type, arrays of one shape are stacked,
    mappings are merged in their turn, all else goes into object arrays: also where an environment
    has None or another type than the others. Zero, False or None stands where one has no value.

    Args:
        infos: One for each environment; None where it has none.
    """
    keys: dict[str, None] = {}
    for info in infos:
        if info is not None:
            keys.update(dict.fromkeys(info))
    result: dict[str, Any] = {}
    for key in keys:
        there = [info is not None and key in info for info in infos]
        values = [info[key] if info is not None and key in info else None for info in infos]
        present = [value for value, has in zip(values, there, strict=True) if has]
        if all(isinstance(value, Mapping) for value in present):
            result[key] = merged(values)
        else:
            result[key] = _column(values, present)
        result[f"_{key}"] = np.array(there, dtype=np.bool_)
    return result


def _column(values: Sequence[Any], present: Sequence[Any]) -> NDArray[Any]:
    kinds = {type(value) for value in present}
    kind = kinds.pop() if len(kinds) == 1 else object
    if kind in (int, float, bool):
        filled = [kind() if value is None else value for value in values]
        try:
            return np.array(filled, dtype=kind)
        except OverflowError:  # an integer beyond 64 bits, such as a seed
            return _objects(values)
    if kind is np.ndarray:
        first = present[0]
        if all(value.shape == first.shape and value.dtype == first.dtype for value in present):
            empty = np.zeros_like(first)
            return np.stack([empty if value is None else value for value in values])
    return _objects(values)


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    column = np.full(len(values), fill_value=None, dtype=object)
    for i, value in enumerate(values):
        column[i] = value
    return column
