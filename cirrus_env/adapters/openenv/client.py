"""``CirrusClient``: a typed client of the server; needs no tickets of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cirrus_env.adapters.extras import MissingExtra
from cirrus_env.adapters.openenv.models import CirrusAction, CirrusObservation, CirrusState

try:
    from openenv.core.client_types import StepResult
    from openenv.core.env_client import EnvClient
except ImportError as error:
    raise MissingExtra("openenv", error) from None


class CirrusClient(EnvClient[CirrusAction, CirrusObservation, CirrusState]):
    """One session. Asynchronous; ``.sync()`` gives the synchronous one.

    ``reset(seed=..., split=..., index=..., ticket=...)`` and ``step(action)`` give OpenEnv's
    ``StepResult`` with a ``CirrusObservation``. An action is a ``CirrusAction``, a text, or an
    OpenAI chat message as a dict. What the server refuses raises ``RuntimeError`` with its words.
    """

    def _step_payload(self, action: CirrusAction | str | Mapping[str, Any]) -> dict[str, Any]:
        sent = action if isinstance(action, CirrusAction) else CirrusAction.of(action)
        payload: dict[str, Any] = sent.model_dump(exclude_defaults=True)
        return payload

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[CirrusObservation]:
        reward, done = payload.get("reward"), payload.get("done", False)
        observation = CirrusObservation(
            **{**payload.get("observation", {}), "reward": reward, "done": done}
        )
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> CirrusState:
        return CirrusState(**payload)
