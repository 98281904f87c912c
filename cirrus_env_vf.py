"""The tickets under the name that verifiers looks them up by: ``vf-eval cirrus-env-vf``.

verifiers imports a top-level module of an environment's name, and takes the one taskset, the one
environment and the one harness that it exports. Everything is in ``cirrus_env.adapters.verifiers``.
"""

from cirrus_env.adapters.verifiers import CirrusEnv, CirrusHarness, CirrusTaskset

__all__ = ["CirrusEnv", "CirrusHarness", "CirrusTaskset"]
