"""Success and the assertions behind it (METRICS section 3); evaluated at the end only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.model import AuditEntry, Resource
from cirrus_env.nlu.evidence import Evidence, holds
from cirrus_env.tickets.model import Gold

How = Literal["close", "accept", "escalate", "leave", "minefield", "limit", "failure", ""]

TERMINATED: Final = frozenset({"success", "wrong_ending", "closed_early", "abandoned", "violated"})
INVALID: Final = frozenset({"agent_error", "customer_error", "judge_error", "backend_error"})
UNSCORED: Final = "unscored"
IDENTITY_KIND: Final = "account.verification"
"""The record that an identity check writes: no change of the account, so always allowed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended.

    Attributes:
        name: An outcome of METRICS section 3, or ``unscored``.
        ending: What ended it: close, accept, escalate, leave, minefield, limit or failure.
        success: None where the ticket has no evidence to judge by.
        assertions: Every assertion with its result.
    """

    name: str
    ending: How
    success: bool | None
    assertions: tuple[tuple[str, bool], ...] = ()

    @property
    def terminated(self) -> bool:
        """Whether the episode ended by itself, not by a limit or a failure."""
        return self.name in TERMINATED or self.name == UNSCORED

    @property
    def valid(self) -> bool:
        """Whether the episode says something about the agent."""
        return self.name not in INVALID

    def to_json(self) -> dict[str, Any]:
        """The value of the ``ended`` event."""
        return {
            "ending": self.ending,
            "success": self.success,
            "terminated": self.terminated,
            "valid": self.valid,
        }


def ended_by_choice(
    how: How, queue: str, gold: Gold, evidence: Evidence, cloud: Cloud, *, void: bool
) -> Outcome:
    """The outcome of a close, an accept, an escalation or the customer's leaving.

    Args:
        how: What ended it.
        queue: Where an escalation went.
        gold: The scenario's gold part.
        evidence: What has happened.
        cloud: The final state.
        void: Whether a minefield has made success impossible.
    """
    if how == "leave":
        return Outcome("abandoned", how, False)
    if not gold.scored:
        return Outcome(UNSCORED, how, None)
    assertions = tuple(check_assertions(gold, evidence, cloud))
    right_kind = (how == "escalate") == (gold.ending == "escalate")
    right_queue = how != "escalate" or not gold.queue or queue == gold.queue
    if not (right_kind and right_queue):
        return Outcome("wrong_ending", how, False, assertions)
    done = all(c.skippable or c.id in evidence.passed for c in gold.checkpoints)
    if done and not void and all(value for _, value in assertions):
        return Outcome("success", how, True, assertions)
    return Outcome("wrong_ending" if how == "escalate" else "closed_early", how, False, assertions)


def check_assertions(gold: Gold, evidence: Evidence, cloud: Cloud) -> list[tuple[str, bool]]:
    """Every ``must_flip`` and ``must_hold``, and ``untouched_elsewhere``, with its result."""
    result = [
        (name, holds(predicate, evidence, cloud))
        for name, predicate in (*gold.must_flip, *gold.must_hold)
    ]
    if gold.may_change or gold.shortest:
        inside = not any(
            outside(entry, gold) for entry in cloud.audit if entry.actor == "assistant"
        )
        result.append(("untouched_elsewhere", inside))
    return result


def changed_fields(entry: AuditEntry) -> tuple[str, ...]:
    """The fields that an audit entry changed; ``*`` for a record made or deleted."""
    before, after = entry.before, entry.after
    if before is None or after is None:
        return ("*",)
    return tuple(f.name for f in fields(after) if getattr(before, f.name) != getattr(after, f.name))


def record_of(entry: AuditEntry) -> Resource:
    """The record that an audit entry is about."""
    record = entry.after if entry.after is not None else entry.before
    if record is None:
        raise ValueError("an audit entry of nothing")
    return record


def changes_account(changed: Iterable[Sequence[Any]]) -> bool:
    """Whether any of a ``called`` event's ``changed`` entries is more than an identity check."""
    return any(entry[0] != IDENTITY_KIND for entry in changed)


def outside(entry: AuditEntry, gold: Gold) -> bool:
    """Whether the entry changed anything that ``may_change`` doesn't list."""
    record = record_of(entry)
    if record.kind == IDENTITY_KIND:
        return False
    allowed: Mapping[str, None] = {
        field: None
        for kind, id, field in gold.may_change
        if kind == record.kind and id in (record.id, "*")
    }
    if "*" in allowed:
        return False
    return any(name not in allowed for name in changed_fields(entry))
