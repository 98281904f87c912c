"""A ticket with a seed: the frozen facts that an episode runs on.

``Scenario`` has three parts with three readers: ``public`` (what the assistant's seat may see),
``private`` (what the customer knows) and ``gold`` (what only judging, lint, audit and the oracle
read).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from cirrus_env.tickets.predicates import Predicate

if TYPE_CHECKING:
    from cirrus_env.cloud.kernel import Cloud
    from cirrus_env.tickets.ticket import Ticket

Ending = Literal["resolve", "guide", "refuse", "escalate"]
SlotType = Literal["enum", "statement", "money", "number", "date", "id"]
CheckpointKind = Literal[
    "inquiry", "identity", "diagnosis", "explanation", "consent", "action", "verification",
    "escalation", "refusal",
]  # fmt: skip
MinefieldEffect = Literal["fatal", "void", "cost"]
Disclosure = Literal["volunteered", "asked", "confronted", "never"]
Groups = tuple[tuple[str, ...], ...]
"""Phrase groups of one language: all of the groups, any phrase of a group; lower case."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Something that can be told, in this scenario and language.

    Attributes:
        name: The slot.
        type: ``enum`` and ``statement`` are read by phrases, the others by a bound value.
        value: The right value, canonical: the enum value's name; ``said`` for a statement; integer
            cents for money; a decimal number; an ISO date; an id. Empty where this variant has no
            right value (then every value told is a wrong one).
        values: For enum and statement: every value -> its phrase groups.
        near: For the others: phrase groups in the same clause that bind a value to this slot.
        unit: For numbers: phrases that follow the number, any of them; empty for none.
    """

    name: str
    type: SlotType
    value: str
    values: Mapping[str, Groups] = field(default_factory=dict)
    near: Groups = ()
    unit: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the customer knows or believes.

    Attributes:
        name: The fact.
        text: What the customer says when it tells it.
        when: When it tells it.
        asked_by: Phrase groups of a question for it.
        confronted_by: An operation's name or another fact's name that makes it admit this one.
        false: Whether it is a wrong belief.
        needed: Whether the scenario needs it (counts in the elicitation ratio).
    """

    name: str
    text: str
    when: Disclosure
    asked_by: Groups = ()
    confronted_by: tuple[str, ...] = ()
    false: bool = False
    needed: bool = False


@dataclass(frozen=True, slots=True)
class ConsoleAction:
    """Something that only the customer can do or see.

    Attributes:
        name: The action.
        told_by: Phrase groups of an instruction to do it.
        operation: The customer operation that it runs; empty for a mere look.
        arguments: Its arguments.
        says: What the customer reports when it worked.
        fails: What it reports when the operation refused.
    """

    name: str
    told_by: Groups
    operation: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    says: str = ""
    fails: str = ""


@dataclass(frozen=True, slots=True)
class Consent:
    """What the customer agrees to, and what it must have been told in the same reply.

    Attributes:
        operation: The operation's name.
        id: The resource.
        needs: Slots told as consequences.
        arguments: Arguments that the agreement covers; a call with others is not covered. ``*``
            leaves an argument open, one with a declared default included.
    """

    operation: str
    id: str
    needs: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)


Calls = tuple[tuple[str, Mapping[str, Any]], ...]
"""Operations with their arguments."""


ReferenceParts = tuple[Calls, str, tuple[str, ...], tuple[str, ...]]


class Reference:
    """How the oracle passes a checkpoint: calls first, then a reply (either may be missing).

    Args:
        calls: In order.
        reply: The words.
        lead: Replies before the calls that pass nothing: a recorded dialogue has them.
        trail: Such replies after it.
    """

    __slots__ = ("_made", "_make")

    def __init__(
        self,
        calls: Calls = (),
        reply: str = "",
        lead: tuple[str, ...] = (),
        trail: tuple[str, ...] = (),
    ) -> None:
        self._make: Callable[[], ReferenceParts] | None = None
        self._made: ReferenceParts = (calls, reply, lead, trail)

    @classmethod
    def deferred(cls, make: Callable[[], ReferenceParts]) -> Reference:
        """A reference that is written when it is first read: few episodes have an oracle."""
        reference = cls()
        reference._make = make
        return reference

    def _parts(self) -> ReferenceParts:
        if self._make is not None:
            self._made, self._make = self._make(), None
        return self._made

    @property
    def calls(self) -> Calls:
        """Operations with their arguments."""
        return self._parts()[0]

    @property
    def reply(self) -> str:
        """The words; empty for none."""
        return self._parts()[1]

    @property
    def lead(self) -> tuple[str, ...]:
        """Replies before the calls."""
        return self._parts()[2]

    @property
    def trail(self) -> tuple[str, ...]:
        """Replies after the reply."""
        return self._parts()[3]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._parts() == self._parts()

    def __hash__(self) -> int:
        return hash(self.reply)

    def __repr__(self) -> str:
        return f"Reference(calls={self.calls!r}, reply={self.reply!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return Reference, self._parts()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint of this scenario (METRICS section 1)."""

    id: str
    kind: CheckpointKind
    evidence: Predicate
    after: tuple[str, ...] = ()
    skippable: bool = False
    reference: Reference = field(default_factory=Reference)
    near_misses: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Minefield:
    """A call, or a text, that must not be, and what touching it does.

    Attributes:
        operation: The operation; touched by a successful call only. Empty where ``said`` is given.
        arguments: Arguments that the call had; empty for any.
        policy: The policy's id.
        effect: fatal ends the episode, void makes success impossible, cost only costs.
        unless: Evidence under which it is no mine.
        said: A text, such as a secret, that no reply and no argument of a successful call may hold,
            however it is spaced, quoted or capitalised.
    """

    operation: str
    policy: str
    effect: MinefieldEffect
    arguments: Mapping[str, Any] = field(default_factory=dict)
    unless: Predicate | None = None
    said: str = ""


