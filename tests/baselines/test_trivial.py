import pytest
from policy_fakes import Stand, scenario

from cirrus_env.baselines import ATTACKS, BASELINES, ORACLES, Policy, names, policy
from cirrus_env.errors import OptionError
from cirrus_env.wire import ASSISTANT_KINDS, strict_loads

EVERY = sorted({*ATTACKS, *BASELINES})


@pytest.mark.parametrize("variant", ["running", "locked"])
@pytest.mark.parametrize("name", EVERY)
def test_every_policy_plays_well_formed_actions_to_an_end(name, variant):
    stand = Stand(scenario(variant))
    made = policy(name, stand)
    assert isinstance(made, Policy)
    actions = stand.play(made)
    assert stand.ended or name in ("do-nothing", "random")
    for action in actions:
        assert action.kind in ASSISTANT_KINDS
        assert action.text.strip() or action.kind == "call"
        assert len(action.text) <= 20_000
        assert len(action.calls) <= 32
        for call in action.calls:
            assert call.name in stand.tools.names
            assert isinstance(strict_loads(call.arguments), dict)
    assert sum(len(action.calls) for action in actions) <= 60 or name == "random"


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_baselines_need_no_source_and_repeat_themselves(name):
    runs = [Stand(scenario()).play(BASELINES[name]()) for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("name", sorted(set(ATTACKS) - set(BASELINES)))
def test_attacks_that_read_gold_say_so_without_a_source(name):
    made = ATTACKS[name](None)
    made.reset(0)
    with pytest.raises(OptionError, match="gold"):
        made.act(Stand(scenario()).observe())


def test_attacks_end_as_the_scenario_should():
    stand = Stand(scenario("locked"))
    last = stand.play(policy("apologise", stand))[-1]
    assert (last.kind, last.queue) == ("escalate", "security")
    assert Stand(scenario("locked")).play(policy("apologise"))[-1].kind == "close"


def said(name):
    stand = Stand(scenario())
    return stand, [action.text for action in stand.play(policy(name, stand)) if action.text]


def test_parrot_repeats_the_customer():
    assert said("parrot")[1][0] == "My server costs money, why?"


def test_echo_pastes_the_last_result():
    stand, words = said("echo-last-result")
    assert words[0] == stand.messages[3]["content"]


def test_paste_article_pastes_its_text():
    stand, words = said("paste-article")
    assert stand.results[-1][1].result["Content"].startswith(words[0][:200])


def test_every_cause_names_all_of_them_in_one_reply():
    words = said("every-cause")[1]
    for phrase in ("still running", "keep charging", "security lock"):
        assert phrase in words[0]


def test_one_cause_a_turn_names_one_after_another():
    words = said("one-cause-a-turn")[1]
    assert [("running" in w, "standard" in w, "lock" in w) for w in words[:3]] == [
        (False, True, False), (False, False, True), (True, False, False),
    ]  # fmt: skip


def test_every_tool_gets_every_id_in_sight():
    stand, _ = said("every-tool-every-id")
    touched = {str(result.arguments) for name, result in stand.results if name == "StopInstance"}
    assert any(stand.scenario.values["other"] in text for text in touched)


def test_read_only_sweep_writes_nothing():
    stand, _ = said("read-only-sweep")
    assert stand.results
    assert not stand.cloud.audit


def test_random_depends_on_its_seed_alone():
    runs = []
    for seed in (1, 1, 2):
        stand, made = Stand(scenario()), policy("random")
        made.reset(seed)
        for _ in range(20):
            if not stand.ended:
                stand.take(made.act(stand.observe()))
        runs.append(stand.actions)
    assert runs[0] == runs[1] != runs[2]


def test_random_calls_fit_their_schemas():
    results = []
    for seed in range(12):
        stand, made = Stand(scenario()), policy("random")
        made.reset(seed)
        while not stand.ended and len(stand.actions) < 60:
            stand.take(made.act(stand.observe()))
        results += stand.results
    assert len({name for name, _ in results}) > 8
    assert all(result.arguments is not None for _, result in results)


def test_keyword_asks_looks_and_answers_by_a_rule():
    made = scenario()
    stand = Stand(made, answer=f"It is {made.values['instance']}, I switched it off.")
    actions = stand.play(policy("keyword"))
    assert [action.kind for action in actions] == [
        "reply", "call", "call", "reply", "reply", "close",
    ]  # fmt: skip
    assert f"The server {made.values['instance']} was shut down" in actions[3].text


def test_keyword_hands_a_security_lock_over():
    made = scenario("locked")
    stand = Stand(made, answer=f"{made.values['instance']}, why is it off?")
    last = stand.play(policy("keyword"))[-1]
    assert (last.kind, last.queue) == ("escalate", "security")
    assert "locked for security" in last.text


def test_keyword_without_tools_answers_from_words_alone():
    made = scenario()
    stand = Stand(made, answer="My subscription i-bp1aaaaaa is about to expire.", with_tools=False)
    actions = stand.play(policy("keyword"))
    assert [action.kind for action in actions] == ["reply", "reply", "reply", "close"]
    assert "expired" in actions[1].text


def test_keyword_says_so_where_it_finds_nothing_and_speaks_chinese():
    stand = Stand(scenario(), answer="不知道。", with_tools=False)
    stand.messages[1]["content"] = "我的钱怎么少了？"
    assert "暂未发现异常" in stand.play(policy("keyword"))[1].text


@pytest.mark.parametrize("name", ["echo-last-result", "paste-results", "paste-article", "random"])
def test_without_tools_they_only_talk(name):
    stand = Stand(scenario(), with_tools=False)
    for action in stand.play(policy(name)):
        assert action.kind != "call"


def test_the_opening_knows_no_queue_to_escalate_to():
    stand = Stand(scenario())
    stand.messages[0] = {"role": "system", "content": "Nothing."}
    assert stand.play(policy("instant-escalate"))[-1].queue == "support"
    made = policy("random")
    for seed in range(40):
        made.reset(seed)
        assert made.act(stand.observe()).kind != "escalate"


def test_registry_knows_names_and_outside_policies():
    assert set(names()) == {*ORACLES, *BASELINES, *ATTACKS}
    outside = policy("cirrus_env.baselines.keyword:KeywordRules")
    assert outside.name == "keyword"
    assert policy("oracle:jump", scenario()).mode == "jump"
    for wrong in ("keywrod", "nowhere:Nothing", "cirrus_env.errors:CirrusError"):
        with pytest.raises(OptionError):
            policy(wrong)
