"""``TicketEnv``: a support ticket as a Gymnasium environment."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import gymnasium
from gymnasium import spaces
from gymnasium.utils.seeding import np_random

from cirrus_env.customers.protocol import Customer
from cirrus_env.engine.episode import Step, TicketEpisode
from cirrus_env.engine.parsers import Parser
from cirrus_env.engine.setting import EXTERNAL, Limits
from cirrus_env.engine.state import Snapshot
from cirrus_env.envs import minari_text, render
from cirrus_env.envs.seats import (
    REFERENCE,
    Assistant,
    AssistantSeat,
    CustomerSeat,
    rewardable,
)
from cirrus_env.envs.source import Place, Source, TicketLike
from cirrus_env.envs.spaces import MAX_CHARS, MAX_STEPS, observation_space
from cirrus_env.envs.views import Observation
from cirrus_env.errors import OptionError
from cirrus_env.judging.judge import Judge
from cirrus_env.judging.reward import RewardRule
from cirrus_env.wire import CUSTOMER

Info = dict[str, Any]


class EnvSnapshot(NamedTuple):
    """An environment's episode at one moment; opaque, good for any number of restores."""

    place: Place
    episode: Snapshot
    seat: AssistantSeat | CustomerSeat

    def __repr__(self) -> str:
        # an episode's parts include its gold
        return f"<EnvSnapshot of {self.place.ticket.env_id}>"


