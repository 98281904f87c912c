"""What a reply does besides telling: questions, instructions, claims, promises, courtesy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cirrus_env.nlu import cues as c
from cirrus_env.nlu import words_en as en
from cirrus_env.nlu.found import Hit, Sentence
from cirrus_env.nlu.wording import word_set
from cirrus_env.wire import Act

_LEADS: Final = word_set(
    "- please kindly then now and just simply so first next finally afterwards also"
)
_UNMEANT: Final = c.NEG | c.DENIED | c.REPORT | c.QUOTE | c.MARKED


def requests(
    asking: Sequence[Hit], sentences: Sequence[Sentence], tokens: Sequence[str]
) -> set[int]:
    """Sentences that ask for something: questions and requests."""
    found = {hit.sentence for hit in asking if not hit.stance & _UNMEANT}
    for number, sentence in enumerate(sentences):
        if sentence.asked:
            found.add(number)
            continue
        first = sentence.start
        while tokens[first] in _LEADS:
            first += 1
        if tokens[first] in en.IMPERATIVES and first < sentence.end:
            found.add(number)
    return found


def asks(hits: Sequence[tuple[int, Hit]], groups: int, wanted: set[int]) -> int:
    """The first sentence that asks with all the groups; -1 if none does."""
    met: dict[int, set[int]] = {}
    for group, hit in hits:
        number = hit.sentence
        if number in wanted and not hit.stance & _UNMEANT:
            held = met.setdefault(number, set())
            held.add(group)
            if len(held) == groups:
                return number
    return -1


def instructs(
    hits: Sequence[tuple[int, Hit]],
    groups: int,
    advice: Sequence[Hit],
    sentences: Sequence[Sentence],
    tokens: Sequence[str],
) -> bool:
    """Whether some sentence tells the customer to do what the groups say.

    It does so with words of advice ("please", "you can") or by beginning with an imperative.
    """
    met: dict[int, dict[int, Hit]] = {}
    for group, hit in hits:
        if not hit.stance & (_UNMEANT & ~c.MARKED | c.EPISTEMIC):
            met.setdefault(hit.sentence, {})[group] = hit
    whole = {number: found for number, found in met.items() if len(found) == groups}
    if not whole:
        return False
    if any(hit.sentence in whole and not hit.stance & _UNMEANT for hit in advice):
        return True
    return any(_imperative(found, sentences[n], tokens) for n, found in whole.items())


def _imperative(found: Mapping[int, Hit], sentence: Sentence, tokens: Sequence[str]) -> bool:
    if any(hit.stance & c.UNSAID & ~c.CONDITION for hit in found.values()):
        return False
    first = sentence.start
    begin = min(hit.start for hit in found.values())
    while first < begin and (tokens[first] in _LEADS or not tokens[first].isalpha()):
        first += 1
    return first == begin and not tokens[begin].endswith("ed")


_SIMPLE: Final = (
    (c.REMAINS, Act("anything_else"), c.NEG | c.DENIED | c.REPORT | c.QUOTE),
    (c.DONE, Act("claimed_done"), c.UNSAID | c.FUTURE),
    (c.COURTESY, Act("courtesy"), 0),
    (c.HAND_OVER, Act("handed_over"), c.UNSAID & ~c.CONDITION),
    (c.SOON, Act("promised", "time"), c.UNSAID & ~c.EPISTEMIC),
    (c.REFUSE, Act("refused"), c.CONDITION | c.REPORT | c.QUOTE | c.ASK),
)
"""(cue, the act that it makes, stances in which it makes none)."""


def speech_acts(speech: Mapping[int, Sequence[Hit]]) -> list[Act]:
    """Acts that single cues make, in a fixed order."""
    found = [
        act
        for cue, act, unmeant in _SIMPLE
        if cue in speech and any(not hit.stance & unmeant for hit in speech[cue])
    ]
    for hit in speech.get(c.GIFT, ()):
        if hit.stance & c.FUTURE and not hit.stance & c.UNSAID:
            return [*found, Act("promised", "compensation")]
    return found
