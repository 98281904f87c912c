"""A recorded conversation as every importer reads it, whatever file it comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from cirrus_env.cloud.lookup import Lookup
from cirrus_env.cloud.recorded import RecordedCall

_LONGEST_SLUG: Final = 64
_BREAK: Final = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One assistant message of a recording, with what came before and after it.

    Attributes:
        calls: The calls that it made first, in order.
        reply: Its words.
        answer: The customer's next words; empty at the end.
        needed: Which of the calls are asked for, by index; None for all that worked.
        facts: Texts that the reply must tell; None to find them.
        listed: Whether the source says that something is to be checked here.
    """

    calls: tuple[RecordedCall, ...]
    reply: str
    answer: str
    needed: tuple[int, ...] | None = None
    facts: tuple[str, ...] | None = None
    listed: bool = True


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A recorded conversation, read from a foreign file.

    Attributes:
        stem: The ticket's id; see ``slug``.
        title: One line.
        opening: The customer's first words.
        exchanges: What followed.
        role: What the assistant is told about its place and the user.
        now: The opening moment, ISO-8601; empty if unknown.
        language: ``en`` or ``zh``.
        family: What conversations about the same task share; empty for the stem.
        ignorable: Argument names that never count.
        worded: Argument names that count by their words.
        lookups: Tables that answer reads which nobody recorded.
        whole: Whether each listed exchange is one checkpoint, as the source lists them.
        unscored: Why nothing in it may count as evidence; empty where it may.
        used: What was taken from beside the conversation, a sentence each.
        dropped: What was left out, a sentence each.
    """

    stem: str
    title: str
    opening: str
    exchanges: tuple[Exchange, ...]
    role: str
    now: str = ""
    language: str = "en"
    family: str = ""
    ignorable: tuple[str, ...] = ()
    worded: tuple[str, ...] = ()
    lookups: tuple[Lookup, ...] = ()
    whole: bool = False
    unscored: str = ""
    used: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def calls(self) -> tuple[RecordedCall, ...]:
        """All calls, in order."""
        return tuple(call for exchange in self.exchanges for call in exchange.calls)


def slug(*parts: str) -> str:
    """A ticket's id made of foreign names: letters, digits and hyphens, a letter first.

    Names that are not kept whole end with a digest, so that two never become one.
    """
    given = "-".join(parts)
    text = _BREAK.sub("-", given).strip("-")
    if not text or not text[0].isalpha():
        text = f"t-{text}".strip("-")
    kept = not given.isascii() or len(text) > _LONGEST_SLUG
    if kept:
        mark = blake2b(given.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        text = f"{text[: _LONGEST_SLUG - 9].rstrip('-')}-{mark}"
    return text


def language_of(texts: tuple[str, ...]) -> str:
    """``zh`` where Chinese characters outnumber other letters, else ``en``."""
    joined = "".join(texts)
    chinese = sum("\u3400" <= character <= "\u9fff" for character in joined)
    letters = sum(character.isalpha() for character in joined)
    return "zh" if 2 * chinese > letters else "en"


def one_line(text: str, most: int = 200) -> str:
    """The text as one printable line of at most so many characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:most].rstrip()
