"""Room baselines."""
