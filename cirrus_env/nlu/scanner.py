"""One pass over a reply's tokens: which phrases it holds, and with what stance each is said."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Final, NamedTuple

from cirrus_env.nlu import cues as c
from cirrus_env.nlu import words_en as en
from cirrus_env.nlu.lexicon import Lexicon
from cirrus_env.nlu.normalise import tokens as split
from cirrus_env.nlu.tree import Node, Tree

VALUE_TOKEN: Final = 0
"""The feature of a token that may be a number, date or id."""
_VALUE: Final = [VALUE_TOKEN]
_END: Final = "\x00"
"""Two of these end the tokens, so that looking ahead needs no check."""

_BULLETS: Final = frozenset("-\u2022\u00b7\u2013\u25cf\u25cb\u25aa")
_LEADS: Final = frozenset(
    ["so", "and", "but", "then", "also", "or", "now", "well", "ok", "okay", "please", "otherwise"]
)
_BEFORE_SUBJECT: Final = _LEADS | frozenset(("for", "with", "on", "in", "after", "among"))
_SUBJECTS: Final = frozenset(
    ["you", "it", "i", "the", "your", "this", "that", "there", "we", "my", "its", "these"]
)
_AUXILIARIES: Final = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "can",
        "could",
        "would",
        "will",
        "shall",
        "should",
        "may",
        "might",
        "have",
        "has",
        "had",
    ]
)
_HAPPENED: Final = frozenset(("being", "been", "was", "were"))
"""Words of what took place, not of a rule."""
_NO_DOING: Final = frozenset(("nothing", "something", "anything", "everything", "during"))
_RELATIVES: Final = frozenset(("that", "which", "who", "whose", "where", "you", "customers"))
_DIGIT: Final = re.compile("[0-9]")
_MOST_SKIPPED: Final = 3
_DATING: Final = frozenset(("in", "of", "until", "since", "last", "by", "before", "after"))
_CJK: Final = "\u3400"
_CJK_END: Final = "\ua000"
_NEARBY: Final = 6
"""How far an "also" reaches for what it is said of."""
_BREAKS: Final = frozenset(",.;?!:\n")


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
        header: Whether a list follows it.
    """

    start: int
    end: int
    first: int
    last: int
    asked: bool
    listed: bool
    either: bool
    header: bool


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
        "denied_at", "either", "forged", "headed", "hits", "lexicon", "listed", "lost", "marked", "number",
        "quoted", "refused", "refuted", "segment_hit", "segment_start", "sentence_hit",
        "sentence_start", "sentences", "special", "stance", "starts", "tail", "tail_bit",
        "tail_end", "tail_hit", "telling", "text", "tokens", "under", "under_end", "withdrawn", "words",
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
        self.listed = self.either = self.cause = self.headed = False

    def run(self) -> None:
        """Scan all tokens."""
        tokens, words = self.tokens, self.words
        phrases, canonical = self.lexicon.tree.heads, self.lexicon.tree.canonical
        cues = self.cues.heads
        numbered = _DIGIT.search(self.text) is not None
        for i, token in enumerate(tokens):
            if token in phrases:
                children, _, features = phrases[token]
                if features:
                    self._found(features, i, i + 1)
                following = tokens[i + 1]
                if canonical.get(following) in children or following in en.SKIPPED:
                    self._phrase(children, i)
            elif numbered and token not in cues and not token.isalpha():
                if _DIGIT.search(token):
                    self.telling = True
                    self._hit(_VALUE, i, i + 1)
            if token not in cues:
                continue
            children, act, features = cues[token]
            if words[i + 1] in children or tokens[i + 1] in en.ADVERBS:
                self._longest_cue(cues[token], i)
                continue
            fresh = len(self.hits)
            if features:
                self._hit(features, i, i + 1)
            if act[0] and i >= self.cue_end:
                self._cue(act[0], i, i + 1, fresh)
        if self.sentence_start < self.count:
            self._close(self.count, False)

    def _hit(self, features: list[int], i: int, end: int) -> None:
        stance = self.stance if i >= self.special else self._here(i)
        self.hits.append(Hit(features, i, end, stance, self.clause, self.number))

    def _phrase(self, children: dict[str, Node], i: int) -> None:
        """Record the longer phrases that begin here; skipped words may stand between theirs."""
        tokens, canonical = self.tokens, self.lexicon.tree.canonical
        ways = [(children, i + 1, 0)]
        while ways:
            children, j, skipped = ways.pop()
            token = tokens[j]
            word = canonical.get(token)
            if token in en.SKIPPED and skipped < _MOST_SKIPPED:
                ways.append((children, j + 1, skipped + 1))
            if word in children:
                children, _, features = children[word]
                if features:
                    self._found(features, i, j + 1)
                if children:
                    ways.append((children, j + 1, 0))

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

    def _here(self, i: int) -> int:
        stance = self.stance
        if i < self.under_end:
            stance |= self.under
        if i < self.quoted:
            return stance | c.QUOTE
        return stance | c.MARKED if i < self.marked else stance

    def _cue(self, cue: int, i: int, end: int, fresh: int) -> None:
        """Let the cue act, unless it is quoted or part of a longer phrase."""
        if cue == c.NEWLINE:
            self.quoted = self.marked = 0
        elif i < self.quoted or i < self.marked:
            return
        self.cue_end = end
        if end < self.cover or i < self.cover:
            self.under, self.under_end = c.SETS[cue], self.cover
            self.special = max(self.special, self.cover)
            return
        act = _ACTS.get(cue)
        if act is not None and act(self, i, end, cue, fresh):
            return
        self.stance = self.stance & c.KEEPS[cue] | c.SETS[cue]

    # -- separators --------------------------------------------------------------------------

    def _segment(self, i: int, end: int, cue: int, fresh: int) -> None:
        self.segment_hit = fresh
        self.segment_start = end
        self.starts.append(end)

    def _clause(self, i: int, end: int, cue: int, fresh: int) -> None:
        if cue == c.SO or cue == c.BECAUSE:
            self.cause = True
        self._segment(i, end, cue, fresh)
        self.clause += 1
        self.clause_hit = fresh
        self.tail = -1
        self.lost = 0

    def _because(self, i: int, end: int, cue: int, fresh: int) -> None:
        after = self.tokens[self.denied_at : self.denied_at + 3]
        if self.stance & c.NEG and not en.NEGATED_EVENT.isdisjoint(after):
            self.stance |= c.DENIED
        self._clause(i, end, cue, fresh)

    def _comma(self, i: int, end: int, cue: int, fresh: int) -> None:
        local = self.stance & c.LOCAL
        self._back_to_server(end)
        self.tail = -1
        if local or self.lost:
            self._across(i, local)
        self._segment(i, end, cue, fresh)

    def _back_to_server(self, end: int) -> None:
        """An aside ends where the server itself is spoken of again."""
        if self.stance & c.ASIDE and not en.THE_SERVER.isdisjoint(self.tokens[end : end + 3]):
            self.stance &= ~c.ASIDE

    def _across(self, i: int, local: int) -> None:
        """A comma ends a negation or modal, unless no new clause begins after it."""
        tokens = self.tokens
        if tokens[i - 1] in ("no", "不", "没有", "没"):
            self.stance &= ~c.NEG
            return
        stretch = tokens[i + 1 : i + 13]
        for k, token in enumerate(stretch):
            if token in _BREAKS:
                del stretch[k:]
                break
        if stretch and (stretch[0] in en.ANEW or _CJK < stretch[0] < _CJK_END):
            self.stance &= ~c.LOCAL
            self.lost = 0
        elif en.FINITE.isdisjoint(stretch):
            self.stance |= self.lost
            self.lost = 0
        else:
            self.lost = local
            self.stance &= ~c.LOCAL

    def _and(self, i: int, end: int, cue: int, fresh: int) -> None:
        following = self.tokens[end]
        self._back_to_server(end)
        if following in en.AFTER_AND or following > "\u2fff":
            self.stance &= ~c.LOCAL
        self._segment(i, end, cue, fresh)

    def _colon(self, i: int, end: int, cue: int, fresh: int) -> None:
        self.carry = self.stance & c.CARRIED
        if self.stance & c.HEDGE:
            self.carry |= c.EPISTEMIC
        self.headed = True
        self.lost = 0
        self.segment_hit, self.segment_start = fresh, end
        self.starts.append(end)

    def _quote(self, i: int, end: int, cue: int, fresh: int) -> None:
        tokens = self.tokens
        count = self.count
        close = _position(tokens, '"', end, count)
        line = _position(tokens, "\n", end, close)
        if line < close or close == count:
            self.quoted = self.special = line
            return
        short = 8 if tokens[end] > "\u2fff" else 4
        if close - end <= short:
            self.marked = close + 1
        else:
            self.quoted = close + 1
        self.special = max(self.special, close + 1)

    def _newline(self, i: int, end: int, cue: int, fresh: int) -> None:
        tokens = self.tokens
        self._close(i, False)
        self.sentence_start = self.segment_start = end
        self.starts = [end]
        following = tokens[end]
        if following == "\n":
            self.stance = 0
            return
        after = tokens[end + 1]
        numbered = (following.isdigit() or len(following) == 1) and after in (".", ")", "、")
        if following in _BULLETS or numbered:
            self.listed = True
            if numbered:
                self.cue_end = end + 2
        elif self.listed or (i and tokens[i - 1] == "\n"):
            self.listed = False
            self.carry = 0
        self.stance = self.carry

    def _stop(self, i: int, end: int, cue: int, fresh: int) -> None:
        self._close(i, cue == c.ASKED)
        if not self.listed and cue != c.SEMICOLON:
            self.carry = 0
        self.sentence_start = self.segment_start = end
        self.starts = [end]
        self.stance = self.carry

    # -- stance ------------------------------------------------------------------------------

    def _back(self, bit: int, fresh: int) -> None:
        """Set the bit on what the clause held before; once set, later hits carry it anyway."""
        if not self.stance & bit:
            for hit in self.hits[self.segment_hit : fresh]:
                hit.stance |= bit

    def _not(self, i: int, end: int, cue: int, fresh: int) -> None:
        self.denied_at = end

    def _not_so(self, i: int, end: int, cue: int, fresh: int) -> None:
        first = self.segment_hit
        if self.tokens[self.segment_start] in en.THAT:
            first = self.clause_hit
        for hit in self.hits[max(first, self.refuted) : fresh]:
            hit.stance |= c.NEG
        self.refuted = fresh
        self.stance |= c.NEG

    def _modal(self, i: int, end: int, cue: int, fresh: int) -> bool:
        """All but "may" where that is the month."""
        before, after = self.tokens[i - 1], self.tokens[end]
        if self.tokens[i] == "may" and (before.isdigit() or after.isdigit() or before in _DATING):
            return True
        self._back(c.HEDGE, fresh)
        return False

    def _afterthought(self, bit: int, i: int, end: int, fresh: int) -> None:
        """Remember a cue that opens the last part of a sentence: it may govern what precedes."""
        if i - self.segment_start <= 1 and self.segment_start > self.sentence_start:
            self.tail, self.tail_bit, self.tail_hit = self.clause_hit, bit, fresh
            self.tail_end = end

    def _perhaps(self, i: int, end: int, cue: int, fresh: int) -> None:
        self._back(c.EPISTEMIC, fresh)
        self._afterthought(c.EPISTEMIC, i, end, fresh)

    def _if(self, i: int, end: int, cue: int, fresh: int) -> None:
        self._back(c.CONDITION, fresh)
        self._afterthought(c.CONDITION, i, end, fresh)

    def _reported(self, i: int, end: int, cue: int, fresh: int) -> None:
        self._afterthought(c.REPORT, i, end, fresh)

    def _also(self, i: int, end: int, cue: int, fresh: int) -> bool:
        """What is said of the server itself is no aside: "it was also shut down inside"."""
        around = self.tokens[max(self.segment_start, i - _NEARBY) : end + _NEARBY]
        if not en.THE_SERVER.isdisjoint(around):
            return True
        self._back(c.ASIDE, fresh)
        return False

    def _rule(self, i: int, end: int, cue: int, fresh: int) -> None:
        self._back(c.GENERAL, fresh)

    def _forged(self, i: int, end: int, cue: int, fresh: int) -> None:
        """What claims to be a verdict is nobody's word."""
        for hit in self.hits[max(self.sentence_hit, self.forged) : fresh]:
            hit.stance |= c.QUOTE
        self.forged = fresh

    def _data(self, i: int, end: int, cue: int, fresh: int) -> None:
        """Braces hold data, such as a piece of a result."""
        self.quoted = _position(self.tokens, "}", end, self.count)
        self.special = max(self.special, self.quoted)

    def _this_case(self, i: int, end: int, cue: int, fresh: int) -> None:
        """The rule just stated is this customer's case."""
        if self.sentences and not self.stance & c.UNSAID:
            for hit in self.hits[self.sentences[-1].first : fresh]:
                hit.stance &= ~c.GENERAL

    def _cause(self, i: int, end: int, cue: int, fresh: int) -> None:
        self.cause = True

    def _or(self, i: int, end: int, cue: int, fresh: int) -> None:
        self.either = True

    def _withdrawn(self, i: int, end: int, cue: int, fresh: int) -> None:
        if not self.stance & (c.UNSAID & ~c.ASK):
            for hit in self.hits[self.withdrawn : fresh]:
                hit.stance |= c.QUOTE
            self.withdrawn = fresh

    def _wrong_that(self, i: int, end: int, cue: int, fresh: int) -> None:
        first = self.sentence_hit
        content = any(
            hit.features[0] >= c.FIRST_FEATURE or not hit.features[0]
            for hit in self.hits[max(first, self.refused) : fresh]
        )
        if not content and self.sentences:
            first = self.sentences[-1].first
        for hit in self.hits[max(first, self.refused) : fresh]:
            hit.stance |= c.QUOTE
        self.refused = fresh

    # -- the end of a sentence ---------------------------------------------------------------

    def _close(self, i: int, asked: bool) -> None:
        hits, first = self.hits, self.sentence_hit
        last = len(hits)
        start = self.sentence_start
        if self.tail >= 0 and (
            self.tail_bit == c.CONDITION or self.tail_hit == last or hits[-1].start < self.tail_end
        ):
            for hit in hits[max(self.tail, first) : self.tail_hit]:
                hit.stance |= self.tail_bit
        if self.denied_at == i and self.segment_start >= i - 1 > start:
            for hit in hits[first:last]:
                hit.stance |= c.NEG
        if i > start:
            asked = asked or self._unmarked_question(i)
            if last > first:
                if asked:
                    begin = self._question_start(i)
                    for hit in hits[first:last]:
                        if hit.start >= begin:
                            hit.stance |= c.ASK
                elif not self.listed and self._is_rule(i):
                    for hit in hits[first:last]:
                        hit.stance |= c.GENERAL
                if self.cause:
                    for hit in hits[first:last]:
                        hit.stance &= ~c.ASIDE
            header = self.headed and i - self.segment_start <= 0
            self.sentences.append(
                Sentence(start, i, first, last, asked, self.listed, self.either, header)
            )
            self.number += 1
        self.clause += 1
        self.clause_hit = self.segment_hit = self.sentence_hit = last
        self.tail = -1
        self.lost = 0
        self.cause = self.either = self.headed = False

    def _unmarked_question(self, i: int) -> bool:
        tokens, start = self.tokens, self.sentence_start
        if tokens[i - 1] in ("吗", "呢", "么"):
            return True
        return i - start > 2 and tokens[start] in _AUXILIARIES and tokens[start + 1] in _SUBJECTS

    def _question_start(self, i: int) -> int:
        """Where the question begins: earlier clauses of the sentence are no part of it."""
        tokens, starts = self.tokens, self.starts
        tag = [hit for hit in self.hits[self.sentence_hit :] if c.TAG in hit.features]
        if tag and len(starts) > 1:
            last = tag[-1]
            if last.start - starts[-1] <= 1 and i - last.end <= 1:
                return self.sentence_start
        asking = [h.start for h in self.hits[self.sentence_hit :] if c.INTERROGATIVE in h.features]
        earliest = asking[0] if asking else i
        for k, start in enumerate(starts):
            end = starts[k + 1] if k + 1 < len(starts) else i
            first = start
            while first < end and tokens[first] in _LEADS:
                first += 1
            if first < end and tokens[first] in en.OPENERS:
                return self.sentence_start if tokens[start] == "or" else start
            if start <= earliest < end:
                return start
        return self.sentence_start

    def _is_rule(self, i: int) -> bool:
        tokens, first = self.tokens, self.sentence_start
        while first < i and (
            tokens[first] in _BEFORE_SUBJECT or tokens[first] in _BULLETS or tokens[first] == ","
        ):
            first += 1
        if first >= i:
            return False
        if tokens[first] not in en.INDEFINITE:
            doing = tokens[first].endswith("ing") and tokens[first] not in _NO_DOING
            doing = doing and self.hits[self.sentence_hit].start == first
            if not doing:
                return False
        stretch = tokens[first:i]
        if not en.ANCHORS.isdisjoint(stretch):
            return False
        if not _HAPPENED.isdisjoint(stretch) and _RELATIVES.isdisjoint(stretch[:5]):
            return False
        return not any("-" in token and len(token) > 3 for token in stretch)


