"""Reset options: known keys, near-misses, types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from cirrus_env.errors import OptionError

KNOWN: Final = ("ticket", "variant", "turn", "customer", "language")


class ResetOptions(NamedTuple):
    """What ``reset(options=...)`` may say.

    Attributes:
        variant: The root cause to play; None to draw one.
        turn: Start after this many turns of the reference.
        customer: The customer for this episode; None for the episode's own.
        language: The language for this episode; None for the episode's own.
    """

    variant: str | None = None
    turn: int = 0
    customer: Any = None
    language: str | None = None


def read_options(options: Mapping[str, Any] | None) -> ResetOptions:
    """Check reset options. Unknown keys are ignored, one within two letters of a known key isn't.

    Raises:
        OptionError: For a near-miss of a known key, or a value of the wrong type.
    """
    if options is None:
        return ResetOptions()
    if not isinstance(options, Mapping):
        raise OptionError(f"options must be a mapping, not {type(options).__name__}")
    for key in options:
        if not isinstance(key, str) or key in KNOWN:
            continue
        for known in KNOWN:
            if distance(key.lower(), known) <= 2:
                raise OptionError(f"unknown reset option {key!r}; did you mean {known!r}?")
    variant, turn = options.get("variant"), options.get("turn", 0)
    language = options.get("language")
    if variant is not None and not isinstance(variant, str):
        raise OptionError(f"variant must be a name, not {variant!r}")
    if language is not None and not isinstance(language, str):
        raise OptionError(f"language must be a name, not {language!r}")
    if isinstance(turn, bool) or not isinstance(turn, int) or turn < 0:
        raise OptionError(f"turn must be a number of turns from 0, not {turn!r}")
    return ResetOptions(variant, turn, options.get("customer"), language)


def distance(a: str, b: str) -> int:
    """The Levenshtein distance of two short words."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]
