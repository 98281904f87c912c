"""Tickets for TRL's ``GRPOTrainer``: one spec gives data, environments, rewards and rollouts.

Two ways, by the ``view``:

- ``dialogue``: the model talks as it would in service; its text goes through a parser, replies are
  plain text. For ``GRPOTrainer(rollout_func=spec.rollout_func, ...)``.
- ``tools``: TRL runs the loop, and whatever the model does is a function call.
  For ``GRPOTrainer(environment_factory=spec.environment_factory, ...)``.

All members of a GRPO group have the same row, so the same ticket and seed, each in its own world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from gymnasium.envs.registration import registry

from cirrus_env.adapters import trl_rollout, trl_tools
from cirrus_env.adapters.extras import MissingExtra
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.parsers import Parser
from cirrus_env.engine.render import Render
from cirrus_env.envs.source import TicketLike, find_ticket
from cirrus_env.errors import OptionError
from cirrus_env.judging.reward import RewardRule
from cirrus_env.tickets.index import index
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import canonical
from cirrus_env.world import Stream

VIEWS: Final = ("dialogue", "tools")


class CirrusSpec:
    """What ``GRPOTrainer`` needs of a set of tickets.

    Args:
        env_ids: Ids (of tickets or pools), names, ticket files' paths or ``Ticket`` objects, one or
            many; None for all bundled tickets of the split.
        split: ``train`` or ``test``: a ticket of the other one is refused; None for any.
        seed: Draws the episodes' seeds.
        episodes: Rows of the data set; tickets take turns.
        seeds: The episodes' seeds themselves instead, each with every ticket.
        view: ``dialogue`` or ``tools``.
        max_turns: Turns of the assistant.
        reward: As ``TicketEpisode``.
        parser: How the model's text is read in the dialogue view: a family's name, such as
            ``hermes`` for Qwen, or ``auto``.
        max_turn_tokens: In the dialogue view, tokens of one turn; None for what is left of
            ``GRPOConfig.max_completion_length``, which holds for the whole dialogue.
        render: In the dialogue view, how conversations are written; by default the trainer's
            tokenizer, see ``trl_rollout.trainer_render``.
        generate: In the dialogue view, how turns are sampled; by default the trainer's way.
        **arguments: Further arguments of ``TicketEpisode``, such as ``tools``: a ticket's schemas
            alone are some 13,000 tokens, so small models need a selection.

    Raises:
        OptionError: For an argument that can't be used, or a ticket of another split.
        UnknownTicket: For a ticket that isn't there.

    Example:
        >>> spec = CirrusSpec("Cirrus/ECS-Billing-v0", episodes=2, seed=1)
        >>> [sorted(row) for row in spec.rows]
        [['prompt', 'seed', 'ticket'], ['prompt', 'seed', 'ticket']]
        >>> [message["role"] for message in spec.rows[0]["prompt"]]
        ['system', 'user']
    """

    def __init__(
        self,
        env_ids: TicketLike | Iterable[TicketLike] | None = None,
        *,
        split: str | None = "train",
        seed: int = 0,
        episodes: int = 256,
        seeds: Sequence[int] | None = None,
        view: str = "dialogue",
        max_turns: int = 30,
        reward: str | RewardRule | Mapping[str, float] = "cirrus",
        parser: str | Parser = "auto",
        max_turn_tokens: int | None = None,
        render: Render | None = None,
        generate: trl_rollout.Generate = trl_rollout.trainer_generate,
        **arguments: Any,
    ) -> None:
        if view not in VIEWS:
            raise OptionError(f"a view is one of {', '.join(VIEWS)}, not {view!r}")
        if episodes < 1 or (max_turn_tokens is not None and max_turn_tokens < 1):
            raise OptionError("episodes and max_turn_tokens are positive")
        self.view = view
        self.tickets = _chosen(env_ids, split)
        self._arguments = {
            **arguments, "max_turns": max_turns, "reward": reward, "parser": parser,
        }  # fmt: skip
        self._pairs = _pairs(tuple(self.tickets), seed, episodes, seeds)
        self._max_turn_tokens = max_turn_tokens
        self._render = render
        self._generate = generate
        for ticket in self.tickets.values():
            TicketEpisode(ticket, **self._arguments)  # a wrong argument shows here, not in training

    # -- data --------------------------------------------------------------------------------

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The data set as plain rows: ``prompt``, ``ticket``, ``seed``; see ``train_dataset``."""
        return [self._row(*pair) for pair in self._pairs]

    @property
    def train_dataset(self) -> Any:
        """A ``datasets.Dataset`` of ``rows``.

        The dialogue view's first message also carries ``ticket`` and ``seed``, since TRL hands a
        rollout function nothing but prompts; chat templates don't read them. In the tools view
        ``environment`` names the set of tools where there are several.

        Raises:
            MissingExtra: If the extra isn't installed.
        """
        try:
            from datasets import Dataset
        except ImportError as error:
            raise MissingExtra("trl", error) from error
        return Dataset.from_list(self.rows)

    # -- tools -------------------------------------------------------------------------------

    @property
    def environment_factory(self) -> Any:
        """A class of TRL environments, or a mapping of such classes where tickets' tools differ.

        Raises:
            OptionError: In the dialogue view.
        """
        if self.view != "tools":
            raise OptionError('environments are for view="tools"; take rollout_func')
        classes = self._classes
        return next(iter(classes.values())) if len(classes) == 1 else dict(classes)

    @property
    def reward_funcs(self) -> list[Callable[..., Any]]:
        """The reward functions: in the tools view none, since environments have ``get_reward``."""
        return [] if self.view == "tools" else [cirrus_return]

    # -- dialogue ----------------------------------------------------------------------------

    def rollout_func(self, prompts: list[list[dict[str, Any]]], trainer: Any) -> dict[str, Any]:
        """One dialogue for each prompt, as TRL's ``rollout_func``.

        Args:
            prompts: Prompts of ``train_dataset``, each as often as the trainer wants it.
            trainer: The ``GRPOTrainer``.

        Returns:
            ``prompt_ids``, ``completion_ids``, ``logprobs`` (None where the engine gives none),
            ``env_mask`` (1 = sampled by the model), and columns for reward functions: ``reward``
            (None for a failed episode), ``turn_rewards`` with ``turn_spans`` (in the completion),
            ``outcome``, ``success``, ``valid``, ``turn``, ``tool_calls``, ``invalid``.

        Raises:
            OptionError: For a prompt from elsewhere, or in the tools view.
        """
        if self.view != "dialogue":
            raise OptionError('rollouts are for view="dialogue"; take environment_factory')
        if self._render is None:
            self._render = trl_rollout.trainer_render(trainer)
        rollouts = trl_rollout.play(
            [self._episode(prompt) for prompt in prompts],
            trainer,
            render=self._render,
            generate=self._generate,
            max_turn_tokens=self._max_turn_tokens,
        )
        return trl_rollout.columns(rollouts, trainer.eos_token_ids[0])

    # -- inside ------------------------------------------------------------------------------

    def _row(self, name: str, seed: int) -> dict[str, Any]:
        episode = TicketEpisode(self.tickets[name], **self._arguments)
        messages, _ = episode.reset(seed=seed)
        row: dict[str, Any] = {"ticket": name, "seed": seed}
        if self.view == "dialogue":
            row["prompt"] = [{**messages[0], "ticket": name, "seed": seed}, *messages[1:]]
            return row
        system, _ = trl_tools.opening(messages, episode.scenario.public.language)
        # the environment's reset says the opening
        row["prompt"] = [{"role": "system", "content": system}, {"role": "user", "content": ""}]
        if len(self._classes) > 1:
            row["environment"] = self._sets[name]
        return row

    def _episode(self, prompt: list[dict[str, Any]]) -> TicketEpisode:
        name, seed = prompt[0].get("ticket"), prompt[0].get("seed")
        if name not in self.tickets or seed is None:
            raise OptionError("a prompt of a rollout comes from this spec's train_dataset")
        episode = TicketEpisode(self.tickets[name], **self._arguments)
        episode.reset(seed=seed)
        return episode

    @cached_property
    def _schemas(self) -> dict[str, list[dict[str, Any]]]:
        """The functions of each ticket, by its name."""
        found = {}
        for name, seed in self._pairs:
            if name not in found:
                episode = TicketEpisode(self.tickets[name], **self._arguments)
                episode.reset(seed=seed)
                found[name] = trl_tools.tools_of(episode)
        return found

    @cached_property
    def _sets(self) -> dict[str, str]:
        """The name of each ticket's set of tools: that of the first ticket that has it."""
        first: dict[str, str] = {}
        sets = {}
        for name in self.tickets:
            if name in self._schemas:
                short = self.tickets[name].id.replace("-", "_")
                sets[name] = first.setdefault(canonical(self._schemas[name]), short)
        return sets

    @cached_property
    def _classes(self) -> dict[str, type[trl_tools.TicketTools]]:
        classes = {}
        for name, short in self._sets.items():
            if short not in classes:
                classes[short] = trl_tools.environment_class(
                    f"Cirrus_{short}", self._schemas[name], self.tickets, self._arguments
                )
        return classes


