"""What a stored episode comes to in CirrusBench's layout: subtasks, trials, calls, messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cirrus_env.adapters.reference_dialogue import Reference, passed_at
from cirrus_env.adapters.transcripts import Said, said
from cirrus_env.errors import CirrusError
from cirrus_env.judging.shape import shape_of
from cirrus_env.tickets.model import Checkpoint
from cirrus_env.wire import Record
from cirrus_env.wire.jsontext import strict_loads


def episode_result(
    episode: Mapping[str, Any], checkpoints: Sequence[Checkpoint], reference: Reference
) -> dict[str, Any]:
    """An episode's part of a result file: one trial a checkpoint.

    Args:
        episode: As it is stored.
        checkpoints: Of its scenario.
        reference: Of its scenario; of no use here.
    """
    records = [Record.from_json(record) for record in episode["trajectory"]["records"]]
    spoken = said(records)
    passed = passed_at(records) if episode["valid"] else {}
    jumped = _jumped(checkpoints, passed)
    segments = _segments(spoken, checkpoints, passed)
    subtasks = []
    for number, checkpoint in enumerate(checkpoints, 1):
        score = int(checkpoint.id in passed or checkpoint.id in jumped)
        trials = [(score, segments.get(checkpoint.id, []))]
        subtasks.append(_subtask(number, checkpoint.id, trials, skipped=checkpoint.id in jumped))
    return {
        "subtasks": subtasks,
        "skip": len(jumped),
        "tool_calls": _tool_calls(spoken),
        "trajectory": [_stamped(each, turn) for turn, each in enumerate(spoken)],
        **{key: episode[key] for key in ("success", "outcome", "valid")},
    }


def scene_result(
    episode: Mapping[str, Any], checkpoints: Sequence[Checkpoint], reference: Reference
) -> dict[str, Any]:
    """A scene of teacher-forced turns: a second trial where the first attempts didn't pass.

    Args:
        episode: As it is stored.
        checkpoints: Of its scenario.
        reference: Of its scenario: its dialogue is the trajectory that the agent was given.
    """
    valid = episode["valid"]
    turns = [[said(map(Record.from_json, records)) for records in turn]
             for turn in episode.get("turns", ())]  # fmt: skip
    passes: list[dict[str, int]] = [{}, {}]
    for number, turn in enumerate(episode["metrics"].get("turns", ()) if valid else ()):
        for attempt, made in enumerate(turn["attempts"][:2]):
            for name in made["passed"]:
                passes[attempt].setdefault(name, number)
    within = [set(passes[0]), set(passes[0]) | set(passes[1])]
    filled = [passed | _jumped(checkpoints, passed) for passed in within]
    jumped = filled[1] - within[1]
    subtasks = []
    for number, checkpoint in enumerate(checkpoints, 1):
        trials = []
        for attempt in (0, 1):
            place = passes[attempt].get(checkpoint.id, reference.turns[number - 1])
            spoken = turns[place][attempt] if place < len(turns) else []
            told = [] if checkpoint.id in jumped else list(map(_stamped, _own(spoken)))
            trials.append((int(checkpoint.id in filled[attempt]), told))
            if trials[-1][0]:
                break
        subtasks.append(_subtask(number, checkpoint.id, trials, skipped=checkpoint.id in jumped))
    return {
        "subtasks": subtasks,
        "skip": len(jumped),
        "tool_calls": [call for turn in turns for spoken in turn for call in _tool_calls(spoken)],
        "trajectory": reference.messages,
        **{key: episode[key] for key in ("success", "outcome", "valid")},
    }


def _jumped(checkpoints: Sequence[Checkpoint], passed: Iterable[str]) -> set[str]:
    """Skippable checkpoints that were not passed although a descendant was."""
    skips, done = shape_of(checkpoints).skips, set(passed)
    return {name for later in done if later in skips for name in skips[later]} - done


def _subtask(
    number: int, name: str, trials: Sequence[tuple[int, list[dict[str, Any]]]], *, skipped: bool
) -> dict[str, Any]:
    score = max(score for score, _ in trials)
    return {
        "subtask_id": number,
        "pass": bool(score),
        "score": score,
        "simulation": [
            {"trial": k, "score": score, "sub_task_messages": messages}
            for k, (score, messages) in enumerate(trials, 1)
        ],
        "checkpoint": name,
        "skipped": skipped,
    }


def _own(spoken: Iterable[Said]) -> list[Said]:
    """The assistant's messages and the results of its calls."""
    return [each for each in spoken if each.message["role"] in ("assistant", "tool")]


def _segments(
    spoken: Sequence[Said], checkpoints: Sequence[Checkpoint], passed: Mapping[str, int]
) -> dict[str, list[dict[str, Any]]]:
    """Checkpoint -> the assistant's messages that led to it; the rest to the first that failed."""
    found: dict[str, list[dict[str, Any]]] = {}
    reached = -1
    mine = _own(spoken)
    for step, name in sorted((step, name) for name, step in passed.items()):
        if step > reached:
            found[name] = [_stamped(each) for each in mine if reached < each.step <= step]
            reached = step
    rest = [_stamped(each) for each in mine if each.step > reached]
    failed = next((c.id for c in checkpoints if c.id not in passed), None)
    if failed is not None and rest:
        found.setdefault(failed, rest)
    return found


def _stamped(each: Said, turn: int | None = None) -> dict[str, Any]:
    """A message with the fields that the analysis code looks at."""
    message: dict[str, Any] = {**each.message, "turn_idx": turn, "timestamp": None}
    if message["role"] == "assistant":
        tokens = each.tokens
        message["cost"] = None
        message["usage"] = {
            "usage": {
                "prompt_tokens": 0, "completion_tokens": tokens, "total_tokens": tokens,
            },
            "raw_response_data": {
                "tokenInfo": {
                    "inputTokenNum": 0, "outputTokenNum": tokens, "allTokenNum": tokens,
                }
            },
        }  # fmt: skip
        if "tool_calls" in message:
            message["tool_calls"] = [_readable(call) for call in message["tool_calls"]]
    return message


def _readable(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call whose arguments are a JSON object: the analysis code reads them without a check."""
    function = call["function"]
    try:
        arguments = strict_loads(function["arguments"] or "{}")
    except CirrusError:
        arguments = None
    if not isinstance(arguments, dict):
        arguments = {"": function["arguments"]}
    text = json.dumps(arguments, ensure_ascii=False)
    return {**call, "function": {**function, "arguments": text}}


def _tool_calls(spoken: Sequence[Said]) -> list[dict[str, Any]]:
    """Every call of the agent with its result, one call an entry."""
    found = []
    for index, each in enumerate(spoken):
        for k, call in enumerate(each.message.get("tool_calls", ())):
            message = {"role": "assistant", "content": None, "tool_calls": [_readable(call)]}
            found.append({"tool_call": message, "result": spoken[index + 1 + k].message})
    return found
