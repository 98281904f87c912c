"""Corners of the turn engine that ordinary play seldom meets."""

from dataclasses import replace

import pytest

from cirrus_env.engine.customer import take
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.modes import _bound_to
from cirrus_env.engine.parsers import from_message
from cirrus_env.engine.plan import reference_actions, reference_turns
from cirrus_env.errors import OptionError
from cirrus_env.tickets.index import DATA
from cirrus_env.tickets.model import Minefield
from cirrus_env.tickets.predicates import Called
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.wire import ASSISTANT, CUSTOMER, Act, AssistantAction, CustomerAction

LEFTOVERS = {"variant": "economical-leftovers"}


def episode(**setting) -> TicketEpisode:
    made = TicketEpisode("ECS-Billing", **setting)
    made.reset(seed=7, options=LEFTOVERS)
    return made


def test_a_transcript_past_its_bound_overflows():
    made = episode()
    stage = made._running
    stage.setting = replace(
        stage.setting, limits=replace(stage.setting.limits, max_transcript=stage.state.length + 10)
    )
    assert made.step("Which instance is it?").info["outcome"] == "context_overflow"
    assert made.to_move == ""


def test_playing_through_stops_at_the_end():
    made = episode()
    made.play_through((AssistantAction("close", "Bye."), *reference_actions(made.scenario)))
    assert [record.seat for record in made.records] == [CUSTOMER, ASSISTANT]


def test_a_start_past_the_references_end_is_told():
    made = TicketEpisode("ECS-Billing")
    made.reset(seed=7, options=LEFTOVERS)
    whole = len(reference_turns(made.scenario))
    with pytest.raises(OptionError, match=f"ends within {whole} turns"):
        made.reset(seed=7, options={**LEFTOVERS, "turn": whole})
    with pytest.raises(OptionError, match=f"only {whole} turns"):
        made.reset(seed=7, options={**LEFTOVERS, "turn": whole + 1})


def test_an_agreement_that_the_ticket_doesnt_know_covers_any_arguments():
    made = episode(customer="external")
    made.step("May I?")
    take(made._running, CustomerAction("say", "Yes."), (Act("agreed", "CreateSnapshot", "d-1"),))
    assert made.state.consents.covering("CreateSnapshot", "d-1", {"any": 1})


def test_a_call_without_arguments_has_none():
    sent = {"role": "assistant", "tool_calls": [{"function": {"name": "DescribeDisks"}}]}
    assert from_message(sent).calls[0].arguments == "{}"


def test_a_customer_of_ones_own_is_told_at_every_turn_whether_it_is_satisfied():
    seen = []

    class Watching:
        name = "watching"

        def begin(self, scenario):
            return scenario.private.opening, (), None

        def react(self, mind, view):
            seen.append(view.satisfied)
            from cirrus_env.customers.protocol import Reaction

            return Reaction(CustomerAction("say", "Go on."), (), None)

    made = episode(customer=Watching())
    made.step("Which instance is it?")
    assert seen == [False]
    assert made.info()["customer"] == "watching"
    assert not [e for r in made.records for e in r.events if e.kind == "satisfaction"]


def test_a_scenario_is_not_touched_by_its_episodes():
    made = episode()
    before = made.scenario.cloud.dump()
    made.play_through(reference_actions(made.scenario))
    assert made.outcome is not None
    assert made.outcome.success
    assert made.scenario.cloud.dump() == before
    again = make_scenario(made.ticket, 7, variant="economical-leftovers", language="en")
    assert again.cloud.dump() == before


def test_a_tool_that_nothing_offers_is_told_with_a_near_name():
    with pytest.raises(OptionError, match="did you mean DescribeDisks"):
        TicketEpisode("ECS-Billing", tools=["DescribeDisk"])
    other_tickets = TicketEpisode("ECS-Renewal", tools=["DescribeDisks"])
    other_tickets.reset(seed=1)
    assert other_tickets.tool_names == ()


def test_a_ticket_may_be_a_path(tmp_path):
    made = TicketEpisode("ECS-Billing")
    path = tmp_path / "mine.toml"
    path.write_text(made.ticket.text or (DATA / "ecs" / "Billing.toml").read_text())
    for given in (path, str(path)):
        assert TicketEpisode(given).reset(seed=7)[0] == made.reset(seed=7)[0]
    with pytest.raises(OptionError, match="a name or a path, not int"):
        TicketEpisode(7)


def test_words_that_touch_a_fatal_minefield_end_the_episode():
    made = episode()
    stage = made._running
    mine = Minefield(operation="", policy="P03", effect="fatal", said="open sesame")
    gold = replace(stage.scenario.gold, minefields=(mine,))
    stage.scenario = replace(stage.scenario, gold=gold)
    step = made.step("Your password is Open Sesame, isn't it?")
    assert (step.info["outcome"], step.terminated) == ("violated", True)
    assert made.to_move == ""


def test_alone_a_call_waits_for_no_checkpoint_that_needs_the_customer():
    bound = _bound_to(Called("StopInstance", after="agreed"), {"seen"})
    assert bound == Called("StopInstance")
    assert _bound_to(Called("StopInstance", after="seen"), {"seen"}).after == "seen"
