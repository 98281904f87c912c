"""Tickets for verifiers (``verifiers.v1``); needs ``pip install "cirrus-env[verifiers]"``.

verifiers finds an environment by the name of a top-level module. That of the tickets is
``cirrus_env_vf``, which exports what is here, so that its commands take ``cirrus-env-vf``:

    vf-eval cirrus-env-vf --model MODEL --client.base-url URL --num-rollouts 4

One taskset (tickets times seeds), one environment (which plays the customer and the cloud), and the
harness that the environment needs: one model call a turn, with the ticket's functions on offer.
"""

from cirrus_env.adapters.verifiers.env import CirrusEnv, CirrusEnvConfig
from cirrus_env.adapters.verifiers.harness import CirrusHarness, CirrusHarnessConfig
from cirrus_env.adapters.verifiers.taskset import (
    CirrusData,
    CirrusTask,
    CirrusTaskConfig,
    CirrusTaskset,
    CirrusTasksetConfig,
)

__all__ = [
    "CirrusData",
    "CirrusEnv",
    "CirrusEnvConfig",
    "CirrusHarness",
    "CirrusHarnessConfig",
    "CirrusTask",
    "CirrusTaskConfig",
    "CirrusTaskset",
    "CirrusTasksetConfig",
]
