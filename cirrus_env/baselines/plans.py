"""Plans of the oracle: the reference, and its mutations that must or must not succeed.

A mode is a name, some with an argument after a colon: ``plain``, ``jump``, ``sibling:<variant>``,
``minus:<checkpoint>``, ``polite``, ``paraphrased``, ``extra-reads``, ``filler``, ``late-consent``,
``names-siblings``, ``wrong-id``, ``wrong-amount``, ``harm``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from cirrus_env.baselines import mutations
from cirrus_env.engine.plan import (
    PlanStep,
    Turn,
    checkpoint_actions,
    reference_actions,
    with_waits,
)
from cirrus_env.errors import OptionError
from cirrus_env.tickets.model import Scenario

Plan = tuple[PlanStep, ...]


def plan(scenario: Scenario, mode: str = "plain") -> Plan:
    """The actions of a mode.

    Raises:
        OptionError: For a mode that doesn't exist or can't be applied to this scenario.
    """
    name, _, argument = mode.partition(":")
    build = MODES.get(name)
    if build is None:
        raise OptionError(f"the oracle has no mode {mode!r}; it has {', '.join(MODES)}")
    actions = build(scenario, argument)
    if not actions:
        raise OptionError(f"the oracle's mode {mode!r} can't be applied to this scenario")
    return tuple(with_waits(scenario, actions))


class Expectation(NamedTuple):
    """A mode that applies to a scenario, and whether it must succeed."""

    mode: str
    success: bool


def expectations(scenario: Scenario) -> tuple[Expectation, ...]:
    """Every mode that applies, with what RELIABILITY law R8 expects of it."""
    required = [c.id for c in scenario.gold.checkpoints if not c.skippable]
    siblings = [v for v in scenario.ticket.variants if v != scenario.variant]
    modes = [
        *(Expectation(name, True) for name in SUCCEED),
        *(Expectation(f"minus:{id}", False) for id in required),
        *(Expectation(f"sibling:{name}", False) for name in siblings),
        *(Expectation(name, False) for name in FAIL),
    ]
    return tuple(e for e in modes if MODES[e.mode.partition(":")[0]](scenario, _argument(e.mode)))


def _argument(mode: str) -> str:
    return mode.partition(":")[2]


def _plain(scenario: Scenario, argument: str) -> Turn:
    return reference_actions(scenario)


def _jump(scenario: Scenario, argument: str) -> Turn:
    skip = [c.id for c in scenario.gold.checkpoints if c.skippable]
    return reference_actions(scenario, skip)


def _sibling(scenario: Scenario, argument: str) -> Turn:
    if argument not in scenario.ticket.variants or argument == scenario.variant:
        return ()
    return reference_actions(mutations.sibling(scenario, argument))


def _minus(scenario: Scenario, argument: str) -> Turn:
    found = [c for c in scenario.gold.checkpoints if c.id == argument]
    if not found:
        return ()
    actions = reference_actions(scenario, [argument])
    if checkpoint_actions(found[0]):
        return actions
    return mutations.closing_barely(scenario, actions)  # what it needs is in the last words


MODES: Final[Mapping[str, Callable[[Scenario, str], Turn]]] = MappingProxyType(
    {
        "plain": _plain,
        "jump": _jump,
        "sibling": _sibling,
        "minus": _minus,
        "polite": mutations.polite,
        "paraphrased": mutations.paraphrased,
        "extra-reads": mutations.extra_reads,
        "filler": mutations.filler,
        "late-consent": mutations.late_consent,
        "names-siblings": mutations.names_siblings,
        "wrong-id": mutations.wrong_id,
        "wrong-amount": mutations.wrong_amount,
        "harm": mutations.harm,
    }
)
"""Name -> what builds its actions from a scenario and an argument; no actions where it can't."""

SUCCEED: Final = ("plain", "jump", "polite", "paraphrased", "extra-reads")
FAIL: Final = ("late-consent", "names-siblings", "wrong-id", "wrong-amount", "harm")
