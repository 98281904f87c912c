"""A ticket's phrases and the common cues, compiled once into one word tree."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from cirrus_env.nlu import cues as c
from cirrus_env.nlu import words_en, words_zh
from cirrus_env.nlu.normalise import flat, plain, tokens
from cirrus_env.nlu.numerals import NUMERALS
from cirrus_env.nlu.stems import forms, stem
from cirrus_env.tickets.model import Groups

Node = tuple[dict[str, "Node"], list[int], list[int]]
"""(children, [stance cue or 0], features)."""

VALUE, NEAR, UNIT, FACT, CONSOLE, OPERATION, NUMBER = range(7)
"""What an owner of phrases is."""

_SIGNS: Final = (
    (".", c.STOP), ("!", c.STOP), ("?", c.ASKED), ("\n", c.NEWLINE), ("\u2022", c.NEWLINE),
    (";", c.SEMICOLON), (":", c.COLON), (",", c.COMMA), ("\u2013", c.DASH), ("(", c.PAREN),
    (")", c.PAREN), ("[", c.PAREN), ("]", c.PAREN), ("|", c.PAREN), ('"', c.QUOTE_MARK),
)  # fmt: skip
_RIGID: Final = frozenset(
    [
        "will",
        "would",
        "could",
        "should",
        "might",
        "must",
        "shall",
        "may",
        "can",
        "not",
        "never",
        "no",
        "none",
        "nothing",
        "this",
        "his",
        "thus",
        "yes",
        "is",
        "was",
        "has",
        "does",
        "used",
        "unless",
        "less",
        "across",
        "always",
        "perhaps",
        "during",
        "being",
        "doing",
        "having",
        "going",
        "nor",
        "as",
        "its",
        "us",
        "thing",
        "things",
        "something",
        "anything",
        "everything",
        "need",
        "needs",
        "there",
        "these",
        "those",
    ]
)
"""Words that phrases never inflect."""


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
    """The compiled tree.

    Attributes:
        vocabulary: Every known surface form -> its canonical word; empty for words that are skipped.
        root: The tree's first level.
        features: (owner index, group index) by feature - ``FIRST_FEATURE``.
        owners: By index.
        covering: Features below this one belong to told values: a cue inside such a phrase is part
            of the phrase.
        numerals: Features of number words -> the number.
    """

    __slots__ = ("covering", "features", "numerals", "owners", "root", "vocabulary")

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.vocabulary: dict[str, str] = {}
        self.root: dict[str, Node] = {}
        self.features: list[tuple[int, int]] = []
        self.owners: list[Owner] = []
        self.numerals: dict[int, str] = {}
        self.covering = c.FIRST_FEATURE
        phrases: list[tuple[list[str], bool, int]] = []
        ordered = sorted(entries, key=lambda entry: entry.kind != VALUE)
        for entry in ordered:
            owner = len(self.owners)
            self.owners.append(Owner(entry.kind, entry.name, entry.value, len(entry.groups)))
            for number, group in enumerate(entry.groups):
                feature = c.FIRST_FEATURE + len(self.features)
                self.features.append((owner, number))
                rigid = entry.kind == NUMBER
                if rigid:
                    self.numerals[feature] = entry.name
                phrases += ((_words(phrase), not rigid, feature) for phrase in group)
            if entry.kind == VALUE:
                self.covering = c.FIRST_FEATURE + len(self.features)
        self._learn(phrases)
        for words, cue in _cues():
            self._add(words, cue)
        for words, _, feature in phrases:
            self._add(words, feature)

    def _learn(self, phrases: list[tuple[list[str], bool, int]]) -> None:
        known = self.vocabulary
        for words, _ in _cues():
            for word in words:
                if word.endswith("*"):
                    known.update((form, stem(word[:-1])) for form in forms(word[:-1]))
        for words, inflected, _ in phrases:
            for word in words:
                if inflected and word not in _RIGID and word not in words_en.SKIPPED:
                    known.update((form, stem(word)) for form in forms(word))
        for words, _ in _cues():
            for word in words:
                known.setdefault(word.rstrip("*") or word, word)
        for words, _, _ in phrases:
            for word in words:
                known.setdefault(word, word)
        known.update(dict.fromkeys(words_en.SKIPPED, ""))

    def _add(self, words: list[str], feature: int) -> None:
        known = self.vocabulary
        path = [known[w.rstrip("*") or w] for w in words]
        path = [word for word in path if word]
        if not path:
            return
        node: Node = self.root.setdefault(path[0], ({}, [0], []))
        for word in path[1:]:
            node = node[0].setdefault(word, ({}, [0], []))
        if feature < c.SPEECH:
            node[1][0] = feature
        elif feature not in node[2]:
            node[2].append(feature)


def _words(phrase: str) -> list[str]:
    return tokens(plain(flat(phrase)).lower().strip())


@lru_cache(maxsize=1)
def _cues() -> tuple[tuple[list[str], int], ...]:
    """All common cues, the weaker first: ``PLAIN`` wins over what it contains."""
    found: list[tuple[list[str], int]] = [([sign], cue) for sign, cue in _SIGNS]
    for table in (words_en.CUES, words_zh.CUES):
        for cue in sorted(table, key=lambda code: code == c.PLAIN):
            for phrase in table[cue]:
                starred = [w for w in phrase.split(" ") if w.endswith("*")]
                words = _words(phrase.replace("*", ""))
                for word in starred:
                    words[words.index(word[:-1])] = word
                found.append((words, cue))
    return tuple(found)


@lru_cache(maxsize=512)
def lexicon(entries: tuple[Entry, ...], numerals: bool) -> Lexicon:
    """The compiled lexicon of these static entries."""
    extra = [Entry(NUMBER, str(n), "", (words,)) for n, words in NUMERALS] if numerals else []
    return Lexicon([*entries, *extra])
