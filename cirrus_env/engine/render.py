"""Between messages and token ids, in one direction each: token in, token out.

A chat template writes a whole conversation. A trainer must never see one written again: decoding
what a model sampled and encoding it anew gives other ids. So only two things are ever written: the
prompt, and the messages that came back since the model's last turn. What the model sampled stands
between them as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Protocol

from cirrus_env.errors import MalformedText, RenderError
from cirrus_env.wire import AssistantAction, Message, canonical, strict_loads

Ids = Sequence[int]
Tools = Sequence[dict[str, Any]]


class Render(Protocol):
    """What ``TokenEpisode`` asks of a model family's chat format."""

    def prompt(self, messages: Sequence[Message], tools: Tools) -> list[int]:
        """The ids of a conversation up to where the assistant begins to write."""
        ...

    def delta(self, before: Ids, turn: Ids, messages: Sequence[Message], tools: Tools) -> list[int]:
        """The ids of what came back, up to where the assistant begins to write again.

        Args:
            before: Everything up to the model's last turn.
            turn: What the model sampled in it.
            messages: Tool results in call order, then the customer's words; never empty.
            tools: The function schemas of the prompt.
        """
        ...

    def read(self, before: Ids, turn: Ids, tools: Tools) -> Any:
        """What the model sampled, as ``TicketEpisode.step`` takes it: a text or an action."""
        ...


_QUESTION: Final[Message] = {"role": "user", "content": "q"}
_TOOL: Final[dict[str, Any]] = {
    "type": "function",
    "function": {
        "name": "f",
        "description": "d",
        "parameters": {"type": "object", "properties": {}},
    },
}
_PROBES: Final[Mapping[str, Message]] = {
    "user": {"role": "user", "content": "r"},
    "tool": {"role": "tool", "tool_call_id": "call000001", "name": "f", "content": "r"},
}


