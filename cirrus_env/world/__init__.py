"""Logical clock and labelled hash streams."""

from cirrus_env.world.stream import Stream, first_below

__all__ = ["Stream", "first_below"]
