"""Tickets as an OpenEnv server and client; needs ``pip install "cirrus-env[openenv]"``.

Serve them with ``python -m cirrus_env.adapters.openenv --port 8000`` or ``create_app()``, play them
with ``CirrusClient`` or with any client that speaks OpenEnv. A connection is a session with a world
of its own.
"""

from cirrus_env.adapters.openenv.client import CirrusClient
from cirrus_env.adapters.openenv.environment import CirrusEnvironment
from cirrus_env.adapters.openenv.models import CirrusAction, CirrusObservation, CirrusState
from cirrus_env.adapters.openenv.server import create_app

__all__ = [
    "CirrusAction",
    "CirrusClient",
    "CirrusEnvironment",
    "CirrusObservation",
    "CirrusState",
    "create_app",
]
