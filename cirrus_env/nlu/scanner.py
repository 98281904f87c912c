"""One pass over a reply's tokens: which phrases it holds, and with what stance each is said."""

from __future__ import annotations

import re
from typing import Final

from cirrus_env.nlu import cues as c
from cirrus_env.nlu import words_en as en
from cirrus_env.nlu.endings import close
from cirrus_env.nlu.found import VALUE_TOKEN, Hit, Sentence
from cirrus_env.nlu.lexicon import Lexicon
from cirrus_env.nlu.normalise import tokens as split
from cirrus_env.nlu.stances import ACTS
from cirrus_env.nlu.tree import Node, Tree

_VALUE: Final = [VALUE_TOKEN]
_END: Final = "\x00"
"""Two of these end the tokens, so that looking ahead needs no check."""
_DIGIT: Final = re.compile("[0-9]")
_MOST_SKIPPED: Final = 3


class Scanner:
    """Reads a text's tokens once, left to right.

    Attributes:
        text: Plain text in lower case.
        tokens: Its tokens.
        count: How many tokens there are, without the end marks.
        telling: Whether any of the ticket's phrases or any number was found.
        hits: What was found, in order.
        sentences: In order.
    """

    __slots__ = (
        "carry", "cause", "clause", "clause_hit", "count", "cover", "covering", "cue_end", "cues",
        "denied_at", "either", "forged", "hits", "lexicon", "listed", "lost", "marked", "number",
        "quoted", "refused", "refuted", "segment_hit", "segment_start", "sentence_hit",
        "sentence_start", "sentences", "special", "stance", "starts", "tail", "tail_bit",
        "tail_end", "tail_hit", "telling", "text", "tokens", "under", "under_end", "unreal",
        "withdrawn", "words",
    )  # fmt: skip

    def __init__(self, text: str, lexicon: Lexicon, cues: Tree) -> None:
        self.text = text
        found = split(text, cues.canonical)
        self.count = len(found)
        self.words = [*map(cues.canonical.get, found, found), _END, _END]
        self.tokens = [*found, _END, _END]
        self.cues = cues
        self.covering = lexicon.covering
        self.telling = False
        self.lexicon = lexicon
        self.hits: list[Hit] = []
        self.sentences: list[Sentence] = []
        self.stance = self.carry = self.lost = 0
        self.clause = self.clause_hit = self.segment_hit = self.segment_start = 0
        self.sentence_start = self.sentence_hit = 0
        self.starts: list[int] = [0]
        self.cue_end = self.cover = self.quoted = self.marked = 0
        self.under = self.under_end = self.withdrawn = 0
        self.special = self.number = 0
        self.denied_at = self.refuted = self.refused = self.forged = 0
        self.tail = -1
        self.tail_bit = self.tail_hit = self.tail_end = 0
        self.listed = self.either = self.cause = self.unreal = False

    def run(self) -> None:
        """Scan all tokens."""
        tokens, words, hits = self.tokens, self.words, self.hits
        phrases, canonical = self.lexicon.tree.heads, self.lexicon.tree.canonical
        cues, skipped, adverbs = self.cues.heads, en.PASSED_OVER, en.ADVERBS
        numbered = _DIGIT.search(self.text) is not None
        for i, token in enumerate(tokens):
            if token in phrases:
                children, _, features = phrases[token]
                if features:
                    self._found(features, i, i + 1)
                if children:
                    following = tokens[i + 1]
                    if following in skipped or canonical.get(following) in children:
                        self._phrase(children, i)
            if token in cues:
                children, act, features = cues[token]
                if words[i + 1] in children or (children and tokens[i + 1] in adverbs):
                    self._longest_cue(cues[token], i)
                    continue
                fresh = len(hits)
                if features:
                    self._hit(features, i, i + 1)
                if act[0] and i >= self.cue_end:
                    self._cue(act[0], i, i + 1, fresh)
            elif numbered and not token.isalpha() and _DIGIT.search(token):
                self.telling = True  # whether or not a phrase begins with it: "5 days"
                self._hit(_VALUE, i, i + 1)
        if self.sentence_start < self.count:
            close(self, self.count, False)

    def _hit(self, features: list[int], i: int, end: int) -> None:
        stance = self.stance if i >= self.special else self._here(i)
        self.hits.append(Hit(features, i, end, stance, self.clause, self.number))

    def _phrase(self, children: dict[str, Node], i: int) -> None:
        """Record the longer phrases that begin here; skipped words may stand between theirs."""
        tokens, canonical = self.tokens, self.lexicon.tree.canonical
        ways = [(children, i + 1, 0, False)]
        while ways:
            children, j, skipped, denied = ways.pop()
            token = tokens[j]
            word = canonical.get(token)
            if token in en.SKIPPED and skipped < _MOST_SKIPPED:
                ways.append((children, j + 1, skipped + 1, denied))
            elif token in en.DENYING and not denied:
                ways.append((children, j + 1, skipped, token not in en.SUPPORTING))
            if word in children:
                children, _, features = children[word]
                if features and denied:
                    self._denied(features, i, j + 1)
                elif features:
                    self._found(features, i, j + 1)
                if children:
                    ways.append((children, j + 1, 0, denied))

    def _denied(self, features: list[int], i: int, end: int) -> None:
        """A told phrase with a negation between its words: "you are not eligible"."""
        if features[0] < self.covering:
            self.telling = True
            self._hit(features, i, end)
            self.hits[-1].stance |= c.NEG | c.INNER

    def _found(self, features: list[int], i: int, end: int) -> None:
        self.telling = True
        self._hit(features, i, end)
        if features[0] < self.covering and end > self.cover and end - i > 1:
            self.cover = end

    def _longest_cue(self, node: Node, i: int) -> None:
        """Let the longest cue that begins here act; record those that tell the kind of sentence."""
        words = self.words
        cue, end, j = 0, i, i + 1
        fresh = len(self.hits)
        while True:
            children, acts, features = node
            if acts[0]:
                cue, end = acts[0], j
            if features:
                self._hit(features, i, j)
            if not children:
                break
            word = words[j]
            if word not in children:
                if self.tokens[j] not in en.ADVERBS:
                    break
                j += 1
                word = words[j]
                if word not in children:
                    break
            node = children[word]
            j += 1
        if cue and i >= self.cue_end:
            self._cue(cue, i, end, fresh)

    def _segment_end(self, i: int) -> int:
        while i < self.count and self.tokens[i] not in en.BREAKS:
            i += 1
        return i

    def _here(self, i: int) -> int:
        stance = self.stance
        if i < self.under_end:
            stance |= self.under
        if i < self.quoted or self.unreal:
            return stance | c.QUOTE
        return stance | c.MARKED if i < self.marked else stance

    def _cue(self, cue: int, i: int, end: int, fresh: int) -> None:
        """Let the cue act, unless it is quoted or part of a longer phrase."""
        if cue == c.NEWLINE:
            self.quoted = self.marked = 0
        elif i < self.quoted or i < self.marked:
            return
        self.cue_end = end
        inside = end < self.cover or i < self.cover
        if inside and not (cue == c.NOT_SO and end > self.cover):
            self.under, self.under_end = c.SETS[cue], self.cover
            if cue == c.NOT and self.tokens[self.cover] in en.GOING_ON:
                self.under_end = self._segment_end(self.cover)
            self.special = max(self.special, self.under_end)
            if cue == c.CONTRAST:
                self._turned(i, end)
            return
        self._act(cue, i, end, fresh)

    def _act(self, cue: int, i: int, end: int, fresh: int) -> None:
        act = ACTS.get(cue)
        if act is None or not act(self, i, end, fresh):
            self.stance = self.stance & c.KEEPS[cue] | c.SETS[cue]
            if cue == c.CONTRAST:
                self.stance |= self.carry  # what stands over a list stands over all of it

    def _turned(self, i: int, end: int) -> None:
        """A contrast turns from what was denied also where a phrase begins with it."""
        begun = len(self.hits)
        while begun and self.hits[begun - 1].start == i:
            begun -= 1
        if begun < len(self.hits):
            self._act(c.CONTRAST, i, end, begun)
            for hit in self.hits[begun:]:
                hit.stance, hit.clause = self.stance, self.clause
