"""Ids in PettingZoo's registry.

PettingZoo is imported only by who uses it: its import costs time and sets an environment variable.
So its registry is filled when it is there, or as soon as it comes.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Final

from gymnasium.envs.registration import registry

from cirrus_env.envs import entry_points

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
    if _REGISTRY in sys.modules:
        fill()
    elif not any(isinstance(finder, _Watcher) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watcher())


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


class _Watcher(importlib.abc.MetaPathFinder):
    """Waits for one module's import, hands it to the usual finders, and fills the registry."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _REGISTRY:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        fill()
