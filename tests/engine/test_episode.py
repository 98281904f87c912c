"""The turn engine: turns, limits, consents, endings, what is counted and what is raised."""

import json

import pytest

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions, reference_turns
from cirrus_env.errors import EpisodeNotRunning, InvalidAction, OptionError, UnknownTicket
from cirrus_env.wire import ASSISTANT, CUSTOMER, AssistantAction, CustomerAction, ToolCall

LEFTOVERS = {"variant": "economical-leftovers"}


def episode(seed=7, options=LEFTOVERS, **setting) -> TicketEpisode:
    made = TicketEpisode("ECS-Billing", **setting)
    made.reset(seed=seed, options=options)
    return made


def call(name, **arguments) -> AssistantAction:
    return AssistantAction("call", calls=(ToolCall("", name, json.dumps(arguments)),))


def finish(made: TicketEpisode):
    for action in reference_actions(made.scenario):
        step = made.step(action)
        if step.terminated or step.truncated:
            return step
    raise AssertionError("the reference doesn't end the episode")


def events(made: TicketEpisode, kind: str):
    return [event for record in made.records for event in record.events if event.kind == kind]


# -- opening -------------------------------------------------------------------------------------


def test_reset_gives_the_system_message_and_the_customers_opening():
    made = TicketEpisode("ECS-Billing")
    messages, info = made.reset(seed=7)
    assert [m["role"] for m in messages] == ["system", "user"]
    assert "2026-11-30T08:00Z" in messages[0]["content"]
    assert made.to_move == ASSISTANT
    assert info == {
        "ticket": "Cirrus/ECS-Billing-v0", "seed": 7, "outcome": "", "ending": "", "valid": 1,
        "turn": 0, "tool_calls": 0, "invalid": 0, "tokens": 0, "cost": 0,
        "reward_terms": dict.fromkeys(info["reward_terms"], 0.0), "customer": "simulated",
    }  # fmt: skip


def test_later_resets_draw_from_the_stream_of_the_last_seed():
    made = TicketEpisode("ECS-Billing")
    seeds = []
    for seed in (3, None, None, 3, None, None):
        made.reset(seed=seed)
        seeds.append(made.scenario.seed)
    assert seeds[:3] == seeds[3:]
    assert len(set(seeds)) == 3


def test_a_reset_without_any_seed_reports_the_one_it_drew():
    one, other = TicketEpisode("ECS-Billing"), TicketEpisode("ECS-Billing")
    first = one.reset()[1]["seed"]
    assert one.reset(seed=first)[0] == other.reset(seed=first)[0]


@pytest.mark.parametrize("seed", [True, 1.5, "7", None.__class__])
def test_a_seed_that_is_no_integer_is_told(seed):
    with pytest.raises(OptionError, match="seed"):
        TicketEpisode("ECS-Billing").reset(seed=seed)


def test_a_system_text_replaces_the_tickets_and_knows_date_and_account():
    made = episode(system="Now {now}, account {account}.")
    assert (
        made.messages[0]["content"]
        == f"Now 2026-11-30T08:00Z, account {made.scenario.public.account}."
    )


def test_wrong_settings_are_told():
    with pytest.raises(UnknownTicket, match="ECS-Billing"):
        TicketEpisode("ECS-Biling")
    for setting in (
        {"language": "fr"}, {"parser": "xml"}, {"judge": "nobody"}, {"customer": "nobody"},
        {"reward": "best"}, {"max_turns": 0}, {"max_chars": "9"}, {"max_tokens": -1},
        {"max_invalid": True},
    ):  # fmt: skip
        with pytest.raises(OptionError):
            TicketEpisode("ECS-Billing", **setting)
    for options in ({"variant": "x"}, {"language": "fr"}, {"turn": 99}):
        with pytest.raises(OptionError):
            TicketEpisode("ECS-Billing").reset(seed=1, options=options)


