"""``TicketEpisode``: the turn engine, the one mutable object."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from cirrus_env._version import __version__
from cirrus_env.customers.protocol import Customer, View, speaking
from cirrus_env.customers.registry import customer as find_customer
from cirrus_env.engine import assistant, customer
from cirrus_env.engine.options import ResetOptions, read_options
from cirrus_env.engine.parsers import PARSERS, Parser, to_action
from cirrus_env.engine.plan import PATIENCE, reference_turns, under_way, with_waits
from cirrus_env.engine.prompt import system_text, tool_set
from cirrus_env.engine.setting import Limits, Setting
from cirrus_env.engine.stage import Move, Stage
from cirrus_env.engine.state import Snapshot, State
from cirrus_env.errors import EpisodeNotRunning, OptionError
from cirrus_env.judging.judge import Judge
from cirrus_env.judging.judge import judge as find_judge
from cirrus_env.judging.outcome import Outcome, ended_by_choice
from cirrus_env.judging.progress import Progress
from cirrus_env.judging.reward import RewardRule, reward_rule
from cirrus_env.judging.tally import Tally
from cirrus_env.nlu.evidence import holds
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.model import Scenario
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import (
    ASSISTANT,
    CUSTOMER,
    Act,
    AssistantAction,
    CustomerAction,
    Event,
    Message,
    Record,
    encodes,
)
from cirrus_env.wire import messages as build
from cirrus_env.world import Stream
from cirrus_env.world.entropy import fresh_seed

EXTERNAL = "external"
"""The name of a customer that somebody outside plays through ``apply``."""

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
        ticket: A ticket or the name of a bundled one, such as ``"ECS-Billing"``.
        customer: ``"simulated"``, ``"replay"``, ``"external"`` (played through ``apply``), or a
            ``Customer``; None for ``replay`` on an imported ticket and ``simulated`` on others.
        judge: ``"rule"`` or a ``Judge``.
        reward: A preset's name or a ``RewardRule``.
        parser: How a string is read: ``"plain"`` (a reply), ``"openai"`` (a chat message's JSON) or
            a function.
        system: A system text instead of the ticket's; ``{now}`` and ``{account}`` are filled in.
        language: ``"en"``, ``"zh"``; None for the ticket's first.
        tools: Names of the tools to offer; None for all.
        max_turns, max_tool_calls, max_invalid, max_tokens, max_chars: See ``Limits``.

    Raises:
        OptionError: If an argument can't be used.
        UnknownTicket: If no ticket has this name.
    """

    def __init__(
        self,
        ticket: Ticket | str,
        *,
        customer: str | Customer | None = None,
        judge: str | Judge = "rule",
        reward: str | RewardRule | Mapping[str, float] = "cirrus",
        parser: str | Parser = "plain",
        system: str | None = None,
        language: str | None = None,
        tools: Iterable[str] | None = None,
        max_turns: int = 30,
        max_tool_calls: int = 60,
        max_invalid: int = 3,
        max_tokens: int | None = None,
        max_chars: int = 20_000,
    ) -> None:
        self.ticket = bundled(ticket) if isinstance(ticket, str) else ticket
        if not isinstance(self.ticket, Ticket):
            raise OptionError(f"a ticket is a Ticket or its name, not {type(ticket).__name__}")
        if language is not None and language not in self.ticket.languages:
            known = ", ".join(self.ticket.languages)
            raise OptionError(f"{self.ticket.id} has no language {language!r}; it has {known}")
        self._setting = Setting(
            customer=_customer(customer or self.ticket.default_customer),
            judge=find_judge(judge),
            rule=reward_rule(reward),
            parser=_parser(parser),
            system=_system(system),
            language=language,
            offered=_offered(tools),
            limits=Limits(max_turns, max_tool_calls, max_invalid, max_tokens, max_chars),
        )
        self._seeds: Stream | None = None
        self._stage: Stage | None = None
        self._options = ResetOptions()
        self._start = 1

    # -- what may be read --------------------------------------------------------------------

    @property
    def scenario(self) -> Scenario:
        """The facts of this episode, gold included: not for policies."""
        return self._running.scenario

    @property
    def setting(self) -> Setting:
        """How this episode is played."""
        return self._setting

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
        limits = self._setting.limits
        return {
            "ticket": self.ticket.env_id,
            "digest": self.ticket.digest,
            "seed": stage.scenario.seed,
            "variant": stage.scenario.variant,
            "language": stage.scenario.public.language,
            "turn": self._options.turn,
            "start": self._start,
            "customer": stage.setting.customer.name if stage.setting.customer else EXTERNAL,
            "judge": self._setting.judge.name,
            "limits": {name: getattr(limits, name) for name in limits.__slots__},
            "tools": None if self._setting.offered is None else sorted(self._setting.offered),
            "version": __version__,
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
        """
        chosen = read_options(options)
        if chosen.variant is not None and chosen.variant not in self.ticket.variants:
            known = ", ".join(self.ticket.variants)
            raise OptionError(f"{self.ticket.id} has no variant {chosen.variant!r}; it has {known}")
        language = chosen.language or self._setting.language
        if language is not None and language not in self.ticket.languages:
            raise OptionError(f"{self.ticket.id} has no language {language!r}")
        number = self._next_seed(seed)
        scenario = make_scenario(self.ticket, number, variant=chosen.variant, language=language)
        turns = reference_turns(scenario)[: chosen.turn] if chosen.turn else ()
        if len(turns) < chosen.turn:
            raise OptionError(f"the reference has only {len(turns)} turns, not {chosen.turn}")
        setting = self._setting
        if chosen.customer is not None:
            setting = replace(setting, customer=_customer(chosen.customer))
        self._options = chosen
        if turns and setting.customer is None:
            # somebody outside takes over after these turns; the reference needs its answers
            own = find_customer(self.ticket.default_customer)
            self._open(scenario, replace(setting, customer=own))
        else:
            self._open(scenario, setting)
        self.play_through(action for turn in turns for action in turn)
        if setting.customer is None:
            self._running.setting, self._running.state.mind = setting, None
        if turns and self.outcome is not None:
            raise OptionError(f"the reference ends within {chosen.turn} turns")
        self._start = len(self.records)
        return list(self.messages), self.info()

    def step(self, action: Any) -> Step:
        """The assistant acts, then the customer until it is the assistant's turn again.

        Args:
            action: Raw model text (read by the parser), a chat message, or an ``AssistantAction``.

        Raises:
            InvalidAction: For a wrong Python type; nothing has changed.
            EpisodeNotRunning: Before ``reset``, after the end, or out of turn.
        """
        read = to_action(action, self._setting.parser)
        stage = self._turn_of(ASSISTANT)
        start = len(stage.state.messages) + 1
        before = stage.state.micro
        self._play(read)
        return self._step(start, before)

    def play_through(self, actions: Iterable[AssistantAction]) -> None:
        """Play actions in a row, repeating a read while it shows a transition; stops at the end.

        With ``reference_actions(episode.scenario)`` this is the plain oracle.
        """
        for action, waits in with_waits(self.scenario, actions):
            for _ in range(PATIENCE + 1):
                if self.outcome is not None:
                    return
                start = len(self.messages) + 1
                self._play(action)
                if not waits or not any(under_way(m["content"]) for m in self.messages[start:]):
                    break

    async def astep(self, action: Any) -> Step:
        """``step`` for use inside an event loop."""
        return self.step(action)

    async def areset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[list[Message], dict[str, Any]]:
        """``reset`` for use inside an event loop."""
        return self.reset(seed=seed, options=options)

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
            read = to_action(action, self._setting.parser)
            start = len(stage.state.messages) + 1
            self._assist(read)
        else:
            said = customer.checked(stage, action)
            start = len(stage.state.messages)
            acts: tuple[Act, ...] = ()
            if said.text:
                proposed = tuple(a for a in stage.state.spoken if a.kind == "proposed")
                acts = stage.reader.read_customer(said.text, proposed)
            self._serve(said, acts, stage.state.mind)
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
        if stage.state.outcome is not None:
            raise EpisodeNotRunning("the episode has ended already")
        before = stage.state.micro
        failed = reason != STOPPED
        outcome = Outcome(reason, "failure" if failed else "limit", None if failed else False)
        move = Move(outcome=outcome)
        self._record(stage.state.to_move, {"kind": "stopped"}, move)
        return self._step(len(stage.state.messages), before)

    # -- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The episode at this moment, in microseconds."""
        stage = self._running
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
        if stage.scenario is not snapshot.scenario or stage.setting is not snapshot.setting:
            self._open(snapshot.scenario, snapshot.setting)
            stage = self._running
        cloud = stage.state.cloud
        cloud.restore(snapshot.mark)
        stage.state = snapshot.state.copy(cloud)
        self._options, self._start = snapshot.options, snapshot.start

    def fork(self) -> TicketEpisode:
        """An independent episode at the same point."""
        stage = self._running
        other = TicketEpisode.__new__(TicketEpisode)
        other.ticket = self.ticket
        other._setting = self._setting
        other._seeds = None if self._seeds is None else self._seeds.copy()
        other._options, other._start = self._options, self._start
        other._stage = Stage(
            stage.setting, stage.scenario, stage.state.copy(stage.state.cloud.fork()),
            stage.reader, stage.progress, stage.tools,
        )  # fmt: skip
        return other

    def close(self) -> None:
        """Let the episode go; it can be reset again."""
        self._stage = None

    # -- inside ------------------------------------------------------------------------------

    @property
    def _running(self) -> Stage:
        if self._stage is None:
            raise EpisodeNotRunning("call reset first")
        return self._stage

    def _turn_of(self, seat: str) -> Stage:
        stage = self._running
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

    def _open(self, scenario: Scenario, setting: Setting) -> None:
        cloud = scenario.cloud.fork()
        state = State(
            cloud=cloud, tally=Tally.of(scenario, rule=setting.rule), mind=None, opened=cloud.now
        )
        public = scenario.public
        stage = self._stage = Stage(
            setting, scenario, state, Reader(scenario), Progress(scenario.gold.checkpoints),
            tool_set(cloud.catalogue, setting.offered, public.queues, bool(public.services)),
        )  # fmt: skip
        stage.say(build.system(system_text(public, setting.system)))
        if public.role:  # an imported ticket's may hold help documents: pasting them tells nothing
            state.heard.add_source(public.role)
        if setting.customer is None:
            words: str = scenario.private.opening
            acts: tuple[Act, ...] = ()
        else:
            words, acts, state.mind = setting.customer.begin(scenario)
        self._serve(CustomerAction("say", words), acts, state.mind)

    def _play(self, action: AssistantAction) -> None:
        self._assist(action)
        stage = self._running
        state, customer_ = stage.state, stage.setting.customer
        if customer_ is None:
            return
        while state.outcome is None and state.to_move == CUSTOMER:
            reaction = customer_.react(state.mind, self._view(stage))
            if reaction.diverged:
                state.mind = reaction.mind
                self._record(CUSTOMER, reaction.action.to_json(), Move(
                    reaction.acts, outcome=Outcome("diverged", "limit", False)))  # fmt: skip
                return
            self._serve(reaction.action, reaction.acts, reaction.mind)

    def _view(self, stage: Stage) -> View:
        state = stage.state
        return View(
            scenario=stage.scenario,
            text=state.words,
            acts=state.spoken,
            told=state.evidence.told,
            satisfied=_may_accept(stage) and _satisfied(stage),
            console=state.console,
            turn=state.turn,
            calls=state.evidence.calls,
            passed=self._settled(stage),
        )

    @staticmethod
    def _settled(stage: Stage) -> Collection[str]:
        """Checkpoints passed, for the replayed customer also those skipped."""
        evidence = stage.state.evidence
        if not stage.scenario.private.recorded:
            return evidence.passed
        return {*evidence.passed, *stage.progress.skipped(evidence)}

    def _assist(self, action: AssistantAction) -> None:
        stage = self._running
        stored, move = assistant.take(stage, action)
        customer_ = stage.setting.customer
        if move.how and customer_ is not None:
            # it says nothing any more, but how it feels about this ending counts
            view = self._view(stage)._replace(closing=True, satisfied=_satisfied(stage))
            last = customer_.react(stage.state.mind, view)
            stage.state.mind = last.mind
            move.events += _satisfaction(last.mind)
        self._record(ASSISTANT, stored.to_json(), move)

    def _serve(self, action: CustomerAction, acts: tuple[Act, ...], mind: Any) -> None:
        stage = self._running
        move = customer.take(stage, action, acts)
        state = stage.state
        state.mind = mind
        move.events += _satisfaction(mind)
        if not move.how and state.to_move == ASSISTANT:
            if state.turn >= stage.setting.limits.max_turns:
                move.outcome = Outcome("turn_limit", "limit", False)
        self._record(CUSTOMER, action.to_json(), move)

    def _record(self, seat: str, action: dict[str, Any], move: Move) -> None:
        """Pass checkpoints, decide the ending, and append the record with its reward."""
        stage = self._running
        state, scenario = stage.state, stage.scenario
        step = len(state.records)
        events = move.events
        if (
            move.acts
            or state.moved
            or len(state.cloud.audit) != state.audited
            or any(event.kind != "satisfaction" for event in events)
        ):
            state.audited = len(state.cloud.audit)
            names = stage.progress.newly_passed(state.evidence, state.cloud, step)
            state.moved = bool(names)
            events += [Event("passed", name) for name in names]
        outcome = move.outcome
        if outcome is None and move.how:
            outcome = ended_by_choice(
                move.how, move.queue, scenario.gold, state.evidence, state.cloud, void=state.void
            )
        if outcome is None and state.length > stage.setting.limits.max_transcript:
            outcome = Outcome("context_overflow", "limit", False)
        if outcome is not None:
            state.outcome = outcome
            events += [Event("assertion", name, value) for name, value in outcome.assertions]
            events.append(Event("ended", outcome.name, outcome.to_json()))
        clock = state.cloud.now - state.opened
        what = tuple(events)
        record = Record(step, seat, action, move.acts, what, 0, clock)
        state.tally.add(record)
        micro = state.tally.micro()
        gained = micro - state.micro
        if gained:
            state.micro = micro
            record = Record(step, seat, action, move.acts, what, gained, clock)
        state.records.append(record)

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
            "customer": _speaker(stage),
        }
        if outcome is not None:
            info["variant"] = stage.scenario.variant
            info["metrics"] = state.tally.metrics()
        return info


