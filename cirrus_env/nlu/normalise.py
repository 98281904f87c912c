"""One plain form for many writings, and its tokens."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache
from typing import Final
from unicodedata import normalize

_SIGNS: Final = {
    ord(sign): plain
    for signs, plain in (
        ("\u2018\u2019\u02bc\u00b4\u2032", "'"),
        (
            "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u300c\u300d\u300e\u300f\u300a\u300b\u300c",
            '"',
        ),
        ("\u2014\u2015\u2500", " \u2013 "),
        ("\u2010\u2011\u2012\u2212", "-"),
        ("\u3002\uff61", ". "),
        ("\u2028\u2029\x0b\x0c\x85", "\n"),
        ("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad\u180e\u2061\u2062\u2063\u2064", ""),
        ("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", ""),
    )
    for sign in signs
}
_FENCE: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_STRUCK: Final = re.compile(r"~~[^~\n]{1,400}~~")
_UNSAID: Final = re.compile(
    r"<!--[\s\S]{0,2000}?-->"
    r"|<(del|s|strike|blockquote|q|pre)\b[^<>]{0,80}>[\s\S]{0,2000}?</\1\s{0,9}>",
    re.IGNORECASE,
)
_STAR: Final = re.compile(r"(^|\n)[ \t]*[*+][ \t]+")
_CITED: Final = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_SINGLE: Final = re.compile(r"(?<![\w'])'([^'\n]{1,400})'(?![\w'])")
_CONTRACTIONS: Final = (
    ("can't", "can not"), ("won't", "will not"), ("shan't", "shall not"), ("ain't", "is not"),
    ("n't", " not"), ("it's", "it is"), ("that's", "that is"), ("there's", "there is"),
    ("here's", "here is"), ("what's", "what is"), ("who's", "who is"), ("how's", "how is"),
    ("he's", "he is"), ("let's", "let us"), ("'re ", " are "), ("'ve ", " have "),
    ("'ll ", " will "), ("i'm", "i am"), ("'d ", " would "), ("'s ", " "), ("'s", ""),
)  # fmt: skip
_DOTTED: Final = (
    "e.g.", "e. g.", "i.e.", "i. e.", "approx.", "vs.", "etc.", "mr.", "mrs.", "ms.", "dr.",
    "incl.",
)  # fmt: skip

TOKEN: Final = re.compile(
    r"[a-z]++(?![0-9_]|[-.@][a-z0-9])"
    r"|(?:cny|rmb|usd|eur)(?=[0-9])"
    r"|[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}(?![0-9-])(?:t[0-9:.]++z?)?"
    r"|[0-9]++(?:[.,:][0-9]++)*+(?![_-]?[a-z0-9]|[.@][a-z0-9])"
    r"|[0-9]++(?:[.,][0-9]++)*+(?=-?(?:days?|hours?|months?|weeks?|minutes?|years?|yuan|cny|rmb|cents?"
    r"|usd|st|nd|rd|th|gb|gib|tb|mb|mbps|h)(?![a-z0-9]))"
    r"|(?=[a-z_.@-]{0,40}+[0-9])[a-z0-9]++(?:[-_.@/]++[a-z0-9]++)*+"
    r"|[a-z]++"
    r"|[\u3400-\u9fff]"
    r"|\.[a-z0-9]++"
    r"|\w"
    r"|\n|[^\w\s]"
)
"""A word, number, date, id, CJK character, line break or sign of lower-case plain text."""


def flat(text: str) -> str:
    """One writing for widths, quotes and dashes, without invisible characters; case is kept."""
    return text if text.isascii() else normalize("NFKC", text).translate(_SIGNS)


def plain(text: str) -> str:
    """Flat lower-case text without contractions and markup.

    Quoted lines, code fences and struck-out words are gone: they assert nothing.
    """
    if "```" in text or "~~" in text:
        text = _STRUCK.sub(" ", _FENCE.sub("\n", text))
    if "</" in text or "<!--" in text:
        text = _UNSAID.sub(" ", text)
    if ">" in text:
        text = _CITED.sub("", text)
    if "'" in text:
        text = _spelled(text)
    if "cannot" in text:
        text = text.replace("cannot", "can not")
    if "`" in text:
        text = text.replace("`", '"')
    if " - " in text or "--" in text:
        text = text.replace(" - ", " \u2013 ").replace("--", " \u2013 ")
    if "*" in text or "#" in text:
        text = _STAR.sub(r"\1- ", text)
        text = text.replace("*", "").replace("#", "")
    if ". " in text or "e.g" in text:
        for short in _DOTTED:
            if short in text:
                text = text.replace(short, short.replace(".", "") + " ")
    return text


def _spelled(text: str) -> str:
    """Without apostrophes: contractions in full, single quotation marks as double ones."""
    if " '" in text or text[0] == "'":
        text = _SINGLE.sub(r'"\1"', text)
    for short, full in _CONTRACTIONS:
        if short in text:
            text = text.replace(short, full)
    return text


def tokens(lowered: str, known: Container[str] = ()) -> list[str]:
    """The tokens of lower-case plain text; ``known`` are words that need no splitting."""
    if "\n" in lowered or "\t" in lowered or "\r" in lowered:
        lowered = lowered.replace("\n", " \n ").replace("\t", " ").replace("\r", " ")
    found: list[str] = []
    for word in lowered.split(" "):
        if word in known:
            found.append(word)
        elif len(word) <= _SHORT:
            found.extend(_pieces(word))
        else:
            found.extend(TOKEN.findall(word))
    return found


_SHORT: Final = 24


@lru_cache(maxsize=8192)
def _pieces(word: str) -> tuple[str, ...]:
    """A short word's tokens; most words come again and again."""
    return tuple(TOKEN.findall(word))


def as_written(text: str, token: str) -> str:
    """A lower-case token with the case that the text gives it; ``?`` before it where it gives two.

    Args:
        text: Flat text.
        token: A token of its lower-case form.
    """
    lowered = text.lower()
    exact, all = text.count(token), lowered.count(token)
    if exact == all:
        return token
    at = lowered.find(token)
    if exact or len(lowered) != len(text) or at < 0:
        return f"?{token}"
    return text[at : at + len(token)]
