"""The paper's own arithmetic, on teacher-forced turns; outside the reward path.

Definitions: METRICS section 5, after "CirrusBench" (arXiv 2603.28569), each in a strict form and as
published (``*_paper``). A teacher-forced turn replays the reference dialogue up to a turn of the
assistant and lets the agent speak there; a second attempt is a fresh sample from a fork at the same
turn, without feedback.

So that no junk call ever helps (METRICS section 8, law 2), repeated calls count once, failed calls
match nothing, and a call with empty arguments matches only a reference call with empty arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from cirrus_env.errors import OptionError
from cirrus_env.judging import formulas
from cirrus_env.judging.matching import (
    Canon,
    Canonical,
    PaperCall,
    counting,
    distinct,
    equal,
    exactly_matched,
    names_matched,
    sincere,
)
from cirrus_env.judging.shape import shape_of
from cirrus_env.tickets.model import Checkpoint


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the agent did at a turn, in one sample.

    Attributes:
        calls: Its calls, in order.
        passed: Checkpoints whose evidence it brought.
        carries: Whether its reply carries the turn's told or asked evidence.
        included: The judge's verdict "Included"; None where no judge was asked.
        tokens: Visible tokens.
        violations: Policies violated.
    """

    calls: tuple[PaperCall, ...] = ()
    passed: tuple[str, ...] = ()
    carries: bool = False
    included: bool | None = None
    tokens: int = 0
    violations: int = 0


@dataclass(frozen=True, slots=True)
class PaperTurn:
    """One teacher-forced turn; the labels come from the reference.

    Attributes:
        reference: The reference's calls at this turn; the turn needs a tool iff there are any.
        says: Whether the reference's reply brings told or asked evidence.
        attempts: One or two, in order.
    """

    reference: tuple[PaperCall, ...]
    says: bool
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class PaperTicket:
    """One ticket's teacher-forced turns.

    Attributes:
        id: The ticket and seed.
        checkpoints: In listed order.
        turns: In order.
        tools: Whether the ticket offers tools.
    """

    id: str
    checkpoints: tuple[Checkpoint, ...]
    turns: tuple[PaperTurn, ...]
    tools: bool = True


class Score(NamedTuple):
    """A score with its coverage.

    Attributes:
        value: None where nothing was covered.
        n: How many turns, calls or tickets it covers.
    """

    value: float | None
    n: int


def paper_scores(tickets: Sequence[PaperTicket], canon: Canon | None = None) -> dict[str, Score]:
    """Every score of section 5, strict and as published; always the same keys.

    Args:
        tickets: Teacher-forced tickets; each turn has at least one attempt.
        canon: How arguments are compared; by default ``Canonical()``.

    Raises:
        OptionError: If a turn has no attempt, or an attempt passes an unknown checkpoint.
    """
    check(tickets)
    how = canon if canon is not None else Canonical()
    turns = [turn for ticket in tickets for turn in ticket.turns]
    return {
        **_invocation(turns, how),
        **_selection(turns, how),
        "RR": _share(turn.attempts[0].carries for turn in turns if turn.says),
        "SR@1": _share(succeeds(ticket, 1) for ticket in tickets if ticket.checkpoints),
        "SR@2": _share(succeeds(ticket, 2) for ticket in tickets if ticket.checkpoints),
        "TPR": _mean(tpr(ticket) for ticket in tickets),
        "NEI": _mean(nei(ticket) for ticket in tickets),
        "AMTL": _mean(_turn_length(ticket) for ticket in tickets),
        **_as_published(tickets, turns),
    }


def check(tickets: Iterable[PaperTicket]) -> None:
    """Raise ``OptionError`` if the tickets can't be scored."""
    for ticket in tickets:
        known = {checkpoint.id for checkpoint in ticket.checkpoints}
        for number, turn in enumerate(ticket.turns):
            if not turn.attempts:
                raise OptionError(f"{ticket.id}: turn {number} has no attempt")
            for attempt in turn.attempts:
                for name in attempt.passed:
                    if name not in known:
                        raise OptionError(f"{ticket.id}: turn {number} passes unknown {name!r}")


# -- tools -----------------------------------------------------------------------------------


def _invocation(turns: Sequence[PaperTurn], canon: Canon) -> dict[str, Score]:
    """TIA: F1 of "made a successful call" against "needs a tool", over turns."""
    made = [bool(counting(turn.attempts[0].calls, turn.reference, canon)) for turn in turns]
    needs = [bool(turn.reference) for turn in turns]
    hits = sum(a and b for a, b in zip(made, needs, strict=True))
    together = sum(made) + sum(needs)
    return {
        "TIA": Score(2 * hits / together if together else None, len(turns)),
        "TIA_precision": Score(_ratio(hits, sum(made)), sum(made)),
        "TIA_recall": Score(_ratio(hits, sum(needs)), sum(needs)),
    }


def _selection(turns: Sequence[PaperTurn], canon: Canon) -> dict[str, Score]:
    """TSA and TEV: one-to-one matches by name, and by name and arguments."""
    names = exact = wanted = made = 0
    for turn in turns:
        calls = counting(turn.attempts[0].calls, turn.reference, canon)
        reference = distinct(turn.reference, canon)  # a repeated call counts once in it, too
        wanted += len(reference)
        made += len(distinct(turn.attempts[0].calls, canon))
        names += names_matched(calls, reference)
        exact += exactly_matched(calls, reference, canon)
    return {
        "TSA": Score(_ratio(names, wanted), wanted),
        "TSA_precision": Score(_ratio(names, made), made),
        "TEV": Score(_ratio(exact, wanted), wanted),
        "TEV_precision": Score(_ratio(exact, made), made),
    }


