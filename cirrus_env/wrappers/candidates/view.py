"""``CandidateActions``: a ticket as ``Discrete`` actions and a ``Box`` observation."""

from __future__ import annotations

from operator import index
from typing import Any, NamedTuple, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from cirrus_env.envs import render
from cirrus_env.envs.seats import rewardable
from cirrus_env.envs.ticket_env import EnvSnapshot, TicketEnv
from cirrus_env.envs.views import AssistantView
from cirrus_env.errors import EpisodeNotRunning, InvalidAction, OptionError
from cirrus_env.wire import ASSISTANT
from cirrus_env.wire.messages import ENVIRONMENT
from cirrus_env.wrappers.candidates.notes import BOOK, SIZE, K, Mask, Notes, Vector

Info = dict[str, Any]


class CandidateSnapshot(NamedTuple):
    """An episode and the notes on it at one moment; opaque."""

    env: EnvSnapshot
    notes: Notes


class CandidateActions(gymnasium.Wrapper[Vector, np.int64, Any, Any], RecordConstructorArgs):
    """A ticket for learners that want ``Discrete`` actions and a ``Box`` observation.

    ## Description
    The assistant chooses among the entries of a handbook (``handbook.toml``): one fixed list of
    questions, tool calls, proposals, findings, advice, hand-overs and endings for all services, the
    same for every ticket, variant and language. Each entry's places, such as ``{instance}``, are
    filled with what the transcript has shown. What is true of the case at hand is not in the list:
    its findings contradict each other, and a wrong one counts as a wrong statement, as from any
    assistant.

    >>> import gymnasium, cirrus_env
    >>> from cirrus_env.wrappers.candidates import CandidateActions, index_of
    >>> env = CandidateActions(gymnasium.make("Cirrus/ECS-Billing-v0"))
    >>> observation, info = env.reset(seed=0)
    >>> observation, reward, terminated, truncated, info = env.step(index_of("ask.instance"))
    >>> bool(env.action_masks()[index_of("call.verify")])
    True

    The agent is given nothing else: no gold, no variant, no private fact, no drawn parameter. Notes
    are taken from the messages that ``TicketEnv`` shows in its transcript.

    ## Observation Space
    ``Box(0, 1, (SIZE,), float32)``, zeros and ones except the first: the share of the turns used;
    whether the customer writes Chinese; whether the last answer was words, a result or an error;
    how far a date that the customer named is from today; hashed words of the opening, of all later
    messages, and of the last one; hashed fields of the results of each call's latest use (keys with
    short plain values, signs, ``past`` or ``future``; no ids, names or amounts); which facts are
    known; which candidates were used.

    ## Action Space
    ``Discrete(K)``, an index into the handbook; ``describe`` names it and ``index_of`` finds it.
    ``action_masks()``, also as ``info["action_mask"]``, says which are on offer: those whose tool
    or queue the ticket offers and whose places can be filled, and of the calls that change
    something only those that were proposed, whatever the customer said to it; except replies said
    before, calls made before with nothing changed since, and the last change that was made, while
    it would be the same. It never depends on what would succeed. An index that is not on offer
    means the next one that is, so learners without masks can use it, too.

    ## Rewards, Episode End
    As ``TicketEnv``.

    ## Arguments
    ```python
    CandidateActions(gymnasium.make("Cirrus/Train-v0", reward="dense"))
    ```

    Args:
        env: A ``TicketEnv`` with the assistant's seat, as ``gymnasium.make`` gives it. Other
            wrappers between the two are refused, because steps go straight to the episode.

    Raises:
        OptionError: For another environment.

    ## Version History
    * 1: The version of the handbook; weights fit one version only.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        inner = env
        while isinstance(inner, OrderEnforcing | PassiveEnvChecker):
            inner = inner.env
        if not isinstance(inner, TicketEnv):
            raise OptionError(
                f"CandidateActions wraps a TicketEnv directly, not {type(inner).__name__}"
            )
        if inner.action_space.spaces.keys() != {"type", "text", "tool", "arguments"}:
            raise OptionError('CandidateActions needs the seat "assistant"')
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        self._inner = inner
        self._notes: Notes | None = None
        self.observation_space = spaces.Box(0.0, 1.0, (SIZE,), np.float32)
        self.action_space = spaces.Discrete(K)

    # -- playing -------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, Info]:
        """Begin an episode; arguments as those of ``TicketEnv.reset``.

        A start after some turns of the reference (option ``turn``) is read like any transcript,
        except that the calls in it count as nobody's.

        Raises:
            OptionError: For an option that can't be used, or scrambled names of tools: the handbook
                knows the true ones alone.
        """
        _, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self.action_space.seed(seed)
        episode = self._inner.episode
        if episode.setting.scramble is not None:
            raise OptionError("CandidateActions knows the tools by their true names: no scramble")
        messages = episode.messages
        notes = Notes(
            messages[0]["content"], episode.tool_names, episode.setting.limits.max_turns
        )  # fmt: skip
        for message in messages[1:]:
            if message["role"] == "user" and message.get("name") != ENVIRONMENT:
                notes.customer(message["content"])
        self._notes = notes
        return notes.vector.copy(), self._info(info)

    def step(self, action: Any) -> tuple[Vector, SupportsFloat, bool, bool, Info]:
        """Do what a candidate says, then the customer answers.

        Args:
            action: An index into the handbook.

        Raises:
            InvalidAction: If it is no index of the handbook; nothing has changed.
            EpisodeNotRunning: Before ``reset`` or after the end.
        """
        notes = self._open
        number = self.offered(action)
        made = notes.action(number)
        episode = self._inner.episode
        step = episode.step(made)
        arguments = made.calls[0].arguments if made.calls else "{}"
        notes.take(number, episode.state.turn, step.delta, arguments)
        info = self._info(step.info)
        return notes.vector.copy(), rewardable(step), step.terminated, step.truncated, info

    def action_masks(self) -> Mask:
        """Which candidates are on offer, 1 or 0 each."""
        return self._open.mask()

    def offered(self, action: Any) -> int:
        """The candidate that an action means: itself if it is on offer, else the next that is.

        Raises:
            InvalidAction: If it is no index of the handbook.
        """
        try:
            number = index(action)
        except TypeError:
            raise InvalidAction(f"an action is an index below {K}, not {action!r}") from None
        if isinstance(action, bool | np.bool_) or not 0 <= number < K:
            raise InvalidAction(f"an action is an index below {K}, not {action!r}")
        mask = self._open.mask()
        if mask[number]:
            return number
        later = int(mask[number:].argmax()) + number
        return later if mask[later] else int(mask.argmax())

    def describe(self, action: int) -> str:
        """What an action would say or call now, as text."""
        made = self._open.copy().action(self.offered(action))
        calls = [f"{call.name} {call.arguments}" for call in made.calls]
        return f"{BOOK[self.offered(action)].name}: {calls[0] if calls else made.text}"

    # -- going back ----------------------------------------------------------------------------

    def snapshot(self) -> CandidateSnapshot:
        """The episode at this moment."""
        return CandidateSnapshot(self._inner.snapshot(), self._open.copy())

    def restore(self, snapshot: CandidateSnapshot) -> tuple[Vector, Info]:
        """Back to a snapshot of this environment or of the one it was forked from."""
        _, info = self._inner.restore(snapshot.env)
        notes = self._notes = snapshot.notes.copy()
        return notes.vector.copy(), self._info(info)

    def fork(self) -> CandidateActions:
        """An independent environment at the same point of the same episode."""
        other = CandidateActions(self._inner.fork())
        other._notes = self._open.copy()
        return other

    def render(self) -> Any:
        """The dialogue so far, by the environment's render mode."""
        mode = self._inner.render_mode
        if mode not in ("ansi", "html"):
            return self.env.render()
        view = AssistantView()
        view.observe(self._inner.episode)
        if mode == "html":
            return render.html(view.json(), ASSISTANT, self._inner.episode.ticket.title)
        return render.ansi(view.json(), ASSISTANT)

    # -- inside --------------------------------------------------------------------------------

    @property
    def _open(self) -> Notes:
        if self._notes is None:
            raise EpisodeNotRunning("call reset first")
        return self._notes

    def _info(self, info: Info) -> Info:
        info["action_mask"] = self._open.mask()
        return info


def index_of(name: str) -> int:
    """The action of a candidate's name, such as ``find.is_subscription``.

    Raises:
        OptionError: If the handbook has no such entry.
    """
    for number, candidate in enumerate(BOOK):
        if candidate.name == name:
            return number
    raise OptionError(f"the handbook has no entry {name!r}")
