"""A space of free text: whatever a model or a customer may write."""

from __future__ import annotations

import string
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from gymnasium.spaces import utils as space_utils
from numpy.typing import NDArray

from cirrus_env.wire import encodes

SAMPLE_CHARSET: Final = (
    string.ascii_letters
    + string.digits
    + " .,;:!?'\"-_/\\()[]{}<>&%@#=+\n\t"
    + "äéñøßжλ°€…云服务器停机退款，。？🙂"
)
"""What ``FreeText.sample`` draws from; the order is part of the space, so samples don't depend on
the hash seed."""

SAMPLE_LENGTH: Final = 160
"""Samples are at most this long, whatever the space's bound, so that sampling stays cheap."""

SHARED_BYTES: Final = 1 << 20
"""The most that one text takes in shared memory."""

PADDING: Final = 0x110000
"""What fills a flattened text after its end: one more than the last code point."""


class FreeText(spaces.Text):
    r"""Any Unicode text with a UTF-8 form, within bounds on its length.

    ``gymnasium.spaces.Text`` holds only text over a closed list of characters, which no one can
    give for what a model writes. This space holds every text that encodes as UTF-8 (so no lone
    surrogates); the list of characters is used for sampling only.

    Args:
        max_length: Most characters.
        min_length: Fewest characters.
        charset: What ``sample`` draws from, in this order.
        shared_bytes: Bytes set aside for one text in the shared memory of a vector environment;
            by default enough for any text, at most one MiB. A longer text raises there.
        seed: For sampling.

    Example:
        >>> space = FreeText(20)
        >>> "退款 please 🙂" in space, "\ud800" in space, "x" * 21 in space
        (True, False, False)
        >>> space
        FreeText(0, 20)
    """

    def __init__(
        self,
        max_length: int,
        *,
        min_length: int = 0,
        charset: str = SAMPLE_CHARSET,
        shared_bytes: int | None = None,
        seed: int | None = None,
    ) -> None:
        if not isinstance(charset, str) or not charset or not encodes(charset):
            raise ValueError("charset must be a string of encodable characters, in a fixed order")
        super().__init__(max_length, min_length=min_length, charset=charset, seed=seed)
        self.shared_bytes = min(4 * self.max_length, shared_bytes or SHARED_BYTES)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A random text over the sampling characters, at most ``SAMPLE_LENGTH`` long.

        Args:
            mask: None, or ``(length or None, which characters or None)`` as in
                ``gymnasium.spaces.Text.sample``.
            probability: The same, with a probability for each character.
        """
        if mask is not None or probability is not None:
            length = (mask or probability)[0]
            if length is None:
                length = self._sample_length()
            if mask is not None:
                return super().sample(mask=(length, mask[1]))
            return super().sample(probability=(length, probability[1]))
        characters = self.character_list
        chosen = self.np_random.integers(len(characters), size=self._sample_length())
        return "".join([characters[i] for i in chosen.tolist()])

    def _sample_length(self) -> int:
        most = max(self.min_length, min(self.max_length, SAMPLE_LENGTH))
        return int(self.np_random.integers(self.min_length, most + 1))

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a text within the bounds that has a UTF-8 form."""
        return isinstance(x, str) and self.min_length <= len(x) <= self.max_length and encodes(x)

    def __repr__(self) -> str:
        return f"FreeText({self.min_length}, {self.max_length})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FreeText)
            and self.min_length == other.min_length
            and self.max_length == other.max_length
            and self.character_list == other.character_list
            and self.shared_bytes == other.shared_bytes
        )

    __hash__ = None  # type: ignore[assignment]  # as every gymnasium space with an __eq__


@space_utils.flatdim.register(FreeText)
def _flatdim(space: FreeText) -> int:
    return space.max_length


@space_utils.flatten_space.register(FreeText)
def _flatten_space(space: FreeText) -> spaces.Box:
    return spaces.Box(0, PADDING, shape=(space.max_length,), dtype=np.int32)


@space_utils.flatten.register(FreeText)
def _flatten(space: FreeText, x: str) -> NDArray[np.int32]:  # type: ignore[misc]  # generic there
    if not space.contains(x):
        raise ValueError(f"the text is not in {space}")
    result = np.full(space.max_length, PADDING, dtype=np.int32)
    result[: len(x)] = np.frombuffer(x.encode("utf-32-le"), dtype="<u4")
    return result


@space_utils.unflatten.register(FreeText)
def _unflatten(space: FreeText, x: NDArray[np.int32]) -> str:  # type: ignore[misc]  # generic there
    points = np.asarray(x).astype("<u4")
    ends = np.flatnonzero(points == PADDING)
    length = int(ends[0]) if ends.size else points.size
    try:
        return points[:length].tobytes().decode("utf-32-le")
    except UnicodeDecodeError as error:
        raise ValueError(f"the array is no text of {space}: {error}") from None


@space_utils.is_space_dtype_shape_equiv.register(FreeText)
def _same_shape(space_1: FreeText, space_2: spaces.Space[Any]) -> bool:
    return isinstance(space_2, FreeText) and space_1.max_length == space_2.max_length
