"""What a reader looks for: the common cues, and one ticket's phrases compiled once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from operator import attrgetter
from typing import Final, NamedTuple

from cirrus_env.nlu import cues as c
from cirrus_env.nlu import words_en, words_zh
from cirrus_env.nlu.numerals import NUMERALS
from cirrus_env.nlu.tree import Tree
from cirrus_env.tickets.model import Groups

VALUE, NEAR, UNIT, FACT, CONSOLE, OPERATION, NUMBER = range(7)
"""What an owner of phrases is."""

_SIGNS: Final = (
    (".", c.STOP), ("!", c.STOP), ("?", c.ASKED), ("\n", c.NEWLINE), ("\u2022", c.NEWLINE),
    (";", c.SEMICOLON), (":", c.COLON), (",", c.COMMA), ("\u2013", c.DASH), ("(", c.PAREN),
    (")", c.PAREN), ("[", c.PAREN), ("]", c.PAREN), ("|", c.PAREN), ('"', c.QUOTE_MARK),
    ("{", c.DATA),
)  # fmt: skip


class Owner(NamedTuple):
    """Who a complete set of phrase groups speaks for.

    Attributes:
        kind: One of ``VALUE`` ... ``NUMBER``.
        name: The slot, fact, console action, operation or number.
        value: The value of a ``VALUE``.
        groups: How many groups it takes.
    """

    kind: int
    name: str
    value: str
    groups: int


class Entry(NamedTuple):
    """Phrase groups to compile, as static data."""

    kind: int
    name: str
    value: str
    groups: Groups


class Lexicon:
    """One ticket's phrases.

    Attributes:
        tree: All of them.
        features: (owner index, group index) by feature - ``FIRST_FEATURE``.
        owners: By index.
        covering: Features below this one belong to told values: a cue inside such a phrase is part
            of the phrase.
        operating: Features from this one on are words of operations or numbers.
        counting: Features from this one on are number words.
        numerals: Features of number words -> the number.
    """

    __slots__ = (
        "counting", "covering", "features", "numerals", "operating", "owners", "tree",
    )  # fmt: skip

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.features: list[tuple[int, int]] = []
        self.owners: list[Owner] = []
        self.numerals: dict[int, str] = {}
        self.covering = c.FIRST_FEATURE
        phrases: list[tuple[str, bool, int, int]] = []
        self.operating = self.counting = 0
        for entry in sorted(entries, key=attrgetter("kind")):
            owner, next_feature = len(self.owners), c.FIRST_FEATURE + len(self.features)
            if entry.kind >= OPERATION and not self.operating:
                self.operating = next_feature
            if entry.kind >= NUMBER and not self.counting:
                self.counting = next_feature
            self.owners.append(Owner(entry.kind, entry.name, entry.value, len(entry.groups)))
            for number, group in enumerate(entry.groups):
                feature = c.FIRST_FEATURE + len(self.features)
                self.features.append((owner, number))
                phrases += ((phrase, entry.kind != NUMBER, 0, feature) for phrase in group)
                if entry.kind == NUMBER:
                    self.numerals[feature] = entry.name
            if entry.kind == VALUE:
                self.covering = c.FIRST_FEATURE + len(self.features)
        end = c.FIRST_FEATURE + len(self.features)
        self.operating = self.operating or end
        self.counting = self.counting or end
        self.tree = Tree(words_en.STRIPPED, phrases)


@lru_cache(maxsize=512)
def lexicon(entries: tuple[Entry, ...], numerals: bool) -> Lexicon:
    """The compiled lexicon of these static entries."""
    extra = [Entry(NUMBER, str(n), "", (words,)) for n, words in NUMERALS] if numerals else []
    return Lexicon([*entries, *extra])


@lru_cache(maxsize=2)
def cue_tree(answers: bool) -> Tree:
    """The common cues.

    Args:
        answers: With the words of a customer's yes and no.
    """
    return Tree(frozenset(), _cues(answers))


def _cues(answers: bool) -> Iterator[tuple[str, bool, int, int]]:
    for sign, cue in _SIGNS:
        yield sign, False, cue, -1
    for table in (words_en.CUES, words_zh.CUES):
        for cue in sorted(table, key=lambda code: code == c.PLAIN):
            if cue >= c.YES and not answers:
                continue
            for phrase in table[cue]:
                if cue < c.SPEECH:
                    yield phrase, False, cue, -1
                else:
                    yield phrase, False, 0, cue
