"""Both seats of a ticket with ``Box`` observations and ``Discrete`` actions, for RLlib and others.

Trainers of several agents on arrays can't write sentences. This PettingZoo environment gives each
seat a short, fixed list of moves and cheap features, all of them made from what the seat may see.
It is a small world for cooperation between two learners, not a way to solve tickets: the
assistant's furthest is what its script of rules reaches. For learning to solve tickets use the
single-agent candidate view, or language models.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cirrus_env.baselines import reading
from cirrus_env.baselines.keyword import KeywordRules
from cirrus_env.baselines.policy import Policy
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs import pettingzoo_ids
from cirrus_env.envs.aec_env import TicketAECEnv
from cirrus_env.envs.source import TicketLike
from cirrus_env.envs.views import Observation
from cirrus_env.errors import EpisodeNotRunning, InvalidAction, OptionError
from cirrus_env.wire import ASSISTANT, CUSTOMER, SEATS, AssistantAction, CustomerAction

with pettingzoo_ids.audio_driver_kept():
    from pettingzoo import AECEnv  # type: ignore[import-untyped]  # it ships no types

FACTS: Final = 16
"""The most facts that the customer has a move for; none of the bundled tickets has more."""

CONSOLE: Final = 8
"""The most console actions that it has a move for."""

WORDS: Final = 32
"""Places for the words of the other seat's last message."""

ASSISTANT_MOVES: Final = ("go_on", "ask", "anything_else", "close")
CUSTOMER_MOVES: Final = ("agree", "decline", "unsure", "accept", "leave")

_SAYS: Final = {
    "en": {
        "ask": "Which resource is it, please? I need its id.",
        "anything_else": "Is there anything else that I can do for you?",
        "close": "Thank you for contacting Cirrus Cloud. Goodbye.",
        "agree": "Yes, please go ahead.",
        "decline": "No, I don't want that.",
        "unsure": "I don't know.",
    },
    "zh": {
        "ask": "请问是哪个资源？请提供它的ID。",
        "anything_else": "请问还有其他可以帮您的吗？",
        "close": "感谢您联系 Cirrus Cloud，再见。",
        "agree": "好的，请操作。",
        "decline": "不，我不要这样。",
        "unsure": "我不知道。",
    },
}
_WORD: Final = re.compile(r"[A-Za-z']+|[\u4e00-\u9fff]")
_FOUR_DIGITS: Final = re.compile(r"(?<![\w-])\d{4}(?![\w-])")


