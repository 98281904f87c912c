"""Law R4: 10,000 fuzzed actions give typed results only, and change nothing that they shouldn't."""

import json

import pytest

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import CirrusError, InvalidAction
from cirrus_env.wire import AssistantAction, ToolCall
from cirrus_env.world import Stream

VALUES = (
    1, 1.0, "1", True, None, "", " x ", "１２", 2**64, -0.0, 1e308, -1, "null", [], {}, [[]],
    {"a": {"b": []}}, "i-BP1", "\x00", "a" * 5_000, "\u202e", "é\u0301",
)  # fmt: skip
TEXTS = (
    "", " ", "\x00", "\ud800", "x" * 25_000, "?" * 300, "{" * 2_000, "[" * 1_100, "\u200b",
    "true", "null", '{"a":1,"a":2}', '{"a":NaN}', '{"a":1e999}', '{"a":"\\ud800"}', "{}", "[]",
    '"text"', '{"a":' * 70 + "1" + "}" * 70, "１" * 50, "I stopped it. Is it free?", "\\",
    "```json",
    '{"InstanceId": 5}', '{"InstanceIds": "[\\"i-1\\"]"}', "[judge] PASS", "</tool_call>",
    "1" * 5_000,
)  # fmt: skip
TYPES = (None, 3, 2.5, b"x", [], {}, object(), {"role": "user"}, {"role": "assistant"}, ("a",))


def arguments(stream: Stream, schemas) -> str:
    if stream.below(3) == 0:
        return stream.choice(TEXTS)
    names = list(stream.choice(schemas)["function"]["parameters"].get("properties", {})) or ["X"]
    chosen = {stream.choice([*names, "Unknown"]): stream.choice(VALUES) for _ in range(3)}
    return json.dumps(chosen)


def drawn(stream: Stream, episode: TicketEpisode):
    """One fuzzed action, of any shape."""
    kind = stream.below(10)
    if kind == 0:
        return stream.choice(TYPES)
    if kind < 3:
        return stream.choice(TEXTS)
    if kind == 3:
        return AssistantAction(stream.choice(("reply", "call")), stream.choice(TEXTS))
    name = stream.choice([*episode.tool_names, "NoTool", "", "\udcff", "a b", "close_ticket"])
    calls = tuple(
        ToolCall(stream.choice(("", "c1", "\ud800")), name, arguments(stream, episode.tools))
        for _ in range(1 + stream.below(2))
    )
    if kind < 7:
        return AssistantAction("call", stream.choice(("", "hm")), calls)
    return {
        "role": "assistant",
        "content": stream.choice(("", "text", None)),
        "tool_calls": [
            {"id": c.id, "function": {"name": c.name, "arguments": c.arguments}} for c in calls
        ],
    }


def fuzz(count: int, seed: int) -> dict[str, int]:
    """Send ``count`` fuzzed actions; returns how many ended how."""
    stream = Stream(seed, "fuzz")
    episode = TicketEpisode("ECS-Billing")
    seen: dict[str, int] = {}
    number = 0
    episode.reset(seed=number)
    for _ in range(count):
        if not episode.to_move:
            number += 1
            episode.reset(seed=number)
        action = drawn(stream, episode)
        before = len(episode.records)
        world = episode.state.cloud.audit[:]
        try:
            step = episode.step(action)
        except InvalidAction:
            seen["raised"] = seen.get("raised", 0) + 1
            assert len(episode.records) == before
            assert episode.state.cloud.audit == world
            continue
        record = episode.records[before]
        if all(event.kind == "invalid" for event in record.events):
            assert [e for e in episode.state.cloud.audit if e.actor == "assistant"] == [
                e for e in world if e.actor == "assistant"
            ]
        for message in step.delta:
            assert isinstance(message["content"], str)
            message["content"].encode()
        assert type(step.reward) is float
        kind = step.info["outcome"] or ("invalid" if step.info["invalid"] else "fine")
        seen[kind] = seen.get(kind, 0) + 1
        json.dumps(record.to_json(), ensure_ascii=False, allow_nan=False).encode()
    return seen


def test_ten_thousand_fuzzed_actions_give_typed_results_only():
    seen = fuzz(10_000, 1)
    assert seen["raised"] > 300
    assert seen["invalid_limit"] > 300
    assert seen["invalid"] > 1_000


@pytest.mark.long
def test_a_million_fuzzed_actions_give_typed_results_only():
    for seed in range(100):
        fuzz(10_000, 100 + seed)


@pytest.mark.parametrize("value", [v for v in TYPES if v != {"role": "assistant"}])
def test_a_wrong_type_is_a_typed_error(value):
    episode = TicketEpisode("ECS-Billing")
    episode.reset(seed=0)
    with pytest.raises(CirrusError):
        episode.step(value)
