"""Does something as soon as another package is imported, without importing it."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType


def when_imported(module: str, then: Callable[[], None]) -> None:
    """Call ``then`` now if the module is there, else as soon as it has been imported.

    Args:
        module: Its full name; one waits for it at a time.
        then: What to call.
    """
    if module in sys.modules:
        then()
    elif not any(isinstance(f, _Watcher) and f.module == module for f in sys.meta_path):
        sys.meta_path.insert(0, _Watcher(module, then))


class _Watcher(importlib.abc.MetaPathFinder):
    """Waits for one module's import, hands it to the usual finders, and leaves."""

    def __init__(self, module: str, then: Callable[[], None]) -> None:
        self.module = module
        self._then = then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._then)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader, then: Callable[[], None]) -> None:
        self._loader = loader
        self._then = then

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._then()
