"""What the services' request and response forms share: schemas, id lists, paging, common errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

from cirrus_env.cloud.model import Resource
from cirrus_env.errors import CloudError, MalformedText
from cirrus_env.wire.jsontext import strict_loads

T = TypeVar("T")
Groups = tuple[tuple[str, ...], ...]

REGION: Final = "cn-hangzhou"
"""The region of a call that names none, and of a resource that names none."""

Schema = Mapping[str, Any]

BOOLEAN: Final[Schema] = {"type": "boolean"}
FLAG: Final[Schema] = {"type": "boolean", "default": False}
DRY_RUN: Final[Schema] = {
    "type": "boolean",
    "default": False,
    "description": "Only check whether the request would succeed.",
}
CLIENT_TOKEN: Final[Schema] = {
    "type": "string",
    "pattern": "^[!-~]{1,64}$",
    "description": "Makes a repeated request take effect once.",
}
REGION_ID: Final[Schema] = {
    "type": "string",
    "default": REGION,
    "maxLength": 64,
    "description": f"The region to look in; {REGION} unless named.",
}
PAGING: Final[Mapping[str, Schema]] = {
    "PageNumber": {"type": "integer", "minimum": 1, "maximum": 100_000, "default": 1},
    "PageSize": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
}

RENEWAL_SETTING: Final[dict[str, Groups]] = {
    "en": (
        ("set", "switch", "turn", "change", "enable", "disable", "activate", "deactivate", "stop",
         "put", "turn on", "turn off", "switch on", "switch off"),
        ("auto-renew", "auto renew", "automatic renewal", "autorenew", "autorenewal",
         "auto-renewal", "renewal", "renew manually", "renew by hand", "renew automatically"),
    ),
    "zh": (
        ("设置", "设为", "开启", "打开", "关闭", "关掉", "改为", "改成", "切换", "启用", "停用",
         "取消", "调整"),
        ("自动续费", "手动续费", "续费方式", "到期不续费", "续费"),
    ),
}  # fmt: skip
"""How the setting of a renewal is proposed: two services have an operation for it."""


def parameters(required: Sequence[str] = (), /, **properties: Schema) -> dict[str, Any]:
    """The argument schema of an operation that takes these parameters and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def text(description: str, max_length: int = 256) -> Schema:
    """The schema of a non-empty string."""
    return {"type": "string", "minLength": 1, "maxLength": max_length, "description": description}


def one_of(*values: str, default: str = "", description: str = "") -> Schema:
    """The schema of a string that is one of some values."""
    schema: dict[str, Any] = {"type": "string", "enum": list(values)}
    if default:
        schema["default"] = default
    if description:
        schema["description"] = description
    return schema


def id_list(value: str, parameter: str, at_most: int = 100) -> tuple[str, ...]:
    """The ids of a parameter that holds a JSON array of strings as text.

    Raises:
        CloudError: If it is no such array, or holds more than ``at_most`` ids.
    """
    ids = _ids(value)
    if ids is None:
        raise CloudError(
            f"Invalid{parameter}.Malformed",
            f'{parameter} must be a JSON array of ids as text, such as ["a", "b"].',
        )
    if len(ids) > at_most:
        raise CloudError(
            f"Invalid{parameter}.Malformed", f"{parameter} takes at most {at_most} ids."
        )
    return ids


@lru_cache(maxsize=256)
def _ids(value: str) -> tuple[str, ...] | None:
    try:
        ids = strict_loads(value)
    except MalformedText:
        return None
    if not isinstance(ids, list) or not all(isinstance(id, str) for id in ids):
        return None
    return tuple(ids)


def page(items: Sequence[T], arguments: Mapping[str, Any]) -> tuple[Sequence[T], dict[str, int]]:
    """One page of ``items`` and the paging fields of the response."""
    number: int = arguments.get("PageNumber", 1)
    size: int = arguments.get("PageSize", 10)
    first = (number - 1) * size
    shown = items[first : first + size]
    return shown, {"TotalCount": len(items), "PageNumber": number, "PageSize": size}


def cursor(items: Sequence[T], arguments: Mapping[str, Any]) -> tuple[Sequence[T], dict[str, Any]]:
    """As ``page``, for operations that page by ``MaxResults`` and ``NextToken``.

    Raises:
        CloudError: If ``NextToken`` is none that this operation has given.
    """
    token: str = arguments.get("NextToken", "")
    size: int = arguments.get("MaxResults", 10)
    if token and not (token.isascii() and token.isdigit() and 0 < int(token[:9]) < len(items)):
        raise CloudError("InvalidParameter", "NextToken: no such page of this query.")
    first = int(token[:9]) if token else 0
    after = first + size
    following = f"{after:06d}" if after < len(items) else ""
    return items[first:after], {"TotalCount": len(items), "NextToken": following}


def view(record: Resource | None, field: str) -> Any:
    """A field of another service's record; an empty text where there is no record."""
    return "" if record is None else getattr(record, field)


def fuzzy(pattern: str, name: str) -> bool:
    """Whether a name fits a fuzzy filter: ``*`` is any text, a bare text is a part of the name."""
    if "*" not in pattern:
        return pattern in name
    first, *middle, last = pattern.split("*")
    if not name.startswith(first):
        return False
    at = len(first)
    for part in middle:
        found = name.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(name) - at >= len(last) and name.endswith(last)


def locks(reasons: Sequence[str]) -> dict[str, Any]:
    """The ``OperationLocks`` field of a response."""
    return {"LockReason": [{"LockReason": reason} for reason in reasons]}


def overdue(work: Any) -> bool:
    """Whether the account acted for owes money."""
    return bool(work.balance(f"cash:{work.tenant}") < 0)


DOCUMENTATION_NETWORKS: Final = ("192.0.2", "198.51.100", "203.0.113")
"""Networks kept for documentation (RFC 5737): every public address here is one of theirs."""
