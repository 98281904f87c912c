"""Models behind endpoints in runs, as agents and as customers, working and failing."""

import json

import pytest
from chat_server import ChatServer, completion, status

from cirrus_env.baselines.model import ModelPolicy
from cirrus_env.baselines.registry import policy
from cirrus_env.cli.main import main
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions
from cirrus_env.envs.views import AssistantView
from cirrus_env.errors import OptionError
from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.stored import StoredRun
from cirrus_env.wire import AssistantAction, ToolCall

SEED = 3
SEEDS = (3, 6)
"""Their references need no waiting."""


def answers(seeds=SEEDS):
    """A model that knows the references of these seeds and plays the one that it is in."""
    plans = {}
    for seed in seeds:
        episode = TicketEpisode("ECS-Billing")
        episode.reset(seed=seed)
        opening = episode.messages[1]["content"]
        plans[opening] = reference_actions(episode.scenario)

    def answer(request):
        said = sum(message["role"] == "assistant" for message in request["messages"])
        plan = plans[request["messages"][1]["content"]]
        return spoken(plan[min(said, len(plan) - 1)])

    return answer


def spoken(action):
    """An action as a chat model writes it."""
    calls = [(call.name, call.arguments) for call in action.calls]
    if action.kind == "close":
        calls = [("close_ticket", json.dumps({"message": action.text}))]
    elif action.kind == "escalate":
        made = {"queue": action.queue, "summary": action.text}
        calls = [("escalate_ticket", json.dumps(made))]
    return completion("" if calls else action.text, calls)


def run(server, folder, *more):
    return main(
        ["run", "--agent", f"model:m@{server.base_url}", "--tickets", "ECS-Billing",
         "--seeds", "3,6", "--out", str(folder), *more]
    )  # fmt: skip


def rows(folder):
    return [stored.row for stored in StoredRun(folder)]


def everything(folder):
    return "".join(path.read_text("utf-8") for path in folder.iterdir())


@pytest.mark.parametrize("processes", [1, 2])
def test_a_model_is_an_agent(tmp_path, capsys, canary, processes):
    with ChatServer(answers()) as server:
        assert run(server, tmp_path / "a", "--jobs", str(processes)) == 0
    assert [(row.agent, row.outcome) for row in rows(tmp_path / "a")] == [
        ("model:m", "success")
    ] * 2
    assert main(["rescore", str(tmp_path / "a")]) == 0
    printed = capsys.readouterr()
    assert canary not in everything(tmp_path / "a") + printed.out + printed.err
    request = server.requests[0]
    names = [tool["function"]["name"] for tool in request["tools"]]
    assert names[-2:] == ["close_ticket", "escalate_ticket"]
    assert server.keys == [canary] * len(server.keys)


def test_a_failing_endpoint_is_an_agent_error_and_resume_plays_only_those_again(tmp_path, canary):
    good = answers()
    failing = True
    second = TicketEpisode("ECS-Billing")
    second.reset(seed=6)
    opening = second.messages[1]["content"]

    def answer(request):
        said = sum(message["role"] == "assistant" for message in request["messages"])
        if failing and said == 2 and request["messages"][1]["content"] == opening:
            return status(401)
        return good(request)

    with ChatServer(answer) as server:
        assert run(server, tmp_path / "a") == 1
        first, broken = rows(tmp_path / "a")
        assert (first.outcome, first.valid) == ("success", True)
        assert (broken.outcome, broken.valid) == ("agent_error", False)
        assert broken.error == "ModelUnavailable: m: HTTP status 401 (1 attempt)"
        failing, before = False, len(server.requests)
        assert run(server, tmp_path / "a", "--resume") == 0
        again = [r["messages"][1]["content"] for r in server.requests[before:]]
        assert set(again) == {opening}
    assert [row.outcome for row in rows(tmp_path / "a")] == ["success"] * 2
    assert canary not in everything(tmp_path / "a")
    assert "secret body" not in everything(tmp_path / "a")


def test_a_model_gives_the_customer_its_words_and_its_failure_is_the_customers(tmp_path, canary):
    def words(request):
        given = json.loads(request["messages"][1]["content"])
        return completion("Say: " + given["customer_wants_to_say"])

    with ChatServer(words) as server:
        given = ["run", "--agent", "oracle", "--tickets", "ECS-Billing", "--seeds", "0:2",
                 "--customer", f"model:c@{server.base_url}"]  # fmt: skip
        assert main([*given, "--out", str(tmp_path / "a")]) == 0
        before = len(server.requests)
        assert before
        assert main(["rescore", str(tmp_path / "a")]) == 0
        assert main(["explain", str(tmp_path / "a"), "0"]) == 0
        assert len(server.requests) == before
    assert [row.outcome for row in rows(tmp_path / "a")] == ["success"] * 2
    stored = next(iter(StoredRun(tmp_path / "a")))
    assert stored.trajectory.header["customer"] == "model:c"
    with ChatServer([status(403)]) as server:
        given[-1] = f"model:c@{server.base_url}"
        assert main([*given, "--out", str(tmp_path / "b")]) == 1
    assert [row.outcome for row in rows(tmp_path / "b")] == ["customer_error"] * 2
    assert canary not in everything(tmp_path / "a") + everything(tmp_path / "b")


def test_what_the_model_writes_is_played_as_it_is(canary):
    written = [
        completion("One moment.", [("no_such_tool", "{}")]),
        completion("", [("DescribeInstances", "{broken")]),
        completion(None, reasoning_content="Hm."),
        completion("<think>Hm.</think>Which one?", finish="length"),
    ]
    with ChatServer(written) as server:
        agent = policy(f"model:m@{server.base_url}")
        assert isinstance(agent, ModelPolicy)
        agent.reset(0)
        episode, view = TicketEpisode("ECS-Billing", max_invalid=9), AssistantView()
        episode.reset(seed=SEED)
        played = []
        for _ in written:
            played.append(agent.act(view.observe(episode)))
            episode.step(played[-1])
        agent.client.close()
    assert played == [
        AssistantAction("call", "One moment.", (ToolCall("call_0", "no_such_tool", "{}"),)),
        AssistantAction("call", "", (ToolCall("call_0", "DescribeInstances", "{broken"),)),
        AssistantAction("reply", "", reasoning="Hm."),
        AssistantAction("reply", "Which one?", reasoning="Hm."),
    ]
    assert episode.state.invalid == 3
    assert "Hm." not in json.dumps([request["messages"] for request in server.requests])


def test_a_missing_key_is_told_before_anything_is_played(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(OptionError, match="OPENAI_API_KEY"):
        find_agent("model:gpt-x")
    for given in (["--agent", "model:gpt-x"], ["--agent", "oracle", "--customer", "model:gpt-x"]):
        assert main(["run", *given, "--seeds", "0", "--out", str(tmp_path / "a")]) == 2
        assert "set the environment variable OPENAI_API_KEY" in capsys.readouterr().err
    assert not (tmp_path / "a").exists()
