"""Seeded faults of the cloud's answers: what an agent has to live with in the real one.

- ``throttling``: ``Throttling.User``; nothing has happened.
- ``timeout``: a change is made, but the answer is ``ServiceUnavailable``. Whoever sent a
  ``ClientToken`` gets the first result by asking again with it.
- ``stale``: a read shows the state before the latest change, for up to a minute after it.
- ``partial``: a read gives a smaller page than was asked for, and how to go on.

Which call meets which fault depends on the seed and on the call's number alone, so that the same
calls meet the same faults again, after a restore as well. Only an assistant's calls meet any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from cirrus_env.cloud.model import Effect
from cirrus_env.world import Stream

Fault = Literal["throttling", "timeout", "stale", "partial"]
KINDS: Final[tuple[Fault, ...]] = get_args(Fault)
PRESETS: Final[Mapping[str, Mapping[Fault, float]]] = MappingProxyType(
    {
        "mild": {"throttling": 0.03, "timeout": 0.03, "stale": 0.05, "partial": 0.05},
        "harsh": {"throttling": 0.15, "timeout": 0.15, "stale": 0.2, "partial": 0.2},
    }
)
STALE_SECONDS: Final = 60
"""How long after a change a read may still show what was before it."""

_WHOLE: Final = 1_000_000
_PAGE_SIZES: Final = ("MaxResults", "PageSize")
_SMALLER: Final = 5
"""By how much a partial page is smaller than the one asked for."""


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Which calls of an episode meet which fault.

    Attributes:
        seed: Where the draws come from.
        rates: How often each kind happens, in millionths of the calls that it fits.
    """

    seed: int
    rates: tuple[tuple[Fault, int], ...]

    def drawn(self, call: int, effect: Effect) -> Fault | None:
        """The fault of the call of this number; None for none."""
        luck = Stream(self.seed, f"faults:{call}").below(_WHOLE)
        for kind, rate in self.rates:
            if fits(kind, effect):
                if luck < rate:
                    return kind
                luck -= rate
        return None


def fits(kind: Fault, effect: Effect) -> bool:
    """Whether a fault of this kind can meet a call of this effect."""
    if kind == "throttling":
        return True
    return (effect == "read") is (kind != "timeout")


def fault_rates(given: str | Mapping[str, Any] | None) -> dict[Fault, float]:
    """The rates of a preset or of ``{kind: rate}``, as JSON; empty for none.

    Raises:
        ValueError: For an unknown preset or kind, or rates below 0 or above 1 together.
    """
    if given is None:
        return {}
    if isinstance(given, str):
        if given not in PRESETS:
            raise ValueError(f"there are no faults {given!r}; there are {', '.join(PRESETS)}")
        return dict(PRESETS[given])
    if not isinstance(given, Mapping):
        raise ValueError(f"faults are a preset's name or rates by kind, not {given!r}"[:200])
    rates: dict[Fault, float] = {}
    for kind, rate in given.items():
        if kind not in KINDS:
            raise ValueError(f"there is no fault {kind!r}; there are {', '.join(KINDS)}"[:200])
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
            raise ValueError(f"the rate of {kind} is from 0 to 1, not {rate!r}"[:200])
        rates[kind] = float(rate)
    for effect in ("read", "write"):
        if sum(rate for kind, rate in rates.items() if fits(kind, effect)) > 1:
            raise ValueError(f"the rates of a {effect} are above 1 together")
    return rates


def fault_plan(seed: int, rates: Mapping[Fault, float]) -> FaultPlan | None:
    """The plan of an episode; None where nothing ever happens."""
    drawn = tuple((kind, round(rates[kind] * _WHOLE)) for kind in KINDS if rates.get(kind))
    return FaultPlan(seed, drawn) if drawn else None


def smaller_page(parameters: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a read with a fifth of the page; as they are where it has no pages."""
    properties = parameters.get("properties", {})
    for name in _PAGE_SIZES:
        if name in properties:
            size: int = given.get(name, properties[name].get("default", 1))
            return {**given, name: max(1, size // _SMALLER)}
    return dict(given)
