"""What separates clauses, sentences and quotations, and how much of the stance survives it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from cirrus_env.nlu import cues as c
from cirrus_env.nlu import words_en as en
from cirrus_env.nlu.endings import close

if TYPE_CHECKING:
    from cirrus_env.nlu.scanner import Scanner

_BULLETS: Final = frozenset("-\u2022\u00b7\u2013\u25cf\u25cb\u25aa")
_BREAKS: Final = frozenset(",.;?!:\n")
CJK: Final = "\u3400"
"""CJK characters are not below this one."""
_JOINING: Final = frozenset(("and", "but", "so", "which", "because"))
_RELATIVE: Final = frozenset(("that", "which", "who", "whom"))
_ANY_MORE: Final = frozenset(("more", "longer", "anymore"))
_CJK_END: Final = "\ua000"


def _segment(scan: Scanner, i: int, end: int, fresh: int) -> None:
    scan.segment_hit = fresh
    scan.segment_start = end
    scan.starts.append(end)


def _clause(scan: Scanner, i: int, end: int, fresh: int) -> None:
    _segment(scan, i, end, fresh)
    scan.clause += 1
    scan.clause_hit = fresh
    scan.tail = -1
    scan.lost = 0


def _because(scan: Scanner, i: int, end: int, fresh: int) -> None:
    after = scan.tokens[scan.denied_at : scan.denied_at + 3]
    if scan.stance & c.NEG and not en.NEGATED_EVENT.isdisjoint(after):
        scan.stance |= c.DENIED
    _so(scan, i, end, fresh)


def _so(scan: Scanner, i: int, end: int, fresh: int) -> None:
    scan.cause = True
    _clause(scan, i, end, fresh)


def _comma(scan: Scanner, i: int, end: int, fresh: int) -> None:
    local = scan.stance & c.LOCAL
    _back_to_server(scan, end)
    scan.tail = -1
    if local and _relative(scan):
        scan.stance &= ~c.LOCAL
    elif local or scan.lost:
        _across(scan, i, local)
    _segment(scan, i, end, fresh)


def _back_to_server(scan: Scanner, end: int) -> None:
    """An aside ends where the server itself is spoken of again."""
    if scan.stance & c.ASIDE and not en.THE_SERVER.isdisjoint(scan.tokens[end : end + 3]):
        scan.stance &= ~c.ASIDE


def _across(scan: Scanner, i: int, local: int) -> None:
    """A comma ends a negation or modal, unless no new clause begins after it."""
    tokens = scan.tokens
    if tokens[i - 1] in ("no", "不", "没有", "没"):
        scan.stance &= ~c.NEG
        return
    stretch = tokens[i + 1 : i + 13]
    for k, token in enumerate(stretch):
        if token in _BREAKS:
            del stretch[k:]
            break
    if stretch and (stretch[0] in en.ANEW or CJK < stretch[0] < _CJK_END):
        scan.stance &= ~c.LOCAL
        scan.lost = 0
    elif en.FINITE.isdisjoint(stretch):
        if stretch and stretch[0] not in _JOINING:
            scan.stance |= scan.lost
        scan.lost = 0
    else:
        leading = scan.denied_at - scan.sentence_start <= 2
        scan.lost = local & ~c.NEG if leading else local
        scan.stance &= ~c.LOCAL


def _relative(scan: Scanner) -> bool:
    """Whether the last negation belongs to a relative clause: "that is not in use"."""
    before = scan.tokens[max(0, scan.denied_at - 3) : scan.denied_at - 1]
    return scan.denied_at > scan.segment_start and not _RELATIVE.isdisjoint(before)


def _and(scan: Scanner, i: int, end: int, fresh: int) -> None:
    following = scan.tokens[end]
    _back_to_server(scan, end)
    if _relative(scan) or scan.tokens[i - 1] in _ANY_MORE:
        scan.stance &= ~c.LOCAL  # "that nothing uses any more and a snapshot"
    if following in en.AFTER_AND or following > "\u2fff":
        scan.stance &= ~c.LOCAL
    _segment(scan, i, end, fresh)


def _colon(scan: Scanner, i: int, end: int, fresh: int) -> None:
    scan.carry = scan.stance & c.CARRIED
    if scan.stance & c.HEDGE:
        scan.carry |= c.EPISTEMIC
    scan.lost = 0
    scan.segment_hit, scan.segment_start = fresh, end
    scan.starts.append(end)


def _quote(scan: Scanner, i: int, end: int, fresh: int) -> None:
    tokens = scan.tokens
    count = scan.count
    close = position(tokens, '"', end, count)
    line = position(tokens, "\n", end, close)
    if line < close or close == count:
        scan.quoted, scan.special = line, max(scan.special, line)
        return
    short = 8 if tokens[end] > "\u2fff" else 4
    if close - end <= short:
        scan.marked = close + 1
    else:
        scan.quoted = close + 1
    scan.special = max(scan.special, close + 1)


def _newline(scan: Scanner, i: int, end: int, fresh: int) -> None:
    tokens = scan.tokens
    close(scan, i, False)
    scan.sentence_start = scan.segment_start = end
    scan.starts = [end]
    following = tokens[end]
    if following == "\n":
        scan.stance = 0
        return
    after = tokens[end + 1]
    numbered = (following.isdigit() or len(following) == 1) and after in (".", ")", "、")
    if following == "(" and tokens[min(end + 2, scan.count)] == ")":
        numbered = True
    if following in _BULLETS or numbered:
        scan.listed = True
        if numbered:
            scan.cue_end = end + 2
    elif scan.listed or (i and tokens[i - 1] == "\n"):
        scan.listed = False
        scan.carry = 0
    scan.stance = scan.carry


def _stop(scan: Scanner, i: int, end: int, fresh: int) -> None:
    _end(scan, i, end, scan.tokens[end] == "?")


def _asked(scan: Scanner, i: int, end: int, fresh: int) -> None:
    _end(scan, i, end, True)


def _semicolon(scan: Scanner, i: int, end: int, fresh: int) -> None:
    carry = scan.carry
    _end(scan, i, end, False)
    scan.carry = scan.stance = carry


def _end(scan: Scanner, i: int, end: int, asked: bool) -> None:
    close(scan, i, asked)
    if not scan.listed:
        scan.carry = 0
    scan.sentence_start = scan.segment_start = end
    scan.starts = [end]
    scan.stance = scan.carry


def position(tokens: list[str], token: str, start: int, stop: int) -> int:
    """Where the token stands first; ``stop`` if it doesn't."""
    try:
        return tokens.index(token, start, stop)
    except ValueError:
        return stop


SEPARATORS: Final = MappingProxyType(
    {
        c.STOP: _stop, c.ASKED: _asked, c.SEMICOLON: _semicolon, c.NEWLINE: _newline,
        c.COLON: _colon, c.COMMA: _comma, c.DASH: _comma, c.PAREN: _comma, c.QUOTE_MARK: _quote,
        c.CONTRAST: _clause, c.BECAUSE: _because, c.SO: _so, c.AND: _and, c.SUBORDINATE: _segment,
    }
)  # fmt: skip
