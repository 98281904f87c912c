"""What the assistant's seat may see of a variant before it acts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cirrus_env.cloud.policies import POLICIES, general_policies, policy
from cirrus_env.tickets.model import Public
from cirrus_env.tickets.scope import Scope
from cirrus_env.tickets.templates import Part


def compile_public(scope: Scope, data: Mapping[str, Any], now: int) -> Part:
    """The part that gives ``Public``; only the account's id differs from seed to seed."""
    title = data["title"]
    if isinstance(title, dict):
        title = scope.spoken("title", title)
    ids = policies_in_scope(data)
    for i, id in enumerate(data.get("policies", ())):
        scope.known(f"policies[{i}]", id, "policy", POLICIES)
    policies = tuple((id, policy(id, scope.language)) for id in ids)
    services = scope.catalogue.names
    articles = tuple(data.get("knowledge", ()))
    queues = tuple(data.get("queues", ()))
    language = scope.language
    role = ""
    if "imported" in data:
        policies, role = (), str(data["imported"].get("role", ""))
    return lambda values: Public(
        title, language, values["account"], services, policies, articles, queues, now, role
    )


def policies_in_scope(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids of the policies that hold in every ticket and of those that this one declares."""
    general = {id for id, _ in general_policies()}
    return tuple(id for id in POLICIES if id in general or id in data.get("policies", ()))
