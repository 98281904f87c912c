"""OpenEnv itself: its server and its clients over a real socket."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("openenv")

import httpx
import uvicorn
from openenv.core import GenericEnvClient
from websockets.asyncio.client import connect

from cirrus_env.adapters.openenv import CirrusAction, CirrusClient, CirrusEnvironment, create_app
from cirrus_env.adapters.sft import message_of
from cirrus_env.adapters.tasks import Tasks
from cirrus_env.baselines import policy
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import EndpointError, OptionError
from cirrus_env.tickets.load import bundled

pytestmark = pytest.mark.trainer

TICKET = "Cirrus/ECS-Billing-v0"
EXAMPLE = Path(__file__).parents[2] / "examples" / "openenv_client.py"


@contextmanager
def serving(app):
    """The app on a free loopback port, in a thread; gives the address."""
    config = uvicorn.Config(app, port=0, log_level="warning", ws_per_message_deflate=False)
    server = uvicorn.Server(config)
    sock = config.bind_socket()
    sock.listen()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def url():
    with serving(create_app(Tasks(seeds=20))) as address:
        yield address


def oracle(seed: int, name: str = TICKET):
    """The oracle's episode in process: for each action its message and the step it gave."""
    episode = TicketEpisode(bundled(name))
    opening, _ = episode.reset(seed=seed)
    played = policy("oracle", episode)
    played.reset(seed)
    steps = []
    while episode.outcome is None:
        observation = {"message": episode.messages[-1]["content"]}
        message = message_of(played.act(observation), len(steps), "text")
        steps.append((message, episode.step(message)))
    return opening, steps, episode


def test_an_episode_over_the_socket_is_the_episode_in_process(url):
    opening, steps, episode = oracle(7)
    assert episode.outcome.name == "success"
    with CirrusClient(base_url=url).sync() as env:
        result = env.reset(seed=7, ticket=TICKET, episode_id="mine")
        assert result.observation.messages == opening
        assert result.observation.tools == episode.chat_tools
        assert (result.reward, result.done) == (None, False)
        assert "variant" not in result.observation.info
        for message, step in steps:
            result = env.step(message)
            seen = result.observation
            assert seen.messages == step.delta
            assert (seen.reward, seen.terminated, seen.truncated) == step[1:4]
            assert seen.info == step.info
            assert result.done == (step.terminated or step.truncated)
        assert seen.info["metrics"]["success"] is True
        state = env.state()
    assert (state.episode_id, state.step_count, state.outcome) == ("mine", len(steps), "success")
    assert (state.ticket, state.seed, state.valid) == (TICKET, 7, True)


def test_many_sessions_at_once_keep_to_themselves_and_to_their_seeds(url):
    seeds = [*range(12)] * 3
    lines = ["Which instance is it?", "Since when?", "Which bill do you mean?", "And what else?"]

    async def session(env, seed):
        result = await env.reset(seed=seed, ticket=TICKET)
        seen = [result.observation.messages]
        for line in lines:
            if not result.done:
                result = await env.step(line)
                seen.append((result.observation.messages, result.reward, result.done))
        return seen

    async def all_at_once():
        clients = [CirrusClient(base_url=url) for _ in seeds]
        for client in clients:
            await client.connect()
        try:
            return await asyncio.gather(*map(session, clients, seeds))
        finally:
            for client in clients:
                await client.close()

    seen = asyncio.run(all_at_once())
    for seed, got in zip(seeds, seen, strict=True):
        assert got == seen[seed]
        episode = TicketEpisode(bundled(TICKET))
        assert got[0] == episode.reset(seed=seed)[0]
        for line, (messages, reward, _) in zip(lines, got[1:], strict=False):
            step = episode.step(line)
            assert (messages, reward) == (step.delta, step.reward)
    assert len({json.dumps(each) for each in seen}) == 12


