"""What a reply does besides telling: questions, instructions, claims, promises, courtesy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cirrus_env.nlu import cues as c
from cirrus_env.nlu import words_en as en
from cirrus_env.nlu.scanner import Hit, Sentence
from cirrus_env.nlu.wording import word_set

_LEADS: Final = word_set("please then now and just simply so first next finally afterwards also")
_FIRM: Final = c.UNSAID | c.FUTURE
_UNMEANT: Final = c.NEG | c.DENIED | c.REPORT | c.QUOTE | c.MARKED


def requests(
    hits: Sequence[Hit], sentences: Sequence[Sentence], tokens: Sequence[str]
) -> list[bool]:
    """For each sentence, whether it asks for something: a question or a request."""
    found = [sentence.asked for sentence in sentences]
    for hit in hits:
        if hit.feature == c.REQUEST and not hit.stance & _UNMEANT:
            found[hit.sentence] = True
    for number, sentence in enumerate(sentences):
        first = sentence.start
        while first < sentence.end and (tokens[first] in _LEADS or tokens[first] == "-"):
            first += 1
        if first < sentence.end and tokens[first] in en.IMPERATIVES:
            found[number] = True
    return found


def asks(hits: Sequence[tuple[int, Hit]], groups: int, wanted: Sequence[bool]) -> int:
    """The first sentence that asks with all the groups; -1 if none does."""
    met: dict[int, set[int]] = {}
    for group, hit in hits:
        number = hit.sentence
        if wanted[number] and not hit.stance & _UNMEANT:
            held = met.setdefault(number, set())
            held.add(group)
            if len(held) == groups:
                return number
    return -1


def instructs(hits: Sequence[tuple[int, Hit]], groups: int, speech: Sequence[Hit]) -> bool:
    """Whether some sentence tells the customer to do what the groups say."""
    met: dict[int, dict[int, Hit]] = {}
    for group, hit in hits:
        if not hit.stance & (_UNMEANT & ~c.MARKED | c.EPISTEMIC):
            met.setdefault(hit.sentence, {})[group] = hit
    advice = {h.sentence for h in speech if h.feature == c.ADVICE and not h.stance & _UNMEANT}
    for number, found in met.items():
        if len(found) == groups and number in advice:
            return True
    return False


def begins_with(
    hits: Sequence[tuple[int, Hit]],
    groups: int,
    sentences: Sequence[Sentence],
    tokens: Sequence[str],
) -> bool:
    """Whether a sentence starts with the words of an instruction, as an imperative does."""
    met: dict[int, dict[int, Hit]] = {}
    for group, hit in hits:
        if not hit.stance & (c.UNSAID & ~c.CONDITION):
            met.setdefault(hit.sentence, {})[group] = hit
    for number, found in met.items():
        if len(found) == groups:
            first = sentences[number].start
            begin = min(hit.start for hit in found.values())
            while first < begin and (tokens[first] in _LEADS or not tokens[first].isalpha()):
                first += 1
            if first == begin and not tokens[begin].endswith("ed"):
                return True
    return False


def firm(hit: Hit) -> bool:
    """Whether the cue is meant as said, now."""
    return not hit.stance & _FIRM
