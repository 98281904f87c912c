"""Settings of the whole suite."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Loaded machines are slow machines: a deadline would fail tests by the clock.
settings.register_profile(
    "everyday",
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("everyday")
