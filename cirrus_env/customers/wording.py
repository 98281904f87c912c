"""The simulated customer's stock of sentences: one ``Wording`` a language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

Stock = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """Sentences by purpose; ``{id}`` stands for a resource.

    Attributes:
        space: What joins two sentences.
        it: Stands for a resource where a proposal needs none.
        lead: Before an answer; empty strings give a bare answer.
        again: Before a fact that was told before.
        one_at_a_time: After an answer when more was asked.
        unknown: To a question that it has no answer to.
        dodge: To a question that it doesn't want to answer.
        agree: To a proper proposal.
        decline: To something that it doesn't want.
        too_many: To more than three proposals at once.
        which: To a proposal that names no resource.
        missing: By topic: asking for a consequence that the proposal left out.
        did: Before the report of a console action that worked.
        failed: Before the report of one that didn't.
        did_already: When told to do what is done.
        noted: When something new was explained.
        objects: To a refusal that explained nothing new.
        waiting: When nothing came of the turn, with patience left.
        complaint: When little patience is left.
        threat: When one more such turn is the last.
        unsolved: To "it is done" when it is not.
        leave: When it goes.
        accept: When all is well.
        bye: To closing words, satisfied.
        bye_unhappy: To closing words, not satisfied.
        heat: By tone: said before a complaint.
    """

    space: str
    it: str
    lead: Stock
    again: Stock
    one_at_a_time: Stock
    unknown: Stock
    dodge: Stock
    agree: Stock
    decline: Stock
    too_many: Stock
    which: Stock
    missing: Mapping[str, Stock]
    did: Stock
    failed: Stock
    did_already: Stock
    noted: Stock
    objects: Stock
    waiting: Stock
    complaint: Stock
    threat: Stock
    unsolved: Stock
    leave: Stock
    accept: Stock
    bye: Stock
    bye_unhappy: Stock
    heat: Mapping[str, Stock]


TONES: Mapping[str, str] = MappingProxyType(
    {
        "annoyed": "hot", "angry": "hot", "furious": "hot", "impatient": "hot",
        "frustrated": "hot", "suspicious": "hot",
        "anxious": "worried", "worried": "worried", "confused": "worried", "panicked": "worried",
        "embarrassed": "worried",
    }
)  # fmt: skip
"""Mood -> tone; any other mood is ``calm``."""

_TOPICS = (
    ("ip", ("ip", "address", "eip")),
    ("data", ("data", "disk", "wipe", "backup", "snapshot", "files")),
    ("money", ("price", "cost", "amount", "fee", "fees", "charge", "money", "refund", "quote")),
    ("downtime", ("restart", "reboot", "downtime", "interruption", "offline", "stop")),
    ("undo", ("irreversible", "undo", "permanent", "final")),
)


def topic(slot: str) -> str:
    """Which of ``Wording.missing`` asks for a slot, told from the words of its name."""
    parts = slot.lower().split("_")
    for name, words in _TOPICS:
        if any(word in parts for word in words):
            return name
    return "other"
