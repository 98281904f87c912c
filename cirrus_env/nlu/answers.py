"""An outside customer's answer to proposals and to questions for facts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from cirrus_env.nlu import cues as c
from cirrus_env.nlu.found import Hit
from cirrus_env.nlu.lexicon import Lexicon, cue_tree
from cirrus_env.nlu.scanner import Scanner
from cirrus_env.tickets.model import Fact
from cirrus_env.wire import Act

MOST_FACTS: Final = 2
"""How many asked facts one message answers."""
_PIECE: Final = re.compile("[0-9a-z]+")
_ORDINALS = (c.FIRST, c.SECOND, c.THIRD)
_UNMEANT = c.DENIED | c.HEDGE | c.EPISTEMIC | c.CONDITION | c.REPORT | c.QUOTE | c.ASK


def read_answer(text: str, proposed: tuple[Act, ...], lexicon: Lexicon) -> tuple[Act, ...]:
    """``agreed`` and ``declined`` acts for the proposals that the words answer.

    A conditional, doubtful or mixed answer agrees to nothing.

    Args:
        text: Plain text of the customer's words.
        proposed: The proposals of the reply just before.
        lexicon: Any lexicon: only the common cues are read.
    """
    if not proposed:
        return ()
    scan = Scanner(text, lexicon, cue_tree(True))
    scan.run()
    verdicts: dict[int, bool] = {}
    for number, sentence in enumerate(scan.sentences):
        hits = [h for h in scan.hits if h.sentence == number]
        named = _named(hits, proposed, scan.tokens[sentence.start : sentence.end])
        answer = _answer(hits)
        if answer is None:
            continue
        for k in named if named is not None else range(len(proposed)):
            if not answer or k not in verdicts:
                verdicts[k] = answer
    return tuple(
        Act("agreed" if verdicts[k] else "declined", proposed[k].name, proposed[k].value)
        for k in sorted(verdicts)
    )


def answered(text: str, asked: Iterable[Fact]) -> tuple[Act, ...]:
    """``answered`` acts for the facts that an outside customer's words tell.

    Whoever was asked and says something has answered; where the customer knows a figure, it has to
    give that figure.

    Args:
        text: Flat text of the customer's words.
        asked: What the reply just before asked for.
    """
    told = figures(text)
    facts = [f for f in asked if f.when != "never" and not f.false and figures(f.text) <= told]
    return tuple(Act("answered", fact.name) for fact in facts[:MOST_FACTS]) if text.strip() else ()


def figures(text: str) -> set[str]:
    """The figures and ids of a text, in lower case and without leading zeros."""
    pieces = _PIECE.findall(text.lower())
    return {piece.lstrip("0") or "0" for piece in pieces if not piece.isalpha()}


def _answer(hits: list[Hit]) -> bool | None:
    yes = [h for h in hits if c.YES in h.features]
    no = [h for h in hits if c.NO in h.features and not h.stance & _UNMEANT]
    if no:
        return False
    if not yes or any(h.stance & _UNMEANT for h in yes):
        return None
    return not any(h.stance & c.NEG for h in yes)


def _named(hits: list[Hit], proposed: tuple[Act, ...], lowered: list[str]) -> list[int] | None:
    """Which proposals the sentence names; None for all."""
    ordinals = [k for k, cue in enumerate(_ORDINALS) if any(cue in h.features for h in hits)]
    if ordinals:
        return [k for k in ordinals if k < len(proposed)]
    ids = [k for k, act in enumerate(proposed) if act.value and act.value.lower() in lowered]
    return ids or None
