"""``cirrus-env show``: one ticket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from cirrus_env.cli import select
from cirrus_env.cli.command import OK, execute
from cirrus_env.cli.streams import Streams
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Print one ticket; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("show")
@click.argument("ticket")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--variant", help="The root cause to show; all are named.")
@click.option("--language", help="en or zh; the ticket's first if left out.")
@click.option("--gold", is_flag=True, help="Also what is checked: it spoils playing the ticket.")
@select.as_json
@click.pass_obj
def _command(
    streams: Streams,
    ticket: str,
    seed: int,
    variant: str | None,
    language: str | None,
    gold: bool,
    as_json: bool,
) -> int:
    """Show what a ticket is, how it opens, what it offers and, with --gold, what it checks."""
    shown = [
        facts(t, seed, variant=variant, language=language, gold=gold)
        for t in select.tickets([ticket])
    ]
    if as_json:
        streams.json(shown[0] if len(shown) == 1 else shown)
        return OK
    for each in shown:
        _print(streams, each)
    return OK


def facts(
    ticket: Ticket, seed: int, *, variant: str | None, language: str | None, gold: bool
) -> dict[str, Any]:
    """What there is to say about a ticket and one of its scenarios, as JSON."""
    episode = TicketEpisode(ticket, language=language)
    episode.reset(seed=seed, options={"variant": variant} if variant else None)
    scenario = episode.scenario
    result: dict[str, Any] = {
        "id": ticket.env_id,
        "title": ticket.title,
        "family": ticket.family,
        "split": ticket.split,
        "languages": list(ticket.languages),
        "variants": {
            name: make_scenario(ticket, seed, variant=name).gold.ending for name in ticket.variants
        },
        "digest": ticket.digest,
        "opening": scenario.private.opening,
        "tools": list(episode.tool_names),
        "policies": dict(scenario.public.policies),
        "queues": list(scenario.public.queues),
    }
    if gold:
        result["gold"] = {
            "variant": scenario.variant,
            "ending": scenario.gold.ending,
            "checkpoints": [
                {
                    "id": c.id,
                    "kind": c.kind,
                    "after": list(c.after),
                    "skippable": c.skippable,
                    "calls": [name for name, _ in c.reference.calls],
                    "reply": c.reference.reply,
                }
                for c in scenario.gold.checkpoints
            ],
            "minefields": [
                {
                    "operation": m.operation,
                    "said": m.said,
                    "policy": m.policy,
                    "effect": m.effect,
                }
                for m in scenario.gold.minefields
            ],
            "closing": scenario.gold.closing.text,
        }
    return result


def _print(streams: Streams, facts: dict[str, Any]) -> None:
    line = streams.line
    line(f"{facts['id']}: {facts['title']}")
    line(f"  family {facts['family']}, split {facts['split']}, {' '.join(facts['languages'])}")
    variants = (f"{name} ({ending})" for name, ending in facts["variants"].items())
    line(f"  variants: {', '.join(variants)}")
    line(f"  opening: {facts['opening']}")
    line(f"  tools: {', '.join(facts['tools']) or 'none'}")
    line(f"  queues: {', '.join(facts['queues']) or 'none'}")
    for name, text in facts["policies"].items():
        line(f"  policy {name}: {text}")
    gold = facts.get("gold")
    if gold is None:
        return
    line(f"  gold of {gold['variant']} (ending: {gold['ending']})")
    for c in gold["checkpoints"]:
        after = f", after {', '.join(c['after'])}" if c["after"] else ""
        line(f"    {c['id']}: {c['kind']}{after}{', skippable' if c['skippable'] else ''}")
        if c["calls"]:
            line(f"      calls {', '.join(c['calls'])}")
        if c["reply"]:
            line(f"      says {c['reply']}")
    for mine in gold["minefields"]:
        what = mine["operation"] or f"saying {mine['said']}"
        line(f"    minefield {mine['policy']}: {what} ({mine['effect']})")
    line(f"    closing: {gold['closing']}")
