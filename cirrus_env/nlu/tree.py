"""Word trees: many phrases looked up in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cirrus_env.nlu.normalise import flat, plain, tokens
from cirrus_env.nlu.stems import forms, stem
from cirrus_env.nlu.wording import word_set

Node = tuple[dict[str, "Node"], list[int], list[int]]
"""(children by canonical word, [what to do here or 0], features that end here)."""

RIGID: Final = word_set("""
    will would could should might must shall may can not never no none nothing this his thus yes
    is was has does used unless less across always perhaps during being doing having going nor as
    its us thing things something anything everything need needs there these those expired ended
    ran lapsed
""")
"""Words that phrases never inflect."""


_GONE: Final = "了"
_NOT: Final = frozenset("没不无")


class Tree:
    """Phrases as a tree of words.

    Attributes:
        canonical: Every surface form that a phrase may hold -> its canonical word.
        heads: Surface forms that begin a phrase -> their node.
    """

    __slots__ = ("canonical", "heads")

    def __init__(
        self, skipped: frozenset[str], phrases: Iterable[tuple[str, bool, int, int]]
    ) -> None:
        """Build it.

        Args:
            skipped: Words that are left out of phrases.
            phrases: (phrase, whether its words may be inflected, what to do, feature); a feature
                below zero stands for none.
        """
        self.canonical: dict[str, str] = {}
        self.heads: dict[str, Node] = {}
        roots: dict[str, Node] = {}
        split = [(words_of(p), bends, act, feature) for p, bends, act, feature in phrases]
        for words, bends, _, _ in split:
            for word in words:
                bare = word.rstrip("*") or word
                if bare != word or (bends and bare not in RIGID and bare not in skipped):
                    self.canonical.update(
                        (form, stem(bare)) for form in forms(bare) if form not in RIGID
                    )
        for words, _, _, _ in split:
            for word in words:
                bare = word.rstrip("*") or word
                self.canonical.setdefault(bare, bare)
        for words, _, act, feature in split:
            path = [self.canonical[w.rstrip("*") or w] for w in words if w not in skipped]
            if words[-1] == _GONE and words[0] in _NOT:
                path = [self.canonical[word] for word in words]  # "没了" is not "没"
            if path and words[-1] != "-":  # "i-" is no word, and "i" would be another
                _grow(roots, path, act, feature)
        for form, word in self.canonical.items():
            if word in roots:
                self.heads[form] = roots[word]


def _grow(roots: dict[str, Node], path: list[str], act: int, feature: int) -> None:
    node = roots.setdefault(path[0], ({}, [0], []))
    for word in path[1:]:
        node = node[0].setdefault(word, ({}, [0], []))
    if act:
        node[1][0] = act
    if feature >= 0 and feature not in node[2]:
        node[2].append(feature)


def words_of(phrase: str) -> list[str]:
    """The tokens of a phrase; a ``*`` stays with its word."""
    words = tokens(plain(flat(phrase.replace("*", "")).lower()))
    for marked in (word[:-1] for word in phrase.split(" ") if word.endswith("*")):
        words[words.index(marked)] = marked + "*"
    return [word for word in words if word]
