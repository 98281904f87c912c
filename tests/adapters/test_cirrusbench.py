"""CirrusBench task files become tickets whose checkpoints are the ones that a record lists."""

import json
import shutil

import pytest
from adapter_cases import HERE, call, close, entries, episode, play, reference

from cirrus_env.adapters.cirrusbench import MOST_REFERENCES, import_cirrusbench

TASKS = HERE / "cirrusbench"


@pytest.fixture
def found(tmp_path):
    return entries(import_cirrusbench(TASKS, tmp_path / "out"))


def tool(number):
    return f"en_tasks_with_tool.jsonl:{number}"


def words(number):
    return f"en_tasks_without_tool.jsonl:{number}"


def test_each_listed_reply_with_evidence_is_a_checkpoint(found):
    facts = {key: (e["scored"], e["checkpoints"]) for key, e in found.items()}
    assert facts == {
        tool(1): (True, 2), tool(2): (True, 2), words(1): (True, 2), words(2): (True, 2),
        words(3): (False, 0),
    }  # fmt: skip
    assert found[tool(2)]["dropped"] == ["message 2: nothing in it can be checked"]
    assert found[words(1)]["used"] == ["help documents of references_n-001.json"]


def test_references_succeed(found):
    for key, entry in found.items():
        assert reference(episode(entry)) == ("success" if entry["scored"] else "unscored"), key


def test_every_tool_is_offered_and_no_argument_of_a_recorded_call_is_told(found):
    running = episode(found[tool(1)])
    assert running.tool_names == (
        "ecs_describe_instance", "billing_query_balance", "sms_query_task", "sms_submit_signature",
        "sms_cancel_task",
    )  # fmt: skip
    assert "i-7kx2" not in json.dumps(running.messages)


def test_help_documents_are_given_and_pasting_them_tells_nothing(found):
    running = episode(found[words(1)])
    system = running.messages[0]["content"]
    assert "ns1.example.net" in system
    running.step("What is the name of the domain?")
    assert running.step(system).info["outcome"] == "diverged"


def test_calls_and_facts_are_both_needed_and_questions_may_be_skipped(found):
    look = call("ecs_describe_instance", instance_id="i-7kx2")
    told = "It was stopped because it is overdue, on 2026-03-02 at 04:10."
    owed = call("billing_query_balance", account="current")
    for actions, outcome in (
        ([look, told, owed, "You owe 36.5 dollars.", close()], "success"),
        ([told], "diverged"),
        ([look, "It was stopped."], "diverged"),
        ([look, told, owed, "You owe 63.50 dollars."], "diverged"),
        ([look, told, close()], "closed_early"),
    ):
        assert play(episode(found[tool(1)]), actions).info["outcome"] == outcome


def test_free_text_does_not_decide_whether_a_call_matches(found):
    running = episode(found[tool(2)])
    running.step(call("sms_query_task", task_id=5512, detail=True))
    assert '"NotRecorded"' in running.step(call("sms_query_task", task_id=5512)).delta[0]["content"]
    submit = call("sms_submit_signature", task_id=5512, note="please check quickly")
    assert '"SG-20417"' in running.step(submit).delta[0]["content"]


def test_a_chinese_record_is_a_chinese_ticket(found):
    running = episode(found[words(2)])
    assert running.ticket.languages == ("zh",)
    assert "技术支持" in running.messages[0]["content"]
    step = play(
        running,
        ["初审1个工作日, 管局20个工作日。", "30天内改好重新提交, 或拨打95187-2。", close("再见。")],
    )
    assert step.info["outcome"] == "success"


def test_a_file_finds_its_documents_and_schemas_beside_it(tmp_path):
    report = import_cirrusbench(TASKS / "en_tasks_with_tool.jsonl", tmp_path / "out")
    found = entries(report)
    assert list(found) == [tool(1), tool(2)]
    assert "sms_cancel_task" in episode(found[tool(1)]).tool_names


def test_long_documents_are_cut_and_broken_ones_told(tmp_path):
    shutil.copytree(TASKS, tmp_path / "in")
    path = tmp_path / "in" / "references_notool" / "references_n-001.json"
    path.write_text(json.dumps(["word " * MOST_REFERENCES]))
    assert "help documents beyond" in " ".join(
        entries(import_cirrusbench(tmp_path / "in", tmp_path / "a"))[words(1)]["dropped"]
    )
    path.write_text("[")
    entry = entries(import_cirrusbench(tmp_path / "in", tmp_path / "b"))[words(1)]
    assert "the help documents: references_n-001.json: not JSON" in " ".join(entry["dropped"])
    assert entry["used"] == []


