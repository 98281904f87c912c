"""Room nlu."""
