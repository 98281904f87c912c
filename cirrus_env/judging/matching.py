"""Tool calls against reference calls: what counts, and one-to-one matches (METRICS section 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cirrus_env.cloud.arguments import plain, same
from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.wire import canonical

Canon = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""From an operation and its arguments to the arguments that count, in canonical form."""


class PaperCall(NamedTuple):
    """A tool call of a turn.

    Attributes:
        name: The tool.
        arguments: As the agent (or the reference) wrote them.
        ok: Whether it succeeded.
    """

    name: str
    arguments: Mapping[str, Any]
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Canonical:
    """Schema-aware canonical arguments, without the ignorable ones.

    Attributes:
        catalogue: Whose schemas give the defaults; None for none.
        ignorable: Operation -> arguments of free text that may differ; ``*`` for any operation.
    """

    catalogue: Catalogue | None = None
    ignorable: Mapping[str, frozenset[str]] = field(
        default_factory=lambda: {"*": frozenset({"ClientToken", "Description"})}
    )

    def __call__(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments that count."""
        if self.catalogue is not None and name in self.catalogue.operations:
            form = self.catalogue.schema(name).canonical(arguments)
        else:
            form = {key: plain(arguments[key]) for key in sorted(arguments)}
        left_out = self.ignorable.get("*", frozenset()) | self.ignorable.get(name, frozenset())
        return {key: value for key, value in form.items() if key not in left_out}


def sincere(calls: Iterable[PaperCall], reference: Iterable[PaperCall]) -> list[PaperCall]:
    """The calls that may match: successful, and empty only where the reference calls so too."""
    empty = {call.name for call in reference if not call.arguments}
    return [call for call in calls if call.ok and (call.arguments or call.name in empty)]


def distinct(calls: Iterable[PaperCall], canon: Canon) -> list[PaperCall]:
    """The calls without repetitions of an equal, successful one."""
    seen: set[str] = set()
    kept = []
    for call in calls:
        key = _key(call, canon)
        if key in seen:
            continue
        if call.ok:
            seen.add(key)
        kept.append(call)
    return kept


def counting(
    calls: Sequence[PaperCall], reference: Sequence[PaperCall], canon: Canon
) -> list[PaperCall]:
    """The distinct calls that may match."""
    return sincere(distinct(calls, canon), reference)


def names_matched(calls: Iterable[PaperCall], reference: Iterable[PaperCall]) -> int:
    """One-to-one matches by name; empty arguments match empty arguments only."""
    mine = Counter((call.name, not call.arguments) for call in calls)
    theirs = Counter((call.name, not call.arguments) for call in reference)
    total = 0
    for name in sorted({name for name, _ in mine}):
        empty = min(mine[name, True], theirs[name, True])
        rest = theirs[name, False] + theirs[name, True] - empty
        total += empty + min(mine[name, False], rest)
    return total


def exactly_matched(
    calls: Iterable[PaperCall], reference: Iterable[PaperCall], canon: Canon
) -> int:
    """One-to-one matches by name and canonical arguments, equal in both directions."""
    mine = Counter(_key(call, canon) for call in calls)
    theirs = Counter(_key(call, canon) for call in reference)
    return sum((mine & theirs).values())


def equal(a: PaperCall, b: PaperCall) -> bool:
    """Whether two calls are the same as written, as the published form compares them."""
    return a.name == b.name and same(dict(a.arguments), dict(b.arguments))


def _key(call: PaperCall, canon: Canon) -> str:
    return call.name + " " + canonical(canon(call.name, call.arguments))
