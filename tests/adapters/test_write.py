"""From a dialogue to a ticket file: limits, proofs, and what is told of them."""

import os
from pathlib import Path

import pytest
from adapter_cases import call, close, entries, episode, play, reference

from cirrus_env.adapters.dialogue import Dialogue, Exchange
from cirrus_env.adapters.functions import MOST
from cirrus_env.adapters.source import LARGEST, LONGEST_RECORD, files_of, read_bytes, read_lines
from cirrus_env.adapters.write import Record, write_tickets
from cirrus_env.cloud.recorded import RecordedCall
from cirrus_env.errors import ImportFormatError, StoreError
from cirrus_env.tickets.load import load_ticket


def find(number, **result):
    return RecordedCall("find", {"number": number}, result or {"name": f"Box {number}"})


def dialogue(*exchanges, stem="one", **more):
    return Dialogue(stem, "A title", "Which boxes?", tuple(exchanges), "You find boxes.", **more)


def written(tmp_path, *dialogues, functions=()):
    records = [Record(d.stem, d) for d in dialogues]
    return list(entries(write_tickets("test", records, functions, tmp_path / "out")).values())


def test_many_calls_of_one_reply_are_several_checkpoints(tmp_path):
    calls = tuple(find(number) for number in range(100, 157))
    (entry,) = written(tmp_path, dialogue(Exchange(calls, "It is Box 156.", "Thanks.")))
    assert (entry["scored"], entry["checkpoints"]) == (True, 4)
    assert reference(episode(entry)) == "success"
    running = episode(entry)
    for each in calls[:-1]:
        running.step(call("find", **each.arguments))
    assert running.step("It is Box 156.").info["outcome"] == "diverged"


def test_repeated_changes_are_counted_and_repeated_reads_are_not(tmp_path):
    ring = RecordedCall("ring", {"bell": 7}, {"ok": True})
    (entry,) = written(
        tmp_path, dialogue(Exchange((find(12), ring, find(12), ring), "Done.", "Ta."))
    )
    for rings, outcome in ((1, "diverged"), (2, "")):
        running = episode(entry)
        running.step(call("find", number=12))
        for _ in range(rings):
            running.step(call("ring", bell=7))
        assert running.step("Done.").info["outcome"] == outcome


def test_a_dialogue_that_is_too_long_to_play_is_unscored_and_says_so(tmp_path):
    exchanges = [Exchange((find(n),), f"It is Box {n}.", "And next?") for n in range(1000, 1060)]
    (entry,) = written(tmp_path, dialogue(*exchanges))
    assert not entry["scored"]
    assert entry["why"] == "its own reference ends turn_limit (plain)"
    assert any("facts of reply" in what or "checkpoint" in what for what in entry["dropped"]) == (
        any(entry["dropped"])
    )
    assert episode(entry).step("Hello.").info["outcome"] == ""


def test_more_than_a_ticket_holds_is_left_out_and_told(tmp_path):
    figures = [f"It is {n}.{n}." for n in range(10, 18)]
    exchanges = [
        Exchange((), " ".join(text.replace("1", str(k + 1), 1) for text in figures), "Go on.")
        for k in range(12)
    ]
    (entry,) = written(tmp_path, dialogue(*exchanges))
    assert any("too many" in what for what in entry["dropped"])
    assert len(load_ticket(Path(entry["path"])).data["slots"]) <= 80


def test_only_so_many_functions_are_offered_and_the_used_ones_are_among_them(tmp_path):
    functions = [
        {"name": f"get_{n}", "description": "", "effect": "read", "parameters": {"type": "object"}}
        for n in range(MOST + 5)
    ]
    (entry,) = written(
        tmp_path, dialogue(Exchange((find(77),), "Box 77.", "Ta.")), functions=functions
    )
    names = episode(entry).tool_names
    assert (len(names), names[0]) == (MOST, "find")
    assert entry["dropped"] == [f"6 functions: {MOST} are offered at most"]
    assert reference(episode(entry)) == "success"


