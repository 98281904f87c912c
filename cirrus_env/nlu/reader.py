"""One reading of a message into dialogue acts (METRICS section 4)."""

from __future__ import annotations

from typing import Final

from cirrus_env.nlu import cues as c
from cirrus_env.nlu import talk, told, verbatim
from cirrus_env.nlu.answers import read_answer
from cirrus_env.nlu.heard import Heard
from cirrus_env.nlu.lexicon import (
    CONSOLE,
    FACT,
    NEAR,
    OPERATION,
    UNIT,
    VALUE,
    Entry,
    cue_tree,
    lexicon,
)
from cirrus_env.nlu.normalise import flat, plain, tokens
from cirrus_env.nlu.proposals import Offer, operations, proposals
from cirrus_env.nlu.scanner import VALUE_TOKEN, Hit, Scanner
from cirrus_env.nlu.values import Finder
from cirrus_env.tickets.model import Scenario, Slot
from cirrus_env.wire import Act

_BOUND: Final = frozenset({"money", "number", "date", "id"})


class Reader:
    """Reads replies of one scenario; cheap to make, never changed.

    Args:
        scenario: Whose slots, facts, console actions and operations are read.
    """

    __slots__ = (
        "_bound", "_consents", "_enums", "_facts", "_ids", "_left_out", "_lexicon", "_numerals",
        "_operations", "_scenario", "_slots", "_statements",
    )  # fmt: skip

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        slots = tuple(scenario.gold.slots.values())
        private, public = scenario.private, scenario.public
        self._slots = slots
        self._operations = operations(tuple(public.services), public.language)
        self._consents = frozenset((k.operation, k.id) for k in private.consents)
        entries: list[Entry] = []
        for slot in slots:
            for value, groups in slot.values.items():
                entries.append(Entry(VALUE, slot.name, value, groups))
            if slot.near:
                entries.append(Entry(NEAR, slot.name, "", slot.near))
            if slot.unit:
                entries.append(Entry(UNIT, slot.name, "", (slot.unit,)))
        for name, fact in private.facts.items():
            if fact.asked_by:
                entries.append(Entry(FACT, name, "", fact.asked_by))
        for name, action in private.console.items():
            entries.append(Entry(CONSOLE, name, "", action.told_by))
        for name, offer in self._operations.items():
            entries.append(Entry(OPERATION, name, "", offer.groups))
        self._enums = tuple(s for s in slots if s.type == "enum")
        self._statements = tuple(s for s in slots if s.type == "statement")
        self._bound = tuple(s for s in slots if s.type in _BOUND)
        numerals = any(s.type == "number" for s in self._bound)
        self._lexicon = lexicon(tuple(entries), numerals)
        self._left_out = _left_out(self._bound, self._consents)

    def __deepcopy__(self, memo: object) -> Reader:
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Reader, (self._scenario,)

    def read(self, text: str, heard: Heard) -> tuple[Act, ...]:
        """The dialogue acts of an assistant's reply, in a fixed order.

        Args:
            text: The delivered words.
            heard: What the assistant had been given to read.
        """
        even = flat(text)
        clean = plain(even)
        scan = self._scan(clean)
        if scan.telling and heard.any:
            index = heard.index(self._left_out)
            quoted = verbatim.spans(verbatim.words(even.lower(), self._left_out), index)
            if quoted:
                clean = plain(verbatim.blanked(even, self._left_out, quoted))
                scan = self._scan(clean)
        return _Reading(self, scan, clean, heard).acts()

    def read_customer(self, text: str, proposed: tuple[Act, ...]) -> tuple[Act, ...]:
        """What an outside customer's words answer to the proposals of the reply just before."""
        return read_answer(plain(flat(text)), proposed, self._lexicon)

    def _scan(self, even: str) -> Scanner:
        scan = Scanner(even.lower(), self._lexicon, cue_tree(False))
        scan.run()
        return scan


def _left_out(slots: tuple[Slot, ...], consents: frozenset[tuple[str, str]]) -> verbatim.LeftOut:
    texts: dict[str, None] = {}
    numbers: list[str] = []
    for slot in slots:
        value = slot.value.lower()
        if not value:
            continue
        if slot.type == "money":
            texts[f"{int(value) // 100}.{int(value) % 100:02}"] = None
        elif slot.type == "number":
            numbers.append(value)
        else:
            texts[value] = None
    for _, id in sorted(consents):
        if id:
            texts[id.lower()] = None
    return verbatim.LeftOut(tuple(texts), frozenset(numbers))


