"""``TokenEpisode``: one rollout as token ids, for trainers. Needs no tensor library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, Final, NamedTuple

from cirrus_env.engine.episode import STOPPED, Step, TicketEpisode
from cirrus_env.engine.render import Render
from cirrus_env.errors import EpisodeNotRunning, OptionError
from cirrus_env.judging.reward import MICRO, TERMS
from cirrus_env.wire import ASSISTANT

CUT: Final = frozenset({"length"})
"""Reasons why a model stopped before it was done: the turn is cut off."""

FAILED: Final = frozenset({"abort", "error"})
"""Reasons why a model stopped that are the inference engine's own failure."""


class TurnReward(NamedTuple):
    """What one turn of the model brought.

    Attributes:
        reward: The change of the return; None where the episode became invalid.
        terms: The change of each reward term, unweighted, by the names of ``reward.TERMS``.
    """

    reward: float | None
    terms: dict[str, float]


class TokenEpisode:
    """A running episode from the model's side: prompt ids, sampled ids, and what they earned.

    The ids are append-only. What the model sampled is kept as it was given, never decoded and
    encoded again; between the model's turns stand the ids of what came back. Messages that come
    back with the episode's end are not written, since nothing follows them: a finished sequence
    ends in the model's last turn.

    A turn with ``finish_reason="length"`` is cut off. A half sentence or half a call is not what
    the model would have said, so it is not played: the episode is stopped (outcome ``stopped``,
    truncated, with the return so far). ``"abort"`` and ``"error"`` are failures of the inference
    engine: the episode is invalid and has no reward.

    Args:
        episode: A running episode, reset by the caller; later it belongs to this object.
        render: How the model's family writes a conversation.

    Raises:
        EpisodeNotRunning: If it isn't the assistant's turn.

    Attributes:
        episode: The episode, gold included.
        prompt_ids: The ids before the model's first turn.
        input_ids: Everything so far: what the model continues, and what a trainer trains on.
        loss_mask: As long as ``input_ids``: 1 where the model sampled the id, else 0.
        turn_spans: For each turn of the model its [start, end) in ``input_ids``.
    """

    __slots__ = (
        "_earned", "_logprobs", "_render", "_terms", "_tools", "episode", "input_ids", "loss_mask",
        "prompt_ids", "turn_spans",
    )  # fmt: skip

    def __init__(self, episode: TicketEpisode, render: Render) -> None:
        if episode.to_move != ASSISTANT:
            raise EpisodeNotRunning("a token episode begins where it is the assistant's turn")
        self.episode = episode
        self._render = render
        self._tools = tuple(episode.chat_tools)
        self.prompt_ids: tuple[int, ...] = tuple(render.prompt(episode.messages, self._tools))
        self.input_ids: list[int] = list(self.prompt_ids)
        self.loss_mask: list[int] = [0] * len(self.prompt_ids)
        self.turn_spans: list[tuple[int, int]] = []
        self._logprobs: list[float] | None = [0.0] * len(self.prompt_ids)
        # the return in millionths and the terms: before the first turn, then after each
        self._earned: list[int] = [episode.state.micro]
        self._terms: list[dict[str, float]] = [episode.state.tally.terms()]

    # -- playing -----------------------------------------------------------------------------

    def add_model(
        self,
        ids: Iterable[int],
        logprobs: Sequence[float] | None = None,
        finish_reason: str | None = "stop",
    ) -> Step:
        """The model's next turn.

        Args:
            ids: What it sampled, its end of turn included where it sampled one.
            logprobs: The log-probability of each id when it was sampled.
            finish_reason: Why it stopped, as inference engines say it.

        Returns:
            The episode's step.

        Raises:
            EpisodeNotRunning: If the episode has ended.
            OptionError: If ids and log-probabilities don't match; nothing has changed.
            CustomerFailed, JudgeFailed: As ``TicketEpisode.step``; ``truncate`` is left.
            RenderError: If what came back can't be written.
        """
        turn, chances, cut = self._checked(ids, logprobs, finish_reason)
        if cut:
            step = self.episode.truncate(cut)
        else:
            step = self.episode.step(self._render.read(self.input_ids, turn, self._tools))
        return self._book(turn, chances, step)

    async def aadd_model(
        self,
        ids: Iterable[int],
        logprobs: Sequence[float] | None = None,
        finish_reason: str | None = "stop",
    ) -> Step:
        """``add_model`` inside an event loop, for customers that models play."""
        turn, chances, cut = self._checked(ids, logprobs, finish_reason)
        if cut:
            step = self.episode.truncate(cut)
        else:
            read = self._render.read(self.input_ids, turn, self._tools)
            step = await self.episode.astep(read)
        return self._book(turn, chances, step)

    def truncate(self, reason: str = STOPPED) -> Step:
        """The trainer ran out of tokens or time, or something of its own failed.

        Args:
            reason: As ``TicketEpisode.truncate``.
        """
        step = self.episode.truncate(reason)
        if self.turn_spans:
            self._earned[-1] = self.episode.state.micro
            self._terms[-1] = self.episode.state.tally.terms()
        self._end_in_turn()
        return step

    def fork(self) -> TokenEpisode:
        """An independent rollout at the same point."""
        other = TokenEpisode.__new__(TokenEpisode)
        other.episode = self.episode.fork()
        other._render, other._tools, other.prompt_ids = self._render, self._tools, self.prompt_ids
        other.input_ids, other.loss_mask = self.input_ids.copy(), self.loss_mask.copy()
        other.turn_spans = self.turn_spans.copy()
        other._logprobs = None if self._logprobs is None else self._logprobs.copy()
        other._earned, other._terms = self._earned.copy(), self._terms.copy()
        return other

    # -- what came of it ---------------------------------------------------------------------

    @property
    def completion_ids(self) -> list[int]:
        """``input_ids`` after the prompt."""
        return self.input_ids[len(self.prompt_ids) :]

    @property
    def completion_mask(self) -> list[int]:
        """``loss_mask`` after the prompt."""
        return self.loss_mask[len(self.prompt_ids) :]

    @property
    def logprobs(self) -> list[float] | None:
        """One for each of ``input_ids``, 0.0 where the model sampled nothing.

        None as soon as one turn came without.
        """
        return self._logprobs

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self.episode.outcome is not None

    @property
    def stop_reason(self) -> str | None:
        """The outcome (METRICS section 3); None while the episode runs."""
        outcome = self.episode.outcome
        return None if outcome is None else outcome.name

    @property
    def valid(self) -> bool:
        """Whether the rollout says something about the model: no failure of something else."""
        outcome = self.episode.outcome
        return outcome is None or outcome.valid

    @property
    def reward(self) -> float | None:
        """The return of the model's turns so far; None for an invalid episode."""
        return (self._earned[-1] - self._earned[0]) / MICRO if self.valid else None

    @property
    def turn_rewards(self) -> list[TurnReward]:
        """What each turn brought, in the order of ``turn_spans``."""
        result = []
        for k in range(len(self.turn_spans)):
            gained = (self._earned[k + 1] - self._earned[k]) / MICRO
            before, after = self._terms[k], self._terms[k + 1]
            terms = {name: after[name] - before[name] for name in TERMS}
            result.append(TurnReward(gained if self.valid else None, terms))
        return result

    def token_rewards(self) -> list[float] | None:
        """Each turn's reward on its last id, 0.0 elsewhere; None for an invalid episode.

        The reward of a turn without any id stands on the id before it.
        """
        if not self.valid:
            return None
        rewards = [0.0] * len(self.input_ids)
        for (_, end), turn in zip(self.turn_spans, self.turn_rewards, strict=True):
            rewards[end - 1] += turn.reward or 0.0
        return rewards

    # -- inside ------------------------------------------------------------------------------

    def _checked(
        self, ids: Iterable[int], logprobs: Sequence[float] | None, finish_reason: str | None
    ) -> tuple[list[int], list[float] | None, str]:
        if self.done:
            raise EpisodeNotRunning("the episode has ended")
        turn = [_id(given) for given in ids]
        chances = None if logprobs is None else [float(value) for value in logprobs]
        if chances is not None and len(chances) != len(turn):
            raise OptionError(f"there are {len(turn)} ids but {len(chances)} log-probabilities")
        if finish_reason in CUT:
            return turn, chances, STOPPED
        return turn, chances, "agent_error" if finish_reason in FAILED else ""

    def _book(self, turn: list[int], chances: list[float] | None, step: Step) -> Step:
        start = len(self.input_ids)
        self._append(turn, 1, chances)
        self.turn_spans.append((start, len(self.input_ids)))
        self._earned.append(self.episode.state.micro)
        self._terms.append(self.episode.state.tally.terms())
        if step.delta and not self.done:
            came = self._render.delta(self.input_ids[:start], turn, step.delta, self._tools)
            self._append(came, 0, [0.0] * len(came))
        return step

    def _append(self, ids: list[int], mask: int, chances: list[float] | None) -> None:
        self.input_ids += ids
        self.loss_mask += [mask] * len(ids)
        if chances is None:
            self._logprobs = None
        elif self._logprobs is not None:
            self._logprobs += chances

    def _end_in_turn(self) -> None:
        """Drop what came back and was never answered."""
        end = self.turn_spans[-1][1] if self.turn_spans else len(self.prompt_ids)
        del self.input_ids[end:], self.loss_mask[end:]
        if self._logprobs is not None:
            del self._logprobs[end:]


def _id(given: Any) -> int:
    try:
        return index(given)
    except TypeError:
        raise OptionError(f"a token id is an integer, not {given!r}"[:200]) from None
