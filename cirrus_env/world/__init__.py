"""Logical clock and labelled hash streams."""

from cirrus_env.world.stream import Stream

__all__ = ["Stream"]
