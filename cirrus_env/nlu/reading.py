"""From a scanned reply to its dialogue acts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from cirrus_env.nlu import cues as c
from cirrus_env.nlu import talk, told
from cirrus_env.nlu import words_en as en
from cirrus_env.nlu.found import Hit
from cirrus_env.nlu.heard import Heard
from cirrus_env.nlu.lexicon import CONSOLE, FACT, NEAR, UNIT, VALUE, Lexicon
from cirrus_env.nlu.normalise import as_written, flat, plain, tokens
from cirrus_env.nlu.proposals import Offer, Offered, proposals
from cirrus_env.nlu.scanner import Scanner
from cirrus_env.nlu.subjects import Subjects, is_name, kind
from cirrus_env.nlu.told import GroupHits
from cirrus_env.nlu.values import find_values
from cirrus_env.nlu.wording import word_set
from cirrus_env.tickets.model import Slot
from cirrus_env.wire import Act

_PUTTING: Final = (c.PERMIT, c.GO_AHEAD)
_NOWHERE: Final[frozenset[int]] = frozenset()
_REPEATABLE: Final = 4
_PRONOUNS: Final = word_set("it its they their that 它 其 该")
"""How a sentence begins that goes on about what was named just before."""


class Subject(NamedTuple):
    """What replies of one scenario are read for.

    Attributes:
        subjects: The ids that the scenario is about.
        enums: Slots told by phrases.
        causes: Gives the phrases of the enum slots alone. All else differs between a ticket's
            variants: read with the rest, a reply could name in each variant another cause.
        statements: Slots of consequences.
        bound: Slots told by a number, amount, date or id.
        loose: Whether one of these needs no phrase nearby.
        order: Slot name -> its place.
        operations: What an assistant may propose.
        consents: (operation, id) that this customer has a mind about.
    """

    subjects: Subjects
    enums: tuple[Slot, ...]
    causes: Callable[[], Lexicon]
    statements: tuple[Slot, ...]
    bound: tuple[Slot, ...]
    loose: bool
    order: Mapping[str, int]
    operations: Mapping[str, Offered]
    consents: frozenset[tuple[str, str]]


class Asked(NamedTuple):
    """A question that may only repeat the customer's words: then it asks nothing.

    Attributes:
        act: Its place among the acts.
        pairs: Its neighbouring words; empty where it is too short to repeat anything.
    """

    act: int
    pairs: frozenset[tuple[str, str]]


class Reading(NamedTuple):
    """A reply as read, before it is held against what was heard.

    Attributes:
        acts: All acts.
        asked: Which of them ask a fact.
    """

    acts: tuple[Act, ...]
    asked: tuple[Asked, ...]

    def against(self, heard: Heard) -> tuple[Act, ...]:
        """The acts without the questions that repeat the customer's own words."""
        echoes = [a.act for a in self.asked if a.pairs and _echo(a.pairs, heard)]
        if not echoes:
            return self.acts
        return tuple(act for i, act in enumerate(self.acts) if i not in echoes)


class _Found:
    """The hits of a reply, sorted by what they are for."""

    __slots__ = (
        "console",
        "facts",
        "ids",
        "near",
        "numbers",
        "operating",
        "silent",
        "speech",
        "units",
        "values",
    )

    def __init__(self, lexicon: Lexicon, hits: list[Hit], tokens: list[str]) -> None:
        self.values: dict[str, dict[str, GroupHits]] = {}
        self.near: dict[str, GroupHits] = {}
        self.units: dict[int, str] = {}
        self.facts: list[tuple[str, int, GroupHits]] = []
        self.console: list[tuple[str, int, GroupHits]] = []
        self.speech: dict[int, list[Hit]] = {}
        self.numbers = False
        self.ids: list[Hit] = []
        self.silent = _NOWHERE
        self.operating: list[tuple[int, Hit]] = []
        last, owners, features = lexicon.operating, lexicon.owners, lexicon.features
        by_owner: dict[int, GroupHits] = {}
        for hit in hits:
            for feature in hit.features:
                if feature >= last:
                    self.operating.append((feature, hit))
                elif feature >= c.FIRST_FEATURE:
                    owner, group = features[feature - c.FIRST_FEATURE]
                    if owner in by_owner:
                        by_owner[owner].append((group, hit))
                    else:
                        by_owner[owner] = [(group, hit)]
                elif feature in self.speech:
                    self.speech[feature].append(hit)
                elif feature:
                    self.speech[feature] = [hit]
                else:
                    self.numbers = True
                    if "-" in tokens[hit.start]:
                        self.ids.append(hit)
        for number, found in by_owner.items():
            kind, name, value, groups = owners[number]
            if kind == VALUE:
                self.values.setdefault(name, {})[value] = found
            elif kind == NEAR:
                self.near[name] = found
            elif kind == UNIT:
                self.units.update((hit.start, name) for _, hit in found)
            elif kind == FACT:
                self.facts.append((name, groups, found))
            elif kind == CONSOLE:
                self.console.append((name, groups, found))

    def leave_out(self, sentences: frozenset[int]) -> None:
        """Forget what is told in these sentences."""
        if not sentences:
            return
        for values in self.values.values():
            for value, hits in values.items():
                values[value] = [pair for pair in hits if pair[1].sentence not in sentences]
        self.silent = sentences

    def offers(self, lexicon: Lexicon) -> dict[str, GroupHits]:
        """The operations' words, by operation; most replies propose nothing and need none."""
        owners, features = lexicon.owners, lexicon.features
        found: dict[str, GroupHits] = {}
        for feature, hit in self.operating:
            if feature < lexicon.counting:
                owner, group = features[feature - c.FIRST_FEATURE]
                found.setdefault(owners[owner].name, []).append((group, hit))
        return found