def _speaker(stage: Stage) -> str:
    customer = stage.setting.customer
    return EXTERNAL if customer is None else speaking(customer, stage.state.mind)


def _customer(given: str | Customer) -> Customer | None:
    if isinstance(given, str) and given == EXTERNAL:
        return None
    return find_customer(given)


def _may_accept(stage: Stage) -> bool:
    """Whether the customer looks at its satisfaction now: some do only when they are asked to."""
    if not getattr(stage.setting.customer, "checks_when_asked", False):
        return True
    return any(act.kind in ("claimed_done", "anything_else") for act in stage.state.spoken)


def _satisfied(stage: Stage) -> bool:
    return holds(stage.scenario.private.satisfied, stage.state.evidence, stage.state.cloud)


def _satisfaction(mind: Any) -> list[Event]:
    """How the customer feels, where its mind says so; one played from outside has none."""
    value = getattr(mind, "satisfaction", None)
    return [] if value is None else [Event("satisfaction", "", value)]


def _system(given: str | None) -> str | None:
    if given is not None and not (isinstance(given, str) and encodes(given)):
        raise OptionError("the system text must be a text that has a UTF-8 form")
    return given


def _offered(given: Iterable[str] | None) -> frozenset[str] | None:
    if given is None:
        return None
    names = None if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if names is None or not all(isinstance(name, str) for name in names):
        raise OptionError(f"tools are the names of the tools to offer, not {given!r}"[:200])
    return frozenset(names)


def _parser(given: str | Parser) -> Parser:
    if callable(given):
        return given
    if given not in PARSERS:
        raise OptionError(f"there is no parser {given!r}; there are {', '.join(PARSERS)}")
    return PARSERS[given]
