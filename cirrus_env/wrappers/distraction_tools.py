"""``DistractionTools``: tools of services that a ticket doesn't need."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from cirrus_env.wrappers.inner import ticket_env_of


class DistractionTools(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Further real tools of the cloud are offered beside the ticket's own.

    They work: what they change is changed, and counts as damage. They are the same for every seed
    of a ticket, fewer are a part of more, and a tool's place in the list doesn't tell whose it is.
    A ticket without tools stays without. In force from the next ``reset`` on.

    >>> import gymnasium, json, cirrus_env
    >>> env = DistractionTools(gymnasium.make("Cirrus/ECS-Port25-v0"), "all")
    >>> json.loads(env.reset(seed=7)[0]["tools"])
    []
    >>> env = DistractionTools(gymnasium.make("Cirrus/VPC-Nat-v0"), 3)
    >>> plain = gymnasium.make("Cirrus/VPC-Nat-v0")
    >>> len(json.loads(env.reset(seed=7)[0]["tools"])) - len(json.loads(plain.reset()[0]["tools"]))
    3

    Args:
        env: A ticket environment.
        count: How many, or ``all``; a ticket whose own services have most gets what is left.

    Raises:
        OptionError: For another count or environment, or a ticket that was imported: its cloud has
            only what was recorded.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], count: int | str = 10) -> None:
        inner = ticket_env_of(env)
        RecordConstructorArgs.__init__(self, count=count)
        gymnasium.Wrapper.__init__(self, env)
        inner.configure(distractions=count)