class PrefixRender:
    """Any Hugging Face tokenizer with a chat template, by the prefix trick.

    What came back is written after a made-up turn of the assistant, once with it and once without;
    the difference is its ids. That is right as long as the template writes what came before in the
    same way whatever follows, with tools and without, which is tried for both roles here. Many
    templates drop an earlier turn's reasoning as soon as the user speaks again: then give
    ``chat_template`` one that keeps it.

    Args:
        tokenizer: Has ``apply_chat_template``, ``decode`` and ``eos_token_id``.
        chat_template: A template to use instead of the tokenizer's.
        template_kwargs: Further variables of the template, such as ``{"enable_thinking": False}``.
        stop_ids: The ids that end a turn; the tokenizer's ``eos_token_id`` by default.
        roles: Which roles come back: those of ``user`` and ``tool`` that are tried.

    Raises:
        RenderError: If the template breaks the prefix for one of these roles, or leaves out the
            tools although their results come back; names the role.
    """

    __slots__ = ("_before_words", "_kwargs", "_template", "_tokenizer", "stop_ids")

    def __init__(
        self,
        tokenizer: Any,
        *,
        chat_template: str | None = None,
        template_kwargs: Mapping[str, Any] | None = None,
        stop_ids: Collection[int] | None = None,
        roles: Collection[str] = ("user", "tool"),
    ) -> None:
        self._tokenizer = tokenizer
        self._template = chat_template
        self._kwargs = dict(template_kwargs or {})
        if stop_ids is None:
            stop_ids = () if tokenizer.eos_token_id is None else (tokenizer.eos_token_id,)
        self.stop_ids = frozenset(stop_ids)
        # what stands before the customer's words is always the same: written once
        self._before_words: tuple[list[int], int | None] | None = None
        for role in roles:
            self._try(role)
        if "user" in roles:
            self._before_words = self._head({"role": "assistant", "content": "a"}, ())
        if "tool" in roles and self.prompt([_QUESTION], (_TOOL,)) == self.prompt([_QUESTION], ()):
            raise RenderError("tool", "doesn't tell the model of its tools")

    def prompt(self, messages: Sequence[Message], tools: Tools) -> list[int]:
        """See ``Render``."""
        return self._ids([_readable(message) for message in messages], tools, opened=True)

    def delta(self, before: Ids, turn: Ids, messages: Sequence[Message], tools: Tools) -> list[int]:
        """See ``Render``. An end of turn that the model didn't sample is written first."""
        ended = bool(turn) and turn[-1] in self.stop_ids
        return self._delta(messages, (), ended=ended)

    def read(self, before: Ids, turn: Ids, tools: Tools) -> str:
        """The turn's text without its end; special tokens stay, since calls are made of them."""
        end = len(turn)
        while end and turn[end - 1] in self.stop_ids:
            end -= 1
        text: str = self._tokenizer.decode(
            list(turn[:end]), skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return text

    def _try(self, role: str) -> None:
        message = _PROBES[role]
        try:
            with_tools = self._delta([message], (_TOOL,), ended=True)
            same = with_tools == self._delta([message], (), ended=True)
        except RenderError:
            raise
        except Exception as error:  # a template raises whatever it likes
            raise RenderError(role, f"can't write such a message: {error}") from error
        if not same:
            raise RenderError(role, "writes such a message otherwise where there are tools")

    def _delta(self, messages: Sequence[Message], tools: Tools, *, ended: bool) -> list[int]:
        results = [message for message in messages if message["role"] == "tool"]
        turn: Message = {"role": "assistant", "content": "" if results else "a"}
        if results:
            turn["tool_calls"] = [
                {
                    "id": result["tool_call_id"],
                    "type": "function",
                    "function": {"name": result["name"], "arguments": {}},
                }
                for result in results
            ]
        if results or tools or self._before_words is None:
            head, stop = self._head(turn, tools)
        else:
            head, stop = self._before_words
        whole = self._ids([_QUESTION, turn, *messages], tools, opened=True)
        # behind the end of a turn a template may write more, such as a new line
        kept = len(head) if stop is None else stop + 1
        if whole[:kept] != head[:kept]:
            role = messages[0]["role"]
            raise RenderError(role, "writes what came before otherwise once such a message follows")
        if stop is not None and not ended:
            kept = stop
        return whole[kept:]

    def _head(self, turn: Message, tools: Tools) -> tuple[list[int], int | None]:
        """A made-up conversation with this turn, and where the turn's end stands in it."""
        head = self._ids([_QUESTION, turn], tools, opened=False)
        begin = len(self._ids([_QUESTION], tools, opened=False))
        return head, _last(head, begin, self.stop_ids)

    def _ids(self, messages: Sequence[Message], tools: Tools, *, opened: bool) -> list[int]:
        ids: list[int] = self._tokenizer.apply_chat_template(
            list(messages),
            tools=list(tools) or None,
            chat_template=self._template,
            add_generation_prompt=opened,
            tokenize=True,
            return_dict=False,
            **self._kwargs,
        )
        return list(ids)


class RenderersRender:
    """A renderer of the PyPI package ``renderers``, which also reads the calls itself.

    Args:
        renderer: Made by ``renderers.create_renderer``, with ``thinking_retention="all"`` where the
            family's template drops earlier reasoning: ``bridge_to_next_turn`` must not refuse.
    """

    __slots__ = ("_renderer", "stop_ids")

    def __init__(self, renderer: Any) -> None:
        self._renderer = renderer
        self.stop_ids = frozenset(renderer.get_stop_token_ids())

    def prompt(self, messages: Sequence[Message], tools: Tools) -> list[int]:
        """See ``Render``."""
        given = [_readable(message) for message in messages]
        return list(
            self._renderer.render_ids(given, tools=list(tools) or None, add_generation_prompt=True)
        )

    def delta(self, before: Ids, turn: Ids, messages: Sequence[Message], tools: Tools) -> list[int]:
        """See ``Render``.

        Raises:
            RenderError: If the renderer refuses to extend the conversation, or rewrites it.
        """
        known = [*before, *turn]
        bridged = self._renderer.bridge_to_next_turn(
            list(before), list(turn), list(messages), tools=list(tools) or None
        )
        role = messages[0]["role"]
        if bridged is None:
            raise RenderError(role, "refuses to go on from a sampled turn (thinking_retention?)")
        ids = list(bridged.token_ids)
        if ids[: len(known)] != known:
            raise RenderError(role, "writes what came before otherwise once such a message follows")
        return ids[len(known) :]

    def read(self, before: Ids, turn: Ids, tools: Tools) -> Message | AssistantAction:
        """The turn as a chat message; one with a broken call as a malformed action."""
        given = self._renderer.parse_response(
            list(turn), tools=list(tools) or None, prompt_ids=list(before)
        )
        text, reasoning = given.content or "", given.reasoning_content or ""
        for call in given.tool_calls:
            # of a call to an unknown tool the episode says so itself
            if call.name is None or str(call.status) not in ("ok", "unknown_tool"):
                fault = f"a tool call can't be read: {call.status}"
                return AssistantAction("reply", text or call.raw, reasoning=reasoning, fault=fault)
        calls = [
            {
                "id": call.id or "",
                "type": "function",
                "function": {"name": call.name, "arguments": _written(call.arguments)},
            }
            for call in given.tool_calls
        ]
        return {
            "role": "assistant",
            "content": text,
            "reasoning_content": reasoning,
            "tool_calls": calls,
        }


def _written(arguments: Any) -> str:
    if arguments is None:
        return "{}"
    return arguments if isinstance(arguments, str) else canonical(arguments)


def _last(ids: Ids, begin: int, wanted: Collection[int]) -> int | None:
    for index in range(len(ids) - 1, begin - 1, -1):
        if ids[index] in wanted:
            return index
    return None


def _readable(message: Message) -> Message:
    """The message with its calls' arguments as objects: templates write them as JSON themselves."""
    if not message.get("tool_calls"):
        return message
    calls = [
        {**call, "function": {**call["function"], "arguments": _read(call["function"])}}
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def _read(function: Mapping[str, Any]) -> Any:
    try:
        return strict_loads(function["arguments"] or "{}")
    except MalformedText:
        return function["arguments"]
