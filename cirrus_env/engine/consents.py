"""Live consents: structured agreements, each good for one matching call (METRICS section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from cirrus_env.cloud.arguments import same

ANY: Final = "*"
"""An agreement's argument that the call may leave out or set as it likes."""


class LiveConsent(NamedTuple):
    """An agreement that has not been used yet.

    Attributes:
        proposal: The step of the assistant's reply that proposed it.
        arguments: Arguments that a call must have to be covered; ``ANY`` leaves one open.
    """

    proposal: int
    arguments: Mapping[str, Any]


class Consents:
    """The live consents of an episode, by (operation, resource id)."""

    __slots__ = ("_live",)

    def __init__(self, live: dict[tuple[str, str], LiveConsent] | None = None) -> None:
        self._live = live if live is not None else {}

    def copy(self) -> Consents:
        """An independent copy."""
        return Consents(self._live.copy())

    def agree(
        self, operation: str, resource: str, proposal: int, arguments: Mapping[str, Any]
    ) -> None:
        """The customer agreed to what was proposed at step ``proposal``."""
        self._live[operation, resource] = LiveConsent(proposal, arguments)

    def covering(
        self,
        operation: str,
        resource: str,
        arguments: Mapping[str, Any],
        unusual: Iterable[str] = (),
    ) -> LiveConsent | None:
        """The live consent that covers this call, if any.

        Args:
            operation: The operation called.
            resource: The id of what it is called on.
            arguments: The call's canonical arguments.
            unusual: Those that depart from a declared default, such as a forced stop: whoever
                agrees to an operation agrees to its usual form and to what the agreement names.
        """
        live = self._live.get((operation, resource))
        if live is None or any(name not in live.arguments for name in unusual):
            return None
        covered = all(
            value == ANY or (name in arguments and same(arguments[name], value))
            for name, value in live.arguments.items()
        )
        return live if covered else None

    def use(self, operation: str, resource: str) -> None:
        """A matching call succeeded: the consent is used up."""
        self._live.pop((operation, resource), None)

    def changed(self, resources: set[str], proposal: int | None) -> None:
        """Resources changed: consents about them are void, but for those of the same proposal."""
        if not self._live:
            return
        void = [
            key
            for key, live in self._live.items()
            if key[1] in resources and live.proposal != proposal
        ]
        for key in void:
            del self._live[key]
