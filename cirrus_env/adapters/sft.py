"""Stored episodes as fine-tuning data: chat JSONL with masks.

One line an episode: ``messages`` (the OpenAI form; closing and escalating are calls of the
pseudo-functions), ``tools``, ``mask`` (one 0 or 1 a message: 1 where the agent's own usable action
is) and ``meta``; every assistant message carries the same as ``weight``. So OpenAI's fine-tuning
and TRL's ``SFTTrainer`` (with ``assistant_only_loss``) read it. With ``per_turn`` one line an
action instead, ``prompt`` and ``completion``: the mask in a form that needs no chat template with
generation marks.

Never trained are the customer, tool results, notices, the reference's turns that an episode started
after, and the agent's invalid actions. Episodes that failed for outside reasons are left out and
counted; so are those of the mode ``oracle-plan``, whose system message holds gold.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from cirrus_env.adapters.jsonl import JsonlReport, Played, meta_of, played_of, write_lines
from cirrus_env.adapters.write import Progress
from cirrus_env.engine.modes import ORACLE_PLAN
from cirrus_env.engine.prompt import CLOSE, ESCALATE
from cirrus_env.engine.replay import Trajectory
from cirrus_env.errors import MalformedText, OptionError
from cirrus_env.judging.reward import reward_rule
from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.play import Job, play
from cirrus_env.runner.playback import acted_again
from cirrus_env.runner.rows import Row
from cirrus_env.runner.stored import StoredRun
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import ASSISTANT, AssistantAction, Message, Record, ToolCall, strict_loads
from cirrus_env.wire import messages as build

OBJECT: Final = "object"
TEXT: Final = "text"
ARGUMENTS: Final = (OBJECT, TEXT)
"""A call's arguments as a JSON object, as chat templates want them, or as the text written."""

_RULE: Final = reward_rule("sparse")  # rewards are not looked at: any rule will do


class Chat(NamedTuple):
    """An episode as chat messages.

    Attributes:
        messages: System message first.
        mask: For each message, whether it is a usable action of the agent.
        steps: For each message, the record that it comes from.
        tools: Function schemas, the pseudo-functions included.
    """

    messages: tuple[Message, ...]
    mask: tuple[bool, ...]
    steps: tuple[int, ...]
    tools: list[dict[str, Any]]

    def row(self) -> dict[str, Any]:
        """``messages``, ``tools`` and ``mask`` as JSON."""
        messages = [
            {**message, "weight": int(trained)} if message["role"] == "assistant" else message
            for message, trained in zip(self.messages, self.mask, strict=True)
        ]
        return {"messages": messages, "tools": self.tools, "mask": list(map(int, self.mask))}

    def turns(self) -> Iterator[dict[str, Any]]:
        """One row a trained message: what came before it, and it."""
        for at, trained in enumerate(self.mask):
            if trained:
                yield {
                    "prompt": list(self.messages[:at]),
                    "completion": [self.messages[at]],
                    "tools": self.tools,
                }


def chat_of(
    stored: Trajectory, ticket: Ticket, *, system: str | None = None, arguments: str = OBJECT
) -> Chat:
    """A trajectory as chat, acted again from its records: whoever played its seats.

    Args:
        stored: The trajectory.
        ticket: Its ticket.
        system: The system text it was played with, if it wasn't the ticket's.
        arguments: ``object`` (where they are one) or ``text``.

    Raises:
        OptionError: If nothing was played, a record comes out otherwise than it is stored, or the
            system message holds gold.
    """
    if arguments not in ARGUMENTS:
        raise OptionError(f"arguments are {' or '.join(ARGUMENTS)}, not {arguments!r}")
    if stored.header.get("mode") == ORACLE_PLAN:
        raise OptionError(f"in the mode {ORACLE_PLAN} the system message holds gold")
    messages: list[Message] = []
    mask: list[bool] = []
    steps: list[int] = []
    tools: list[dict[str, Any]] = []
    for record, again, stage in acted_again(stored, ticket, rule=_RULE, system=system):
        if again._replace(reward_micro=0) != record._replace(reward_micro=0):
            raise OptionError(f"step {record.i} comes out otherwise than it is stored")
        new = stage.state.messages[len(messages) :]
        if record.seat == ASSISTANT and new:
            action = AssistantAction.from_json(record.action)
            new = [message_of(action, record.i, arguments), *new[1:]]
        messages += new
        mask += [position == 0 and _trained(record, stored) for position in range(len(new))]
        steps += [record.i] * len(new)
        tools = tools or stage.tools.fresh(special=True)
    if not messages:
        raise OptionError("no whole episode was played")
    return Chat(tuple(messages), tuple(mask), tuple(steps), tools)


def _trained(record: Record, stored: Trajectory) -> bool:
    if record.seat != ASSISTANT or record.i < stored.header["start"]:
        return False
    usable = not any(event.kind == "invalid" for event in record.events)
    return usable and record.action["kind"] != "stopped"