BAD = [
    '{"type": "step", "data": {}}',
    '{"type": "step", "data": {"text": 5}}',
    '{"type": "step", "data": {"text": null}}',
    '{"type": "step", "data": {"text": "a", "extra": 1}}',
    '{"type": "step", "data": {"text": "a", "tool_calls": [{"name": "f"}]}}',
    '{"type": "step", "data": {"text": "a", "tool_calls": {"name": "f"}}}',
    '{"type": "step", "data": {"text": "a", "tool_calls": [{"function": {"name": 1}}]}}',
    '{"type": "step", "data": {"text": "\\ud800"}}',
    '{"type": "step", "data": {"text": 5, "\\udfff": 1}}',
    '{"type": "step", "data": "text"}',
    '{"type": "step"}',
    '{"type": "jump", "data": {}}',
    '{"type": "reset", "data": {"seed": "7"}}',
    '{"type": "reset", "data": {"seed": true}}',
    '{"type": "reset", "data": {"seed": 1.5}}',
    '{"type": "reset", "data": {"episode_id": 5}}',
    '{"type": "reset", "data": {"ticket": "ECS-Biling"}}',
    '{"type": "reset", "data": {"ticket": ["ECS-Billing"]}}',
    '{"type": "reset", "data": {"ticket": "\\ud800"}}',
    '{"type": "reset", "data": {"ticket": "/etc/passwd.toml"}}',
    '{"type": "reset", "data": {"variant": "nothing"}}',
    '{"type": "reset", "data": {"varient": "x"}}',
    '{"type": "reset", "data": {"language": "fr"}}',
    '{"type": "reset", "data": {"turn": 99}}',
    '{"type": "reset", "data": {"turn": -1}}',
    '{"type": "reset", "data": {"customer": "external"}}',
    '{"type": "reset", "data": {"split": "validation", "index": 0}}',
    '{"type": "reset", "data": {"split": "train", "index": 100000}}',
    '{"type": "reset", "data": {"split": "train", "index": -1}}',
    '{"type": "reset", "data": {"split": "train", "index": 0, "ticket": "ECS-Billing"}}',
    '{"type": "reset", "data": {"self": 1}}',
    "{",
]
CODES = {"VALIDATION_ERROR", "EXECUTION_ERROR", "INVALID_JSON", "UNKNOWN_TYPE"}


def test_bad_input_is_a_typed_error_and_leaves_the_session_as_it_was(url):
    async def go():
        where = url.replace("http", "ws") + "/ws"
        async with connect(where, proxy=None, ping_interval=None) as socket:

            async def ask(text):
                await socket.send(text)
                return json.loads(await socket.recv())

            # an action before the first reset is one, too
            early = await ask('{"type": "step", "data": {"text": "Hello?"}}')
            assert early["data"] == {"message": "call reset first", "code": "EXECUTION_ERROR"}
            assert (await ask('{"type": "state"}'))["data"]["ticket"] == ""
            begin = {"type": "reset", "data": {"seed": 3, "ticket": TICKET}}
            assert (await ask(json.dumps(begin)))["type"] == "observation"
            before = await ask('{"type": "state"}')
            for text in BAD:
                answer = await ask(text)
                assert answer["type"] == "error", text
                assert answer["data"]["code"] in CODES, text
                assert await ask('{"type": "state"}') == before, text
            return await ask('{"type": "step", "data": {"text": "Which instance is it?"}}')

    episode = TicketEpisode(bundled(TICKET))
    episode.reset(seed=3)
    step = episode.step("Which instance is it?")
    assert asyncio.run(go())["data"]["observation"]["messages"] == step.delta


def test_what_openenv_itself_can_not_read_ends_that_session_only(url):
    async def go():
        where = url.replace("http", "ws") + "/ws"
        async with connect(where, proxy=None) as broken, connect(where, proxy=None) as other:
            begin = json.dumps({"type": "reset", "data": {"seed": 3, "ticket": TICKET}})
            await other.send(begin)
            await other.recv()
            await broken.send("[1]")
            assert json.loads(await broken.recv())["type"] == "error"
            await other.send('{"type": "step", "data": {"text": "Hello?"}}')
            return json.loads(await other.recv())

    assert asyncio.run(go())["type"] == "observation"


def test_plain_http_answers_with_typed_errors_too(url):
    post = httpx.post(f"{url}/reset", json={"seed": 3, "ticket": "ECS-Biling"})
    assert post.status_code == 400
    assert post.json()["type"] == "OptionError"
    assert "ECS-Biling" in post.json()["detail"]
    early = httpx.post(f"{url}/step", json={"action": {"text": "Hello?"}})
    assert (early.status_code, early.json()["type"]) == (400, "EpisodeNotRunning")
    assert httpx.post(f"{url}/step", json={"action": {"text": 5}}).status_code == 422
    begun = httpx.post(f"{url}/reset", json={"seed": 3, "ticket": TICKET}).json()
    assert begun["observation"]["messages"][1]["role"] == "user"


def test_an_action_after_the_end_is_refused_and_a_reset_goes_on(url):
    with CirrusClient(base_url=url).sync() as env:
        env.reset(seed=1, ticket=TICKET)
        assert env.step(message_of_close("Bye.")).done
        with pytest.raises(RuntimeError, match="ended"):
            env.step("Hello?")
        assert env.reset(seed=1, ticket=TICKET).observation.info["outcome"] == ""


