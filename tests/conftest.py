"""Settings of the whole suite."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
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


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> str:
    """The key of model endpoints, which must never show up anywhere (law R7)."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-4f7d1b")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return "sk-canary-4f7d1b"
