"""TRL's adapter without TRL: rows, tool classes, and dialogues with a scripted trainer."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import typing
from types import SimpleNamespace

import pytest
from byte_chat import END, ByteTokenizer, encode

from cirrus_env.adapters import trl_rollout
from cirrus_env.adapters.trl import CirrusSpec, cirrus_return
from cirrus_env.adapters.trl_tools import OVER, environment_class, opening
from cirrus_env.customers.protocol import Reaction
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.formats import render_calls
from cirrus_env.engine.plan import reference_actions
from cirrus_env.engine.render import PrefixRender
from cirrus_env.errors import EndpointError, OptionError, RenderError, UnknownTicket
from cirrus_env.tickets.load import bundled
from cirrus_env.wire import CustomerAction, ToolCall, canonical

ID = "Cirrus/ECS-Billing-v0"


# -- rows --------------------------------------------------------------------------------------


def test_rows_carry_ticket_seed_and_prompt_and_tickets_take_turns():
    spec = CirrusSpec(["ECS-Billing", "Cirrus/Disk-v0"], episodes=4, seed=5)
    names = ["Cirrus/ECS-Billing-v0", "Cirrus/Disk-Resize-v0", "Cirrus/Disk-Rollback-v0"]
    assert [row["ticket"] for row in spec.rows] == [*names, names[0]]
    assert len({row["seed"] for row in spec.rows}) == 4
    assert spec.rows == CirrusSpec(["ECS-Billing", "Cirrus/Disk-v0"], episodes=4, seed=5).rows
    other = CirrusSpec(["ECS-Billing", "Cirrus/Disk-v0"], episodes=4, seed=6)
    assert [row["seed"] for row in other.rows] != [row["seed"] for row in spec.rows]
    first = spec.rows[0]
    messages, _ = TicketEpisode("ECS-Billing").reset(seed=first["seed"])
    assert [{k: m[k] for k in ("role", "content")} for m in first["prompt"]] == messages
    assert (first["prompt"][0]["ticket"], first["prompt"][0]["seed"]) == (ID, first["seed"])


def test_seeds_may_be_given_each_with_every_ticket():
    spec = CirrusSpec(["ECS-Billing", "ECS-Ssh"], seeds=[3, 4])
    found = [(row["ticket"].removeprefix("Cirrus/"), row["seed"]) for row in spec.rows]
    assert found == [
        ("ECS-Billing-v0", 3), ("ECS-Ssh-v0", 3), ("ECS-Billing-v0", 4), ("ECS-Ssh-v0", 4),
    ]  # fmt: skip


def test_a_split_is_kept():
    train = CirrusSpec(episodes=1)
    test = CirrusSpec(split="test", episodes=1)
    assert {t.split for t in train.tickets.values()} == {"train"}
    assert {t.split for t in test.tickets.values()} == {"test"}
    assert {*train.tickets, *test.tickets} == {*CirrusSpec(split=None, episodes=1).tickets}
    assert list(CirrusSpec(bundled("ECS-Port25"), split="test").tickets) == ["Cirrus/ECS-Port25-v0"]
    with pytest.raises(OptionError, match="ECS-Port25 is of split 'test'"):
        CirrusSpec(["ECS-Billing", "ECS-Port25"])


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"view": "chat"}, "a view is one of"),
        ({"episodes": 0}, "positive"),
        ({"max_turn_tokens": 0}, "positive"),
        ({"seeds": []}, "at least one"),
        ({"split": "dev", "env_ids": None}, "no ticket of split 'dev'"),
        ({"parser": "hermess"}, "parser"),
        ({"reward": "dens"}, "did you mean"),
        ({"tools": ["DescribeInstance"]}, "did you mean"),
        ({"max_turns": 0}, "max_turns"),
    ],
)
def test_wrong_arguments_show_at_once(arguments, why):
    with pytest.raises(OptionError, match=why):
        CirrusSpec(**{"env_ids": "ECS-Billing", **arguments})
    with pytest.raises(UnknownTicket):
        CirrusSpec("ECS-Biling")


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(OptionError, match=r"cirrus-env\[trl\]"):
        _ = CirrusSpec("ECS-Billing", episodes=1).train_dataset


def test_a_data_set_is_made_of_the_rows(monkeypatch):
    made = SimpleNamespace(Dataset=SimpleNamespace(from_list=list))
    monkeypatch.setitem(sys.modules, "datasets", made)
    spec = CirrusSpec("ECS-Billing", episodes=2)
    assert spec.train_dataset == spec.rows


# -- tools -------------------------------------------------------------------------------------


def tools(**kwargs):
    return CirrusSpec("ECS-Billing", seeds=[3], view="tools", **kwargs)


def methods(cls):
    """What TRL takes for tools."""
    return {
        name: member
        for name, member in inspect.getmembers(cls, predicate=inspect.isfunction)
        if not name.startswith("_") and name not in ("reset", "get_reward")
    }


def test_every_function_is_a_typed_and_documented_method():
    cls = tools().environment_factory
    assert cls.__name__ == "Cirrus_ECS_Billing"
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=3)
    names = {tool["function"]["name"] for tool in episode.chat_tools}
    assert set(methods(cls)) == {*names, "reply_to_customer"}
    search = inspect.signature(cls().SearchKnowledge)
    hints = typing.get_type_hints(cls.SearchKnowledge)
    assert list(search.parameters) == ["Query", "Language", "MaxResults"]
    assert search.parameters["Query"].default is inspect.Parameter.empty
    assert search.parameters["MaxResults"].default == 5
    assert hints == {
        "Query": str, "Language": typing.Literal["en", "zh"], "MaxResults": int, "return": str,
    }  # fmt: skip
    doc = inspect.getdoc(cls.SearchKnowledge)
    assert doc.startswith(
        "Searches the help articles; gives titles and summaries, best match first"
    )
    assert "\n    Language: Of the articles; the customer's by default.\n" in doc
    assert "\n    MaxResults: The MaxResults. By default 5.\n" in doc
    queue = typing.get_type_hints(cls.escalate_ticket)["queue"]
    assert typing.get_args(queue) == episode.scenario.public.queues
    assert inspect.signature(cls.escalate_ticket).parameters.keys() == {"self", "queue", "summary"}


def test_types_follow_the_schema():
    properties = {
        "a": {"type": "array", "items": {"type": "integer"}},
        "b": {"type": "array"},
        "c": {"type": "object"},
        "d": {"type": ["string", "null"]},
        "e": {},
        "f": {"type": "boolean", "description": "Two\n  lines."},
        "g.1": {"type": "number"},
        "g_1": {"type": "string"},
        "in": {"type": "string"},
        "2": {"type": "string"},
    }
    function = {"name": "F", "description": "", "parameters": {"properties": properties}}
    empty = {"name": "G", "description": "Gets it.", "parameters": {"type": "object"}}
    schemas = [{"function": function}, {"function": empty}]
    cls = environment_class("Made", schemas, {}, {})
    assert typing.get_type_hints(cls.F) == {
        "a": list[int], "b": list, "c": dict, "d": str, "e": str, "f": bool, "g_1": float,
        "_g_1": str, "_in": str, "_2": str, "return": str,
    }  # fmt: skip
    assert cls.F.__doc__.startswith("A function.\n\nArgs:\n    a: The a.\n")
    assert "    f: Two lines.\n" in cls.F.__doc__
    assert cls.G.__doc__ == "Gets it.\n\nReturns:\n    What came of it."


def play_reference(environment, seed=3):
    """All that the reference does, as calls; the texts that came back."""
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=seed)
    back = []
    for action in reference_actions(episode.scenario):
        if action.calls:
            call = action.calls[0]
            back.append(getattr(environment, call.name)(**json.loads(call.arguments)))
        elif action.kind == "reply":
            back.append(environment.reply_to_customer(message=action.text))
        elif action.kind == "close":
            back.append(environment.close_ticket(message=action.text))
        else:
            back.append(environment.escalate_ticket(queue=action.queue, summary=action.text))
    return back


def test_the_prompt_and_the_opening_together_are_the_episode_and_say_how_to_speak():
    spec = tools()
    row = spec.rows[0]
    messages, _ = TicketEpisode("ECS-Billing").reset(seed=3)
    assert row["prompt"][0]["content"].startswith(messages[0]["content"] + "\n\n")
    assert "reply_to_customer" in row["prompt"][0]["content"]
    assert row["prompt"][1] == {"role": "user", "content": ""}
    assert spec.environment_factory().reset(**row) == messages[1]["content"]
    assert "reply_to_customer 回复客户" in opening(messages, "zh")[0]
    assert "environment" not in row


def test_a_pooled_environment_forgets_the_episode_before():
    spec = tools()
    row = spec.rows[0]
    environment = spec.environment_factory()
    assert environment.get_reward() is None
    with pytest.raises(OptionError):
        _ = environment.episode
    environment.reset(**row)
    back = play_reference(environment)
    assert environment.episode.outcome.name == "success"
    reward = environment.get_reward()
    assert reward == pytest.approx(environment.episode.state.micro / 1e6)
    assert reward > 0.9
    assert back[-1] == OVER == environment.GetAccountProfile()
    assert environment.get_reward() == reward
    environment.reset(**row)
    assert environment.episode.outcome is None
    assert environment.episode.info()["turn"] == 0
    assert play_reference(environment) == back


def test_a_rollout_left_open_is_stopped_with_what_it_earned():
    spec = tools()
    environment = spec.environment_factory()
    environment.reset(**spec.rows[0])
    environment.reply_to_customer(message="Which instance is it, please?")
    earned = environment.episode.state.micro / 1e6
    assert environment.get_reward() == pytest.approx(earned)
    assert environment.episode.outcome.name == "stopped"


def test_what_a_model_calls_wrongly_is_answered_and_counted():
    spec = tools()
    environment = spec.environment_factory()
    environment.reset(**spec.rows[0])
    assert "MalformedArguments" not in environment.GetAccountProfile()
    assert "Code" in environment.GetAccountProfile(Nonsense=1)
    assert "takes exactly message" in environment.reply_to_customer(text="Hello")
    assert environment.episode.info()["invalid"] == 2
    assert environment.get_reward() < 0


def test_a_row_of_elsewhere_is_refused():
    environment = tools().environment_factory()
    with pytest.raises(OptionError, match="a row names its ticket"):
        environment.reset(ticket="Cirrus/ECS-Ssh-v0", seed=1)
    with pytest.raises(OptionError, match="a row names its ticket"):
        environment.reset(seed=1)


class Broken:
    """A customer whose second word never comes."""

    name = "broken"

    def __init__(self, error):
        self.error = error

    def begin(self, scenario):
        return "Hello", (), None

    def react(self, mind, view):
        raise self.error


class BrokenJudge:
    name = "broken"

    def assess(self, scenario, text, acts):
        raise KeyError("x")


FAILURES = [
    ({"customer": Broken(EndpointError("gone"))}, "customer_error"),
    ({"customer": Broken(KeyError("x"))}, "customer_error"),
    ({"judge": BrokenJudge()}, "judge_error"),
]


@pytest.mark.parametrize(("broken", "outcome"), FAILURES)
def test_a_failed_environment_has_no_reward(broken, outcome):
    spec = tools(**broken)
    environment = spec.environment_factory()
    environment.reset(**spec.rows[0])
    assert environment.reply_to_customer(message="Which instance is it?") == OVER
    assert environment.episode.outcome.name == outcome
    assert environment.get_reward() is None


def test_tickets_with_other_tools_have_classes_of_their_own():
    names = ["ECS-Billing", "Billing-UnpaidOrder", "ECS-Renewal"]
    spec = CirrusSpec(names, view="tools", seeds=[1])
    factories = spec.environment_factory
    assert {row["environment"] for row in spec.rows} == set(factories)
    for row in spec.rows:
        environment = factories[row["environment"]]()
        environment.reset(**row)
        offered = {t["function"]["name"] for t in environment.episode.chat_tools}
        assert set(methods(type(environment))) == {*offered, "reply_to_customer"}
    assert spec.reward_funcs == []


def test_tickets_with_the_same_tools_share_a_class_and_those_without_rows_have_none():
    names = ["Billing-AutoRenewal", "Billing-UnpaidOrder", "ECS-Locked"]
    spec = CirrusSpec(names, view="tools", episodes=2)
    assert len(spec.tickets) == 3
    assert spec.environment_factory.__name__ == "Cirrus_Billing_AutoRenewal"
    for row in spec.rows:
        environment = spec.environment_factory()
        environment.reset(**row)
        assert environment.episode.ticket.env_id == row["ticket"]
    both = CirrusSpec(names, view="tools", seeds=[1, 2])
    assert [row["environment"] for row in both.rows] == 2 * [
        "Billing_AutoRenewal", "Billing_AutoRenewal", "ECS_Locked",
    ]  # fmt: skip


def test_each_view_refuses_the_others_way():
    with pytest.raises(OptionError, match="take rollout_func"):
        _ = CirrusSpec("ECS-Billing").environment_factory
    with pytest.raises(OptionError, match="take environment_factory"):
        tools().rollout_func([], None)


# -- dialogues ---------------------------------------------------------------------------------


class Trainer:
    """What the adapter asks of ``GRPOTrainer``; its model says what it was given, line by line."""

    def __init__(self, script, *, budget=100_000, context=1_000_000, template="plain", vllm=False):
        self.processing_class = ByteTokenizer(template)
        self.chat_template_kwargs = {}
        self.eos_token_ids = [END]
        self.max_completion_length = budget
        self.model = SimpleNamespace(config=SimpleNamespace())
        if context:
            self.model.config.max_position_embeddings = context
        holder = SimpleNamespace(max_new_tokens=7, max_completion_length=7)
        setattr(self, "vllm_generation" if vllm else "generation_config", holder)
        self.holder, self.vllm = holder, vllm
        self.script, self.asked, self.caps = script, [], []

    def _generate_single_turn(self, prompts, images, fields, generations):
        assert (images, fields, generations) == (None, {}, 1)
        self.asked.append([list(ids) for ids in prompts])
        self.caps.append(
            getattr(self.holder, "max_completion_length" if self.vllm else "max_new_tokens")
        )
        turn = self.script[min(len(self.asked), len(self.script)) - 1]
        ids = [*encode(turn), END] if isinstance(turn, str) else list(turn)
        return [ids] * len(prompts), [[-0.5] * len(ids)] * len(prompts) if self.vllm else None


def dialogue(**kwargs):
    return CirrusSpec("ECS-Billing", **{"seeds": [3], "parser": "hermes", "tools": [], **kwargs})


def reference_script():
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=3)
    for action in reference_actions(episode.scenario):
        calls = action.calls
        if action.kind == "close":
            calls = [ToolCall("", "close_ticket", canonical({"message": action.text}))]
        elif action.kind == "escalate":
            given = {"queue": action.queue, "summary": action.text}
            calls = [ToolCall("", "escalate_ticket", canonical(given))]
        yield render_calls("hermes", calls) if calls else action.text


@pytest.mark.parametrize("vllm", [False, True])
def test_a_group_plays_the_same_ticket_and_seed_to_the_same_end(vllm):
    spec = dialogue(tools=None)
    trainer = Trainer(list(reference_script()), vllm=vllm)
    prompt = spec.rows[0]["prompt"]
    out = spec.rollout_func([prompt, prompt], trainer)
    assert out["success"] == [True, True]
    assert out["outcome"] == ["success"] * 2
    assert out["reward"][0] == out["reward"][1] > 0.9
    assert out["reward"][0] == pytest.approx(sum(out["turn_rewards"][0]))
    for ids, mask, spans in zip(
        out["completion_ids"], out["env_mask"], out["turn_spans"], strict=True
    ):
        assert len(ids) == len(mask)
        turns = [bytes(ids[start : end - 1]).decode() for start, end in spans]
        assert turns == list(reference_script())
        assert sum(mask) == sum(end - start for start, end in spans)
    assert out["prompt_ids"][0] == trainer.asked[0][0]
    assert trainer.holder.max_new_tokens == trainer.holder.max_completion_length == 7
    if vllm:
        assert sum(out["logprobs"][0]) == -0.5 * sum(out["env_mask"][0])
    else:
        assert out["logprobs"] is None


def test_prompts_that_a_data_set_gave_back_are_understood_and_others_refused():
    spec = dialogue()
    prompt = [
        {**m, "ticket": m.get("ticket"), "seed": m.get("seed")} for m in spec.rows[0]["prompt"]
    ]
    out = spec.rollout_func([prompt], Trainer([[END]]))
    assert out["outcome"] == ["invalid_limit"]
    assert out["reward"] == [-0.02]
    for wrong in (
        [{"role": "user", "content": "x"}],
        [{"role": "user", "content": "x", "ticket": ID}],
    ):
        with pytest.raises(OptionError, match="train_dataset"):
            spec.rollout_func([wrong], Trainer([[END]]))


def test_the_budget_holds_for_the_whole_dialogue_and_ends_it_stopped():
    spec = dialogue()
    prompt = spec.rows[0]["prompt"]
    trainer = Trainer(["Which instance is it, please?"], budget=300)
    out = spec.rollout_func([prompt], trainer)
    assert out["outcome"] == ["stopped"]
    assert len(out["completion_ids"][0]) <= 300
    assert out["env_mask"][0][-1] == 1
    assert trainer.caps[0] == 300
    assert all(a > b for a, b in zip(trainer.caps, trainer.caps[1:], strict=False))


def test_a_turn_longer_than_its_cap_is_cut_off():
    spec = dialogue(max_turn_tokens=5)
    trainer = Trainer(["Which instance is it, please?"])
    out = spec.rollout_func([spec.rows[0]["prompt"]], trainer)
    assert (out["outcome"], out["completion_ids"]) == (["stopped"], [encode("Which")])
    assert trainer.caps == [5]


def test_a_turn_cut_by_the_trainer_is_not_played():
    out = dialogue().rollout_func([dialogue().rows[0]["prompt"]], Trainer([encode("Which")]))
    assert (out["outcome"], out["turn"]) == (["stopped"], [0])


def test_a_context_that_the_prompt_fills_is_an_error_with_its_mend():
    spec = dialogue()
    with pytest.raises(OptionError, match="offer fewer tools"):
        spec.rollout_func([spec.rows[0]["prompt"]], Trainer([[END]], context=50))
    out = spec.rollout_func([spec.rows[0]["prompt"]], Trainer([[END]], context=None))
    assert len(out["completion_ids"]) == 1
    begun = len(out["prompt_ids"][0])
    out = spec.rollout_func([spec.rows[0]["prompt"]], Trainer([[END]], context=begun + 1))
    assert (out["outcome"], out["completion_ids"]) == (["stopped"], [[END]])


@pytest.mark.parametrize(("broken", "outcome"), FAILURES)
def test_a_failed_dialogue_has_no_reward_and_no_empty_completion(broken, outcome):
    spec = dialogue(**broken)
    trainer = Trainer(["Which instance is it?"], vllm=True)
    out = spec.rollout_func([spec.rows[0]["prompt"]], trainer)
    assert (out["reward"], out["valid"], out["outcome"]) == ([None], [0], [outcome])
    assert len(out["completion_ids"][0]) == len(out["env_mask"][0]) == len(out["logprobs"][0]) > 0
    if not isinstance(broken.get("customer"), Broken) or outcome == "judge_error":
        assert (out["completion_ids"], out["env_mask"]) == ([[END]], [[0]])


class Waiting:
    """A customer that answers only when all of its kind have been asked."""

    name = "waiting"

    def __init__(self, together):
        self.together, self.asked, self.most = together, 0, 0

    def begin(self, scenario):
        return "Hello", (), None

    def react(self, mind, view):
        raise AssertionError("awaited customers are awaited")

    async def abegin(self, scenario):
        return self.begin(scenario)

    async def areact(self, mind, view):
        self.asked += 1
        while self.asked % self.together:
            await asyncio.sleep(0)
        if self.asked > 2 * self.together:
            raise KeyError("x")
        return Reaction(CustomerAction("say", "Yes."), (), None)


def test_customers_that_are_awaited_answer_all_at_once_also_inside_an_event_loop():
    customer = Waiting(together=3)
    spec = dialogue(customer=customer)

    async def notebook():
        return spec.rollout_func([spec.rows[0]["prompt"]] * 3, Trainer(["Which one is it?"]))

    out = asyncio.run(notebook())
    assert customer.asked == 9
    assert out["outcome"] == ["customer_error"] * 3
    assert [len(spans) for spans in out["turn_spans"]] == [2, 2, 2]
    assert out["reward"] == [None] * 3


def test_a_render_of_ones_own_is_taken():
    render = PrefixRender(ByteTokenizer("drops"), chat_template="plain")
    spec = dialogue(render=render)
    out = spec.rollout_func([spec.rows[0]["prompt"]], Trainer(["Hello"], template="drops"))
    assert len(out["turn_spans"][0]) > 1


@pytest.mark.parametrize("found", ["plain", None, ValueError("unknown")])
def test_trls_training_template_helps_where_a_template_breaks_the_prefix(found, monkeypatch):
    def get_training_chat_template(tokenizer):
        if isinstance(found, Exception):
            raise found
        return found

    module = SimpleNamespace(get_training_chat_template=get_training_chat_template)
    monkeypatch.setitem(sys.modules, "trl", SimpleNamespace(chat_template_utils=module))
    monkeypatch.setitem(sys.modules, "trl.chat_template_utils", module)
    trainer = Trainer(["Hello"], template="drops")
    if found == "plain":
        assert trl_rollout.trainer_render(trainer).stop_ids == {END}
    else:
        with pytest.raises(RenderError, match="'user'"):
            trl_rollout.trainer_render(trainer)


def test_the_reward_function_hands_on_the_returns_and_logs_what_matters():
    logged = {}
    spec = CirrusSpec("ECS-Billing", episodes=1)
    assert spec.reward_funcs == [cirrus_return]
    columns = {"reward": [1.0, None, 0.25], "valid": [1, 0, 1], "success": [True, None, False]}
    assert cirrus_return(**columns, log_metric=logged.__setitem__, prompts=[]) == [1.0, None, 0.25]
    assert logged == {"cirrus/valid": 2 / 3, "cirrus/success": 0.5}
    assert cirrus_return([None], [0], [None], logged.__setitem__) == [None]
    assert logged == {"cirrus/valid": 0.0, "cirrus/success": 0.5}
    assert cirrus_return([0.5]) == [0.5]


def test_a_parameter_that_is_no_python_name_reaches_the_operation_by_its_own():
    spec = CirrusSpec("ECS-Billing", seeds=[3], view="tools")
    environment = spec.environment_factory()
    found = []
    environment._act = lambda name, arguments: found.append((name, arguments)) or ""
    dotted = {
        name: key
        for name in methods(type(environment))
        for key in inspect.signature(getattr(environment, name)).parameters
        if key == "SystemDisk_Size"
    }
    assert dotted
    name, key = next(iter(dotted.items()))
    getattr(environment, name)(**{key: 40, "Other": 1})
    assert found == [(name, {"SystemDisk.Size": 40, "Other": 1})]
