"""``TokenBudget``: an episode that talks too much ends."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import OptionError
from cirrus_env.judging.tokens import visible_tokens
from cirrus_env.wrappers.inner import Result, amount, assistant_env_of, stopped
from cirrus_env.wrappers.turns import played, turns_of

UNLIMITED = -1


class TokenBudget(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Budgets for what the assistant writes, in visible tokens as the metrics count them.

    Visible are its words and its calls' names and arguments, of malformed actions too, a token
    being a quarter of their UTF-8 bytes (``judging.tokens``); hidden reasoning is free.

    ## Episode End
    The action that passes a budget is played; unless it ends the ticket by itself the episode is
    then truncated:

    - past ``episode`` at once, before anybody answers, with the outcome ``token_limit``
      (``max_tokens`` of ``TicketEnv``);
    - past ``turn``, in all actions of one turn together, after what comes back, with the outcome
      ``stopped``.

    ``info["tokens_left"]`` is what is left of the episode's limit, -1 where there is none.

    >>> import gymnasium, cirrus_env
    >>> env = TokenBudget(gymnasium.make("Cirrus/ECS-Billing-v0"), turn=40, episode=100)
    >>> env.reset(seed=7)[1]["tokens_left"]
    100
    >>> env.step("Which instance is it, please?")[-1]["tokens_left"]
    92
    >>> _, _, terminated, truncated, info = env.step("Well, " * 30)
    >>> terminated, truncated, info["outcome"], info["tokens_left"]
    (False, True, 'stopped', 47)

    Args:
        env: A ticket environment, learner in the assistant's seat.
        turn: Visible tokens of one turn; None for no limit.
        episode: Visible tokens of the whole episode, from the next ``reset`` on; None leaves the
            environment's own limit.

    Raises:
        OptionError: For no budget, one that is no positive integer, or another environment.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        turn: int | None = None,
        episode: int | None = None,
    ) -> None:
        inner = assistant_env_of(env)
        if amount("turn", turn) is None and amount("episode", episode) is None:
            raise OptionError("a token budget needs turn, episode or both")
        RecordConstructorArgs.__init__(self, turn=turn, episode=episode)
        gymnasium.Wrapper.__init__(self, env)
        self._inner, self._turn = inner, turn
        if episode is not None:
            inner.configure(max_tokens=amount("episode", episode))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        info["tokens_left"] = tokens_left(self._inner.episode)
        return observation, info

    def step(self, action: Any) -> Result:
        """Act, and stop the episode if the turn has become too long."""
        last = self.env.step(action)
        ended = last[2] or last[3]
        if self._turn is not None and not ended and turn_tokens(self._inner.episode) > self._turn:
            last = stopped(self._inner, last)
        last[4]["tokens_left"] = tokens_left(self._inner.episode)
        return last


def turn_tokens(episode: TicketEpisode) -> int:
    """The visible tokens of the latest turn."""
    turns = turns_of(played(episode))
    return sum(visible_tokens(record.action) for record in turns[-1].own) if turns else 0


def tokens_left(episode: TicketEpisode) -> int:
    """What is left of the episode's visible tokens; ``UNLIMITED`` where there is no limit."""
    limit = episode.setting.limits.max_tokens
    return UNLIMITED if limit is None else max(0, limit - episode.state.tokens)
