"""A ticket: one validated file, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from cirrus_env.tickets.compile import Plan

Split = Literal["train", "test"]


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """One ticket file. Equal and hashed by its digest; a copy of it is itself.

    Attributes:
        id: Such as ``ECS-Billing``.
        version: The ``N`` of ``-vN``.
        family: Same root cause and same skill; the split is by family.
        split: ``train`` or ``test``.
        title: In the first language.
        languages: The first is the default.
        variants: Names of the root causes.
        uses: Services in scope besides the general ones; empty for a ticket without tools.
        digest: The sha256 of the file's text.
        file: Where it was read from.
        text: The file's text.
        data: The file as read; never changed.
        constants: What audit measured: variant -> language -> ``shortest``, ``tokens``,
            ``may_change``, ``wrong_replies``; empty where it never ran.
        bundled: Whether it ships with the package.
        plans: Compiled templates by variant and language, filled on first use.
        shared: Phrase groups that the plans of a language share, so that readers may cache by them.
    """

    id: str
    version: int
    family: str
    split: Split
    title: str
    languages: tuple[str, ...]
    variants: tuple[str, ...]
    uses: tuple[str, ...]
    digest: str
    file: str
    text: str = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)
    constants: Mapping[str, Any] = field(default_factory=dict, repr=False)
    bundled: bool = False
    plans: dict[tuple[str, str], Plan] = field(default_factory=dict, repr=False)
    shared: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def default_customer(self) -> str:
        """Who plays the customer unless somebody says otherwise."""
        return "replay" if "imported" in self.data else "simulated"

    @property
    def env_id(self) -> str:
        """The registered name, such as ``Cirrus/ECS-Billing-v0``."""
        space = "Imported" if "imported" in self.data else "Cirrus"
        return f"{space}/{self.id}-v{self.version}"

    def plan(self, variant: str, language: str) -> Plan:
        """The compiled templates of a variant in a language, built on first use."""
        plan = self.plans.get((variant, language))
        if plan is None:
            from cirrus_env.tickets.compile import compile_plan

            plan = self.plans[variant, language] = compile_plan(self, variant, language)
        return plan

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ticket) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __copy__(self) -> Ticket:
        return self

    def __deepcopy__(self, memo: object) -> Ticket:
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        from cirrus_env.tickets.load import restore

        if self.bundled:
            return restore, (self.id, self.digest, self.file, "")
        return restore, (self.id, self.digest, self.file, self.text)
