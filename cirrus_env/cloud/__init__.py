"""Room cloud."""
