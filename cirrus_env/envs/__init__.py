"""Room envs."""
