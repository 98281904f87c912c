"""Runs in the layout that CirrusBench's published analysis code reads."""

import json
from fractions import Fraction

import pytest
from adapter_cases import call, close, entries, episode
from test_openai_chat import EMPTY, ORDER, WORDS

from cirrus_env.adapters.cirrusbench import import_cirrusbench
from cirrus_env.adapters.cirrusbench_export import export_cirrusbench
from cirrus_env.adapters.openai_chat import import_openai
from cirrus_env.adapters.transcripts import said
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions
from cirrus_env.errors import StoreError
from cirrus_env.judging.paper import nei_paper, tpr_paper
from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.runner.turn_scores import turn_scores
from cirrus_env.tickets.load import bundled, load_ticket

NAMES = ("ECS-Billing", "ECS-Renewal")


class Script:
    """Plays fixed actions."""

    def __init__(self, *actions):
        self.name = "a/b:C"
        self._actions = actions

    def reset(self, seed):
        self._left = list(self._actions)

    def act(self, observation):
        return self._left.pop(0)


def broken(_):
    raise RuntimeError("no model")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    odd = call("DescribeInstances", Odd=True)
    odd["tool_calls"].append({"id": "d", "function": {"name": "StopInstance", "arguments": "{x"}})
    agents = [
        *map(find_agent, ("oracle", "jump-oracle", "do-nothing")),
        Agent("a/b:C", lambda _: Script(odd, "", close())),
        Agent("a/b?C", broken),
    ]
    tickets = [bundled(name) for name in NAMES]
    run_jobs(jobs_for(agents, tickets, (3,)), settings={}, folder=folder)
    return folder


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("exported")
    report = export_cirrusbench(run, out)
    assert report.left_out == []
    return out, report


def results(out, kind="withtool"):
    """Agent's folder -> its results."""
    found = {}
    for path in sorted(out.glob(f"results_{kind}/*/*.json")):
        found.setdefault(path.parent.name, []).append(json.loads(path.read_text()))
    return found


def published(result):
    """What the published analysis computes of a file, in our own words."""
    subtasks, count = result["subtasks"], len(result["task"]["seperate_indices"])
    final = [subtasks[i]["score"] if i < len(subtasks) else -1 for i in range(count)]
    first = [
        subtasks[i]["simulation"][0]["score"] if i < len(subtasks) else -1 for i in range(count)
    ]
    prefix = next((i for i, score in enumerate(final) if score != 1), count)
    passed = final.count(1)
    return {
        "pass1": all(score == 1 for score in first),
        "pass2": final[-1] == 1,
        "rate": Fraction(prefix, count),
        "nei": Fraction(passed) if passed < 2 else Fraction(result["skip"], passed - 1),
    }


def test_every_episode_is_one_file_of_its_agent(exported):
    out, report = exported
    facts = report.to_json()
    assert (facts["written"], facts["invalid"]) == (10, 2)
    folders = list(results(out)) + list(results(out, "notool"))
    assert len(set(folders)) == 5
    assert {"oracle", "jump-oracle", "do-nothing"} < set(folders)
    assert all(len(files) == 1 for files in results(out).values())


def test_the_layout_has_what_the_analysis_reads(exported):
    out, _ = exported
    for kind in ("withtool", "notool"):
        for files in results(out, kind).values():
            for result in files:
                task = result["task"]
                assert {"id", "messages", "product_name"} < task.keys()
                assert len(result["subtasks"]) == len(task["seperate_indices"])
                assert task["seperate_indices"] == task["seperate_indices_by_llm"]
                for number, subtask in enumerate(result["subtasks"], 1):
                    assert subtask["subtask_id"] == number
                    assert subtask["pass"] is (subtask["score"] == 1)
                    (trial,) = subtask["simulation"]
                    assert (trial["trial"], trial["score"]) == (1, subtask["score"])
                for made in result["tool_calls"]:
                    function = made["tool_call"]["tool_calls"][0]["function"]
                    assert isinstance(json.loads(function["arguments"]), dict)
                    assert made["result"]["role"] == "tool"
                for mock in result["tool_mocks"]:
                    assert mock["tool_call"]["function"]["name"] == mock["tool_name"]
                    assert json.loads(mock["tool_call"]["function"]["arguments"]) is not None
                    assert isinstance(mock["result"], str)
                assert isinstance(result["skip"], int)


