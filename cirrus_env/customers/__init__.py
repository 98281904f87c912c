"""Room customers."""
