"""Policies: the oracle, honest baselines, and the trivial agents that must never succeed."""

from cirrus_env.baselines.oracle import Oracle, oracle_for
from cirrus_env.baselines.plans import MODES, expectations
from cirrus_env.baselines.policy import Observation, Policy
from cirrus_env.baselines.registry import ATTACKS, BASELINES, ORACLES, names, policy

__all__ = [
    "ATTACKS",
    "BASELINES",
    "MODES",
    "ORACLES",
    "Observation",
    "Oracle",
    "Policy",
    "expectations",
    "names",
    "oracle_for",
    "policy",
]
