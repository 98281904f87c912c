"""What drawn things look like: resource ids (domain/infrastructure.md, 0.2) and people's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cirrus_env.world import Stream

_BP1: Final = {
    "instance": "i", "disk": "d", "snapshot": "s", "policy": "sp", "image": "m",
    "security_group": "sg", "vpc": "vpc", "vswitch": "vsw", "eip": "eip", "nat": "ngw",
    "event": "e", "rule": "sgr", "route": "rte", "interface": "eni", "snat_entry": "snat",
    "forward_entry": "fwd", "snat_table": "stb", "forward_table": "ftb",
}  # fmt: skip

_DIGITS: Final = {"account": 16, "order": 15, "refund": 15, "bill": 15, "transaction": 15}

NAMES: Final[dict[str, tuple[str, ...]]] = {
    "en": (
        "Nadia Ferrow", "Tom Hallbeck", "Priya Sandal", "Jonas Weidt", "Clara Moxley",
        "Owen Tarrant", "Mina Okafo", "Lucas Brandl", "Ines Calado", "Peter Lindqvist",
        "Hanna Korpi", "Ravi Menon", "Elsa Dorn", "Marco Telli", "Grace Umber", "Noah Pellam",
    ),
    "zh": (
        "陈立群", "王晓彤", "李景行", "赵一鸣", "孙若溪", "周文博", "吴思远", "郑雨桐", "冯嘉木",
        "何清扬", "林知夏", "高明远", "梁书禾", "宋子墨", "唐可心", "许安然",
    ),
}  # fmt: skip
"""Made-up people."""


def known_kinds() -> tuple[str, ...]:
    """The last parts of the kinds whose ids can be drawn, sorted."""
    return tuple(sorted((*_BP1, *_DIGITS, "voucher")))


def has_shape(kind: str) -> bool:
    """Whether ids of this kind can be drawn."""
    return kind.rpartition(".")[2] in known_kinds()


def draw_id(kind: str, stream: Stream) -> str:
    """An id in the real shape of its kind, such as ``i-bp1…`` for ``ecs.instance``."""
    bound, write = id_writer(kind)
    return write(stream.below(bound))


def id_writer(kind: str) -> tuple[int, Callable[[int], str]]:
    """How ids of a kind are drawn: a bound, and what writes a number below it as an id."""
    last = kind.rpartition(".")[2]
    prefix = _BP1.get(last)
    if prefix:
        lead = f"{prefix}-bp1"
        return 1 << 128, lambda value: lead + _letters(value)
    if last == "voucher":
        return 1 << 48, lambda value: f"Q-{value:012x}"
    least = 10 ** (_DIGITS[last] - 1)
    return 9 * least, lambda value: str(least + value)


_ALPHABET: Final = b"0123456789abcdefghijklmnopqrstuvwxyz"
_LETTERS: Final = bytes(_ALPHABET[byte % 36] for byte in range(256))


def _letters(value: int) -> str:
    """Seventeen letters and digits, in one stroke: a world has dozens of ids."""
    return (value.to_bytes(16, "big") + bytes((value % 36,))).translate(_LETTERS).decode()
