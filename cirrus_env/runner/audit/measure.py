"""Constants that need oracle runs (METRICS section 1), and whether the committed ones are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from cirrus_env.baselines.plans import SUCCEED, expectations
from cirrus_env.judging.outcome import changed_fields, record_of
from cirrus_env.runner.audit.case import Case, Played, play_oracle
from cirrus_env.tickets.ticket import Ticket

SEEDS: Final = tuple(range(5))
"""Constants are measured on these, whatever seeds an audit proves."""


def measured(ticket: Ticket) -> dict[str, dict[str, dict[str, Any]]]:
    """Variant -> language -> ``shortest``, ``tokens``, ``may_change``, ``wrong_replies``."""
    return {
        variant: {language: constants(ticket, variant, language) for language in ticket.languages}
        for variant in ticket.variants
    }


def constants(ticket: Ticket, variant: str, language: str) -> dict[str, Any]:
    """The constants of one variant in one language, over all of ``SEEDS``.

    ``shortest`` is the least number of replies of a jump oracle, ``tokens`` the most that a plain
    oracle wrote, ``may_change`` whatever an oracle changed, by placeholder, ``wrong_replies`` the
    most of a plain oracle's replies that count as wrong.
    """
    shortest, tokens, wrong = [], [], []
    changes: set[tuple[str, str, str]] = set()
    for seed in SEEDS:
        case = Case(ticket, variant, language, seed)
        modes = [e.mode for e in expectations(case.scenario()) if e.mode in SUCCEED]
        played = {mode: play_oracle(case, mode) for mode in modes}
        for each in played.values():
            changes.update(_changes(each))
        plain = played["plain"].episode.metrics()
        shortest.append(played["jump"].episode.metrics()["replies"])
        tokens.append(plain["tokens"])
        wrong.append(plain["wrong_replies"])
    return {
        "shortest": min(shortest),
        "tokens": max(tokens),
        "may_change": [list(change) for change in sorted(changes)],
        "wrong_replies": max(wrong),
    }


def with_constants(ticket: Ticket, constants: dict[str, Any]) -> Ticket:
    """The same ticket with these constants."""
    return replace(ticket, constants=constants, plans={})


def constants_are_current(case: Case) -> Iterator[str]:
    """The committed constants are those that the oracle runs give now; checked once a variant."""
    if not case.ticket.bundled or case.seed != SEEDS[0]:
        return
    stored = case.ticket.constants.get(case.variant, {}).get(case.language)
    if stored != constants(case.ticket, case.variant, case.language):
        yield "index.json has other constants: run 'cirrus-env audit --write'"


def _changes(played: Played) -> Iterator[tuple[str, str, str]]:
    """What the assistant's calls changed, each id as the placeholder that it came from."""
    episode = played.episode
    names = {
        value: f"{{{name}}}"
        for name, value in episode.scenario.values.items()
        if isinstance(value, str)
    }
    for entry in episode.state.cloud.audit:
        if entry.actor == "assistant":
            record = record_of(entry)
            for field in changed_fields(entry):
                yield record.kind, names.get(record.id, "*"), field