def reading(subject: Subject, lexicon: Lexicon, scan: Scanner, text: str) -> Reading:
    """All acts: told, asked, proposed, instructed, then the rest.

    Args:
        subject: What to read for.
        lexicon: The phrases that the scan was made with.
        scan: The scanned reply.
        text: The reply as flat text, with its case.
    """
    found = _Found(lexicon, scan.hits, scan.tokens)
    speech = found.speech
    acts: list[Act] = []
    asked: list[Asked] = []
    offers: list[Offer] = []
    around = _NOWHERE
    if not speech.keys().isdisjoint(_PUTTING):
        offered = found.offers(lexicon)
        if offered:
            offers = proposals(offered, subject.operations, scan, speech, subject.consents)
            around = frozenset(n + k for o in offers for n in o.sentences for k in (-1, 0, 1, 2))
    detail: set[str] = set()
    away = _NOWHERE
    if found.ids and (found.values or found.near):
        away = _elsewhere(subject, found.ids, scan, text)
        found.leave_out(away)
    if found.values:
        _enums(acts, subject, found, scan, away)
        _statements(acts, subject, found, scan, around, detail)
    if subject.bound and (found.near or subject.loose) and (found.numbers or found.operating):
        _bound(acts, subject, lexicon, found, scan, text, around, detail)
    wanted = talk.requests(speech.get(c.REQUEST, ()), scan.sentences, scan.tokens)
    for name, groups, hits in found.facts:
        sentence = talk.asks(hits, groups, wanted)
        if sentence >= 0:
            asked.append(Asked(len(acts), _pairs(scan, sentence)))
            acts.append(Act("asked", name))
    if offers:
        consequences = tuple(sorted(detail, key=subject.order.__getitem__))
        for offer in offers:
            id = as_written(text, offer.id)
            acts.append(Act("proposed", offer.operation, id, consequences))
    for name, groups, hits in found.console:
        if talk.instructs(hits, groups, speech.get(c.ADVICE, ()), scan.sentences, scan.tokens):
            acts.append(Act("instructed", name))
    acts += talk.speech_acts(speech)
    if wanted:
        acts.append(Act("question", "", str(len(wanted))))
    return Reading(tuple(acts), tuple(asked))


def _enums(
    acts: list[Act], subject: Subject, found: _Found, scan: Scanner, away: frozenset[int]
) -> None:
    """Told acts of enum slots."""
    if all(slot.name not in found.values for slot in subject.enums):
        return
    lexicon = subject.causes()
    alone = Scanner(scan.text, lexicon, scan.cues)
    alone.run()
    named = _Found(lexicon, alone.hits, alone.tokens)
    named.leave_out(away)
    for slot in subject.enums:
        if slot.name in named.values:
            for value in told.enum_values(slot, named.values[slot.name], alone.sentences):
                acts.append(Act("told", slot.name, value))


