"""``python -m benchmarks [--json] [NAME ...]``: the speed table; exits 1 where a goal is missed."""

from __future__ import annotations

import argparse
import json
import platform
import sys

from benchmarks.measures import ALL, VERSION
from benchmarks.rows import Row


def main() -> int:
    """Measure and print."""
    names = [measure.__name__ for measure in ALL]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these: {', '.join(names)}")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args()
    for name in chosen.names:
        if name not in names:
            parser.error(f"there is no measurement {name!r}; there are {', '.join(names)}")
    rows = [
        row
        for measure in ALL
        if not chosen.names or measure.__name__ in chosen.names
        for row in measure()
    ]
    if chosen.json:
        machine = {"python": platform.python_version(), "machine": platform.machine()}
        print(json.dumps({"version": VERSION, **machine, "rows": [r.to_json() for r in rows]}))
    else:
        show(rows)
    return 0 if all(row.met for row in rows) else 1


def show(rows: list[Row]) -> None:
    """Print the table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("measured", "value", "unit", "goal", "measured/goal", ""):
        table.add_column(title, justify="left" if title in ("measured", "unit", "") else "right")
    for row in rows:
        sign = ">=" if row.better == "more" else "<="
        table.add_row(
            row.name,
            f"{row.value:,.2f}" if row.value < 100 else f"{row.value:,.0f}",
            row.unit,
            "" if row.goal is None else f"{sign} {row.goal:,.4g}",
            "" if row.ratio is None else f"{row.ratio:.2f}",
            "" if row.goal is None else "ok" if row.met else "MISSED",
        )
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 120
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
