"""Teacher-forced scores as a table or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from cirrus_env.cli.streams import Streams, one_line
from cirrus_env.cli.tables import new_table, number, percent
from cirrus_env.judging.paper import Score
from cirrus_env.runner.rows import Row
from cirrus_env.runner.turn_scores import scores_json, turn_scores

_RATES: Final = ("RR", "TIA", "TSA", "TEV", "SR@1", "SR@2", "TPR")
_LEGEND: Final = """\
Teacher-forced: one turn of the agent at every turn of the reference, in percent;
floor: invalid scenes as answered wrongly; paper: as published (judging/paper.py).
RR: replies that carry the evidence; TIA: F1 of calling where a call is needed;
TSA, TEV: reference calls matched by name, and with arguments; SR@k: all
checkpoints within k attempts; TPR: progress; NEI: steps skipped; STL: tokens
of a turn. These are no success rates of whole episodes."""


def print_turns(streams: Streams, rows: Sequence[Row], *, as_json: bool, **more: Any) -> None:
    """Every agent's teacher-forced scores.

    Args:
        streams: Where.
        rows: Rows of the mode ``single-turn``.
        as_json: JSON instead of a table.
        more: Further entries of the JSON.
    """
    if as_json:
        streams.json({**more, **scores_json(rows)})
        return
    shown = new_table("agent", "form", *_RATES, "NEI", "STL", "turns", "inv.")
    for mine in turn_scores(rows):
        scores = mine.scores
        counts = (str(mine.turns), str(mine.invalid))
        strict = [percent(scores[name].value) for name in _RATES]
        lengths = (number(scores["NEI"].value), number(scores["STL"].value, 0))
        shown.add_row(one_line(mine.agent), "strict", *strict, *lengths, *counts)
        if mine.invalid:
            floor = [percent(mine.floor[name]) for name in _RATES]
            shown.add_row("", "floor", *floor, "-", "-", "", "")
        paper = [percent(scores[f"{name}_paper"].value) for name in _RATES]
        length: Score = scores["AMTL_paper"]
        lengths = (number(scores["NEI_paper"].value), number(length.value, 0))
        shown.add_row("", "paper", *paper, *lengths, "", "")
    streams.table(shown)
    streams.line(_LEGEND)
