from __future__ import annotations

import io

import pytest
from cli_calls import Terminal

from cirrus_env.cli.progress import Meter, progress
from cirrus_env.cli.streams import Streams
from cirrus_env.runner.rows import Row


def row(success: bool | None, *, valid: bool = True) -> Row:
    name = "success" if success else "closed_early" if valid else "agent_error"
    return Row("a", "t", "d", 0, "v", "en", name, success, valid, 0, {})


def test_success_so_far_has_an_interval_over_valid_scored_episodes():
    meter = Meter(10)
    assert meter.success() == ""
    for success in (True, True, True, False):
        meter(row(success))
    assert meter.success() == "SR 75.0 % [30, 95]"  # Wilson's interval of 3 in 4
    meter(row(None))  # unscored
    meter(row(None, valid=False))
    assert meter.success() == "SR 75.0 % [30, 95], 1 invalid"


@pytest.mark.parametrize(
    ("kept", "played", "elapsed", "text"),
    [
        (0, 0, 5.0, "-:--:-- left"),
        (0, 2, None, "-:--:-- left"),
        (0, 2, 10.0, "0:00:40 left"),
        (8, 1, 7200.0, "2:00:00 left"),  # what stood says nothing about the pace
        (9, 0, 60.0, "-:--:-- left"),
        (0, 10, 60.0, ""),
    ],
)
def test_the_time_left_follows_the_pace_of_what_was_played(kept, played, elapsed, text):
    meter = Meter(10)
    for _ in range(kept):
        meter.kept(row(True))
    for _ in range(played):
        meter(row(True))
    assert meter.left(elapsed) == text


def test_a_terminal_sees_success_and_a_pipe_sees_nothing():
    for stream, quiet in ((io.StringIO(), True), (Terminal(), False)):
        with progress(Streams(io.StringIO(), stream, io.StringIO()), "episodes", 3) as meter:
            meter.kept(row(True))
            meter(row(False))
            meter()
        said = stream.getvalue()
        assert (said == "") == quiet
        assert quiet or ("SR 50.0 % [9, 91]" in said and "3/3" in said)
