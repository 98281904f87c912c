"""Settings of the whole suite."""

from __future__ import annotations

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

# Helpers stand beside the tests of their room and are imported by their names, which are unique.
sys.path += [str(folder) for folder in sorted(Path(__file__).parent.iterdir()) if folder.is_dir()]

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
