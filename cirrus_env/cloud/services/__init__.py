"""Room cloud/services."""
