"""A policy that draws valid actions, whatever the ticket."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.baselines import reading, sampling
from cirrus_env.baselines.policy import Observation
from cirrus_env.wire import AssistantAction
from cirrus_env.world import Stream

_SAYINGS: Final = {
    "en": (
        "Which instance is it, please?",
        "I am looking into it.",
        "Since when do you see this?",
        "Is there anything else?",
        "It has been taken care of.",
        "I am afraid that this is not possible.",
    ),
    "zh": (
        "请问是哪台实例？",
        "我正在查看。",
        "请问是从什么时候开始的？",
        "还有其他问题吗？",
        "已经处理好了。",
        "抱歉，这个做不到。",
    ),
}
_BYE: Final = {"en": "Thank you, goodbye.", "zh": "谢谢，再见。"}


class RandomValid:
    """Mostly tool calls whose arguments fit their schemas, some replies, now and then an ending.

    Ids and other texts come from what the dialogue shows; every choice from a labelled stream.
    """

    name = "random"

    def __init__(self, source: Any = None) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Begin anew."""
        self._stream = Stream(seed, "policy:random")

    def act(self, observation: Observation) -> AssistantAction:
        """A valid action."""
        draw = self._stream.below(100)
        if draw < 60:
            action = self._call(observation)
            if action is not None:
                return action
        language = reading.language(observation)
        if draw >= 97:
            return AssistantAction("close", _BYE[language])
        if draw >= 95:
            queues = reading.queues(observation)
            if queues:
                queue = self._stream.choice(queues)
                return AssistantAction("escalate", _SAYINGS[language][0], queue=queue)
        return AssistantAction("reply", self._stream.choice(_SAYINGS[language]))

    def _call(self, observation: Observation) -> AssistantAction | None:
        offered = reading.tools(observation)
        words = reading.ids(observation)
        for _ in range(3):
            if not offered:
                return None
            tool = self._stream.choice(offered)
            made = sampling.arguments(tool.parameters, words, self._stream, optional=True)
            if made is not None:
                return reading.call(tool.name, made)
        return None
