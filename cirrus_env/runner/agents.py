"""Who can be run: the embedded agents by name, and outside ones as ``module:Class``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cirrus_env.baselines.policy import Policy
from cirrus_env.baselines.registry import BASELINES, names, policy
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import OptionError


class Agent(NamedTuple):
    """An agent as the runner knows it.

    Attributes:
        name: As results name it.
        make: A fresh policy for an episode that has just been reset. Oracles and attacks look at
            the episode's gold; every other policy sees observations alone.
    """

    name: str
    make: Callable[[TicketEpisode], Policy]


def find_agent(spec: str) -> Agent:
    """The agent of this name.

    Args:
        spec: An embedded agent's name; or ``module:Class`` or ``file.py:Class``, where the class
            (or a function) is called without arguments and gives a policy.

    Raises:
        OptionError: If there is none, or what is there is no policy.
    """
    if spec in BASELINES:
        build = BASELINES[spec]
        return Agent(spec, lambda _: build())
    if spec in names() or spec.startswith("oracle:"):
        return Agent(spec, partial(policy, spec))
    if ":" in spec:
        spec = _importable(spec)
    made = policy(spec)
    return Agent(made.name or spec, lambda _: policy(spec))


def _importable(spec: str) -> str:
    """Make the module findable, as ``python -m`` would: beside the caller, or the file named."""
    place, _, attribute = spec.rpartition(":")
    folder = Path.cwd()
    if place.endswith(".py"):
        path = Path(place)
        if not os.path.isfile(path):
            raise OptionError(f"there is no file {place!r}, which {spec!r} names")
        folder, place = path.resolve().parent, path.stem
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return f"{place}:{attribute}"
