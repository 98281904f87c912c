"""Who can be run: the embedded agents by name, and outside ones as ``module:Class``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cirrus_env.baselines.policy import Policy
from cirrus_env.baselines.registry import BASELINES, MODEL, names, policy
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import OptionError
from cirrus_env.wire import encodes


class Agent(NamedTuple):
    """An agent as the runner knows it.

    Attributes:
        name: As results name it.
        make: A fresh policy for an episode that has just been reset. Oracles and attacks look at
            the episode's gold; every other policy sees observations alone. For a run in several
            processes it must be picklable, as those of ``find_agent`` are.
    """

    name: str
    make: Callable[[TicketEpisode], Policy]


@dataclass(frozen=True, slots=True)
class Embedded:
    """Makes a policy of this package by its name."""

    spec: str

    def __call__(self, episode: TicketEpisode) -> Policy:
        """A policy for this episode."""
        build = BASELINES.get(self.spec)
        return policy(self.spec, episode) if build is None else build()


class Model:
    """Makes the policy of a model behind an endpoint; its episodes share one client a process."""

    def __init__(self, spec: str) -> None:
        self._spec = spec
        self.policy = policy(spec)

    def __call__(self, episode: TicketEpisode | None = None) -> Policy:
        """A policy; it isn't shown the episode."""
        return self.policy

    def __reduce__(self) -> tuple[type[Model], tuple[str]]:
        return Model, (self._spec,)


@dataclass(frozen=True, slots=True)
class Outside:
    """Makes an outside policy, in whatever process: the folder of its module goes with it."""

    spec: str
    folder: str

    def __call__(self, episode: TicketEpisode | None = None) -> Policy:
        """A policy; it isn't shown the episode."""
        if self.folder not in sys.path:
            sys.path.insert(0, self.folder)
        return policy(self.spec)


def find_agent(spec: str) -> Agent:
    """The agent of this name.

    Args:
        spec: An embedded agent's name; ``model:NAME`` or ``model:NAME@URL`` for a model behind an
            OpenAI-compatible endpoint; or ``module:Class`` or ``file.py:Class``, where the class
            (or a function) is called without arguments and gives a policy.

    Raises:
        OptionError: If there is none, or what is there is no policy or has no usable name.
    """
    if spec in names() or spec.startswith("oracle:"):
        return Agent(spec, Embedded(spec))
    if spec.startswith(MODEL):
        model = Model(spec)
        return Agent(model.policy.name, model)
    if ":" not in spec:
        policy(spec)  # raises: there is none
    make = _outside(spec)
    name = make().name or spec
    if not isinstance(name, str) or not encodes(name):
        raise OptionError(f"the name of {spec!r} must be a text that has a UTF-8 form")
    return Agent(name, make)


def _outside(spec: str) -> Outside:
    """Where its module is, as ``python -m`` would look: beside the caller, or the file named."""
    place, _, attribute = spec.rpartition(":")
    folder = Path.cwd()
    if place.endswith(".py"):
        path = Path(place)
        if not os.path.isfile(path):
            raise OptionError(f"there is no file {place!r}, which {spec!r} names")
        folder, place = path.resolve().parent, path.stem
    return Outside(f"{place}:{attribute}", str(folder))
