"""What a scan finds: hits, each with its stance, and sentences."""

from __future__ import annotations

from typing import Final, NamedTuple

VALUE_TOKEN: Final = 0
"""The feature of a token that may be a number, date or id."""


class Hit:
    """A phrase, cue or number found, with its stance.

    Attributes:
        features: What it is: speech cues, features of the ticket's lexicon, or ``VALUE_TOKEN``.
        start: Its first token.
        end: The token after its last.
        stance: Stance bits.
        clause: The clause that it stands in; commas part no clauses.
        sentence: The sentence that it stands in.
    """

    __slots__ = ("clause", "end", "features", "sentence", "stance", "start")

    def __init__(
        self, features: list[int], start: int, end: int, stance: int, clause: int, sentence: int
    ) -> None:
        self.features, self.start, self.end = features, start, end
        self.stance, self.clause, self.sentence = stance, clause, sentence


class Sentence(NamedTuple):
    """A sentence, a line or a part between semicolons.

    Attributes:
        start: Its first token.
        end: The token after its last.
        first: Its first hit.
        last: The hit after its last.
        asked: Whether it is a question.
        listed: Whether it is an item of a list.
        either: Whether it offers alternatives.
    """

    start: int
    end: int
    first: int
    last: int
    asked: bool
    listed: bool
    either: bool