# -- turns ---------------------------------------------------------------------------------------


def test_a_reply_is_answered_and_a_call_gives_its_result_alone():
    made = episode()
    step = made.step("Which instance is it?")
    assert [m["role"] for m in step.delta] == ["user"]
    step = made.step(call("DescribeInstances"))
    assert [(m["role"], m["name"]) for m in step.delta] == [("tool", "DescribeInstances")]
    assert step.info["turn"] == 1
    assert [m["role"] for m in made.messages[-3:]] == ["user", "assistant", "tool"]


def test_the_clock_moves_ten_seconds_a_call_and_a_minute_a_reply():
    made = episode()
    made.step(call("DescribeInstances"))
    assert made.records[-1].clock == 10
    made.step("Which instance is it?")
    assert [record.clock for record in made.records[-2:]] == [70, 130]


def test_several_calls_in_one_message_run_in_order_as_one_step():
    made = episode()
    calls = tuple(
        ToolCall(identifier, name, arguments)
        for identifier, name, arguments in (
            ("a", "DescribeInstances", "{}"),
            ("", "NoSuchTool", "{}"),
            ("c", "DescribeDisks", "{not json"),
            ("d", "DescribeDisks", "{}"),
        )
    )
    step = made.step(AssistantAction("call", "One moment.", calls))
    assert [m["tool_call_id"] for m in step.delta] == ["a", "call_1_1", "c", "d"]
    codes = [json.loads(m["content"]).get("Code") for m in step.delta]
    assert codes == [None, "UnknownTool", "MalformedArguments", None]
    assert (step.info["tool_calls"], step.info["invalid"]) == (4, 1)
    assert len(made.records) == 2
    assert made.to_move == ASSISTANT


def test_text_beside_calls_is_counted_and_neither_delivered_nor_read():
    made = episode()
    sent = AssistantAction("call", "Which instance is it?", call("DescribeDisks").calls)
    step = made.step(sent)
    assert made.records[-1].acts == ()
    assert step.info["tokens"] > made.fork().step("x").info["tokens"] - step.info["tokens"]
    assert made.messages[-2]["content"] == "Which instance is it?"


def test_the_transcript_only_grows():
    made = episode()
    before = [dict(m) for m in made.messages]
    for action in reference_actions(made.scenario):
        step = made.step(action)
        assert made.messages[: len(before)] == before
        before = [dict(m) for m in made.messages]
        if step.terminated:
            break


# -- success -------------------------------------------------------------------------------------


def test_the_reference_succeeds_and_the_reward_adds_up():
    made = episode()
    step = finish(made)
    assert (step.info["outcome"], step.info["ending"]) == ("success", "close")
    assert step.terminated is True
    assert step.truncated is False
    assert step.info["variant"] == "economical-leftovers"
    total = sum(record.reward_micro for record in made.records)
    assert total == made.state.tally.micro()
    assert 0 < total <= 1_000_000
    assert made.to_move == ""
    with pytest.raises(EpisodeNotRunning):
        made.step("more")


def test_closing_at_once_is_closed_early_and_pays_nothing():
    step = episode().step(AssistantAction("close", "Bye."))
    assert (step.info["outcome"], step.reward, step.terminated) == ("closed_early", 0.0, True)


def test_escalating_what_should_be_resolved_is_a_wrong_ending():
    step = episode().step(AssistantAction("escalate", "Please look.", queue="billing"))
    assert step.info["outcome"] == "wrong_ending"


def test_an_unknown_queue_is_an_invalid_action():
    step = episode().step(AssistantAction("escalate", "Please look.", queue="nowhere"))
    assert (step.info["outcome"], step.info["invalid"]) == ("", 1)
    assert "nowhere" in step.delta[0]["content"]


def test_a_write_without_consent_is_a_minefield():
    made = episode()
    step = made.step(call("ReleaseEipAddress", AllocationId=made.scenario.values["eip"]))
    assert (step.info["outcome"], step.terminated) == ("violated", True)
    assert step.reward < 0
    assert any(event.value["effect"] == "fatal" for event in events(made, "minefield"))


