"""Reward rules: the weights of METRICS section 7, and the exact sum of the terms.

All arithmetic is on integers and fractions, so that R(t) is the same integer on every machine: a
weight such as ``0.05`` counts as the decimal number that was written, 1/20, not as the nearest
binary one.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from cirrus_env.errors import OptionError

REWARD_VERSION: Final = "1"
"""Changes whenever a rule of this module gives another integer for the same trajectory."""

TERMS: Final = (
    "progress", "resolution", "efficiency", "latency", "violation", "incorrect_write", "invalid",
    "shaping", "nei", "custom",
)  # fmt: skip

_SHAPING: Final = TERMS.index("shaping")

MICRO: Final = 1_000_000

Custom = Callable[[Mapping[str, Any]], float]
"""A user's term: from the metrics of the trajectory's prefix to a number."""


@dataclass(frozen=True, slots=True)
class RewardRule:
    """How much each term weighs.

    Attributes:
        weights: Term -> weight; terms left out weigh 0.
        custom: The ``custom`` term: called with ``Tally.metrics()`` of the prefix after each step;
            must be a pure function.
        gamma: The learner's discount, for the ``shaping`` term.
        name: As the trajectory's header names it.
        fractions: The weights as exact fractions, in the order of ``TERMS``; derived.
        discount: ``gamma`` as an exact fraction; derived.
        scale: A common denominator of the weights; derived.
        scaled: The weights times ``scale``, whole numbers; derived.

    Raises:
        OptionError: For an unknown term, a number that is not finite, a discount outside [0, 1], or
            a custom function without a weight (or the reverse).
    """

    weights: Mapping[str, float] = field(hash=False)
    custom: Custom | None = field(default=None, hash=False)
    gamma: float = 1.0
    name: str = "weights"
    fractions: tuple[Fraction, ...] = field(init=False, repr=False, compare=False)
    discount: Fraction = field(init=False, repr=False, compare=False)
    scale: int = field(init=False, repr=False, compare=False)
    scaled: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for term in self.weights:
            if term not in TERMS:
                near = difflib.get_close_matches(str(term), TERMS, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"terms are {', '.join(TERMS)}"
                raise OptionError(f"there is no reward term {term!r}; {hint}")
        weights = {term: self.weights.get(term, 0.0) for term in TERMS}
        exact = {term: exactly(weight, f"weight of {term!r}") for term, weight in weights.items()}
        if (self.custom is not None) != (exact["custom"] != 0):
            raise OptionError("a custom function and a weight for 'custom' go together")
        discount = exactly(self.gamma, "gamma")
        if not 0 <= discount <= 1:
            raise OptionError(f"gamma must lie in [0, 1], not {self.gamma!r}")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "fractions", tuple(exact.values()))
        object.__setattr__(self, "discount", discount)
        scale = math.lcm(*(weight.denominator for weight in exact.values()))
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "scaled", tuple(int(w * scale) for w in exact.values()))

    @property
    def path_dependent(self) -> bool:
        """Whether a step may change the return although nothing was achieved or broken."""
        return self.custom is not None or self.scaled[_SHAPING] != 0

    def to_json(self) -> dict[str, Any]:
        """What a header or manifest says about the rule; the custom function only by name."""
        return {
            "name": self.name,
            "version": REWARD_VERSION,
            "weights": {term: weight for term, weight in self.weights.items() if weight},
            "gamma": self.gamma,
            "custom": getattr(self.custom, "__qualname__", type(self.custom).__name__)
            if self.custom is not None
            else "",
        }


def exactly(value: Any, what: str = "value") -> Fraction:
    """The decimal number that a float or integer writes, as a fraction.

    Raises:
        OptionError: If it is no finite number.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        if isinstance(value, int):
            return Fraction(value)
        if math.isfinite(value):
            return Fraction(repr(float(value)))
    raise OptionError(f"the {what} must be a finite number, not {value!r}")


def _preset(name: str, **weights: float) -> RewardRule:
    return RewardRule(weights, name=name)


PRESETS: Final[tuple[RewardRule, ...]] = (
    _preset(
        "cirrus", progress=0.05, resolution=0.65, efficiency=0.20, latency=0.10, violation=1,
        incorrect_write=1, invalid=1,
    ),
    _preset("sparse", resolution=1),
    _preset("dense", progress=0.3, resolution=0.7),
    _preset("shaped", resolution=1, shaping=1),
    _preset("paper", resolution=0.5, nei=0.5),
)  # fmt: skip
"""The named rules. Only ``cirrus`` keeps an unsuccessful episode at or below 0.05 for certain."""


def reward_rule(spec: str | RewardRule | Mapping[str, Any]) -> RewardRule:
    """The rule that a name, a rule or a JSON mapping means.

    Args:
        spec: A preset's name; a rule; or weights by term, optionally with ``gamma`` and with
            ``preset``, whose weights then hold for terms not named.

    Raises:
        OptionError: If it is none of these.
    """
    if isinstance(spec, RewardRule):
        return spec
    if isinstance(spec, str):
        for rule in PRESETS:
            if rule.name == spec:
                return rule
        names = [rule.name for rule in PRESETS]
        near = difflib.get_close_matches(spec, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
        raise OptionError(f"there is no reward rule {spec!r}; {hint}")
    if isinstance(spec, Mapping):
        weights = dict(spec)
        gamma = weights.pop("gamma", 1.0)
        preset = weights.pop("preset", None)
        if preset is None:
            return RewardRule(weights, gamma=gamma)
        base = reward_rule(preset)
        name = base.name if not weights else "weights"
        return RewardRule({**base.weights, **weights}, gamma=gamma, name=name)
    raise OptionError(f"a reward is a preset's name, a RewardRule or a mapping, not {spec!r}")
