"""The handbook as data: the fixed list of candidates, read once."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from cirrus_env.cloud.catalogue import SERVICES, catalogue
from cirrus_env.errors import InvariantError
from cirrus_env.wrappers.candidates.facts import BITS

FILE: Final = Path(__file__).with_name("handbook.toml")
LANGUAGES: Final = ("en", "zh")
SAID: Final = ("ask", "propose", "find", "advise")
"""Sections whose entries are replies."""

_PLACE: Final = re.compile(r"\{(\w+)(:number)?\}")
_NUMBER: Final = re.compile(r'"\{(\w+):number\}"')


class Candidate(NamedTuple):
    """One thing that the assistant can choose to do.

    Attributes:
        name: ``section.entry``, such as ``find.is_subscription``.
        kind: ``ask``, ``call``, ``propose``, ``find``, ``advise``, ``escalate`` or ``close``.
        texts: Language -> the words, with places such as ``{instance}``; for a call its arguments
            as JSON with places, the same for all languages; empty for an escalation.
        operation: The operation of a call.
        queue: The queue of an escalation.
        reads: Whether it is a call that changes nothing.
        places: The facts that fill its places.
        needs: The same as bits; see ``facts.BITS``.
        after: The names of the proposals of which one has to be made before; none for a call that
            nobody needs to be asked about.
    """

    name: str
    kind: str
    texts: Mapping[str, str]
    operation: str = ""
    queue: str = ""
    reads: bool = False
    places: tuple[str, ...] = ()
    needs: int = 0
    after: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def handbook() -> tuple[Candidate, ...]:
    """All candidates in the order of the actions."""
    return read(FILE.read_text("utf-8"))


def read(text: str) -> tuple[Candidate, ...]:
    """The candidates of a handbook's TOML.

    Raises:
        InvariantError: If an entry names an operation, a fact or a proposal that there isn't.
    """
    book = tomllib.loads(text)
    operations = catalogue(tuple(SERVICES)).operations
    return tuple(_candidates(book, operations))


def _candidates(book: Mapping[str, Any], operations: Mapping[str, Any]) -> Iterator[Candidate]:
    for section, entries in book.items():
        if section == "version":
            continue
        for entry, given in entries.items():
            name = f"{section}.{entry}"
            if section == "escalate":
                yield Candidate(name, section, MappingProxyType({}), queue=given)
            elif section == "call":
                operation, arguments, *proposals = given
                after = tuple(f"propose.{one}" for one in chain(*proposals))
                if not {f"propose.{one}" for one in book.get("propose", ())}.issuperset(after):
                    raise InvariantError(f"{name}: there are no proposals {', '.join(after)}")
                if operation not in operations:
                    raise InvariantError(f"{name}: there is no operation {operation!r}")
                template = _NUMBER.sub(r"{\1}", json.dumps(arguments, ensure_ascii=False))
                made = _made(name, section, dict.fromkeys(LANGUAGES, template))
                reads = operations[operation].effect == "read"
                yield made._replace(operation=operation, reads=reads, after=after)
            else:
                yield _made(name, section, dict(zip(LANGUAGES, given, strict=True)))


def _made(name: str, kind: str, texts: Mapping[str, str]) -> Candidate:
    places = tuple(dict.fromkeys(m[1] for text in texts.values() for m in _PLACE.finditer(text)))
    unknown = [place for place in places if place not in BITS]
    if unknown:
        raise InvariantError(f"{name}: there are no facts {', '.join(unknown)}")
    needs = sum(BITS[place] for place in places)
    return Candidate(name, kind, MappingProxyType(dict(texts)), places=places, needs=needs)
