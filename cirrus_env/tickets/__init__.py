"""Room tickets."""
