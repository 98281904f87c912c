"""Room adapters."""
