"""What the agent has noted down of a dialogue: facts, features, and which candidates are on offer.

Built message by message from the transcript alone, each message once; the same transcript always
gives the same notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import orjson

from cirrus_env.engine.plan import under_way
from cirrus_env.wire import AssistantAction, Message, ToolCall
from cirrus_env.wire.messages import ENVIRONMENT
from cirrus_env.world.clock import DAY, billing_date
from cirrus_env.wrappers.candidates import facts as f
from cirrus_env.wrappers.candidates import features, results
from cirrus_env.wrappers.candidates.handbook import handbook

Vector = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int8]

BOOK: Final = handbook()
K: Final = len(BOOK)
"""How many candidates there are."""

_NEEDS: Final = np.array([candidate.needs for candidate in BOOK], dtype=np.uint64)
_IS_CALL: Final = np.array([candidate.kind == "call" for candidate in BOOK], dtype=np.bool_)
_FREE: Final = np.array([not candidate.after for candidate in BOOK], dtype=np.bool_)
_COVERS: Final = {
    number: np.array([proposal.name in candidate.after for candidate in BOOK], dtype=np.bool_)
    for number, proposal in enumerate(BOOK) if proposal.kind == "propose"
}  # fmt: skip
"""Proposal -> the calls that it is about."""

_QUEUES: Final = re.compile(r"^(?:Queues for a hand-over|可转交的队列)[:：] ?(.+)$", re.MULTILINE)
_CJK: Final = re.compile(r"[\u4e00-\u9fff]")
_DAYS: Final = (-30, -15, -7, 0, 7, 30)
"""Edges of the ranges in which a date that the customer names may lie, in days from today."""

_OPENING: Final = 8 + len(_DAYS) + 1
_LATER: Final = _OPENING + features.OPENING
_LAST: Final = _LATER + features.LATER
_SHOWN: Final = _LAST + features.LAST
_KNOWN: Final = _SHOWN + features.SHOWN
_USED: Final = _KNOWN + len(f.NAMES)
SIZE: Final = _USED + K
"""How long the observation is."""

_OWN_FAULT: Final = 500
"""Errors from this HTTP status on are the platform's own."""

_KEYS: Final = ("instance", "instance2", "disk", "system_disk", "eip", "order", "upgrade_order",
                "renewal_order", "coupon", "gateway", "vswitch", "snapshot")  # fmt: skip
"""Facts that a dialogue is about: only records that mention one are looked at in a list."""

_REQUEST: Final = {
    "en": "The customer asks for a review. Identity and resources as checked: {ids}. ",
    "zh": "客户请求复核。已核实的身份和资源：{ids}。",
}


