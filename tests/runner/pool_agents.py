"""Agents, customers and judges for runs in several processes: they are found by import."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from cirrus_env.errors import EndpointError


class Polite:
    """Thanks until a limit stops it; does something else in episodes that ``FATAL`` names."""

    name = "polite"

    def reset(self, seed):
        self.seed = seed

    def act(self, observation):
        return "Thank you for writing."


class Registered(Polite):
    """Makes an environment by its bare id inside the worker."""

    name = "registered"

    def act(self, observation):
        import gymnasium

        env = gymnasium.make("Cirrus/ECS-Billing-v0")
        env.reset(seed=1)
        env.close()
        return "Thank you for writing."


class DiesOnce(Polite):
    """Kills its process in one episode, the first time only."""

    name = "dies-once"

    def act(self, observation):
        mark = Path(os.environ["POOL_TEST_MARK"])
        if self.seed == 1 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(observation)


class Dies(Polite):
    """Kills its process in one episode, every time."""

    name = "dies"

    def act(self, observation):
        if self.seed == 1:
            os._exit(3)
        return super().act(observation)


class Leaves(Polite):
    name = "leaves"

    def act(self, observation):
        sys.exit(4)


class Talks(Polite):
    name = "talks"

    def act(self, observation):
        print("sk-canary-print")
        return super().act(observation)


class Unreachable:
    """A customer whose endpoint is down."""

    name = "unreachable"

    def begin(self, scenario):
        return "Hello", (), None

    def react(self, mind, view):
        raise EndpointError("sk-canary-1")
