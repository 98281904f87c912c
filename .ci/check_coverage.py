"""Law R11: every branch of engine, judging and ledger; 95 % over all.

Reads coverage's JSON report; prints what is missing; exits 1 where the law is broken.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

EVERY_BRANCH = ("cirrus_env/engine/", "cirrus_env/judging/", "cirrus_env/cloud/ledger.py")
OVERALL = 95.0


def _share(item: tuple[str, Any]) -> float:
    return float(item[1]["summary"]["percent_covered"])


def main(report: str) -> int:
    """Compare the report with the law."""
    data = json.loads(Path(report).read_text())
    broken = []
    for name, file in sorted(data["files"].items()):
        if not name.startswith(EVERY_BRANCH):
            continue
        for line in file["missing_lines"]:
            broken.append(f"{name}:{line}: never run")
        for start, end in file["missing_branches"]:
            where = "the end" if end < 0 else f"line {end}"
            broken.append(f"{name}:{start}: never went on to {where}")
    total = data["totals"]["percent_covered"]
    print(f"branch coverage over all: {total:.1f} % (at least {OVERALL:.0f})")
    if total < OVERALL:
        broken.append(f"over all {total:.1f} % is below {OVERALL:.0f} %; the least covered:")
        worst = sorted(data["files"].items(), key=_share)
        for name, file in worst[:15]:
            broken.append(f"  {file['summary']['percent_covered']:5.1f} % {name}")
    print("\n".join(broken) or "engine, judging and ledger: every branch")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
