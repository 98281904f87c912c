"""What a recorded dialogue proves: checkpoints, slots, customer facts and recorded turns.

A recorded question is an inquiry, skippable where more than words comes after it; recorded calls
are evidence one to one; what a reply took from results must be told. A ticket is scored only if
something in it binds: a call with arguments that count, or a fact. A call that every sweep makes,
or a question that anybody asks, is no proof by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cirrus_env.adapters.dialogue import Dialogue, Exchange
from cirrus_env.adapters.facts import Writings, facts_of, figures
from cirrus_env.adapters.questions import asked_words
from cirrus_env.cloud.recorded import UNRECORDED_WRITES, RecordedCall, RecordedCatalogue

_MOST_SLOTS: Final = 80
_MOST_INQUIRIES: Final = 55
_MOST_CHECKPOINTS: Final = 100
_MOST_CALLS: Final = 25
_MOST_LEAD: Final = 60

_BRACE: Final = re.compile(r"[{}]")


@dataclass(slots=True)
class Evidence:
    """The parts of a ticket file that come from a dialogue.

    Attributes:
        checkpoints: In order.
        slots: By name.
        facts: The customer's, by name.
        turns: Its recorded messages.
        binding: How many checkpoints prove something of this ticket alone.
        missing: Listed exchanges without any evidence, by number from 1.
        dropped: What was left out, a sentence each.
    """

    checkpoints: list[dict[str, Any]] = field(default_factory=list)
    slots: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    turns: list[dict[str, Any]] = field(default_factory=list)
    binding: int = 0
    missing: list[int] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    def parts(self, dialogue: Dialogue) -> dict[str, Any]:
        """The tables of the ticket file."""
        customer: dict[str, Any] = {
            "mood": "recorded",
            "patience": 6,
            "opening": {dialogue.language: [literal(dialogue.opening)]},
            "recorded": self.turns,
            "facts": self.facts,
            "satisfied": [self._satisfied()],
        }
        parts: dict[str, Any] = {"customer": customer}
        if self.checkpoints:
            parts["checkpoints"] = self.checkpoints
            parts["must_hold"] = [
                {"name": "nothing_else_changed", "measure": UNRECORDED_WRITES, "of": "{account}",
                 "at_most": 0},
            ]  # fmt: skip
        if self.slots:
            parts["slots"] = self.slots
        return parts

    def _satisfied(self) -> dict[str, Any]:
        needed = [c["evidence"] for c in self.checkpoints if not c.get("skippable")]
        if needed:
            return {"all": needed}
        self.facts["unsaid"] = {"en": ["-"], "zh": ["-"], "when": "never"}
        return {"not": [{"asked": "unsaid"}]}


def evidence_of(
    dialogue: Dialogue, catalogue: RecordedCatalogue, without: frozenset[str] = frozenset()
) -> Evidence:
    """What a dialogue proves.

    Args:
        dialogue: It.
        catalogue: Its recording.
        without: Slots and customer facts that may not be asked for: its own reference lacks them.
    """
    return _Builder(dialogue, catalogue, without).build()


class _Builder:
    def __init__(
        self, dialogue: Dialogue, catalogue: RecordedCatalogue, without: frozenset[str]
    ) -> None:
        self._dialogue = dialogue
        self._catalogue = catalogue
        self._without = without
        self._language = dialogue.language
        self._made = Evidence()
        self._heard = [dialogue.opening]
        self._results: list[Any] = []
        self._lead: list[str] = []
        self._first = 0

    def build(self) -> Evidence:
        made = self._made
        for i, exchange in enumerate(self._dialogue.exchanges):
            self._add(i, exchange)
            self._first += len(exchange.calls)
        last = next((k for k in range(len(made.checkpoints) - 1, -1, -1)
                     if made.checkpoints[k]["kind"] != "inquiry"), -1)  # fmt: skip
        for checkpoint in made.checkpoints[:last]:
            if checkpoint["kind"] == "inquiry":
                checkpoint["skippable"] = True
        if not made.binding or self._dialogue.unscored:
            made.checkpoints.clear()
            made.slots.clear()
            for turn in made.turns:
                turn.pop("needs_passed", None)
        return made

    def _add(self, i: int, exchange: Exchange) -> None:
        made = self._made
        calls = self._needed(exchange)
        self._results += [call.result for call in exchange.calls if not call.error]
        facts = self._facts(i, exchange)
        names: list[str] = []
        if exchange.listed and not self._dialogue.unscored:
            names = self._proofs(i, exchange, calls, facts)
        turn: dict[str, Any] = {"text": literal(exchange.answer)}
        asked = self._asked(i, exchange)
        if asked:
            turn["needs_asked"] = [asked]
            if exchange.listed and not names and not self._dialogue.unscored:
                self._inquiry(i, asked, exchange.reply)
            elif not names:
                self._follow(exchange.reply)
        elif not names:
            self._follow(exchange.reply)
            if self._dialogue.whole and exchange.listed:
                made.missing.append(i + 1)
        if names:
            turn["needs_passed"] = names
        made.turns.append(turn)
        self._heard += [exchange.answer, *(writing for fact in facts for writing in fact)]

    # -- calls and facts -----------------------------------------------------------------------

    def _needed(self, exchange: Exchange) -> list[tuple[int, int]]:
        """(number of the recorded call, how often) of the calls that are asked for."""
        wanted = exchange.needed
        if wanted is None:
            wanted = tuple(k for k, call in enumerate(exchange.calls) if not call.error)
        first: dict[str, int] = {}
        times: dict[str, int] = {}
        for k in wanted:
            key = self._catalogue.keys[self._first + k]
            if not key:
                continue
            first.setdefault(key, self._first + k)
            reads = self._catalogue.operations[exchange.calls[k].name].effect == "read"
            times[key] = 1 if reads else times.get(key, 0) + 1
        return [(number, times[key]) for key, number in first.items()]

    def _facts(self, i: int, exchange: Exchange) -> list[Writings]:
        if not exchange.listed or self._dialogue.unscored:
            return []
        if exchange.facts is not None:
            found = [figures(text) for text in exchange.facts]
        else:
            free = self._dialogue.whole or not self._dialogue.calls
            results = None if free else self._results
            found = facts_of(exchange.reply, results, self._heard)
        room = _MOST_SLOTS - len(self._made.slots)
        kept = found[: max(0, room)]
        if len(kept) < len(found):
            self._made.dropped.append(f"{len(found) - len(kept)} facts of reply {i + 1}: too many")
        return kept

    def _proofs(
        self, i: int, exchange: Exchange, calls: list[tuple[int, int]], facts: list[Writings]
    ) -> list[str]:
        """The checkpoints of an exchange; their names."""
        told = self._slots(i, facts)
        names: list[str] = []
        if self._dialogue.whole:
            parts = [_recorded(*call) for call in calls] + told
            if parts:
                kind = "explanation" if not calls else "diagnosis"
                if any(self._changes(number) for number, _ in calls):
                    kind = "action"
                names.append(self._checkpoint(f"step_{i}", kind, parts, exchange, exchange.calls))
                self._made.binding += bool(told) or any(self._binds(n) for n, _ in calls)
            return names
        chunks = [calls[k : k + _MOST_CALLS] for k in range(0, len(calls), _MOST_CALLS)]
        for n, chunk in enumerate(chunks):
            name = f"calls_{i}" if n == 0 else f"calls_{i}_{n}"
            kind = "action" if any(self._changes(number) for number, _ in chunk) else "diagnosis"
            last = n == len(chunks) - 1 and not told
            parts = [_recorded(*call) for call in chunk]
            made = exchange.calls[
                n * _MOST_CALLS : (n + 1) * _MOST_CALLS if n < len(chunks) - 1 else None
            ]
            names.append(self._checkpoint(name, kind, parts, exchange if last else None, made))
            self._made.binding += any(self._binds(number) for number, _ in chunk)
        if told:
            names.append(self._checkpoint(f"tells_{i}", "explanation", told, exchange, ()))
            self._made.binding += 1
        return [name for name in names if name]

    def _slots(self, i: int, facts: list[Writings]) -> list[dict[str, Any]]:
        told = []
        for k, writings in enumerate(facts):
            slot = f"fact_{i}_{k}"
            # a phrase is fixed text: one with a brace can't be looked for
            phrases = [text for text in writings if text.strip() and not _BRACE.search(text)]
            if phrases and slot not in self._without:
                self._made.slots[slot] = {
                    "type": "statement",
                    "values": {"said": {self._language: [phrases]}},
                }
                told.append({"told": slot})
        return told

    def _changes(self, number: int) -> bool:
        return self._catalogue.operations[self._dialogue.calls[number].name].effect != "read"

    def _binds(self, number: int) -> bool:
        return not self._catalogue.keys[number].endswith(" nothing")

    def _checkpoint(
        self,
        name: str,
        kind: str,
        parts: list[dict[str, Any]],
        exchange: Exchange | None,
        calls: Sequence[RecordedCall],
    ) -> str:
        if len(self._made.checkpoints) >= _MOST_CHECKPOINTS:
            self._made.dropped.append(
                f"checkpoint {name}: a ticket has {_MOST_CHECKPOINTS} at most"
            )
            return ""
        reference: dict[str, Any] = {}
        if self._lead:
            reference["lead"] = {self._language: self._lead[:_MOST_LEAD]}
            self._lead = []
        if calls:
            reference["calls"] = [
                {"call": c.name, "with": literals(c.arguments)} for c in calls[: _MOST_CALLS + 5]
            ]
        if exchange is not None and exchange.reply:
            reference[self._language] = literal(exchange.reply)
        entry: dict[str, Any] = {
            "id": name,
            "kind": kind,
            "after": [c["id"] for c in self._made.checkpoints[-1:]],
            "evidence": parts[0] if len(parts) == 1 else {"all": parts},
        }
        if reference:
            entry["reference"] = reference
        self._made.checkpoints.append(entry)
        return name

    def _follow(self, reply: str) -> None:
        """A reply that passes nothing trails the checkpoint before it, or leads to the first."""
        if not reply:
            return
        if not self._made.checkpoints:
            self._lead.append(literal(reply))
            return
        reference = self._made.checkpoints[-1].setdefault("reference", {})
        trail = reference.setdefault("trail", {}).setdefault(self._language, [])
        if len(trail) < _MOST_LEAD:
            trail.append(literal(reply))

    # -- questions -----------------------------------------------------------------------------

    def _asked(self, i: int, exchange: Exchange) -> str:
        """The fact that a recorded question asks for; empty where the reply asks none."""
        name = f"answer_{i}"
        if exchange.calls or not exchange.answer or name in self._without:
            return ""
        if len(self._made.facts) >= _MOST_INQUIRIES:
            return ""
        words = asked_words(exchange.reply, exchange.answer, self._language)
        if not words:
            return ""
        self._made.facts[name] = {
            self._language: [literal(exchange.answer)],
            "when": "asked",
            "needed": True,
            "asked_by": {self._language: [[literal(word) for word in words]]},
        }
        return name

    def _inquiry(self, i: int, fact: str, reply: str) -> None:
        exchange = Exchange((), reply, "")
        self._checkpoint(f"asks_{i}", "inquiry", [{"asked": fact}], exchange, ())


def _recorded(number: int, times: int) -> dict[str, Any]:
    return {"recorded": number} if times == 1 else {"recorded": number, "times": times}


def literal(text: str) -> str:
    """Text for a ticket file: braces are no placeholders."""
    return text.replace("{", "{{").replace("}", "}}")


def literals(value: Any) -> Any:
    """A value in depth with ``literal`` texts; None, which TOML lacks, is left out of tables."""
    if isinstance(value, str):
        return literal(value)
    if isinstance(value, Mapping):
        return {key: literals(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [literals(item) for item in value if item is not None]
    return value
