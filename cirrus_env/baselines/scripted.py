"""The base of policies that play a script."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Any, Final

from cirrus_env.baselines import reading
from cirrus_env.baselines.oracle import scenario_of, unwrapped
from cirrus_env.baselines.policy import Observation
from cirrus_env.errors import OptionError
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import AssistantAction

Script = Generator[AssistantAction, Observation, None]
"""Yields actions and is sent the observation after each."""

_BYE: Final = {
    "en": "Your ticket is now closed. Goodbye.",
    "zh": "您的工单现已关闭。再见。",
}


class Scripted(ABC):
    """A policy whose moves are a generator; when it is exhausted the policy ends the ticket.

    Args:
        source: The episode or environment that it plays in. Attacks that may read gold need it;
            where it is given, any script ends as the scenario rightly ends (close, or escalation to
            the right queue), so that nothing fails merely by its ending.
    """

    name: str = ""

    def __init__(self, source: Any = None) -> None:
        self._source = unwrapped(source)
        self._script: Script | None = None

    def reset(self, seed: int) -> None:
        """Begin anew; the seed doesn't matter."""
        self._script = None

    def act(self, observation: Observation) -> AssistantAction:
        """The script's next action."""
        try:
            if self._script is None:
                self._script = self.play(observation)
                return next(self._script)
            return self._script.send(observation)
        except StopIteration:
            return self.end(observation)

    @abstractmethod
    def play(self, observation: Observation) -> Script:
        """The script, from the first observation."""

    def last_words(self, observation: Observation) -> str:
        """What the ending says."""
        return _BYE[reading.language(observation)]

    def end(self, observation: Observation) -> AssistantAction:
        """The ending."""
        text = self.last_words(observation)
        if self._source is not None:
            gold = self.scenario.gold
            if gold.ending == "escalate":
                return AssistantAction("escalate", text, queue=gold.queue)
        return AssistantAction("close", text)

    @property
    def scenario(self) -> Scenario:
        """The running scenario, for attacks that read gold.

        Raises:
            OptionError: If the policy was made without a source.
        """
        if self._source is None:
            raise OptionError(f"{self.name} reads gold: make it with the episode that it plays in")
        return scenario_of(self._source)


def reply(text: str) -> AssistantAction:
    """A reply."""
    return AssistantAction("reply", text)
