"""Which articles a ticket's agent may search and read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cirrus_env.cloud.model import Resource


@dataclass(frozen=True, slots=True)
class Scope(Resource):
    """The ticket's declared knowledge: set-up inserts one for its account.

    Attributes:
        articles: Article ids, such as ``ecs/stop-modes``.
        language: The language that articles are read in; where one has no such version, English.
    """

    kind: ClassVar[str] = "knowledge.scope"

    articles: tuple[str, ...] = ()
    language: str = "en"
