"""Commands that only look: list, show, lint, judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from cli_calls import call

from cirrus_env.tickets.index import DATA, index

BILLING = "Cirrus/ECS-Billing-v0"


def test_list_shows_every_ticket():
    code, out, err = call("list")
    assert (code, err) == (0, "")
    assert all(row["env_id"] in out for row in index())


def test_list_as_json_is_the_index_without_what_audit_measured():
    rows = call("list", "--json").json
    assert [row["id"] for row in rows] == [row["id"] for row in index()]
    assert not any("constants" in row for row in rows)


def test_list_by_pattern_and_split():
    assert [row["env_id"] for row in call("list", "ECS-Bill*", "--json").json] == [BILLING]
    assert call("list", "--split", "test", "ECS-Billing", "--json").json == []
    assert [row["env_id"] for row in call("list", BILLING, "--json").json] == [BILLING]


@pytest.mark.parametrize("command", ["list", "show", "play", "audit", "lint"])
def test_an_unknown_ticket_suggests_near_ones(command):
    code, out, err = call(command, "ESC-Billing")
    assert (code, out) == (2, "")
    assert err == (
        f"cirrus-env {command}: there is no ticket 'ESC-Billing'; did you mean ECS-Billing?\n"
    )


def test_show_tells_what_a_ticket_is_and_no_gold():
    code, out, err = call("show", "ECS-Billing", "--language", "zh", "--seed", "3")
    assert (code, err) == (0, "")
    assert BILLING in out
    assert "kept-charging (resolve)" in out
    assert "StopInstance" in out
    assert "explain" not in out


def test_show_gold_tells_the_checkpoints():
    code, out, _ = call("show", "ECS-Billing", "--variant", "kept-charging", "--gold")
    assert code == 0
    assert "explain: explanation" in out
    assert "minefield" in out


def test_show_as_json_is_reproducible():
    first = call("show", "ECS-Billing", "--gold", "--json").json
    assert first == call("show", "ECS-Billing", "--gold", "--json").json
    assert first["gold"]["checkpoints"][0]["id"]
    assert "gold" not in call("show", "ECS-Billing", "--json").json
    several = call("show", "ECS-*", "--json").json
    assert several[0]["id"] == BILLING if isinstance(several, list) else several["id"] == BILLING


@pytest.mark.parametrize(
    ("option", "value"), [("--variant", "no-such"), ("--language", "xx"), ("--seed", "-1")]
)
@pytest.mark.parametrize("command", ["show", "play"])
def test_a_wrong_option_is_one_clear_line(command, option, value):
    code, out, err = call(command, "ECS-Billing", option, value)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert value in err


def test_lint_finds_nothing_wrong_with_the_bundled_tickets():
    code, out, err = call("lint")
    assert (out, err) == (f"{len(index())} files, 0 problems\n", "")
    assert code == 0


def test_lint_takes_ids_files_and_folders(tmp_path):
    copy = tmp_path / "deep" / "Copy.toml"
    copy.parent.mkdir()
    copy.write_bytes((DATA / "ecs/Billing.toml").read_bytes())
    for what in ("ECS-Billing", str(copy), str(tmp_path)):
        found = call("lint", what, "--json").json
        assert (len(found["files"]), found["problems"]) == (1, [])


def test_lint_names_file_place_and_mend(tmp_path):
    broken = tmp_path / "Broken.toml"
    text = (DATA / "ecs/Billing.toml").read_text()
    broken.write_text(text.replace('split = "train"', 'split = "trian"'))
    code, out, err = call("lint", str(broken))
    assert (code, err) == (1, "")
    assert f"{broken}: split: " in out
    assert "train" in out
    (problem,) = call("lint", str(broken), "--json").json["problems"]
    assert problem["path"] == "split"
    assert problem["mend"]


def test_lint_finds_an_example_that_is_not_read_as_the_ticket_says(tmp_path):
    text = (Path(__file__).parents[1] / "runner" / "small.toml").read_text()
    wrong = tmp_path / "Wrong.toml"
    wrong.write_text(
        text.replace('"Your bill is correct."', '"It was shut down inside and is still running."')
    )
    code, out, _ = call("lint", str(wrong))
    assert code == 1
    assert "checkpoints.explain.near_misses[1] (halted-in-guest, en)" in out
    assert "passes, and must not (mend the reply or the slot's phrases)" in out


@pytest.mark.parametrize("text", ["", "not toml", "\0", "id = 1\n", "a = [[[[[[\n"])
def test_lint_of_what_is_no_ticket_is_a_finding_not_a_crash(tmp_path, text):
    file = tmp_path / "x.toml"
    file.write_text(text)
    code, out, err = call("lint", str(file))
    assert (code, err) == (1, "")
    assert str(file) in out


def test_a_folder_without_tickets_and_a_missing_file_are_bad_input(tmp_path):
    assert call("lint", str(tmp_path)).code == 2
    code, out, _ = call("lint", str(tmp_path / "missing.toml"))
    assert code == 1
    assert "missing.toml" in out


def test_judge_prints_both_sets_by_kind_and_language():
    code, out, err = call("judge")
    assert err == ""
    assert "dev" in out
    assert "forged verdict" in out
    assert code in (0, 1)


def test_judge_prints_what_it_got_wrong_on_request(monkeypatch):
    from cirrus_env.judging.pairs import agreement, sets

    pair = next(p for p in sets()["dev"] if not agreement([p]).disagreements)
    wrong = replace(pair, accept=not pair.accept, kind="negated")
    right = replace(pair, kind="correct")
    monkeypatch.setattr("cirrus_env.cli.judge.sets", lambda: {"dev": (wrong,), "x": (right,)})
    code, out, _ = call("judge", "--wrong")
    assert code == 1
    assert f"dev {pair.where} negated " in out
    assert "correct" in out


def test_judge_as_json_has_intervals():
    found = call("judge", "--json").json
    overall = found["dev"]["overall"]
    assert 0 <= overall["low"] <= overall["agree"] / overall["of"] <= overall["high"] <= 1


def test_an_unknown_judge_is_bad_input():
    code, _, err = call("judge", "--judge", "rul")
    assert code == 2
    assert "did you mean 'rule'?" in err
