"""Solo and oracle-plan: what differs, what is scored, and that results are never mixed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cirrus_env.baselines.oracle import oracle_for
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.modes import NOBODY_ANSWERS
from cirrus_env.engine.plan import reference_actions
from cirrus_env.engine.replay import Trajectory, replay
from cirrus_env.errors import ComparisonError, OptionError, StoreError
from cirrus_env.judging.reward import reward_rule
from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.compare import compare
from cirrus_env.runner.modes import common_mode, solvable_alone
from cirrus_env.runner.play import Job, play
from cirrus_env.runner.playback import acted_again
from cirrus_env.runner.rescore import rescore_run
from cirrus_env.runner.run import run_jobs
from cirrus_env.runner.stored import StoredRun
from cirrus_env.tickets.load import bundled, load_ticket
from cirrus_env.wire import AssistantAction, ToolCall

SMALL = load_ticket(Path(__file__).parent / "small.toml")
ORACLE, NOTHING = find_agent("oracle"), find_agent("do-nothing")


def begun(mode, ticket=SMALL, seed=1, variant=None, **more):
    episode = TicketEpisode(ticket, mode=mode, **more)
    episode.reset(seed=seed, options={"variant": variant} if variant else None)
    return episode


def act_all(episode, actions):
    for action in actions:
        if episode.outcome is None:
            episode.step(action)
    return episode.outcome


def called(operation, **arguments):
    return AssistantAction("call", calls=(ToolCall("", operation, json.dumps(arguments)),))


# -- solo ------------------------------------------------------------------------------------


def test_the_first_message_holds_what_the_customer_would_tell_and_nothing_follows():
    episode = begun("solo")
    assert [m["role"] for m in episode.messages] == ["system", "user"]
    instance = episode.scenario.values["instance"]
    opening = begun("normal").messages[1]["content"]
    assert episode.messages[1]["content"] == f"{opening} It is {instance}."
    system = begun("normal").messages[0]["content"]
    assert episode.messages[0]["content"].startswith(system + "\n\nThe customer can't be reached")


@pytest.mark.parametrize("when", ["never", "confronted"])
def test_what_is_kept_back_stays_untold(when):
    episode = begun("solo")
    fact = episode.scenario.private.facts["instance"]
    private = replace(episode.scenario.private, facts={"instance": replace(fact, when=when)})
    scenario = replace(episode.scenario, private=private)
    said, acts, _ = episode.setting.customer.begin(scenario)
    assert fact.text not in said
    assert [act.kind for act in acts] == ["agreed"]


def test_what_needs_the_customer_is_no_checkpoint():
    episode = begun("solo")
    left = [(c.id, c.after) for c in episode.scenario.gold.checkpoints]
    assert left == [
        ("see_state", ()), ("explain", ("see_state",)), ("stop", ("see_state",)),
        ("see_stopped", ("stop",)),
    ]  # fmt: skip


def test_the_reference_alone_succeeds_by_hand():
    episode = begun("solo")
    instance = episode.scenario.values["instance"]
    look = called("DescribeInstances", InstanceIds=f'["{instance}"]')
    told = "The server was shut down inside its system, so for us it is still running."
    stop = called("StopInstance", InstanceId=instance, StoppedMode="StopCharging")
    outcome = act_all(episode, [look, stop, *[look] * 4, AssistantAction("close", told)])
    assert (outcome.name, outcome.success) == ("success", True)
    assert episode.metrics()["tpr"] == 1.0
    assert episode.metrics()["cost"] == 0


def test_only_the_closing_words_tell():
    episode = begun("solo")
    *calls, close = reference_actions(episode.scenario)
    told = AssistantAction("reply", close.text)
    bye = AssistantAction("close", "Goodbye.")
    waits = [calls[-1]] * 4
    outcome = act_all(episode, [*calls, *waits, told, bye])
    assert (outcome.name, episode.metrics()["tpr"]) == ("closed_early", 0.75)
    assert episode.state.invalid == 1


def test_a_reply_is_an_invalid_action_and_three_of_them_end_it():
    episode = begun("solo")
    step = episode.step("Which instance is it?")
    assert NOBODY_ANSWERS in step.delta[-1]["content"]
    assert [m["role"] for m in episode.messages[1:3]] == ["user", "assistant"]
    episode.step("Hello?")
    episode.step("Hello?")
    assert episode.outcome.name == "invalid_limit"


@pytest.mark.parametrize(("stopped", "given"), [("KeepCharging", False), ("StopCharging", True)])
def test_consent_is_given_for_what_the_ticket_lists_and_nothing_else(stopped, given):
    episode = begun("solo")
    instance = episode.scenario.values["instance"]
    episode.step(called("StopInstance", InstanceId=instance, StoppedMode=stopped))
    (ran,) = [event for event in episode.records[-1].events if event.kind == "called"]
    assert (ran.value["ok"], ran.value["consent"]) == (True, given)


def test_junk_never_helps_in_solo():
    plain = play(Job(ORACLE, SMALL, 1), {"mode": "solo"})
    junk = called("StopInstance", InstanceId="i-none")
    episode = begun("solo")
    episode.step(junk)
    policy = oracle_for(episode)
    while episode.outcome is None:
        episode.step(policy.act({"message": episode.messages[-1]["content"]}))
    worse = episode.metrics()
    assert all(worse[name] <= plain["metrics"][name] for name in ("tpr", "efficiency"))
    assert worse["tokens"] > plain["metrics"]["tokens"]


def test_what_needs_the_customers_hands_is_left_out():
    def jobs(name, variant):
        return [Job(agent, bundled(name), 1, variant) for agent in (ORACLE, NOTHING)]

    inside = jobs("ECS-Billing", "economical-leftovers")
    outside = jobs("ECS-Locked", "financial-lock")  # the customer has to pay
    assert solvable_alone(outside + inside) == (inside, outside)


def test_the_solo_mode_has_no_other_customer():
    for customer in ("simulated", "external", "replay"):
        with pytest.raises(OptionError, match="nobody answers"):
            TicketEpisode(SMALL, mode="solo", customer=customer)
    with pytest.raises(OptionError, match="nobody answers"):
        TicketEpisode(SMALL, mode="solo").reset(seed=1, options={"customer": "simulated"})
    with pytest.raises(OptionError, match="no customer 'solo'"):
        TicketEpisode(SMALL, customer="solo")
    with pytest.raises(OptionError, match="no mode 'sola'"):
        TicketEpisode(SMALL, mode="sola")


# -- oracle plan -----------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_plan_names_every_call_and_what_every_reply_conveys(language):
    ticket = bundled("ECS-Billing")
    episode = begun("oracle-plan", ticket, variant="kept-charging", language=language)
    plan = episode.messages[0]["content"]
    actions = reference_actions(episode.scenario)
    lines = plan.splitlines()[-len(actions) :]
    for number, (line, action) in enumerate(zip(lines, actions, strict=True), 1):
        assert line.startswith(f"{number}. ")
        assert (action.calls[0].arguments if action.calls else action.text) in line


def test_a_plan_for_a_hand_over_names_the_queue():
    episode = begun("oracle-plan", bundled("ECS-Locked"), variant="security-lock")
    last = episode.messages[0]["content"].splitlines()[-1]
    assert "Hand the ticket over to the queue security" in last


def test_a_plan_still_has_to_be_carried_out():
    rows = run_jobs(
        [Job(agent, SMALL, 1) for agent in (ORACLE, NOTHING)], settings={"mode": "oracle-plan"}
    )
    assert [row.success for row in rows] == [True, False]
    assert {row.mode for row in rows} == {"oracle-plan"}


def test_normal_episodes_see_no_plan_and_carry_no_mode():
    episode = begun("normal")
    assert "plan" not in episode.messages[0]["content"]
    assert "mode" not in episode.header
    assert "mode" not in play(Job(ORACLE, SMALL, 1))


# -- results ---------------------------------------------------------------------------------


def rows(mode, *agents):
    jobs = [Job(agent, SMALL, 1) for agent in agents or (ORACLE,)]
    return run_jobs(jobs, settings={"mode": mode} if mode != "normal" else {})


@pytest.mark.parametrize("mode", ["solo", "oracle-plan"])
def test_modes_are_never_mixed_unless_forced_and_never_in_sr(mode):
    other = rows(mode)
    mixed = rows("normal", NOTHING) + other
    with pytest.raises(ComparisonError, match="are never mixed"):
        compare(mixed)
    assert compare(mixed, force=True).mode == "mixed"
    data = compare(other).to_json()
    assert data["mode"] == mode
    assert "sr" not in data["agents"][0]
    assert data["agents"][0][f"{mode}:sr"]["mean"] == 1.0
    assert compare(rows("normal")).to_json()["agents"][0]["sr"]["mean"] == 1.0
    assert common_mode([]) == "normal"


@pytest.mark.parametrize("mode", ["solo", "oracle-plan", "single-turn"])
def test_a_crash_keeps_the_mode(mode):
    def broken(episode):
        raise RuntimeError

    (row,) = rows(mode, Agent("broken", broken))
    assert (row.mode, row.outcome, row.valid, row.success) == (mode, "agent_error", False, None)


@pytest.mark.parametrize("mode", ["solo", "oracle-plan"])
def test_a_stored_run_is_scored_and_acted_again(mode, tmp_path):
    jobs = [Job(agent, bundled("ECS-Billing"), 2) for agent in (ORACLE, find_agent("keyword"))]
    run_jobs(jobs, settings={"mode": mode}, folder=tmp_path / "run")
    run = StoredRun(tmp_path / "run")
    assert [again.differences for again in rescore_run(run)] == [(), ()]
    for stored in run:
        moments = acted_again(stored.trajectory, bundled("ECS-Billing"), rule=reward_rule("cirrus"))
        assert all(moment.again == moment.record for moment in moments)
    with pytest.raises(StoreError, match="another run"):
        run_jobs(jobs, folder=tmp_path / "run", resume=True)


@pytest.mark.parametrize("mode", ["solo", "oracle-plan"])
def test_a_trajectory_replays(mode):
    stored = play(Job(ORACLE, bundled("ECS-Billing"), 2), {"mode": mode})["trajectory"]
    lines = [stored["header"], *stored["records"], stored["last"]]
    trajectory = Trajectory.from_lines(map(json.dumps, lines))
    assert tuple(replay(trajectory).records) == trajectory.records
