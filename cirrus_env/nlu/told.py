"""Which slots a reply tells, and with what value."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Final

from cirrus_env.nlu import cues as c
from cirrus_env.nlu.found import Hit, Sentence
from cirrus_env.nlu.values import Candidate, cents, fits
from cirrus_env.tickets.model import Slot

GroupHits = list[tuple[int, Hit]]
"""(group, hit), in order of the text."""

_NEGATED: Final = c.NEG | c.DENIED
_EITHER: Final = frozenset(("or", "/", "或", "还"))
_NOT: Final = frozenset(("not", "never", "没", "未", "并", "不"))
_BEFORE: Final = frozenset(
    ("under", "over", "above", "below", "some", "between", "around", "about")
)
"""Words that make only what follows approximate ("12 CNY under the five-day rule")."""
_COMPUTING: Final = frozenset(("vcpu", "cpu", "computing", "compute", "算"))
_BETWEEN: Final = _COMPUTING | frozenset((",", "and", "while", "whereas"))
_LEADING: Final = frozenset((",", "(", ":", "cny", "rmb", "¥", "at", "for", "每", "天", "日"))
_NEXT: Final = 8
_NO_ANCHORS: Final[dict[int, list[Hit]]] = {}
_DISTANCE_OF_A_COMMA: Final = 4
_APPROXIMATE: Final = 3
_start: Final = attrgetter("start")


def paragraphs(sentences: Sequence[Sentence]) -> Sequence[int]:
    """For each sentence its place, where the items of a list stand with what introduces them.

    Empty where there is no list.
    """
    if not any(sentence.listed for sentence in sentences):
        return ()
    return [*accumulate(int(not sentence.listed) for sentence in sentences)]


def complete(
    hits: Iterable[tuple[int, Hit]], groups: int, reach: int = 1, places: Sequence[int] = ()
) -> bool:
    """Whether all groups are met within ``reach`` sentences after the first, one of them unquoted.

    Args:
        hits: In order of the text.
        groups: How many groups there are.
        reach: 1 for adjacent sentences, 0 for the same.
        places: The places of the sentences where they are not numbered one by one.
    """
    latest: dict[int, int] = {}
    unmarked = -9
    for group, hit in hits:
        here = places[hit.sentence] if places else hit.sentence
        latest[group] = here
        if not hit.stance & c.MARKED:
            unmarked = here
        if len(latest) == groups:
            first = here - reach
            if unmarked >= first and min(latest.values()) >= first:
                return True
    return False


def enum_values(slot: Slot, hits: dict[str, GroupHits], sentences: Sequence[Sentence]) -> list[str]:
    """The values of an enum slot that the reply asserts as the cause of the present problem.

    One that it asserts and denies is told as ``not`` that value, which is never right.
    """
    found: dict[str, GroupHits] = {}
    denied: list[str] = []
    places = paragraphs(sentences)
    unmeant = c.NO_CAUSE if slot.value else c.UNSAID | c.ASIDE
    for value, groups in slot.values.items():
        here = hits.get(value)
        if not here:
            continue
        plain = [
            pair
            for pair in here
            if not pair[1].stance & (unmeant if pair[0] == 0 else unmeant & ~c.GENERAL)
        ]
        if not complete(plain, len(groups), 1, places) or _retracted(here, len(groups)):
            continue
        if _denied(here, len(groups)):
            denied.append(f"not {value}")
        else:
            found[value] = plain
    if found and len(hits) > 1:
        meant = {v: [pair for pair in h if not pair[1].stance & c.UNSAID] for v, h in hits.items()}
        found = {v: h for v, h in found.items() if not _one_of(v, h, meant, slot, sentences)}
    return [*found, *denied]


def _retracted(hits: GroupHits, groups: int) -> bool:
    """Whether this was said and taken back: then later words of the reply don't tell it again."""
    return complete([pair for pair in hits if pair[1].stance & c.RETRACTED], groups)


def _denied(hits: GroupHits, groups: int) -> bool:
    """Whether one sentence holds all of the groups and denies them, asserting none whole.

    What is said of the thing comes last in a sentence, so the last group met must be negated.
    """
    negated = [h.sentence for _, h in hits if h.stance & _NEGATED]
    for sentence in dict.fromkeys(negated):
        latest: dict[int, Hit] = {}
        plain: set[int] = set()
        for group, hit in hits:
            if hit.sentence == sentence and not hit.stance & (c.UNSAID & ~_NEGATED):
                latest.pop(group, None)
                latest[group] = hit
                if not hit.stance & _NEGATED:
                    plain.add(group)
        if len(latest) == groups and len(plain) < groups:
            if next(reversed(latest.values())).stance & _NEGATED:
                return True
    return False


