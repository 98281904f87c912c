"""A stored episode acted again, record by record, whoever played its seats (law R2).

What the seats did, what their words meant and what the judge said are recorded events and count as
given; everything else - calls, evidence, checkpoints, assertions, rewards - comes out of the engine
again. So it works where the customer or the judge was a model, and gives the state at every step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from cirrus_env.customers.protocol import Reaction, View
from cirrus_env.engine import play
from cirrus_env.engine.modes import NORMAL, scene
from cirrus_env.engine.replay import Trajectory
from cirrus_env.engine.setting import Limits, make_setting
from cirrus_env.engine.stage import Move, Stage
from cirrus_env.errors import EndpointError
from cirrus_env.judging.judge import Assessment
from cirrus_env.judging.outcome import Outcome
from cirrus_env.judging.reward import RewardRule
from cirrus_env.tickets.model import Scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import ASSISTANT, Act, AssistantAction, CustomerAction, Event, Record


class Moment(NamedTuple):
    """The episode just after one of its records.

    Attributes:
        record: As it is stored.
        again: As it comes out now.
        stage: The episode's state; it changes with the next moment.
    """

    record: Record
    again: Record
    stage: Stage


def acted_again(
    stored: Trajectory, ticket: Ticket, *, rule: RewardRule, system: str | None = None
) -> Iterator[Moment]:
    """Act the episode again.

    Args:
        stored: The trajectory.
        ticket: Its ticket.
        rule: The reward.
        system: The system text it was played with, if it wasn't the ticket's.

    Yields:
        One moment a record.
    """
    header = stored.header
    seats = _Seats()
    mode = header.get("mode", NORMAL)
    scenario = scene(
        ticket, header["seed"], variant=header["variant"], language=header["language"], mode=mode
    )
    setting = make_setting(
        ticket,
        customer=seats,
        judge=seats,
        reward=rule,
        parser="plain",
        system=system,
        language=header["language"],
        tools=header["tools"],
        limits=Limits(**header["limits"]),
        faults=header["faults"],
        distractions=header.get("distractions", 0),
    )  # records have the tools' true names, and so has whatever is shown of them
    setting = replace(setting, mode=mode)  # its customer is the one of the records
    stage = play.staged(scenario, setting)
    for record in stored.records:
        seats.record = record
        _act(stage, record)
        yield Moment(record, stage.state.records[-1], stage)


def _act(stage: Stage, record: Record) -> None:
    ended = _ended(record)
    if record.action["kind"] == "stopped" or (ended is not None and ended.name == "diverged"):
        failed = [event for event in record.events if event.kind == "failed"]
        move = Move(record.acts, failed, outcome=ended)
        play.record(stage, record.seat, record.action, move)
    elif record.seat == ASSISTANT:
        play.assist(stage, AssistantAction.from_json(record.action))
    else:
        action = CustomerAction.from_json(record.action)
        play.serve(stage, action, record.acts, _Mind.of(record.events))


def _ended(record: Record) -> Outcome | None:
    for event in record.events:
        if event.kind == "ended":
            return Outcome(event.name, event.value["ending"], event.value["success"])
    return None


class _Mind(NamedTuple):
    satisfaction: int

    @classmethod
    def of(cls, events: Sequence[Event]) -> _Mind | None:
        """What the customer felt, where its mind said so."""
        felt = [event.value for event in events if event.kind == "satisfaction"]
        return cls(felt[-1]) if felt else None


class _Seats:
    """The customer and the judge, as the record at hand has them."""

    name = "playback"

    def __init__(self) -> None:
        self.record: Record | None = None

    @property
    def _events(self) -> Sequence[Event]:
        return () if self.record is None else self.record.events

    def _fail(self, who: str) -> None:
        for event in self._events:
            if event.kind == "failed" and event.name == who:
                raise type(str(event.value), (EndpointError,), {})

    def begin(self, scenario: Scenario) -> tuple[str, tuple[Act, ...], Any]:
        """Never asked: the opening is a record like others."""
        return "", (), None

    def react(self, mind: Any, view: View) -> Reaction:
        """How it felt about the assistant's ending; what it says are records of their own."""
        self._fail("customer")
        return Reaction(CustomerAction("say"), (), _Mind.of(self._events))

    def assess(self, scenario: Scenario, text: str, acts: Sequence[Act]) -> Assessment:
        """What the judge said of this reply."""
        self._fail("judge")
        slots: Mapping[str, Any] = scenario.gold.slots
        return Assessment(
            tuple(event.name for event in self._events if event.kind == "verdict"),
            tuple(
                (event.name, event.value)
                for event in self._events
                if event.kind == "wrong" and (event.name != "proposal" or "proposal" in slots)
            ),
        )
