"""Fields of the cloud's records: their types, and values that fit them."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from cirrus_env.cloud.model import Resource
from cirrus_env.tickets.moments import compile_moment, is_moment
from cirrus_env.tickets.scope import Scope
from cirrus_env.tickets.templates import Fixed, Part, combine

_NATURES: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "money": (int,),
    "number": (int,),
    "date": (int,),
}


def field_types(kind: type[Resource]) -> Mapping[str, Any]:
    """Field name -> its annotation, of a record class."""
    return _types(cast(Any, kind))  # a class is hashable, whatever mypy makes of its metaclass


@lru_cache(maxsize=256)
def _types(kind: Any) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    names = [name for name in kind.__dataclass_fields__ if name in hints]
    return {name: hints[name] for name in names}


def check_value(scope: Scope, path: str, hint: Any, node: Any) -> Part:
    """The part that gives a value of this annotation.

    A whole-number field takes a relative moment, such as ``-3d``, as well; a tuple is written as a
    list and a mapping as a table.
    """
    if hint is int and isinstance(node, str) and is_moment(node) and not _bare(scope, path, node):
        return compile_moment(scope, path, node)
    nature = scope.nature(path, node)
    part = scope.value(path, node)
    if nature is not None and nature in _NATURES:
        if not any(_accepts(hint, wanted) for wanted in _NATURES[nature]):
            scope.fail(path, f"{node!r} is {nature}, not {_say(hint)}", "use another parameter")
        return part
    if nature == "choice":
        for value in scope.chosen(path, node):
            if not fits(hint, _frozen(hint, value)):
                mend = "let every item of the choice be of that type"
                scope.fail(path, f"{node!r} may be {value!r}, not {_say(hint)}", mend)
        return part
    if isinstance(part, Fixed):
        value = _frozen(hint, part.value)
        if not fits(hint, value):
            scope.fail(path, f"{node!r} is not {_say(hint)}", "write a value of that type")
        return Fixed(value)
    if isinstance(node, str):
        if not _accepts(hint, str):
            scope.fail(path, f"{node!r} is text, not {_say(hint)}", "write a value of that type")
        return part
    return combine(lambda value: _frozen(hint, value), (part,))


def _bare(scope: Scope, path: str, node: str) -> bool:
    return scope.nature(path, node) is not None


def _accepts(hint: Any, wanted: type) -> bool:
    if hint in (wanted, Any):
        return True
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(_accepts(part, wanted) for part in get_args(hint))
    return origin is Literal and wanted is str


def _frozen(hint: Any, value: Any) -> Any:
    """Lists as tuples where the annotation says so, in depth."""
    if isinstance(value, list):
        arguments = get_args(hint)
        inner = arguments[0] if arguments else Any
        return tuple(_frozen(inner, item) for item in value)
    return value


def fits(hint: Any, value: Any) -> bool:
    """Whether a value has the annotated type; True is no whole number."""
    if hint is Any:
        return True
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(part, value) for part in arguments)
    if origin is Literal:
        return any(type(value) is type(option) and value == option for option in arguments)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return all(fits(arguments[0], item) for item in value)
        return len(value) == len(arguments) and all(map(fits, arguments, value))
    if origin is not None:
        return isinstance(value, Mapping)
    if hint is None or hint is type(None):
        return value is None
    if hint is int:
        return type(value) is int
    if hint is float:
        return type(value) in (int, float)
    return isinstance(value, hint)


def _say(hint: Any) -> str:
    return getattr(hint, "__name__", "") if isinstance(hint, type) else str(hint)
