"""What a ticket's parts may refer to while they are compiled for one variant and language."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.errors import TicketError
from cirrus_env.tickets.model import Groups
from cirrus_env.tickets.templates import (
    Fixed,
    Nature,
    Part,
    Placeholder,
    Values,
    combine,
    combine_dict,
    joined,
    parse,
    pick,
    writer,
)


@dataclass(slots=True)
class Shown:
    """One way that a value is written, worked out once for each seed."""

    key: str
    source: str
    write: Any


@dataclass(slots=True)
class Scope:
    """The names in reach, and how to read texts and values that use them.

    Attributes:
        file: The ticket's file, for errors.
        variant: The root cause compiled for.
        variants: All of them.
        language: The language compiled for.
        catalogue: The services in scope.
        natures: Parameter name -> what it is.
        early: What placeholders show that is known before the world is set up.
        late: The same, of measures of the world as set up.
        measures: Value key -> (measure, parameter that names its resource).
        shared: Phrase groups shared between the ticket's variants.
    """

    file: str
    variant: str
    variants: tuple[str, ...]
    language: str
    catalogue: Catalogue
    natures: dict[str, Nature] = field(default_factory=dict)
    choices: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    early: dict[str, Shown] = field(default_factory=dict)
    late: dict[str, Shown] = field(default_factory=dict)
    measures: dict[str, tuple[str, str]] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)
    world_is_up: bool = False

    # -- errors and names ----------------------------------------------------------------------

    def fail(self, path: str, problem: str, mend: str = "") -> NoReturn:
        """Raise the ``TicketError`` of a place in the file."""
        raise TicketError(self.file, path, problem, mend)

    def known(self, path: str, name: str, what: str, names: Iterable[str]) -> str:
        """The name, if it is one of the names; else a ``TicketError`` with near ones."""
        names = list(names)
        if name not in names:
            near = difflib.get_close_matches(name, sorted(names), n=3)
            listed = near or sorted(names)[:12]
            mend = f"did you mean {', '.join(listed)}?" if listed else f"there is no {what} at all"
            self.fail(path, f"no {what} {name!r}", mend)
        return name

    def applies(self, path: str, entry: Mapping[str, Any]) -> bool:
        """Whether an entry's ``only`` lets it into this variant."""
        only = entry.get("only")
        if only is None:
            return True
        for i, name in enumerate(only):
            self.known(f"{path}.only[{i}]", name, "variant", self.variants)
        return self.variant in only

    def spoken(self, path: str, entry: Mapping[str, Any]) -> Any:
        """The entry's part in this language."""
        if self.language not in entry:
            self.fail(path, f"nothing in {self.language!r}", f"add {path}.{self.language}")
        return entry[self.language]

    # -- texts and values ----------------------------------------------------------------------

    def text(self, path: str, template: str) -> Part:
        """Words for people."""
        return self._joined(path, template, self.language)

    def machine(self, path: str, template: str) -> Part:
        """A string for machines: written language-free."""
        return self._joined(path, template, "")

    def value(self, path: str, node: Any) -> Part:
        """A value in depth; a string that is exactly one placeholder takes the value's type."""
        if isinstance(node, str):
            pieces = self._parse(path, node)
            if len(pieces) == 1 and isinstance(pieces[0], Placeholder) and not pieces[0].style:
                return self._raw(path, pieces[0])
            return self.machine(path, node)
        if isinstance(node, bool) or node is None:
            return Fixed(node)
        if isinstance(node, int):
            if abs(node) >= 1 << 63:
                self.fail(path, "the number is too large", "stay within 64 bits")
            return Fixed(node)
        if isinstance(node, float):
            if not math.isfinite(node):
                self.fail(path, f"{node} is no JSON number")
            return Fixed(node)
        if isinstance(node, list):
            return combine(
                lambda *items: list(items),
                [self.value(f"{path}[{i}]", item) for i, item in enumerate(node)],
            )
        if not isinstance(node, dict):
            self.fail(path, f"a {type(node).__name__} is no JSON value", "write dates as text")
        return self.table(path, node)

    def table(self, path: str, node: Mapping[str, Any]) -> Part:
        """A table of values."""
        return combine_dict({k: self.value(f"{path}.{k}", item) for k, item in node.items()})

    def nature(self, path: str, node: Any) -> Nature | None:
        """What a node is if it is exactly one placeholder, else None."""
        if not isinstance(node, str):
            return None
        pieces = self._parse(path, node)
        if len(pieces) == 1 and isinstance(pieces[0], Placeholder) and not pieces[0].style:
            placeholder = pieces[0]
            return "money" if placeholder.measure else self.natures[self._name(path, placeholder)]
        return None

    def chosen(self, path: str, node: str) -> tuple[Any, ...]:
        """All values of the choice that a node shows."""
        name = next(piece.name for piece in self._parse(path, node) if not isinstance(piece, str))
        return self.choices[name]

    def _parse(self, path: str, template: str) -> list[str | Placeholder]:
        try:
            return parse(template)
        except ValueError as error:
            self.fail(path, str(error))

    def _name(self, path: str, placeholder: Placeholder) -> str:
        return self.known(path, placeholder.name, "parameter", self.natures)

    def _raw(self, path: str, placeholder: Placeholder) -> Part:
        self._name(path, placeholder)
        if placeholder.measure:
            self._measure(path, placeholder)
            key = placeholder.key
            return lambda values: values[key]
        name = placeholder.name
        if self.natures[name] == "choice":
            return lambda values: values[name].value
        return lambda values: values[name]

    def _measure(self, path: str, placeholder: Placeholder) -> None:
        if not self.world_is_up:
            self.fail(
                path, "a measure is not known before the world is set up",
                "use a parameter with derive",
            )  # fmt: skip
        name = placeholder.measure
        short = name.rpartition(".")[2]
        table = self.catalogue.measures
        found = name if name in table else self.known(path, short, "measure", table)
        self.measures[placeholder.key] = (found, placeholder.name)

    def _joined(self, path: str, template: str, language: str) -> Part:
        pieces: list[str | tuple[str]] = []
        for piece in self._parse(path, template):
            if isinstance(piece, str):
                pieces.append(piece)
                continue
            self._name(path, piece)
            if piece.measure:
                self._measure(path, piece)
            pieces.append((self._show(piece, language),))
        return joined(pieces)

    def _show(self, placeholder: Placeholder, language: str) -> str:
        nature = "money" if placeholder.measure else self.natures[placeholder.name]
        plain_int = nature in ("money", "date") and placeholder.style == "raw"
        if plain_int or nature in ("text", "number"):
            return placeholder.key
        key = f"{placeholder.key}|{placeholder.style}|{language}"
        table = self.late if placeholder.measure else self.early
        if key not in table:
            write = writer(nature, placeholder.style, language)
            table[key] = Shown(key, placeholder.key, write)
        return key

    def wording(self, path: str, node: Any, label: str) -> Part:
        """Words in this language, one text or several; one of several is drawn for each seed."""
        texts = self.spoken(path, node)
        where = f"{path}.{self.language}"
        if isinstance(texts, str):
            return self.text(where, texts)
        return pick([self.text(f"{where}[{i}]", text) for i, text in enumerate(texts)], label)

    # -- phrases -------------------------------------------------------------------------------

    def phrase_groups(self, path: str, node: list[list[str]]) -> Groups:
        """Phrase groups, one object for all variants that share them."""
        found: Groups | None = self.shared.get(path)
        if found is None:
            for i, group in enumerate(node):
                for j, phrase in enumerate(group):
                    self._phrase(f"{path}[{i}][{j}]", phrase)
            found = self.shared[path] = tuple(tuple(group) for group in node)
        return found

    def _phrase(self, path: str, phrase: str) -> None:
        if phrase != phrase.lower() or phrase != phrase.strip() or not phrase:
            self.fail(path, f"the phrase {phrase!r} is not trimmed lower case")
        if "{" in phrase or "}" in phrase:
            self.fail(path, f"the phrase {phrase!r} holds a placeholder", "phrases are fixed text")


def show(values: Values, table: Iterable[Shown]) -> None:
    """Work out how the values are written."""
    for shown in table:
        values[shown.key] = shown.write(values[shown.source])
