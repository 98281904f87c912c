"""Room endpoints."""
