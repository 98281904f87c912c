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
    """What must not show, by what it is."""
    gold = scenario.gold
    names = {f"the variant's name {scenario.variant!r}": scenario.variant}
    texts = {"the closing words": gold.closing.text}
    for checkpoint in gold.checkpoints:
        names[f"the checkpoint's name {checkpoint.id!r}"] = checkpoint.id
        texts[f"the reference reply of {checkpoint.id}"] = checkpoint.reference.reply
        for number, text in enumerate(checkpoint.near_misses):
            texts[f"near-miss {number} of {checkpoint.id}"] = text
    for number, text in enumerate(gold.must_pass):
        texts[f"must-pass reply {number}"] = text
    for fact in scenario.private.facts.values():
        if fact.when == "never":
            texts[f"the never-told fact {fact.name}"] = fact.text
    return {
        **{what: name for what, name in names.items() if _no_plain_word(name)},
        **{what: text for what, text in texts.items() if _telling(text)},
    }


def _no_plain_word(name: str) -> bool:
    """Whether the name can't be in an honest observation by chance."""
    return "_" in name or "-" in name


def _telling(text: str) -> bool:
    return len(text) >= (SHORTEST if text.isascii() else SHORTEST // 2)


def _early_facts(episode: TicketEpisode, name: str) -> Iterator[str]:
    told = {
        act.name
        for record in episode.records
        for act in record.acts
        if act.kind in ("answered", "volunteered")
    }
    said = "\n".join(str(record.action.get("text", "")) for record in episode.records)
    for fact in episode.scenario.private.facts.values():
        if fact.name not in told and _telling(fact.text) and fact.text in said:
            yield f"the fact {fact.name} shows to {name} before its time"
