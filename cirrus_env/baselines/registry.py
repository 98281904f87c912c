"""Policies by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from cirrus_env.baselines.keyword import KeywordRules
from cirrus_env.baselines.oracle import oracle_for
from cirrus_env.baselines.policy import Policy
from cirrus_env.baselines.random_valid import RandomValid
from cirrus_env.baselines.trivial import TRIVIAL, WITHOUT_GOLD
from cirrus_env.errors import OptionError

BASELINES: Final[Mapping[str, Callable[[], Policy]]] = MappingProxyType(
    {"keyword": KeywordRules, "random": RandomValid, **WITHOUT_GOLD}
)
"""Name -> what makes a policy that sees observations alone."""

ORACLES: Final[Mapping[str, str]] = MappingProxyType({"oracle": "plain", "jump-oracle": "jump"})
"""Name -> the mode of ``oracle_for``."""

ATTACKS: Final[Mapping[str, Callable[[Any], Policy]]] = MappingProxyType(dict(TRIVIAL))
"""Name -> what makes a trivial agent for a running episode; some read its gold."""


MODEL: Final = "model:"
"""How the name of a model's policy begins: ``model:NAME`` or ``model:NAME@URL``."""


def names() -> tuple[str, ...]:
    """Every embedded policy's name."""
    return tuple(dict.fromkeys((*ORACLES, *BASELINES, *ATTACKS)))


def policy(name: str, source: Any = None) -> Policy:
    """A policy by its name.

    Args:
        name: One of ``names()``; ``oracle:<mode>``; ``model:NAME`` or ``model:NAME@URL`` for a
            model behind an OpenAI-compatible endpoint; or an outside one as ``module:Class``, a
            class or function that is called without arguments.
        source: The running episode or environment, for policies that read gold.

    Raises:
        OptionError: If there is none, or it can't be made.
    """
    if name in ORACLES:
        return oracle_for(source, ORACLES[name])
    if name.startswith("oracle:"):
        return oracle_for(source, name.partition(":")[2])
    if name.startswith(MODEL):
        return _model(name)
    if name in ATTACKS and (source is not None or name not in BASELINES):
        return ATTACKS[name](source)
    if name in BASELINES:
        return BASELINES[name]()
    if ":" in name:
        return _outside(name)
    near = difflib.get_close_matches(name, names(), n=3)
    hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(names())}"
    raise OptionError(f"there is no policy {name!r}; {hint}")


def _model(name: str) -> Policy:
    from cirrus_env.baselines.model import ModelPolicy  # few need it, and its client is large
    from cirrus_env.endpoints.client import ChatClient
    from cirrus_env.endpoints.settings import endpoint

    found = endpoint(name.removeprefix(MODEL))
    found.key()  # a missing one is told now, not by every episode
    return ModelPolicy(ChatClient(found), MODEL + found.model)


def _outside(name: str) -> Policy:
    module, _, attribute = name.rpartition(":")
    try:
        build = getattr(import_module(module), attribute)
        made = build()
    except Exception as error:
        raise OptionError(f"the policy {name!r} can't be made: {error!r}") from error
    if not isinstance(made, Policy):
        raise OptionError(f"{name!r} is no policy: it needs name, reset(seed) and act(observation)")
    return made
