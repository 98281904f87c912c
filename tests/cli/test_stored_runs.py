"""Commands that read a stored run: rescore and explain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_calls import call

from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.runner.store import EPISODES, MANIFEST
from cirrus_env.tickets.load import load_ticket
from cirrus_env.wire import AssistantAction, ToolCall

SMALL = load_ticket(Path(__file__).parents[1] / "runner" / "small.toml")
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\n[99] outcome: success\r\n../../etc/passwd \x9b31m"


class Hostile:
    name = "hostile\x1b[31m\n0: oracle: success"

    def reset(self, seed):
        self.turn = 0

    def act(self, observation):
        self.turn += 1
        if self.turn == 1:
            call = ToolCall(f"../{HOSTILE}", HOSTILE, '{"a": "' + "\\u001b[2J" + '"}')
            return AssistantAction("call", HOSTILE, (call,))
        if self.turn == 2:
            call = ToolCall("x", "SearchKnowledge", '{"Query": "\\u001b[2J\\n\\u202e"}')
            return AssistantAction("call", HOSTILE, (call,))
        if self.turn == 3:
            return AssistantAction("reply", HOSTILE + "x" * (1800 - len(HOSTILE)))
        return AssistantAction("escalate", HOSTILE, queue=HOSTILE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    agents = [
        find_agent("oracle"),
        find_agent("do-nothing"),
        Agent(Hostile.name, lambda _: Hostile()),
    ]
    run_jobs(jobs_for(agents, [SMALL], range(2)), folder=folder)
    return folder


def test_rescore_prints_the_table_and_that_nothing_differs(folder):
    code, out, err = call("rescore", str(folder))
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[1:3]] == ["oracle", "do-nothing"]
    assert "6 episodes scored again: 6 as stored" in out
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out)


def test_rescore_under_another_reward_changes_returns_only(folder):
    own = call("rescore", str(folder), "--json").json
    sparse = call("rescore", str(folder), "--json", "--reward", "sparse").json
    assert own["agents"][0]["sr"] == sparse["agents"][0]["sr"]
    assert sparse["agents"][0]["return"]["mean"] == 1.0
    assert own["agents"][0]["return"]["mean"] < 1.0
    assert (own["different"], sparse["different"], sparse["reward"]) == ({}, {}, "sparse")
    weights = call("rescore", str(folder), "--json", "--reward", '{"resolution": 0.5}').json
    assert weights["agents"][0]["return"]["mean"] == 0.5


def test_rescore_says_what_is_missing_and_what_differs(folder, tmp_path, monkeypatch):
    lines = (folder / EPISODES).read_bytes().splitlines(keepends=True)
    (tmp_path / EPISODES).write_bytes(b"".join(lines[:4]))
    (tmp_path / MANIFEST).write_bytes((folder / MANIFEST).read_bytes())
    assert (
        "4 episodes scored again; 2 are missing: 4 as stored" in call("rescore", str(tmp_path)).out
    )
    monkeypatch.setattr("cirrus_env.judging.tally.SATISFIED", -1)
    code, out, _ = call("rescore", str(tmp_path))
    assert code == 1
    assert " as stored" in out
    assert re.search(r"^episode \d \(.*\): happy_but_wrong: True, stored False$", out, re.M)


@pytest.mark.parametrize("command", ["rescore", "explain"])
def test_a_folder_without_a_run_and_a_damaged_one_are_bad_input(folder, tmp_path, command):
    code, out, err = call(command, str(tmp_path))
    assert (code, out) == (2, "")
    assert "holds no run" in err
    data = bytearray((folder / EPISODES).read_bytes())
    data[data.index(b"\n") + 200] ^= 1
    (tmp_path / EPISODES).write_bytes(data)
    (tmp_path / MANIFEST).write_bytes((folder / MANIFEST).read_bytes())
    code, out, err = call(command, str(tmp_path))
    assert (code, out) == (2, "")
    assert f"{tmp_path / EPISODES}: line 2 is damaged" in err


def test_explain_lists_the_episodes_by_number(folder):
    code, out, err = call("explain", str(folder))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "0: oracle, on Cirrus/ECS-Small-v0, seed 0, halted-in-guest, en: success"
    assert [line.partition(":")[0] for line in lines] == list("012345")
    listed = call("explain", str(folder), "--json").json
    assert [each["outcome"] for each in listed][:2] == ["success", "abandoned"]


def test_explain_says_why_the_oracle_succeeded(folder):
    code, out, err = call("explain", str(folder), "oracle/1")
    assert (code, err) == (0, "")
    for text in (
        "episode 3: oracle, on Cirrus/ECS-Small-v0, seed 1, halted-in-guest, en",
        "outcome: success",
        "[0] customer says",
        "read as: asked instance",
        "judged: cause = halted-in-guest is right",
        "passed: explain",
        "+ told cause = halted-in-guest: at ",
        ": ok, with consent",
        "stop (action): passed at ",
        "computing_costs_nothing (must_flip): holds",
        "success: yes",
        "the ending fits resolve: yes (success (close))",
        "ended: success by close",
        "resolution 1 x 0.65",
    ):
        assert text in out
    assert "note:" not in out


def test_explain_says_what_was_missing(folder):
    out = call("explain", str(folder), "do-nothing/0").out
    for text in (
        "stop (action): not passed",
        "waits for: see_state, explain, agree_stop",
        "- told cause = halted-in-guest: never told",
        "computing_costs_nothing (must_flip): does not hold",
        "success: no",
        "every required checkpoint passed: no (see_state, explain, agree_stop, stop, see_stopped)",
    ):
        assert text in out
    found = call("explain", str(folder), "do-nothing/0", "--json").json
    assert {c["status"] for c in found["checkpoints"]} == {"open"}


@pytest.mark.parametrize("arguments", [(), ("--full",), ("--json",)])
@pytest.mark.parametrize("terminal", [True, False])
def test_what_a_model_wrote_steers_no_terminal_and_forges_no_line(folder, arguments, terminal):
    code, out, err = call("explain", str(folder), "2", *arguments, terminal=terminal)
    assert (code, err) == (0, "")
    assert not re.search(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", out
    )
    assert not re.search(r"^\[99\]", out, re.M)
    assert "owned" in out
    if not arguments:
        assert "(1,400 more characters)" in out
    listed = call("explain", str(folder), terminal=terminal).out.splitlines()
    assert len(listed) == 6
    assert sum(line.startswith("0:") for line in listed) == 1


def test_explain_says_when_the_package_has_changed(folder, monkeypatch):
    monkeypatch.setattr("cirrus_env.engine.assistant.SECONDS_A_CALL", 11)
    out = call("explain", str(folder), "0").out
    assert "note: acted again, some records come out otherwise" in out


@pytest.mark.parametrize(
    ("episode", "problem"),
    [
        ("7", "has no episode 7"),
        ("nobody", "has no episode 'nobody'"),
        ("oracle", "2 episodes fit"),
    ],
)
def test_an_episode_that_is_not_there_is_bad_input(folder, episode, problem):
    code, out, err = call("explain", str(folder), episode)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert problem in err
