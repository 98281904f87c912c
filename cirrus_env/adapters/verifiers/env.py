"""The behaviour half: the environment plays the customer and the cloud."""

from __future__ import annotations

from cirrus_env.adapters.extras import MissingExtra
from cirrus_env.adapters.scores import score_of
from cirrus_env.adapters.verifiers.harness import CirrusHarness
from cirrus_env.adapters.verifiers.taskset import CirrusTask
from cirrus_env.errors import EndpointError, OptionError

try:
    import verifiers.v1 as vf
    from verifiers.v1.dialects.chat import message_to_wire
except ImportError as error:
    raise MissingExtra("verifiers", error) from None

REWARD = "cirrus"
"""The name of the reward on a trace."""


class CirrusEnvConfig(vf.EnvConfig):
    """Under ``--env.*``."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """The model at work; nothing that it writes is executed, so it needs no sandbox."""


class CirrusEnv(vf.Env[CirrusEnvConfig]):
    """One ticket, one model.

    The trace's reward ``cirrus`` is the return, its metrics are the ticket's (``success`` first of
    all), and ``trace.info["cirrus"]`` holds outcome, cause and per-turn rewards. A turn limit, a
    token limit or a time limit of verifiers stops the ticket, and so does a message that was cut
    off: the return so far counts. Where an endpoint failed, the model's or the customer's, the
    rollout is an error, and the reward stays None.
    """

    async def setup(self, agents: vf.Agents) -> None:
        """Check the seat's harness.

        Raises:
            OptionError: If it is another one than the tickets' own.
        """
        if not isinstance(agents.agent.harness, CirrusHarness):
            other = agents.agent.harness.config.id
            raise OptionError(f"tickets are worked on by their own harness, not by {other!r}")

    async def run(self, task: CirrusTask, agents: vf.Agents) -> None:
        """Play the ticket to its end.

        Raises:
            EndpointError: If who plays the customer, or the judge, failed.
        """
        episode = task.episode()
        messages, _ = await episode.areset(seed=task.data.seed, options=task.options())
        rewards: list[float | None] = []
        async with agents.agent.interaction(task) as interaction:
            trace = interaction.trace
            trace.rewards[REWARD] = None  # until there is one
            trace.state.tools = episode.chat_tools
            while episode.outcome is None:
                segment = await interaction.turn(messages)
                if segment.terminated:
                    episode.truncate("agent_error" if trace.errors else "stopped")
                    break
                if trace.calls[-1].finish_reason == "length":
                    episode.truncate()  # half a message is not what the model would have said
                    break
                step = await episode.astep(message_to_wire(segment.messages[-1]))
                messages = step.delta
                rewards.append(step.reward)
            score = score_of(episode)
            trace.info[REWARD] = {**score.facts, "turn_rewards": rewards}
            if score.value is None and not trace.errors:
                raise EndpointError(f"the episode is invalid: {score.facts['outcome']}")
        if score.value is not None:
            trace.record_reward(REWARD, score.value)
            trace.record_metrics(score.metrics)
