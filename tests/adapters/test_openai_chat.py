"""OpenAI chat records become tickets."""

import json
import os
from pathlib import Path

import pytest
from adapter_cases import call, close, entries, episode, play, reference

from cirrus_env.adapters.openai_chat import import_openai
from cirrus_env.errors import ImportFormatError

TOOLS = [
    {"type": "function", "function": {"name": "find_order", "parameters": {
        "type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}}},
    {"type": "function", "function": {"name": "delete_order", "parameters": {
        "type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}}},
    {"type": "function", "function": {"name": "close_ticket", "parameters": {}}},
    {"type": "function", "function": {"name": "remote", "parameters": {
        "type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}}}},
]  # fmt: skip


def tool_call(id, name, arguments):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


ORDER = {
    "messages": [
        {"role": "system", "content": "You help with orders of a shop."},
        {"role": "user", "content": [{"type": "text", "text": "Where are my orders 31 and 32?"}]},
        {"role": "assistant", "content": "Let me look.", "tool_calls": [
            tool_call("a", "find_order", {"number": 31}),
            tool_call("b", "find_order", {"number": 32}),
            tool_call("c", "find_order", "{nonsense"),
        ]},
        {"role": "tool", "tool_call_id": "b", "content": '{"city": "Bergen", "days": 12}'},
        {"role": "tool", "tool_call_id": "a", "content": '{"city": "Oslo", "days": 1}'},
        {"role": "assistant", "content": "Order 31 is in Oslo, order 32 in Bergen for 12 days."},
        {"role": "user", "content": "Drop the second."},
        {"role": "assistant", "tool_calls": [tool_call("d", "delete_order", {"number": 32})]},
        {"role": "user", "content": "Quickly, please."},
        {"role": "tool", "tool_call_id": "d", "content": "ok"},
        {"role": "assistant", "content": "It is gone."},
    ],
    "tools": TOOLS,
}  # fmt: skip
WORDS = {
    "id": "faq 7",
    "messages": [
        {"role": "user", "content": "How long do I have to send it back?"},
        {"role": "assistant", "content": "You have 30 days. Write to returns@example.com."},
        {"role": "user", "content": "Thanks."},
    ],
}
EMPTY = {
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
}
LEGACY = {
    "messages": [
        {"role": "user", "content": "Is shop 77 open?"},
        {"role": "assistant", "function_call": {"name": "opening", "arguments": '{"shop": 77}'}},
        {"role": "function", "name": "opening", "content": '{"until": "21:45"}'},
        {"role": "assistant", "content": "It is open until 21:45."},
    ]
}


@pytest.fixture
def found(tmp_path):
    source = tmp_path / "shop.jsonl"
    lines = [json.dumps(record) for record in (ORDER, WORDS, EMPTY, LEGACY)]
    source.write_text("\n".join([*lines, "", "{", '{"messages": 3}', '{"no": 1}', "7"]))
    return entries(import_openai(source, tmp_path / "out"))


def test_each_line_is_a_ticket_or_an_entry_that_says_why_not(found):
    assert [entry["ticket"] for entry in found.values() if entry["ticket"]] == [
        "Imported/shop-1-v0", "Imported/shop-faq-7-v0", "Imported/shop-3-v0", "Imported/shop-4-v0",
    ]  # fmt: skip
    assert found["shop.jsonl:3"]["scored"] is False
    for line, why in ((6, "not JSON"), (7, "not a list"), (8, "no 'messages'"), (9, "not an obj")):
        assert found[f"shop.jsonl:{line}"]["why"].startswith(f"shop.jsonl:{line}")
        assert why in found[f"shop.jsonl:{line}"]["why"]


def test_what_no_ticket_can_hold_is_dropped_and_told(found):
    dropped = " ".join(found["shop.jsonl:1"]["dropped"])
    for what in ("arguments are not JSON", "words beside tool calls", "schema of remote",
                 "it is close_ticket_ here"):  # fmt: skip
        assert what in dropped


def test_references_succeed(found):
    for line in (1, 2, 4):
        assert reference(episode(found[f"shop.jsonl:{line}"])) == "success"


def test_results_go_to_their_calls_and_tools_of_all_lines_are_offered(found):
    running = episode(found["shop.jsonl:1"])
    step = running.step(call("find_order", number=31))
    assert '"Oslo"' in step.delta[0]["content"]
    assert running.tool_names == ("find_order", "delete_order", "close_ticket_", "opening")
    assert running.messages[0]["content"] == "You help with orders of a shop."


def test_parallel_calls_are_matched_one_to_one_in_any_order(found):
    told = "Order 31 is in Oslo and 32 in Bergen, for 12 days."
    for numbers, outcome in (((32, 31), ""), ((31, 31), "diverged"), ((31,), "diverged")):
        running = episode(found["shop.jsonl:1"])
        for number in numbers:
            running.step(call("find_order", number=number))
        assert running.step(told).info["outcome"] == outcome


def test_what_the_user_said_while_the_assistant_worked_comes_before(found):
    turns = episode(found["shop.jsonl:1"]).scenario.private.recorded
    assert [turn.text for turn in turns] == ["Drop the second.\nQuickly, please.", ""]


def test_facts_of_words_alone_must_be_told(found):
    for words, outcome in (
        ("Within 30 days, to returns@example.com.", "success"),
        ("Within 31 days, to returns@example.com.", "diverged"),
        ("How long do I have to send it back?", "diverged"),
    ):
        running = episode(found["shop.jsonl:2"])
        assert play(running, [words, close()]).info["outcome"] == outcome


def test_the_same_id_twice_is_told(tmp_path):
    source = tmp_path / "two.jsonl"
    source.write_text("\n".join([json.dumps(WORDS)] * 2))
    first, second = entries(import_openai(source, tmp_path / "out")).values()
    assert first["ticket"] == "Imported/two-faq-7-v0"
    assert "another one is named two-faq-7" in second["why"]


@pytest.mark.parametrize("id", ["../../up", "/etc/passwd", "a/b\\c", "..", "名", "x" * 300, " "])
def test_a_name_never_leaves_the_folder(tmp_path, id):
    source = tmp_path / "in" / "odd.json"
    source.parent.mkdir()
    source.write_text(json.dumps({**WORDS, "id": id}))
    (entry,) = entries(import_openai(source, tmp_path / "deep" / "out")).values()
    assert [str(p) for p in (tmp_path / "deep" / "out").iterdir()] == [entry["path"]]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deep", "in"]
    assert episode(entry).ticket.env_id == entry["ticket"]


def test_a_source_without_records_is_told(tmp_path):
    (tmp_path / "none.jsonl").write_text("\n")
    with pytest.raises(ImportFormatError, match="no conversation"):
        import_openai(tmp_path / "none.jsonl", tmp_path / "out")


def test_a_failed_result_is_served_as_a_failure_and_not_asked_for(tmp_path):
    for content in ('{"error": "no such order"}', "Error: no such order"):
        record = json.loads(json.dumps(ORDER))
        record["messages"][3]["content"] = content
        source = tmp_path / "failed.jsonl"
        source.write_text(json.dumps(record))
        (entry,) = entries(import_openai(source, tmp_path / "out")).values()
        assert "the failed call of find_order is served, but not asked for" in entry["dropped"]
        running = episode(entry)
        assert "no such order" in running.step(call("find_order", number=32)).delta[0]["content"]
        running.step(call("find_order", number=31))
        assert running.step("Order 31 is in Oslo.").info["outcome"] == ""


def test_a_file_name_that_is_no_text_is_told_in_letters(tmp_path):
    source = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff.jsonl"))
    source.write_text(json.dumps(WORDS))
    (entry,) = entries(import_openai(source, tmp_path / "out")).values()
    assert entry["source"] == "odd?.jsonl:1"
    assert episode(entry).ticket.env_id == entry["ticket"]


def test_a_ticket_of_another_import_is_not_replaced(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a" / "x.y.jsonl").write_text(json.dumps(WORDS))
    (tmp_path / "b" / "x-y.jsonl").write_text(json.dumps(WORDS))
    (first,) = entries(import_openai(tmp_path / "a", tmp_path / "out")).values()
    (second,) = entries(import_openai(tmp_path / "b", tmp_path / "out")).values()
    assert first["ticket"] == "Imported/x-y-faq-7-v0"
    assert "another file of this name is there" in second["why"]
