"""How word lists are written down."""

from __future__ import annotations


def phrases(text: str) -> tuple[str, ...]:
    """Phrases separated by bars, over as many lines as they take."""
    return tuple(" ".join(phrase.split()) for phrase in text.split("|"))


def word_set(text: str) -> frozenset[str]:
    """Words separated by blanks."""
    return frozenset(text.split())
