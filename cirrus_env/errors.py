"""The error tree: every error that this package raises on purpose.

::

    CirrusError
    ├── InvalidAction        a programmer passed a wrong type, key or index; nothing changed
    ├── EpisodeNotRunning    an action before ``reset`` or after the end
    ├── OptionError          an unknown or impossible reset option or keyword argument
    ├── UnknownTicket        no ticket of that name; near names are suggested
    ├── TicketError          a ticket file is wrong; names file, path and mend
    ├── ImportFormatError    a foreign file can't be read as the format it should be
    ├── MalformedText        text that a model sent can't be read (counted, never raised to it)
    ├── CloudError           an operation of the mock cloud refused, with the provider's code
    ├── RenderError          a chat template can't extend a conversation; names the role
    ├── EndpointError        a model's endpoint failed for good: its episode ends invalid
    │   └── ModelUnavailable the package's own client got no answer; its message may be stored
    ├── CustomerFailed       a customer's code raised, or did what it can't; ``__cause__`` is what
    ├── JudgeFailed          a judge's code raised; ``__cause__`` is what
    ├── RunError             a run can't go on; what it stored is kept
    ├── InvariantError       the package itself is wrong: please report it
    ├── StoreError           a run's folder can't be read or written
    │   ├── RunLocked        another runner holds the folder
    │   └── StoreFull        the disk is full or read-only; what was there is kept
    └── ComparisonError      two results that may not be compared
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CirrusError(Exception):
    """Base of every error of this package."""


class InvalidAction(CirrusError, ValueError):
    """A programmer's mistake in an action: wrong Python type, missing key, index out of range."""


class EpisodeNotRunning(CirrusError, RuntimeError):
    """An action was sent before ``reset`` or after the episode's end."""


class OptionError(CirrusError, ValueError):
    """A reset option or keyword argument that can't be used."""


class UnknownTicket(CirrusError, LookupError):
    """No ticket has this name."""

    def __init__(self, name: str, known: Iterable[str] = ()) -> None:
        self.name = name
        self.near = tuple(difflib.get_close_matches(name, sorted(known), n=3))
        hint = f"; did you mean {', '.join(self.near)}?" if self.near else ""
        super().__init__(f"there is no ticket {name!r}{hint}")

    def __reduce__(self) -> tuple[type[UnknownTicket], tuple[str, tuple[str, ...]]]:
        return UnknownTicket, (self.name, self.near)


class TicketError(CirrusError, ValueError):
    """A ticket file is wrong.

    Attributes:
        file: The file's path or name.
        path: Where in the file, such as ``checkpoints[2].evidence``.
        mend: What to change.
    """

    def __init__(self, file: str, path: str, problem: str, mend: str = "") -> None:
        self.file, self.path, self.problem, self.mend = file, path, problem, mend
        hint = f" ({mend})" if mend else ""
        super().__init__(f"{file}: {path}: {problem}{hint}")

    def __reduce__(self) -> tuple[type[TicketError], tuple[str, str, str, str]]:
        return TicketError, (self.file, self.path, self.problem, self.mend)


class ImportFormatError(CirrusError, ValueError):
    """A foreign file isn't what its format says."""


class MalformedText(CirrusError, ValueError):
    """Text that can't be read as what it should be, such as arguments that are not JSON."""


class CloudError(CirrusError):
    """An operation of the mock cloud refused.

    Attributes:
        code: The provider's error code, spelled as the provider spells it.
        message: The provider-style message.
        status: The HTTP status.
    """

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        self.code, self.message, self.status = code, message, status
        super().__init__(f"{code}: {message}")

    def __reduce__(self) -> tuple[type[CloudError], tuple[str, str, int]]:
        return CloudError, (self.code, self.message, self.status)


class RenderError(CirrusError, ValueError):
    """A chat template or renderer can't extend a conversation without writing it again.

    Attributes:
        role: The role of the message that it breaks at: ``user`` or ``tool``.
        problem: What it does.
    """

    def __init__(self, role: str, problem: str) -> None:
        self.role, self.problem = role, problem
        super().__init__(f"role {role!r}: the chat template {problem}")

    def __reduce__(self) -> tuple[type[RenderError], tuple[str, str]]:
        return RenderError, (self.role, self.problem)


class EndpointError(CirrusError):
    """What stands behind a seat or a judge, such as a model's endpoint, failed for good.

    Raised by a customer or a judge it ends the episode with ``customer_error`` or ``judge_error``:
    the episode is invalid and nobody's number. Raised by a policy it is the runner's to attribute.
    """

    @property
    def kept(self) -> str:
        """What is stored of it: its type, for a message may hold a secret (law R7)."""
        return type(self).__name__


class ModelUnavailable(EndpointError):
    """``endpoints.client`` got no answer for good, or a budget is spent.

    Its message names the model, what happened and how often; nothing that was sent or received.
    """

    @property
    def kept(self) -> str:
        """Its message, which may be stored."""
        return f"{type(self).__name__}: {self}"


class CustomerFailed(CirrusError):
    """A customer's code raised something else than ``EndpointError``, or did what it can't."""


class JudgeFailed(CirrusError):
    """A judge's code raised something else than ``EndpointError``."""


class RunError(CirrusError, RuntimeError):
    """A run can't go on, such as when no worker process comes up; what it stored is kept."""


class InvariantError(CirrusError, AssertionError):
    """The package broke one of its own laws; this is a fault to report."""


class StoreError(CirrusError, OSError):
    """A run's folder can't be read or written."""


class RunLocked(StoreError):
    """Another runner holds this folder."""


class StoreFull(StoreError):
    """The disk is full or read-only; nothing that was stored is lost."""


class ComparisonError(CirrusError, ValueError):
    """Two results that may not be compared, such as other ticket digests."""
