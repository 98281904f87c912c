"""``TicketAECEnv``: a support ticket as a PettingZoo environment with both seats open."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from gymnasium import logger, spaces

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.parsers import Parser
from cirrus_env.engine.setting import EXTERNAL, Limits
from cirrus_env.envs import pettingzoo_ids, render
from cirrus_env.envs.actions import assistant_action
from cirrus_env.envs.seats import (
    assistant_mask,
    customer_mask,
    read_customer,
    rewardable,
    satisfaction,
)
from cirrus_env.envs.source import Source, TicketLike
from cirrus_env.envs.spaces import (
    MAX_CHARS,
    MAX_STEPS,
    assistant_action_space,
    customer_action_space,
    observation_space,
)
from cirrus_env.envs.views import AssistantView, CustomerView, Observation
from cirrus_env.errors import EpisodeNotRunning, OptionError
from cirrus_env.judging.judge import Judge
from cirrus_env.judging.reward import RewardRule
from cirrus_env.wire import ASSISTANT, CUSTOMER, SEATS

with pettingzoo_ids.audio_driver_kept():
    from pettingzoo import AECEnv  # type: ignore[import-untyped]  # it ships no types


class TicketAECEnv(AECEnv[str, Observation, Any]):  # type: ignore[misc]  # its base is untyped
    """A support ticket of Cirrus Cloud with two learners: the assistant and the customer.

    ## Description
    The ticket of ``TicketEnv`` with nobody built in: ``assistant_0`` and ``customer_0`` move in
    turn, an agent keeps the move while it makes tool calls (or one console action a turn). The
    customer's opening has been said before the assistant's first move.

    >>> from cirrus_env.envs.aec_env import TicketAECEnv
    >>> env = TicketAECEnv("ECS-Billing")
    >>> env.reset(seed=7)
    >>> env.agent_selection, env.agents
    ('assistant_0', ['assistant_0', 'customer_0'])
    >>> env.step("Which instance is it, please?")
    >>> env.agent_selection, env.last()[0]["message"]
    ('customer_0', 'Which instance is it, please?')
    >>> env.step({"type": 3, "text": "Never mind.", "console": 0})
    >>> env.terminations, env.infos["assistant_0"]["outcome"]
    ({'assistant_0': True, 'customer_0': True}, 'abandoned')

    ## Observation Space
    As ``TicketEnv``'s, equal for both agents; the customer's shows its own side.

    ## Action Space
    As ``TicketEnv``'s for the assistant's and the customer's seat. A text is a reply (or what the
    customer says); the assistant also takes chat messages. A finished agent takes only ``None``.
    ``infos[agent]["action_mask"]`` can be given to ``action_space(agent).sample``.

    ## Rewards
    The assistant gets the change of its return, the customer the change of its satisfaction: the
    share of what it wants that holds on the true state. Each of them also for the other's moves.

    ## Starting State
    As ``TicketEnv``'s, with the options ``ticket``, ``variant``, ``turn`` and ``language``.

    ## Episode End
    Both agents end together and with the same flag, as ``TicketEnv`` does.

    ## Arguments
    Args:
        ticket: The ticket's name, a ticket file's path, a ``Ticket``, or a list of these: then
            each episode's ticket is drawn by its seed.
        judge: Decides what was said: ``rule`` or a ``Judge``.
        reward: ``cirrus``, ``sparse``, ``dense``, ``shaped``, ``paper``, weights, or a
            ``RewardRule``.
        parser: Reads a string of the assistant: ``plain``, ``openai``, or a function.
        system: A system text instead of the ticket's.
        language: ``en`` or ``zh``; None for the ticket's first.
        tools: Names of the tools to offer; None for all.
        faults: The cloud's seeded faults: ``mild``, ``harsh``, rates by kind, or None.
        distractions: How many tools of services that the ticket doesn't need are offered beside
            its own, or ``all``.
        scramble: A seed of meaningless names under which the tools are shown; None for their own.
        render_mode: None, ``human`` (printed as it happens), ``ansi`` or ``html``.
        max_turns: Turns of the assistant.
        max_tool_calls: Tool calls in all.
        max_invalid: Invalid actions in a row.
        max_tokens: Visible tokens of the assistant in all; None for no limit.
        max_chars: Characters of one message.

    ## Version History
    * v0: Initial version.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "cirrus_ticket_v0",
        "render_modes": ["human", "ansi", "html"],
        "render_fps": 1,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        ticket: TicketLike | Sequence[TicketLike],
        *,
        judge: str | Judge = "rule",
        reward: str | RewardRule | Mapping[str, float] = "cirrus",
        parser: str | Parser = "plain",
        system: str | None = None,
        language: str | None = None,
        tools: Iterable[str] | None = None,
        faults: str | Mapping[str, float] | None = None,
        distractions: int | str = 0,
        scramble: int | None = None,
        render_mode: str | None = None,
        max_turns: int = 30,
        max_tool_calls: int = 60,
        max_invalid: int = 3,
        max_tokens: int | None = None,
        max_chars: int = 20_000,
    ) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            known = ", ".join(self.metadata["render_modes"])
            raise OptionError(f"there is no render mode {render_mode!r}; there are {known}")
        Limits(max_turns, max_tool_calls, max_invalid, max_tokens, max_chars)
        if max_turns > MAX_STEPS or max_chars > MAX_CHARS:
            raise OptionError(f"max_turns goes up to {MAX_STEPS}, max_chars up to {MAX_CHARS}")
        self.render_mode = render_mode
        arguments = {
            "customer": EXTERNAL,
            "judge": judge,
            "reward": reward,
            "parser": parser,
            "system": system,
            "language": language,
            "tools": None if tools is None else tuple(tools),
            "faults": faults,
            "distractions": distractions,
            "scramble": scramble,
            "max_turns": max_turns,
            "max_tool_calls": max_tool_calls,
            "max_invalid": max_invalid,
            "max_tokens": max_tokens,
            "max_chars": max_chars,
        }
        self._source = Source(ticket, arguments)
        self.possible_agents = list(SEATS)
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_space() for agent in SEATS}
        self.action_spaces = {
            ASSISTANT: assistant_action_space(),
            CUSTOMER: customer_action_space(),
        }

    @property
    def episode(self) -> TicketEpisode:
        """The episode being played, gold included: for runners, not for policies."""
        return self._source.episode

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same object at each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same object at each call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: The scenario's seed, and the start of the stream that later resets draw from.
            options: ``ticket``, ``variant``, ``turn``, ``language``.

        Raises:
            OptionError: For an option that can't be used, or a near-miss of a known key.
        """
        if options and options.get("customer") is not None:
            raise OptionError("the customer's seat is open here: nobody else can play it")
        number = self._source.next_seed(seed)
        episode = self._source.choose(number, options)
        episode.reset(seed=number, options=options)
        self._views: dict[str, AssistantView | CustomerView] = {
            ASSISTANT: AssistantView(),
            CUSTOMER: CustomerView(),
        }
        self.agents = list(SEATS)
        self.rewards = dict.fromkeys(SEATS, 0.0)
        self._cumulative_rewards = dict.fromkeys(SEATS, 0.0)
        self.terminations = dict.fromkeys(SEATS, False)
        self.truncations = dict.fromkeys(SEATS, False)
        self._satisfied = satisfaction(episode)
        self._shown = 0
        self._skip_agent_selection: str | None = None
        self.agent_selection = episode.to_move
        self._note()

    def step(self, action: Any) -> None:
        """The selected agent acts.

        Args:
            action: A member of its action space or a text; ``None`` once it has finished.

        Raises:
            InvalidAction: For a programmer's mistake; nothing has changed.
            EpisodeNotRunning: Before ``reset`` or after the end.
            ValueError: If a finished agent is given an action.
        """
        if not self.agents:
            raise EpisodeNotRunning("call reset first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        episode = self.episode
        if agent == ASSISTANT:
            read = assistant_action(action, episode.tool_names)
        else:
            read = read_customer(episode, action)
        step = episode.apply(agent, read)
        level = satisfaction(episode)
        gained, self._satisfied = level - self._satisfied, level
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {
            ASSISTANT: rewardable(step),
            CUSTOMER: 0.0 if step.reward is None else gained,
        }
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(SEATS, step.terminated)
        self.truncations = dict.fromkeys(SEATS, step.truncated)
        self.agent_selection = episode.to_move or ASSISTANT
        self._note()

    def observe(self, agent: str) -> Observation:
        """What an agent sees now."""
        return self._views[agent].observe(self.episode)

    def render(self) -> str | None:
        """The dialogue so far as the assistant sees it: text or HTML by ``render_mode``."""
        if self.render_mode is None:
            logger.warn("render was called without a render mode")
            return None
        if self.render_mode == "human":
            self._show()
            return None
        transcript = self.observe(ASSISTANT)["transcript"]
        if self.render_mode == "html":
            return render.html(transcript, ASSISTANT, self.episode.ticket.title)
        return render.ansi(transcript, ASSISTANT)

    def close(self) -> None:
        """Let all episodes go; the environment can be reset again."""
        self._source.close()

    def _note(self) -> None:
        masks = {ASSISTANT: assistant_mask, CUSTOMER: customer_mask}
        self.infos = {
            agent: {**self.episode.info(), "action_mask": masks[agent](self.episode)}
            for agent in SEATS
        }
        if self.render_mode == "human":
            self._show()

    def _show(self) -> None:
        chat = render.messages(self.observe(ASSISTANT)["transcript"])
        text = render.ansi_of(chat[self._shown :], ASSISTANT)
        self._shown = len(chat)
        if text:
            sys.stdout.write(text + "\n")
