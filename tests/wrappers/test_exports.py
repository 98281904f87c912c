"""What ``cirrus_env.wrappers`` offers."""

import subprocess
import sys

import pytest

from cirrus_env import wrappers


def test_every_name_is_there_and_in_the_table():
    assert dir(wrappers) == sorted(wrappers.__all__) == wrappers.__all__
    for name in wrappers.__all__:
        assert getattr(wrappers, name).__name__ == name
        assert f"``{name}``" in wrappers.__doc__
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = wrappers.Nothing


def test_they_load_on_first_use():
    code = (
        "import sys, cirrus_env.wrappers\n"
        "assert not [m for m in sys.modules if m.startswith('cirrus_env.wrappers.')]\n"
        "cirrus_env.wrappers.ToolFaults\n"
        "assert 'cirrus_env.wrappers.candidates' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
