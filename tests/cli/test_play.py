from __future__ import annotations

import pytest
from cli_calls import call

START = ("play", "ECS-Billing", "--variant", "kept-charging")


def played(*lines: str, terminal: bool = False) -> str:
    code, out, err = call(*START, typed="\n".join(lines) + "\n", terminal=terminal)
    assert (code, err) == (0, "")
    return out


def test_the_customer_speaks_first_and_answers():
    out = played("Which instance is it, please?")
    assert out.startswith("Still charged after stopping the server (Cirrus/ECS-Billing-v0)")
    assert "\nyou> Which instance is it, please?\ncustomer: " in out


def test_the_end_of_the_input_ends_the_episode_cleanly():
    out = played()
    assert "outcome: stopped (cause: kept-charging), return 0.000" in out
    assert "not passed" in out


def test_quit_stops():
    assert "outcome: stopped" in played("/quit", "never said")


def test_closing_ends_with_what_was_passed():
    out = played("/close Goodbye.")
    assert "outcome: closed_early" in out
    assert "replies 1" in out


def test_tools_are_listed_and_shown():
    out = played("/tools", "/tools StopInstance", "/tools Nothing")
    assert "  StopInstance(InstanceId): " in out
    assert '"StoppedMode"' in out
    assert "There is no tool Nothing" in out


def test_a_ticket_without_tools_says_so():
    out = call("play", "ECS-Renewal", typed="/tools\n").out
    assert "offers no tools" in out


def test_calls_show_their_results_and_mistakes():
    out = played("/call DescribeInstances {}", "/call DescribeInstances {broken", "/call")
    assert "DescribeInstances: {\n" in out
    assert '"InstanceId"' in out
    assert "Write /call NAME" in out


def test_an_escalation_names_a_queue():
    out = played("/escalate", "/escalate nowhere please", "/help")
    assert out.count("Write /escalate QUEUE TEXT; queues: ") == 2


def test_what_is_no_command_is_said_so_and_a_double_slash_is_speech():
    out = played("/wave", "//wave", "", "two\\", "lines")
    assert "There is no /wave" in out
    assert "you> two\nlines" in out


def test_control_characters_of_either_side_never_reach_the_terminal():
    assert "\x1b" not in played("\x1b[2J hello \x9b", "/call \x1b[31m {}")


def test_a_person_is_prompted(monkeypatch):
    out = played("a\\", "b", "/quit", terminal=True)
    assert "you> ... " in out
    assert "\x1b[1mcustomer:\x1b[0m " in out


@pytest.mark.parametrize("pattern", ["*", "ECS-*"])
def test_play_takes_one_ticket(pattern):
    code, out, err = call("play", pattern)
    assert (code, out) == (2, "")
    assert "play takes one ticket" in err


def test_an_escalation_to_a_queue_of_the_ticket_ends_it():
    out = call("play", "ECS-Locked", typed="/escalate\n").out
    queues = out.split("queues: ")[1].split(".\n")[0].split(", ")
    out = call("play", "ECS-Locked", typed=f"/escalate {queues[0]} Please look.\n").out
    assert "outcome: wrong_ending" in out