# -- limits and what is counted ------------------------------------------------------------------


@pytest.mark.parametrize(
    "action",
    [
        "",
        "  \n ",
        "x" * 20_001,
        "lone \ud800 surrogate",
        AssistantAction("call"),
        AssistantAction("call", calls=(ToolCall("", "A" * 30_000, "{}"),)),
        AssistantAction("call", calls=(ToolCall("\udfff", "A", "{}"),)),
        AssistantAction("call", calls=(ToolCall("", "DescribeDisks", "{}"),) * 33),
        AssistantAction("reply", "hello", fault="broken"),
        AssistantAction("reply", "a" * 50_000, fault="\ud800"),
    ],
)
def test_what_is_malformed_is_counted_and_changes_nothing(action):
    made = episode()
    before = made.state.cloud.dump()
    step = made.step(action)
    assert (step.info["invalid"], step.info["turn"], step.reward) == (1, 0, -0.02)
    assert step.delta
    assert made.state.cloud.dump() == before
    assert made.to_move == ASSISTANT
    json.dumps([r.to_json() for r in made.records], ensure_ascii=False).encode()
    json.dumps(made.messages, ensure_ascii=False).encode()


def test_three_invalid_actions_in_a_row_truncate_and_a_good_one_between_starts_anew():
    made = episode()
    for action in ("", "", call("DescribeDisks"), "", ""):
        step = made.step(action)
        assert not step.truncated
    step = made.step("")
    assert (step.info["outcome"], step.truncated, step.terminated) == ("invalid_limit", True, False)


def test_the_turn_limit_truncates_after_the_customers_answer():
    made = episode(max_turns=2)
    assert not made.step("Which instance is it?").truncated
    step = made.step("How exactly did you stop it?")
    assert (step.info["outcome"], step.truncated) == ("turn_limit", True)
    assert made.records[-1].seat == CUSTOMER


def test_the_tool_call_limit_truncates_and_runs_nothing_beyond():
    made = episode(max_tool_calls=2)
    step = made.step(AssistantAction("call", calls=(ToolCall("", "DescribeDisks", "{}"),) * 3))
    assert (step.info["outcome"], step.truncated) == ("turn_limit", True)
    assert json.loads(step.delta[2]["content"])["Code"] == "NotRun"
    assert len(events(made, "called")) == 2


def test_the_token_limit_truncates():
    step = episode(max_tokens=3).step("A reply that is longer than three tokens.")
    assert (step.info["outcome"], step.truncated) == ("token_limit", True)


def test_only_offered_tools_exist():
    made = episode(tools=["DescribeDisks"])
    assert made.tool_names == ("DescribeDisks",)
    assert made.step(call("DescribeInstances")).info["invalid"] == 1


@pytest.mark.parametrize("action", [None, 3, b"x", {}, {"role": "user", "content": "x"}, ["x"]])
def test_a_wrong_type_raises_and_changes_nothing(action):
    made = episode()
    before = [r.to_json() for r in made.records]
    with pytest.raises(InvalidAction):
        made.step(action)
    assert [r.to_json() for r in made.records] == before


def test_nothing_runs_before_reset():
    made = TicketEpisode("ECS-Billing")
    assert made.to_move == ""
    assert made.outcome is None
    for act in (lambda: made.step("x"), made.snapshot, made.truncate, lambda: made.tools):
        with pytest.raises(EpisodeNotRunning):
            act()
    made.reset(seed=1)
    made.close()
    with pytest.raises(EpisodeNotRunning):
        made.step("x")


# -- stopping, starting late, the other seat -----------------------------------------------------


