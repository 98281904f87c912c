"""Import tau-bench trajectories (``task_id``, ``reward``, ``info``, ``traj``, ``trial``).

Only a trajectory with reward 1 is known to be right, so only such a one gives evidence: the gold
actions that change something (``info.task.actions``), one to one, and the texts that the user must
be told (``info.task.outputs``). A reward of 1 means that the final database is the gold one, so
where a gold action is not called literally, all recorded changes count instead. What was merely
read, calculated or thought is served and never asked for. Trajectories with another reward, and
tasks whose right answer changes nothing and tells nothing (there a do-nothing agent would pass),
are unscored. Tool schemas are not part of the files; functions are inferred from all calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cirrus_env.adapters.chat import Conversation, read_messages
from cirrus_env.adapters.dialogue import Dialogue, Exchange, one_line, slug
from cirrus_env.adapters.functions import effect_of, function_name
from cirrus_env.adapters.openai_chat import FREE_TEXT
from cirrus_env.adapters.report import ImportReport
from cirrus_env.adapters.source import files_of, read_json, read_lines
from cirrus_env.adapters.write import Progress, Record, write_tickets
from cirrus_env.cloud.arguments import plain, same
from cirrus_env.cloud.recorded import RecordedCall
from cirrus_env.errors import ImportFormatError

_HAND_OVER: Final = "transfer_to_human_agents"


def import_taubench(source: Path, out: Path, progress: Progress | None = None) -> ImportReport:
    """Turn trajectories into ticket files.

    Args:
        source: A ``.json`` list of trajectories (or ``.jsonl``), or a folder of such files.
        out: The folder for the tickets.
        progress: Told how far it is.

    Raises:
        ImportFormatError: If there is no file to read.
        StoreError: If the folder can't be written.
    """
    records: list[Record] = []
    for path in files_of(source, ".json", ".jsonl"):
        for place, value in _values(path):
            if isinstance(value, ImportFormatError):
                records.append(Record(place, value))
                continue
            try:
                records.append(Record(place, read_trajectory(value, place, path.stem)))
            except ImportFormatError as error:
                records.append(Record(place, error))
    return write_tickets("taubench", records, (), out, progress)


def _values(path: Path) -> list[tuple[str, Any]]:
    try:
        if path.suffix == ".jsonl":
            return list(read_lines(path))
        value = read_json(path)
    except ImportFormatError as error:
        return [(path.name, error)]
    if isinstance(value, Mapping):
        return [(path.name, value)]
    if not isinstance(value, list):
        return [(path.name, ImportFormatError(f"{path.name}: not a list of trajectories"))]
    return [(f"{path.name}[{number}]", item) for number, item in enumerate(value)]


def read_trajectory(value: Any, place: str, stem: str) -> Dialogue:
    """One trajectory.

    Args:
        value: Its JSON.
        place: The file and the record's place.
        stem: What ids begin with.

    Raises:
        ImportFormatError: If it is none.
    """
    if not isinstance(value, Mapping):
        raise ImportFormatError(f"{place}: not an object")
    for key in ("task_id", "traj"):
        if key not in value:
            raise ImportFormatError(f"{place}: no {key!r}: not a tau-bench trajectory")
    task_id, trial = value["task_id"], value.get("trial", 0)
    if not all(isinstance(part, int | str) for part in (task_id, trial)):
        raise ImportFormatError(f"{place}: task_id and trial are numbers or names")
    talk = read_messages(value["traj"], f"{place}: traj")
    dropped = list(talk.dropped)
    task = _task(value)
    unscored = ""
    exchanges = tuple(turn.exchange(needed=(), listed=False) for turn in talk.turns)
    if value.get("reward") != 1 or isinstance(value.get("reward"), bool):
        unscored = f"its reward is {str(value.get('reward'))[:20]}: nothing in it is known right"
    else:
        exchanges, unscored = _proven(talk, task, place, dropped)
    if task.get("instruction"):
        dropped.append("the user's instruction, which tells the assistant's task")
    return Dialogue(
        stem=slug(stem, f"task{task_id}", f"trial{trial}"),
        title=one_line(talk.opening, 80),
        opening=talk.opening,
        exchanges=exchanges,
        role=talk.system or "You are an agent. Help the user through the tools below.",
        family=slug("taubench", stem, f"task{task_id}"),
        ignorable=FREE_TEXT,
        unscored=unscored,
        dropped=tuple(dict.fromkeys(dropped)),
    )


def _task(value: Mapping[str, Any]) -> Mapping[str, Any]:
    info = value.get("info")
    task = info.get("task") if isinstance(info, Mapping) else None
    return task if isinstance(task, Mapping) else {}


def _proven(
    talk: Conversation, task: Mapping[str, Any], place: str, dropped: list[str]
) -> tuple[tuple[Exchange, ...], str]:
    """The exchanges with what must be done and told in each; why nothing can be, if so."""
    writes = [
        (t, k)
        for t, turn in enumerate(talk.turns)
        for k, (_, call) in enumerate(turn.calls)
        if not call.error and effect_of(call.name) == "write"
    ]
    gold = _gold(task, place)
    found = _matched(talk, gold)
    if found is None:
        dropped.append("gold actions that were not called literally: all changes count instead")
    needed = writes if found is None else found
    outputs = task.get("outputs")
    texts = [str(text) for text in outputs] if isinstance(outputs, list) else []
    exchanges, told = [], set()
    for t, turn in enumerate(talk.turns):
        reply = "\n".join(text for _, text in turn.replies)
        here = [text for text in texts if text not in told and _says(reply, text)]
        told.update(here)
        asked = tuple(k for turn_number, k in needed if turn_number == t)
        exchanges.append(turn.exchange(needed=asked, facts=tuple(here), listed=bool(asked or here)))
    missing = [text for text in texts if text not in told]
    if missing:
        dropped.append(f"{len(missing)} outputs that no reply tells literally")
    if not needed and not told:
        return tuple(exchanges), "its right answer changes nothing and tells nothing"
    return tuple(exchanges), ""


def _gold(task: Mapping[str, Any], place: str) -> list[RecordedCall]:
    actions = task.get("actions")
    if actions is None:
        return []
    if not isinstance(actions, list):
        raise ImportFormatError(f"{place}: info.task.actions: not a list")
    gold = []
    for number, action in enumerate(actions):
        arguments = (
            action.get("kwargs", action.get("arguments")) if isinstance(action, Mapping) else 0
        )
        if not isinstance(arguments, Mapping) or not isinstance(action.get("name"), str):
            raise ImportFormatError(f"{place}: info.task.actions[{number}]: no name and kwargs")
        call = RecordedCall(function_name(action["name"]), dict(arguments))
        if effect_of(call.name) == "write":
            gold.append(call)
    return gold


def _matched(talk: Conversation, gold: list[RecordedCall]) -> list[tuple[int, int]] | None:
    """Where each gold action was called, one to one; None if one was not."""
    found: list[tuple[int, int]] = []
    for action in gold:
        place = next(
            (
                (t, k)
                for t, turn in enumerate(talk.turns)
                for k, (_, call) in enumerate(turn.calls)
                if (t, k) not in found and not call.error and _equal(call, action)
            ),
            None,
        )
        if place is None:
            return None
        found.append(place)
    return sorted(found)


def _equal(call: RecordedCall, action: RecordedCall) -> bool:
    if call.name != action.name:
        return False
    if call.name == _HAND_OVER:
        return True
    one, two = ({k: plain(v) for k, v in each.arguments.items() if k not in FREE_TEXT}
                for each in (call, action))  # fmt: skip
    return same(one, two)


def _says(reply: str, text: str) -> bool:
    return text.strip() != "" and text.lower() in reply.lower().replace(",", "")
