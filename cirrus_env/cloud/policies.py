"""The support policies that an agent works under, read from ``policies.md`` and its renderings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from cirrus_env.errors import InvariantError

POLICIES: Final = tuple(f"P{number:02d}" for number in range(1, 26))
"""The ids of all policies."""

_FILES: Final = {"en": "policies.md", "zh": "policies.zh.md"}


class Policy(NamedTuple):
    """One policy in one language; ``general`` ones hold in every ticket."""

    text: str
    general: bool


def policy(id: str, language: str = "en") -> str:
    """A policy's text.

    Args:
        id: ``P01`` to ``P25``.
        language: ``en`` or ``zh``; another one gives English.

    Raises:
        KeyError: If there is no such policy.
    """
    return _policies(language)[id].text


def general_policies(language: str = "en") -> tuple[tuple[str, str], ...]:
    """(id, text) of the policies that hold in every ticket."""
    return tuple((id, p.text) for id, p in _policies(language).items() if p.general)


@lru_cache(maxsize=8)
def _policies(language: str) -> Mapping[str, Policy]:
    path = Path(__file__).parent / _FILES.get(language, _FILES["en"])
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        head, colon, text = line.partition(": ")
        if colon and head.rstrip("*") in POLICIES:
            found[head.rstrip("*")] = Policy(text.strip(), head.endswith("*"))
    if tuple(found) != POLICIES:
        raise InvariantError(f"{path} doesn't hold the policies {POLICIES[0]} to {POLICIES[-1]}")
    return MappingProxyType(found)