@pytest.mark.parametrize("agent", ["oracle", "jump-oracle"])
def test_the_published_numbers_of_an_oracle_are_right(exported, agent):
    out, _ = exported
    for kind in ("withtool", "notool"):
        for result in results(out, kind)[agent]:
            numbers = published(result)
            assert numbers["pass1"]
            assert numbers["pass2"]
            assert numbers["rate"] == tpr_paper([True] * len(result["subtasks"])) == 1
            assert numbers["nei"] == nei_paper(len(result["subtasks"]), result["skip"])
            assert [s["skipped"] for s in result["subtasks"]].count(True) == result["skip"]
            assert result["success"] is True


def test_skip_is_truly_written(exported):
    out, _ = exported
    skips = {name: files[0]["skip"] for name, files in results(out).items()}
    assert skips["oracle"] == 0
    assert skips["jump-oracle"] > 0


def test_nothing_passed_is_nothing_and_a_failed_run_is_a_failure(exported):
    out, _ = exported
    for name, files in results(out).items():
        if name not in ("oracle", "jump-oracle"):
            numbers = published(files[0])
            assert (numbers["pass1"], numbers["pass2"]) == (False, False)
            assert numbers["rate"] == numbers["nei"] == 0
    assert [f[0]["valid"] for f in results(out).values()].count(False) == 1


def test_every_message_of_the_assistant_is_told_once_with_its_tokens(exported):
    out, _ = exported
    for files in results(out).values():
        result = files[0]
        told = [
            m for s in result["subtasks"] for t in s["simulation"] for m in t["sub_task_messages"]
        ]
        mine = [m for m in result["trajectory"] if m["role"] in ("assistant", "tool")]
        passed = [s for s in result["subtasks"] if s["score"]]
        if len(passed) < len(result["subtasks"]):
            assert len(told) == len(mine)
        for message in told:
            if message["role"] == "assistant":
                usage = message["usage"]
                assert usage["usage"]["completion_tokens"] == usage["usage"]["total_tokens"] >= 0
                info = usage["raw_response_data"]["tokenInfo"]
                assert info["outputTokenNum"] == usage["usage"]["completion_tokens"]


def test_task_files_and_tool_schemas_lie_where_the_code_looks(exported):
    out, _ = exported
    data = out / "data"
    (task,) = map(json.loads, (data / "task" / "en_tasks_with_tool.jsonl").read_text().splitlines())
    assert task["id"].startswith("ECS-Billing-v0.")
    assert task["product_name"] == "ECS"
    schemas = list(map(json.loads, (data / "tool_schema_v2.jsonl").read_text().splitlines()))
    assert "DescribeInstances" in {schema["function"]["name"] for schema in schemas}


def test_exported_tasks_can_be_imported_again(exported, tmp_path):
    out, _ = exported
    found = entries(import_cirrusbench(out / "data", tmp_path / "again"))
    assert [entry["scored"] for entry in found.values()] == [True, True]
    assert all(entry["checkpoints"] >= 2 for entry in found.values())


def test_a_trajectory_is_told_as_it_was(tmp_path):
    source = tmp_path / "shop.jsonl"
    source.write_text(json.dumps(ORDER))
    (entry,) = entries(import_openai(source, tmp_path / "out")).values()
    twice = call("find_order", number=31)
    twice["tool_calls"] += call("find_order", number=32)["tool_calls"]
    twice["tool_calls"] += call("nothing")["tool_calls"] + call("find_order")["tool_calls"]
    running = episode(entry, max_invalid=9)
    for action in (twice, "", call("find_order", number=99), "Order 31 is in Oslo, 32 in Bergen."):
        running.step(action)
    assert [each.message for each in said(running.records)] == running.messages[1:]
    for name in NAMES:
        played = TicketEpisode(bundled(name))
        played.reset(seed=5)
        played.play_through(reference_actions(played.scenario))
        assert [each.message for each in said(played.records)] == played.messages[1:]


