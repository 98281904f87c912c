"""What the assistant's seat may see of a variant before it acts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cirrus_env.tickets.model import Public
from cirrus_env.tickets.scope import Scope
from cirrus_env.tickets.templates import Part


def compile_public(scope: Scope, data: Mapping[str, Any], now: int) -> Part:
    """The part that gives ``Public``; only the account's id differs from seed to seed."""
    title = data["title"]
    if isinstance(title, dict):
        title = scope.spoken("title", title)
    policies = tuple(
        _policy(scope, f"policies[{i}]", id) for i, id in enumerate(data.get("policies", ()))
    )
    services = scope.catalogue.names
    articles = tuple(data.get("knowledge", ()))
    queues = tuple(data.get("queues", ()))
    language = scope.language
    return lambda values: Public(
        title, language, values["account"], services, policies, articles, queues, now
    )


def _policy(scope: Scope, path: str, id: str) -> tuple[str, str]:
    from cirrus_env.cloud.policies import POLICIES, policy

    scope.known(path, id, "policy", POLICIES)
    return id, policy(id, scope.language)