class TicketEnv(gymnasium.Env[Observation, Any]):
    """A support ticket of Cirrus Cloud, worked on from one of its two seats.

    ## Description
    A customer opens a ticket in its own, confused words: a server that was switched off and still
    costs money, a subscription that runs out, a refund. The assistant finds out what is wrong by
    asking and by calling the operations of a mock cloud that keeps state, changes what has to be
    changed, explains it, and closes the ticket or hands it over. Nothing is random but the seed:
    the same seed gives the same ids, amounts, cause and customer, byte for byte.

    >>> import gymnasium, cirrus_env
    >>> env = gymnasium.make("Cirrus/ECS-Billing-v0")
    >>> observation, info = env.reset(seed=7)
    >>> observation["role"], observation["turn"], info["ticket"], info["seed"]
    ('user', 0, 'Cirrus/ECS-Billing-v0', 7)
    >>> observation, reward, terminated, truncated, info = env.step("Which instance is it, please?")
    >>> terminated, truncated, info["turn"], observation["budget"]
    (False, False, 1, 29)

    ## Observation Space
    A ``Dict``, the same for every ticket and both seats:

    - ``message`` (``FreeText``): what came back since the last action: the customer's words, or the
      results of the tool calls, one below the other.
    - ``role`` (``FreeText``): who sent it: ``user``, ``tool``, ``environment`` (a notice about an
      action that could not be used), empty for nobody.
    - ``transcript`` (``FreeText``): everything so far as JSON: chat messages in the OpenAI form,
      the first one a system message with role, policies and date.
    - ``tools`` (``FreeText``): the tools on offer as JSON: OpenAI function schemas.
    - ``turn`` (``Discrete``): the assistant's turns so far.
    - ``budget`` (``Discrete``): turns left; for the customer the unproductive turns it bears.

    With ``seat="customer"`` the transcript holds what the customer can see of the dialogue, after a
    system message with its profile, facts and goal, and ``tools`` its console actions.

    ## Action Space
    A ``Dict``:

    - ``type`` (``Discrete(4)``): 0 reply, 1 tool call, 2 close, 3 escalate.
    - ``text`` (``FreeText``): the reply, the closing words or the hand-over summary.
    - ``tool`` (``Discrete(256)``): an index into ``tools``.
    - ``arguments`` (``FreeText``): JSON for a call, the queue's name for an escalation.

    ``step`` also takes a string (read by ``parser``; by default a reply) and an OpenAI chat message
    as a dict or an object, with any number of tool calls. ``info["action_mask"]`` can be given to
    ``action_space.sample``; it never depends on what would succeed.

    >>> action = {"type": 1, "text": "", "tool": 0, "arguments": "{}"}
    >>> env.step(action)[0]["role"]
    'tool'
    >>> env.step({"role": "assistant", "content": "One moment, please."})[0]["role"]
    'user'

    With ``seat="customer"``: ``type`` (0 say, 1 console action, 2 accept, 3 leave), ``text`` and
    ``console``, the index of a console action.

    A wrong Python type, a missing or unknown key and an index outside its space raise
    ``InvalidAction`` and change nothing. What is wrong inside a text (JSON, a tool's name, its
    arguments, the length) is answered, counted in ``info["invalid"]`` and costs reward.

    ## Rewards
    The change of the return that ``reward`` defines; by default at most 1 over an episode, and at
    most 0.05 without success, whatever the agent does. ``info["reward_terms"]`` splits it up. The
    customer's reward is the change of its satisfaction. An episode that became invalid (a model
    endpoint failed) gives 0.0, is truncated, and has ``info["valid"] == 0``.

    ## Starting State
    The transcript's system message and the customer's opening. ``reset(options=...)`` takes
    ``ticket`` (of those this environment draws from), ``variant`` (the root cause), ``turn`` (start
    after so many turns of the reference), ``customer`` and ``language``; unknown keys are ignored,
    one within two letters of a known key raises ``OptionError``.

    ## Episode End
    Terminated: the assistant closes or escalates, the customer accepts or leaves, or a policy is
    violated fatally. Truncated: a limit (turns, tool calls, invalid actions in a row, tokens, the
    transcript's length), a failure, or ``truncate``. ``info["outcome"]`` names it, and only then do
    ``info["variant"]`` and ``info["metrics"]`` appear.

    ## Arguments
    ```python
    gymnasium.make("Cirrus/ECS-Billing-v0", reward="sparse", max_turns=12)
    ```

    Args:
        ticket: The ticket's name, a ticket file's path, a ``Ticket``, or a list of these: then
            each episode's ticket is drawn by its seed.
        seat: ``assistant`` or ``customer``.
        customer: Who plays the customer: ``simulated``, ``replay``, or a ``Customer``; None for
            ``replay`` on an imported ticket and ``simulated`` on others.
        assistant: With ``seat="customer"``, who plays the assistant: ``reference`` or an object
            with ``reset(seed)`` and ``act(observation)``.
        judge: Decides what was said: ``rule`` or a ``Judge``.
        reward: ``cirrus``, ``sparse``, ``dense``, ``shaped``, ``paper``, weights, or a
            ``RewardRule``.
        parser: Reads a string given to ``step``: ``plain``, ``openai``, or a function.
        system: A system text instead of the ticket's.
        language: ``en`` or ``zh``; None for the ticket's first.
        tools: Names of the tools to offer; None for all.
        faults: The cloud's seeded faults: ``mild``, ``harsh``, rates by kind, or None.
        distractions: How many tools of services that the ticket doesn't need are offered beside
            its own, or ``all``.
        scramble: A seed of meaningless names under which the tools are shown; None for their own.
        render_mode: None, ``human`` (printed as it happens), ``ansi`` or ``html``.
        max_turns: Turns of the assistant.
        max_tool_calls: Tool calls in all.
        max_invalid: Invalid actions in a row.
        max_tokens: Visible tokens of the assistant in all; None for no limit.
        max_chars: Characters of one message; a longer one is an invalid action.

    Raises:
        OptionError: For an argument that can't be used.
        UnknownTicket: For a ticket that isn't there.
        TicketError: For a ticket file that is wrong.

    ## Version History
    * v0: Initial version.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # as the base class declares it
        "render_modes": ["human", "ansi", "html"],
        "render_fps": 1,
    }

    def __init__(
        self,
        ticket: TicketLike | Sequence[TicketLike],
        *,
        seat: str = "assistant",
        customer: str | Customer | None = None,
        assistant: str | Assistant = REFERENCE,
        judge: str | Judge = "rule",
        reward: str | RewardRule | Mapping[str, float] = "cirrus",
        parser: str | Parser = "plain",
        system: str | None = None,
        language: str | None = None,
        tools: Iterable[str] | None = None,
        faults: str | Mapping[str, float] | None = None,
        distractions: int | str = 0,
        scramble: int | None = None,
        render_mode: str | None = None,
        max_turns: int = 30,
        max_tool_calls: int = 60,
        max_invalid: int = 3,
        max_tokens: int | None = None,
        max_chars: int = 20_000,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            known = ", ".join(self.metadata["render_modes"])
            raise OptionError(f"there is no render mode {render_mode!r}; there are {known}")
        Limits(max_turns, max_tool_calls, max_invalid, max_tokens, max_chars)
        _check_room(max_turns, max_chars)
        self.render_mode = render_mode
        self._generator: Any = None
        self._seat = make_seat(seat, assistant)
        arguments = {
            "customer": EXTERNAL if seat == "customer" else customer,
            "judge": judge,
            "reward": reward,
            "parser": parser,
            "system": system,
            "language": language,
            "tools": tools,
            "faults": faults,
            "distractions": distractions,
            "scramble": scramble,
            "max_turns": max_turns,
            "max_tool_calls": max_tool_calls,
            "max_invalid": max_invalid,
            "max_tokens": max_tokens,
            "max_chars": max_chars,
        }
        self._source = Source(ticket, arguments)
        self._shown = 0
        minari_text.register_when_imported()

    # -- Gymnasium's own generator: nothing here draws from it, so it is made when asked for -------

    @property
    def _np_random(self) -> Any:
        if self._generator is None and self._np_random_seed is not None:
            self._generator, _ = np_random(self._np_random_seed)
        return self._generator

    @_np_random.setter
    def _np_random(self, generator: Any) -> None:
        self._generator = generator

    # -- spaces: cached for each environment, since a space holds its own sampling state ----------

    @cached_property
    def observation_space(self) -> spaces.Dict[Any]:  # type: ignore[override]  # read only here
        """What this seat observes."""
        return observation_space()

    @cached_property
    def action_space(self) -> spaces.Dict[Any]:  # type: ignore[override]  # read only here
        """What this seat may do."""
        return self._seat.action_space()

    @property
    def episode(self) -> TicketEpisode:
        """The episode being played, gold included: for runners and oracles, not for policies."""
        return self._source.episode

    def configure(self, **changes: Any) -> None:
        """Change how episodes are played, from the next ``reset`` on.

        An episode in progress goes on as it is, and so does one that a snapshot leads back to.

        >>> env = TicketEnv("ECS-Billing")
        >>> env.configure(reward="sparse", faults="mild", max_turns=12)
        >>> int(env.reset(seed=7)[0]["budget"])
        12

        Args:
            **changes: Arguments of the class for its episodes: ``customer``, ``judge``, ``reward``,
                ``parser``, ``system``, ``language``, ``tools``, ``faults``, ``distractions``,
                ``scramble`` and the limits.

        Raises:
            OptionError: For an unknown name or a value that can't be used; nothing has changed.
        """
        if self._seat.name == CUSTOMER and "customer" in changes:
            raise OptionError("the learner plays the customer here: nobody else can")
        source = self._source.configured(changes)
        _check_room(changes.get("max_turns", 1), changes.get("max_chars", 1))
        self._source = source

    # -- playing --------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Begin an episode.

        Args:
            seed: The scenario's seed, and the start of the stream that later resets draw from.
            options: ``ticket``, ``variant``, ``turn``, ``customer``, ``language``.

        Raises:
            OptionError: For an option that can't be used, or a near-miss of a known key.
        """
        number, chosen = self._choose(seed, options)
        self._source.episode.reset(seed=number, options=chosen)
        return self._begin()

    async def areset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """``reset`` inside an event loop, for seats that models play."""
        number, chosen = self._choose(seed, options)
        await self._source.episode.areset(seed=number, options=chosen)
        return self._begin()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """The learner acts, then the other seat until it is the learner's turn again.

        Args:
            action: A member of ``action_space``, a string, or an OpenAI chat message.

        Raises:
            InvalidAction: For a programmer's mistake; nothing has changed.
            EpisodeNotRunning: Before ``reset`` or after the end.
        """
        return self._result(self._seat.act(self._source.episode, action))

    async def astep(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """``step`` inside an event loop, for seats that models play."""
        return self._result(await self._seat.act_async(self._source.episode, action))

    def read(self, action: Any) -> Any:
        """What ``step`` would play for this action; nothing changes.

        Raises:
            InvalidAction: For a programmer's mistake.
            EpisodeNotRunning: Before ``reset``.
        """
        return self._seat.read(self._source.episode, action)

    def truncate(self, reason: str = "stopped") -> tuple[Observation, float, bool, bool, Info]:
        """Stop the episode from outside: out of tokens or time, or a failed model.

        Args:
            reason: ``stopped``, ``agent_error``, ``customer_error``, ``judge_error`` or
                ``backend_error``; all but the first make the episode invalid.
        """
        return self._result(self._source.episode.truncate(reason))

    # -- going back ------------------------------------------------------------------------------

    def snapshot(self) -> EnvSnapshot:
        """The episode at this moment."""
        return EnvSnapshot(self._source.place, self._source.episode.snapshot(), self._seat.copy())

    def restore(self, snapshot: EnvSnapshot) -> tuple[Observation, Info]:
        """Back to a snapshot of this environment or of the one it was forked from.

        Returns:
            The observation and info of that moment.
        """
        episode = self._source.episode_at(snapshot.place)
        if not episode.to_move and episode.outcome is None:
            episode.reset(seed=snapshot.episode.scenario.seed)
        episode.restore(snapshot.episode)
        self._source.take(snapshot.place, episode)
        self._seat = snapshot.seat.copy()
        observation = self._seat.view.observe(episode)
        if self.render_mode == "human":
            self._shown = len(render.messages(observation["transcript"]))
        return observation, self._info(episode.info())

    def fork(self) -> TicketEnv:
        """An independent environment at the same point of the same episode."""
        other = TicketEnv.__new__(TicketEnv)
        kept = {k: v for k, v in self.__dict__.items() if not k.endswith("_space")}
        other.__dict__.update(kept)
        other._np_random, other._np_random_seed = None, None
        other._source = self._source.fork()
        other._seat = self._seat.copy()
        return other

    # -- showing -------------------------------------------------------------------------------

    def render(self) -> str | None:
        """The dialogue so far as this seat sees it: text or HTML by ``render_mode``."""
        if self.render_mode is None:
            name = self.spec.id if self.spec is not None else "Cirrus/..."
            gymnasium.logger.warn(
                "render was called without a render mode; make the environment with "
                f'gymnasium.make("{name}", render_mode="ansi")'
            )
            return None
        if self.render_mode == "human":
            self._show()
            return None
        transcript = self._seat.view.json()
        if self.render_mode == "html":
            return render.html(transcript, self._seat.name, self._source.episode.ticket.title)
        return render.ansi(transcript, self._seat.name)

    def close(self) -> None:
        """Let all episodes go; the environment can be reset again."""
        self._source.close()

    # -- inside ---------------------------------------------------------------------------------

    def _choose(
        self, seed: int | None, options: Mapping[str, Any] | None
    ) -> tuple[int, Mapping[str, Any] | None]:
        number = self._source.next_seed(seed)
        if seed is not None:
            if number < 0:
                super().reset(seed=number)  # raises: Gymnasium's seeds are not negative
            self._np_random, self._np_random_seed = None, number
        self._source.choose(number, options)
        if self._seat.name == CUSTOMER and options and options.get("customer") is not None:
            raise OptionError("the learner plays the customer here: nobody else can")
        return number, options

    def _begin(self) -> tuple[Observation, Info]:
        self._seat.begin(self._source.episode)
        observation = self._seat.view.observe(self._source.episode)
        self._shown = 0
        if self.render_mode == "human":
            self._show()
        return observation, self._info(self._source.episode.info())

    def _result(self, step: Step) -> tuple[Observation, float, bool, bool, Info]:
        observation = self._seat.view.observe(self._source.episode)
        if self.render_mode == "human":
            self._show()
        return observation, rewardable(step), step.terminated, step.truncated, self._info(step.info)

    def _info(self, info: Info) -> Info:
        info["action_mask"] = self._seat.mask(self._source.episode)
        return info

    def _show(self) -> None:
        chat = render.messages(self._seat.view.json())
        text = render.ansi_of(chat[self._shown :], self._seat.name)
        self._shown = len(chat)
        if text:
            sys.stdout.write(text + "\n")


def _check_room(max_turns: int, max_chars: int) -> None:
    """Limits that fit the spaces.

    Raises:
        OptionError: If they don't.
    """
    if max_turns > MAX_STEPS or max_chars > MAX_CHARS:
        raise OptionError(f"max_turns goes up to {MAX_STEPS}, max_chars up to {MAX_CHARS}")


def make_seat(seat: str, assistant: str | Assistant) -> AssistantSeat | CustomerSeat:
    """The learner's seat by its name."""
    if seat == "assistant":
        return AssistantSeat()
    if seat == "customer":
        return CustomerSeat(assistant)
    raise OptionError(f"seat is assistant or customer, not {seat!r}")
