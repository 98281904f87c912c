"""A run that says when an episode is kept: ``python killed.py FOLDER PROCESSES``."""

from __future__ import annotations

import sys
from pathlib import Path

from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.tickets.load import load_ticket

JOBS = jobs_for(
    [find_agent("do-nothing"), find_agent("always-refuse"), find_agent("oracle")],
    [load_ticket(Path(__file__).with_name("small.toml"))],
    range(10),
)


def tell(row: object) -> None:
    print("kept", flush=True)


if __name__ == "__main__":
    run_jobs(JOBS, folder=Path(sys.argv[1]), processes=int(sys.argv[2]), resume=True, on_done=tell)