def test_a_trainer_may_stop_and_a_failure_is_invalid_with_no_reward():
    step = episode().truncate()
    assert (step.info["outcome"], step.reward, step.info["valid"]) == ("stopped", 0.0, 1)
    step = episode().truncate("agent_error")
    assert (step.info["outcome"], step.reward, step.info["valid"]) == ("agent_error", None, 0)
    assert step.truncated
    with pytest.raises(OptionError):
        episode().truncate("bored")


def test_an_ended_episode_can_not_be_stopped():
    made = episode()
    made.truncate()
    with pytest.raises(EpisodeNotRunning):
        made.truncate()


def test_starting_after_turns_plays_the_reference_so_far():
    made = episode(options={**LEFTOVERS, "turn": 2})
    fresh = episode()
    for turn in reference_turns(fresh.scenario)[:2]:
        for action in turn:
            fresh.step(action)
    assert made.messages == fresh.messages
    assert made.header["turn"] == 2
    assert made.header["start"] == len(fresh.records)
    assert made.info()["turn"] == 2


def test_the_customer_seat_can_be_played_from_outside():
    made = episode(customer="external")
    step = made.step("Which instance is it?")
    assert step.delta == []
    assert made.to_move == CUSTOMER
    with pytest.raises(EpisodeNotRunning, match="customer_0"):
        made.step("again")
    with pytest.raises(InvalidAction):
        made.apply(CUSTOMER, "text")
    with pytest.raises(InvalidAction, match="console"):
        made.apply(CUSTOMER, CustomerAction("console", console="no such"))
    step = made.apply(CUSTOMER, CustomerAction("say", "It is the blue one."))
    assert step.delta == [{"role": "user", "content": "It is the blue one."}]
    assert made.to_move == ASSISTANT
    made.apply(ASSISTANT, "I see.")
    step = made.apply(CUSTOMER, CustomerAction("leave", "Bye."))
    assert (step.info["outcome"], step.terminated) == ("abandoned", True)


def test_an_outside_customers_yes_is_a_consent():
    made = episode(customer="external")
    eip = made.scenario.values["eip"]
    made.step(f"May I release the elastic IP {eip}? The address will be lost for good.")
    made.apply(CUSTOMER, CustomerAction("say", "Yes, go ahead."))
    assert made.state.evidence.agreed == {("ReleaseEipAddress", eip): 2}


# -- snapshots -----------------------------------------------------------------------------------


def lines(made: TicketEpisode):
    return [record.to_json() for record in made.records]


def test_restoring_goes_back_and_forward_to_the_same_bytes():
    made = episode()
    actions = reference_actions(made.scenario)
    marks = [made.snapshot()]
    for action in actions[:-1]:
        made.step(action)
        marks.append(made.snapshot())
    whole = lines(made)
    for i in (0, len(marks) - 1, 3, 1, 5):
        made.restore(marks[i])
        for action in actions[i:-1]:
            made.step(action)
        assert lines(made) == whole


def test_a_fork_goes_its_own_way_and_the_parent_is_unaffected():
    made = episode()
    actions = reference_actions(made.scenario)
    for action in actions[:4]:
        made.step(action)
    before = lines(made)
    child = made.fork()
    for action in actions[4:]:
        step = child.step(action)
    assert step.info["outcome"] == "success"
    assert lines(made) == before
    for action in actions[4:]:
        made.step(action)
    assert lines(made) == lines(child)


def test_a_snapshot_of_an_earlier_episode_brings_its_scenario_back():
    made = episode()
    mark, before = made.snapshot(), lines(made)
    made.reset(seed=99)
    made.restore(mark)
    assert lines(made) == before
    assert made.scenario.seed == 7


def test_the_asynchronous_form_is_the_same():
    import asyncio

    async def play():
        made = TicketEpisode("ECS-Billing")
        await made.areset(seed=7, options=LEFTOVERS)
        await made.astep("Which instance is it?")
        return lines(made)

    made = episode()
    made.step("Which instance is it?")
    assert asyncio.run(play()) == lines(made)
