"""Text formats in which model families write tool calls: one reader and one writer each.

``FORMATS`` names them; each is a parser for ``TicketEpisode(parser=...)``. Laws that hold for all:
``n`` calls in a text are ``n`` calls of the action, or its fault; a call that can't be read is a
counted mistake, never chat; calls and stop words inside reasoning do nothing; a text that merely
looks like a call stays text; nothing is run or guessed; the time is linear in the text.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cirrus_env.engine.formats import (
    auto,
    deepseek,
    glm,
    hermes,
    kimi,
    mistral,
    plain_json,
    pythonic,
    qwen3_coder,
)
from cirrus_env.engine.formats.found import Found, Tools, action_of, schemas
from cirrus_env.engine.formats.scan import trimmed
from cirrus_env.errors import OptionError
from cirrus_env.wire import AssistantAction, ToolCall

__all__ = ["FORMATS", "TextFormat", "find_format", "render_calls"]


@dataclass(frozen=True, slots=True)
class TextFormat:
    """One format; called with a text it is a parser.

    Attributes:
        name: Its name in ``PARSERS``.
        find: Reads a text, given what is known of the tools.
        write: Writes calls.
    """

    name: str
    find: Callable[[str, Tools | None], Found]
    write: Callable[[Sequence[ToolCall]], str]

    def __call__(
        self, text: str, tools: Tools | Sequence[Mapping[str, Any]] | None = None
    ) -> AssistantAction:
        """Read a model's text.

        Args:
            text: What the model wrote, with its special tokens or without.
            tools: The tools on offer: OpenAI function schemas, or argument schemas by name. Values
                without quotes are typed by them, and calls without marks are told from words. An
                episode gives its own.
        """
        return action_of(self.find(trimmed(text), schemas(tools)))


_ALL: Final = (
    TextFormat("hermes", hermes.find, hermes.write),
    TextFormat("qwen", hermes.find, hermes.write),
    TextFormat("qwen3-coder", qwen3_coder.find, qwen3_coder.write),
    TextFormat("llama3-json", plain_json.find_llama, plain_json.write_llama),
    TextFormat("llama3-pythonic", pythonic.find, pythonic.write),
    TextFormat("pythonic", pythonic.find, pythonic.write),
    TextFormat("mistral", mistral.find, mistral.write),
    TextFormat("deepseek", deepseek.find, deepseek.write),
    TextFormat("glm", glm.find, glm.write),
    TextFormat("kimi", kimi.find, kimi.write),
    TextFormat("json", plain_json.find_json, plain_json.write_json),
    TextFormat("auto", auto.find, hermes.write),
)

FORMATS: Final[Mapping[str, TextFormat]] = {form.name: form for form in _ALL}
"""The formats by name; ``qwen`` is ``hermes``, ``auto`` tells them apart by their marks."""


def find_format(name: str) -> TextFormat:
    """The format of this name.

    Raises:
        OptionError: If there is none; near names are suggested.
    """
    form = FORMATS.get(name) if isinstance(name, str) else None
    if form is None:
        near = difflib.get_close_matches(str(name), FORMATS, n=2)
        hint = f" (did you mean {' or '.join(near)}?)" if near else ""
        raise OptionError(f"there is no format {name!r}{hint}; there are {', '.join(FORMATS)}")
    return form


def render_calls(form: str, calls: Sequence[ToolCall]) -> str:
    r"""Write calls as a format has them; what its parser reads back is the same.

    Formats without quotes need the tools' schemas to read back texts that look like numbers.

    Args:
        form: A name in ``FORMATS``.
        calls: At least one, each with a JSON object as its arguments.

    Raises:
        OptionError: For a name that isn't there, or a value that can't be written in this format.

    Example:
        >>> render_calls("hermes", [ToolCall("", "ListRegions", "{}")])
        '<tool_call>\n{"name": "ListRegions", "arguments": {}}\n</tool_call>'
    """
    return find_format(form).write(calls)
