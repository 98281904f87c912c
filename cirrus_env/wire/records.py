"""What a trajectory is made of: acts, events, one record a step."""

from __future__ import annotations

from typing import Any, NamedTuple


class Act(NamedTuple):
    """One dialogue act, read from a message (DESIGN "Judging"; METRICS section 4).

    ``kind`` is one of

    - assistant: ``told`` (name=slot, value), ``asked`` (name=fact), ``proposed`` (name=operation,
      value=resource id, detail=slots told as its consequences), ``instructed`` (name=console
      action), ``anything_else``, ``claimed_done``, ``promised`` (name=what), ``refused``,
      ``handed_over``, ``courtesy``, ``question`` (any question at all; value=how many);
    - customer: ``answered`` (name=fact), ``volunteered`` (name=fact), ``agreed`` (name=operation,
      value=id), ``declined`` (name=operation, value=id), ``did`` (name=console action),
      ``complained`` (name=why).
    """

    kind: str
    name: str = ""
    value: str = ""
    detail: tuple[str, ...] = ()


class Event(NamedTuple):
    """One thing that happened in a step; ``value`` is JSON.

    ``kind`` is one of ``called`` (name=operation, value={arguments, ok, code, result, effect,
    touched}), ``verdict`` (name=slot, value=true), ``wrong`` (name=slot, value=the wrong value),
    ``evidence`` (name=checkpoint), ``passed`` (name=checkpoint), ``minefield`` (name=policy,
    value={effect, key}), ``invalid`` (value=why), ``console`` (name=console action, value={ok,
    result}), ``assertion`` (name, value=bool), ``ended`` (name=outcome, value=ending).
    """

    kind: str
    name: str = ""
    value: Any = None


class Record(NamedTuple):
    """One step: one seat's action and what came of it.

    Attributes:
        i: The step's number from 0; the opening is step 0, by the customer.
        seat: ``assistant_0`` or ``customer_0``.
        action: The action as JSON.
        acts: The dialogue acts read from it.
        events: What happened.
        reward_micro: The change of the assistant's return in millionths.
        clock: Logical seconds since the ticket's opening.
    """

    i: int
    seat: str
    action: dict[str, Any]
    acts: tuple[Act, ...]
    events: tuple[Event, ...]
    reward_micro: int
    clock: int

    def to_json(self) -> dict[str, Any]:
        """The record as one JSON object."""
        return {
            "i": self.i,
            "seat": self.seat,
            "action": self.action,
            "acts": [[a.kind, a.name, a.value, list(a.detail)] for a in self.acts],
            "events": [[e.kind, e.name, e.value] for e in self.events],
            "reward_micro": self.reward_micro,
            "clock": self.clock,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Record:
        """The inverse of ``to_json``."""
        return cls(
            i=data["i"],
            seat=data["seat"],
            action=data["action"],
            acts=tuple(Act(a[0], a[1], a[2], tuple(a[3])) for a in data["acts"]),
            events=tuple(Event(*e) for e in data["events"]),
            reward_micro=data["reward_micro"],
            clock=data["clock"],
        )
