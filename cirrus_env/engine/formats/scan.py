"""One pass over model text: marks of calls, hidden reasoning, quotations, and words between.

The time is linear in the text, whatever it holds: each search goes forward from where the last one
ended, and what must look further ahead (``Source.object_end``) draws on a budget.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from cirrus_env.engine.formats.found import Found
from cirrus_env.wire import ToolCall
from cirrus_env.wire.jsontext import MAX_DEPTH
from cirrus_env.wire.reasoning import REASONING

_CLOSER: Final = dict(REASONING)
_THINK: Final = "|".join(re.escape(opener) for opener, _ in REASONING)
_UNTHINK: Final = "|".join(re.escape(closer) for _, closer in REASONING if closer != "<|end|>")
_ANY_THINK: Final = re.compile(f"{_THINK}|{_UNTHINK}")

_ENDS: Final = re.compile(
    r"(?:\s*(?:<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|observation|user|return|call|eot|"
    r"end)\|>|</s>|<｜end▁of▁sentence｜>|<end_of_turn>|<eos>))+\s*\Z"
)
"""What a tokenizer writes at the end of a turn."""

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)
_WORD: Final = re.compile(r"\S")
_FENCE: Final = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)


class Block(NamedTuple):
    """A call, or several, or a mark that holds none.

    Attributes:
        end: Where the words go on.
        calls: The calls.
        fault: Why the message can't be used; empty where it can.
    """

    end: int
    calls: tuple[ToolCall, ...] = ()
    fault: str = ""


class Source:
    """A text with a budget for looking ahead.

    Attributes:
        text: The text.
    """

    __slots__ = ("_absent", "_budget", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._budget = 8 * len(text) + 1024
        self._absent: set[re.Pattern[str]] = set()

    def search(self, pattern: re.Pattern[str], start: int) -> re.Match[str] | None:
        """As the pattern's own, but what isn't there once is not looked for again further on."""
        if pattern in self._absent:
            return None
        found = pattern.search(self.text, start)
        if found is None:
            self._absent.add(pattern)
        return found

    def object_end(self, start: int) -> int:
        """Where the JSON object or array that begins at ``start`` is balanced; -1 if nowhere.

        Nor is it where it is nested deeper than JSON is read.
        """
        limit = min(len(self.text), start + self._budget)
        depth, end = 0, -1
        at = start
        for token in _TOKEN.finditer(self.text, start, limit):
            at = token.end()
            first = token[0][0]
            if first in "{[":
                depth += 1
                if depth > MAX_DEPTH:
                    break
            elif first in "}]":
                depth -= 1
                if depth == 0:
                    end = at
                    break
        else:
            at = limit
        self._budget -= at - start
        return end


Reader = Callable[[Source, "re.Match[str]"], Block | None]
"""Reads what begins at a mark; None where the mark is only talked about."""


def trimmed(text: str) -> str:
    """The text without the tokens that end a turn."""
    tail = _ENDS.search(text, max(0, len(text) - 200))
    return text[: tail.start()] if tail else text


def talked_about(text: str, start: int, end: int) -> bool:
    """Whether a mark stands in a sentence, as a word between spaces or quotes."""
    before = text[start - 1] if start else ""
    after = text[end] if end < len(text) else ""
    return before != "" and after != "" and before in " ('\"" and after in " .,;:!?)'\""


def scan(text: str, opening: str = "", read: Reader | None = None) -> Found:
    """Split a text into words, calls and hidden reasoning.

    A mark right after a backtick, or inside a fenced example among words, is words. A closing mark
    of reasoning that none opened makes reasoning of all before it, since some templates open it.

    Args:
        text: The model's text.
        opening: A pattern of the marks that begin calls; empty for reasoning only.
        read: Reads what begins at such a mark.
    """
    pattern = _pattern(opening)
    source = Source(text)
    fences = Fences(text)
    words: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    fault = ""
    start = position = head = 0
    touched = False
    while mark := pattern.search(text, position):
        position = mark.end()
        at = mark.start()
        if text[at - 1 : at] == "`" or fences.around(at):
            continue
        if mark.lastgroup == "unthink":
            head = at
            words, thoughts, calls, fault = [], [], [], ""
        elif mark.lastgroup == "think":
            words.append(text[start:at])
            closer = _CLOSER[mark[0]]
            end = text.find(closer, position)
            thoughts.append(text[position : len(text) if end < 0 else end])
            position = len(text) if end < 0 else end + len(closer)
        else:
            block = None if read is None else read(source, mark)
            if block is None:
                continue
            words.append(text[start:at])
            calls += block.calls
            fault = fault or block.fault
            position = block.end
        touched = True
        start = position
        fences.skip_to(position)
    if not touched:
        return Found(text)
    words.append(text[start:])
    if head:
        thoughts.insert(0, _ANY_THINK.sub("", text[:head]))
    reasoning = "\n".join(filter(None, (thought.strip() for thought in thoughts)))
    said = "\n".join(filter(None, (piece.strip() for piece in words)))
    return Found(said, tuple(calls), reasoning, fault)


def split_reasoning(text: str) -> tuple[str, str]:
    """The hidden reasoning of a text, and the rest; the rest is untouched where there is none."""
    if not _ANY_THINK.search(text):
        return "", text
    found = scan(text)
    return found.reasoning, found.text


class Fences:
    """Which marks stand in a fenced example: within a pair of fences, after words before it."""

    __slots__ = ("_counted", "_first", "_inside", "_last", "_text", "_words")

    def __init__(self, text: str) -> None:
        self._text = text
        self._last = max(text.rfind("\n```"), text.rfind("\n~~~"))
        self._inside, self._first = False, -1
        self.skip_to(0)

    def skip_to(self, position: int) -> None:
        """Fences before here, inside a call or reasoning, are no fences of the message."""
        self._counted = position
        word = _WORD.search(self._text, position)
        self._words = word.start() if word else len(self._text)

    def around(self, at: int) -> bool:
        """Whether a mark here is in an example; ask in the order of the text."""
        for fence in _FENCE.finditer(self._text, self._counted, at):
            self._inside = not self._inside
            if self._inside:
                self._first = fence.start()
        self._counted = at
        return self._inside and self._last > at and self._first > self._words


@lru_cache(maxsize=64)
def _pattern(opening: str) -> re.Pattern[str]:
    call = f"|(?P<call>{opening})" if opening else ""
    return re.compile(f"(?P<think>{_THINK})|(?P<unthink>{_UNTHINK}){call}")


_LAST_FENCE: Final = re.compile(r"[ \t]*```[ \t]*\w*[ \t]*\n")


def fenced_tail(text: str) -> tuple[str, str]:
    """The words before, and the inside of, a fenced block that ends the text or is cut by it.

    Without one the words are empty and the inside is all of the text.
    """
    whole = text.rstrip()
    cut = whole.count("```") % 2 == 1
    if not cut and not whole.endswith("```"):
        return "", text
    stop = len(whole) if cut else len(whole) - 3
    opening = whole.rfind("```", 0, stop)
    line = whole.rfind("\n", 0, opening) + 1
    fence = _LAST_FENCE.match(whole, line)
    if fence is None:
        return "", text
    return whole[:line].strip(), whole[fence.end() : stop]
