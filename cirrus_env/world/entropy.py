"""The one draw that isn't derived from a seed: the seed of an episode that was never given one."""

from __future__ import annotations

import os


def fresh_seed() -> int:
    """A seed from the system; the episode reports it, so that it can be repeated."""
    return int.from_bytes(os.urandom(4), "big")
