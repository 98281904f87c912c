"""The harness: one model call a turn, in this process, with the ticket's functions on offer.

Tools are not run here. The model's message goes to the environment as it is, and what comes back,
results and the customer's words, is the next turn's input.
"""

from __future__ import annotations

from typing import Any

from openai import AsyncOpenAI
from pydantic import Field

from cirrus_env.adapters.extras import MissingExtra

try:
    import verifiers.v1 as vf
    from verifiers.v1.dialects.chat import message_to_wire
except ImportError as error:
    raise MissingExtra("verifiers", error) from None


class CirrusHarnessConfig(vf.HarnessConfig):
    """Under ``--env.agent.harness.*``."""

    id: vf.ID = "cirrus-env-vf"
    """The module that exports the harness."""
    max_retries: int = Field(2, ge=0)
    """Further attempts at a model call that the endpoint failed."""


class CirrusHarness(vf.Harness[CirrusHarnessConfig]):
    """A chat loop without a loop: the environment says when the next call is due."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def session(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        tool_interception_url: str | None = None,
    ) -> vf.HarnessSession:
        """The conversation of one rollout."""
        return _Conversation(
            self, ctx, trace, runtime, endpoint, secret, mcp_urls, data, tool_interception_url
        )

    async def launch(self, *rest: Any, **more: Any) -> vf.ProgramResult:
        """Refused: without the environment nobody would answer the model.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("tickets are played by their own environment: leave --env.id out")


class _Conversation(vf.HarnessSession):
    """Keeps the messages and the connection over a rollout's turns."""

    def __init__(self, *rest: Any) -> None:
        super().__init__(*rest)
        self._messages: list[dict[str, Any]] = []
        self._client = AsyncOpenAI(
            base_url=self.endpoint,
            api_key=self.secret,
            max_retries=self.harness.config.max_retries,
            timeout=None,  # the rollout's own time limit holds
        )

    async def _run(self, messages: vf.Messages | None) -> vf.ProgramResult:
        if messages is None:
            return await self.harness.launch()
        self._messages += map(message_to_wire, messages)
        request: dict[str, Any] = {"model": self.ctx.model, "messages": self._messages}
        if self.trace.state.tools:
            request["tools"] = self.trace.state.tools
        await self._client.chat.completions.create(**request)
        # as it was recorded: the next request repeats it, and must be found to extend this one
        self._messages.append(message_to_wire(self.trace.assistant_messages[-1]))
        return vf.ProgramResult(0, "", "")

    async def close(self) -> None:
        await super().close()
        await self._client.close()
