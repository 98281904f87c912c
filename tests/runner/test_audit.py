"""The audit finds what is wrong with a ticket."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.audit import CHECKS, Case, audit, cases_of, measured, with_constants
from cirrus_env.runner.audit.leaks import nothing_leaks
from cirrus_env.tickets.load import load_ticket

SMALL = Path(__file__).with_name("small.toml")
TICKET = load_ticket(SMALL)
TICKET = with_constants(TICKET, measured(TICKET))
VARIANT = "halted-in-guest"


def case(ticket=TICKET, variant=VARIANT, language="en", seed=0) -> Case:
    return Case(ticket, variant, language, seed)


def changed(*replacements: tuple[str, str]) -> Case:
    text = TICKET.text
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    ticket = load_ticket(text, file="changed.toml")
    return case(with_constants(ticket, TICKET.constants))


def problems(case: Case, check: str) -> list[str]:
    return list(CHECKS[check](case))


def test_cases_are_every_variant_in_every_language_with_every_seed():
    several = replace(TICKET, variants=("a", "b"), languages=("en", "zh"))
    cases = list(cases_of([several], [0, 7]))
    assert [c[1:] for c in cases[:3]] == [("a", "en", 0), ("a", "en", 7), ("a", "zh", 0)]
    assert len(cases) == 8
    assert {c.language for c in cases_of([several], [0], ["zh"])} == {"zh"}
    assert case().label == "Cirrus/ECS-Small-v0 halted-in-guest en seed 0"


def test_a_sound_ticket_is_proved():
    report = audit([case(), case(seed=1)])
    assert report.findings == ()
    assert report.passed


def test_a_report_counts_cases_and_is_json():
    told = []
    report = audit([case()], on_done=told.append)
    assert told == [case()]
    assert report.checks == tuple(CHECKS)
    data = json.loads(json.dumps(report.to_json()))
    assert data["passed"] == report.passed == (not report.findings)


def test_proving_nothing_is_no_proof():
    assert not audit([]).passed


def test_a_reference_that_does_not_pass_is_found():
    broken = changed(('id = "stop"\nkind = "action"', 'id = "stop"\nkind = "verification"'), (
        'reference = { calls = [{ call = "StopInstance"',
        'reference = { calls = [{ call = "RebootInstance"'), (
        'RebootInstance", with = { InstanceId = "{instance}", StoppedMode = "StopCharging" }',
        'RebootInstance", with = { InstanceId = "{instance}" }'))  # fmt: skip
    assert any("the oracle ends with" in p for p in problems(broken, "oracle"))
    assert any("the jump oracle ends with" in p for p in problems(broken, "oracle"))
    assert any("oracle:polite must succeed" in p for p in problems(broken, "changed oracle"))


def test_an_oracle_that_returns_too_little_is_found():
    dear = case(with_constants(TICKET, {VARIANT: {"en": {"shortest": 1, "tokens": 1}}}))
    (problem,) = problems(dear, "oracle")
    assert problem.startswith("the oracle returns 0.")


def test_a_ticket_that_anybody_passes_is_found():
    start = TICKET.text.index("[[checkpoints]]")
    closings = TICKET.text[TICKET.text.index("[[closings]]") :]
    easy = (
        '[[checkpoints]]\nid = "look"\nkind = "diagnosis"\n'
        'evidence = { called = "DescribeInstances" }\n'
        'reference = { calls = [{ call = "DescribeInstances" }] }\n\n'
    )
    ticket = load_ticket(TICKET.text[:start] + easy + closings, file="easy.toml")
    found = problems(case(ticket), "attacks")
    assert "read-only-sweep succeeds" in found
    assert not any(problem.startswith("do-nothing") for problem in found)


def test_evidence_that_holds_from_the_start_is_found():
    assert problems(case(), "nothing free") == []
    free = changed(
        (
            '[[checkpoints]]\nid = "see_state"',
            '[[checkpoints]]\nid = "free"\nkind = "diagnosis"\n'
            'evidence = { exists = "ecs.instance", id = "{instance}" }\n\n'
            '[[checkpoints]]\nid = "see_state"',
        )
    )
    assert problems(free, "nothing free") == [
        "the evidence of free holds at reset",
        "the evidence of free holds after do-nothing",
        "do-nothing makes progress",
    ]


def test_a_near_miss_that_passes_is_found():
    explain = next(c for c in case().scenario().gold.checkpoints if c.id == "explain")
    right = json.dumps(explain.reference.reply)
    found = problems(changed(('"Your bill is correct."', right)), "examples")
    assert len(found) == 1
    assert "near_misses[1]" in found[0]
    assert "passes, and must not" in found[0]


def test_a_leak_of_gold_is_found(monkeypatch):
    import cirrus_env.runner.audit.leaks as leaks
    from cirrus_env.engine.episode import TicketEpisode

    assert list(nothing_leaks(case())) == []
    honest = TicketEpisode.info
    monkeypatch.setattr(
        TicketEpisode, "info", lambda self: {**honest(self), "hint": self.scenario.variant}
    )
    found = list(leaks.nothing_leaks(case()))
    assert f"the variant's name '{VARIANT}' shows to do-nothing" in found


def test_a_fact_told_too_early_is_found():
    early = changed(("I switched my server off", "It is {instance}. I switched my server off"))
    (problem, *_) = nothing_leaks(early)
    assert problem == "the fact instance shows to do-nothing before its time"


def test_stale_constants_are_found_and_measured_ones_are_right():
    fresh = replace(TICKET, bundled=True)
    assert problems(case(fresh), "constants") == []
    stale = with_constants(fresh, {})
    assert problems(case(stale), "constants") == [
        "index.json has other constants: run 'cirrus-env audit --write'"
    ]
    assert problems(case(stale, seed=1), "constants") == [], "checked once a variant"
    assert problems(case(replace(stale, bundled=False)), "constants") == []


def test_a_recording_without_evidence_is_played_and_not_scored():
    recording = load_ticket(Path(__file__).with_name("recording.toml"))
    report = audit([case(recording, "recorded")])
    assert report.findings == ()


def test_what_may_change_is_measured_where_it_is_not_declared_and_never_by_an_id():
    assert "may_change" not in TICKET.constants[VARIANT]["en"], "declared in the file"
    start = TICKET.text.index("[[may_change]]")
    end = TICKET.text.index("[[closings]]")
    undeclared = load_ticket(TICKET.text[:start] + TICKET.text[end:], file="undeclared.toml")
    found = measured(undeclared)[VARIANT]["en"]
    assert ["ecs.instance", "{instance}", "status"] in found["may_change"]
    assert all(id == "*" or id.startswith("{") for _, id, _ in found["may_change"])
    assert audit([case(with_constants(undeclared, measured(undeclared)))]).findings == ()


def test_the_constants_are_whole_numbers_that_make_sense():
    found = TICKET.constants[VARIANT]["en"]
    assert found["shortest"] >= 1
    assert found["tokens"] > found["shortest"]
    assert found["wrong_replies"] == 0


def test_measuring_twice_gives_the_same():
    assert measured(TICKET) == TICKET.constants


def test_outside_agents_must_not_succeed_and_must_not_break():
    class Broken:
        name = "broken"

        def reset(self, seed):
            raise RuntimeError("sk-canary-1")

    agents = [find_agent("oracle"), Agent("broken", lambda _: Broken()), find_agent("parrot")]
    report = audit([case()], outside=agents)
    found = [f.problem for f in report.findings if f.check == "outside agents"]
    assert found[0] == "oracle succeeds"
    assert found[1].startswith("broken ends with agent_error (RuntimeError at test_audit.py:")
    assert len(found) == 2
    assert "sk-canary-1" not in json.dumps(report.to_json())


def test_a_check_that_breaks_is_a_finding_and_the_audit_goes_on(monkeypatch):
    import cirrus_env.runner.audit.report as report_module

    def breaks(case):
        yield "first"
        raise ZeroDivisionError("x")

    monkeypatch.setattr(report_module, "CHECKS", {"broken": breaks})
    report = audit([case(), case(seed=1)])
    assert report.findings[0].problem == "first"
    assert "the check broke: ZeroDivisionError" in report.findings[1].problem
    assert len(report.findings) == 4


@pytest.mark.parametrize("check", list(CHECKS))
def test_every_check_says_what_it_proves(check):
    assert CHECKS[check].__doc__
