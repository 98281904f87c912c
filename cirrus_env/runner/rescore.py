"""Scoring stored runs again, without an environment: the same integers, or where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from cirrus_env.engine.modes import scene
from cirrus_env.errors import ComparisonError, OptionError
from cirrus_env.judging.reward import RewardRule, reward_rule
from cirrus_env.judging.tally import Tally
from cirrus_env.runner.manifest import rule_of
from cirrus_env.runner.rows import Row
from cirrus_env.runner.stored import Stored, StoredRun
from cirrus_env.tickets.ticket import Ticket


class Rescored(NamedTuple):
    """One episode, scored again.

    Attributes:
        number: The episode's number in its run.
        row: With the metrics and the return as they come out now.
        differences: What comes out otherwise than it was stored, each as one line; empty where
            everything is exactly the same.
    """

    number: int
    row: Row
    differences: tuple[str, ...]


def rescore_run(
    run: StoredRun, reward: str | RewardRule | Mapping[str, Any] | None = None
) -> Iterator[Rescored]:
    """Score every stored episode again, in the order of the run's jobs.

    Args:
        run: The run.
        reward: Another reward rule; None for the run's own. Returns are compared with what is
            stored only under the run's own; metrics always are.

    Raises:
        OptionError: If the run's own rule can't be made again.
        StoreError: If this package ships another text of a ticket.
    """
    own = rule_of(run.manifest)
    rule = own if reward is None else reward_rule(reward)
    if rule is None:
        raise OptionError(
            f"the reward of {run.folder} has a function of its own, or is of another version of "
            "this package: name a reward"
        )
    same_rule = own is not None and own.to_json() == rule.to_json()
    for stored in run:
        yield rescored(stored, run.tickets[stored.row.ticket], rule, same_rule=same_rule)


def rescored(stored: Stored, ticket: Ticket, rule: RewardRule, *, same_rule: bool) -> Rescored:
    """Score one episode again from its records."""
    row, trajectory = stored.row, stored.trajectory
    header, records = trajectory.header, trajectory.records
    if not records:  # it never began
        return Rescored(stored.number, row, ())
    scenario = scene(
        ticket,
        header["seed"],
        variant=header["variant"],
        language=header["language"],
        mode=row.mode,
    )
    tally = Tally.of(scenario, rule=rule)
    differences: list[str] = []
    start = before = total = 0
    try:
        for record in records:
            if record.i == header["start"]:
                start = before
            tally.add(record)
            total = tally.micro()
            if same_rule and total - before != record.reward_micro:
                differences.append(
                    f"step {record.i}: reward {total - before}, stored {record.reward_micro}"
                )
            before = total
    except ComparisonError as error:
        return Rescored(stored.number, row, (str(error),))
    metrics = tally.metrics()
    found = replace(
        row,
        metrics=metrics,
        success=tally.success if row.valid else None,
        return_micro=total - start if row.valid else None,
    )
    for name in sorted({*metrics, *row.metrics}):
        if metrics.get(name) != row.metrics.get(name):
            differences.append(f"{name}: {metrics.get(name)}, stored {row.metrics.get(name)}")
    if found.success != row.success:
        differences.append(f"success: {found.success}, stored {row.success}")
    if same_rule and found.return_micro != row.return_micro:
        differences.append(f"return: {found.return_micro}, stored {row.return_micro}")
    return Rescored(stored.number, found, tuple(differences))