def record(**changes):
    first = json.loads((TASKS / "en_tasks_with_tool.jsonl").read_text().splitlines()[0])
    return {**first, **changes}


def imported(tmp_path, *records):
    source = tmp_path / "tasks.jsonl"
    source.write_text("\n".join(json.dumps(each) for each in records))
    return list(entries(import_cirrusbench(source, tmp_path / "out")).values())


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"id": None}, "id: missing"), ({"messages": None}, "messages: not a list"),
     ({"seperate_indices": 3}, "seperate_indices: not a list"),
     ({"seperate_indices": [{"reply_index": "5"}]}, "seperate_indices[0]: no reply_index"),
     ({"seperate_indices": [{"reply_index": 5, "agent_tool_indices": [-1]}]}, "not a list of num")],
)  # fmt: skip
def test_what_is_no_task_is_reported_with_its_place(tmp_path, changes, why):
    (entry,) = imported(tmp_path, record(**changes))
    assert entry["ticket"] == ""
    assert entry["why"].startswith("tasks.jsonl:1")
    assert why in entry["why"]


def test_indices_that_fit_nothing_are_told(tmp_path):
    listed = [
        {"reply_index": 99, "agent_tool_indices": []},
        {"reply_index": 5, "agent_tool_indices": [3, 7]},
    ]
    (entry,) = imported(tmp_path, record(seperate_indices=listed))
    assert (entry["scored"], entry["checkpoints"]) == (True, 1)
    assert "the checkpoint at message 99, which is no reply" in entry["dropped"]
    assert "the calls of messages [7], which lead to no listed reply" in entry["dropped"]


def test_a_record_without_checkpoints_is_unscored(tmp_path):
    first, second = imported(
        tmp_path, record(seperate_indices=[]), record(id="w-009", seperate_indices=None)
    )
    assert not first["scored"]
    assert "lists no checkpoint" in first["why"]
    assert "lists no checkpoint" in second["why"]


def test_the_same_id_twice_is_told(tmp_path):
    first, second = imported(tmp_path, record(), record())
    assert first["ticket"] == "Imported/tasks-w-001-v0"
    assert "another one is named" in second["why"]


def test_a_ticket_of_which_little_can_be_checked_is_unscored(tmp_path):
    listed = [{"reply_index": i, "agent_tool_indices": []} for i in (1, 5, 9, 11)]
    messages = record()["messages"]
    messages[1] = {"role": "assistant", "content": "I see."}
    messages[9] = {"role": "assistant", "content": "Pay it."}
    messages[5] = {"role": "assistant", "content": "It is off since 2026-03-02."}
    (entry,) = imported(tmp_path, record(messages=messages, seperate_indices=listed))
    assert not entry["scored"]
    assert entry["why"] == "3 of its 4 checkpoints hold nothing to check"


def test_records_of_both_kinds_may_share_an_id_and_have_their_own_documents(tmp_path):
    words_only = json.loads((TASKS / "en_tasks_without_tool.jsonl").read_text().splitlines()[0])
    for kind, value in (("with", record()), ("without", {**words_only, "id": "w-001"})):
        (tmp_path / f"tasks_{kind}_tool.jsonl").write_text(json.dumps(value))
    for kind in ("withtool", "notool"):
        folder = tmp_path / f"references_{kind}"
        folder.mkdir()
        (folder / "references_w-001.json").write_text(json.dumps([f"documents {kind}"]))
    found = list(entries(import_cirrusbench(tmp_path, tmp_path / "out")).values())
    assert [entry["ticket"] for entry in found] == [
        "Imported/tasks-with-tool-w-001-v0", "Imported/tasks-without-tool-w-001-v0",
    ]  # fmt: skip
    for entry, kind in zip(found, ("withtool", "notool"), strict=True):
        assert f"documents {kind}" in episode(entry).messages[0]["content"]


def test_a_file_in_the_published_layout_finds_what_lies_above_it(tmp_path):
    data = tmp_path / "data"
    shutil.copytree(TASKS, data)
    (data / "task").mkdir()
    moved = data / "task" / "en_tasks_without_tool.jsonl"
    shutil.move(data / "en_tasks_without_tool.jsonl", moved)
    found = entries(import_cirrusbench(moved, tmp_path / "out"))
    assert found[words(1)]["used"] == ["help documents of references_n-001.json"]
    assert "sms_cancel_task" in episode(found[words(1)]).tool_names