def cirrus_return(
    reward: Sequence[float | None],
    valid: Sequence[int] = (),
    success: Sequence[bool | None] = (),
    log_metric: Callable[[str, float], None] | None = None,
    **columns: Any,
) -> list[float | None]:
    """TRL's reward function of the dialogue view: each rollout's return.

    Args:
        reward: The column of ``rollout_func``; None for a failed rollout, which TRL leaves out.
        valid: Its column of the same name, of which a mean is logged.
        success: Its column of the same name, of which the mean over valid rollouts is logged.
        log_metric: TRL's way to log a number.
        **columns: Whatever else TRL gives.
    """
    if log_metric is not None and valid:
        log_metric("cirrus/valid", sum(valid) / len(valid))
        scored = [bool(s) for s, v in zip(success, valid, strict=True) if v and s is not None]
        if scored:
            log_metric("cirrus/success", sum(scored) / len(scored))
    return list(reward)


def _pairs(
    names: tuple[str, ...], seed: int, episodes: int, seeds: Sequence[int] | None
) -> list[tuple[str, int]]:
    if seeds is not None:
        pairs = [(name, int(number)) for number in seeds for name in names]
        if not pairs:
            raise OptionError("seeds are at least one")
        return pairs
    stream = Stream(seed, "trl")
    return [(names[k % len(names)], stream.below(2**31)) for k in range(episodes)]


def _chosen(
    given: TicketLike | Iterable[TicketLike] | None, split: str | None
) -> dict[str, Ticket]:
    """The tickets by their env ids."""
    if given is None:
        names = [entry["id"] for entry in index() if split in (None, entry["split"])]
        members: list[TicketLike] = list(names)
    else:
        listed = [given] if isinstance(given, str | Ticket) else list(given)
        members = [member for one in listed for member in _members(one)]
    tickets = [find_ticket(member) for member in members]
    if not tickets:
        raise OptionError(f"there is no ticket of split {split!r}")
    for ticket in tickets:
        if split is not None and ticket.split != split:
            raise OptionError(f"{ticket.id} is of split {ticket.split!r}, not {split!r}")
    return {ticket.env_id: ticket for ticket in tickets}


def _members(given: TicketLike) -> list[TicketLike]:
    """What an id in Gymnasium's registry stands for; anything else stands for itself."""
    known = registry.get(given) if isinstance(given, str) else None
    if known is None:
        return [given]
    tickets = known.kwargs["ticket"]
    return [tickets] if isinstance(tickets, str) else list(tickets)