def _statements(
    acts: list[Act],
    subject: Subject,
    found: _Found,
    scan: Scanner,
    around: frozenset[int],
    detail: set[str],
) -> None:
    """Told acts of statement slots; ``detail`` gets the consequences of a proposal."""
    for slot in subject.statements:
        if slot.name in found.values:
            said, proposed = told.statement(slot, found.values[slot.name], around, scan.sentences)
            acts += (Act("told", slot.name, value) for value in said)
            if proposed:
                detail.add(slot.name)


def _bound(
    acts: list[Act],
    subject: Subject,
    lexicon: Lexicon,
    found: _Found,
    scan: Scanner,
    text: str,
    around: frozenset[int],
    detail: set[str],
) -> None:
    """Told acts of slots with a bound value."""
    candidates = find_values(scan, lexicon.numerals, found.speech)
    about, limits = found.speech.get(c.ABOUT), found.speech.get(c.AT_MOST)
    values: dict[tuple[str, str], None] = {}
    retracted: set[tuple[str, str]] = set()
    open_ones = told.alternatives(candidates, scan.tokens) if len(candidates) > 1 else ()
    for slot, candidate in told.bind(
        subject.bound, found.near, candidates, found.units, scan.tokens, subject.subjects.keepers
    ):
        if candidate.start in open_ones:
            continue
        if about and slot.type != "id" and told.approximate(candidate, about, scan.tokens):
            continue
        if limits and slot.type == "money" and told.approximate(candidate, limits, scan.tokens):
            continue
        if slot.type == "id":
            value = as_written(text, scan.tokens[candidate.start])
        else:
            value = told.denotes(slot, candidate)
        stance = candidate.hit.stance
        if slot.type != "id" and candidate.hit.sentence in found.silent:
            continue
        if stance & c.RETRACTED:
            retracted.add((slot.name, value))
        if slot.type == "id" and told.disowned(candidate, scan.tokens):
            if value not in subject.subjects.ids and value != slot.value:
                continue
        if candidate.hit.sentence in around and value == slot.value:
            if not stance & (c.UNSAID & ~(c.ASK | c.CONDITION | c.HEDGE)):
                detail.add(slot.name)
        if not stance & c.UNSAID and (slot.name, value) not in retracted:
            values[slot.name, value] = None
    if values:
        for slot in subject.bound:
            acts += (Act("told", name, value) for name, value in values if name == slot.name)


def _elsewhere(subject: Subject, ids: list[Hit], scan: Scanner, text: str) -> frozenset[int]:
    """Sentences about another resource: of some kind they name one, and none that is ours.

    A server named otherwise ("the server web-node-3") is one, too. What follows with "it" is about
    the same resource.
    """
    servers = {
        scan.tokens[hit.start]
        for hit in ids
        if not en.THE_SERVER.isdisjoint(scan.tokens[max(0, hit.start - 2) : hit.start])
    }
    ours, kinds = subject.subjects.ids, subject.subjects.kinds
    own = {kind(id) for id in ours}
    named: dict[int, dict[str, bool]] = {}
    looked: dict[str, bool] = {}
    for hit in ids:
        token = scan.tokens[hit.start]
        group = kind(token)
        if group not in kinds:
            if token not in servers or not is_name(token):
                continue
            group = ""
        if token not in looked:
            looked[token] = as_written(text, token) in ours
        right = named.setdefault(hit.sentence, {})
        right[group] = right.get(group, False) or looked[token]
    found: set[int] = set()
    other = False
    for number, sentence in enumerate(scan.sentences):
        right = named.get(number, {})
        if right:
            other = not any(right.values()) or not all(right[k] for k in right if k in own)
        elif other:
            other = scan.tokens[sentence.start] in _PRONOUNS
        if other:
            found.add(number)
    return frozenset(found)


def _pairs(scan: Scanner, sentence: int) -> frozenset[tuple[str, str]]:
    part = scan.sentences[sentence]
    words = [t for t in scan.tokens[part.start : part.end] if t[0].isalnum()]
    return frozenset(pairwise(words)) if len(words) >= _REPEATABLE else frozenset()


def _echo(pairs: frozenset[tuple[str, str]], heard: Heard) -> bool:
    """Whether the question only repeats the customer's own words."""
    return any(5 * len(pairs & _spoken(message)) >= 4 * len(pairs) for message in heard.customer)


@lru_cache(maxsize=4096)
def _spoken(message: str) -> frozenset[tuple[str, str]]:
    words = [t for t in tokens(plain(flat(message).lower())) if t[0].isalnum()]
    return frozenset(pairwise(words))
