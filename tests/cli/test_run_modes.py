"""``cirrus-env run --mode``."""

from __future__ import annotations

from pathlib import Path

from cli_calls import call

RECORDED = str(Path(__file__).parents[1] / "adapters" / "cirrusbench")
SMALL = str(Path(__file__).parents[1] / "runner" / "small.toml")
ONE = ("--tickets", SMALL, "--seeds", "1")


def test_single_turn_prints_strict_and_published_scores(tmp_path):
    out = str(tmp_path / "run")
    code, text, err = call(
        "run", "--mode", "single-turn", "--agent", "oracle", "--agent", "do-nothing", *ONE,
        "--out", out,
    )  # fmt: skip
    assert (code, err) == (0, "")
    rows = [line.split() for line in text.splitlines()]
    assert rows[1][:9] == ["oracle", "strict", *["100.0"] * 7]
    assert rows[2][:8] == ["paper", *["100.0"] * 7]
    assert rows[3][:9] == ["do-nothing", "strict", *["0.0"] * 7]
    assert "2 episodes kept" in text
    again = call("compare", out)
    assert again.out.splitlines()[:5] == text.splitlines()[:5]


def test_single_turn_as_json(tmp_path):
    data = call(
        "run", "--mode", "single-turn", "--agent", "oracle", *ONE, "--json",
        "--out", str(tmp_path / "run"),
    ).json  # fmt: skip
    assert data["mode"] == "single-turn"
    (agent,) = data["agents"]
    assert agent["scores"]["TEV"] == {"value": 1.0, "n": 3}
    assert agent["scores"]["TEV_paper"]["value"] == 1.0
    assert (agent["turns"], agent["scenes"], agent["invalid"]) == (4, 1, 0)


def test_single_turn_tells_of_invalid_scenes(tmp_path, monkeypatch):
    path = tmp_path / "agent_of_the_mode_tests.py"
    path.write_text(
        "class Broken:\n"
        "    name = 'broken'\n"
        "    def reset(self, seed): pass\n"
        "    def act(self, observation): raise RuntimeError('sk-canary-1')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    code, text, err = call(
        "run", "--mode", "single-turn", "--agent", f"{path}:Broken", *ONE,
        "--out", str(tmp_path / "run"),
    )  # fmt: skip
    assert code == 1
    assert text.splitlines()[2].split() == ["floor", *["0.0"] * 7, "-", "-"]
    assert "agent_error" in err
    assert "canary" not in text + err


def test_solo_says_what_it_is_and_what_it_leaves_out(tmp_path):
    arguments = (
        "run", "--mode", "solo", "--agent", "oracle", "--tickets", "ECS-Locked", "--seeds", "1",
        "--every-variant",
    )  # fmt: skip
    code, text, err = call(*arguments, "--out", str(tmp_path / "run"))
    assert (code, err) == (0, "")
    lines = text.splitlines()
    assert lines[0].startswith("Mode solo: ")
    assert "solo %" in lines[1]
    assert "SR" not in text
    assert lines[-1].endswith("can't be solved without the customer and are left out")
    data = call(*arguments, "--json", "--out", str(tmp_path / "json")).json
    assert data["mode"] == "solo"
    assert ["oracle", "Cirrus/ECS-Locked-v0", 1, "financial-lock", ""] in data["left_out"]


def test_stored_runs_of_two_modes_are_not_compared(tmp_path):
    for mode, agent in (("normal", "do-nothing"), ("oracle-plan", "oracle")):
        assert call(
            "run", "--mode", mode, "--agent", agent, *ONE, "--out", str(tmp_path / mode)
        ).code == 0  # fmt: skip
    folders = (str(tmp_path / "normal"), str(tmp_path / "oracle-plan"))
    code, _, err = call("compare", *folders)
    assert code != 0
    assert "never mixed" in err
    assert call("compare", "--force", *folders).out.startswith("Mode mixed: ")


def test_recorded_dialogues_are_turns_too(tmp_path):
    tickets = str(tmp_path / "tickets")
    assert call("import", "cirrusbench", RECORDED, "--out", tickets).code == 0
    data = call(
        "run", "--mode", "single-turn", "--agent", "oracle", "--agent", "do-nothing", "--tickets",
        tickets, "--seeds", "0", "--json", "--out", str(tmp_path / "run"),
    ).json  # fmt: skip
    oracle, nothing = data["agents"]
    assert oracle["turns"] == nothing["turns"] > 0
    for name in ("RR", "TIA", "TSA", "TEV", "SR@1", "TPR"):
        assert oracle["scores"][name]["value"] == 1.0
        assert nothing["scores"][name]["value"] == 0.0
