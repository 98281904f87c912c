"""``CustomReward``: the ticket's return under another rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from cirrus_env.judging.reward import RewardRule
from cirrus_env.wrappers.inner import assistant_env_of


class CustomReward(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """The reward is the change of the return that another rule defines.

    Unlike a ``gymnasium.RewardWrapper`` it changes the ticket's own return: rewards, records, what
    is stored and what is scored again later agree to the millionth.

    ## Rewards
    As ``TicketEnv`` made with this ``reward``, from the next ``reset`` on. The last one put around
    an environment counts.

    >>> import gymnasium, cirrus_env
    >>> env = CustomReward(gymnasium.make("Cirrus/ECS-Billing-v0"), {"preset": "dense", "nei": 0.1})
    >>> _ = env.reset(seed=7)
    >>> reward = env.step("Which instance is it, please?")[1]
    >>> 0.02 < reward < 0.05
    True

    Args:
        env: A ticket environment, learner in the assistant's seat.
        rule: A preset (``cirrus``, ``sparse``, ``dense``, ``shaped``, ``paper``); weights by term,
            optionally with ``preset`` and ``gamma``; or a ``RewardRule``, also with a function.

    Raises:
        OptionError: For another rule or environment.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], rule: str | Mapping[str, Any] | RewardRule
    ) -> None:
        inner = assistant_env_of(env)
        RecordConstructorArgs.__init__(self, rule=rule)
        gymnasium.Wrapper.__init__(self, env)
        inner.configure(reward=rule)
