"""Fine-tuning files from a run: chat rows with masks, and preference pairs of three kinds.

    python examples/finetuning_data.py                 # into the folder finetuning-data
    python examples/finetuning_data.py --tickets 'VPC-*' --seeds 10 --out data

The files are read by TRL's ``SFTTrainer`` and ``DPOTrainer`` through
``datasets.load_dataset("json", data_files=...)``. The same from the command line:

    cirrus-env run --agent oracle --agent keyword --split train --out runs/both
    cirrus-env export runs/both --format sft --out sft.jsonl
    cirrus-env export runs/both --format preferences --out pairs.jsonl
    cirrus-env export runs/both --format regret --out regret.jsonl
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import cirrus_env
from cirrus_env.adapters.jsonl import JsonlReport, write_lines
from cirrus_env.adapters.preferences import (
    export_preferences,
    fork_preferences,
    regret_preferences,
)
from cirrus_env.adapters.sft import export_sft
from cirrus_env.baselines import policy
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.views import AssistantView
from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.run import jobs_for, run_jobs
from cirrus_env.tickets.load import bundled


def forks(ticket: str, seed: int) -> tuple[list[dict[str, object]], JsonlReport]:
    """A group of forks from one moment, paired."""
    start = TicketEpisode(ticket)
    start.reset(seed=seed)
    members = ("oracle", "keyword", "random")
    played = []
    for member in members:
        fork = start.fork()
        who, view = policy(member, fork), AssistantView()
        who.reset(seed)
        while fork.outcome is None:
            fork.step(who.act(view.observe(fork)))
        played.append(fork)
    return fork_preferences(played, names=members)


def main() -> None:
    """Play, export, say what was written."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tickets", default="ECS-Billing", help="a name; ECS-* for a family")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("finetuning-data"))
    arguments = parser.parse_args()
    prefix = arguments.tickets.removesuffix("*")
    names = [i for i in cirrus_env.ids() if i.removeprefix("Cirrus/").startswith(prefix)]
    agents = [find_agent(name) for name in ("oracle", "keyword", "random")]
    run = arguments.out / "run"
    jobs = jobs_for(agents, [bundled(name) for name in names], range(arguments.seeds))
    run_jobs(jobs, folder=run)

    reports = [
        export_sft(run, arguments.out / "sft.jsonl"),
        export_sft(run, arguments.out / "sft-turns.jsonl", per_turn=True),
        export_preferences(run, arguments.out / "pairs.jsonl", min_margin=0.05),
        regret_preferences(run, arguments.out / "regret.jsonl", min_margin=0.05),
    ]
    lines, report = forks(names[0], 1)
    report.file = str(arguments.out / "forks.jsonl")
    write_lines(Path(report.file), lines)
    for each in (*reports, report):
        facts = each.to_json()
        print(f"{Path(facts['file']).name}: {facts['written']} lines of {facts['episodes']} "
              f"episodes, {facts['invalid']} invalid, {facts['ties']} ties")  # fmt: skip
    first = json.loads((arguments.out / "sft.jsonl").read_text("utf-8").splitlines()[0])
    print(f"first row: {len(first['messages'])} messages, {sum(first['mask'])} of them trained, "
          f"{len(first['tools'])} tools")  # fmt: skip


if __name__ == "__main__":
    main()
