"""Cue codes: what a word or sign does to the stance of the words around it.

The scanner keeps a *stance*, a set of bits that say how the words under way are meant. A cue sets
bits, clears bits, or both; ``SETS`` and ``KEEPS`` say which.
"""

from __future__ import annotations

from typing import Final

# -- stance bits -----------------------------------------------------------------------------

NEG: Final = 1
"""Negated, up to the end of the clause."""
DENIED: Final = 2
"""Negated as a proposition ("it is not true that"), up to a contrast or the sentence's end."""
HEDGE: Final = 4
"""Under a modal such as "may", up to the end of the clause."""
EPISTEMIC: Final = 8
"""Under "perhaps" or "I think", up to a contrast or the sentence's end."""
CONDITION: Final = 16
"""Under or governed by an if-clause."""
REPORT: Final = 32
"""What others say, think or wrote."""
QUOTE: Final = 64
"""Inside quotation marks or quoted verbatim from a source."""
FUTURE: Final = 128
"""What will be."""
ASIDE: Final = 256
"""What holds as well ("also", "too"): no cause of the problem at hand."""
GENERAL: Final = 512
"""A rule about servers at large, not this customer's case."""
ASK: Final = 1024
"""Part of a question."""
MARKED: Final = 2048
"""Inside a short pair of quotation marks, as a label is."""

LATER: Final = 4096
"""What follows once something else is done."""

RETRACTED: Final = 8192
"""Taken back later in the reply; such words are quoted as well."""
INNER: Final = 16384
"""Negated between its own words; it denies causes, not statements."""

EVERY: Final = 16383
UNSAID: Final = NEG | DENIED | HEDGE | EPISTEMIC | CONDITION | REPORT | QUOTE | ASK
"""Words with any of these bits assert nothing."""
NO_CAUSE: Final = UNSAID | FUTURE | LATER | ASIDE | GENERAL
"""Words with any of these bits assert no cause of this customer's present problem."""
LOCAL: Final = NEG | HEDGE | FUTURE
"""What a comma ends, unless the words after it have no verb of their own."""
CARRIED: Final = DENIED | EPISTEMIC | CONDITION | REPORT
"""What a colon carries over to the items of a list."""

# -- cues that the scanner acts on -----------------------------------------------------------

STOP, ASKED, NEWLINE, SEMICOLON, COLON, COMMA, DASH, PAREN, QUOTE_MARK = range(1, 10)
CONTRAST, BECAUSE, SO, AND, SUBORDINATE = range(10, 15)
NOT, NOT_TRUE, NOT_SO, INSTEAD_OF = range(15, 19)
MODAL, PERHAPS, IF, ONCE, REPORTED, WILL, ALSO, RULE = range(19, 27)
WITHDRAWN, WRONG_THAT, CAUSE, PLAIN, OR, THIS_CASE, FORGED, DATA, UNREAL = range(27, 36)
OOPS, CHOICE = range(36, 38)
SPEECH: Final = 38
"""Cues from here on are kept as hits: they say what kind of sentence it is."""

# -- cues kept as hits -----------------------------------------------------------------------

PERMIT, INTENT, GO_AHEAD, REQUEST, ADVICE, REMAINS = range(38, 44)
DONE, SOON, GIFT, REFUSE, HAND_OVER, COURTESY, INTERROGATIVE, TAG = range(44, 52)
ABOUT, AT_MOST, OTHER_MONEY, YUAN, CENTS = range(52, 57)
YES, NO, FIRST, SECOND, THIRD = range(57, 62)
FIRST_FEATURE: Final = 64
"""Features of the ticket's own lexicon start here."""

SETS: Final = tuple(
    {
        NOT: NEG,
        INSTEAD_OF: NEG,
        NOT_TRUE: DENIED,
        MODAL: HEDGE,
        PERHAPS: EPISTEMIC,
        IF: CONDITION,
        ONCE: LATER,
        REPORTED: REPORT,
        FORGED: REPORT,
        WILL: FUTURE,
        ALSO: ASIDE,
        RULE: GENERAL,
        CHOICE: EPISTEMIC,
    }.get(cue, 0)
    for cue in range(FIRST_FEATURE)
)
KEEPS: Final = tuple(
    {
        CONTRAST: 0,
        SO: EVERY & ~(NEG | DENIED | REPORT | HEDGE | FUTURE),
        BECAUSE: EVERY & ~(NEG | FUTURE),
        COLON: EVERY & ~(NEG | FUTURE),
    }.get(cue, EVERY)
    for cue in range(FIRST_FEATURE)
)
