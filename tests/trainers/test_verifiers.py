"""verifiers itself: its interception, its rollouts and its command, over loopback."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("verifiers")

import verifiers.v1 as vf

import cirrus_env_vf
from cirrus_env.adapters.sft import message_of
from cirrus_env.adapters.verifiers import CirrusEnv, CirrusHarness, CirrusTaskset
from cirrus_env.baselines import policy
from cirrus_env.customers import registry
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import EndpointError
from cirrus_env.tickets.load import bundled

pytestmark = pytest.mark.trainer

ID = "cirrus-env-vf"
TICKET = "Cirrus/ECS-Billing-v0"
EXAMPLE = Path(__file__).parents[2] / "examples" / "verifiers_eval.py"


class Handler(BaseHTTPRequestHandler):
    """Answers chat requests as ``server.play(request)`` says: a message, or an HTTP status."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append(request)
        answer = self.server.play(request)
        status = answer if isinstance(answer, int) else 200
        body = {"error": {"message": "out of order"}}
        if status == 200:
            finish = "tool_calls" if answer.get("tool_calls") else "stop"
            finish = self.server.finish or finish
            usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
            body = {
                "id": "x", "object": "chat.completion", "created": 0, "model": request["model"],
                "choices": [{"index": 0, "message": answer, "finish_reason": finish}],
                "usage": usage,
            }  # fmt: skip
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextmanager
def endpoint(play, finish=None):
    """A model that plays so, on a free loopback port; gives the server, with what it has seen."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.play, server.seen, server.finish = play, [], finish
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def called(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": "c", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def turn_of(request):
    return sum(message["role"] == "assistant" for message in request["messages"])


def closing(request):
    return called("close_ticket", message="Bye.")


class Plan:
    """The oracle of each (ticket, seed), played in process; the model says the same."""

    def __init__(self, *seeds, **arguments):
        self.episodes, self.messages = {}, {}
        for seed in seeds:
            episode = TicketEpisode(bundled(TICKET), **arguments)
            opening, _ = episode.reset(seed=seed)
            oracle, said = policy("oracle", episode), []
            while episode.outcome is None:
                seen = {"message": episode.messages[-1]["content"]}
                said.append(message_of(oracle.act(seen), len(said), "text"))
                episode.step(said[-1])
            self.episodes[seed] = episode
            self.messages[opening[0]["content"] + opening[1]["content"]] = said

    def __call__(self, request):
        first, second = request["messages"][:2]
        return self.messages[first["content"] + second["content"]][turn_of(request)]


def environment(*, agent=None, **taskset):
    given = {"id": ID, "tickets": [TICKET], **taskset}
    return vf.load_environment(vf.resolve_env_config({"taskset": given, "agent": agent or {}}))


def episodes(env, server, *, rollouts=1, tasks=None):
    client = vf.EvalClientConfig(
        base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key_var="CIRRUS_NO_KEY"
    )
    context = vf.ModelContext(model="scripted", client=client, sampling=vf.SamplingConfig())

    async def go():
        async with env.serving():
            chosen = env.taskset if tasks is None else env.taskset.take(tasks)
            runs = [env.run_episode(task, context) for task in chosen for _ in range(rollouts)]
            return await asyncio.gather(*runs)

    return asyncio.run(go())


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))


def test_the_name_gives_one_taskset_one_environment_and_one_harness():
    env = environment()
    assert isinstance(env, CirrusEnv)
    assert isinstance(env.taskset, CirrusTaskset)
    assert vf.default_harness_id(ID) == ID
    assert cirrus_env_vf.__all__ == ["CirrusEnv", "CirrusHarness", "CirrusTaskset"]
    assert CirrusHarness.EXECUTES_CODE is False


def test_tasks_are_tickets_times_seeds():
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": ID, "seeds": 3}}))
    tasks = list(env.taskset)
    assert len(tasks) == len({task.key for task in tasks}) == 3 * 11
    assert [task.data.idx for task in tasks] == list(range(33))
    assert {task.data.seed for task in tasks} == {0, 1, 2}
    assert {bundled(task.data.ticket).split for task in tasks} == {"train"}
    assert [task.key for task in env.taskset.include(ids=[f"{TICKET}:2"])] == [f"{TICKET}:2"]
    other = environment(seeds=2, first_seed=70, tickets=["ECS-Billing", "VPC-Nat"])
    assert [task.key for task in other.taskset] == [
        "Cirrus/ECS-Billing-v0:70", "Cirrus/VPC-Nat-v0:70",
        "Cirrus/ECS-Billing-v0:71", "Cirrus/VPC-Nat-v0:71",
    ]  # fmt: skip


def test_a_model_that_plays_the_oracle_gets_its_return_and_success():
    plan = Plan(0, 1, 2)
    with endpoint(plan) as server:
        found = episodes(environment(seeds=3), server)
    assert len(found) == 3
    for seed, episode in enumerate(found):
        twin = plan.episodes[seed]
        assert episode.ok
        [trace] = episode.traces
        assert trace.ok
        assert trace.rewards["cirrus"].value == pytest.approx(twin.state.micro / 1e6)
        assert trace.reward == trace.rewards["cirrus"].value > 0.9
        assert trace.metrics["success"] == 1.0
        assert trace.metrics["tokens"] == twin.metrics()["tokens"]
        facts = trace.info["cirrus"]
        assert (facts["outcome"], facts["variant"]) == ("success", twin.scenario.variant)
        assert sum(facts["turn_rewards"]) == pytest.approx(trace.reward, abs=1e-5)
        assert trace.num_branches == 1, "history is only ever appended to"
        # what the trace holds is the transcript of the core, word by word, up to the closing call
        mine = [(each.role, each.content or "") for each in trace.messages]
        theirs = [(each["role"], each["content"]) for each in twin.messages]
        assert mine[:-1] == theirs[: len(mine) - 1]
        assert trace.messages[-1].role == "assistant"
        record = trace.to_record()
        assert vf.WireTrace.model_validate(json.loads(json.dumps(record))).reward == trace.reward


def test_a_group_shares_its_task_and_each_rollout_has_its_own_world():
    plan = Plan(0)
    with endpoint(plan) as server:
        found = episodes(environment(seeds=1), server, rollouts=4)
    traces = [episode.traces[0] for episode in found]
    assert len({trace.rewards["cirrus"].value for trace in traces}) == 1
    assert len({trace.id for trace in traces}) == 4
    texts = {json.dumps([each.model_dump() for each in trace.messages]) for trace in traces}
    assert len(texts) == 1


def test_closing_at_once_is_a_valid_zero():
    with endpoint(closing) as server:
        [episode] = episodes(environment(seeds=1), server)
    [trace] = episode.traces
    assert episode.ok
    assert trace.rewards["cirrus"].value == 0.0
    assert trace.metrics["success"] == 0.0
    assert trace.info["cirrus"]["outcome"] == "closed_early"


def test_what_the_model_is_sent_holds_no_gold():
    plan = Plan(0, 1)
    with endpoint(plan) as server:
        episodes(environment(seeds=2), server)
    sent = json.dumps(server.seen)
    for episode in plan.episodes.values():
        scenario = episode.scenario
        for name in (scenario.variant, *(each.id for each in scenario.gold.checkpoints)):
            assert f'"{name}"' not in sent
    names = {tool["function"]["name"] for tool in server.seen[0]["tools"]}
    assert {"DescribeInstances", "close_ticket", "escalate_ticket"} <= names


def test_a_model_endpoint_that_fails_is_an_error_and_no_reward():
    with endpoint(lambda request: 400) as server:
        [episode] = episodes(environment(seeds=1), server)
    [trace] = episode.traces
    assert not episode.ok
    assert not trace.ok
    assert trace.rewards == {"cirrus": None}
    assert trace.metrics == {}
    assert trace.last_error.type == "ProviderError"
    assert trace.info["cirrus"]["outcome"] == "agent_error"
    assert trace.info["cirrus"]["valid"] is False


def test_a_failure_that_passes_is_tried_again():
    plan, failures = Plan(0), [503]

    def play(request):
        return failures.pop() if failures and turn_of(request) == 1 else plan(request)

    with endpoint(play) as server:
        [episode] = episodes(environment(seeds=1), server)
    assert failures == []
    assert episode.traces[0].metrics["success"] == 1.0


class Failing(SimulatedCustomer):
    name = "failing"

    def react(self, mind, view):
        raise EndpointError("no answer")


def test_a_customers_endpoint_that_fails_is_an_error_and_no_reward(monkeypatch):
    monkeypatch.setattr(registry, "CUSTOMERS", {**registry.CUSTOMERS, "failing": Failing})
    with endpoint(lambda request: {"role": "assistant", "content": "Hello?"}) as server:
        [episode] = episodes(environment(seeds=1, task={"customer": "failing"}), server)
    [trace] = episode.traces
    assert not episode.ok
    assert not trace.ok
    assert trace.rewards == {"cirrus": None}
    assert "customer_error" in trace.last_error.message
    assert episode.errors


@pytest.mark.parametrize(
    "limit",
    [{"max_turns": 2}, {"max_output_tokens": 10}],
)
def test_a_limit_of_verifiers_stops_the_ticket_and_what_it_got_counts(limit):
    with endpoint(lambda request: {"role": "assistant", "content": "Which one?"}) as server:
        [episode] = episodes(environment(seeds=1, agent=limit), server)
    [trace] = episode.traces
    twin = TicketEpisode(bundled(TICKET))
    twin.reset(seed=0)
    twin.step("Which one?")
    twin.step("Which one?")
    twin.truncate()
    assert episode.ok
    assert trace.num_turns == 2
    assert trace.info["cirrus"]["outcome"] == "stopped"
    assert trace.rewards["cirrus"].value == pytest.approx(twin.state.micro / 1e6)


def test_a_message_that_was_cut_off_is_not_played():
    with endpoint(lambda request: {"role": "assistant", "content": "Which on"}, "length") as server:
        [episode] = episodes(environment(seeds=1), server)
    [trace] = episode.traces
    assert episode.ok
    assert trace.is_truncated
    assert len(server.seen) == 1
    facts = trace.info["cirrus"]
    assert (facts["outcome"], facts["turn_rewards"]) == ("stopped", [])
    assert trace.metrics["replies"] == 0.0


def test_the_tickets_own_limit_ends_it_too():
    with endpoint(lambda request: {"role": "assistant", "content": "Which one?"}) as server:
        [episode] = episodes(environment(seeds=1, task={"max_turns": 3}), server)
    assert episode.traces[0].info["cirrus"]["outcome"] == "turn_limit"
    assert len(server.seen) == 3


def test_what_a_model_gets_wrong_is_answered_and_counted():
    wrong = [
        called("Fly"),
        {"role": "assistant", "content": ""},
        called("DescribeInstances", colour="red"),
    ]
    twin = TicketEpisode(bundled(TICKET), max_invalid=9)
    twin.reset(seed=0)
    for message in (*wrong, closing({})):
        twin.step(message)

    def play(request):
        turn = turn_of(request)
        return wrong[turn] if turn < len(wrong) else closing(request)

    with endpoint(play) as server:
        [episode] = episodes(environment(seeds=1, task={"max_invalid": 9}), server)
    [trace] = episode.traces
    assert episode.ok
    assert len(server.seen) == 4
    assert twin.state.invalid == 3
    assert trace.metrics["invalid_turns"] == twin.metrics()["invalid_turns"] > 0
    assert trace.rewards["cirrus"].value == pytest.approx(twin.state.micro / 1e6)
    assert trace.rewards["cirrus"].value < 0


def test_a_system_text_of_ones_own_takes_the_tickets_place(tmp_path):
    path = tmp_path / "prompt.txt"
    path.write_text("Help. It is {now}.")
    with endpoint(closing) as server:
        episodes(environment(seeds=1, system_prompt=str(path)), server)
    system = [m["content"] for m in server.seen[0]["messages"] if m["role"] == "system"]
    assert len(system) == 1
    assert system[0].startswith("Help. It is 2")


def test_another_harness_is_refused_by_name():
    env = environment(seeds=1, agent={"harness": {"id": "null"}})
    with endpoint(closing) as server:
        [episode] = episodes(env, server)
    assert not episode.ok
    assert "own harness" in episode.errors[-1].message


def test_the_command_evaluates_and_stores_traces(tmp_path):
    command = [
        str(Path(sys.executable).parent / "vf-eval"), ID, "--model", "scripted", "-n", "2", "-r",
        "2", "--no-push", "--no-rich", "--output-dir", str(tmp_path / "out"),
        "--env.taskset.split", "test",
    ]  # fmt: skip
    with endpoint(closing) as server:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        more = ["--client.base-url", url, "--client.api-key-var", "CIRRUS_NO_KEY"]
        done = subprocess.run(
            [*command, *more], capture_output=True, text=True, timeout=120, cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    [stored] = (tmp_path / "out").rglob("traces.jsonl")
    lines = [json.loads(line) for line in stored.read_text().splitlines()]
    rewards = [trace["rewards"] for line in lines for trace in line["traces"]]
    assert len(rewards) == 4
    assert all(set(each) == {"cirrus"} for each in rewards)


def test_the_command_that_validates_finds_every_ticket_solvable_and_none_solved(tmp_path):
    command = [
        str(Path(sys.executable).parent / "vf-validate"), ID, "--runtime.type", "subprocess",
        "--no-rich", "--output-dir", str(tmp_path / "out"), "--taskset.seeds", "1",
    ]  # fmt: skip
    for check in ("--only-gold", "--only-noop"):
        done = subprocess.run(
            [*command, check], capture_output=True, text=True, timeout=120, cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    stored = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("summary.json")]
    found = {each["mode"]: each["outcomes"] for each in stored}
    assert found["gold"]["valid"] == 11
    assert found["noop"]["invalid"] == found["noop"]["error"] == 0


def test_the_example_runs():
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--tasks", "2"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4
    assert "3 model calls" in done.stdout


def test_the_speed_is_told(capsys):
    plan = Plan(*range(8))
    with endpoint(plan) as server:
        begun = time.perf_counter()
        found = episodes(environment(seeds=8), server)
        spent = time.perf_counter() - begun
    assert all(episode.ok for episode in found)
    with capsys.disabled():
        print(f"\nverifiers: {len(server.seen) / spent:.0f} model calls/s, 8 rollouts at once")
