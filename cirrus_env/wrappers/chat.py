"""What a language-model loop exchanges with an environment: chat messages out, raw text in."""

from __future__ import annotations

import json
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from cirrus_env.engine.formats import find_format
from cirrus_env.envs.spaces import MAX_CHARS, FreeText, observation_space
from cirrus_env.errors import OptionError
from cirrus_env.wire import AssistantAction
from cirrus_env.wrappers.inner import episode_of

FORMS: Final = ("json", "objects")


class Json(spaces.Space[Any]):
    """A space of JSON values as Python objects: what ``json.dumps`` writes strictly.

    It can't be sampled usefully (a sample is an empty list) nor put into shared memory; vector
    environments take the form ``json`` of ``ChatMessages`` instead.

    Example:
        >>> [{"role": "user", "content": "Hi"}] in Json(), {1, 2} in Json()
        (True, False)
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(None, None, seed)

    @property
    def is_np_flattenable(self) -> bool:
        """It isn't."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """An empty list."""
        return []

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a JSON value."""
        try:
            json.dumps(x, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return False
        return True

    def __repr__(self) -> str:
        return "Json()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Json)

    __hash__ = None  # type: ignore[assignment]  # as every gymnasium space with an __eq__


class ChatMessages(
    gymnasium.ObservationWrapper[dict[str, Any], Any, dict[str, Any]], RecordConstructorArgs
):
    """Observations as a chat model takes them: messages and tools.

    ## Observation Space
    A ``Dict``:

    - ``messages``: the whole dialogue as OpenAI chat messages, system message first, append-only.
    - ``tools``: OpenAI function schemas of the tools, with the pseudo-functions that close the
      ticket and hand it over.
    - ``new`` (``Discrete``): how many of the last messages came since the learner's own.

    With ``form="json"`` messages and tools are JSON texts (``FreeText``), good for vector
    environments; with ``form="objects"`` they are lists, the caller's own (``Json``).

    >>> import gymnasium, cirrus_env
    >>> env = ChatMessages(gymnasium.make("Cirrus/ECS-Billing-v0"), form="objects")
    >>> observation, _ = env.reset(seed=7)
    >>> [message["role"] for message in observation["messages"]], int(observation["new"])
    (['system', 'user'], 2)
    >>> observation["tools"][-1]["function"]["name"]
    'escalate_ticket'

    Args:
        env: A ticket environment, learner in the assistant's seat.
        form: ``json`` or ``objects``.

    Raises:
        OptionError: For another form or environment.
    """

    def __init__(self, env: gymnasium.Env[dict[str, Any], Any], form: str = "json") -> None:
        if form not in FORMS:
            raise OptionError(f"form is {' or '.join(FORMS)}, not {form!r}")
        episode_of(env)
        RecordConstructorArgs.__init__(self, form=form)
        gymnasium.ObservationWrapper.__init__(self, env)
        self._objects = form == "objects"
        self._tools = ("", "", "")
        plain = observation_space()
        self.observation_space = spaces.Dict(
            {
                "messages": Json() if self._objects else plain["transcript"],
                "tools": Json() if self._objects else plain["tools"],
                "new": spaces.Discrete(1 << 20),
            }
        )

    def observation(self, observation: dict[str, Any]) -> dict[str, Any]:
        """The observation as chat messages."""
        episode = episode_of(self.env)
        messages = json.loads(observation["transcript"])
        roles = [message["role"] for message in messages]
        new = roles[::-1].index("assistant") if "assistant" in roles else len(roles)
        if self._objects:
            return {"messages": messages, "tools": episode.chat_tools, "new": np.int64(new)}
        ticket, offered = episode.ticket.env_id, observation["tools"]
        if self._tools[:2] != (ticket, offered):
            text = json.dumps(episode.chat_tools, ensure_ascii=False)
            self._tools = (ticket, offered, text)
        return {
            "messages": observation["transcript"],
            "tools": self._tools[2],
            "new": np.int64(new),
        }


class ToolCallText(gymnasium.ActionWrapper[Any, Any, Any], RecordConstructorArgs):
    """Actions are the raw text of a model of some family.

    The text's tool calls, hidden reasoning and words are told apart in the family's format, with
    the tools of the running ticket; ``engine.formats`` has the laws. Any action that is no string
    passes as it is.

    ## Action Space
    ``FreeText``: whatever a model may write.

    >>> import gymnasium, cirrus_env
    >>> env = ToolCallText(gymnasium.make("Cirrus/ECS-Billing-v0"), format="hermes")
    >>> _ = env.reset(seed=7)
    >>> text = '<tool_call>{"name": "DescribeInstances", "arguments": {}}</tool_call>'
    >>> env.step(text)[0]["role"]
    'tool'

    Args:
        env: A ticket environment, learner in the assistant's seat.
        format: A name in ``engine.formats.FORMATS``.

    Raises:
        OptionError: For another format or environment.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], format: str = "hermes") -> None:
        episode_of(env)
        self._format = find_format(format)
        RecordConstructorArgs.__init__(self, format=format)
        gymnasium.ActionWrapper.__init__(self, env)
        self.action_space = FreeText(MAX_CHARS)

    def action(self, action: Any) -> AssistantAction | Any:
        """What the text says, as the environment takes it."""
        if not isinstance(action, str):
            return action
        return self._format(action, episode_of(self.env).tool_arguments)
