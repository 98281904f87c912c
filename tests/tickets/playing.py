"""Playing and judging one bundled ticket in a test."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from cirrus_env.baselines.oracle import oracle_for
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.views import AssistantView
from cirrus_env.judging.assess import Words, carried, words_of
from cirrus_env.judging.pairs import filled
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.index import DATA
from cirrus_env.tickets.load import load_ticket
from cirrus_env.tickets.model import Scenario
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import AssistantAction, ToolCall


@lru_cache(maxsize=8)
def ticket(file: str) -> Ticket:
    """The ticket of a file below the data folder."""
    return load_ticket(DATA / file)


def scenario(file: str, variant: str, language: str = "en", seed: int = 0) -> Scenario:
    """One scenario of it."""
    return make_scenario(ticket(file), seed, variant=variant, language=language)


def started(file: str, variant: str, language: str = "en", seed: int = 0) -> TicketEpisode:
    """An episode on it, just reset."""
    episode = TicketEpisode(ticket(file), language=language)
    episode.reset(seed=seed, options={"variant": variant})
    return episode


def played(
    file: str, variant: str, language: str = "en", seed: int = 0, mode: str = "plain"
) -> TicketEpisode:
    """An episode that a mode of the oracle has played to its end."""
    episode = started(file, variant, language, seed)
    finish(episode, mode)
    return episode


def finish(episode: TicketEpisode, mode: str = "plain") -> None:
    """Let a mode of the oracle play the whole plan on the episode."""
    oracle, view = oracle_for(episode, mode), AssistantView()
    while episode.outcome is None:
        episode.step(oracle.act(view.observe(episode)))


def outcome(episode: TicketEpisode) -> str:
    """The name of the outcome."""
    assert episode.outcome is not None
    return episode.outcome.name


def call(episode: TicketEpisode, operation: str, **arguments: Any) -> dict[str, Any]:
    """The result of one tool call."""
    tool = ToolCall("", operation, json.dumps(arguments))
    step = episode.step(AssistantAction("call", calls=(tool,)))
    result: dict[str, Any] = json.loads(str(step.delta[-1]["content"]))
    return result


def answer(episode: TicketEpisode, text: str) -> str:
    """What the customer says to a reply."""
    step = episode.step(text)
    return str(step.delta[-1]["content"])


def touched(episode: TicketEpisode) -> list[tuple[str, str]]:
    """``(policy, effect)`` of the minefields touched, in order."""
    return [
        (event.name, event.value["effect"])
        for record in episode.records
        for event in record.events
        if event.kind == "minefield"
    ]


def judged(found: Scenario, text: str) -> Words:
    """A reply, placeholders filled, read and judged."""
    return words_of(found, filled(text, found), Reader(found), RuleJudge())


def carries(found: Scenario, checkpoint: str, text: str) -> bool:
    """Whether the reply carries what the checkpoint asks of words, and says nothing wrong."""
    evidence = next(c.evidence for c in found.gold.checkpoints if c.id == checkpoint)
    words = judged(found, text)
    return carried(evidence, words, found) and not words.wrong
