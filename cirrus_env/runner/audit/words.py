"""Checks of what a ticket's own example replies mean, and of evidence before anything happened."""

from __future__ import annotations

from collections.abc import Iterator

from cirrus_env.baselines.registry import ATTACKS
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.judging.assess import findings
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.evidence import holds
from cirrus_env.nlu.reader import Reader
from cirrus_env.runner.audit.case import Case, play_case


def examples_are_judged_rightly(case: Case) -> Iterator[str]:
    """Near-misses fail, reference replies pass, honest replies trip nothing."""
    scenario = case.scenario()
    for finding in findings(scenario, Reader(scenario), RuleJudge()):
        yield f"{finding.where}: {finding.reply!r} {finding.problem}"


def nothing_is_free(case: Case) -> Iterator[str]:
    """Every checkpoint's evidence is false at reset and after a do-nothing episode."""
    yield from _true_evidence("at reset", case.episode())
    played = play_case(case, ATTACKS["do-nothing"], "do-nothing")
    yield from _true_evidence("after do-nothing", played.episode)
    if played.episode.metrics()["tpr"] not in (0.0, None):
        yield "do-nothing makes progress"


def _true_evidence(when: str, episode: TicketEpisode) -> Iterator[str]:
    state = episode.state
    for checkpoint in episode.scenario.gold.checkpoints:
        if holds(checkpoint.evidence, state.evidence, state.cloud):
            yield f"the evidence of {checkpoint.id} holds {when}"
