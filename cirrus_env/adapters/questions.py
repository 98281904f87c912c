"""Which words ask again for what a recorded question asked for."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[a-z][a-z'-]{3,}|\bid\b", re.ASCII)
_CHARACTERS: Final = re.compile(r"[\u4e00-\u9fff]{2,4}")
_QUESTION: Final = re.compile(r"[^.!?\u3002\uff01\uff1f\n]*[?\uff1f]")
_WH: Final = re.compile(r"\b(when|where|who|whom|how many|how much|how long)\b")
# fmt: off
_COMMON: Final = frozenset({
    "what", "which", "would", "could", "should", "your", "yours", "you're", "please", "have",
    "that", "this", "with", "like", "need", "want", "tell", "give", "okay", "sure", "great",
    "anything", "else", "help", "there", "about", "also", "from", "them", "they", "does", "will",
    "shall", "may", "might", "must", "been", "were", "much", "many", "very", "just", "only", "more",
    "some", "into", "than", "then", "here", "know", "what's", "that's", "let's", "i'll", "i've",
    "got", "thanks", "thank", "yeah", "when", "where", "whom", "long", "something",
})
# fmt: on


def asked_words(reply: str, answer: str, language: str) -> list[str]:
    """Words of which a question for the same thing has at least one."""
    questions = _QUESTION.findall(reply)
    if language == "zh":
        found = [part for question in questions for part in _CHARACTERS.findall(question)]
        return list(dict.fromkeys(found))[:40]
    words: list[str] = []
    for question in questions:
        lowered = question.lower()
        words += [word for word in _WORD.findall(lowered) if word not in _COMMON]
        words += _WH.findall(lowered)
    if words:
        words += [word for hint, word in _HINTS if hint.search(answer)]
    return list(dict.fromkeys(words))[:60]


_HINTS: Final = (
    (re.compile(r"\S@\S+\.\S"), "email"),
    (re.compile(r"\d\s?[ap]\.?m\b|\d:\d\d", re.I), "time"),
    (re.compile(r"\d{3}-\d{3}-\d{4}|\+\d{6,}"), "phone"),
    (re.compile(r"\b(?:today|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
                r"|\d{4}-\d\d-\d\d", re.I), "date"),
)  # fmt: skip
"""What an answer looks like -> another word for its question."""
