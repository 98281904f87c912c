"""``RecordTrajectories``: every finished episode goes to a sink."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from cirrus_env._version import __version__
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.storing import as_stored
from cirrus_env.errors import OptionError
from cirrus_env.wire import Record, encodes
from cirrus_env.wrappers.inner import Result, ticket_env_of

Sink = Callable[[dict[str, Any]], Any]
"""Takes an episode as JSON, its own to keep."""


class RecordTrajectories(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Hands every finished episode to a sink, as runs store them.

    An episode is handed over when the step returns that ended it; one that another wrapper or
    ``truncate`` stopped after that, at the next ``reset`` or ``close``. One that is left before its
    end is dropped. Nothing else changes.

    What the sink gets is JSON: the fields of ``runner.rows.Row``, ``key`` (agent, ticket, seed,
    variant, language, and this wrapper's count from 0), ``trajectory`` (header, records, last), and
    ``run``, which says what scoring it again needs beside them: the package's version, the reward
    rule, the settings, the ticket's constants, and its text where it doesn't ship with the package.
    What the sink raises comes out of ``step``, ``reset`` or ``close``; the next of them hands the
    episode over again.

    >>> import gymnasium, cirrus_env
    >>> episodes = []
    >>> env = RecordTrajectories(gymnasium.make("Cirrus/ECS-Billing-v0"), episodes.append)
    >>> _ = env.reset(seed=7)
    >>> _ = env.step({"type": 2, "text": "Goodbye.", "tool": 0, "arguments": ""})
    >>> episodes[0]["outcome"], len(episodes[0]["trajectory"]["records"])
    ('closed_early', 2)

    ``runner.recording.RunRecorder`` is a sink that writes a run's folder.

    Args:
        env: A ticket environment.
        sink: A function of one episode, such as a list's ``append``.
        agent: As results name who played.

    Raises:
        OptionError: For a sink that can't be called, a name that can't be stored, or another
            environment.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], sink: Sink, *, agent: str = "learner") -> None:
        inner = ticket_env_of(env)
        if not callable(sink):
            raise OptionError(f"a sink is a function of one episode, not {sink!r}")
        # a copy of the sink would keep the episodes to itself
        RecordConstructorArgs.__init__(
            self, _disable_deepcopy=True, sink=sink, agent=name_of(agent)
        )
        gymnasium.Wrapper.__init__(self, env)
        self._inner, self._sink, self._agent = inner, sink, agent
        self._count = 0
        self._last: Record | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        self._hand_over()
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> Result:
        """Act; what ends the episode hands it over."""
        last = self.env.step(action)
        self._hand_over()
        return last

    def close(self) -> None:
        """Let the episode go."""
        self._hand_over()
        self.env.close()

    def _hand_over(self) -> None:
        episode = self._inner.episode
        if episode.outcome is None or episode.records[-1] is self._last:
            return
        header = episode.header
        key = [header[name] for name in ("ticket", "seed", "variant", "language")]
        stored = as_stored(episode, self._agent, [self._agent, *key, self._count])
        self._sink({**stored, "run": run_of(episode)})
        self._count += 1
        self._last = episode.records[-1]


def run_of(episode: TicketEpisode) -> dict[str, Any]:
    """What a run's manifest says that an episode played like this one belongs to."""
    ticket, setting = episode.ticket, episode.setting
    return {
        "version": __version__,
        "reward": setting.rule.to_json(),
        "settings": {} if setting.system is None else {"system": setting.system},
        "constants": dict(ticket.constants),
        "source": None if ticket.bundled else ticket.text,
    }


def name_of(agent: Any) -> str:
    """An agent's name, as results can keep it.

    Raises:
        OptionError: If they can't.
    """
    if not isinstance(agent, str) or not agent or not encodes(agent):
        raise OptionError(f"an agent's name is a text that has a UTF-8 form, not {agent!r}")
    return agent
