"""Proposals: an operation on a named resource, put to the customer for a yes or no."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from cirrus_env.cloud.catalogue import catalogue
from cirrus_env.nlu import cues as c
from cirrus_env.nlu.found import Hit
from cirrus_env.nlu.scanner import Scanner
from cirrus_env.nlu.told import GroupHits
from cirrus_env.tickets.model import Groups

_SUCH_AS: Final = re.compile(r"such as ([a-z]+)-")
_OBJECT: Final = frozenset("将把")
"""Before an id: what is done to it comes after it."""
_TOGETHER: Final = 4
"""Operation words this near each other share their ids ("stop and release i-1")."""
_BARE: Final = 4
"""A question for permission of no more words than this is about what was said before."""
_UNMEANT: Final = c.NEG | c.DENIED | c.REPORT | c.QUOTE | c.MARKED | c.EPISTEMIC


class Offered(NamedTuple):
    """An operation that an assistant may propose.

    Attributes:
        groups: Its proposal wordings.
        prefix: What ids of its resource begin with; ``#`` for digits, ``-`` for any with a hyphen,
            empty for any.
    """

    groups: Groups
    prefix: str


class Offer(NamedTuple):
    """One proposal found.

    Attributes:
        operation: The operation.
        id: The resource, in lower case.
        sentences: Where it stands.
    """

    operation: str
    id: str
    sentences: tuple[int, ...]


@lru_cache(maxsize=256)
def operations(services: tuple[str, ...], language: str) -> Mapping[str, Offered]:
    """The operations that an assistant may propose, with their wordings in this language."""
    if not services:
        return MappingProxyType({})
    found = {}
    for name, operation in catalogue(services).operations.items():
        groups = operation.propose.get(language, ())
        if groups and operation.actor == "assistant" and operation.resource:
            found[name] = Offered(groups, _prefix(operation.resource, operation.parameters))
    return MappingProxyType(found)


def _prefix(resource: str, parameters: Mapping[str, Any]) -> str:
    given = parameters.get("properties", {}).get(resource, {})
    match = _SUCH_AS.search(given.get("description", ""))
    if match:
        return f"{match[1]}-"
    if resource == "OrderId":
        return "#"
    return "-" if resource.startswith("InstanceI") else ""


class _Ask(NamedTuple):
    """An operation's words, complete in one sentence."""

    operation: str
    start: int
    end: int
    sentence: int
    groups: int


def proposals(
    offered: Mapping[str, GroupHits],
    known: Mapping[str, Offered],
    scan: Scanner,
    speech: Mapping[int, list[Hit]],
    consents: frozenset[tuple[str, str]],
) -> list[Offer]:
    """The proposals of a reply, in order of the text.

    An operation is proposed where its words stand with an id of its kind of resource in a sentence
    that asks for permission, in an item of a list under such a sentence, or in a statement of
    intent that a question for consent follows.
    """
    permitted = _permitted(scan, speech)
    if not permitted:
        return []
    asks = _asks(offered, known, scan, permitted)
    if not asks:
        return []
    found: dict[tuple[str, str], Offer] = {}
    for sentence in dict.fromkeys(ask.sentence for ask in asks):
        here = [ask for ask in asks if ask.sentence == sentence]
        for ask, position in _pair(here, known, scan, sentence):
            id = scan.tokens[position]
            if scan.sentences[sentence].either and _rivals(ask, here):
                continue
            found.setdefault((ask.operation, id), Offer(ask.operation, id, (sentence,)))
    return _unambiguous(list(found.values()), asks, consents)


def _permitted(scan: Scanner, speech: Mapping[int, list[Hit]]) -> set[int]:
    """Sentences in which operations are proposed."""
    sentences = scan.sentences
    found = {h.sentence for h in speech.get(c.PERMIT, ()) if not h.stance & _UNMEANT}
    consents = [h.sentence for h in speech.get(c.GO_AHEAD, ()) if not h.stance & _UNMEANT]
    consents += (n for n in found if sentences[n].end - sentences[n].start <= _BARE)
    if consents:
        last = max(consents)
        for hit in speech.get(c.INTENT, ()):
            if hit.sentence <= last and not hit.stance & _UNMEANT:
                found.add(hit.sentence)
    for number in sorted(found):
        if not sentences[number].listed:
            for later in range(number + 1, len(sentences)):
                if not sentences[later].listed:
                    break
                found.add(later)
    return found


