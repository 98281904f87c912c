"""Ids in Gymnasium's registry, as data.

Importing ``cirrus_env`` reads one committed index and puts an ``EnvSpec`` for each ticket and pool
into Gymnasium's registry. No ticket is parsed and no environment class is imported for it: entry
points are strings, keyword arguments are names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from gymnasium.envs.registration import EnvSpec, registry

from cirrus_env.envs import entry_points
from cirrus_env.envs.minari_text import register_when_imported
from cirrus_env.envs.pettingzoo_ids import fill_when_imported
from cirrus_env.errors import OptionError, TicketError
from cirrus_env.tickets.index import index as bundled_index

NAMESPACE: Final = "Cirrus"
POOLS: Final = Path(__file__).with_name("pools.json")

_STEM = re.compile(r"[A-Za-z0-9_.-]+")


def register_all(index: Iterable[Mapping[str, Any]] | None = None) -> None:
    """Put every bundled ticket and pool into Gymnasium's registry; harmless when repeated.

    Args:
        index: Entries with ``id`` and ``env_id``; by default the bundled index.
    """
    for entry in bundled_index() if index is None else index:
        _put(entry["env_id"], entry["id"])
    for name, members in pools().items():
        _put(name, members)
    fill_when_imported()
    register_when_imported()


def pools() -> dict[str, list[str]]:
    """The pools: env id -> names of the tickets that it draws from, in a fixed order.

    The lists are data of their own: adding a ticket to the package changes no pool, because an id
    must keep meaning the same. A changed list is a new version.
    """
    result: dict[str, list[str]] = json.loads(POOLS.read_bytes())
    return result


def register_tickets(path: str | Path, namespace: str = "Imported") -> list[str]:
    """Register ticket files as ``<namespace>/<stem>-v0``.

    The files are read when an environment is made. Another process (a worker that is not forked)
    must register them too.

    Args:
        path: A ticket file, or a folder whose ``*.toml`` are taken, subfolders included.
        namespace: The part before the slash.

    Returns:
        The ids, sorted.

    Raises:
        TicketError: If there is no such file, or a file's name can't be part of an id.
        OptionError: If the namespace can't be one, or an id is already taken by another file.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]+", namespace):
        raise OptionError(f"a namespace is letters, digits, - and _, not {namespace!r}")
    root = Path(path).resolve()
    files = sorted(root.rglob("*.toml")) if root.is_dir() else [root]
    if not files or not all(file.is_file() for file in files):
        raise TicketError(str(path), "file", "no ticket file is there", "give a *.toml or a folder")
    chosen: dict[str, str] = {}
    for file in files:
        if not _STEM.fullmatch(file.stem):
            mend = "use letters, digits, dot, - and _"
            raise TicketError(str(file), "file name", f"{file.stem!r} can't be part of an id", mend)
        name = f"{namespace}/{file.stem}-v0"
        taken = registry.get(name)
        other = chosen.get(name) or (taken.kwargs.get("ticket") if taken is not None else None)
        if other not in (None, str(file)):
            raise OptionError(f"{name} already stands for {other}; use another namespace")
        chosen[name] = str(file)
    for name, file_name in chosen.items():
        _put(name, file_name)
    fill_when_imported()
    return sorted(chosen)


def ids(namespace: str | None = NAMESPACE, *, with_pools: bool = False) -> list[str]:
    """Registered ids of this package, sorted.

    Args:
        namespace: Only these; None for all.
        with_pools: Whether pools are listed too.
    """
    return sorted(
        spec.id
        for spec in registry.values()
        if spec.entry_point == entry_points.GYMNASIUM
        and namespace in (None, spec.namespace)
        and (with_pools or isinstance(spec.kwargs.get("ticket"), str))
    )


def _put(name: str, ticket: str | list[str]) -> None:
    # gymnasium.register compares with every id that is there: quadratic over a catalogue
    registry[name] = EnvSpec(
        id=name,
        entry_point=entry_points.GYMNASIUM,
        vector_entry_point=entry_points.VECTOR,
        kwargs={"ticket": ticket},
    )
