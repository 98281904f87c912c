"""``TicketEpisode``: the turn engine, the one mutable object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cirrus_env._version import __version__
from cirrus_env.customers.protocol import Customer, awaited
from cirrus_env.engine import customer
from cirrus_env.engine.awaiting import abegin, aplay, aplay_through
from cirrus_env.engine.modes import NORMAL
from cirrus_env.engine.opening import Opening, checked_options, prepare
from cirrus_env.engine.options import ResetOptions
from cirrus_env.engine.parsers import Parser, to_action
from cirrus_env.engine.play import (
    assist,
    begin,
    opened,
    play,
    play_through,
    record,
    serve,
    speaker,
)
from cirrus_env.engine.setting import EXTERNAL, Limits, Setting, make_setting
from cirrus_env.engine.stage import Move, Stage
from cirrus_env.engine.state import Snapshot, State
from cirrus_env.errors import EpisodeNotRunning, OptionError
from cirrus_env.judging.judge import Judge
from cirrus_env.judging.outcome import Outcome
from cirrus_env.judging.reward import RewardRule
from cirrus_env.tickets.load import bundled, load_ticket
from cirrus_env.tickets.model import Scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import (
    ASSISTANT,
    AssistantAction,
    Message,
    Record,
)
from cirrus_env.world import Stream
from cirrus_env.world.entropy import fresh_seed

STOPPED = "stopped"


class Step(NamedTuple):
    """What a step of the assistant came to.

    Attributes:
        delta: New messages since the assistant's own: tool results in call order, then the
            customer's words. Append-only; nothing earlier ever changes.
        reward: The change of the return; None where the episode became invalid.
        terminated: Whether the ticket ended by itself.
        truncated: Whether a limit or a failure ended it.
        info: Constant keys; see ``TicketEpisode.info``.
    """

    delta: list[Message]
    reward: float | None
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class TicketEpisode:
    """One ticket, played turn by turn; reset it to play again.

    Args:
        ticket: A ticket, the name of a bundled one, such as ``"ECS-Billing"``, or the path of a
            ticket file.
        customer: ``"simulated"``, ``"replay"``, ``"external"`` (played through ``apply``), or a
            ``Customer``; None for ``replay`` on an imported ticket and ``simulated`` on others.
        judge: ``"rule"`` or a ``Judge``.
        reward: A preset's name or a ``RewardRule``.
        parser: How a string is read: ``"plain"`` (a reply), ``"openai"`` (a chat message's JSON), a
            model family's format such as ``"hermes"`` (``engine.formats``), or a function.
        system: A system text instead of the ticket's; ``{now}`` and ``{account}`` are filled in.
        language: ``"en"``, ``"zh"``; None for the ticket's first.
        tools: Names of the tools to offer; None for all.
        faults: The cloud's seeded faults: ``"mild"``, ``"harsh"``, rates by kind such as
            ``{"throttling": 0.1}``, or None for none.
        distractions: How many tools of services that the ticket doesn't need are offered beside
            its own, or ``"all"``; the same ones for every seed.
        scramble: A seed of meaningless names under which the tools are shown; the trajectory and
            the metrics keep the true ones. None for the true names.
        mode: ``normal``, ``solo`` or ``oracle-plan``; see ``engine.modes``. Results of different
            modes are never mixed.
        max_turns, max_tool_calls, max_invalid, max_tokens, max_chars: See ``Limits``.

    Raises:
        OptionError: If an argument can't be used.
        UnknownTicket: If no ticket has this name.
    """

    def __init__(
        self,
        ticket: Ticket | str | Path,
        *,
        customer: str | Customer | None = None,
        judge: str | Judge = "rule",
        reward: str | RewardRule | Mapping[str, float] = "cirrus",
        parser: str | Parser = "plain",
        system: str | None = None,
        language: str | None = None,
        tools: Iterable[str] | None = None,
        faults: str | Mapping[str, float] | None = None,
        distractions: int | str = 0,
        scramble: int | None = None,
        mode: str = NORMAL,
        max_turns: int = 30,
        max_tool_calls: int = 60,
        max_invalid: int = 3,
        max_tokens: int | None = None,
        max_chars: int = 20_000,
    ) -> None:
        self.ticket = _ticket(ticket)
        self._setting = make_setting(
            self.ticket,
            customer=customer,
            judge=judge,
            reward=reward,
            parser=parser,
            system=system,
            language=language,
            tools=tools,
            limits=Limits(max_turns, max_tool_calls, max_invalid, max_tokens, max_chars),
            faults=faults,
            mode=mode,
            distractions=distractions,
            scramble=scramble,
        )
        self._seeds: Stream | None = None
        self._stage: Stage | None = None
        self._options = ResetOptions()
        self._start = 1
        self._busy = False

    # -- what may be read --------------------------------------------------------------------

    @property
    def scenario(self) -> Scenario:
        """The facts of this episode, gold included: not for policies."""
        return self._running.scenario

    @property
    def setting(self) -> Setting:
        """How this episode is played: after a ``restore`` as the snapshot's was."""
        return self._setting if self._stage is None else self._stage.setting

    @property
    def tools(self) -> list[dict[str, Any]]:
        """OpenAI function schemas of the tools on offer, as the caller's own."""
        return self._running.tools.fresh()

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The tools' names, in the order of ``tools``."""
        return self._running.tools.names

    @property
    def tools_json(self) -> str:
        """``tools`` as JSON text."""
        return self._running.tools.json

    @property
    def chat_tools(self) -> list[dict[str, Any]]:
        """``tools`` and the pseudo-functions that close and escalate, for a chat model."""
        return self._running.tools.fresh(special=True)

    @property
    def tool_arguments(self) -> Mapping[str, Mapping[str, Any]]:
        """Argument schemas by name, pseudo-functions included, for parsers; don't change it."""
        return self._running.tools.arguments

    @property
    def messages(self) -> list[Message]:
        """The transcript as chat messages, system message first; don't change it."""
        return self._running.state.messages

    @property
    def records(self) -> list[Record]:
        """The trajectory so far; don't change it."""
        return self._running.state.records

    @property
    def state(self) -> State:
        """The mutable state, for seats and runners that build observations; don't change it."""
        return self._running.state

    @property
    def to_move(self) -> str:
        """The seat whose turn it is; empty when the episode has ended."""
        stage = self._stage
        if stage is None or stage.state.outcome is not None:
            return ""
        return stage.state.to_move

    @property
    def outcome(self) -> Outcome | None:
        """How the episode ended; None while it goes on."""
        return None if self._stage is None else self._stage.state.outcome

    @property
    def header(self) -> dict[str, Any]:
        """The first line of the stored trajectory."""
        stage = self._running
        setting, limits = stage.setting, stage.setting.limits
        return {
            "ticket": self.ticket.env_id,
            "digest": self.ticket.digest,
            "seed": stage.scenario.seed,
            "variant": stage.scenario.variant,
            "language": stage.scenario.public.language,
            "turn": self._options.turn,
            "start": self._start,
            "customer": setting.customer.name if setting.customer else EXTERNAL,
            "judge": setting.judge.name,
            "limits": {name: getattr(limits, name) for name in limits.__slots__},
            "tools": None if setting.offered is None else sorted(setting.offered),
            "faults": dict(setting.faults),
            "version": __version__,
            **_unusual(setting),
        }

    def metrics(self) -> dict[str, Any]:
        """The metrics of METRICS section 2 so far."""
        return self._running.state.tally.metrics()

    # -- playing -----------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[list[Message], dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: The scenario's seed, and the start of the stream that later resets draw from.
            options: ``variant``, ``turn``, ``customer``, ``language``.

        Returns:
            The opening messages (system message, the customer's opening, and any reference turns
            started after) and the info.

        Raises:
            OptionError: If an option can't be used.
            CustomerFailed: If the customer can't begin.
        """
        opening = self._prepared(seed, options)
        begin(opening.stage)
        play_through(opening.stage, opening.actions)
        return self._begun(opening)

    async def areset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[list[Message], dict[str, Any]]:
        """``reset`` inside an event loop; a customer that a model plays is awaited."""
        opening = self._prepared(seed, options)
        stage, customer_ = opening.stage, awaited(opening.stage.setting.customer)
        if customer_ is None:
            begin(stage)
            play_through(stage, opening.actions)
        else:
            with self._waits():
                await abegin(stage, customer_)
                await aplay_through(stage, customer_, opening.actions)
        return self._begun(opening)

    def read(self, action: Any) -> AssistantAction:
        """What an action means to this episode; nothing changes.

        Args:
            action: As ``step``.

        Raises:
            InvalidAction: For a wrong Python type.
        """
        stage = self._stage
        if stage is None:
            return to_action(action, self._setting.parser)
        return to_action(action, self._setting.parser, stage.tools.arguments)

    def as_shown(self, action: AssistantAction) -> AssistantAction:
        """An action under the tools' true names, such as gold's, as this episode's agent writes it.

        Args:
            action: What a reference, an oracle or a record holds.
        """
        return _meant(self._running, action)  # a swap is its own inverse

    def step(self, action: Any) -> Step:
        """The assistant acts, then the customer until it is the assistant's turn again.

        Args:
            action: Raw model text (read by the parser), a chat message, or an ``AssistantAction``.

        Raises:
            InvalidAction: For a wrong Python type; nothing has changed.
            EpisodeNotRunning: Before ``reset``, after the end, or out of turn.
            CustomerFailed: The customer's code is wrong; ``truncate("customer_error")`` is left.
            JudgeFailed: The judge's code is wrong; nothing has changed.
        """
        read = self.read(action)
        stage = self._turn_of(ASSISTANT)
        start = len(stage.state.messages) + 1
        before = stage.state.micro
        play(stage, _meant(stage, read))
        return self._step(start, before)

    def play_through(self, actions: Iterable[AssistantAction]) -> None:
        """Play actions in a row, repeating a read while it shows a transition; stops at the end.

        With ``reference_actions(episode.scenario)`` this is the plain oracle.
        """
        play_through(self._running, actions)

    async def astep(self, action: Any) -> Step:
        """``step`` inside an event loop; a customer that a model plays is awaited.

        Where this is cancelled, the assistant has acted and the customer has yet to answer:
        ``truncate`` or ``restore`` go on from there.
        """
        stage = self._turn_of(ASSISTANT)
        customer_ = awaited(stage.setting.customer)
        if customer_ is None:
            return self.step(action)
        read = self.read(action)
        start = len(stage.state.messages) + 1
        before = stage.state.micro
        with self._waits():
            await aplay(stage, customer_, _meant(stage, read))
        return self._step(start, before)

    def apply(self, seat: str, action: Any) -> Step:
        """One seat acts, and only that seat; for environments that play both.

        Args:
            seat: ``assistant_0`` or ``customer_0``.
            action: As ``step``, or a ``CustomerAction``.

        Raises:
            InvalidAction: For a wrong type or an unknown console action; nothing has changed.
            EpisodeNotRunning: If it isn't this seat's turn.
        """
        stage = self._turn_of(seat)
        before = stage.state.micro
        if seat == ASSISTANT:
            read = self.read(action)
            start = len(stage.state.messages) + 1
            assist(stage, _meant(stage, read))
        else:
            said = customer.checked(stage, action)
            start = len(stage.state.messages)
            serve(stage, said, customer.meant(stage, said.text), stage.state.mind)
        return self._step(start, before)

    def truncate(self, reason: str = STOPPED) -> Step:
        """The caller stops the episode: outcome ``stopped``, or a failure's own name.

        Args:
            reason: ``stopped``, ``agent_error``, ``customer_error``, ``judge_error`` or
                ``backend_error``.

        Raises:
            OptionError: For another reason.
            EpisodeNotRunning: If nothing is running.
        """
        known = (STOPPED, "agent_error", "customer_error", "judge_error", "backend_error")
        if reason not in known:
            raise OptionError(f"a caller may stop with {', '.join(known)}, not {reason!r}")
        stage = self._running
        self._check_idle()
        if stage.state.outcome is not None:
            raise EpisodeNotRunning("the episode has ended already")
        before = stage.state.micro
        failed = reason != STOPPED
        outcome = Outcome(reason, "failure" if failed else "limit", None if failed else False)
        move = Move(outcome=outcome)
        record(stage, stage.state.to_move, {"kind": "stopped"}, move)
        return self._step(len(stage.state.messages), before)

    # -- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The episode at this moment, in microseconds."""
        stage = self._running
        self._check_idle()
        return Snapshot(
            stage.scenario, stage.state.copy(stage.state.cloud), stage.state.cloud.snapshot(),
            stage.setting, self._options, self._start,
        )  # fmt: skip

    def restore(self, snapshot: Snapshot) -> None:
        """Back, or forward, to a snapshot of this episode or of the one it was forked from.

        Customer, limits and reset options are then those of the snapshot.

        Raises:
            OptionError: If it is no snapshot of this ticket.
        """
        if not isinstance(snapshot, Snapshot) or snapshot.scenario.ticket != self.ticket:
            raise OptionError(f"{self.ticket.id} can't go back to {snapshot!r}"[:200])
        stage = self._running
        self._check_idle()
        if stage.scenario is not snapshot.scenario or stage.setting is not snapshot.setting:
            self._stage = opened(snapshot.scenario, snapshot.setting)
            stage = self._running
        cloud = stage.state.cloud
        cloud.restore(snapshot.mark)
        stage.state = snapshot.state.copy(cloud)
        self._options, self._start = snapshot.options, snapshot.start

    def fork(self) -> TicketEpisode:
        """An independent episode at the same point."""
        stage = self._running
        self._check_idle()
        other = TicketEpisode.__new__(TicketEpisode)
        other.ticket = self.ticket
        other._setting = self._setting
        other._seeds = None if self._seeds is None else self._seeds.copy()
        other._options, other._start = self._options, self._start
        other._busy = False
        other._stage = Stage(
            stage.setting, stage.scenario, stage.state.copy(stage.state.cloud.fork()),
            stage.reader, stage.progress, stage.tools, stage.names,
        )  # fmt: skip
        return other

    def close(self) -> None:
        """Let the episode go; it can be reset again."""
        self._stage = None

    # -- inside ------------------------------------------------------------------------------

    def _prepared(self, seed: int | None, options: Mapping[str, Any] | None) -> Opening:
        self._check_idle()
        chosen = checked_options(self.ticket, self._setting, options)
        opening = prepare(self.ticket, self._setting, self._next_seed(seed), chosen)
        self._options, self._stage = chosen, opening.stage
        return opening

    def _begun(self, opening: Opening) -> tuple[list[Message], dict[str, Any]]:
        """What a reset gives, after the customer's opening and the turns played first."""
        if opening.outside is not None:
            opening.stage.setting, opening.stage.state.mind = opening.outside, None
        if opening.actions and self.outcome is not None:
            raise OptionError(f"the reference ends within {self._options.turn} turns")
        self._start = len(self.records)
        return list(self.messages), self.info()

    @contextmanager
    def _waits(self) -> Iterator[None]:
        """While the customer is awaited nobody else may move."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def _check_idle(self) -> None:
        if self._busy:
            raise EpisodeNotRunning("a step of this episode is still awaited")

    @property
    def _running(self) -> Stage:
        if self._stage is None:
            raise EpisodeNotRunning("call reset first")
        return self._stage

    def _turn_of(self, seat: str) -> Stage:
        stage = self._running
        self._check_idle()
        if stage.state.outcome is not None:
            raise EpisodeNotRunning("the episode has ended; call reset")
        if stage.state.to_move != seat:
            raise EpisodeNotRunning(f"it is {stage.state.to_move}'s turn, not {seat}'s")
        return stage

    def _next_seed(self, seed: int | None) -> int:
        if seed is not None:
            if isinstance(seed, bool) or not hasattr(seed, "__index__"):
                raise OptionError(f"a seed is an integer, not {seed!r}")
            number = int(seed)
            self._seeds = Stream(number, "seeds")
            return number
        if self._seeds is None:
            self._seeds = Stream(fresh_seed(), "seeds")
        return self._seeds.below(2**31)

    def _step(self, start: int, before: int) -> Step:
        state = self._running.state
        outcome = state.outcome
        valid = outcome is None or outcome.valid
        reward = (state.micro - before) / 1_000_000 if valid else None
        terminated = outcome is not None and outcome.terminated
        return Step(
            state.messages[start:], reward, terminated, outcome is not None and not terminated,
            self.info(),
        )  # fmt: skip

    def info(self) -> dict[str, Any]:
        """Facts about the episode so far: constant keys and types, no gold before the end.

        Keys: ``ticket, seed, outcome, ending, valid, turn, tool_calls, invalid, tokens, cost,
        reward_terms, customer``; after the end also ``variant`` and ``metrics``.
        """
        stage = self._running
        state = stage.state
        outcome = state.outcome
        info: dict[str, Any] = {
            "ticket": self.ticket.env_id,
            "seed": stage.scenario.seed,
            "outcome": "" if outcome is None else outcome.name,
            "ending": "" if outcome is None else outcome.ending,
            "valid": int(outcome is None or outcome.valid),
            "turn": state.turn,
            "tool_calls": state.tool_calls,
            "invalid": state.invalid,
            "tokens": state.tokens,
            "cost": state.tally.cost,
            "reward_terms": state.tally.terms(),
            "customer": speaker(stage),
        }
        if outcome is not None:
            info["variant"] = stage.scenario.variant
            info["metrics"] = state.tally.metrics()
        return info


def _meant(stage: Stage, action: AssistantAction) -> AssistantAction:
    """The action under the tools' true names."""
    return action if stage.names is None else stage.names.action(action)


def _unusual(setting: Setting) -> dict[str, Any]:
    """What a header tells only where it isn't as usual."""
    found: dict[str, Any] = {}
    if setting.mode != NORMAL:
        found["mode"] = setting.mode
    if setting.distractions:
        found["distractions"] = setting.distractions
    if setting.scramble is not None:
        found["scramble"] = setting.scramble
    return found


def _ticket(given: Ticket | str | Path) -> Ticket:
    if isinstance(given, Ticket):
        return given
    if isinstance(given, Path) or (isinstance(given, str) and given.endswith(".toml")):
        return load_ticket(Path(given))
    if isinstance(given, str):
        return bundled(given)
    raise OptionError(f"a ticket is a Ticket, a name or a path, not {type(given).__name__}")
