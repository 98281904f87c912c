"""Law R7: gold reaches no observation and no info before the end; private facts wait their turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cirrus_env.baselines.registry import ATTACKS
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.views import AssistantView
from cirrus_env.runner.audit.case import Case
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import canonical

PROBES: Final = ("do-nothing", "ask-everything", "read-only-sweep", "every-tool-every-id")
"""Agents that between them open everything that can be opened, without saying any gold."""

SHORTEST: Final = 16
"""A gold text of fewer characters may occur by chance; law R7's own tests use canaries."""


def nothing_leaks(case: Case) -> Iterator[str]:
    """Gold texts and names never show; a private fact shows only once its condition is met."""
    seen: set[str] = set()
    for probe in PROBES:
        for problem in _probe(case, probe):
            if problem not in seen:
                seen.add(problem)
                yield problem


def _probe(case: Case, name: str) -> Iterator[str]:
    episode = case.episode()
    hidden = _hidden(episode.scenario)
    view = AssistantView()
    policy = ATTACKS[name](episode)
    policy.reset(case.seed)
    info: Mapping[str, Any] = episode.info()
    while episode.outcome is None:
        observation = view.observe(episode)
        shown = "\n".join(map(str, observation.values())) + canonical(dict(info)) + repr(episode)
        yield from (f"{what} shows to {name}" for what, text in hidden.items() if text in shown)
        yield from _early_facts(episode, name)
        info = episode.step(policy.act(observation)).info


def _hidden(scenario: Scenario) -> dict[str, str]:
    """What must not show, by what it is. Names count where they can't be plain words."""
    gold = scenario.gold
    found = {f"the variant's name {scenario.variant!r}": scenario.variant}
    for checkpoint in gold.checkpoints:
        found[f"the checkpoint's name {checkpoint.id!r}"] = checkpoint.id
        found[f"the reference reply of {checkpoint.id}"] = checkpoint.reference.reply
        for text in checkpoint.near_misses:
            found[f"a near-miss of {checkpoint.id}"] = text
    found["the closing words"] = gold.closing.text
    for text in gold.must_pass:
        found["a must-pass reply"] = text
    for fact in scenario.private.facts.values():
        if fact.when == "never":
            found[f"the never-told fact {fact.name}"] = fact.text
    return {what: text for what, text in found.items() if _telling(text)}


def _telling(text: str) -> bool:
    return len(text) >= SHORTEST or any(mark in text for mark in ("_", "-")) or not text.isascii()


def _early_facts(episode: TicketEpisode, name: str) -> Iterator[str]:
    told = {
        act.name
        for record in episode.records
        for act in record.acts
        if act.kind in ("answered", "volunteered")
    }
    said = "\n".join(str(record.action.get("text", "")) for record in episode.records)
    for fact in episode.scenario.private.facts.values():
        if fact.name not in told and len(fact.text) >= SHORTEST and fact.text in said:
            yield f"the fact {fact.name} shows to {name} before its time"