def _one_of(
    value: str,
    here: GroupHits,
    meant: Mapping[str, GroupHits],
    slot: Slot,
    sentences: Sequence[Sentence],
) -> bool:
    """Whether the value is but one of the alternatives of a sentence ("A or B")."""
    groups = len(slot.values[value])
    for number in dict.fromkeys(h.sentence for _, h in here):
        if not sentences[number].either:
            continue
        if not complete([p for p in here if p[1].sentence == number], groups, 0):
            continue
        own = {(h.start, h.end) for _, h in here}
        for other, hits in meant.items():
            there = [p for p in hits if p[1].sentence == number]
            if other != value and complete(there, len(slot.values[other]), 0):
                return True
            if other != value and any(
                group == 0 and h.sentence == number and (h.start, h.end) not in own
                for group, h in hits
            ):
                return True
    return False


def statement(
    slot: Slot,
    hits: dict[str, GroupHits],
    near_proposals: frozenset[int],
    sentences: Sequence[Sentence],
) -> tuple[list[str], bool]:
    """Values of a statement slot that are asserted, and whether it is told with a proposal.

    Args:
        slot: The slot.
        hits: By value.
        near_proposals: Sentences inside or next to a proposal: there a consequence counts although
            it is asked or depends on the operation.
        sentences: Of the reply.
    """
    values: list[str] = []
    proposed = False
    places = paragraphs(sentences)
    for value, groups in slot.values.items():
        here = hits.get(value)
        if not here:
            continue
        here = [pair for pair in here if not pair[1].stance & c.INNER]
        count = len(groups)
        stances = 0
        for _, hit in here:
            stances |= hit.stance
        said = [pair for pair in here if not pair[1].stance & c.UNSAID]
        if stances & c.RETRACTED and _retracted(here, count):
            continue
        if complete(said, count, 1, places):
            values.append(value)
        if near_proposals and (value in values or stances & c.UNSAID):
            loose = [
                pair
                for pair in here
                if not pair[1].stance & (c.UNSAID & ~(c.ASK | c.CONDITION | c.HEDGE))
                and (not pair[1].stance & c.UNSAID or pair[1].sentence in near_proposals)
            ]
            if complete(loose, count, 1, places):
                proposed = True
                if value not in values:
                    values.append(value)
        if stances & _NEGATED and _denied(here, count):
            values.append("denied" if value == "said" else f"not {value}")
    return values, proposed


def bind(
    slots: Sequence[Slot],
    near: Mapping[str, GroupHits],
    candidates: Sequence[Candidate],
    units: Mapping[int, str],
    tokens: Sequence[str],
    keepers: Container[str],
) -> list[tuple[Slot, Candidate]]:
    """Bind each number, amount, date or id to the slot whose ``near`` phrase is nearest.

    One number serves one slot, and one phrase binds one number. A keeper takes its right
    value only, and before others.
    """
    pairs: list[tuple[int, int, int, int, int]] = []
    for k, slot in enumerate(slots):
        if slot.near:
            anchors = _anchors(slot, near[slot.name]) if slot.name in near else _NO_ANCHORS
            if not anchors:
                continue
        fitting = [n for n, candidate in enumerate(candidates) if fits(slot, candidate, units)]
        kept = 0
        if slot.name in keepers:
            right = slot.value.lower()
            fitting = [n for n in fitting if denotes(slot, candidates[n]).lower() == right]
            kept = len(tokens)
        if not slot.near:
            sure = (n for n in fitting if candidates[n].sure or slot.unit)
            own = slot.value.lower()
            for n in sure:  # of two such slots, an id is told of the one whose value it is
                nearer = -int(candidates[n].value == own)
                pairs.append((nearer, candidates[n].start, k, n, -1))
            continue
        denied = {
            (candidates[n].hit.sentence, candidates[n].hit.clause)
            for n in fitting
            if candidates[n].hit.stance & _NEGATED
        }
        for n in fitting:
            hit = candidates[n].hit
            places, corrected = anchors.get(hit.clause), -kept
            if places is not None and len(slot.near) > 1:
                if not _claimed(candidates[n], near[slot.name], fitting, candidates, tokens):
                    continue
            if places is None and not kept and (hit.sentence, hit.clause - 1) in denied:
                places, corrected = anchors.get(hit.clause - 1), len(tokens)
            for anchor in _around(candidates[n], places or ()):
                distance = _distance(candidates[n], anchor, tokens)
                start = anchor.start + max(corrected, 0)
                pairs.append((distance + min(corrected, 0), candidates[n].start, k, n, start))
    pairs.sort()
    bound: dict[int, int] = {}
    served: set[tuple[int, int]] = set()
    for _, _, k, n, anchor_start in pairs:
        if n in bound or (k, anchor_start) in served:
            continue
        bound[n] = k
        if anchor_start >= 0:
            served.add((k, anchor_start))
    return [(slots[k], candidates[n]) for n, k in sorted(bound.items())]


