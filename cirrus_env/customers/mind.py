"""The simulated customer's mind, and what it makes of a reply's dialogue acts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from cirrus_env.tickets.model import Private
from cirrus_env.wire import Act

FULL: Final = 1_000_000
_START = {"hot": 350_000, "worried": 450_000, "calm": 600_000}
_REMEMBERED = 4


class Mind(NamedTuple):
    """What the simulated customer carries from turn to turn; never changed in place.

    Attributes:
        satisfaction: In millionths.
        patience: Unproductive turns left.
        said: Facts told so far.
        heard: How many slots it had been told rightly.
        agreed: Proposals agreed to, (operation, id).
        done: Console actions that worked.
        texts: The assistant's last replies, to notice a repetition.
        reports: Console actions of the turn in progress and whether they worked.
    """

    satisfaction: int
    patience: int
    said: tuple[str, ...] = ()
    heard: int = 0
    agreed: tuple[tuple[str, str], ...] = ()
    done: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    reports: tuple[tuple[str, bool], ...] = ()


class Reply(NamedTuple):
    """A reply's acts, sorted by what the customer does about them.

    Attributes:
        asked: Facts asked for, in order of mention.
        proposed: Proposals.
        instructed: Console actions that it is told to do.
        questions: How many questions there are.
        claim: Whether it claims to be done or asks whether anything remains.
        refused: Whether it refuses.
    """

    asked: tuple[str, ...]
    proposed: tuple[Act, ...]
    instructed: tuple[str, ...]
    questions: int
    claim: bool
    refused: bool


def first_mind(private: Private, tone: str, volunteered: Iterable[str]) -> Mind:
    """The mind at the opening."""
    return Mind(_START[tone], max(1, private.patience), said=tuple(volunteered))


def read(acts: tuple[Act, ...]) -> Reply:
    """Sort the acts of a reply."""
    asked: list[str] = []
    proposed: list[Act] = []
    instructed: list[str] = []
    questions = 0
    claim = refused = False
    for act in acts:
        kind = act.kind
        if kind == "asked":
            if act.name not in asked:
                asked.append(act.name)
        elif kind == "proposed":
            proposed.append(act)
        elif kind == "instructed":
            if act.name not in instructed:
                instructed.append(act.name)
        elif kind == "question":
            questions = int(act.value) if act.value.isdecimal() else questions + 1
        elif kind in ("claimed_done", "anything_else"):
            claim = True
        elif kind == "refused":
            refused = True
    return Reply(
        tuple(asked), tuple(proposed), tuple(instructed), max(questions, len(asked)), claim, refused
    )


def remember(texts: tuple[str, ...], text: str) -> tuple[str, ...]:
    """The last few replies with this one."""
    return (*texts[1 - _REMEMBERED :], text)


def pleased(satisfaction: int) -> int:
    """After a turn that helped: a fifth of the way up."""
    return satisfaction + (FULL - satisfaction) // 5


def displeased(satisfaction: int, cost: int) -> int:
    """After a turn that cost patience: a quarter off for each unit."""
    for _ in range(cost):
        satisfaction -= satisfaction // 4
    return satisfaction


def at_end(satisfaction: int, satisfied: bool) -> int:
    """At the end: at least 0.8 with its goal met, at most 0.3 without."""
    return max(satisfaction, FULL * 8 // 10) if satisfied else min(satisfaction, FULL * 3 // 10)
