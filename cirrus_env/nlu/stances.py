"""What cues do to the stance: negation, doubt, condition, report, withdrawal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from cirrus_env.nlu import cues as c
from cirrus_env.nlu import words_en as en
from cirrus_env.nlu.separators import CJK, SEPARATORS, position

if TYPE_CHECKING:
    from cirrus_env.nlu.scanner import Scanner

    Act = Callable[[Scanner, int, int, int], bool | None]

_OPENING: Final = frozenset(("that", "to", ":"))
"""What follows a denial of all that comes."""
_DATING: Final = frozenset(("in", "of", "until", "since", "last", "by", "before", "after"))
_ELSE: Final = frozenset(("otherwise", "否"))
"""How a condition begins that negates what was just said, and so leaves that as it is."""
_NEARBY: Final = 6
"""How far an "also" reaches for what it is said of."""


def _back(scan: Scanner, bit: int, fresh: int) -> None:
    """Set the bit on what the clause held before; once set, later hits carry it anyway."""
    if not scan.stance & bit:
        for hit in scan.hits[scan.segment_hit : fresh]:
            hit.stance |= bit


def _not(scan: Scanner, i: int, end: int, fresh: int) -> None:
    scan.denied_at = end


def _not_so(scan: Scanner, i: int, end: int, fresh: int) -> None:
    """Deny what the clause held before, or all that follows: "it is not true that"."""
    first, following = scan.segment_hit, scan.tokens[end]
    if first == fresh and (following in _OPENING or following > CJK):
        scan.stance |= c.DENIED
    if scan.tokens[scan.segment_start] in en.THAT:
        first = scan.sentence_hit
    for hit in scan.hits[max(first, scan.refuted) : fresh]:
        hit.stance |= c.NEG
    scan.refuted = fresh
    scan.stance |= c.NEG


def _modal(scan: Scanner, i: int, end: int, fresh: int) -> bool:
    """All but "may" where that is the month."""
    before, after = scan.tokens[i - 1], scan.tokens[end]
    if scan.tokens[i] == "may" and (before.isdigit() or after.isdigit() or before in _DATING):
        return True
    _back(scan, c.HEDGE, fresh)
    if i - scan.sentence_start <= 1 and scan.tokens[i] > CJK:
        scan.stance |= c.EPISTEMIC
    return False


def _afterthought(scan: Scanner, bit: int, i: int, end: int, fresh: int) -> None:
    """Remember a cue that opens the last part of a sentence: it may govern what precedes."""
    if i - scan.segment_start <= 1 and scan.segment_start > scan.sentence_start:
        scan.tail, scan.tail_bit, scan.tail_hit = scan.clause_hit, bit, fresh
        scan.tail_end = end


def _perhaps(scan: Scanner, i: int, end: int, fresh: int) -> None:
    _back(scan, c.EPISTEMIC, fresh)
    _afterthought(scan, c.EPISTEMIC, i, end, fresh)


def _if(scan: Scanner, i: int, end: int, fresh: int) -> None:
    if scan.tokens[i] in _ELSE:
        return
    _back(scan, c.CONDITION, fresh)
    _afterthought(scan, c.CONDITION, i, end, fresh)


def _reported(scan: Scanner, i: int, end: int, fresh: int) -> None:
    _afterthought(scan, c.REPORT, i, end, fresh)


def _also(scan: Scanner, i: int, end: int, fresh: int) -> bool:
    """What is said of the server itself is no aside: "it was also shut down inside"."""
    around = scan.tokens[max(scan.segment_start, i - _NEARBY) : end + _NEARBY]
    if not en.THE_SERVER.isdisjoint(around):
        return True
    _back(scan, c.ASIDE, fresh)
    return False


def _rule(scan: Scanner, i: int, end: int, fresh: int) -> None:
    _back(scan, c.GENERAL, fresh)


def _forged(scan: Scanner, i: int, end: int, fresh: int) -> None:
    """What claims to be a verdict is nobody's word."""
    for hit in scan.hits[max(scan.sentence_hit, scan.forged) : fresh]:
        hit.stance |= c.QUOTE
    scan.forged = fresh


def _data(scan: Scanner, i: int, end: int, fresh: int) -> None:
    """Braces hold data, such as a piece of a result."""
    scan.quoted = position(scan.tokens, "}", end, scan.count)
    scan.special = max(scan.special, scan.quoted)


def _this_case(scan: Scanner, i: int, end: int, fresh: int) -> None:
    """The rule just stated is this customer's case."""
    if scan.sentences and not scan.stance & c.UNSAID:
        for hit in scan.hits[scan.sentences[-1].first : fresh]:
            hit.stance &= ~c.GENERAL


def _cause(scan: Scanner, i: int, end: int, fresh: int) -> None:
    scan.cause = True


def _or(scan: Scanner, i: int, end: int, fresh: int) -> None:
    scan.either = True


def _withdrawn(scan: Scanner, i: int, end: int, fresh: int) -> None:
    if not scan.stance & (c.UNSAID & ~c.ASK):
        for hit in scan.hits[scan.withdrawn : fresh]:
            hit.stance |= c.QUOTE | c.RETRACTED
        scan.withdrawn = fresh


def _oops(scan: Scanner, i: int, end: int, fresh: int) -> None:
    """A word of self-correction takes back what precedes where it opens a sentence."""
    if i - scan.sentence_start <= 1:
        _withdrawn(scan, i, end, fresh)


def _choice(scan: Scanner, i: int, end: int, fresh: int) -> None:
    """What was just listed is left open: "one of these will be the way"."""
    first = scan.sentence_hit
    if first == fresh and scan.sentences:
        first = scan.sentences[-1].first
    for hit in scan.hits[first:fresh]:
        hit.stance |= c.EPISTEMIC


def _unreal(scan: Scanner, i: int, end: int, fresh: int) -> None:
    """What is told from here on is said to be none of it meant: an example, a joke, a falsehood."""
    if not scan.stance & (c.UNSAID & ~c.ASK):
        scan.unreal = True
        scan.special = scan.count


def _wrong_that(scan: Scanner, i: int, end: int, fresh: int) -> None:
    first = scan.sentence_hit
    content = any(
        hit.features[0] >= c.FIRST_FEATURE or not hit.features[0]
        for hit in scan.hits[max(first, scan.refused) : fresh]
    )
    if not content and scan.sentences:
        first = scan.sentences[-1].first
    for hit in scan.hits[max(first, scan.refused) : fresh]:
        hit.stance |= c.QUOTE
    scan.refused = fresh


ACTS: Final[Mapping[int, Act]] = MappingProxyType(
    {
        **SEPARATORS,
        c.NOT: _not, c.NOT_SO: _not_so, c.MODAL: _modal, c.PERHAPS: _perhaps, c.IF: _if,
        c.REPORTED: _reported, c.ALSO: _also, c.RULE: _rule, c.THIS_CASE: _this_case,
        c.FORGED: _forged, c.DATA: _data, c.CAUSE: _cause, c.OR: _or, c.WITHDRAWN: _withdrawn,
        c.WRONG_THAT: _wrong_that, c.UNREAL: _unreal, c.OOPS: _oops, c.CHOICE: _choice,
    }
)  # fmt: skip
"""What each cue does at token ``i`` (the cue ends before ``end``, the hits from ``fresh`` on lie
in or after it); true where the stance stays as it is."""