@dataclass(frozen=True, slots=True)
class Closing:
    """How the oracle ends: a ``close`` with these words, or an ``escalate`` to the queue."""

    kind: Literal["close", "escalate"]
    text: str
    queue: str = ""


@dataclass(frozen=True, slots=True)
class Public:
    """What the assistant's seat may see before it acts.

    Attributes:
        title: The ticket's title.
        language: ``en`` or ``zh``.
        account: The customer's account id.
        services: Services in scope, general ones included; empty for a ticket without tools.
        policies: Ids and texts of the policies in scope.
        articles: Ids of the knowledge articles in scope.
        queues: Queues that an escalation may name.
        now: The opening moment, logical seconds since 1970.
        role: What an imported ticket's system message opens with; empty for the standard one.
    """

    title: str
    language: str
    account: str
    services: tuple[str, ...]
    policies: tuple[tuple[str, str], ...]
    articles: tuple[str, ...]
    queues: tuple[str, ...]
    now: int
    role: str = ""


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """One recorded message of an imported ticket's customer, and when it may follow.

    Attributes:
        text: The words; empty on a last entry that only says when the customer accepts.
        needs_calls: Calls, with canonical arguments, that must have succeeded by then.
        needs_asked: Facts that the assistant must have asked for in the reply before; the message
            answers them.
        needs_passed: Checkpoints that must have been passed or skipped by then.
    """

    text: str
    needs_calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    needs_asked: tuple[str, ...] = ()
    needs_passed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Private:
    """What the customer knows, wants and can do.

    Attributes:
        name: The customer's name.
        mood: One word, such as ``annoyed``.
        patience: Unproductive turns before it leaves.
        opening: Its first message.
        facts: By name.
        consents: What it agrees to when properly proposed.
        console: By name.
        satisfied: Holds on the true state (and what was told) when its goal is met.
        recorded: An imported ticket's recorded messages after the opening.
    """

    name: str
    mood: str
    patience: int
    opening: str
    facts: Mapping[str, Fact]
    consents: tuple[Consent, ...]
    console: Mapping[str, ConsoleAction]
    satisfied: Predicate
    recorded: tuple[RecordedTurn, ...] = ()

    def __repr__(self) -> str:
        return "<Private>"  # nothing of it in a log before its time (law R7)


@dataclass(frozen=True, slots=True)
class Gold:
    """What only judging, lint, audit and the oracle read.

    Attributes:
        ending: How this variant ends rightly.
        queue: The right queue of an escalation.
        checkpoints: In listed order, a topological order of ``after``.
        slots: By name.
        minefields: Calls that must not happen.
        must_flip: Named assertions that are false at the start and must be true at the end.
        must_hold: Named assertions that must stay true.
        may_change: ``(kind, id, field)`` that may change; field ``*`` for all, and ``id`` ``*`` for
            any.
        closing: The oracle's ending.
        must_pass: Honest replies that trip nothing.
        shortest: Replies of the shortest successful path (from ``index.json``; 0 if unknown).
        tokens: The plain oracle's visible tokens in this scenario's variant (0 if unknown).
        scored: False where there is no evidence to judge by (imported tickets).
        wrong_replies: How many of the oracle's own replies count as wrong (from ``index.json``).
    """

    ending: Ending
    queue: str
    checkpoints: tuple[Checkpoint, ...]
    slots: Mapping[str, Slot]
    minefields: tuple[Minefield, ...]
    must_flip: tuple[tuple[str, Predicate], ...]
    must_hold: tuple[tuple[str, Predicate], ...]
    may_change: tuple[tuple[str, str, str], ...]
    closing: Closing
    must_pass: Sequence[str] = ()
    shortest: int = 0
    tokens: int = 0
    scored: bool = True
    wrong_replies: int = 0

    def __repr__(self) -> str:
        return "<Gold>"  # nothing of it in a log (law R7)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A ticket's concrete facts for one seed, variant and language.

    Attributes:
        ticket: Where it comes from.
        seed: The seed.
        variant: The root cause's name.
        public: For the assistant's seat.
        private: For the customer.
        gold: For judging.
        cloud: The world at the opening; never changed: an episode works on a fork of it.
        values: Parameter values, for messages and tests.
    """

    ticket: Ticket
    seed: int
    variant: str
    public: Public
    private: Private
    gold: Gold
    cloud: Cloud
    values: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<Scenario of {self.ticket.env_id}, seed {self.seed}>"

    def __copy__(self) -> Scenario:
        return self

    def __deepcopy__(self, memo: object) -> Scenario:
        return self

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        from cirrus_env.tickets.scenario import remake

        return remake, (self.ticket, self.seed, self.variant, self.public.language)
