"""``TicketVectorEnv``: many tickets at once in one process, waiting together for their models."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from cirrus_env.customers.protocol import awaited
from cirrus_env.engine.setting import as_customer
from cirrus_env.envs.source import TicketLike
from cirrus_env.envs.ticket_env import TicketEnv
from cirrus_env.envs.vector_info import merged
from cirrus_env.errors import EpisodeNotRunning, InvalidAction, OptionError

T = TypeVar("T")

Batch = dict[str, Any]
Result = tuple[Batch, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Batch]
_Step = tuple[Any, float, bool, bool, dict[str, Any]]
_Begun = tuple[Any, dict[str, Any]]


class TicketVectorEnv(SyncVectorEnv):
    """Several environments of one id, stepped together.

    ## Description
    What ``gymnasium.make_vec("Cirrus/...", num_envs=n)`` gives. Each sub-environment is the single
    one, with the same results byte for byte; a pool's draw their tickets each by its own seed.
    Where models play the customers, all pending calls are awaited at once. There are no threads.

    >>> import gymnasium, cirrus_env
    >>> envs = gymnasium.make_vec("Cirrus/Train-v0", num_envs=3, autoreset_mode="SameStep")
    >>> observations, infos = envs.reset(seed=7)
    >>> [str(seed) for seed in infos["seed"]], observations["turn"].tolist()
    (['7', '8', '9'], [0, 0, 0])
    >>> observations, rewards, _, _, infos = envs.step(["Which one is it?"] * 3)
    >>> rewards.shape, observations["turn"].tolist(), len(observations["message"])
    ((3,), [1, 1, 1], 3)

    ## Observation Space
    The batch of ``TicketEnv``'s: texts are tuples of ``num_envs`` strings, numbers arrays.

    ## Action Space
    The batch of ``TicketEnv``'s, or a list of ``num_envs`` actions of any form that it takes. All
    are read before any is played: an ``InvalidAction`` names the sub-environment and nothing has
    changed.

    ## Rewards
    An array of ``num_envs`` floats, each as the single environment's.

    ## Starting State
    ``reset(seed=s)`` gives sub-environment ``i`` the seed ``s + i``; a list gives each its own.
    ``options={"reset_mask": mask}`` resets those where the mask (a boolean array) is true.

    ## Episode End
    By ``autoreset_mode``, as Gymnasium defines them: ``NextStep`` (an ended one is reset by the
    next step, whose action it ignores), ``SameStep`` (at once; the last observation and info are in
    ``infos["final_obs"]`` and ``infos["final_info"]``) or ``Disabled`` (by ``reset_mask``). With
    models as customers ``SameStep`` or ``Disabled`` waste no call.

    ## Arguments
    Those of ``TicketEnv``, for all alike, and

    Args:
        ticket: As ``TicketEnv``.
        num_envs: How many.
        autoreset_mode: See above.

    Raises:
        OptionError: For an argument that can't be used.

    ## Version History
    * v0: Initial version.
    """

    envs: list[TicketEnv]  # type: ignore[assignment]
    _runner: asyncio.Runner | None

    def __init__(
        self,
        ticket: TicketLike | Sequence[TicketLike],
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        **arguments: Any,
    ) -> None:
        # first, since Gymnasium closes whatever was begun, also where an argument is refused
        self.envs, self._runner = [], None
        try:
            mode = AutoresetMode(autoreset_mode)
        except ValueError:
            known = ", ".join(str(mode.value) for mode in AutoresetMode)
            raise OptionError(f"autoreset_mode is one of {known}, not {autoreset_mode!r}") from None
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise OptionError(f"num_envs must be a positive integer, not {num_envs!r}")
        make: Callable[[], TicketEnv] = partial(TicketEnv, ticket, **arguments)
        super().__init__([make] * num_envs, copy=False, autoreset_mode=mode)
        self._ended: NDArray[np.bool_] = np.zeros(num_envs, dtype=np.bool_)
        self._latest: list[Any] = [None] * num_envs

    # -- playing --------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Batch, Batch]:
        """Reset all sub-environments, or those of ``options["reset_mask"]``.

        Args:
            seed: One for the first, the next for the next; or a list; None for new ones.
            options: As ``TicketEnv.reset``, and ``reset_mask``.

        Raises:
            OptionError: For an option or mask that can't be used.
        """
        chosen, seeds, rest = self._choose(seed, options)
        if self._awaits(rest):
            return self._run(self._areset(chosen, seeds, rest))
        with _collecting_once():
            begun = [self.envs[i].reset(seed=seeds[i], options=rest) for i in chosen]
        return self._begin(chosen, begun)

    async def areset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Batch, Batch]:
        """``reset`` inside an event loop."""
        return await self._areset(*self._choose(seed, options))

    def step(self, actions: Any) -> Result:
        """One step of each sub-environment.

        Args:
            actions: A batch of the action space, or a list of ``num_envs`` actions.

        Raises:
            InvalidAction: For a programmer's mistake; nothing has changed.
            EpisodeNotRunning: Before ``reset``; with ``Disabled`` also where one has ended.
        """
        read = self._read(actions)
        if self._awaits(None):
            return self._run(self._astep(read))
        finals: dict[int, _Step] = {}
        with _collecting_once():
            results = [self._played(i, action, finals) for i, action in enumerate(read)]
        return self._step(results, finals)

    async def astep(self, actions: Any) -> Result:
        """``step`` inside an event loop."""
        return await self._astep(self._read(actions))

    def close_extras(self, **kwargs: Any) -> None:
        """Let all episodes and the event loop go."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None
        super().close_extras(**kwargs)

    # -- inside ---------------------------------------------------------------------------------

    def _choose(
        self, seed: int | Sequence[int | None] | None, options: Mapping[str, Any] | None
    ) -> tuple[list[int], list[int | None], dict[str, Any] | None]:
        """Which are reset, with which seeds and options."""
        number = self.num_envs
        if seed is None:
            seeds: list[int | None] = [None] * number
        elif isinstance(seed, Sequence) and not isinstance(seed, str):
            seeds = list(seed)
        elif isinstance(seed, int | np.integer) and not isinstance(seed, bool):
            seeds = [int(seed) + i for i in range(number)]
        else:
            raise OptionError(f"seed is an integer or a list of {number}, not {seed!r}"[:200])
        if len(seeds) != number:
            raise OptionError(f"there are {len(seeds)} seeds for {number} environments")
        if options is None or "reset_mask" not in options:
            return list(range(number)), seeds, None if options is None else dict(options)
        rest = {key: value for key, value in options.items() if key != "reset_mask"}
        mask = options["reset_mask"]
        shape, kind = getattr(mask, "shape", None), getattr(mask, "dtype", None)
        if shape != (number,) or kind != np.bool_ or not mask.any():
            raise OptionError(
                f"reset_mask is a boolean array of {number} with at least one True, not {mask!r}"
            )
        chosen = [int(i) for i in np.flatnonzero(mask)]
        never = [i for i, latest in enumerate(self._latest) if latest is None and i not in chosen]
        if never:
            raise OptionError(f"reset_mask leaves out {never[0]}, which was never reset")
        return chosen, seeds, rest or None

    async def _areset(
        self, chosen: list[int], seeds: list[int | None], options: dict[str, Any] | None
    ) -> tuple[Batch, Batch]:
        begun = await _together(self.envs[i].areset(seed=seeds[i], options=options) for i in chosen)
        return self._begin(chosen, begun)

    def _begin(self, chosen: list[int], begun: Sequence[_Begun]) -> tuple[Batch, Batch]:
        infos: list[Mapping[str, Any] | None] = [None] * self.num_envs
        for i, (observation, info) in zip(chosen, begun, strict=True):
            self._latest[i], infos[i] = observation, info
            self._ended[i] = False
        return self._batch(), merged(infos)

    def _read(self, actions: Any) -> list[Any]:
        """One action for each, read as far as that changes nothing."""
        given = self._each(actions)
        if any(latest is None for latest in self._latest):
            raise EpisodeNotRunning("call reset first")
        if self.autoreset_mode is AutoresetMode.DISABLED and self._ended.any():
            ended = [int(i) for i in np.flatnonzero(self._ended)]
            raise EpisodeNotRunning(f"reset those that have ended first: {ended}"[:200])
        read = []
        for i, (env, action) in enumerate(zip(self.envs, given, strict=True)):
            try:
                read.append(None if self._waiting(i) else env.read(action))
            except InvalidAction as error:
                raise InvalidAction(f"environment {i}: {error}") from None
        return read

    def _each(self, actions: Any) -> Sequence[Any]:
        if isinstance(actions, Mapping):
            keys = self.single_action_space.keys()  # type: ignore[attr-defined]
            if actions.keys() != keys:
                wanted = ", ".join(sorted(keys))
                raise InvalidAction(f"a batch of actions has exactly the keys {wanted}")
            given = [dict(action) for action in iterate(self.action_space, actions)]
        elif isinstance(actions, list | tuple | np.ndarray):
            given = list(actions)
        else:
            raise InvalidAction(
                f"actions are a batch or a list of {self.num_envs}, not {type(actions).__name__}"
            )
        if len(given) != self.num_envs:
            raise InvalidAction(f"there are {len(given)} actions for {self.num_envs} environments")
        return given

    def _waiting(self, i: int) -> bool:
        """Whether this step only resets it."""
        return self.autoreset_mode is AutoresetMode.NEXT_STEP and bool(self._ended[i])

    def _awaits(self, options: Mapping[str, Any] | None) -> bool:
        """Whether a customer of any of them is awaited."""
        chosen = None if options is None else options.get("customer")
        if chosen is not None:
            return awaited(as_customer(chosen)) is not None
        return any(awaited(env.episode.setting.customer) is not None for env in self.envs)

    def _played(self, i: int, action: Any, finals: dict[int, _Step]) -> _Step:
        """One sub-environment's step; an ending goes into ``finals`` where a reset follows."""
        env = self.envs[i]
        if self._waiting(i):
            return _again(env.reset())
        result = env.step(action)
        if (result[2] or result[3]) and self.autoreset_mode is AutoresetMode.SAME_STEP:
            finals[i] = result
            return _replaced(result, env.reset())
        return result

    async def _astep(self, read: Sequence[Any]) -> Result:
        results = await _together(
            self._again(i) if self._waiting(i) else env.astep(read[i])
            for i, env in enumerate(self.envs)
        )
        finals: dict[int, _Step] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            finals = {i: result for i, result in enumerate(results) if result[2] or result[3]}
            begun = await _together(self.envs[i].areset() for i in finals)
            for i, again in zip(finals, begun, strict=True):
                results[i] = _replaced(results[i], again)
        return self._step(results, finals)

    async def _again(self, i: int) -> _Step:
        return _again(await self.envs[i].areset())

    def _step(self, results: Sequence[_Step], finals: Mapping[int, _Step]) -> Result:
        self._latest = [result[0] for result in results]
        terminated = np.array([result[2] for result in results], dtype=np.bool_)
        truncated = np.array([result[3] for result in results], dtype=np.bool_)
        self._ended = np.logical_or(terminated, truncated)
        infos = merged([result[4] for result in results])
        if finals:
            infos |= _final(finals, self.num_envs)
        rewards = np.array([result[1] for result in results], dtype=np.float64)
        return self._batch(), rewards, terminated, truncated, infos

    def _batch(self) -> Batch:
        space: Any = self.single_observation_space
        room: Any = create_empty_array(space, n=self.num_envs, fn=np.zeros)
        batch: Any = concatenate(space, self._latest, room)
        return dict(batch)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for it in the event loop of this environment."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            if self._runner is None:
                self._runner = asyncio.Runner()
            return self._runner.run(work)
        work.close()
        raise EpisodeNotRunning("an event loop is running here: use areset and astep")


@contextmanager
def _collecting_once() -> Iterator[None]:
    """Let the garbage collector look once after a batch, not a hundred times within it.

    It walks through all objects that live, and hundreds of worlds are many; nothing here makes
    cycles that would have to be collected in between.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _again(begun: _Begun) -> _Step:
    """The step that only resets."""
    observation, info = begun
    return observation, 0.0, False, False, info


def _replaced(last: _Step, begun: _Begun) -> _Step:
    """The last step of an episode with what the next one begins with."""
    observation, info = begun
    return observation, last[1], last[2], last[3], info


def _final(finals: Mapping[int, _Step], number: int) -> Batch:
    """The last observations and infos of episodes that ended in this step."""
    observations = np.full(number, fill_value=None, dtype=object)
    infos: list[Mapping[str, Any] | None] = [None] * number
    for i, final in finals.items():
        observations[i], infos[i] = final[0], final[4]
    mask = np.array([info is not None for info in infos])
    return {
        "final_obs": observations, "_final_obs": mask,
        "final_info": merged(infos), "_final_info": mask.copy(),
    }  # fmt: skip


async def _together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All results; where one fails the others still come to their end first."""
    results = await asyncio.gather(*work, return_exceptions=True)
    found: list[T] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        found.append(result)
    return found
