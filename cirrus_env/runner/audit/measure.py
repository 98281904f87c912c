"""Constants that need oracle runs (METRICS section 1), and whether the committed ones are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from cirrus_env.baselines.plans import expectations
from cirrus_env.judging.outcome import changed_fields, record_of
from cirrus_env.runner.audit.case import Case, Played, play_oracle
from cirrus_env.tickets.ticket import Ticket

SEEDS: Final = tuple(range(5))
"""Constants are measured on these, whatever seeds an audit proves."""


def measured(ticket: Ticket) -> dict[str, dict[str, dict[str, Any]]]:
    """Variant -> language -> what ``constants`` gives."""
    return {
        variant: {language: constants(ticket, variant, language) for language in ticket.languages}
        for variant in ticket.variants
    }


def constants(ticket: Ticket, variant: str, language: str) -> dict[str, Any]:
    """The constants of one variant in one language, over all of ``SEEDS``.

    ``shortest`` is the least number of replies of a jump oracle, ``tokens`` the most that a plain
    oracle wrote, ``wrong_replies`` the most of its replies that count as wrong. A ticket that
    doesn't declare ``may_change`` gets it too: whatever an oracle changed, by placeholder.
    """
    declared = "may_change" in ticket.data
    shortest, tokens, wrong = [], [], []
    changes: set[tuple[str, str, str]] = set()
    for seed in SEEDS:
        case = Case(ticket, variant, language, seed)
        plain, jump = play_oracle(case, "plain"), play_oracle(case, "jump")
        shortest.append(jump.episode.metrics()["replies"])
        metrics = plain.episode.metrics()
        tokens.append(metrics["tokens"])
        wrong.append(metrics["wrong_replies"])
        if not declared:
            for played in (plain, jump, *_others(case)):
                changes.update(_changes(played))
    found = {"shortest": min(shortest), "tokens": max(tokens), "wrong_replies": max(wrong)}
    return found if declared else {**found, "may_change": [list(c) for c in sorted(changes)]}


def _others(case: Case) -> Iterator[Played]:
    """Every other oracle that must succeed."""
    for mode, success in expectations(case.scenario()):
        if success and mode not in ("plain", "jump"):
            yield play_oracle(case, mode)


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
