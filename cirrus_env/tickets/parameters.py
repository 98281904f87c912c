"""Parameters: what a seed draws, each from its own stream so that one more shifts nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from cirrus_env.tickets.moments import compile_moment, moment_names
from cirrus_env.tickets.scope import Scope, show
from cirrus_env.tickets.shapes import NAMES, has_shape, id_writer, known_kinds
from cirrus_env.tickets.templates import Fixed, Nature, Part, Placeholder, Values, parse
from cirrus_env.world import first_below
from cirrus_env.world.clock import DAY

Draw = Callable[[int, Values], Any]
"""``draw(seed, values so far)`` -> the parameter's raw value."""

IMPLICIT: dict[str, dict[str, str]] = {
    "account": {"kind": "id", "of": "billing.account"},
    "neighbour": {"kind": "id", "of": "billing.account"},
    "customer": {"kind": "name"},
}
"""Parameters that every ticket has; a ticket may declare its own of the same name."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One item of a ``choice``: a value for machines and how people say it."""

    value: Any
    words: Mapping[str, str]

    def shown(self, language: str) -> str:
        """How people of this language say it."""
        return self.words.get(language, str(self.value))


def compile_parameters(scope: Scope, data: Mapping[str, Any]) -> tuple[tuple[str, Draw], ...]:
    """The draws of all parameters of this variant, each after those that it reads."""
    applying = {}
    for name, given in {**IMPLICIT, **data}.items():
        path = f"parameters.{name}"
        ways = given if isinstance(given, list) else [given]
        fitting = [way for way in ways if scope.applies(path, way)]
        if len(fitting) > 1:
            scope.fail(path, f"drawn in two ways in variant {scope.variant!r}", "check only")
        if fitting:
            applying[name] = fitting[0]
    scope.natures["now"] = "date"
    reads = {n: _reads(scope, f"parameters.{n}", e) for n, e in applying.items()}
    for name, needed in reads.items():
        for other in sorted(needed):
            scope.known(f"parameters.{name}", other, "parameter", [*applying, "now"])
    try:
        order = TopologicalSorter({n: sorted(r - {"now"}) for n, r in reads.items()}).static_order()
        names = tuple(order)
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        scope.fail("parameters", f"parameters read each other: {circle}", "break the circle")
    result = []
    for name in names:
        nature, draw = _compile(scope, name, applying[name])
        scope.natures[name] = nature
        result.append((name, draw))
    return tuple(result)


def _reads(scope: Scope, path: str, entry: Mapping[str, Any]) -> set[str]:
    texts: list[str] = []
    if entry["kind"] == "derive":
        for operation in ("sum", "product", "difference"):
            texts += [item for item in entry.get(operation, ()) if isinstance(item, str)]
    elif entry["kind"] == "wording":
        texts += entry.get(scope.language, ())
    elif entry["kind"] == "date":
        names: set[str] = set()
        for end in ("from", "to"):
            names |= moment_names(scope, f"{path}.{end}", entry[end])
        return names
    names = set()
    for text in texts:
        try:
            names |= {piece.name for piece in parse(text) if isinstance(piece, Placeholder)}
        except ValueError as error:
            scope.fail(path, str(error))
    return names


def _compile(scope: Scope, name: str, entry: Mapping[str, Any]) -> tuple[Nature, Draw]:
    path = f"parameters.{name}"
    return _KINDS[entry["kind"]](scope, path, f"parameter:{name}", entry)


def _id(scope: Scope, path: str, label: str, entry: Mapping[str, Any]) -> tuple[Nature, Draw]:
    kind = entry["of"]
    if not has_shape(kind):
        scope.known(f"{path}.of", kind.rpartition(".")[2], "id shape", known_kinds())
    bound, write = id_writer(kind)
    return "text", lambda seed, values: write(first_below(seed, label, bound))


def _choice(scope: Scope, path: str, label: str, entry: Mapping[str, Any]) -> tuple[Nature, Draw]:
    items = []
    for i, item in enumerate(entry["of"]):
        worded = isinstance(item, dict)
        where = f"{path}.of[{i}].value" if worded else f"{path}.of[{i}]"
        value = scope.value(where, item["value"] if worded else item)
        if not isinstance(value, Fixed):
            scope.fail(where, "an item of a choice reads no other parameter", "use a wording")
        words = {k: item[k] for k in item if k != "value"} if worded else {}
        items.append(Choice(value.value, words))
    scope.choices[label.partition(":")[2]] = tuple(item.value for item in items)
    return "choice", lambda seed, values: items[first_below(seed, label, len(items))]