def _claimed(
    candidate: Candidate,
    near: GroupHits,
    fitting: Sequence[int],
    candidates: Sequence[Candidate],
    tokens: Sequence[str],
) -> bool:
    """Whether the number is that of the thing that the last group names: "2.16 a day for its disk".

    Each such word speaks for the number nearest to it, unless something stands between.
    """
    last = max(group for group, _ in near)
    for group, hit in near:
        if group != last or hit.clause != candidate.hit.clause:
            continue
        rivals = [candidates[n] for n in fitting if candidates[n].hit.clause == hit.clause]
        nearest = min(rivals, key=lambda rival: _distance(rival, hit, tokens))
        if nearest is candidate:
            first, second = sorted(((hit.start, hit.end), (candidate.start, candidate.end)))
            between = list(tokens[first[1] : second[0]])
            while (
                between and between[-1] in _LEADING
            ):  # "storage is charged as before, CNY 2 a day"
                between.pop()
            after = tokens[candidate.end : candidate.end + _NEXT]
            if _BETWEEN.isdisjoint(between) and _COMPUTING.isdisjoint(after):
                return True
    return False


def _anchors(slot: Slot, hits: Iterable[tuple[int, Hit]]) -> dict[int, list[Hit]]:
    """Clause -> the near phrases that it holds, where it holds all groups."""
    found: dict[int, list[tuple[int, Hit]]] = {}
    for group, hit in hits:
        found.setdefault(hit.clause, []).append((group, hit))
    return {
        clause: _apart([pair for pair in pairs if pair[0] == 0])
        for clause, pairs in found.items()
        if len({group for group, _ in pairs}) == len(slot.near)
    }


def _apart(pairs: Sequence[tuple[int, Hit]]) -> list[Hit]:
    """The hits without those that lie inside or overlap an earlier one."""
    kept: list[Hit] = []
    for _, hit in pairs:
        if not kept or hit.start >= kept[-1].end:
            kept.append(hit)
        elif hit.start == kept[-1].start:
            kept[-1] = hit
    return kept


def _around(candidate: Candidate, hits: Sequence[Hit]) -> Sequence[Hit]:
    """The nearest few of the hits, which stand in order of the text."""
    after = bisect_left(hits, candidate.start, key=_start)
    return hits[max(0, after - 2) : after + 2]


def _distance(candidate: Candidate, hit: Hit, tokens: Sequence[str]) -> int:
    """In half tokens, so that of two as near the number after the phrase wins."""
    if candidate.start >= hit.end:
        gap = 2 * (candidate.start - hit.end)
        crossed = tokens[hit.end : candidate.start].count(",")
    else:
        gap = 2 * max(0, hit.start - candidate.end) + 1
        between = tokens[candidate.end : hit.start]
        crossed = between.count(",") + 4 * between.count("and")
    return gap + 2 * _DISTANCE_OF_A_COMMA * crossed


def alternatives(candidates: Sequence[Candidate], tokens: Sequence[str]) -> set[int]:
    """Places of candidates of which the text leaves open which one holds ("A or B")."""
    found: set[int] = set()
    for one, other in pairwise(candidates):
        between = tokens[one.end : other.start]
        if one.kind == "id" and other.kind == "number" and between == ["/"]:
            continue  # a block of addresses: 198.51.100.7/32
        if len(between) <= _APPROXIMATE and not _EITHER.isdisjoint(between):
            found |= {one.start, other.start}
    return found


def disowned(candidate: Candidate, tokens: Sequence[str]) -> bool:
    """Whether what is said of the id right after it is negated ("order 12 was not paid")."""
    return not _NOT.isdisjoint(tokens[candidate.end : candidate.end + 2])


def approximate(candidate: Candidate, about: Sequence[Hit], tokens: Sequence[str]) -> bool:
    """Whether such a word stands at the value."""
    after = bisect_left(about, candidate.start, key=_start)
    for hit in about[max(0, after - 2) : after + 2]:
        if hit.start == candidate.end and tokens[hit.start] not in _BEFORE:
            return True
        between = tokens[hit.end : candidate.start]
        if hit.end <= candidate.start and len(between) < _APPROXIMATE and "," not in between:
            return True
    return False


def denotes(slot: Slot, candidate: Candidate) -> str:
    """The told value in the slot's own writing where it is the right one."""
    if slot.type == "money" and candidate.value.startswith("-"):
        debt = any("negative" in group or "负" in group for group in slot.near)
        amount = cents(candidate.value[1:]) if debt else None
        return candidate.value if amount is None else str(amount)
    if slot.type == "date" and candidate.value.startswith("--"):
        return slot.value if slot.value[5:] == candidate.value[2:] else candidate.value
    if slot.type == "number" and candidate.kind == "money":
        whole, rest = divmod(int(candidate.value), 100)
        return f"{whole}.{rest:02}".rstrip("0").rstrip(".")
    return candidate.value
