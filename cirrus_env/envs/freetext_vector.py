"""How vector environments batch ``FreeText`` and pass it between processes.

Gymnasium reads the text observations of its shared memory once, when the vector environment is
made, and shows those for ever. Here the batch is a view that reads the memory at each access; a
copy of it (which a vector environment hands out by default) is a plain tuple of strings.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from ctypes import c_char, c_int64
from typing import Any, SupportsIndex

from gymnasium import spaces
from gymnasium.vector import utils

from cirrus_env.envs.freetext import FreeText

SharedText = tuple[Any, Any]
"""Lengths in bytes (-1: nothing written yet) and the bytes, a fixed room for each environment."""


class SharedTexts(tuple[str, ...]):
    """The texts that now stand in shared memory, one for each environment.

    A tuple as far as spaces, zip and unpacking can tell; the items are read at each access.
    """

    _space: FreeText
    _memory: SharedText

    @classmethod
    def over(cls, space: FreeText, memory: SharedText, n: int) -> SharedTexts:
        """A view of ``n`` texts of ``space`` in ``memory``."""
        view = cls.__new__(cls, ("",) * n)
        view._space, view._memory = space, memory
        return view

    def _read(self, index: int) -> str:
        lengths, data = self._memory
        length = lengths[index]
        if length < 0:
            return _empty(self._space)
        start = index * self._space.shared_bytes
        return bytes(data[start : start + length]).decode()

    def now(self) -> tuple[str, ...]:
        """The texts as a plain tuple that no later step changes."""
        return tuple(self)

    def __iter__(self) -> Iterator[str]:
        return map(self._read, range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.now()[index]
        position = index.__index__()
        if not -len(self) <= position < len(self):
            raise IndexError("tuple index out of range")
        return self._read(position % len(self))

    def __contains__(self, item: object) -> bool:
        return item in self.now()

    def __eq__(self, other: object) -> bool:
        return self.now() == (other.now() if isinstance(other, SharedTexts) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # its value changes

    def __add__(self, other: Any) -> Any:
        return self.now() + tuple(other)

    def __mul__(self, times: SupportsIndex) -> Any:
        return self.now() * times

    def count(self, value: Any) -> int:
        """How many of the texts equal ``value``."""
        return self.now().count(value)

    def index(self, value: Any, *bounds: Any) -> int:
        """Where ``value`` stands first."""
        return self.now().index(value, *bounds)

    def __repr__(self) -> str:
        return repr(self.now())

    def __copy__(self) -> tuple[str, ...]:
        return self.now()

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return self.now()

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)


def _empty(space: FreeText) -> str:
    return space.character_list[0] * space.min_length


@utils.batch_space.register(FreeText)
def _batch_space(space: FreeText, n: int = 1) -> spaces.Tuple[Any]:
    batched = spaces.Tuple(tuple(deepcopy(space) for _ in range(n)))
    seeds = deepcopy(space.np_random).integers(0, 1 << 31, size=n)
    batched.seed([int(seed) for seed in seeds])
    return batched


@utils.batch_differing_spaces.register(FreeText)
def _batch_differing(batch: Any) -> spaces.Tuple[Any]:  # type: ignore[misc]  # it takes a list
    return spaces.Tuple([deepcopy(space) for space in batch])


@utils.create_empty_array.register(FreeText)
def _create_empty_array(
    space: FreeText, n: int = 1, fn: Callable[..., Any] | None = None
) -> tuple[str, ...]:
    return (_empty(space),) * n


@utils.concatenate.register(FreeText)
def _concatenate(space: FreeText, items: Iterable[str], out: Any) -> tuple[str, ...]:
    return tuple(items)


@utils.create_shared_memory.register(FreeText)
def _create_shared_memory(space: FreeText, n: int = 1, ctx: Any = multiprocessing) -> SharedText:
    lengths = ctx.RawArray(c_int64, [-1] * n)
    return lengths, ctx.RawArray(c_char, max(1, n * space.shared_bytes))


@utils.write_to_shared_memory.register(FreeText)
def _write_to_shared_memory(
    space: FreeText, index: int, value: str, shared_memory: SharedText
) -> None:
    data = value.encode()
    if len(data) > space.shared_bytes:
        raise ValueError(
            f"a text of {len(data)} bytes does not fit into the {space.shared_bytes} bytes that "
            "shared memory holds for it; use AsyncVectorEnv(..., shared_memory=False)"
        )
    lengths, room = shared_memory
    start = index * space.shared_bytes
    room[start : start + len(data)] = data
    lengths[index] = len(data)


@utils.read_from_shared_memory.register(FreeText)
def _read_from_shared_memory(space: FreeText, shared_memory: SharedText, n: int = 1) -> SharedTexts:
    return SharedTexts.over(space, shared_memory, n)
