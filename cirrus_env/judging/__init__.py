"""Room judging."""
