"""Collects episodes as a Minari dataset, reads them back, and plays them again.

    pip install "cirrus-env[minari]"
    python examples/minari_dataset.py --agent oracle --seeds 8

Datasets go where Minari keeps them: ``MINARI_DATASETS_PATH`` or ``~/.minari``.
"""

from __future__ import annotations

import argparse

from cirrus_env.adapters.minari import FORMATS, choose, collect, metadata, replay


def main() -> None:
    """Collect, read back, replay."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="Cirrus/ECS-Billing-v0")
    parser.add_argument("--agent", default="oracle", help="a name, or module:Class")
    parser.add_argument("--seeds", type=int, default=8)
    arguments = parser.parse_args()
    for form in FORMATS:
        dataset = collect(
            arguments.env,
            f"cirrus/{arguments.agent.replace(':', '-')}-{form}-v0",
            seeds=range(arguments.seeds),
            agent=arguments.agent,
            data_format=form,
        )
        outcomes = [each["outcome"] for each in metadata(dataset)]
        again = replay(dataset)
        print(f"{form}: {dataset.total_episodes} episodes, {dataset.total_steps} steps")
        print(f"  outcomes: {', '.join(sorted(set(outcomes)))}")
        print(f"  successes: {len(choose(dataset, success=True))}")
        print(f"  played again: {again.steps} steps, {len(again.differences)} differences")


if __name__ == "__main__":
    main()