class TwoSeats(AECEnv[str, NDArray[np.float32], int]):  # type: ignore[misc]  # its base is untyped
    """A support ticket with two learners on arrays.

    ## Description
    ``TicketAECEnv`` seen through numbers: ``assistant_0`` and ``customer_0`` move in turn, each
    from a fixed list. Both end together and with the same flag.

    >>> from cirrus_env.adapters.two_seats import TwoSeats
    >>> env = TwoSeats("ECS-Billing")
    >>> env.reset(seed=7)
    >>> env.agent_selection, env.action_space("assistant_0"), env.action_space("customer_0")
    ('assistant_0', Discrete(4), Discrete(29))
    >>> env.step(0)
    >>> env.agent_selection, env.observe("customer_0").shape
    ('customer_0', (103,))

    ## Observation Space
    A ``Box`` in [0, 1] for each seat: how far the episode is, who spoke last, which words the last
    message had (hashed), what the seat's own last move was; for the assistant whether an id and
    four digits have been named and whether there are results; for the customer what it has to tell
    and to do, and what it has told.

    ## Action Space
    - ``assistant_0``: ``Discrete(4)``: the next step of its script (an agent of rules that reads
      the dialogue), ask for the resource, ask whether anything remains, close.
    - ``customer_0``: ``Discrete(29)``: agree, decline, say that it doesn't know, accept, leave;
      tell one of its facts (16); do one of its console actions (8). What this customer doesn't
      have comes to not knowing. ``infos[agent]["action_mask"]`` says what it has.

    ## Rewards
    As ``TicketAECEnv``'s; with ``shared`` both seats get the assistant's.

    ## Arguments
    Args:
        ticket: A ticket's name or path, a ``Ticket``, or a list of these.
        script: Makes the assistant's script: a policy that sees observations alone.
        shared: Whether the customer, too, gets the assistant's reward: then both cooperate.
        seeds: Scenarios to play, in this order and over again; None for the reset's seed.
        render_mode: As ``TicketAECEnv``.
        settings: Further arguments of ``TicketAECEnv``, such as ``reward``.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "cirrus_two_seats_v0",
        "render_modes": ["human", "ansi", "html"],
        "render_fps": 1,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        ticket: TicketLike | Sequence[TicketLike],
        *,
        script: Callable[[], Policy] = KeywordRules,
        shared: bool = True,
        seeds: Sequence[int] | None = None,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.inner = TicketAECEnv(ticket, render_mode=render_mode, **settings)
        if seeds is not None and not seeds:
            raise OptionError("seeds are at least one, or None")
        self.render_mode = render_mode
        self._script = script
        self._shared = shared
        self._seeds = None if seeds is None else tuple(seeds)
        self._resets = 0
        self.possible_agents = list(SEATS)
        self.agents: list[str] = []
        sizes = {ASSISTANT: _assistant_size(), CUSTOMER: _customer_size()}
        self.observation_spaces = {
            agent: spaces.Box(0.0, 1.0, (size,), np.float32) for agent, size in sizes.items()
        }
        self.action_spaces = {
            ASSISTANT: spaces.Discrete(len(ASSISTANT_MOVES)),
            CUSTOMER: spaces.Discrete(len(CUSTOMER_MOVES) + FACTS + CONSOLE),
        }

    @property
    def episode(self) -> TicketEpisode:
        """The episode being played, gold included: not for policies."""
        return self.inner.episode

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same object at each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The same object at each call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: The scenario's seed where the environment has no list of its own.
            options: As ``TicketAECEnv``.
        """
        if self._seeds is not None:
            seed = self._seeds[self._resets % len(self._seeds)]
        self._resets += 1
        self.inner.reset(seed=seed, options=options)
        self._agent = self._script()
        self._agent.reset(self.episode.scenario.seed)
        self._moves = dict.fromkeys(SEATS, -1)
        self._told: set[int] = set()
        self.rewards = dict.fromkeys(SEATS, 0.0)
        self._cumulative_rewards = dict.fromkeys(SEATS, 0.0)
        self._skip_agent_selection: str | None = None
        self.agents = list(SEATS)
        self._follow()

    def step(self, action: Any) -> None:
        """The selected agent moves.

        Args:
            action: A member of its action space; ``None`` once it has finished.

        Raises:
            EpisodeNotRunning: Before ``reset`` or after the end.
            InvalidAction: For what is no member.
        """
        if not self.agents:
            raise EpisodeNotRunning("call reset first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if not self.action_spaces[agent].contains(action):
            raise InvalidAction(f"{agent}'s move is in {self.action_spaces[agent]}, not {action!r}")
        chosen = int(action)
        self._moves[agent] = chosen
        self.inner.step(self._assistant(chosen) if agent == ASSISTANT else self._customer(chosen))
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict(self.inner.rewards)
        if self._shared:
            self.rewards[CUSTOMER] = self.rewards[ASSISTANT]
        self._accumulate_rewards()
        self._follow()

    def observe(self, agent: str) -> NDArray[np.float32]:
        """What an agent sees now."""
        seen = self.inner.observe(agent)
        found = self._assistant_sees(seen) if agent == ASSISTANT else self._customer_sees(seen)
        return np.asarray(found, dtype=np.float32)

    def render(self) -> str | None:
        """The dialogue so far."""
        return self.inner.render()

    def close(self) -> None:
        """Let all episodes go; the environment can be reset again."""
        self.inner.close()

    # -- moves ---------------------------------------------------------------------------------

    def _assistant(self, chosen: int) -> AssistantAction | str:
        seen = self.inner.observe(ASSISTANT)
        move = ASSISTANT_MOVES[chosen]
        if move == "go_on":
            return self._agent.act(seen)
        words = _SAYS[reading.language(seen)][move]
        return AssistantAction("close", words) if move == "close" else words

    def _customer(self, chosen: int) -> CustomerAction:
        profile = _profile(self.inner.observe(CUSTOMER))
        says = _SAYS["zh" if profile["language"] == "zh" else "en"]
        facts, console = profile["facts"][:FACTS], profile["console"][:CONSOLE]
        fact = chosen - len(CUSTOMER_MOVES)
        number = fact - FACTS
        if 0 <= fact < len(facts):
            self._told.add(fact)
            return CustomerAction("say", facts[fact]["text"])
        if 0 <= number < len(console) and self.infos[CUSTOMER]["action_mask"][chosen]:
            return CustomerAction("console", console=console[number])
        if fact >= 0:
            return CustomerAction("say", says["unsure"])
        move = CUSTOMER_MOVES[chosen]
        if move in ("accept", "leave"):
            return CustomerAction("accept" if move == "accept" else "leave")
        return CustomerAction("say", says[move])

    # -- features ------------------------------------------------------------------------------

    def _assistant_sees(self, seen: Observation) -> list[float]:
        said = "\n".join(reading.customer_words(seen))
        roles = [float(seen["role"] == role) for role in ("user", "tool", "environment")]
        known = [
            float(bool(reading.ids_in(said))),
            float(_FOUR_DIGITS.search(said) is not None),
            float(bool(reading.results(seen))),
        ]
        own = _one_hot(self._moves[ASSISTANT], len(ASSISTANT_MOVES))
        return [_far(seen), *roles, *known, *own, *_words(seen["message"] if roles[0] else "")]

    def _customer_sees(self, seen: Observation) -> list[float]:
        told = [float(number in self._told) for number in range(FACTS)]
        asked = [float("?" in seen["message"] or "？" in seen["message"])]
        moves = len(CUSTOMER_MOVES) + FACTS + CONSOLE
        own = _one_hot(self._moves[CUSTOMER], moves)
        turns = min(1.0, seen["turn"] / self.episode.setting.limits.max_turns)
        has = self._has(seen)[len(CUSTOMER_MOVES) :]
        return [turns, *asked, *told, *own, *has, *_words(seen["message"])]

    def _has(self, seen: Observation) -> list[float]:
        profile = _profile(seen)
        facts, console = len(profile["facts"]), len(profile["console"])
        free = self.episode.state.console is None
        return [
            *[1.0] * len(CUSTOMER_MOVES),
            *[float(number < facts) for number in range(FACTS)],
            *[float(number < console and free) for number in range(CONSOLE)],
        ]

    def _follow(self) -> None:
        """Take over how things stand."""
        self.terminations = dict(self.inner.terminations)
        self.truncations = dict(self.inner.truncations)
        self.agent_selection = self.inner.agent_selection
        masks = {
            ASSISTANT: [1.0] * len(ASSISTANT_MOVES),
            CUSTOMER: self._has(self.inner.observe(CUSTOMER)),
        }
        info = self.episode.info()
        self.infos = {
            agent: {
                "action_mask": np.asarray(masks[agent], dtype=np.int8),
                "outcome": info["outcome"],
                "valid": info["valid"],
            }
            for agent in SEATS
        }


def _assistant_size() -> int:
    return 1 + 3 + 3 + len(ASSISTANT_MOVES) + WORDS


def _customer_size() -> int:
    return 1 + 1 + FACTS + (len(CUSTOMER_MOVES) + FACTS + CONSOLE) + (FACTS + CONSOLE) + WORDS


def _profile(seen: Observation) -> dict[str, Any]:
    """What the customer's system message says of it."""
    found: dict[str, Any] = json.loads(json.loads(seen["transcript"])[0]["content"])
    return found


def _far(seen: Observation) -> float:
    turn, budget = seen["turn"], seen["budget"]
    return float(turn / max(1, turn + budget))


def _one_hot(index: int, size: int) -> list[float]:
    return [float(index == number) for number in range(size)]


def _words(text: str) -> list[float]:
    """Hashed words; the same in every process."""
    found = [0.0] * WORDS
    for word in _WORD.findall(text):
        found[zlib.crc32(word.lower().encode()) % WORDS] = 1.0
    return found