# -- checkpoints -----------------------------------------------------------------------------


def passed_within(ticket: PaperTicket, attempts: int) -> frozenset[str]:
    """Checkpoints passed in one of the first attempts of some turn."""
    return frozenset(
        name
        for turn in ticket.turns
        for attempt in turn.attempts[:attempts]
        for name in attempt.passed
    )


def jumped(ticket: PaperTicket, passed: frozenset[str]) -> frozenset[str]:
    """Skippable checkpoints that were not passed although a descendant was."""
    skips = shape_of(ticket.checkpoints).skips
    return frozenset(name for later in passed for name in skips[later]) - passed


def succeeds(ticket: PaperTicket, k: int) -> bool:
    """SR@k: all checkpoints within k attempts, and none of those attempts violates a policy."""
    passed = passed_within(ticket, k)
    done = all(c.skippable or c.id in passed for c in ticket.checkpoints)
    clean = not any(a.violations for turn in ticket.turns for a in turn.attempts[:k])
    return bool(ticket.checkpoints) and done and clean


def tpr(ticket: PaperTicket) -> Fraction | None:
    """F / K, attempts taken together."""
    passed = passed_within(ticket, 2)
    return formulas.rate(len(passed) + len(jumped(ticket, passed)), len(ticket.checkpoints))


def nei(ticket: PaperTicket) -> Fraction | None:
    """LJ / (F - 1), attempts taken together; over all tickets, not the successful ones only."""
    passed = passed_within(ticket, 2)
    jumps = len(jumped(ticket, passed))
    return formulas.nei(len(passed) + jumps, jumps)


# -- as published ----------------------------------------------------------------------------


def tpr_paper(listed: Sequence[bool]) -> Fraction | None:
    """The listed prefix of passed checkpoints / K."""
    prefix = 0
    for passed in listed:
        if not passed:
            break
        prefix += 1
    return formulas.rate(prefix, len(listed))


def nei_paper(passed: int, jumps: int) -> Fraction:
    """0 if none passed, 1 if exactly one, else LJ / (passed - 1).

    Args:
        passed: Checkpoints passed; the paper counts a jumped one as passed.
        jumps: Logical jumps.
    """
    if passed <= 1:
        return Fraction(passed)
    return Fraction(jumps, passed - 1)


def _as_published(tickets: Sequence[PaperTicket], turns: Sequence[PaperTurn]) -> dict[str, Score]:
    scored = [ticket for ticket in tickets if ticket.checkpoints]
    final = [_listed(ticket, 2) for ticket in scored]
    verdicts = [a.included for turn in turns for a in turn.attempts if a.included is not None]
    attempts = [attempt for turn in turns for attempt in turn.attempts]
    wanted = [
        (call, k) for k, ticket in enumerate(tickets) for turn in ticket.turns
        for call in turn.reference
    ]  # fmt: skip
    calls = [_all_calls(ticket) for ticket in tickets]
    named = [any(c.name == call.name for c in calls[k]) for call, k in wanted]
    exact = [any(equal(c, call) for c in calls[k]) for call, k in wanted]
    return {
        "TIA_paper": _share(
            bool(made) for made, ticket in zip(calls, tickets, strict=True) if ticket.tools
        ),
        "TSA_paper": _share(named),
        "TEV_paper": _share(exact),
        "RR_paper": _share(verdicts),
        "SR@1_paper": _share(all(_listed(ticket, 1)) for ticket in scored),
        "SR@2_paper": _share(listed[-1] for listed in final),
        "TPR_paper": _mean(tpr_paper(listed) for listed in final),
        "NEI_paper": _mean(
            nei_paper(sum(listed), len(jumped(ticket, passed_within(ticket, 2))))
            for ticket, listed in zip(scored, final, strict=True)
        ),
        "AMTL_paper": _mean(Fraction(attempt.tokens) for attempt in attempts),
    }


def _listed(ticket: PaperTicket, attempts: int) -> list[bool]:
    """Checkpoint by checkpoint, whether it was passed or jumped."""
    passed = passed_within(ticket, attempts)
    filled = passed | jumped(ticket, passed)
    return [checkpoint.id in filled for checkpoint in ticket.checkpoints]


def _all_calls(ticket: PaperTicket) -> list[PaperCall]:
    """The calls that the published forms count: of any attempt, but nothing that is junk."""
    reference = [call for turn in ticket.turns for call in turn.reference]
    made = [call for turn in ticket.turns for a in turn.attempts for call in a.calls]
    return sincere(made, reference)


# -- means -----------------------------------------------------------------------------------


def _turn_length(ticket: PaperTicket) -> Fraction | None:
    tokens = [turn.attempts[0].tokens for turn in ticket.turns]
    return Fraction(sum(tokens), len(tokens)) if tokens else None


def _ratio(part: int, whole: int) -> float | None:
    share = formulas.rate(part, whole)
    return None if share is None else float(share)


def _share(values: Iterable[bool]) -> Score:
    listed = list(values)
    return Score(_ratio(sum(listed), len(listed)), len(listed))


def _mean(values: Iterable[Fraction | None]) -> Score:
    covered = [value for value in values if value is not None]
    if not covered:
        return Score(None, 0)
    return Score(float(sum(covered, formulas.ZERO) / len(covered)), len(covered))
