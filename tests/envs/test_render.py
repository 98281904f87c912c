"""Rendering: every mode, and that hostile text stays text."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from cirrus_env.envs import render
from cirrus_env.envs.ticket_env import TicketEnv

HOSTILE = "</p><script>alert(1)</script>\x1b]0;owned\x07\x1b[2J\u202e\x9b31m & 'quoted' \"too\""


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)


def played(mode, **arguments):
    env = TicketEnv("ECS-Billing", render_mode=mode, **arguments)
    env.reset(seed=1)
    env.step(HOSTILE)
    env.step({"type": 1, "text": "", "tool": 0, "arguments": '{"<img src=x>": "\x1b[1m"}'})
    return env


def test_ansi_is_printable_text():
    text = played("ansi").render()
    assert "[customer]" in text
    assert "[assistant] </p><script>alert(1)" in text
    assert "-> " in text
    assert all(c == "\n" or c.isprintable() for c in text)


def test_html_runs_nothing():
    page = played("html").render()
    parser = Tags()
    parser.feed(page)
    assert set(parser.tags) == {"section", "style", "h1", "div", "b", "p"}
    assert "&lt;script&gt;" in page
    assert not {c for c in page if not c.isprintable() and c != "\n"}


def test_human_prints_each_message_once(capsys):
    env = TicketEnv("ECS-Billing", render_mode="human")
    observation, _ = env.reset(seed=1)
    first = capsys.readouterr().out
    assert first.startswith("[system] ")
    assert observation["message"] in first
    env.step("Which server is it?")
    assert capsys.readouterr().out.startswith("[assistant] Which server is it?\n[customer] ")
    assert env.render() is None
    assert capsys.readouterr().out == ""
    snapshot = env.snapshot()
    env.restore(snapshot)
    env.step("One moment.")
    assert capsys.readouterr().out.startswith("[assistant] One moment.")


def test_the_customers_page_shows_its_own_side():
    env = TicketEnv("ECS-Billing", seat="customer", render_mode="ansi")
    observation, _ = env.reset(seed=1)
    text = env.render()
    assert f"[customer] {env.episode.scenario.private.opening}" in text
    assert observation["message"] in text


def test_without_a_mode_it_says_how():
    env = TicketEnv("ECS-Billing")
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_plain_keeps_lines_and_wide_spaces():
    assert render.plain("a\r\n\u3000b\tc") == "a\n\u3000b    c"