def _asks(
    offered: Mapping[str, GroupHits],
    known: Mapping[str, Offered],
    scan: Scanner,
    permitted: set[int],
) -> list[_Ask]:
    found: list[_Ask] = []
    inner = _inner(offered)
    for operation, hits in offered.items():
        groups = len(known[operation].groups)
        met: dict[int, dict[int, Hit]] = {}
        for group, hit in hits:
            if hit.sentence not in permitted or hit.stance & _UNMEANT:
                continue
            if (hit.start, hit.end) in inner:
                continue
            if group == 0 and scan.tokens[hit.start].endswith("ed"):
                continue
            here = met.setdefault(hit.sentence, {})
            if group in here and group == 0 and len(here) == groups:
                found.append(_ask(operation, here, hit.sentence))
                here = met[hit.sentence] = {k: v for k, v in here.items() if k}
            here[group] = hit
            if len(here) == groups and groups == 1:
                found.append(_ask(operation, here, hit.sentence))
                met[hit.sentence] = {}
        if groups > 1:
            found += [
                _ask(operation, here, number) for number, here in met.items() if len(here) == groups
            ]
    return sorted(found, key=lambda ask: (ask.start, -ask.groups, -ask.end, ask.operation))


def _inner(offered: Mapping[str, GroupHits]) -> set[tuple[int, int]]:
    """Places of words that are but a part of a longer phrase: "renew" in "renew by hand"."""
    spans = {(hit.start, hit.end) for hits in offered.values() for _, hit in hits}
    wide = [span for span in spans if span[1] - span[0] > 1]
    return {
        (start, end)
        for start, end in spans
        if any(a <= start and end <= b and (a, b) != (start, end) for a, b in wide)
    }


def _ask(operation: str, hits: Mapping[int, Hit], sentence: int) -> _Ask:
    first = hits[0]
    return _Ask(operation, first.start, first.end, sentence, len(hits))


def _pair(
    asks: list[_Ask], known: Mapping[str, Offered], scan: Scanner, sentence: int
) -> list[tuple[_Ask, int]]:
    """Give each id of the sentence to the operation words before it, else to those after it.

    Words whose operation takes no such id are passed over: in "cancel the upgrade, order 1234" the
    order is what is cancelled.
    """
    part = scan.sentences[sentence]
    ids = [h.start for h in scan.hits[part.first : part.last] if not h.features[0]]
    taking: dict[int, list[str]] = {}
    for ask in asks:
        taking.setdefault(ask.start, []).append(known[ask.operation].prefix)
    starts = sorted(taking)
    found: list[tuple[_Ask, int]] = []
    claimed: dict[int, list[int]] = {}
    for position in ids:
        token = scan.tokens[position]
        fitting = [s for s in starts if any(_is_kind(token, prefix) for prefix in taking[s])]
        before = [start for start in fitting if start < position]
        after = [start for start in fitting if start > position]
        if after and not _OBJECT.isdisjoint(scan.tokens[max(0, position - 4) : position]):
            before = []
        if before or after:
            claimed.setdefault(before[-1] if before else after[0], []).append(position)
    for k, start in enumerate(starts):
        later = [s for s in starts[k + 1 :] if s in claimed]
        if start not in claimed and later and later[0] - start <= _TOGETHER:
            claimed[start] = claimed[later[0]]
    for ask in asks:
        for position in claimed.get(ask.start, ()):
            if _is_kind(scan.tokens[position], known[ask.operation].prefix):
                found.append((ask, position))
    return found


def _is_kind(token: str, prefix: str) -> bool:
    if prefix == "#":
        return len(token) >= 9 and token.isdigit()
    if prefix == "-":
        return "-" in token
    if prefix:
        return token.startswith(prefix)
    return "-" in token or (len(token) >= 9 and token.isdigit())


def _rivals(ask: _Ask, here: list[_Ask]) -> bool:
    return any(other.start != ask.start for other in here)


def _unambiguous(
    found: list[Offer], asks: list[_Ask], consents: frozenset[tuple[str, str]]
) -> list[Offer]:
    """Of operations read from the same words for the same id, keep one.

    The one with more phrase groups wins, then one that this customer has a mind about, then the
    longer phrase, then the first. Two that the customer has a mind about are two ways to the same
    thing, such as the two services' settings of a renewal: it agrees to either.
    """
    words = {(ask.operation, ask.sentence): ask for ask in reversed(asks)}
    kept: dict[tuple[int, str], list[Offer]] = {}
    for offer in found:
        ask = words[offer.operation, offer.sentences[0]]
        key = (ask.start, offer.id)
        if key not in kept:
            kept[key] = [offer]
            continue
        rival = kept[key][0]
        other = words[rival.operation, rival.sentences[0]]
        mind, rival_mind = ((o.operation, o.id) in consents for o in (offer, rival))
        if mind and rival_mind and ask.groups == other.groups:
            kept[key].append(offer)
        elif (ask.groups, mind, ask.end) > (other.groups, rival_mind, other.end):
            kept[key] = [offer]
    return [offer for offers in kept.values() for offer in offers]
