"""Commands that play agents: run, compare, audit."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_calls import call

from cirrus_env.cli.main import main
from cirrus_env.errors import StoreFull
from cirrus_env.runner.store import RunStore, read_episodes, read_manifest

SMALL = str(Path(__file__).parents[1] / "runner" / "small.toml")
ONE = ("--tickets", "ECS-Billing")


@pytest.fixture
def agent_file(tmp_path, monkeypatch):
    path = tmp_path / "agent_of_the_cli_tests.py"
    path.write_text(
        "class Fine:\n"
        "    name = 'fine\\x1b[31m'\n"
        "    def reset(self, seed): pass\n"
        "    def act(self, observation): return 'Hello \\x1b[2J there.'\n"
        "class Broken(Fine):\n"
        "    name = 'broken'\n"
        "    def act(self, observation): raise RuntimeError('sk-canary-1')\n"
    )
    monkeypatch.setattr(sys, "path", sys.path.copy())
    yield path
    sys.modules.pop(path.stem, None)


def test_compare_prints_one_row_an_agent():
    code, out, err = call("compare", *ONE, "--seeds", "0:2")
    assert (code, err) == (0, "")
    names = [line.split()[0] for line in out.splitlines()[1:5]]
    assert names == ["oracle", "keyword", "random", "do-nothing"]
    assert "\x1b" not in out


def test_compare_as_json_has_rates_intervals_and_digests():
    data = call("compare", "oracle", "parrot", *ONE, "--seeds", "1,3", "--json").json
    assert [agent["agent"] for agent in data["agents"]] == ["oracle", "parrot"]
    assert data["seeds"] == [1, 3]
    assert list(data["tickets"]) == ["Cirrus/ECS-Billing-v0"]
    oracle, parrot = data["agents"]
    assert oracle["sr"]["mean"] == 1.0
    assert parrot["sr"]["mean"] == 0.0
    assert parrot["sr_against_first"]["difference"]["mean"] == -1.0


def test_compare_shows_no_bar_when_piped_and_a_bar_to_a_person():
    piped = call("compare", "do-nothing", *ONE, "--seeds", "0")
    seen = call("compare", "do-nothing", *ONE, "--seeds", "0", terminal=True)
    assert piped.err == ""
    assert "episodes" in seen.err
    assert seen.code == 0


def test_the_default_comparison_takes_less_than_half_a_minute():
    start = time.process_time()
    assert call("compare").code == 0
    assert time.process_time() - start < 30


def test_compare_refuses_a_broken_agent_unless_forced(agent_file):
    spec = f"{agent_file}:Broken"
    code, out, err = call("compare", "oracle", spec, *ONE, "--seeds", "0")
    assert (code, out) == (2, "")
    assert "RuntimeError at agent_of_the_cli_tests.py:" in err
    assert "sk-canary-1" not in err
    code, out, _ = call("compare", "oracle", spec, *ONE, "--seeds", "0", "--force")
    assert code == 0
    assert "broken" in out


def test_an_outside_agents_words_and_name_cannot_steer_the_terminal(agent_file):
    code, out, _ = call("compare", f"{agent_file}:Fine", *ONE, "--seeds", "0")
    assert code == 0
    assert "fine[31m" in out
    assert "\x1b" not in out


def test_run_keeps_every_episode_and_resumes(tmp_path):
    out = str(tmp_path / "run")
    arguments = ("run", "--agent", "do-nothing", *ONE, "--seeds", "0:3", "--out", out)
    code, text, err = call(*arguments)
    assert (code, err) == (0, "")
    assert f"3 episodes kept in {out}" in text
    assert len(list(read_episodes(tmp_path / "run"))) == 3
    assert call(*arguments).code == 2
    assert "already holds a run" in call(*arguments).err
    again = call(*arguments, "--resume", "--json")
    assert again.code == 0
    assert again.json["agents"][0]["episodes"] == 3
    assert len(list(read_episodes(tmp_path / "run"))) == 3


def test_run_reports_invalid_episodes_and_exits_1(tmp_path, agent_file):
    out = tmp_path / "run"
    code, text, err = call(
        "run", "--agent", f"{agent_file}:Broken", *ONE, "--seeds", "0:2", "--out", str(out)
    )
    assert code == 1
    assert "2 of 2 episodes are invalid" in err
    assert "--resume tries them again" in err
    assert "sk-canary-1" not in text + err + (out / "episodes.jsonl").read_text()


def test_run_takes_settings_variants_and_languages(tmp_path):
    code, _, err = call(
        "run", "--agent", "do-nothing", *ONE, "--seeds", "0", "--every-variant", "--language", "zh",
        "--reward", "sparse", "--workers", "2", "--out", str(tmp_path / "run"),
    )  # fmt: skip
    assert (code, err) == (0, "")
    manifest = read_manifest(tmp_path / "run")
    assert manifest["settings"] == {"reward": "sparse"}
    assert {key[4] for key in manifest["jobs"]} == {"zh"}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--seeds", "5:5"), "is empty"),
        (("--seeds", "x"), "is no seed"),
        (("--seeds", "0:9999999999"), "at most 1,000,000 seeds"),
        (("--seeds", "1" * 5000), "is no seed"),
        (("--seeds", "-1"), "is no seed"),
        (("--tickets", "Nothing"), "there is no ticket"),
        (("--tickets", "ECS-Billing", "--split", "test"), "is in the split"),
        (("--workers", "0"), "0 is not in the range"),
        (("--split", "both"), "'train', 'test'"),
    ],
)
@pytest.mark.parametrize("command", ["run", "compare"])
def test_bad_input_is_one_clear_line(command, arguments, problem, tmp_path):
    more = (
        ("--agent", "oracle", "--out", str(tmp_path / "run")) if command == "run" else ("oracle",)
    )
    code, out, err = call(command, *more, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert problem in err


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--agent", "orcale", "did you mean"),
        ("--customer", "simulatd", "simulated"),
        ("--reward", "spares", "'sparse'"),
        ("--out", "/dev/null/run", "/dev/null/run"),
    ],
)
def test_what_a_run_cannot_use_is_bad_input_and_nothing_is_stored(option, value, problem, tmp_path):
    given = {"--agent": "do-nothing", "--tickets": "ECS-Billing", "--out": str(tmp_path / "run")}
    given[option] = value
    code, out, err = call("run", *(text for pair in given.items() for text in pair))
    assert (code, out) == (2, "")
    assert problem in err
    assert not (tmp_path / "run").exists()


AUDIT = ("audit", SMALL, "--seeds", "0")


def test_audit_proves_a_ticket():
    code, out, err = call(*AUDIT)
    assert (out.splitlines()[-1], err) == ("1 scenarios: all proved", "")
    assert out.splitlines()[1].split()[:2] == ["Cirrus/ECS-Small-v0", "halted-in-guest"]
    assert code == 0


def test_audit_of_an_outside_agent_that_does_not_succeed(agent_file):
    report = call(*AUDIT, "--json", "--agents", f"{agent_file}:Fine").json
    assert "outside agents" in report["checks"]
    assert report["passed"]


def test_audit_finds_an_agent_that_succeeds_or_breaks(agent_file):
    code, out, _ = call(*AUDIT, "--agents", "oracle", "--agents", f"{agent_file}:Broken")
    assert code == 1
    where = "Cirrus/ECS-Small-v0 halted-in-guest en seed 0"
    assert f"outside agents: {where}: oracle succeeds" in out
    assert f"outside agents: {where}: broken ends with agent_error (RuntimeError at" in out
    assert "2 wrong" in out


def test_audit_of_no_scenario_proves_nothing():
    code, out, _ = call(*AUDIT, "--language", "xx")
    assert (code, out.splitlines()[-1]) == (1, "0 scenarios: 0 findings")


def test_audit_write_stores_what_it_measured(monkeypatch):
    stored = []
    monkeypatch.setattr("cirrus_env.cli.audit.write_index", stored.append)
    monkeypatch.setattr("cirrus_env.cli.audit.measured", lambda ticket: {"of": ticket.id})
    call("audit", "ECS-Billing", SMALL, "--seeds", "0", "--language", "xx", "--write")
    assert stored == [{"ECS-Billing": {"of": "ECS-Billing"}}]


def test_import_refuses_an_unknown_format_and_a_missing_source(tmp_path):
    code, _, err = call("import", "tooltalkk", str(tmp_path), "--out", str(tmp_path / "o"))
    assert code == 2
    assert "tooltalk" in err
    code, _, err = call("import", "tooltalk", str(tmp_path / "no"), "--out", str(tmp_path / "o"))
    assert code == 2
    assert "does not exist" in err


def test_the_program_prints_json_that_another_program_reads(capsys):
    assert main(["compare", "do-nothing", *ONE, "--seeds", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["agents"][0]["agent"] == "do-nothing"


def test_the_readmes_agent_runs_beside_the_embedded_ones(tmp_path, monkeypatch):
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    (code,) = [
        part.split("```")[0] for part in readme.split("```python\n") if "class LooksFirst" in part
    ]
    (tmp_path / "my_agent.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    result = call("compare", "oracle", "my_agent.py:LooksFirst", *ONE, "--seeds", "0", "--json")
    sys.modules.pop("my_agent", None)
    assert result.code == 0, result.err
    assert [agent["agent"] for agent in result.json["agents"]] == ["oracle", "looks-first"]
    assert result.json["agents"][1]["invalid"] == 0


def test_run_in_processes_gives_what_one_process_gives(tmp_path, agent_file):
    arguments = ("run", "--agent", f"{agent_file}:Fine", *ONE, "--seeds", "0:3", "--json")
    one = call(*arguments, "--out", str(tmp_path / "one"))
    two = call(*arguments, "--out", str(tmp_path / "two"), "--jobs", "2")
    assert (one.code, two.code, two.err) == (0, 0, "")
    assert {**one.json, "folder": ""} == {**two.json, "folder": ""}
    lines = [
        sorted((tmp_path / n / "episodes.jsonl").read_bytes().splitlines()) for n in ("one", "two")
    ]
    assert lines[0] == lines[1]


@pytest.mark.parametrize("how", [(), ("--jobs", "2")])
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path, how):
    path = tmp_path / "agent_that_tells.py"
    path.write_text(
        "import sys\n"
        "class Tells:\n"
        "    name = 'tells'\n"
        "    def reset(self, seed): print('reset', file=sys.stderr, flush=True)\n"
        "    def act(self, observation): return 'Thank you.'\n"
    )
    out = tmp_path / "run"
    command = [
        sys.executable, "-m", "cirrus_env", "run", "--agent", f"{path}:Tells", "--tickets", SMALL,
        "--seeds", "0:2000", "--out", str(out), *how,
    ]  # fmt: skip
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell starts its background jobs with Ctrl-C ignored, and children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    for _ in range(6):
        assert process.stderr.readline() == "reset\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of the run
    text, err = process.communicate(timeout=60)
    told = [line for line in err.splitlines() if line != "reset"]
    kept = len(list(read_episodes(out)))
    assert (process.returncode, text) == (1, "")
    assert 3 <= kept < 2000
    assert told == [
        f"cirrus-env run: interrupted; {kept} of 2000 episodes are kept in {out}: "
        "the same command with --resume goes on"
    ]


def test_what_an_agent_prints_is_no_result(tmp_path):
    path = tmp_path / "agent_that_prints.py"
    path.write_text(
        "class Prints:\n"
        "    name = 'prints'\n"
        "    def reset(self, seed): print('noise')\n"
        "    def act(self, observation): return 'Thank you.'\n"
    )
    arguments = ("--tickets", SMALL, "--seeds", "0", "--out", str(tmp_path / "run"), "--json")
    called = call("run", "--agent", f"{path}:Prints", *arguments)
    assert called.json["agents"][0]["agent"] == "prints"
    assert called.err == "noise\n"


@pytest.mark.parametrize(
    ("reward", "problem"),
    [("{", "not JSON"), ('{"resolutoin": 1}', "did you mean"), ('{"gamma": 2}', "[0, 1]")],
)
def test_a_reward_is_a_name_or_weights(tmp_path, reward, problem):
    arguments = ("run", "--agent", "do-nothing", "--tickets", SMALL, "--seeds", "0")
    code, _, err = call(*arguments, "--out", str(tmp_path / "x"), "--reward", reward)
    assert code == 2
    assert problem in err
    out = str(tmp_path / "run")
    assert call(*arguments, "--out", out, "--reward", '{"preset": "sparse", "nei": 1}').code == 0
    manifest = read_manifest(tmp_path / "run")
    assert manifest["reward"]["weights"] == {"resolution": 1, "nei": 1}


def test_a_full_disk_at_the_start_is_bad_input_and_later_says_what_is_kept(tmp_path, monkeypatch):
    def full(self, episodes):
        raise StoreFull("no room; what was there is kept")

    arguments = ("run", "--agent", "do-nothing", "--tickets", SMALL, "--seeds", "0:3")
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(RunStore, "extend", full)
        first = call(*arguments, "--out", str(out))
    assert (first.code, first.err) == (2, "cirrus-env run: no room; what was there is kept\n")
    assert call(*arguments, "--out", str(out), "--resume").code == 0


def test_an_agents_name_never_leaves_the_folder_and_never_steers_the_terminal(tmp_path):
    path = tmp_path / "hostile_agent.py"
    path.write_text(
        "class Hostile:\n"
        "    name = '../../\\x1b]0;owned\\x07\\x1b[2J\\nSR 100.0'\n"
        "    def reset(self, seed): self.turn = 0\n"
        "    def act(self, observation):\n"
        "        self.turn += 1\n"
        "        call = {'name': '../\\x1b[31m', 'arguments': '{\"\\x1b[2J\": \"/etc/passwd\"}'}\n"
        "        calls = [{'id': '../../x', 'type': 'function', 'function': call}]\n"
        "        text = '../../escape \\x1b[2J\\u202e\\nseed'\n"
        "        return {'role': 'assistant', 'content': text,\n"
        "                'tool_calls': calls if self.turn % 2 else []}\n"
    )
    out = tmp_path / "deep" / "run"
    before = sorted(tmp_path.rglob("*"))
    arguments = ("run", "--agent", f"{path}:Hostile", "--tickets", SMALL, "--seeds", "0:2")
    code, text, err = call(*arguments, "--out", str(out), terminal=True)
    assert code == 0
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text + err)  # what rich itself writes
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", said)
    assert "]0;owned" in text
    assert "\nSR 100.0" not in said
    new = sorted(p for p in tmp_path.rglob("*") if p not in before and "__pycache__" not in p.parts)
    names = ["episodes.jsonl", "lock", "manifest.json"]
    assert new == [out.parent, out, *(out / name for name in names)]


def test_stored_runs_are_compared_without_playing(tmp_path):
    for agent in ("do-nothing", "instant-close"):
        played = call(
            "run", "--agent", agent, "--tickets", "ECS-Renewal", "--seeds", "0:2",
            "--out", str(tmp_path / agent),
        )  # fmt: skip
        assert played.code == 0
    folders = [str(tmp_path / "do-nothing"), str(tmp_path / "instant-close")]
    told = call("compare", *folders, "--by", "ending", "--json")
    assert told.code == 0
    data = json.loads(told.out)
    assert [agent["agent"] for agent in data["agents"]] == ["do-nothing", "instant-close"]
    assert data["breakdown"]
    mixed = call("compare", folders[0], "oracle")
    assert mixed.code == 2
    assert "not both" in mixed.err
    unknown = call("compare", "--by", "colour", "--seeds", "0", "--tickets", "ECS-Renewal")
    assert unknown.code == 2
    assert "service, ending" in unknown.err


def test_an_interrupt_while_an_agent_acts_is_nobodys_failure(tmp_path):
    path = tmp_path / "agent_that_is_interrupted.py"
    path.write_text(
        "class Interrupted:\n"
        "    name = 'interrupted'\n"
        "    def reset(self, seed): self.seed = seed\n"
        "    def act(self, observation):\n"
        "        if self.seed == 2: raise KeyboardInterrupt\n"
        "        return 'Thank you.'\n"
    )
    out = tmp_path / "run"
    arguments = ("--tickets", SMALL, "--seeds", "0:5", "--out", str(out))
    code, text, err = call("run", "--agent", f"{path}:Interrupted", *arguments)
    assert (code, text) == (1, "")
    assert f"interrupted; 2 of 5 episodes are kept in {out}" in err
    assert len(list(read_episodes(out))) == 2
