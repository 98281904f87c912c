"""Numbers, money, dates and ids in a text, and the slots that they are bound to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from cirrus_env.nlu import cues as c
from cirrus_env.nlu.found import Hit
from cirrus_env.nlu.numerals import MONTHS
from cirrus_env.nlu.scanner import Scanner
from cirrus_env.tickets.model import Slot

MONEY: Final = "money"
DATE: Final = "date"
ID: Final = "id"
PLAIN: Final = "number"


class Candidate(NamedTuple):
    """A value found in the text.

    Attributes:
        kind: money, date, id or number.
        value: Canonical; for a date without a year ``--MM-DD``.
        sure: Whether it names its currency or unit itself.
        start: Its first token.
        end: The token after its last.
        hit: Where it stands and with what stance.
    """

    kind: str
    value: str
    sure: bool
    start: int
    end: int
    hit: Hit


def cents(digits: str) -> int | None:
    """Integer cents of an amount such as ``2,784.50``; None if it is no clean amount."""
    whole, _, fraction = digits.partition(".")
    if "," in whole:
        head, *groups = whole.split(",")
        if not 1 <= len(head) <= 3 or any(len(group) != 3 for group in groups):
            return None
        whole = whole.replace(",", "")
    if "." in fraction or "," in fraction or ":" in digits or len(whole) > 15:
        return None
    fraction = fraction.rstrip("0")
    if len(fraction) > 2:
        return None
    return int(whole) * 100 + int((fraction + "00")[:2])


def decimal(digits: str) -> str | None:
    """The shortest writing of a number; None if it is none."""
    whole, point, fraction = digits.partition(".")
    if "," in whole:
        head, *groups = whole.split(",")
        if not 1 <= len(head) <= 3 or any(len(group) != 3 for group in groups):
            return None
        whole = whole.replace(",", "")
    if not whole.isdigit() or (point and not fraction.isdigit()):
        return None
    fraction = fraction.rstrip("0")
    whole = whole.lstrip("0") or "0"
    return f"{whole}.{fraction}" if fraction else whole


def _iso(year: int, month: int, day: int) -> str | None:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{year:04}-{month:02}-{day:02}" if year else f"--{month:02}-{day:02}"


def find_values(
    scan: Scanner, numerals: Mapping[int, str], speech: Mapping[int, list[Hit]]
) -> list[Candidate]:
    """All numbers, amounts, dates and ids of a reply, in order.

    Args:
        scan: The scanned reply.
        numerals: Features of number words -> the number.
        speech: Hits of cues, by cue.
    """
    return _Finder(scan.tokens, speech).run(scan.hits, numerals)


class _Finder:
    __slots__ = ("currency", "found", "taken", "tokens")

    def __init__(self, tokens: list[str], speech: Mapping[int, list[Hit]]) -> None:
        self.tokens = tokens
        self.taken = -1
        self.found: list[Candidate] = []
        self.currency: dict[int, int] = {}
        for cue in (c.CENTS, c.YUAN, c.OTHER_MONEY):
            if cue in speech:
                self.currency.update((hit.start, cue) for hit in speech[cue])

    def run(self, hits: list[Hit], numerals: Mapping[int, str]) -> list[Candidate]:
        """All candidates; of number words that begin at one place the longest counts."""
        words: dict[int, tuple[Hit, str]] = {}
        if numerals:
            for hit in hits:
                if hit.features[-1] in numerals:
                    words[hit.start] = (hit, numerals[hit.features[-1]])
        for hit in hits:
            if hit.start < self.taken:
                continue
            if not hit.features[0]:
                self._token(hit)
            elif hit.start in words:
                longest, value = words[hit.start]
                self._add(PLAIN, value, False, longest.start, longest.end, longest)
        return self.found

    def _add(
        self, kind: str, value: str | None, sure: bool, start: int, end: int, hit: Hit
    ) -> None:
        if value is not None:
            self.found.append(Candidate(kind, value, sure, start, end, hit))
            self.taken = end

    def _at(self, i: int) -> str:
        return self.tokens[i] if 0 <= i < len(self.tokens) else ""

    def _token(self, hit: Hit) -> None:
        i, token = hit.start, self.tokens[hit.start]
        if not token[0].isdecimal() or not token[0].isascii():
            self._add(ID, token, True, i, i + 1, hit)
        elif token.isdigit() or token.replace(",", "").replace(".", "").isdigit():
            if not (token.count(".") == 3 or self._date(hit, i, token)):
                self._number(hit, i, token)
            elif token.count(".") == 3:
                self._add(ID, token, True, i, i + 1, hit)
        elif token[4:5] in ("-", "/"):
            parts = token[:10].split("t")[0].replace("/", "-").split("-")
            if len(parts) == 3 and all(part.isdigit() for part in parts):
                year, month, day = map(int, parts)
                self._add(DATE, _iso(year, month, day), True, i, i + 1, hit)
        elif "-" in token:
            self._add(ID, token, True, i, i + 1, hit)

    def _date(self, hit: Hit, i: int, token: str) -> bool:
        """Dates in words around the number: 4 December 2026, Dec 4, 2026年12月4日."""
        if not token.isdigit() or len(token) > 4:
            return False
        at, number = self._at, int(token)
        if at(i + 1) == "年" and at(i + 2).isdigit() and at(i + 3) == "月" and at(i + 4).isdigit():
            self._add(DATE, _iso(number, int(at(i + 2)), int(at(i + 4))), True, i, i + 6, hit)
            return True
        if at(i + 1) == "月" and at(i + 2).isdigit() and len(at(i + 2)) <= 2:
            self._add(DATE, _iso(0, number, int(at(i + 2))), True, i, i + 4, hit)
            return True
        j = i + 1
        if at(j) in ("st", "nd", "rd", "th"):
            j += 1
        if at(i - 1) in MONTHS:
            k = j + 1 if at(j) == "," else j
            year = int(at(k)) if len(at(k)) == 4 and at(k).isdigit() else 0
            end = k + 1 if year else j
            self._add(DATE, _iso(year, MONTHS[at(i - 1)], number), True, i - 1, end, hit)
            return True
        if at(j) == "of":
            j += 1
        if at(j) in MONTHS:
            k = j + 2 if at(j + 1) == "," else j + 1
            year = int(at(k)) if len(at(k)) == 4 and at(k).isdigit() else 0
            end = k + 1 if year else j + 1
            self._add(DATE, _iso(year, MONTHS[at(j)], number), True, i, end, hit)
            return True
        return False

    def _number(self, hit: Hit, i: int, token: str) -> None:
        if self._negative(hit, i):
            self._add(MONEY, f"-{token}", True, i, i + 1, hit)
            return
        before, after = self.currency.get(i - 1), self.currency.get(i + 1)
        if c.OTHER_MONEY in (before, after):
            name = self.tokens[i - 1] if before == c.OTHER_MONEY else self.tokens[i + 1]
            self._add(MONEY, f"{name} {token}", True, i, i + 1, hit)
        elif c.YUAN in (before, after):
            amount = cents(token)
            value = f"{token}" if amount is None else str(amount)
            end = i + 2 if after == c.YUAN else i + 1
            if after == c.YUAN and self._at(end).isdigit():
                amount = self._small(amount, end)
                value, end = str(amount), self.taken
            self._add(MONEY, value, True, i, end, hit)
        elif after == c.CENTS and token.replace(",", "").isdigit():
            self._add(MONEY, token.replace(",", ""), True, i, i + 2, hit)
        elif "." in token and len(token.rpartition(".")[2]) == 2 and self._at(i + 1) != "%":
            amount = cents(token)
            self._add(MONEY, None if amount is None else str(amount), False, i, i + 1, hit)
        elif len(token) >= 9 and token.isdigit():
            self._add(ID, token, True, i, i + 1, hit)
        else:
            self._add(PLAIN, decimal(token), False, i, i + 1, hit)

    def _negative(self, hit: Hit, i: int) -> bool:
        """Whether a minus sign stands before the number, rather than a list's dash."""
        before = self._at(i - 1)
        if self.currency.get(i - 1) == c.YUAN:
            before = self._at(i - 2)
        return before == "minus" or (before == "-" and self._at(i - 2) != "\n" and i > 1)

    def _small(self, amount: int | None, i: int) -> int:
        """Jiao and fen after yuan: 27元8角4分."""
        total, at = amount or 0, self._at
        for sign, worth in (("角", 10), ("分", 1)):
            if at(i).isdigit() and len(at(i)) == 1 and at(i + 1) == sign:
                total += int(at(i)) * worth
                i += 2
        self.taken = i
        return total


def fits(slot: Slot, candidate: Candidate, units: Mapping[int, str]) -> bool:
    """Whether the candidate could be a value of this slot.

    Args:
        slot: A money, number, date or id slot.
        candidate: A value found.
        units: Start token of each unit phrase -> the slot that it belongs to.
    """
    if slot.type == "number":
        if candidate.kind == MONEY and not candidate.sure and not slot.unit:
            return True
        if candidate.kind not in (PLAIN, MONEY) or (candidate.kind == MONEY and candidate.sure):
            return False
        if not slot.unit:
            return True
        return any(units.get(candidate.end + k) == slot.name for k in (0, 1, 2))
    if slot.type == "id":
        return candidate.kind == ID and _shape(candidate.value) == _shape(slot.value.lower())
    return candidate.kind == slot.type


def _shape(id: str) -> str:
    """What ids of one kind have in common: the letters before the first hyphen, or digits, IP."""
    if id.isdigit():
        return "digits"
    if id.replace(".", "").isdigit():
        return "address"
    return id.partition("-")[0] if "-" in id else "word"