def _integers(nature: Nature) -> Callable[..., tuple[Nature, Draw]]:
    def compile_range(
        scope: Scope, path: str, label: str, entry: Mapping[str, Any]
    ) -> tuple[Nature, Draw]:
        low, high, step = entry["from"], entry["to"], entry.get("step", 1)
        if high < low:
            scope.fail(path, f"from {low} to {high} is empty", "let from be at most to")
        steps = (high - low) // step + 1
        return nature, lambda seed, values: low + step * first_below(seed, label, steps)

    return compile_range


def _date(scope: Scope, path: str, label: str, entry: Mapping[str, Any]) -> tuple[Nature, Draw]:
    first = compile_moment(scope, f"{path}.from", entry["from"])
    last = compile_moment(scope, f"{path}.to", entry["to"])

    def draw(seed: int, values: Values) -> int:
        low: int = first(values)
        days = max(0, last(values) - low) // DAY
        return low + DAY * first_below(seed, label, days + 1)

    return "date", draw


def _name(scope: Scope, path: str, label: str, entry: Mapping[str, Any]) -> tuple[Nature, Draw]:
    names = NAMES.get(scope.language, NAMES["en"])
    return "text", lambda seed, values: names[first_below(seed, label, len(names))]


def _wording(scope: Scope, path: str, label: str, entry: Mapping[str, Any]) -> tuple[Nature, Draw]:
    texts = scope.spoken(path, entry)
    where = f"{path}.{scope.language}"
    parts = [scope.text(f"{where}[{i}]", text) for i, text in enumerate(texts)]
    read = _reads(scope, path, entry)
    needed = [shown for shown in scope.early.values() if shown.source in read]

    def draw(seed: int, values: Values) -> str:
        show(values, needed)
        text: str = parts[first_below(seed, label, len(parts))](values)
        return text

    return "text", draw


def _derive(scope: Scope, path: str, label: str, entry: Mapping[str, Any]) -> tuple[Nature, Draw]:
    operation = next(key for key in ("sum", "product", "difference") if key in entry)
    parts: list[Part] = []
    natures: list[Nature] = []
    for i, item in enumerate(entry[operation]):
        where = f"{path}.{operation}[{i}]"
        nature = scope.nature(where, item)
        if isinstance(item, str) and nature not in ("money", "number", "date"):
            scope.fail(where, f"{item!r} is no amount, number or date")
        natures.append(nature or "number")
        parts.append(scope.value(where, item))
    return _derived_nature(scope, path, operation, natures), _arithmetic(operation, natures, parts)


def _derived_nature(scope: Scope, path: str, operation: str, natures: list[Nature]) -> Nature:
    moneys, dates = natures.count("money"), natures.count("date")
    if moneys and dates:
        scope.fail(path, "money and dates don't mix")
    if operation == "product" and moneys + dates > 1:
        scope.fail(path, "a product has at most one amount and no date", "multiply by numbers")
    if dates:
        if operation == "product" or (operation == "sum" and dates > 1):
            scope.fail(path, "a date may only be moved by days", "use sum with one date")
        return "number" if operation == "difference" and dates == 2 else "date"
    return "money" if moneys else "number"


def _arithmetic(operation: str, natures: list[Nature], parts: list[Part]) -> Draw:
    with_date = "date" in natures
    days_between = natures.count("date") == 2

    def draw(seed: int, values: Values) -> int:
        numbers = [
            part(values) * (DAY if with_date and nature != "date" else 1)
            for part, nature in zip(parts, natures, strict=True)
        ]
        result: int = numbers[0]
        for number in numbers[1:]:
            if operation == "sum":
                result += number
            elif operation == "difference":
                result -= number
            else:
                result *= number
        return result // DAY if days_between else result

    return draw


_KINDS: dict[str, Callable[..., tuple[Nature, Draw]]] = {
    "id": _id,
    "choice": _choice,
    "cents_range": _integers("money"),
    "integer_range": _integers("number"),
    "date": _date,
    "name": _name,
    "wording": _wording,
    "derive": _derive,
}