def message_of_close(text):
    function = {"name": "close_ticket", "arguments": {"message": text}}
    calls = [{"id": "c", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def test_what_goes_over_the_wire_before_the_end_holds_no_gold(url):
    """Every frame is looked at as text: names of the cause, of checkpoints, of what is hidden."""

    async def frames(seed):
        _, steps, episode = oracle(seed)
        seen = []
        async with connect(url.replace("http", "ws") + "/ws", proxy=None) as socket:

            async def ask(kind, data=None):
                message = {"type": kind} if data is None else {"type": kind, "data": data}
                await socket.send(json.dumps(message))
                return await socket.recv()

            seen.append(await ask("reset", {"seed": seed, "ticket": TICKET}))
            for message, _ in steps[:-1]:
                sent = CirrusAction.of(message).model_dump(exclude_defaults=True)
                seen += [await ask("step", sent), await ask("state")]
            sent = CirrusAction.of(steps[-1][0]).model_dump(exclude_defaults=True)
            last = await ask("step", sent)
        return seen, last, episode.scenario

    for seed in range(4):
        seen, last, scenario = asyncio.run(frames(seed))
        names = [checkpoint.id for checkpoint in scenario.gold.checkpoints]
        assert names
        for text in seen:
            for name in (*names, scenario.variant, "variant", "metrics", "checkpoint", "gold"):
                assert f'"{name}"' not in text
        assert json.loads(last)["data"]["observation"]["info"]["variant"] == scenario.variant


def test_sessions_beyond_the_limit_are_refused_and_closed_ones_make_room():
    with serving(create_app(max_sessions=2)) as url:
        first, second = (CirrusClient(base_url=url).sync() for _ in range(2))
        first.reset(seed=1)
        second.reset(seed=1)
        third = CirrusClient(base_url=url).sync()
        with pytest.raises(RuntimeError, match="CAPACITY_REACHED"):
            third.reset(seed=1)
        third.close()
        first.close()
        with CirrusClient(base_url=url).sync() as fourth:
            assert fourth.reset(seed=1).observation.messages
        second.close()


def test_a_closed_session_leaves_nothing_behind():
    def alive():
        gc.collect()
        return sum(isinstance(each, TicketEpisode | CirrusEnvironment) for each in gc.get_objects())

    before = alive()
    with serving(create_app()) as url:

        async def go():
            async def one(seed):
                async with CirrusClient(base_url=url) as env:
                    await env.reset(seed=seed)
                    await env.step("Hello?")

            await asyncio.gather(*map(one, range(24)))

        asyncio.run(go())
        deadline = time.monotonic() + 10
        while alive() > before and time.monotonic() < deadline:
            httpx.get(f"{url}/health")  # the server ends sessions in its own time
        assert alive() == before


def test_tasks_are_found_over_http(url):
    get, post = httpx.get, httpx.post
    assert get(f"{url}/list_environments").json() == ["cirrus"]
    assert [each["name"] for each in get(f"{url}/cirrus/splits").json()] == ["train", "test"]
    count = post(f"{url}/cirrus/num_tasks", json={"split": "test"}).json()["num_tasks"]
    tasks = post(f"{url}/cirrus/tasks", json={"split": "test"}).json()["tasks"]
    assert len(tasks) == count == len(Tasks().members("test")) * 20
    assert len({each["id"] for each in tasks}) == count
    one = post(f"{url}/cirrus/task", json={"split": "test", "index": 5}).json()["task"]
    assert one == tasks[5]
    some = post(f"{url}/cirrus/task_range", json={"split": "test", "start": 4, "stop": 7}).json()
    assert some["tasks"] == tasks[4:7]
    for wrong in ({"split": "test", "index": count}, {"split": "no", "index": 0}):
        assert post(f"{url}/cirrus/task", json=wrong).status_code == 400
    with CirrusClient(base_url=url).sync() as env:
        info = env.reset(split="test", index=5).observation.info
    assert (info["ticket"], info["seed"]) == (one["ticket"], one["seed"])


def test_the_schemas_are_published_and_a_client_without_types_plays(url):
    schema = httpx.get(f"{url}/schema").json()
    assert schema["action"]["required"] == ["text"]
    assert "messages" in schema["observation"]["properties"]
    assert "outcome" in schema["state"]["properties"]
    assert httpx.get(f"{url}/metadata").json()["name"] == "cirrus"
    with GenericEnvClient(base_url=url).sync() as env:
        opening = env.reset(split="train", index=0)
        assert opening.observation["messages"][1]["role"] == "user"
        assert env.step({"text": "Hello?"}).observation["messages"]


class Failing(SimulatedCustomer):
    """A model's endpoint that is down."""

    name = "failing"

    def react(self, mind, view):
        raise EndpointError("no answer")


def test_a_failure_of_the_customers_endpoint_is_no_reward_not_zero():
    with (
        serving(create_app(customer=Failing())) as url,
        CirrusClient(base_url=url).sync() as env,
    ):
        env.reset(seed=1)
        result = env.step("Hello?")
        assert (result.reward, result.done) == (None, True)
        assert result.observation.truncated
        assert result.observation.info["outcome"] == "customer_error"
        assert not env.state().valid


class Waiting(SimulatedCustomer):
    """A customer that a model plays: here it answers once another session waits for it, too."""

    name = "waiting"

    def __init__(self, parties):
        self._barrier = asyncio.Barrier(parties)

    async def abegin(self, scenario):
        return self.begin(scenario)

    async def areact(self, mind, view):
        await self._barrier.wait()
        return self.react(mind, view)


def test_sessions_whose_customers_think_do_not_hold_each_other_up():
    async def go(url):
        async def one(seed):
            async with CirrusClient(base_url=url, message_timeout_s=20) as env:
                await env.reset(seed=seed, ticket=TICKET)
                return (await env.step("Which instance is it?")).observation.messages

        return await asyncio.gather(*map(one, range(8)))

    with serving(create_app(customer=Waiting(8))) as url:
        seen = asyncio.run(go(url))
    for seed, messages in enumerate(seen):
        episode = TicketEpisode(bundled(TICKET))
        episode.reset(seed=seed)
        assert messages == episode.step("Which instance is it?").delta


def test_a_parser_of_the_server_reads_raw_model_text():
    text = '<tool_call>\n{"name": "DescribeInstances", "arguments": {}}\n</tool_call>'
    with serving(create_app(parser="hermes")) as url, CirrusClient(base_url=url).sync() as env:
        env.reset(seed=1, ticket=TICKET)
        [message] = env.step(text).observation.messages
        assert (message["role"], message["name"]) == ("tool", "DescribeInstances")


def test_arguments_are_checked_before_anything_is_served():
    with pytest.raises(OptionError, match="parser"):
        create_app(parser="hermess")
    with pytest.raises(OptionError, match="max_turns"):
        create_app(max_turns=0)


def test_reasoning_is_counted_apart_and_not_shown(url):
    episode = TicketEpisode(bundled(TICKET))
    episode.reset(seed=3)
    said = {"role": "assistant", "content": "Which one?", "reasoning_content": "A long thought."}
    core = [episode.step(said), episode.step(message_of_close("Bye."))]
    with CirrusClient(base_url=url).sync() as env:
        env.reset(seed=3, ticket=TICKET)
        assert env.step(said).observation.messages == core[0].delta
        info = env.step(message_of_close("Bye.")).observation.info
    assert info["metrics"]["reasoning_tokens"] == episode.metrics()["reasoning_tokens"] > 0


def test_without_a_server_it_plays_in_process():
    env = CirrusEnvironment(Tasks({"one": ["ECS-Billing"]}, seeds=2))
    assert (env.list_splits(), env.num_tasks("one")) == (["one"], 2)
    assert env.reset(seed=4).info["seed"] == 4
    assert env.step(CirrusAction(text="Hello?")).messages
    env.close()
    assert env.state.ticket == ""


def test_the_module_serves_and_the_example_plays_with_it():
    environ = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(EXAMPLE), "--sessions", "3"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3
    assert "return" in done.stdout


def test_the_speed_over_the_socket_is_told(capsys):
    """One session, one call a step; the server runs in a process of its own."""
    command = [sys.executable, "-m", "cirrus_env.adapters.openenv", "--port", "0"]
    call = {"text": "", "tool_calls": [{"function": {"name": "GetAccountProfile"}}]}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = process.stdout.readline().strip()
            with CirrusClient(base_url=url).sync() as env:
                steps, spent = 0, 0.0
                while steps < 1000:
                    env.reset(seed=3, ticket=TICKET)
                    begun = time.perf_counter()
                    for _ in range(20):
                        env.step(CirrusAction.model_validate(call))
                        steps += 1
                    spent += time.perf_counter() - begun
        finally:
            process.terminate()
    with capsys.disabled():
        print(f"\nOpenEnv over loopback: {steps / spent:.0f} steps/s of one session")
    assert steps / spent > 50
