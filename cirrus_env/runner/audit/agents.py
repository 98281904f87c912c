"""Checks that play agents: oracles that must succeed, everything else that must not (law R8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from cirrus_env.baselines.plans import expectations, plan
from cirrus_env.baselines.registry import ATTACKS
from cirrus_env.errors import OptionError
from cirrus_env.judging.outcome import UNSCORED
from cirrus_env.runner.agents import Agent
from cirrus_env.runner.audit.case import Case, Played, play_case, play_oracle

MOST_WITHOUT_SUCCESS: Final = 0.05
"""No unsuccessful episode returns more (METRICS section 7)."""

LEAST_OF_THE_ORACLE: Final = 0.8


def oracle_succeeds(case: Case) -> Iterator[str]:
    """The oracle and the jump oracle succeed, and the oracle returns at least 0.8.

    On a recording without evidence the reference plays to the end and is not scored.
    """
    if not case.scenario().gold.scored:
        played = play_oracle(case, "plain")
        if played.error or played.ended != UNSCORED:
            yield f"the recording ends with {played.ended}"
        return
    played = play_oracle(case, "plain")
    if not played.success:
        yield f"the oracle ends with {played.ended}"
    elif not LEAST_OF_THE_ORACLE <= played.returned <= 1:
        yield f"the oracle returns {played.returned:.3f}"
    jumped = play_oracle(case, "jump")
    if not jumped.success:
        yield f"the jump oracle ends with {jumped.ended}"


def changed_oracles(case: Case) -> Iterator[str]:
    """Every change of the oracle succeeds or fails as law R8 says; filler never pays."""
    if not case.scenario().gold.scored:
        return
    for mode, success in expectations(case.scenario()):
        if mode in ("plain", "jump"):
            continue
        played = play_oracle(case, mode)
        if played.error:
            yield f"oracle:{mode} ends with {played.ended}"
        elif played.success != success:
            wanted = "succeed" if success else "not succeed"
            yield f"oracle:{mode} must {wanted} but ends with {played.ended}"
        else:
            yield from _too_much(f"oracle:{mode}", played)
    yield from _filler(case)


def _filler(case: Case) -> Iterator[str]:
    try:
        plan(case.scenario(), "filler")
    except OptionError:
        return
    filled, plain = play_oracle(case, "filler").returned, play_oracle(case, "plain").returned
    if filled > plain:
        yield f"filler before the oracle returns {filled:.6f}, the oracle {plain:.6f}"


def attacks_fail(case: Case) -> Iterator[str]:
    """No trivial agent succeeds or returns more than 0.05."""
    for name, make in ATTACKS.items():
        played = play_case(case, make, name)
        yield from _no_success(name, played)


def outside_agents_fail(case: Case, agents: Sequence[Agent]) -> Iterator[str]:
    """The same for agents from outside the package."""
    for agent in agents:
        yield from _no_success(agent.name, play_case(case, agent.make, agent.name))


def _no_success(name: str, played: Played) -> Iterator[str]:
    if played.error:
        yield f"{name} ends with {played.ended}"
    elif played.success:
        yield f"{name} succeeds"
    else:
        yield from _too_much(name, played)


def _too_much(name: str, played: Played) -> Iterator[str]:
    if not played.success and played.returned > MOST_WITHOUT_SUCCESS:
        yield f"{name} returns {played.returned:.3f} without success"
