"""How an episode is played: what a caller chose, resolved once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cirrus_env.cloud.catalogue import SERVICES, catalogue
from cirrus_env.cloud.faults import Fault, fault_rates
from cirrus_env.customers.protocol import Customer
from cirrus_env.customers.registry import customer as find_customer
from cirrus_env.customers.solo import SoloCustomer
from cirrus_env.engine.distractions import distractions as find_distractions
from cirrus_env.engine.modes import EPISODE_MODES, NORMAL, SOLO
from cirrus_env.engine.parsers import Parser, find_parser
from cirrus_env.errors import OptionError
from cirrus_env.judging.judge import Judge
from cirrus_env.judging.judge import judge as find_judge
from cirrus_env.judging.reward import RewardRule, reward_rule
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import encodes

EXTERNAL = "external"
"""The name of a customer that somebody outside plays through ``apply``."""

SECONDS_A_CALL = 10
SECONDS_A_REPLY = 60
MAX_TRANSCRIPT = 2_000_000
MAX_CALLS_A_MESSAGE = 32
MAX_CONSOLE_IN_A_ROW = 20
"""Console actions of the customer after which its turn passes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where an episode stops (DESIGN "Words with one meaning").

    Attributes:
        max_turns: Assistant turns.
        max_tool_calls: Tool calls in all.
        max_invalid: Invalid actions in a row.
        max_tokens: Visible assistant tokens in all; None for no limit.
        max_chars: Characters of one message; a longer one is an invalid action.
        max_transcript: Characters of the whole transcript; past it the episode overflows.
    """

    max_turns: int = 30
    max_tool_calls: int = 60
    max_invalid: int = 3
    max_tokens: int | None = None
    max_chars: int = 20_000
    max_transcript: int = MAX_TRANSCRIPT

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            OptionError: If one is no positive integer.
        """
        for name in self.__slots__:
            value = getattr(self, name)
            if value is None and name == "max_tokens":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise OptionError(f"{name} must be a positive integer, not {value!r}")


@dataclass(frozen=True, slots=True)
class Setting:
    """What stays the same over all episodes of one ``TicketEpisode``.

    Attributes:
        customer: Who plays the customer; None when somebody outside does, through ``apply``.
        judge: Decides what was said.
        rule: The reward.
        parser: Reads raw model text.
        system: A system text to use instead of the ticket's.
        language: The language of every episode; None for the ticket's first.
        offered: The tools offered; None for all of the ticket's.
        limits: Where an episode stops.
        faults: The cloud's faults with their rates; empty for none.
        mode: One of ``engine.modes``.
        distractions: How many tools of other services are offered, too, or ``all``.
        extra: Which these are.
        scramble: The seed of the tools' scrambled names; None for their true ones.
    """

    customer: Customer | None
    judge: Judge
    rule: RewardRule
    parser: Parser
    system: str | None
    language: str | None
    offered: frozenset[str] | None
    limits: Limits
    faults: tuple[tuple[Fault, float], ...]
    mode: str = NORMAL
    distractions: int | str = 0
    extra: tuple[str, ...] = ()
    scramble: int | None = None


def make_setting(
    ticket: Ticket,
    *,
    customer: str | Customer | None,
    judge: str | Judge,
    reward: str | RewardRule | Mapping[str, float],
    parser: str | Parser,
    system: str | None,
    language: str | None,
    tools: Iterable[str] | None,
    limits: Limits,
    faults: str | Mapping[str, float] | None = None,
    mode: str = NORMAL,
    distractions: int | str = 0,
    scramble: int | None = None,
) -> Setting:
    """Resolve what a caller chose; see ``TicketEpisode`` for the arguments.

    Raises:
        OptionError: If an argument can't be used.
    """
    if language is not None and language not in ticket.languages:
        known = ", ".join(ticket.languages)
        raise OptionError(f"{ticket.id} has no language {language!r}; it has {known}")
    if mode not in EPISODE_MODES:
        raise OptionError(f"there is no mode {mode!r}; there are {', '.join(EPISODE_MODES)}")
    if scramble is not None and (isinstance(scramble, bool) or not isinstance(scramble, int)):
        raise OptionError(f"scramble is the seed of the tools' names or None, not {scramble!r}")
    extra = find_distractions(ticket, distractions)
    offered = _offered(ticket, tools)
    return Setting(
        customer=as_customer(customer or _usual_customer(ticket, mode), mode),
        judge=find_judge(judge),
        rule=reward_rule(reward),
        parser=find_parser(parser),
        system=_system(system),
        language=language,
        offered=offered,
        limits=limits,
        faults=_faults(faults),
        mode=mode,
        distractions=distractions,
        extra=extra,
        scramble=scramble,
    )


def _usual_customer(ticket: Ticket, mode: str) -> str:
    return SoloCustomer.name if mode == SOLO else ticket.default_customer


def as_customer(given: str | Customer, mode: str = NORMAL) -> Customer | None:
    """The customer of this name; None for ``external``. The solo mode has one of its own."""
    if mode == SOLO:
        if given != SoloCustomer.name:
            raise OptionError("nobody answers in the solo mode: it has no other customer")
        return SoloCustomer()
    if isinstance(given, str) and given == EXTERNAL:
        return None
    return find_customer(given)


def _faults(given: str | Mapping[str, float] | None) -> tuple[tuple[Fault, float], ...]:
    try:
        return tuple(fault_rates(given).items())
    except ValueError as error:
        raise OptionError(str(error)) from None


def _system(given: str | None) -> str | None:
    if given is not None and not (isinstance(given, str) and encodes(given)):
        raise OptionError("the system text must be a text that has a UTF-8 form")
    return given


def _offered(ticket: Ticket, given: Iterable[str] | None) -> frozenset[str] | None:
    if given is None:
        return None
    names = None if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if names is None or not all(isinstance(name, str) for name in names):
        raise OptionError(f"tools are the names of the tools to offer, not {given!r}"[:200])
    mine = ticket.plan(ticket.variants[0], ticket.languages[0]).catalogue.operations
    for name in names:
        # a pool's tickets have different tools: a name that any service knows may be given
        if name not in mine and name not in catalogue(tuple(SERVICES)).operations:
            near = difflib.get_close_matches(name, sorted(mine), n=3)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise OptionError(f"there is no tool {name!r}{hint}"[:200])
    return frozenset(names)
