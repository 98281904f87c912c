"""Who can be run: the embedded agents by name, and outside ones as ``module:attribute``."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from cirrus_env.baselines import BASELINES, ORACLES, Policy, oracle_for
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import OptionError


class Agent(NamedTuple):
    """An agent as the runner knows it.

    Attributes:
        name: As results name it.
        make: A fresh policy for an episode that has just been reset. Only oracles look at the
            episode; every other policy sees observations alone.
    """

    name: str
    make: Callable[[TicketEpisode], Policy]


def find_agent(spec: str) -> Agent:
    """The agent of this name.

    Args:
        spec: An embedded agent's name; or ``module:attribute`` or ``file.py:attribute``, where the
            attribute is a policy class (or any function without arguments that gives a policy).

    Raises:
        OptionError: If there is none, or what is there is no policy.
    """
    if spec in ORACLES:
        mode = ORACLES[spec]
        return Agent(spec, lambda episode: oracle_for(episode, mode=mode))
    if spec in BASELINES:
        build = BASELINES[spec]
        return Agent(spec, lambda _: build())
    if ":" in spec:
        return _outside(spec)
    known = (*ORACLES, *BASELINES)
    near = difflib.get_close_matches(spec, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(known)}"
    raise OptionError(f"there is no agent {spec!r}; {hint}; or name your own as module:Class")


def _outside(spec: str) -> Agent:
    place, _, attribute = spec.rpartition(":")
    build = getattr(_module(spec, place), attribute, None)
    if not callable(build):
        raise OptionError(f"{spec}: {place} has no class or function {attribute!r}")
    try:
        first = build()
    except Exception as error:
        raise OptionError(f"{spec}: can't be made without arguments: {error!r}") from error
    for needed in ("act", "reset"):
        if not callable(getattr(first, needed, None)):
            raise OptionError(f"{spec}: a policy has reset(seed) and act(observation); no {needed}")
    name = getattr(first, "name", None)
    return Agent(name if isinstance(name, str) and name else spec, lambda _: build())


def _module(spec: str, place: str) -> Any:
    path = Path(place)
    if place.endswith(".py"):
        if not path.is_file():
            raise OptionError(f"{spec}: there is no file {place}")
        place, folder = path.stem, str(path.resolve().parent)
    else:
        folder = str(Path.cwd())  # as `python -m` does: modules beside the caller are found
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return import_module(place)
    except Exception as error:  # whatever its top level does
        raise OptionError(f"{spec}: {place} can't be imported: {error!r}") from error
