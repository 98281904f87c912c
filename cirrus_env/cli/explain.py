"""``cirrus-env explain``: why each checkpoint and verdict of a stored episode fell as it did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from cirrus_env.cli import select
from cirrus_env.cli.command import OK, execute
from cirrus_env.cli.streams import Streams, one_line
from cirrus_env.runner.explain import explain
from cirrus_env.runner.stored import StoredRun
from cirrus_env.wire import ASSISTANT, canonical

MOST: Final = 400
"""Characters of one text, unless all is asked for."""

QUIET: Final = ("courtesy", "question")
"""Acts that explain nothing by themselves."""


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Explain an episode; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("explain")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("episode", required=False)
@click.option("--full", is_flag=True, help="Long texts, too, from start to end.")
@select.as_json
@click.pass_obj
def _command(streams: Streams, folder: Path, episode: str | None, full: bool, as_json: bool) -> int:
    """Say why EPISODE of the run in FOLDER came out as it did; without EPISODE, list them.

    EPISODE is a number from the list, or parts that only this one has, such as
    oracle/ECS-Billing/3. It is acted again from its records; nothing is changed.
    """
    stored = StoredRun(folder)
    if episode is None:
        _list(streams, stored, as_json=as_json)
        return OK
    found = explain(stored, stored.find(episode))
    if as_json:
        streams.json(found)
    else:
        Report(streams, full=full).write(found)
    return OK


def _list(streams: Streams, stored: StoredRun, *, as_json: bool) -> None:
    rows = [(each.number, each.name, each.row) for each in stored]
    if as_json:
        streams.json([{"number": n, "name": name, "outcome": row.outcome} for n, name, row in rows])
        return
    for number, name, row in rows:
        error = f" ({row.error})" if row.error else ""
        streams.line(one_line(f"{number}: {name}: {row.outcome}{error}"))


_DOES: Final = {
    "reply": "says", "say": "says", "call": "calls", "close": "closes", "escalate": "escalates",
    "console": "does", "accept": "accepts", "leave": "leaves", "stopped": "is stopped",
}  # fmt: skip


class Report:
    """Writes an explanation as text; whatever a model said stays on its own line (law R13).

    Args:
        streams: Where.
        full: Whether long texts are written whole.
    """

    def __init__(self, streams: Streams, *, full: bool) -> None:
        self._streams = streams
        self._full = full

    def write(self, found: Mapping[str, Any]) -> None:
        """The whole of it."""
        episode = found["episode"]
        self._line(0, f"episode {episode['number']}: {episode['name']}")
        error = f" ({episode['error']})" if episode["error"] else ""
        self._line(0, f"outcome: {episode['outcome']}{error}")
        self._line(0, "")
        for step in found["steps"]:
            self._step(step)
        self._line(0, "")
        self._line(0, "checkpoints")
        for checkpoint in found["checkpoints"]:
            self._checkpoint(checkpoint)
        if found["assertions"]:
            self._line(0, "assertions")
        for assertion in found["assertions"]:
            holds = "holds" if assertion["holds"] else "does not hold"
            self._line(1, f"{assertion['assertion']} ({assertion['kind']}): {holds}")
            if not assertion["holds"]:
                self._reasons(assertion["because"])
        self._line(0, f"success: {_yes(episode['success'])}")
        for condition in found["success"]:
            note = f" ({condition['note']})" if condition["note"] else ""
            self._line(1, f"{condition['text']}: {_yes(condition['met'])}{note}")
        self._reward(found["reward"])
        if not found["reproduced"]:
            self._line(
                0,
                "note: acted again, some records come out otherwise than they are stored: this "
                "package, or what was played with, has changed",
            )

    def _step(self, step: Mapping[str, Any]) -> None:
        who = "assistant" if step["seat"] == ASSISTANT else "customer"
        text = f" {self._cut(step['text'])!r}" if step["text"] else ""
        does = _DOES.get(step["does"], step["does"])
        where = step["queue"] or step["console"]
        self._line(0, f"[{step['i']}] {who} {does}{f' {where}' if where else ''}{text}")
        if step["fault"]:
            self._line(2, f"malformed: {self._cut(step['fault'])}")
        for call in step["calls"]:
            self._line(2, self._call(call))
        read = [_act(act) for act in step["read"] if act["kind"] not in QUIET]
        if read:
            self._line(2, f"read as: {'; '.join(read)}")
        for verdict in step["judged"]:
            right = "right" if verdict["right"] else "wrong"
            self._line(2, f"judged: {verdict['slot']} = {verdict['value']} is {right}")
        for event in step["happened"]:
            if event["what"] == "ended":
                self._line(2, f"ended: {event['name']} by {event['value']['ending']}")
                continue
            value = "" if event["value"] is None else f" {self._cut(canonical(event['value']))}"
            name = f" {event['name']}" if event["name"] else ""
            self._line(2, f"{event['what']}{name}{value}")
        for passed in step["passed"]:
            self._line(2, f"passed: {passed['checkpoint']}")
            self._reasons(passed["because"], 3)
        if step["reward_micro"]:
            self._line(2, f"reward {step['reward_micro'] / 1_000_000:+.6f}")

    def _call(self, call: Mapping[str, Any]) -> str:
        went = "ok" if call["ok"] else call["code"]
        parts = [f"{call['operation']} {self._cut(canonical(call['arguments']))}: {went}"]
        if call["consent"]:
            parts.append("with consent")
        if call["outside"]:
            parts.append("changed what it should not")
        if call["duplicate"]:
            parts.append("made before")
        return ", ".join(parts)

    def _checkpoint(self, checkpoint: Mapping[str, Any]) -> None:
        status = checkpoint["status"]
        told = {
            "passed": f"passed at {checkpoint['step']}",
            "skipped": "skipped: a later one passed without it",
            "open": "not passed",
        }[status]
        kind = (
            f"{checkpoint['kind']}, may be skipped"
            if checkpoint["skippable"]
            else checkpoint["kind"]
        )
        self._line(1, f"{checkpoint['checkpoint']} ({kind}): {told}")
        if checkpoint["waits_for"]:
            self._line(2, f"waits for: {', '.join(checkpoint['waits_for'])}")
        self._reasons(checkpoint["evidence"])

    def _reasons(self, reasons: Iterable[Mapping[str, Any]], depth: int = 2) -> None:
        for reason in reasons:
            mark = "+" if reason["holds"] else "-"
            note = f": {reason['note']}" if reason["note"] else ""
            self._line(depth, f"{mark} {reason['text']}{note}")

    def _reward(self, reward: Mapping[str, Any]) -> None:
        micro = reward["return_micro"]
        total = "none" if micro is None else f"{micro / 1_000_000:.6f}"
        terms = ", ".join(
            f"{name} {term['value']:g} x {term['weight']:g}"
            for name, term in reward["terms"].items()
            if term["value"]
        )
        self._line(0, f"return: {total} ({reward['rule']}{f': {terms}' if terms else ''})")

    def _cut(self, text: str) -> str:
        if self._full or len(text) <= MOST:
            return text
        return f"{text[:MOST]}... ({len(text) - MOST:,} more characters)"

    def _line(self, depth: int, text: str) -> None:
        self._streams.line("  " * depth + one_line(text))


def _act(act: Mapping[str, Any]) -> str:
    kind = act["kind"].replace("_", " ")
    value = f" = {act['value']}" if act["value"] and act["name"] else act["value"]
    detail = f" ({', '.join(act['detail'])})" if act["detail"] else ""
    return f"{kind} {act['name']}{value}{detail}".rstrip()


def _yes(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "not scored"}[value]
