"""The oracle: plays the reference of the scenario that it was built for."""

from __future__ import annotations

from typing import Any

from cirrus_env.baselines.plans import Plan, plan
from cirrus_env.baselines.policy import Observation
from cirrus_env.engine.plan import PATIENCE, closing_action, to_repeat
from cirrus_env.errors import OptionError
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import AssistantAction


class Oracle:
    """Plays a plan made from gold, action by action.

    It looks at observations only to wait: a read after a change is repeated while its result shows
    a transition.

    Args:
        source: A ``TicketEpisode``, a Gymnasium environment over one, or a scenario.
        mode: Which plan; see ``cirrus_env.baselines.plans``.
    """

    __slots__ = ("_again", "_next", "_plan", "_scenario", "_source", "mode", "name")

    def __init__(self, source: Any, mode: str = "plain") -> None:
        self._source = unwrapped(source)
        self.mode = mode
        self.name = "oracle" if mode == "plain" else f"oracle:{mode}"
        self.reset()

    def reset(self, seed: int = 0) -> None:
        """Take up the scenario that the source has now; the seed doesn't matter."""
        self._scenario = scenario_of(self._source)
        self._plan: Plan = plan(self._scenario, self.mode)
        self._next = _start(self._source, self._plan)
        self._again = 0

    def act(self, observation: Observation) -> AssistantAction:
        """The plan's next action.

        Raises:
            OptionError: If the source has gone on to another scenario without ``reset``.
        """
        if scenario_of(self._source) is not self._scenario:
            raise OptionError(
                "this oracle was built for another scenario: reset it, or build one by oracle_for"
            )
        if 0 < self._next <= len(self._plan) and self._again < PATIENCE:
            last = self._plan[self._next - 1]
            if to_repeat(last, observation["message"]):
                self._again += 1
                return self._shown(last.action)
        self._again = 0
        if self._next >= len(self._plan):
            return self._shown(closing_action(self._scenario))
        step = self._plan[self._next]
        self._next += 1
        return self._shown(step.action)

    def _shown(self, action: AssistantAction) -> AssistantAction:
        """Under the names that the episode shows the tools by, if a scenario has an episode."""
        shown = getattr(self._source, "as_shown", None)
        return action if shown is None else shown(action)


def oracle_for(source: Any, mode: str = "plain") -> Oracle:
    """The oracle of the running episode.

    Args:
        source: A ``TicketEpisode`` or a Gymnasium environment over one, after ``reset``; or a
            scenario.
        mode: ``plain``; ``jump`` (skips every skippable checkpoint); ``sibling:<variant>`` (plays
            another variant's plan); or a mutation, see ``cirrus_env.baselines.plans``.

    Raises:
        OptionError: For a source without a scenario or an unknown mode.
    """
    return Oracle(source, mode)


def unwrapped(source: Any) -> Any:
    """The episode inside an environment; anything else as it is."""
    inner = getattr(source, "unwrapped", source)
    return getattr(inner, "episode", inner)


def scenario_of(source: Any) -> Scenario:
    """The scenario of an episode, environment or scenario.

    Raises:
        OptionError: If there is none.
    """
    if isinstance(source, Scenario):
        return source
    found = getattr(source, "scenario", None)
    if isinstance(found, Scenario):
        return found
    raise OptionError(f"no scenario in {type(source).__name__}: give an episode after reset")


def _start(source: Any, steps: Plan) -> int:
    """Where to begin: after the turns that ``reset(options={"turn": n})`` has played."""
    played = getattr(getattr(source, "state", None), "turn", 0)
    position = 0
    while played > 0 and position < len(steps):
        if steps[position].action.kind != "call":
            played -= 1
        position += 1
    return position
