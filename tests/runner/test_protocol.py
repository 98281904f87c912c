"""Official protocols."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cirrus_env.cli.main import main
from cirrus_env.envs.registration import pools
from cirrus_env.errors import ComparisonError, OptionError
from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.compare import common_protocol
from cirrus_env.runner.protocol import PROTOCOLS, protocol
from cirrus_env.runner.store import read_manifest
from cirrus_env.runner.stored import StoredRun


def test_cirrus_1_plays_the_test_tickets_in_every_language_with_twenty_seeds():
    fixed = protocol("cirrus-1")
    assert sorted(fixed.tickets) == pools()["Cirrus/Test-v0"]
    jobs = fixed.jobs([find_agent("oracle")])
    assert {job.seed for job in jobs} == set(range(20))
    assert {(job.ticket.id, job.language) for job in jobs} == {
        ("Billing-Coupon", "en"), ("Billing-Refund", "en"), ("Billing-Refund", "zh"),
        ("ECS-Port25", "en"), ("ECS-Port25", "zh"), ("VPC-Nat", "en"), ("VPC-Nat", "zh"),
    }  # fmt: skip
    assert len(jobs) == 140


def test_the_digest_covers_all_that_a_protocol_fixes():
    fixed = protocol("cirrus-1")
    others = [
        replace(fixed, seeds=(0,)),
        replace(fixed, tickets=fixed.tickets[:2]),
        replace(fixed, name="cirrus-2"),
        replace(fixed, settings={**fixed.settings, "max_turns": 31}),
    ]
    digests = {p.digest for p in (fixed, *others)}
    assert len(digests) == 5
    assert protocol("cirrus-1").digest == fixed.digest


def test_there_is_no_other_protocol():
    with pytest.raises(OptionError, match="there is cirrus-1"):
        protocol("cirrus-9")


def test_runs_of_different_protocols_are_not_compared():
    official = PROTOCOLS["cirrus-1"].to_json()
    assert common_protocol([{"protocol": official}] * 2) == official
    assert common_protocol([{}, {}]) is None
    assert common_protocol([]) is None
    with pytest.raises(ComparisonError, match=r"cirrus-1 .*, none"):
        common_protocol([{"protocol": official}, {}])
    assert common_protocol([{"protocol": official}, {}], force=True) is None


def test_a_run_and_its_comparison_carry_name_and_digest(tmp_path, capsys):
    official = protocol("cirrus-1").to_json()
    out = str(tmp_path / "run")
    assert main(["run", "--agent", "do-nothing", "--protocol", "cirrus-1", "--out", out]) == 0
    assert read_manifest(tmp_path / "run")["protocol"] == official
    capsys.readouterr()
    assert main(["compare", out]) == 0
    assert f"Protocol cirrus-1 ({official['digest'][:12]})." in capsys.readouterr().out
    assert main(["compare", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["protocol"] == official


def test_a_comparison_by_protocol_carries_them_too(capsys):
    assert main(["compare", "instant-close", "--protocol", "cirrus-1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["protocol"] == protocol("cirrus-1").to_json()
    assert found["agents"][0]["episodes"] == 140


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "oracle", "--seeds", "0:3"],
        ["compare", "oracle", "--split", "train"],
        ["run", "--agent", "oracle", "--out", "x", "--customer", "replay"],
        ["run", "--agent", "oracle", "--out", "x", "--faults", "mild"],
    ],
)
def test_what_a_protocol_fixes_is_not_chosen(arguments, capsys):
    assert main([*arguments, "--protocol", "cirrus-1"]) == 2
    assert f"a protocol fixes {arguments[-2]}: leave it out" in capsys.readouterr().err


def test_stored_runs_follow_their_own_protocol(tmp_path, capsys):
    out = str(tmp_path / "run")
    run = ["run", "--agent", "do-nothing", "--tickets", "ECS-Billing", "--seeds", "0", "--out", out]
    assert main(run) == 0
    assert main(["compare", out, "--protocol", "cirrus-1"]) == 2
    assert "stored runs say themselves" in capsys.readouterr().err


def test_faults_are_an_option_of_a_run(tmp_path, capsys):
    run = ["run", "--agent", "oracle", "--tickets", "ECS-Billing", "--seeds", "0:2"]
    assert main([*run, "--faults", "mild", "--out", str(tmp_path / "a")]) == 0
    assert read_manifest(tmp_path / "a")["settings"]["faults"] == "mild"
    rates = json.dumps({"throttling": 0.1})
    assert main([*run, "--faults", rates, "--out", str(tmp_path / "b")]) == 0
    assert read_manifest(tmp_path / "b")["settings"]["faults"] == {"throttling": 0.1}
    for wrong in ("fuzzy", '{"throttling": 2}', "{", "[1]"):
        assert main([*run, "--faults", wrong, "--out", str(tmp_path / "c")]) == 2
    assert not (tmp_path / "c").exists()


def test_distractions_and_scrambled_names_are_options_of_a_run(tmp_path, capsys):
    run = ["run", "--agent", "oracle", "--tickets", "ECS-Billing", "--seeds", "0:2"]
    folder = tmp_path / "a"
    assert main([*run, "--distractions", "10", "--scramble", "0", "--out", str(folder)]) == 0
    settings = read_manifest(folder)["settings"]
    assert (settings["distractions"], settings["scramble"]) == (10, 0)
    assert main(["rescore", str(folder)]) == 0
    assert main([*run, "--distractions", "all", "--out", str(tmp_path / "b")]) == 0
    assert read_manifest(tmp_path / "b")["settings"]["distractions"] == "all"
    assert main([*run, "--out", str(tmp_path / "c")]) == 0
    returns = {
        tuple(stored.row.return_micro for stored in StoredRun(tmp_path / name)) for name in "abc"
    }
    assert len(returns) == 1
    for wrong in ("some", "-1", "1.5"):
        assert main([*run, "--distractions", wrong, "--out", str(tmp_path / "d")]) == 2
        assert "a number of tools or all" in capsys.readouterr().err
