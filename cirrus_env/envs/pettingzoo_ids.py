"""Ids in PettingZoo's registry.

PettingZoo is imported only by who uses it: its import costs time and sets an environment variable.
So its registry is filled when it is there, or as soon as it comes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gymnasium.envs.registration import registry

from cirrus_env.envs import entry_points
from cirrus_env.envs.on_import import when_imported

_REGISTRY: Final = "pettingzoo.env_registry.registration"
_AUDIO: Final = "SDL_AUDIODRIVER"


def fill() -> None:
    """Put every id of this package into PettingZoo's AEC registry."""
    module = sys.modules[_REGISTRY]
    for name, spec in list(registry.items()):
        if spec.entry_point == entry_points.GYMNASIUM and name not in module.aec_registry:
            module.aec_registry[name] = module.EnvSpec(
                id=name, entry_point=entry_points.PETTINGZOO, kwargs=dict(spec.kwargs)
            )


def fill_when_imported() -> None:
    """Fill now if PettingZoo is there, else as soon as it is imported."""
    when_imported(_REGISTRY, fill)


@contextmanager
def audio_driver_kept() -> Iterator[None]:
    """Undo what importing PettingZoo does to the environment variable of the sound library."""
    before = os.environ.get(_AUDIO)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_AUDIO, None)
        else:
            os.environ[_AUDIO] = before
