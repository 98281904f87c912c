"""``cirrus-env play``: a person takes the assistant's seat."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from cirrus_env.cli import select
from cirrus_env.cli.command import OK, execute
from cirrus_env.cli.streams import Streams
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import OptionError
from cirrus_env.wire import AssistantAction, Message, ToolCall

HELP: Final = """\
What you type is said to the customer. A line that ends with a backslash goes on in the next one.
  /tools [NAME]        the tools, or one tool's arguments
  /call NAME {json}    call a tool; without arguments: /call NAME
  /close [WORDS]       close the ticket with these last words
  /escalate QUEUE TEXT hand the ticket over with a summary
  /help                this text
  /quit                stop here
  //WORDS              say WORDS with one slash in front"""


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Play one ticket; returns the exit code."""
    return execute(_command, arguments, streams)


@click.command("play")
@click.argument("ticket")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--variant", help="The root cause; drawn by the seed if left out.")
@click.option("--language", help="en or zh; the ticket's first if left out.")
@select.customer
@click.pass_obj
def _command(
    streams: Streams,
    ticket: str,
    seed: int,
    variant: str | None,
    language: str | None,
    customer: str | None,
) -> int:
    """Answer a customer yourself: talk, call tools, close or escalate."""
    (chosen, *more) = select.tickets([ticket])
    if more:
        names = ", ".join(t.env_id for t in (chosen, *more))
        raise OptionError(f"play takes one ticket; {ticket!r} means {names}")
    episode = TicketEpisode(chosen, language=language, customer=customer)
    episode.reset(seed=seed, options={"variant": variant} if variant else None)
    Session(episode, streams).play()
    return OK


class Session:
    """A person at the assistant's seat of one running episode.

    Args:
        episode: Just reset.
        streams: Where the person reads and types.
    """

    def __init__(self, episode: TicketEpisode, streams: Streams) -> None:
        self._episode = episode
        self._streams = streams
        self._commands: dict[str, Callable[[str], AssistantAction | None]] = {
            "/tools": self._tools,
            "/call": self._call,
            "/close": lambda text: AssistantAction("close", text),
            "/escalate": self._escalate,
            "/help": lambda _: self._line(HELP),
        }

    def play(self) -> None:
        """Until the episode ends, the person quits or the input ends."""
        episode = self._episode
        self._line(f"{episode.ticket.title} ({episode.ticket.env_id}); /help says what you can do.")
        for message in episode.messages[1:]:
            self._show(message)
        while episode.outcome is None:
            typed = self._read()
            if typed is None or typed.strip() == "/quit":
                episode.truncate()
                break
            action = self._understand(typed)
            if action is not None:
                for message in episode.step(action).delta:
                    self._show(message)
        self._end()

    def _read(self) -> str | None:
        """What the person typed; None at the end of the input."""
        streams = self._streams
        person = streams.input.isatty()
        lines: list[str] = []
        while True:
            if person:
                streams.out.write("... " if lines else "you> ")
                streams.out.flush()
            line = streams.input.readline()
            if not line:
                self._line()
                return "\n".join(lines) if lines else None
            line = line.removesuffix("\n")
            if not line.endswith("\\"):
                lines.append(line)
                break
            lines.append(line[:-1])
        text = "\n".join(lines)
        if not person:
            self._line(f"you> {text}")
        return text

    def _understand(self, typed: str) -> AssistantAction | None:
        """The action that the line means; None for one that only looks at something."""
        text = typed.strip()
        if text.startswith("//"):
            return AssistantAction("reply", text[1:])
        if not text.startswith("/"):
            return AssistantAction("reply", text) if text else None
        name, _, rest = text.partition(" ")
        command = self._commands.get(name)
        if command is None:
            self._line(f"There is no {name}; /help lists what there is.")
            return None
        return command(rest.strip())

    def _tools(self, name: str) -> None:
        schemas = [tool["function"] for tool in self._episode.tools]
        if not schemas:
            self._line("This ticket offers no tools: talk to the customer.")
        elif not name:
            for tool in schemas:
                required = ", ".join(tool["parameters"].get("required", ()))
                self._line(f"  {tool['name']}({required}): {tool['description']}")
        elif name in self._episode.tool_names:
            tool = schemas[self._episode.tool_names.index(name)]
            self._line(json.dumps(tool, indent=2, ensure_ascii=False))
        else:
            self._line(f"There is no tool {name}; /tools lists them.")

    def _call(self, text: str) -> AssistantAction | None:
        name, _, arguments = text.partition(" ")
        if not name:
            self._line("Write /call NAME {json}; /tools lists the names.")
            return None
        return AssistantAction("call", calls=(ToolCall("", name, arguments.strip() or "{}"),))

    def _escalate(self, text: str) -> AssistantAction | None:
        queues = self._episode.scenario.public.queues
        queue, _, summary = text.partition(" ")
        if queue not in queues:
            self._line(f"Write /escalate QUEUE TEXT; queues: {', '.join(queues) or 'none'}.")
            return None
        return AssistantAction("escalate", summary.strip(), queue=queue)

    def _show(self, message: Message) -> None:
        content = str(message["content"])
        if message["role"] == "tool":
            self._streams.labelled(message["name"], _pretty(content))
        else:
            self._streams.labelled("notice" if message.get("name") else "customer", content)

    def _end(self) -> None:
        episode = self._episode
        outcome = episode.outcome
        if outcome is None:
            return
        header, metrics = episode.header, episode.metrics()
        gained = sum(record.reward_micro for record in episode.records) / 1_000_000
        self._line()
        self._line(f"outcome: {outcome.name} (cause: {header['variant']}), return {gained:.3f}")
        passed = {e.name for r in episode.records for e in r.events if e.kind == "passed"}
        for checkpoint in episode.scenario.gold.checkpoints:
            mark = "passed" if checkpoint.id in passed else "not passed"
            self._line(f"  {checkpoint.id} ({checkpoint.kind}): {mark}")
        for name, value in outcome.assertions:
            self._line(f"  {name}: {'holds' if value else 'does not hold'}")
        kept = ("replies", "tokens", "invalid_turns", "policy_violations", "satisfaction")
        self._line("  " + ", ".join(f"{k.replace('_', ' ')} {metrics[k]}" for k in kept))

    def _line(self, text: str = "") -> None:
        self._streams.line(text)


def _pretty(content: str) -> str:
    try:
        value: Any = json.loads(content)
    except ValueError:
        return content
    return json.dumps(value, indent=2, ensure_ascii=False)