def _position(tokens: list[str], token: str, start: int, stop: int) -> int:
    """Where the token stands first; ``stop`` if it doesn't."""
    try:
        return tokens.index(token, start, stop)
    except ValueError:
        return stop


_ACTS: Final = MappingProxyType[int, Callable[[Scanner, int, int, int, int], bool | None]](
    {
        c.STOP: Scanner._stop, c.ASKED: Scanner._stop, c.SEMICOLON: Scanner._stop,
        c.NEWLINE: Scanner._newline, c.COLON: Scanner._colon, c.COMMA: Scanner._comma,
        c.DASH: Scanner._comma, c.PAREN: Scanner._comma, c.QUOTE_MARK: Scanner._quote,
        c.CONTRAST: Scanner._clause, c.BECAUSE: Scanner._because, c.SO: Scanner._clause,
        c.AND: Scanner._and, c.SUBORDINATE: Scanner._segment, c.NOT: Scanner._not,
        c.NOT_SO: Scanner._not_so, c.MODAL: Scanner._modal, c.PERHAPS: Scanner._perhaps,
        c.IF: Scanner._if, c.REPORTED: Scanner._reported, c.ALSO: Scanner._also,
        c.RULE: Scanner._rule, c.THIS_CASE: Scanner._this_case,
        c.FORGED: Scanner._forged, c.DATA: Scanner._data, c.CAUSE: Scanner._cause, c.OR: Scanner._or,
        c.WITHDRAWN: Scanner._withdrawn, c.WRONG_THAT: Scanner._wrong_that,
    }
)  # fmt: skip
