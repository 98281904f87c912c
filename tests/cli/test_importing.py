"""``cirrus-env import``, and the other commands on what it wrote."""

from __future__ import annotations

import json

import gymnasium
import pytest
from cli_calls import call
from gymnasium.envs.registration import registry

import cirrus_env
from cirrus_env.runner.store import read_episodes

USER = {"username": "ann", "name": "Ann Li", "email": "ann@example.com", "session_token": "t-1"}


def conversation(*turns: dict) -> dict:
    return {
        "name": "Demo",
        "user": USER,
        "metadata": {"timestamp": "2026-11-30 08:00:00", "username": "ann"},
        "scenario": "what the user means to do",
        "conversation": [{"index": i, **turn} for i, turn in enumerate(turns)],
    }


ALARM = conversation(
    {"role": "user", "text": "Wake me at seven, please."},
    {
        "role": "assistant",
        "text": "The alarm is set.",
        "apis": [
            {
                "request": {
                    "api_name": "AddAlarm",
                    "parameters": {"session_token": "t-1", "time": "07:00:00"},
                },
                "response": {"alarm_id": "5bff-dd80"},
                "exception": None,
            }
        ],
    },
)
SMALL_TALK = conversation(
    {"role": "user", "text": "Hello there."}, {"role": "assistant", "text": "Hello to you."}
)


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "Alarm-1.json").write_text(json.dumps(ALARM))
    (folder / "Talk-1.json").write_text(json.dumps(SMALL_TALK))
    (folder / "Wrong-1.json").write_text("[1, 2]")
    return folder


def test_a_report_says_what_was_written_and_what_was_dropped(source, tmp_path):
    out = tmp_path / "out"
    code, text, err = call("import", "tooltalk", str(source), "--out", str(out))
    assert (code, err) == (0, "")
    assert "Alarm-1.json: Imported/Alarm-1-v0, 1 checkpoint\n" in text
    assert "Talk-1.json: Imported/Talk-1-v0, unscored\n" in text
    assert "Wrong-1.json: nothing written\n  why: " in text
    assert text.endswith("2 tickets written, 1 of them unscored; 1 conversations failed\n")
    assert sorted(p.name for p in out.iterdir()) == ["Alarm-1.toml", "Talk-1.toml"]


def test_the_report_as_json(source, tmp_path):
    report = call("import", "tooltalk", str(source), "--out", str(tmp_path / "o"), "--json").json
    assert (report["written"], report["unscored"], report["failed"]) == (2, 1, 1)


def test_imported_tickets_run_through_the_other_commands(source, tmp_path):
    out = str(tmp_path / "out")
    call("import", "tooltalk", str(source), "--out", out)
    assert call("lint", out).out == "2 files, 0 problems\n"
    assert call("show", f"{out}/Alarm-1.toml", "--json").json["tools"]
    shown = call("compare", "oracle", "do-nothing", "--tickets", out, "--seeds", "0", "--json").json
    oracle, nothing = shown["agents"]
    assert (oracle["sr"]["mean"], oracle["unscored"]) == (1.0, 1)
    assert nothing["sr"]["mean"] == 0.0
    assert "AddAlarm" in call("play", f"{out}/Alarm-1.toml", typed="/tools\n").out


def test_a_source_without_a_conversation_is_a_failure(tmp_path):
    broken = tmp_path / "x.json"
    broken.write_text("{")
    out = str(tmp_path / "out")
    assert call("import", "tooltalk", str(broken), "--out", out).code == 1
    (tmp_path / "empty").mkdir()
    code, _, err = call("import", "tooltalk", str(tmp_path / "empty"), "--out", out)
    assert code == 2
    assert err.count("\n") == 1


def test_the_help_names_each_format_with_one_line():
    text = call("import", "--help").out
    for name in ("cirrusbench", "openai", "taubench", "tooltalk"):
        assert f"\n    {name} " in text


def test_a_progress_bar_is_shown_on_a_terminal(source, tmp_path):
    shown = call("import", "tooltalk", str(source), "--out", str(tmp_path / "o"), terminal=True)
    assert "conversations" in shown.err


def test_runs_use_the_recorded_customer_unless_another_is_named(source, tmp_path):
    out, kept = str(tmp_path / "out"), tmp_path / "kept"
    call("import", "tooltalk", str(source), "--out", out)
    for extra, customer in (
        ((), "replay"),
        (("--customer", "replay+simulated"), "replay+simulated"),
    ):
        folder = kept / customer
        code, _, err = call(
            "run",
            "--agent",
            "oracle",
            "--tickets",
            out,
            "--seeds",
            "0",
            "--out",
            str(folder),
            *extra,
        )
        assert (code, err) == (0, "")
        episodes = list(read_episodes(folder))
        assert [e["trajectory"]["header"]["customer"] for e in episodes] == [customer] * 2
        assert sorted(e["outcome"] for e in episodes) == ["success", "unscored"]


def test_a_registered_folder_makes_environments(source, tmp_path):
    out = tmp_path / "out"
    call("import", "tooltalk", str(source), "--out", str(out))
    before = dict(registry)
    try:
        assert cirrus_env.register_tickets(out) == ["Imported/Alarm-1-v0", "Imported/Talk-1-v0"]
        env = gymnasium.make("Imported/Alarm-1-v0", customer="replay+simulated")
        _, info = env.reset(seed=3)
        assert info["customer"] == "replay"
        *_, info = env.step("Good morning.")
        assert info["customer"] == "simulated"
    finally:
        registry.clear()
        registry.update(before)


def test_a_run_is_exported_for_cirrusbench(source, tmp_path):
    out, kept, target = str(tmp_path / "out"), str(tmp_path / "kept"), tmp_path / "target"
    call("import", "tooltalk", str(source), "--out", out)
    call("run", "--agent", "oracle", "--tickets", out, "--seeds", "0:2", "--out", kept)
    named = ("--format", "cirrusbench", "--out", str(target))
    code, text, _ = call("export", kept, *named)
    assert code == 1
    assert text.startswith("left out: ")
    code, text, err = call("export", kept, *named, "--tickets", out)
    assert (code, err) == (0, "")
    assert f"2 episodes in {target}, 0 of them failed for outside reasons; 2 left out" in text
    assert len(list(target.glob("results_withtool/oracle/result_*.json"))) == 2
    shown = call("export", kept, *named, "--tickets", out, "--json").json
    assert (shown["written"], len(shown["left_out"])) == (2, 2)
    assert "cirrusbench" in call("export", "--help").out
    assert call("export", kept, "--format", "other", "--out", out).code == 2
    assert call("export", str(tmp_path), *named).code == 2