class Notes:
    """Notes on one dialogue.

    Args:
        system: The system message.
        tools: Names of the tools on offer.
        turns: The most turns that the assistant has.

    Attributes:
        facts: What fills the handbook's places.
        language: ``en`` or ``zh``, as the customer writes.
        vector: The features, one float in [0, 1] each.
    """

    __slots__ = (
        "_blocked", "_done", "_findings", "_fitting", "_have", "_now", "_on_offer", "_opened",
        "_proposed", "_results", "_today", "_turns", "facts", "language", "vector",
    )  # fmt: skip

    def __init__(self, system: str, tools: Iterable[str], turns: int) -> None:
        self.facts: dict[str, str] = {}
        self.language = "en"
        self.vector: Vector = np.zeros(SIZE, dtype=np.float32)
        self._turns = turns
        self._now = f.opened(self.facts, system)
        self._today = billing_date(self._now)
        queues = _QUEUES.search(system)
        self._on_offer = _on_offer(tuple(tools), queues[1] if queues else "")
        self._blocked = np.zeros(K, dtype=np.bool_)
        self._proposed = _FREE
        self._done: dict[int, tuple[str, ...]] = {}
        self._results: dict[int, tuple[int, ...]] = {}
        self._findings: list[str] = []
        self._opened = False
        self._have = -1
        self._fitting = self._on_offer
        self._settle()

    def copy(self) -> Notes:
        """An independent copy."""
        other = Notes.__new__(Notes)
        for name in Notes.__slots__:
            setattr(other, name, getattr(self, name))
        other.facts, other._results = dict(self.facts), dict(self._results)
        other._done = dict(self._done)
        other.vector, other._blocked = self.vector.copy(), self._blocked.copy()
        other._findings = list(self._findings)
        return other

    # -- taking in -----------------------------------------------------------------------------

    def customer(self, text: str) -> None:
        """The customer said something."""
        if not self._opened:
            self.language = "zh" if _CJK.search(text) else "en"
        moment = f.said(self.facts, text, self.language)
        if moment is not None:
            days = (moment - self._now) / DAY
            start = 8
            self.vector[start : start + len(_DAYS) + 1] = 0
            self.vector[start + sum(days > edge for edge in _DAYS)] = 1
        said = features.bare(text)
        if not self._opened:
            self._opened = True
            self.vector[features.words(said, _OPENING, features.OPENING)] = 1
        else:
            self.vector[features.words(said, _LATER, features.LATER)] = 1
            self.vector[_LAST:_SHOWN] = 0
            self.vector[features.words(said, _LAST, features.LAST)] = 1
            self._look_again()  # it may have done something
        self.vector[2:5] = (1, 0, 0)
        self._settle()

    def result(self, number: int, arguments: str, content: str) -> None:
        """A call of this candidate came back."""
        candidate = BOOK[number]
        data: Any = orjson.loads(content)
        failed = not isinstance(data, dict) or ("Code" in data and "Message" in data
                                                and data.get("Success") is not True)  # fmt: skip
        self.vector[2:5] = (0, 0, 1) if failed else (0, 1, 0)
        if not failed:
            results.shown(
                self.facts, candidate.operation, orjson.loads(arguments), data, self.language
            )
        facts = self.facts
        known = {facts[name] for name in _KEYS if name in facts}
        new = features.fields(candidate.operation, data, known, self._today)
        old = self._results.get(number)
        self._results[number] = new
        if old is not None and old != new:
            self._look_again()
            self.vector[_SHOWN:_KNOWN] = 0
            for places in self._results.values():
                self.vector[[_SHOWN + p for p in places]] = 1
        else:
            self.vector[[_SHOWN + p for p in new]] = 1
        if not candidate.reads and not failed:
            self._done = {number: self._places(number)}
            self._look_again()
        self._blocked[number] = not (under_way(content) or (failed and _may_work_later(data)))
        self._settle()

    def take(self, number: int, turn: int, messages: Iterable[Message], arguments: str) -> None:
        """A candidate was chosen, and this came back.

        Args:
            number: The candidate.
            turn: The assistant's turns so far.
            messages: What came back.
            arguments: The arguments of its call.
        """
        self.vector[_USED + number] = 1
        self.vector[0] = min(1.0, turn / self._turns)
        kind = BOOK[number].kind
        if kind not in ("call", "close"):
            self._blocked[number] = True
        if kind == "propose":
            self._proposed = self._proposed | _COVERS[number]
        for message in messages:
            if message["role"] == "tool":
                self.result(number, arguments, message["content"])
            elif message["role"] == "user" and message.get("name") != ENVIRONMENT:
                self.customer(message["content"])

    def _look_again(self) -> None:
        """Something has changed: calls may come to something else than before."""
        self._blocked[_IS_CALL] = False
        for number, places in self._done.items():
            self._blocked[number] = places == self._places(number)

    def _places(self, number: int) -> tuple[str, ...]:
        """What fills a candidate's places now."""
        return tuple(self.facts[name] for name in BOOK[number].places)

    def _settle(self) -> None:
        """Bring the facts' bits up to date."""
        if len(self.facts) == self._have:
            return
        self._have = len(self.facts)
        bits = 0
        for name in self.facts:
            bits |= f.BITS[name]
            self.vector[_KNOWN + _PLACES[name]] = 1
        lacking = _NEEDS & np.uint64(~bits & _ALL)
        self._fitting = self._on_offer & (lacking == 0)
        self.vector[1] = self.language == "zh"

    # -- giving out ----------------------------------------------------------------------------

    def mask(self) -> Mask:
        """Which candidates are on offer: 1 or 0 each; closing always is."""
        return (self._fitting & self._proposed & ~self._blocked).view(np.int8)

    def action(self, number: int) -> AssistantAction:
        """A candidate that is on offer, as an action."""
        candidate = BOOK[number]
        kind = candidate.kind
        if kind == "escalate":
            return AssistantAction("escalate", self._summary(), queue=candidate.queue)
        text = candidate.texts[self.language]
        if candidate.places:
            for name in candidate.places:
                text = text.replace("{" + name + "}", self.facts[name])
        if kind == "call":
            return AssistantAction("call", calls=(ToolCall("", candidate.operation, text),))
        if kind == "close":
            return AssistantAction("close", text)
        if kind == "find":
            self._findings.append(text)
        return AssistantAction("reply", text)

    def _summary(self) -> str:
        """The hand-over's summary: the findings that were said, and what it is about."""
        ids = ", ".join(self.facts[n] for n in ("instance", "disk", "event") if n in self.facts)
        separator = "" if self.language == "zh" else " "
        return _REQUEST[self.language].format(ids=ids or "-") + separator.join(self._findings)


def _may_work_later(error: Any) -> bool:
    """Whether the platform was busy: too many requests, or a fault of its own."""
    return isinstance(error, dict) and (
        error.get("HttpStatus", 0) >= _OWN_FAULT or "Throttling" in error.get("Code", "")
    )


@lru_cache(maxsize=1024)
def _on_offer(tools: tuple[str, ...], queues: str) -> npt.NDArray[np.bool_]:
    """Which candidates a ticket has the tool or the queue for; shared, so not to be written to."""
    named = set(queues.split(", "))
    return np.array([
        candidate.operation in tools if candidate.kind == "call"
        else candidate.kind != "escalate" or candidate.queue in named
        for candidate in BOOK
    ], dtype=np.bool_)  # fmt: skip


_PLACES: Final = {name: number for number, name in enumerate(f.NAMES)}
_ALL: Final = (1 << len(f.NAMES)) - 1
