"""How an episode goes on: moves are taken, checkpoints pass, records are written."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from cirrus_env.cloud.catalogue import widened
from cirrus_env.cloud.faults import fault_plan
from cirrus_env.customers.protocol import Reaction, View, speaking
from cirrus_env.engine import assistant, customer
from cirrus_env.engine.failures import fail, opening, reaction
from cirrus_env.engine.modes import mode_text
from cirrus_env.engine.names import scrambled
from cirrus_env.engine.plan import PATIENCE, PlanStep, to_repeat, with_waits
from cirrus_env.engine.prompt import system_text, tool_set
from cirrus_env.engine.setting import EXTERNAL, Setting
from cirrus_env.engine.stage import Move, Stage
from cirrus_env.engine.state import State
from cirrus_env.errors import EndpointError
from cirrus_env.judging.outcome import Outcome, ended_by_choice
from cirrus_env.judging.progress import Progress
from cirrus_env.judging.tally import Tally
from cirrus_env.nlu.evidence import holds
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import (
    ASSISTANT,
    CUSTOMER,
    Act,
    AssistantAction,
    CustomerAction,
    Event,
    Record,
)
from cirrus_env.wire import messages as build


def opened(scenario: Scenario, setting: Setting) -> Stage:
    """A new episode of the scenario, after the customer's opening."""
    stage = staged(scenario, setting)
    begin(stage)
    return stage


def staged(scenario: Scenario, setting: Setting) -> Stage:
    """A new episode of the scenario, before the customer's opening."""
    cloud = scenario.cloud.fork()
    cloud.faults = fault_plan(scenario.seed, dict(setting.faults))
    state = State(
        cloud=cloud, tally=Tally.of(scenario, rule=setting.rule), mind=None, opened=cloud.now
    )
    public, offered = scenario.public, setting.offered
    if setting.extra:
        cloud.catalogue = widened(cloud.catalogue.names, setting.extra)
        offered = None if offered is None else offered.union(setting.extra)
    names = None
    if setting.scramble is not None:
        names = scrambled(scenario.cloud.catalogue, setting.scramble)
    stage = Stage(
        setting, scenario, state, Reader(scenario), Progress(scenario.gold.checkpoints),
        tool_set(cloud.catalogue, offered, public.queues, bool(public.services), names), names,
    )  # fmt: skip
    added = mode_text(scenario, setting.mode)
    stage.say(build.system(system_text(public, setting.system) + added))
    if public.role:  # an imported ticket's may hold help documents: pasting them tells nothing
        state.heard.add_source(public.role)
    return stage


def begin(stage: Stage) -> None:
    """The customer opens.

    Raises:
        CustomerFailed: If it can't.
    """
    customer_, scenario = stage.setting.customer, stage.scenario
    if customer_ is None:
        serve(stage, CustomerAction("say", scenario.private.opening), (), None)
    else:
        serve(stage, *opening(customer_, scenario))


def play(stage: Stage, action: AssistantAction) -> None:
    """The assistant acts, then the customer until it is the assistant's turn again."""
    assist(stage, action)
    customer_ = stage.setting.customer
    if customer_ is None:
        return
    while customers_turn(stage):
        try:
            found = reaction(stage, customer_, view_of(stage))
        except EndpointError as error:
            gone(stage, error)
        else:
            answer(stage, found)


def play_through(stage: Stage, actions: Iterable[AssistantAction]) -> None:
    """Play actions in a row, repeating a read while it shows a transition; stops at the end."""
    for step in with_waits(stage.scenario, actions):
        for _ in range(PATIENCE + 1):
            if stage.state.outcome is not None:
                return
            start = len(stage.state.messages) + 1
            play(stage, step.action)
            if not again(stage, step, start):
                break


def assist(stage: Stage, action: AssistantAction) -> None:
    """The assistant acts, and only it."""
    stored, move = assistant.take(stage, action)
    customer_ = stage.setting.customer
    if move.how and customer_ is not None:
        try:
            feel(stage, move, reaction(stage, customer_, last_view(stage)))
        except EndpointError as error:
            fail(move, "customer", error)
    record(stage, ASSISTANT, stored.to_json(), move)


def customers_turn(stage: Stage) -> bool:
    """Whether the episode goes on and the customer is to move."""
    return stage.state.outcome is None and stage.state.to_move == CUSTOMER


