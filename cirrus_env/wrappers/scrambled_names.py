"""``ScrambledNames``: tools under names that mean nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from cirrus_env.engine.names import scrambled
from cirrus_env.wrappers.inner import ticket_env_of


class ScrambledNames(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """The tools are shown under names that mean nothing: what they do has to be read.

    Schemas, results, policies and the customer's words speak of the tools by these names, and a
    call by a true name is unknown. Trajectories and metrics keep the true names, so that results
    are comparable. One seed gives a tool the same name in every ticket. Arguments and the functions
    that close and hand over keep theirs. In force from the next ``reset`` on.

    >>> import gymnasium, json, cirrus_env
    >>> env = ScrambledNames(gymnasium.make("Cirrus/ECS-Billing-v0"), seed=1)
    >>> observation, _ = env.reset(seed=7)
    >>> name = env.names["DescribeInstances"]
    >>> name.startswith("tool_"), name in observation["tools"]
    (True, True)

    Args:
        env: A ticket environment.
        seed: Chooses the names.

    Raises:
        OptionError: For another seed or environment.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], seed: int = 0) -> None:
        inner = ticket_env_of(env)
        RecordConstructorArgs.__init__(self, seed=seed)
        gymnasium.Wrapper.__init__(self, env)
        self._seed = seed
        inner.configure(scramble=seed)

    @property
    def names(self) -> Mapping[str, str]:
        """True name -> the name that is shown, in the running episode.

        Raises:
            EpisodeNotRunning: Before ``reset``.
        """
        return scrambled(ticket_env_of(self).episode.scenario.cloud.catalogue, self._seed).shown
