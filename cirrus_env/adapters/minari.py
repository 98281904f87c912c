"""Episodes as a Minari dataset, for offline learning; needs ``pip install "cirrus-env[minari]"``.

Minari's own ``DataCollector`` does the recording and works on this package's ids without anything
from here: its serialiser learns our text space as soon as both packages are imported. What this
module adds: an agent of this package by its name, each episode's outcome as metadata, a choice of
episodes by it, and the proof that a dataset's actions still give what was recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import count
from typing import Any, NamedTuple

import gymnasium

from cirrus_env._version import __version__
from cirrus_env.baselines.completion import return_micro
from cirrus_env.envs.spaces import TOOLS
from cirrus_env.errors import OptionError
from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.wire import ASSISTANT_KINDS, AssistantAction, ToolCall

FORMATS = ("hdf5", "arrow")
"""Backends that a dataset is proved with here."""


def collect(
    env: str | gymnasium.Env[Any, Any],
    dataset_id: str,
    *,
    seeds: Iterable[int],
    agent: str | Agent = "oracle",
    options: Mapping[str, Any] | None = None,
    data_format: str = "hdf5",
    **about: Any,
) -> Any:
    """Let an agent play and store what happened.

    An action with several calls is played, and stored, as one action a call: a Dict action holds
    one. What a model thought is not stored.

    Args:
        env: An id such as ``"Cirrus/ECS-Billing-v0"``, or an environment made by ``gymnasium.make``
            (its seat is the assistant's); it is closed afterwards.
        dataset_id: As Minari names datasets: ``namespace/name-v0``.
        seeds: One episode each.
        agent: An embedded agent, ``module:Class``, or an ``Agent``.
        options: Reset options of every episode.
        data_format: ``hdf5`` or ``arrow``. A text with a NUL character needs ``arrow``.
        about: Further arguments of ``DataCollector.create_dataset``, such as ``author``.

    Returns:
        The ``minari.MinariDataset``. Each episode's metadata holds ``seed``, ``ticket``,
        ``variant``, ``outcome``, ``valid``, ``success`` and ``return_micro``.

    Raises:
        OptionError: For another format, an agent that isn't there, a text that the format can't
            hold, or a missing package.
    """
    if data_format not in FORMATS:
        raise OptionError(f"the format is {' or '.join(FORMATS)}, not {data_format!r}")
    minari = _minari()
    chosen = find_agent(agent) if isinstance(agent, str) else agent
    made = gymnasium.make(env) if isinstance(env, str) else env
    collector = minari.DataCollector(made, data_format=data_format)
    facts: list[dict[str, Any]] = []
    try:
        for seed in seeds:
            facts.append(_play(collector, chosen, seed, options, nul=data_format != "hdf5"))
        dataset = collector.create_dataset(
            dataset_id,
            **{
                "algorithm_name": chosen.name,
                "description": "Support tickets of a mock cloud, played to their end.",
                "requirements": [f"cirrus-env=={__version__}"],
                "eval_env": made.spec,
                **about,
            },
        )
    finally:
        collector.close()  # the environment, too; it can be reset again
    dataset.storage.update_episode_metadata(facts)
    return minari.load_dataset(dataset_id)


def choose(dataset: Any, **wanted: Any) -> Any:
    """The episodes whose metadata are these, as Minari's own view of the dataset.

    Args:
        dataset: What ``collect`` gave.
        wanted: Such as ``success=True`` or ``variant="kept-charging"``.
    """
    told = zip(dataset.episode_indices, metadata(dataset), strict=True)
    kept = {int(i) for i, facts in told if all(facts.get(k) == v for k, v in wanted.items())}
    return dataset.filter_episodes(lambda episode: int(episode.id) in kept)


def metadata(dataset: Any) -> list[dict[str, Any]]:
    """The episodes' metadata as plain values, whichever format holds them."""
    found = dataset.storage.get_episode_metadata(dataset.episode_indices)
    return [{key: _plain(value) for key, value in each.items()} for each in found]


class Replayed(NamedTuple):
    """What playing a dataset's actions again came to.

    Attributes:
        episodes: How many episodes.
        steps: How many steps.
        differences: ``(episode, step, what)`` of whatever came out otherwise; step 0 is the reset.
    """

    episodes: int
    steps: int
    differences: tuple[tuple[int, int, str], ...]


def replay(dataset: Any) -> Replayed:
    """Play every stored action again in the environment that the dataset names.

    Compared are observations, byte for byte, rewards, and both flags.
    """
    env = dataset.recover_environment()
    differences: list[tuple[int, int, str]] = []
    steps = 0
    facts = metadata(dataset)
    for episode, known in zip(dataset.iterate_episodes(), facts, strict=True):
        seen = rows(episode.observations)
        observation, _ = env.reset(seed=known["seed"], options=known.get("options"))
        if observation != next(seen):
            differences.append((int(episode.id), 0, "observation"))
        for at, action, stored in zip(count(), rows(episode.actions), seen, strict=False):
            observation, reward, terminated, truncated, _ = env.step(action)
            steps += 1
            again = (observation, reward, terminated, truncated)
            then = (
                stored,
                float(episode.rewards[at]),
                bool(episode.terminations[at]),
                bool(episode.truncations[at]),
            )
            for name, mine, theirs in zip(_COMPARED, again, then, strict=True):
                if mine != theirs:
                    differences.append((int(episode.id), at + 1, name))
    env.close()
    return Replayed(len(facts), steps, tuple(differences))


_COMPARED = ("observation", "reward", "terminated", "truncated")


def rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """A stored Dict space's columns as one dict a step, of plain texts and integers."""
    names = list(columns)
    for values in zip(*columns.values(), strict=True):
        yield {name: _plain(value) for name, value in zip(names, values, strict=True)}


def space_actions(action: AssistantAction | str, tools: Sequence[str]) -> list[dict[str, Any]]:
    """An agent's action as members of the assistant's action space.

    Args:
        action: What a policy gave.
        tools: The tools on offer, in the order of the observation's ``tools``.
    """
    if isinstance(action, str):
        action = AssistantAction("reply", action)
    kind = ASSISTANT_KINDS.index(action.kind)
    if action.kind != "call":
        return [{"type": kind, "text": action.text, "tool": 0, "arguments": action.queue}]
    calls = action.calls or (ToolCall("", "", ""),)
    return [
        {
            "type": kind,
            "text": action.text if first else "",
            # an index past the list is no tool either
            "tool": tools.index(call.name) if call.name in tools else TOOLS - 1,
            "arguments": call.arguments,
        }
        for first, call in zip((True, *[False] * len(calls)), calls, strict=False)
    ]


def _play(
    collector: Any, agent: Agent, seed: int, options: Mapping[str, Any] | None, *, nul: bool
) -> dict[str, Any]:
    observation, info = collector.reset(seed=seed, options=dict(options) if options else None)
    episode = collector.unwrapped.episode
    policy = agent.make(episode)
    policy.reset(seed)
    while episode.outcome is None:
        for action in space_actions(policy.act(observation), episode.tool_names):
            if not nul and any("\0" in str(value) for value in action.values()):
                raise OptionError("hdf5 holds no text with a NUL character: use the format arrow")
            observation, _, _, _, info = collector.step(action)
            if episode.outcome is not None:
                break
    outcome = episode.outcome
    return {
        "ticket": info["ticket"],
        "variant": info["variant"],
        "outcome": outcome.name,
        "valid": outcome.valid,
        "success": outcome.success is True,
        "return_micro": return_micro(episode),
    }


def _plain(value: Any) -> Any:
    """A scalar of numpy as Python's own."""
    return value.item() if hasattr(value, "item") else value


def _minari() -> Any:
    try:
        minari = import_module("minari")
        import_module("jax")  # the collector asks for it at its first step
    except ImportError as error:
        raise OptionError(f'{error.name} is missing: pip install "cirrus-env[minari]"') from None
    return minari