def test_what_is_too_large_for_a_ticket_is_a_failure(tmp_path):
    (entry,) = written(tmp_path, dialogue(Exchange((find(1, text="x" * 2_100_000),), "Box.", "")))
    assert "too much for a ticket" in entry["why"]
    assert list((tmp_path / "out").iterdir()) == []


def test_questions_alone_prove_nothing(tmp_path):
    exchanges = (Exchange((), "What is your name?", "Kim"), Exchange((), "Hello Kim.", "Hello"))
    (entry,) = written(tmp_path, dialogue(*exchanges))
    assert "nothing in it proves anything" in entry["why"]
    step = play(episode(entry), ["What is your name, please?", "Hello Kim.", close()])
    assert step.info["outcome"] == "unscored"


def test_a_reply_that_its_own_words_do_not_carry_is_not_asked_for(tmp_path):
    hedged = Exchange((find(88, code="QX-771"),), "Maybe it is QX-771.", "Ta.")
    (entry,) = written(tmp_path, dialogue(hedged))
    assert (entry["scored"], entry["checkpoints"]) == (True, 1)
    assert "1 facts or questions that its own words don't carry" in entry["dropped"]


def test_null_arguments_and_braces_survive(tmp_path):
    odd = RecordedCall("find", {"number": None, "text": "{a}"}, {"x": "{b} 55"})
    (entry,) = written(tmp_path, dialogue(Exchange((find(3), odd), "It holds {b} 55.", "Ta {c}.")))
    assert reference(episode(entry)) == "success"
    running = episode(entry)
    step = running.step(call("find", text="{a}"))
    assert step.delta[0]["content"] == '{"x":"{b} 55"}'
    assert running.scenario.private.recorded[0].text == "Ta {c}."


def test_a_full_disk_is_a_store_error(tmp_path, monkeypatch):
    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cirrus_env.adapters.write.write_whole", full)
    with pytest.raises(StoreError, match="No space left"):
        written(tmp_path, dialogue(Exchange((find(9),), "Box 9.", "Ta.")))


def test_progress_is_told_once_a_conversation(tmp_path):
    told = []

    def progress(total):
        told.append(total)
        return lambda: told.append("one")

    records = [Record("a", dialogue(Exchange((find(9),), "Box 9.", "Ta."))),
               Record("b", ImportFormatError("b: wrong"))]  # fmt: skip
    write_tickets("test", records, (), tmp_path, progress)
    assert told == [2, "one", "one"]


def test_files_and_records_of_absurd_size_are_refused(tmp_path, monkeypatch):
    source = tmp_path / "big.jsonl"
    source.write_bytes(b'{"a": "' + b"x" * 400 + b'"}\n{"b": 1}\n')
    monkeypatch.setattr("cirrus_env.adapters.source.LONGEST_RECORD", 100)
    first, second = read_lines(source)
    assert "too long" in str(first[1])
    assert second == ("big.jsonl:2", {"b": 1})
    monkeypatch.setattr("cirrus_env.adapters.source.LARGEST", 100)
    with pytest.raises(ImportFormatError, match="at most 100"):
        read_bytes(source)
    assert LARGEST > LONGEST_RECORD


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_told(tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0)
    with pytest.raises(ImportFormatError):
        files_of(locked, ".json")


def test_an_argument_that_toml_cannot_hold_leaves_the_ticket_unscored(tmp_path):
    odd = RecordedCall("find", {"number": 4, "list": [1, None]}, {"x": 5})
    (entry,) = written(tmp_path, dialogue(Exchange((odd,), "Found.", "Ta.")))
    assert entry["why"] == "its own reference ends diverged (plain)"
    step = episode(entry).step(call("find", number=4, list=[1, None]))
    assert step.delta[0]["content"] == '{"x":5}'
