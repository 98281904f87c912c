from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.cli.streams import Streams, one_line, printable


def streams() -> Streams:
    return Streams(io.StringIO(), io.StringIO(), io.StringIO())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("\x9b2Jgone", "2Jgone"),
        ("a\rb\x08c\x00", "abc"),
        ("\x1b]0;title\x07", "]0;title"),
        ("abc\u202egpj.exe", "abcgpj.exe"),
        ("tab\tand\nnewline, 中文 é", "tab\tand\nnewline, 中文 é"),
        ("half \ud83d", "half "),
    ],
)
def test_control_characters_never_reach_a_terminal(text, shown):
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_what_is_printed_encodes_and_holds_no_control(text):
    shown = printable(text)
    shown.encode()
    assert not any((ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 for c in shown)
    assert "\n" not in one_line(text)


@given(st.recursive(st.none() | st.text(st.characters()), st.lists, max_leaves=5))
def test_json_output_reads_back_and_is_safe_too(value):
    to = streams()
    to.json(value)
    text = to.out.getvalue()
    assert json.loads(text) == value
    assert printable(text) == text


def test_a_table_is_never_cut_and_markup_in_it_is_no_markup(monkeypatch):
    from rich.table import Table

    monkeypatch.setenv("COLUMNS", "40")
    table = Table(box=None)
    table.add_column("words")
    text = "[bold]not bold[/bold] :smile: [link=x]y[/link] " + "long " * 30
    table.add_row(text)
    to = streams()
    to.table(table)
    assert to.out.getvalue().splitlines()[1].strip() == text.strip()
