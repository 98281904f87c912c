"""The fold over a trajectory's records: what is counted, record by record.

It reads nothing but records: the action's JSON (for tokens), the acts and the events. Each ``add``
takes a time that does not depend on how long the trajectory is.

What METRICS sections 2 and 7 leave open is chosen so that appending a failed, duplicated or
empty-argument call never improves anything (section 8, law 2):

- A turn counts when it is complete (reply, close or escalate); an unfinished last one counts only
  in ``invalid_action_rate``, and only if it holds a malformed action.
- ``mtl`` shares all visible tokens, those of an unfinished turn too, among the complete turns (at
  least one); ``stl`` is the longest turn's.
- A successful write with empty arguments counts as a write only if it touched something outside.
- A malformed reply is not delivered: it counts as tokens and as invalid, and ends no turn.
- An escalation's summary goes to the queue: it ends a turn but is no reply to the customer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Self

from cirrus_env.errors import ComparisonError
from cirrus_env.judging.outcome import changes_account
from cirrus_env.judging.reward import RewardRule
from cirrus_env.judging.shape import shape_of
from cirrus_env.judging.tokens import reasoning_tokens, visible_tokens
from cirrus_env.tickets.model import Gold
from cirrus_env.wire import ASSISTANT, Act, Event, Record


class Fold:
    """What has been counted of a trajectory so far; ``Tally`` says what it comes to.

    Args:
        gold: What the scenario asks.
        rule: How the terms weigh.
        needed: Names of the private facts that the assistant must ask for (``needed_facts``).
    """

    __slots__ = (
        "_cost", "_each_step", "_ended", "_facts", "_filled_at_decision", "_gold", "_identified",
        "_incorrect", "_invalid_turns", "_jumped", "_known", "_longest", "_malformed", "_needed",
        "_passed", "_phi_after", "_phi_before", "_reasoning", "_replies", "_rule", "_said",
        "_satisfaction", "_shape", "_success", "_terminated", "_tokens", "_touched",
        "_turn_tokens", "_turns", "_valid", "_violations", "_writes", "_wrong_replies",
    )  # fmt: skip

    def __init__(self, gold: Gold, *, rule: RewardRule, needed: Collection[str] = ()) -> None:
        self._gold = gold
        self._rule = rule
        self._each_step = rule.path_dependent
        self._needed = frozenset(needed)
        self._shape = shape_of(gold.checkpoints)
        self._passed: set[str] = set()
        self._jumped: set[str] = set()
        self._identified = 0
        self._facts: set[str] = set()
        self._said: set[str] = set()
        self._touched: set[tuple[str, str]] = set()
        self._violations = [0, 0]  # fatal ones, others
        self._tokens = self._reasoning = self._turn_tokens = self._longest = 0
        self._replies = self._wrong_replies = self._turns = self._invalid_turns = 0
        self._malformed = False  # an action of the unfinished turn is
        self._writes = self._incorrect = self._cost = 0
        self._phi_before = self._phi_after = 0  # sums of F over settled decisions
        self._filled_at_decision = -1  # before the first decision
        self._satisfaction: int | None = None
        self._success: bool | None = False
        self._ended = self._terminated = False
        self._valid = True
        self._known: int | None = None  # the return, until something may have changed it

    def copy(self) -> Self:
        """An independent copy."""
        other = object.__new__(type(self))
        for name in Fold.__slots__:
            setattr(other, name, getattr(self, name))
        for name in ("_passed", "_jumped", "_facts", "_said", "_touched", "_violations"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def add(self, record: Record) -> None:
        """Take in the next record.

        Raises:
            ComparisonError: If the record is about another scenario than this tally.
        """
        if record.seat != ASSISTANT:
            for event in record.events:
                self._take(event)
            return
        action = record.action
        self._decide()
        self._count_tokens(action)
        malformed = "fault" in action
        wrong = False
        for event in record.events:
            kind = event.kind
            if kind == "invalid":
                malformed = True
            elif kind == "wrong":
                wrong = True
            else:
                self._take(event)
        if malformed:
            self._malformed = True
            self._known = None
        elif action["kind"] != "call":
            self._end_turn(action, record.acts, wrong=wrong)

    def _take(self, event: Event) -> None:
        kind = event.kind
        fold = _FOLD.get(kind)
        if fold is not None:
            fold(self, event)
            if kind in _PAYING:
                self._known = None

    def _decide(self) -> None:
        """Settle the decision before this one: its next state is the one just before it."""
        filled = len(self._passed) + len(self._jumped)
        if self._filled_at_decision >= 0:
            self._phi_before += self._filled_at_decision
            self._phi_after += filled
        self._filled_at_decision = filled

    def _count_tokens(self, action: Mapping[str, Any]) -> None:
        tokens = visible_tokens(action)
        self._tokens += tokens
        self._turn_tokens += tokens
        self._reasoning += reasoning_tokens(action)
        if self._turn_tokens > self._longest:
            self._longest = self._turn_tokens

    def _end_turn(self, action: Mapping[str, Any], acts: tuple[Act, ...], *, wrong: bool) -> None:
        self._turns += 1
        self._turn_tokens = 0
        if self._malformed:
            self._invalid_turns += 1
            self._malformed = False
        text = " ".join(action.get("text", "").split())
        if action["kind"] != "escalate" and (text or action["kind"] == "reply"):
            self._replies += 1
        repeated = text in self._said and not only_courtesy(acts)
        self._said.add(text)
        if wrong or repeated:
            self._wrong_replies += 1

    def _on_called(self, event: Event) -> None:
        call = event.value
        if not call["ok"] or call.get("duplicate"):
            return
        if call.get("foreign"):
            self._cost += 1
        if call["effect"] == "read":
            return
        outside = bool(call.get("outside"))
        if outside or call["arguments"] not in ({}, "{}", "", None):
            self._writes += 1
            if outside:
                self._incorrect += 1
                self._known = None
        if call["effect"] == "irreversible" and not call.get("consent"):
            self._cost += 1
        early = self._identified < len(self._shape.identities)
        if early and changes_account(call.get("changed", [["unknown"]])):
            self._cost += 1

    def _on_passed(self, event: Event) -> None:
        name = event.name
        if name not in self._shape.skips:
            raise ComparisonError(
                f"the trajectory passes a checkpoint {name!r} that the scenario doesn't have: "
                "it was recorded on another version of the ticket"
            )
        if name in self._passed:
            return
        self._passed.add(name)
        self._jumped.discard(name)
        for above in self._shape.skips[name]:
            if above not in self._passed:
                self._jumped.add(above)
        self._identified += name in self._shape.identities

    def _on_minefield(self, event: Event) -> None:
        touch = (event.name, str(event.value["key"]))
        if touch not in self._touched:
            self._touched.add(touch)
            self._violations[event.value["effect"] != "fatal"] += 1

    def _on_order(self, event: Event) -> None:
        touch = (event.name, "")
        if touch not in self._touched:
            self._touched.add(touch)
            self._violations[1] += 1

    def _on_fact(self, event: Event) -> None:
        if event.name in self._needed:
            self._facts.add(event.name)

    def _on_satisfaction(self, event: Event) -> None:
        self._satisfaction = event.value

    def _on_ended(self, event: Event) -> None:
        self._ended = True
        self._terminated = event.value["terminated"]
        self._valid = event.value["valid"]
        self._success = event.value["success"]

    @property
    def filled(self) -> int:
        """F = |P| + |S|."""
        return len(self._passed) + len(self._jumped)


def only_courtesy(acts: tuple[Act, ...]) -> bool:
    """Whether a reply does nothing but be polite."""
    return bool(acts) and all(act.kind == "courtesy" for act in acts)


_PAYING: Final = frozenset({"passed", "minefield", "order", "ended"})
"""Events that may change the return, unless the rule depends on the path; a call may by itself."""

_FOLD: Final = {
    "called": Fold._on_called,
    "passed": Fold._on_passed,
    "minefield": Fold._on_minefield,
    "order": Fold._on_order,
    "fact": Fold._on_fact,
    "satisfaction": Fold._on_satisfaction,
    "ended": Fold._on_ended,
}