def answer(stage: Stage, found: Reaction) -> None:
    """The customer's reaction takes place."""
    if found.diverged:
        stage.state.mind = found.mind
        outcome = Outcome("diverged", "limit", False)
        record(stage, CUSTOMER, found.action.to_json(), Move(found.acts, outcome=outcome))
    else:
        serve(stage, found.action, found.acts, found.mind)


def gone(stage: Stage, error: EndpointError) -> None:
    """What stands behind the customer failed for good: the episode ends, invalid."""
    record(stage, CUSTOMER, {"kind": "stopped"}, fail(Move(), "customer", error))


def again(stage: Stage, step: PlanStep, start: int) -> bool:
    """Whether a planned step has to be repeated, by the messages from ``start`` on."""
    return any(to_repeat(step, m["content"]) for m in stage.state.messages[start:])


def feel(stage: Stage, move: Move, found: Reaction) -> None:
    """The customer says nothing any more, but how it feels about an ending counts."""
    stage.state.mind = found.mind
    move.events += _satisfaction(found.mind)


def serve(stage: Stage, action: CustomerAction, acts: tuple[Act, ...], mind: Any) -> None:
    """The customer acts, and only it."""
    move = customer.take(stage, action, acts)
    state = stage.state
    state.mind = mind
    move.events += _satisfaction(mind)
    if not move.how and state.to_move == ASSISTANT:
        if state.turn >= stage.setting.limits.max_turns:
            move.outcome = Outcome("turn_limit", "limit", False)
    record(stage, CUSTOMER, action.to_json(), move)


def record(stage: Stage, seat: str, action: dict[str, Any], move: Move) -> None:
    """Pass checkpoints, decide the ending, and append the record with its reward."""
    state, scenario = stage.state, stage.scenario
    step = len(state.records)
    events = move.events
    changes = len(state.cloud.audit)
    if move.acts or state.moved or changes != state.audited or _tells(events):
        state.audited = changes
        names = stage.progress.newly_passed(state.evidence, state.cloud, step)
        state.moved = bool(names)
        for name in names:
            events.append(Event("passed", name))
    outcome = move.outcome
    if outcome is None:
        if move.how:
            outcome = ended_by_choice(
                move.how, move.queue, scenario.gold, state.evidence, state.cloud, void=state.void
            )
        elif state.length > stage.setting.limits.max_transcript:
            outcome = Outcome("context_overflow", "limit", False)
    if outcome is not None:
        state.outcome = outcome
        events += [Event("assertion", name, value) for name, value in outcome.assertions]
        events.append(Event("ended", outcome.name, outcome.to_json()))
    clock = state.cloud.now - state.opened
    what = tuple(events)
    entry = Record(step, seat, action, move.acts, what, 0, clock)
    state.tally.add(entry)
    micro = state.tally.micro()
    gained = micro - state.micro
    if gained:
        state.micro = micro
        entry = Record(step, seat, action, move.acts, what, gained, clock)
    state.records.append(entry)


def _tells(events: list[Event]) -> bool:
    """Whether anything happened that a checkpoint may ask for."""
    for event in events:
        if event.kind != "satisfaction":
            return True
    return False


def last_view(stage: Stage) -> View:
    """What the customer knows when the assistant closes or hands over."""
    return view_of(stage)._replace(closing=True, satisfied=_satisfied(stage))


def view_of(stage: Stage) -> View:
    """What the customer knows at its turn."""
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
        passed=_settled(stage),
    )


def _settled(stage: Stage) -> Collection[str]:
    """Checkpoints passed, for the replayed customer also those skipped."""
    evidence = stage.state.evidence
    if not stage.scenario.private.recorded:
        return evidence.passed
    return {*evidence.passed, *stage.progress.skipped(evidence)}


def speaker(stage: Stage) -> str:
    """Who plays the customer now."""
    customer = stage.setting.customer
    return EXTERNAL if customer is None else speaking(customer, stage.state.mind)


def _may_accept(stage: Stage) -> bool:
    """Whether the customer looks at its satisfaction now: some do only when they are asked to."""
    if not getattr(stage.setting.customer, "checks_when_asked", False):
        return True
    for act in stage.state.spoken:
        if act.kind in ("claimed_done", "anything_else"):
            return True
    return False


def _satisfied(stage: Stage) -> bool:
    return holds(stage.scenario.private.satisfied, stage.state.evidence, stage.state.cloud)


def _satisfaction(mind: Any) -> list[Event]:
    """How the customer feels, where its mind says so; one played from outside has none."""
    value = getattr(mind, "satisfaction", None)
    return [] if value is None else [Event("satisfaction", "", value)]
