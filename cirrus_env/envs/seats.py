"""The learner's seat: what it sees, what it may do, what it gains, and who plays against it."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from gymnasium import spaces

from cirrus_env.engine.episode import Step, TicketEpisode
from cirrus_env.engine.plan import (
    PATIENCE,
    reference_actions,
    reference_turns,
    to_repeat,
    with_waits,
)
from cirrus_env.envs.actions import assistant_action, customer_action
from cirrus_env.envs.spaces import (
    Mask,
    action_mask,
    assistant_action_space,
    customer_action_space,
)
from cirrus_env.envs.views import AssistantView, CustomerView, Observation
from cirrus_env.errors import OptionError
from cirrus_env.nlu.evidence import holds
from cirrus_env.tickets import predicates
from cirrus_env.wire import ASSISTANT, CUSTOMER, AssistantAction

REFERENCE = "reference"
"""The assistant that plays the ticket's reference path, whatever the customer says."""


@runtime_checkable
class Assistant(Protocol):
    """Who plays the assistant when the learner is the customer."""

    def reset(self, seed: int) -> None:
        """A new episode begins."""
        ...

    def act(self, observation: Observation) -> Any:
        """The next action, in any form that the assistant's seat takes."""
        ...


class AssistantSeat:
    """The learner is the support agent; the episode's customer answers by itself."""

    name = ASSISTANT

    def __init__(self, view: AssistantView | None = None) -> None:
        self.view = view if view is not None else AssistantView()

    def action_space(self) -> spaces.Dict[Any]:
        """What it may do."""
        return assistant_action_space()

    def copy(self) -> AssistantSeat:
        """An independent copy."""
        return AssistantSeat(self.view.copy())

    def begin(self, episode: TicketEpisode) -> None:
        """A new episode has been reset."""
        self.view = AssistantView()

    def read(self, episode: TicketEpisode, action: Any) -> AssistantAction:
        """What an action means; nothing changes."""
        return episode.read(assistant_action(action, episode.tool_names))

    def act(self, episode: TicketEpisode, action: Any) -> Step:
        """Its action, and the customer's answer."""
        return episode.step(assistant_action(action, episode.tool_names))

    async def act_async(self, episode: TicketEpisode, action: Any) -> Step:
        """``act`` inside an event loop."""
        return await episode.astep(assistant_action(action, episode.tool_names))

    def mask(self, episode: TicketEpisode) -> Mask:
        """Which actions make sense now."""
        return assistant_mask(episode)


class CustomerSeat:
    """The learner is the customer; ``assistant`` plays the support agent."""

    name = CUSTOMER

    def __init__(
        self,
        assistant: str | Assistant = REFERENCE,
        view: CustomerView | None = None,
        other: AssistantView | None = None,
        satisfied: float = 0.0,
        played: int = 0,
    ) -> None:
        if isinstance(assistant, str):
            if assistant != REFERENCE:
                raise OptionError(
                    f"assistant is {REFERENCE!r} or an object with reset and act, not {assistant!r}"
                )
        elif not isinstance(assistant, Assistant):
            raise OptionError("an assistant needs the methods reset(seed) and act(observation)")
        self.assistant = assistant
        self.view = view if view is not None else CustomerView()
        self._other = other if other is not None else AssistantView()
        self._satisfied = satisfied
        self._played = played

    def action_space(self) -> spaces.Dict[Any]:
        """What it may do."""
        return customer_action_space()

    def copy(self) -> CustomerSeat:
        """An independent copy; an assistant that is an object is shared."""
        return CustomerSeat(
            self.assistant, self.view.copy(), self._other.copy(), self._satisfied, self._played
        )

    def begin(self, episode: TicketEpisode) -> None:
        """A new episode has been reset: the assistant takes its first turn."""
        self.view, self._other = CustomerView(), AssistantView()
        if not isinstance(self.assistant, str):
            self.assistant.reset(episode.scenario.seed)
        self._satisfied = satisfaction(episode)
        turns = reference_turns(episode.scenario)[: episode.header["turn"]]
        self._played = sum(map(len, turns))
        self._answer(episode)

    def read(self, episode: TicketEpisode, action: Any) -> Any:
        """What an action means; nothing changes."""
        return read_customer(episode, action)

    def act(self, episode: TicketEpisode, action: Any) -> Step:
        """Its action, and the assistant's until it is the customer's turn again."""
        start = len(episode.messages)
        episode.apply(CUSTOMER, read_customer(episode, action))
        self._answer(episode)
        outcome = episode.outcome
        level = satisfaction(episode)
        gained, self._satisfied = level - self._satisfied, level
        ended = outcome is not None
        terminated = outcome is not None and outcome.terminated
        valid = outcome is None or outcome.valid
        return Step(
            episode.messages[start:],
            gained if valid else None,
            terminated,
            ended and not terminated,
            episode.info(),
        )

    async def act_async(self, episode: TicketEpisode, action: Any) -> Step:
        """``act`` inside an event loop."""
        return self.act(episode, action)

    def mask(self, episode: TicketEpisode) -> Mask:
        """Which actions make sense now."""
        return customer_mask(episode)

    def _answer(self, episode: TicketEpisode) -> None:
        while episode.to_move == ASSISTANT:
            if isinstance(self.assistant, str):
                self._follow_reference(episode)
            else:
                given = self.assistant.act(self._other.observe(episode))
                episode.apply(ASSISTANT, assistant_action(given, episode.tool_names))

    def _follow_reference(self, episode: TicketEpisode) -> None:
        scenario = episode.scenario
        plan = tuple(with_waits(scenario, reference_actions(scenario)))
        step = plan[min(self._played, len(plan) - 1)]
        self._played += 1
        for _ in range(PATIENCE):
            episode.apply(ASSISTANT, episode.as_shown(step.action))
            if episode.outcome is not None or not to_repeat(step, episode.messages[-1]["content"]):
                return


def read_customer(episode: TicketEpisode, action: Any) -> Any:
    """The customer's action; one console action a turn, so that a turn always ends."""
    console = () if episode.state.console is not None else tuple(episode.scenario.private.console)
    return customer_action(action, console, episode.setting.limits.max_chars)


def assistant_mask(episode: TicketEpisode) -> Mask:
    """Calls make sense while there are tools and calls left; all else always."""
    tools = len(episode.tool_names)
    left = episode.state.tool_calls < episode.setting.limits.max_tool_calls
    return action_mask((True, tools > 0 and left, True, True), tools, index="tool")


def customer_mask(episode: TicketEpisode) -> Mask:
    """A console action makes sense while there is one, once a turn; all else always."""
    console = len(episode.scenario.private.console)
    free = episode.state.console is None
    return action_mask((True, console > 0 and free, True, True), console, index="console")


def satisfaction(episode: TicketEpisode) -> float:
    """How much of what the customer wants holds on the true state, in [0, 1]."""
    wanted = episode.scenario.private.satisfied
    parts = wanted.parts if isinstance(wanted, predicates.All) else (wanted,)
    state = episode.state
    return float(np.mean([holds(part, state.evidence, state.cloud) for part in parts]))


def rewardable(step: Step) -> float:
    """A step's reward as Gymnasium wants it: 0.0 where the episode became invalid."""
    return 0.0 if step.reward is None else float(step.reward)
