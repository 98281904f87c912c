"""Room wrappers."""