def test_imported_tickets_need_their_files_and_unscored_ones_are_left_out(tmp_path):
    source = tmp_path / "shop.jsonl"
    source.write_text("\n".join(map(json.dumps, (ORDER, WORDS, EMPTY))))
    found = entries(import_openai(source, tmp_path / "out"))
    tickets = [load_ticket(episode(entry).ticket.text) for entry in found.values()]
    run_jobs(jobs_for([find_agent("oracle")], tickets, (0,)), settings={}, folder=tmp_path / "run")
    report = export_cirrusbench(tmp_path / "run", tmp_path / "e")
    assert (report.written, len(report.left_out)) == ({}, 3)
    assert "name its file" in report.left_out[0][1]
    report = export_cirrusbench(tmp_path / "run", tmp_path / "e", tickets)
    assert report.written == {"oracle": 2}
    assert "unscored" in report.left_out[0][1]
    assert published(results(tmp_path / "e")["oracle"][0])["pass1"]


def test_what_is_no_run_and_what_cannot_be_written_is_told(run, tmp_path):
    with pytest.raises(StoreError):
        export_cirrusbench(tmp_path, tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't write"):
        export_cirrusbench(run, tmp_path / "file")


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    """A run of teacher-forced turns: its folder, its rows and its exported results."""
    folder = tmp_path_factory.mktemp("scenes")
    agents = [
        *map(find_agent, ("oracle", "do-nothing")),
        Agent("second", Second),
        Agent("x", broken),
    ]
    jobs = jobs_for(agents, [bundled(name) for name in NAMES], (3,))
    rows = run_jobs(jobs, settings={"mode": "single-turn"}, folder=folder / "run")
    report = export_cirrusbench(folder / "run", folder / "out")
    assert (report.left_out, report.invalid) == ([], 2)
    return rows, results(folder / "out") | {
        f"{name}/notool": files for name, files in results(folder / "out", "notool").items()
    }


class Second:
    """Answers nothing at the first attempt and as the oracle does at the second."""

    name = "second"

    def __init__(self, source):
        self._source = source

    def reset(self, seed):
        self._oracle = find_agent("oracle").make(self._source) if seed != 3 else None

    def act(self, observation):
        return self._oracle.act(observation) if self._oracle else "I see."


def test_second_attempts_of_teacher_forced_turns_are_second_trials(scenes):
    _, found = scenes
    for key in ("second", "second/notool"):
        for subtask in found[key][0]["subtasks"]:
            first, second = subtask["simulation"]
            assert (first["score"], second["score"]) == (0, 1)
            assert first["sub_task_messages"][-1]["content"] == "I see."
    assert all(len(s["simulation"]) == 1 for s in found["oracle"][0]["subtasks"])


def test_the_published_arithmetic_gives_the_scores_as_published(scenes):
    rows, found = scenes
    for scores in turn_scores(rows):
        if scores.invalid:
            continue
        mine = [
            published(f)
            for k, files in found.items()
            for f in files
            if k.split("/")[0] == scores.agent
        ]
        assert len(mine) == 2
        for name, key in (("SR@1", "pass1"), ("SR@2", "pass2"), ("TPR", "rate"), ("NEI", "nei")):
            expected = scores.scores[f"{name}_paper"].value
            assert float(sum(Fraction(each[key]) for each in mine) / 2) == pytest.approx(expected)


def test_a_scene_that_failed_is_a_failure(scenes):
    _, found = scenes
    (result,) = found["x"]
    assert (result["valid"], published(result)["pass2"]) == (False, False)
    assert all(subtask["score"] == 0 for subtask in result["subtasks"])
