"""The end of a sentence: questions, rules and afterthoughts change what was said before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cirrus_env.nlu import cues as c
from cirrus_env.nlu import words_en as en
from cirrus_env.nlu.found import Sentence
from cirrus_env.nlu.wording import word_set

if TYPE_CHECKING:
    from cirrus_env.nlu.scanner import Scanner

_BULLETS: Final = frozenset("-\u2022\u00b7\u2013\u25cf\u25cb\u25aa")
_LEADS: Final = word_set("so and but then also or now well ok okay please otherwise")
_BEFORE_SUBJECT: Final = _LEADS | word_set("for with on in after among , ") | _BULLETS
_SUBJECTS: Final = word_set("you it i the your this that there we my its these")
_AUXILIARIES: Final = word_set("""
    is are was were do does did can could would will shall should may might have has had
""")
_INVERTED: Final = frozenset(("should", "had", "were"))
_SHORT: Final = 4
_HAPPENED: Final = word_set("being been was were")
"""Words of what took place, not of a rule."""
_NEXT_STEPS: Final = word_set("restart reboot payment step colleague")
"""What is missing here: "a restart is needed" tells of this server, "a server restarts" of many."""
_NO_DOING: Final = word_set("nothing something anything everything during")
_OBJECTS: Final = word_set("it them this your")
_WHOLE: Final = word_set("all each every any both none most some")
_PARTS: Final = word_set("its it the them this that these those your our what of")
"""After a word of number: of one thing ("all of its data"), not of all there are."""
_RELATIVES: Final = word_set("that which who whose where you customers")


def close(scan: Scanner, i: int, asked: bool) -> None:
    """End the sentence before token ``i``: settle what only its end shows."""
    hits, first = scan.hits, scan.sentence_hit
    last = len(hits)
    start = scan.sentence_start
    if scan.tail >= 0 and (
        scan.tail_bit == c.CONDITION or scan.tail_hit == last or hits[-1].start < scan.tail_end
    ):
        for hit in hits[max(scan.tail, first) : scan.tail_hit]:
            hit.stance |= scan.tail_bit
    if scan.denied_at == i and scan.segment_start >= i - 1 > start:
        for hit in hits[first:last]:
            hit.stance |= c.NEG
    if i > start:
        asked = asked or _unmarked_question(scan, i)
        if last > first:
            if asked:
                begin = _question_start(scan, i)
                for hit in hits[first:last]:
                    if hit.start >= begin:
                        hit.stance |= c.ASK
            elif scan.tokens[start] in _INVERTED and i - start > _SHORT:
                for hit in hits[first:last]:  # "Should all be in order, 12 CNY come back"
                    hit.stance |= c.CONDITION
            elif not scan.listed and _is_rule(scan, i):
                for hit in hits[first:last]:
                    hit.stance |= c.GENERAL
            if scan.cause:
                for hit in hits[first:last]:
                    hit.stance &= ~c.ASIDE
        scan.sentences.append(Sentence(start, i, first, last, asked, scan.listed, scan.either))
        scan.number += 1
    scan.clause += 1
    scan.clause_hit = scan.segment_hit = scan.sentence_hit = last
    scan.tail = -1
    scan.lost = 0
    scan.cause = scan.either = False


def _unmarked_question(scan: Scanner, i: int) -> bool:
    tokens, start = scan.tokens, scan.sentence_start
    if tokens[i - 1] in ("吗", "呢", "么"):
        return True
    return i - start > 2 and tokens[start] in _AUXILIARIES and tokens[start + 1] in _SUBJECTS


def _question_start(scan: Scanner, i: int) -> int:
    """Where the question begins: earlier clauses of the sentence are no part of it."""
    tokens, starts = scan.tokens, scan.starts
    tag = [hit for hit in scan.hits[scan.sentence_hit :] if c.TAG in hit.features]
    if tag and len(starts) > 1:
        last = tag[-1]
        if last.start - starts[-1] <= 1 and i - last.end <= 1:
            return scan.sentence_start
    asking = [h.start for h in scan.hits[scan.sentence_hit :] if c.INTERROGATIVE in h.features]
    earliest = asking[0] if asking else i
    for k, start in enumerate(starts):
        end = starts[k + 1] if k + 1 < len(starts) else i
        first = start
        while first < end and tokens[first] in _LEADS:
            first += 1
        if first < end and tokens[first] in en.OPENERS and not (k and _relative(tokens, first)):
            return scan.sentence_start if tokens[start] == "or" else start
        if start <= earliest < end:
            return start
    return scan.sentence_start


def _relative(tokens: list[str], i: int) -> bool:
    """Whether "which" or "where" goes on about what was said, as in "which happens by itself"."""
    word, following = tokens[i], tokens[i + 1]
    if word in ("where", "when"):
        return following not in _AUXILIARIES
    verb = following in en.FINITE or (following.endswith("s") and not following.endswith("ss"))
    return verb and word in ("which", "who")


def _is_rule(scan: Scanner, i: int) -> bool:
    tokens, first = scan.tokens, scan.sentence_start
    while first < i and (
        tokens[first] in _BEFORE_SUBJECT or tokens[first] in _BULLETS or tokens[first] == ","
    ):
        first += 1
    if first >= i:
        return False
    if tokens[first] in _WHOLE and not _PARTS.isdisjoint(tokens[first + 1 : first + 3]):
        return False
    if tokens[first] not in en.INDEFINITE:
        doing = tokens[first].endswith("ing") and tokens[first] not in _NO_DOING
        doing = doing and tokens[first + 1] not in _OBJECTS
        doing = doing and scan.hits[scan.sentence_hit].start == first
        if not doing:
            return False
    stretch = tokens[first:i]
    if stretch[0] in ("a", "an") and not _NEXT_STEPS.isdisjoint(stretch[1:2]):
        return False
    if not en.ANCHORS.isdisjoint(stretch):
        return False
    if not _HAPPENED.isdisjoint(stretch) and _RELATIVES.isdisjoint(stretch[:5]):
        return False
    return not any("-" in token and len(token) > 3 for token in stretch)
