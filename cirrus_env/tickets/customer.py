"""The customer's side of a variant: facts, beliefs, console actions, consents, satisfaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cirrus_env.tickets.clauses import Names, applies, argument_names, operation_name, read
from cirrus_env.tickets.model import Consent, ConsoleAction, Fact, Groups, Private, RecordedTurn
from cirrus_env.tickets.predicates import All
from cirrus_env.tickets.scope import Scope
from cirrus_env.tickets.templates import Fixed, Part, assemble, combine_dict, combine_tuple

_FACTS = (("facts", False), ("beliefs", True))


def present_facts(scope: Scope, customer: Mapping[str, Any]) -> dict[str, tuple[str, Any, bool]]:
    """Fact name -> (path, entry, whether it is false), of this variant, in listed order."""
    found: dict[str, tuple[str, Any, bool]] = {}
    for section, false in _FACTS:
        for name, entry in customer.get(section, {}).items():
            path = f"customer.{section}.{name}"
            if not scope.applies(path, entry):
                continue
            if name in found:
                scope.fail(path, f"{name!r} is a fact and a belief", "rename one of them")
            found[name] = (path, entry, false)
    return found


def present_console(scope: Scope, customer: Mapping[str, Any]) -> dict[str, Any]:
    """Console action name -> entry, of this variant."""
    entries = customer.get("console", {})
    return {n: e for n, e in entries.items() if scope.applies(f"customer.console.{n}", e)}


def compile_private(scope: Scope, names: Names, customer: Mapping[str, Any]) -> Part:
    """The part that gives ``Private``."""
    facts = {
        name: _fact(scope, names, path, name, entry, false)
        for name, (path, entry, false) in present_facts(scope, customer).items()
    }
    console = {
        name: _console(scope, f"customer.console.{name}", name, entry)
        for name, entry in present_console(scope, customer).items()
    }
    given: dict[str, Part] = {
        "name": scope.text("customer.name", customer.get("name", "{customer}")),
        "mood": Fixed(customer["mood"]),
        "patience": Fixed(customer["patience"]),
        "opening": scope.wording("customer.opening", customer["opening"], "opening"),
        "facts": combine_dict(facts),
        "consents": _consents(scope, names, customer.get("consents", ())),
        "console": combine_dict(console),
        "satisfied": _satisfied(scope, names, customer.get("satisfied", ())),
        "recorded": combine_tuple(_recorded(scope, names, customer.get("recorded", ()))),
    }
    return assemble(Private, given)


def _fact(
    scope: Scope, names: Names, path: str, name: str, entry: Mapping[str, Any], false: bool
) -> Part:
    when = entry.get("when", "volunteered" if false else "asked")
    asked_by = spoken_groups(scope, f"{path}.asked_by", entry.get("asked_by", {}))
    if when == "asked" and not asked_by:
        scope.fail(path, "told when asked, but no question asks for it", "add asked_by")
    causes = entry.get("confronted_by", ())
    confronted = (causes,) if isinstance(causes, str) else tuple(causes)
    operations = scope.catalogue.operations
    for other in confronted:
        if other not in operations:
            known = [*names.facts, *names.slots, *operations]
            scope.known(f"{path}.confronted_by", other, "operation, fact or slot", known)
    if when == "confronted" and not confronted:
        scope.fail(path, "told when confronted, but nothing confronts it", "add confronted_by")
    given: dict[str, Part] = {
        "name": Fixed(name),
        "text": scope.wording(path, entry, f"fact:{name}"),
        "when": Fixed(when),
        "asked_by": Fixed(asked_by),
        "confronted_by": Fixed(confronted),
        "false": Fixed(false),
        "needed": Fixed(entry.get("needed", False)),
    }
    return assemble(Fact, given)


def _console(scope: Scope, path: str, name: str, entry: Mapping[str, Any]) -> Part:
    told_by = spoken_groups(scope, f"{path}.told_by", entry["told_by"])
    operation = entry.get("operation", "")
    if operation:
        operation_name(scope, f"{path}.operation", operation, "customer")
        argument_names(scope, f"{path}.arguments", operation, entry.get("arguments", {}))
    given: dict[str, Part] = {
        "name": Fixed(name),
        "told_by": Fixed(told_by),
        "operation": Fixed(operation),
        "arguments": scope.table(f"{path}.arguments", entry.get("arguments", {})),
        "says": scope.wording(f"{path}.says", entry["says"], f"says:{name}"),
    }
    if "fails" in entry:
        given["fails"] = scope.wording(f"{path}.fails", entry["fails"], f"fails:{name}")
    return assemble(ConsoleAction, given)


def spoken_groups(scope: Scope, path: str, node: Mapping[str, Any]) -> Groups:
    """The phrase groups of this language; none where it has none."""
    groups = node.get(scope.language)
    return scope.phrase_groups(f"{path}.{scope.language}", groups) if groups else ()


def _consents(scope: Scope, names: Names, entries: Any) -> Part:
    parts = []
    for i, entry in enumerate(entries):
        path = f"customer.consents[{i}]"
        if scope.applies(path, entry):
            parts.append(_consent(scope, names, path, entry))
    return combine_tuple(parts)


def _consent(scope: Scope, names: Names, path: str, entry: Mapping[str, Any]) -> Part:
    operation = operation_name(scope, f"{path}.to", entry["to"], "assistant")
    id, needs = entry.get("id", ""), []
    for i, item in enumerate(entry.get("needs", ())):
        if item.startswith("{"):
            id = id or item
        else:
            needs.append(scope.known(f"{path}.needs[{i}]", item, "slot", names.slots))
    if not id:
        scope.fail(path, "no resource is named", 'add id = "{...}", or name it in needs')
    argument_names(scope, f"{path}.with", operation, entry.get("with", {}))
    given: dict[str, Part] = {
        "operation": Fixed(operation),
        "id": scope.machine(f"{path}.id", id),
        "needs": Fixed(tuple(needs)),
        "arguments": scope.table(f"{path}.with", entry.get("with", {})),
    }
    return assemble(Consent, given)


def _satisfied(scope: Scope, names: Names, entries: Any) -> Part:
    parts = []
    for i, entry in enumerate(entries):
        path = f"customer.satisfied[{i}]"
        if applies(scope, path, entry):
            parts.append(read(scope, names, path, entry))
    if not parts:
        scope.fail(
            "customer.satisfied", f"nothing satisfies the customer of variant {scope.variant!r}",
            "add a [[customer.satisfied]]",
        )  # fmt: skip
    if len(parts) == 1:
        return parts[0]
    return assemble(All, {"parts": combine_tuple(parts)})


def _recorded(scope: Scope, names: Names, entries: Any) -> list[Part]:
    parts = []
    for i, entry in enumerate(entries):
        path = f"customer.recorded[{i}]"
        if not scope.applies(path, entry):
            continue
        calls = [
            combine_tuple((Fixed(call["call"]), scope.table(f"{path}.needs_calls", call["with"])))
            for call in entry.get("needs_calls", ())
        ]
        for name in entry.get("needs_asked", ()):
            scope.known(f"{path}.needs_asked", name, "fact", names.facts)
        for name in entry.get("needs_passed", ()):
            scope.known(f"{path}.needs_passed", name, "checkpoint", names.checkpoints)
        parts.append(_turn(scope, path, entry, combine_tuple(calls)))
    return parts


def _turn(scope: Scope, path: str, entry: Mapping[str, Any], calls: Part) -> Part:
    asked, passed = tuple(entry.get("needs_asked", ())), tuple(entry.get("needs_passed", ()))
    text = scope.text(f"{path}.text", entry["text"]) if entry["text"] else Fixed("")
    given: dict[str, Part] = {"needs_asked": Fixed(asked), "needs_passed": Fixed(passed)}
    return assemble(RecordedTurn, {"text": text, "needs_calls": calls, **given})