class _Reading:
    """The acts of one scanned reply."""

    __slots__ = ("by_owner", "heard", "raw", "reader", "scan", "speech", "text")

    def __init__(self, reader: Reader, scan: Scanner, text: str, heard: Heard) -> None:
        self.reader, self.scan, self.text, self.heard = reader, scan, text, heard
        features = reader._lexicon.features
        by_owner: dict[int, told.GroupHits] = {}
        speech: list[Hit] = []
        for hit in scan.hits:
            feature = hit.feature
            if feature >= c.FIRST_FEATURE:
                owner, group = features[feature - c.FIRST_FEATURE]
                known = by_owner.get(owner)
                if known is None:
                    by_owner[owner] = [(group, hit)]
                else:
                    known.append((group, hit))
            elif feature:
                speech.append(hit)
        self.by_owner, self.speech = by_owner, speech
        self.raw: list[str] | None = None

    def acts(self) -> tuple[Act, ...]:
        """All acts: told, asked, proposed, instructed, then the rest."""
        reader, scan = self.reader, self.scan
        owners = reader._lexicon.owners
        values: dict[str, dict[str, told.GroupHits]] = {}
        near: dict[str, told.GroupHits] = {}
        units: dict[int, str] = {}
        facts: list[tuple[str, int, told.GroupHits]] = []
        console: list[tuple[str, int, told.GroupHits]] = []
        offered: dict[str, told.GroupHits] = {}
        for number, hits in self.by_owner.items():
            kind, name, value, groups = owners[number]
            if kind == VALUE:
                values.setdefault(name, {})[value] = hits
            elif kind == NEAR:
                near[name] = hits
            elif kind == UNIT:
                units.update((hit.start, name) for _, hit in hits)
            elif kind == FACT:
                facts.append((name, groups, hits))
            elif kind == CONSOLE:
                console.append((name, groups, hits))
            elif kind == OPERATION:
                offered[name] = hits
        found = self._proposals(offered)
        near_proposals = frozenset(
            n + k for offer in found for n in offer.sentences for k in (-1, 0, 1, 2)
        )
        acts: list[Act] = []
        detail = self._told(acts, values, near, units, near_proposals)
        wanted = talk.requests(self.speech, scan.sentences, scan.tokens)
        for name, groups, hits in facts:
            sentence = talk.asks(hits, groups, wanted)
            if sentence >= 0 and not self._echo(sentence):
                acts.append(Act("asked", name))
        order = {slot.name: k for k, slot in enumerate(reader._slots)}
        consequences = tuple(sorted(detail, key=order.__getitem__))
        acts += (Act("proposed", offer.operation, offer.id, consequences) for offer in found)
        for name, groups, hits in console:
            if talk.instructs(hits, groups, self.speech) or talk.begins_with(
                hits, groups, scan.sentences, scan.tokens
            ):
                acts.append(Act("instructed", name))
        acts += self._rest(sum(wanted))
        return tuple(acts)

    # -- told --------------------------------------------------------------------------------

    def _told(
        self,
        acts: list[Act],
        values: dict[str, dict[str, told.GroupHits]],
        near: dict[str, told.GroupHits],
        units: dict[int, str],
        near_proposals: frozenset[int],
    ) -> set[str]:
        """Append the told acts; return the slots that count as consequences of a proposal."""
        reader, scan = self.reader, self.scan
        detail: set[str] = set()
        for slot in reader._enums:
            if slot.name in values:
                for value in told.enum_values(slot, values[slot.name], scan.sentences):
                    acts.append(Act("told", slot.name, value))
        for slot in reader._statements:
            if slot.name in values:
                said, proposed = told.statement(slot, values[slot.name], near_proposals)
                acts += (Act("told", slot.name, value) for value in said)
                if proposed:
                    detail.add(slot.name)
        if reader._bound:
            self._bound(acts, near, units, near_proposals, detail)
        return detail

    def _bound(
        self,
        acts: list[Act],
        near: dict[str, told.GroupHits],
        units: dict[int, str],
        near_proposals: frozenset[int],
        detail: set[str],
    ) -> None:
        reader, scan = self.reader, self.scan
        words = reader._lexicon.numerals
        if not any(h.feature == VALUE_TOKEN or h.feature in words for h in scan.hits):
            return
        candidates = Finder(scan).run(words)
        about = [hit for hit in self.speech if hit.feature == c.ABOUT]
        seen: set[tuple[str, str]] = set()
        told_acts: list[tuple[str, str]] = []
        for slot, candidate in told.bind(reader._bound, near, candidates, units, scan.tokens):
            if about and told.approximate(candidate, scan.tokens, about):
                continue
            raw = self._raw(candidate.start) if slot.type == "id" else ""
            value = told.denotes(slot, candidate, raw)
            stance = candidate.hit.stance
            if candidate.hit.sentence in near_proposals and value == slot.value:
                if not stance & (c.UNSAID & ~(c.ASK | c.CONDITION)):
                    detail.add(slot.name)
            if not stance & c.UNSAID and (slot.name, value) not in seen:
                seen.add((slot.name, value))
                told_acts.append((slot.name, value))
        for slot in reader._bound:
            acts += (Act("told", name, value) for name, value in told_acts if name == slot.name)

    def _raw(self, i: int) -> str:
        """The token as written; its lower-case form marked where the two can't be matched."""
        token = self.scan.tokens[i]
        if self.text.count(token) == self.scan.text.count(token):
            return token
        if self.raw is None:
            self.raw = tokens_as_written(self.text, self.scan.tokens)
        return self.raw[i]

    # -- the rest ----------------------------------------------------------------------------

    def _echo(self, sentence: int) -> bool:
        """Whether the question only repeats the customer's own words."""
        part = self.scan.sentences[sentence]
        words = [t for t in self.scan.tokens[part.start : part.end] if t[0].isalnum()]
        if len(words) < 4:
            return False
        pairs = set(zip(words, words[1:], strict=False))
        for message in self.heard.customer:
            spoken = [t for t in tokens(plain(flat(message)).lower()) if t[0].isalnum()]
            held = pairs.intersection(zip(spoken, spoken[1:], strict=False))
            if 5 * len(held) >= 4 * len(pairs):
                return True
        return False

    def _proposals(self, offered: dict[str, told.GroupHits]) -> list[Offer]:
        if not offered:
            return []
        return proposals(
            offered,
            self.reader._operations,
            self.scan,
            self.speech,
            self.reader._consents,
            self._raw,
        )

    def _rest(self, questions: int) -> list[Act]:
        found: dict[Act, None] = {}
        for hit in self.speech:
            feature, stance = hit.feature, hit.stance
            if feature == c.REMAINS:
                if not stance & (c.NEG | c.DENIED | c.REPORT | c.QUOTE):
                    found[Act("anything_else")] = None
            elif feature == c.DONE:
                if not stance & (c.UNSAID | c.FUTURE):
                    found[Act("claimed_done")] = None
            elif feature == c.SOON:
                if not stance & (c.UNSAID & ~c.EPISTEMIC):
                    found[Act("promised", "time")] = None
            elif feature == c.GIFT:
                if not stance & c.UNSAID and stance & c.FUTURE:
                    found[Act("promised", "compensation")] = None
            elif feature == c.REFUSE:
                if not stance & (c.CONDITION | c.REPORT | c.QUOTE | c.ASK):
                    found[Act("refused")] = None
            elif feature == c.HAND_OVER:
                if not stance & (c.UNSAID & ~c.CONDITION):
                    found[Act("handed_over")] = None
            elif feature == c.COURTESY:
                found[Act("courtesy")] = None
        result = sorted(found)
        if questions:
            result.append(Act("question", "", str(questions)))
        return result


def tokens_as_written(text: str, lowered: list[str]) -> list[str]:
    """The same tokens with their case; a token that can't be matched is marked by ``?``."""
    written = tokens_of_case(text)
    if len(written) != len(lowered):
        return [f"?{token}" for token in lowered]
    return [w if w.lower() == t else f"?{t}" for w, t in zip(written, lowered, strict=True)]


def tokens_of_case(text: str) -> list[str]:
    """Split text with its case as ``tokens`` splits its lower-case form."""
    lowered = text.lower()
    if len(lowered) != len(text):
        return []
    found: list[str] = []
    at = 0
    for token in tokens(lowered):
        at = lowered.index(token, at)
        found.append(text[at : at + len(token)])
        at += len(token)
    return found