def message_of(action: AssistantAction, step: int = 0, arguments: str = OBJECT) -> Message:
    """An action as the chat message that a model would send for it.

    Args:
        action: The action.
        step: Goes into the id of a call that has none.
        arguments: ``object`` or ``text``.
    """
    text, calls = action.text, action.calls
    if action.kind == "close" and not action.fault:
        text, calls = "", (_pseudo(CLOSE, {"message": text}, step),)
    elif action.kind == "escalate" and not action.fault:
        values = {"queue": action.queue, "summary": text}
        text, calls = "", (_pseudo(ESCALATE, values, step),)
    message = build.assistant(text, calls)
    for k, call in enumerate(message.get("tool_calls", ())):
        call["id"] = call["id"] or f"call_{step}_{k}"
        if arguments == OBJECT:
            call["function"]["arguments"] = _object(call["function"]["arguments"])
    return message


def _pseudo(name: str, values: Mapping[str, str], step: int) -> ToolCall:
    return ToolCall(f"call_{step}_0", name, json.dumps(values, ensure_ascii=False))


def _object(text: str) -> Any:
    try:
        value = strict_loads(text)
    except MalformedText:
        return text
    return value if isinstance(value, dict) else text


# -- files -----------------------------------------------------------------------------------


def export_sft(
    run: Path,
    out: Path,
    tickets: Iterable[Ticket] = (),
    progress: Progress | None = None,
    *,
    min_return: float | None = None,
    per_turn: bool = False,
    arguments: str = OBJECT,
) -> JsonlReport:
    """Write a stored run's episodes.

    Args:
        run: The run's folder.
        out: The file.
        tickets: Not needed: a run keeps its tickets.
        progress: Told how far it is.
        min_return: Episodes with at least this return; None for those that succeeded.
        per_turn: One line an action instead of one an episode.
        arguments: ``object`` or ``text``.

    Raises:
        OptionError: For another form of arguments.
        StoreError: If the run can't be read or the file can't be written.
    """
    stored = StoredRun(run)
    advance = progress(len(stored)) if progress is not None else lambda: None
    return _write(played_of(stored), out, min_return, per_turn, arguments, advance)


def collect_sft(
    tickets: Iterable[Ticket],
    seeds: Iterable[int],
    out: Path,
    *,
    agent: str | Agent = "oracle",
    language: str | None = None,
    min_return: float | None = None,
    per_turn: bool = False,
    arguments: str = OBJECT,
    **settings: Any,
) -> JsonlReport:
    """Let an agent play and write its episodes, without keeping a run.

    Args:
        tickets: Each with every seed.
        seeds: The seeds.
        out: The file.
        agent: An agent's name, or an ``Agent``.
        language: Of every episode; None for each ticket's first.
        min_return: As ``export_sft``.
        per_turn: As ``export_sft``.
        arguments: As ``export_sft``.
        settings: Keyword arguments of ``TicketEpisode``.

    Raises:
        OptionError: For a wrong setting, or an agent that isn't there.
        StoreError: If the file can't be written.
    """
    chosen = find_agent(agent) if isinstance(agent, str) else agent
    numbers = tuple(seeds)
    jobs = (Job(chosen, ticket, seed, None, language) for ticket in tickets for seed in numbers)
    return _write(map(_play(settings), jobs), out, min_return, per_turn, arguments, lambda: None)


def _play(settings: Mapping[str, Any]) -> Callable[[Job], Played]:
    def played(job: Job) -> Played:
        episode = play(job, settings)
        kept = episode["trajectory"]
        records = tuple(map(Record.from_json, kept["records"]))
        trajectory = Trajectory(kept["header"], records, kept["last"])
        row = Row.from_episode(episode)
        return Played(row, trajectory, job.ticket, settings.get("system"))

    return played


def _write(
    episodes: Iterable[Played],
    out: Path,
    min_return: float | None,
    per_turn: bool,
    arguments: str,
    advance: Callable[[], None],
) -> JsonlReport:
    report = JsonlReport("sft", str(out))
    lines: list[Mapping[str, Any]] = []
    for played in episodes:
        row = played.row
        report.episodes += 1
        if not row.valid:
            report.invalid += 1
        elif _below(row, min_return):
            report.below += 1
        else:
            try:
                chat = chat_of(
                    played.trajectory, played.ticket, system=played.system, arguments=arguments
                )
            except OptionError as error:
                report.left_out.append((played.name, str(error)))
            else:
                made = list(chat.turns()) if per_turn else [chat.row()]
                lines += [{**line, "meta": meta_of(row)} for line in made]
                report.count(row.agent, len(made))
        advance()
    write_lines(out, lines)
    return report


def _below(row: Row, least: float | None) -> bool:
    if least is None:
        return row.success is not True
    return row.return_micro is None or row.return_micro < least * 1_000_000
