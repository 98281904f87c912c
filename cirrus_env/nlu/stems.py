"""Light English inflection: which surface forms count as the same word."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Final

_IRREGULAR: Final = MappingProxyType(
    {
        "ran": "run", "kept": "keep", "paid": "pay", "lost": "lose", "sent": "send",
        "took": "take", "taken": "take", "gave": "give", "given": "give", "went": "go",
        "gone": "go", "came": "come", "bought": "buy", "held": "hold", "left": "leave",
        "stood": "stand", "stays": "stay", "lies": "lie", "ids": "id", "ips": "ip",
    }
)  # fmt: skip
_VOWELS: Final = frozenset("aeiou")


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The stem of a lower-case English word; other words are their own stem."""
    if word in _IRREGULAR:
        return stem(_IRREGULAR[word])
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    base = word
    if word.endswith("ing") and len(word) > 5 and not _VOWELS.isdisjoint(word[:-3]):
        base = _single(word[:-3])
    elif word.endswith("ied") or word.endswith("ies"):
        base = word[:-3] + "y"
    elif word.endswith("ed") and len(word) > 4 and not _VOWELS.isdisjoint(word[:-2]):
        base = _single(word[:-2])
    elif word.endswith(("ses", "xes", "zes", "ches", "shes")):
        base = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        base = word[:-1]
    return base[:-1] if len(base) > 3 and base.endswith("e") else base


def _single(base: str) -> str:
    """Undo a doubled last consonant, as in "stopped"."""
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouls":
        return base[:-1]
    return base


@lru_cache(maxsize=4096)
def forms(word: str) -> tuple[str, ...]:
    """The word and its inflected forms, each with the same stem."""
    root = stem(word)
    if word in ("id", "ip"):
        return (word, word + "s")
    if root == word and (len(word) < 3 or not word.isascii() or not word.isalpha()):
        return (word,)
    last = root[-1]
    bases = (root, root + "e", root + last)
    candidates = [word]
    for base in bases:
        candidates += [base, base + "s", base + "es", base + "d", base + "ed", base + "ing"]
    if last == "y":
        candidates += [root[:-1] + "ies", root[:-1] + "ied"]
    candidates += [past for past, present in _IRREGULAR.items() if stem(present) == root]
    return tuple(dict.fromkeys(c for c in candidates if stem(c) == root))
