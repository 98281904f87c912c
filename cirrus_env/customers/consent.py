"""What the simulated customer agrees to."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from cirrus_env.tickets.model import Consent, Private
from cirrus_env.wire import Act

MOST: Final = 3
"""How many operations one proposal may name (METRICS section 4)."""

Answer = Literal["agree", "decline", "missing", "which", "too_many"]


class Verdict(NamedTuple):
    """The customer's mind about one proposal.

    Attributes:
        proposal: The proposal.
        answer: What it says to it.
        missing: The slot that it asks about, for ``missing``.
    """

    proposal: Act
    answer: Answer
    missing: str = ""


def judge(private: Private, proposed: tuple[Act, ...]) -> tuple[Verdict, ...]:
    """One verdict a proposal; all are turned down where there are more than three."""
    if not proposed:
        return ()
    if len(proposed) > MOST:
        return tuple(Verdict(act, "too_many") for act in proposed)
    return tuple(_judge(private, act) for act in proposed)


def _judge(private: Private, act: Act) -> Verdict:
    known = False
    for consent in private.consents:
        if consent.operation != act.name:
            continue
        known = True
        if consent.id == act.value:
            missing = _missing(consent, act)
            return Verdict(act, "missing", missing) if missing else Verdict(act, "agree")
    return Verdict(act, "which" if known and not act.value else "decline")


def _missing(consent: Consent, act: Act) -> str:
    """The first needed slot that the proposal leaves out; empty if none."""
    for need in consent.needs:
        if need not in act.detail and need != act.value:
            return need
    return ""
