"""Stored trajectories: written as lines, played again, scored again (law R2)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.modes import NORMAL, scene
from cirrus_env.errors import StoreError
from cirrus_env.judging.reward import RewardRule, reward_rule
from cirrus_env.judging.tally import Tally
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import ASSISTANT, AssistantAction, Record, canonical, digest


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One episode as it is stored.

    Attributes:
        header: Ticket, digest, seed, variant, options, versions.
        records: One a step.
        last: Outcome, metrics, return and the digest of the final state.
    """

    header: Mapping[str, Any]
    records: tuple[Record, ...]
    last: Mapping[str, Any]

    def lines(self) -> list[str]:
        """The trajectory as canonical JSON lines."""
        body = [canonical(record.to_json()) for record in self.records]
        return [canonical(self.header), *body, canonical(self.last)]

    @property
    def digest(self) -> str:
        """The sha256 of what an agent and its judge saw and did; versions are left out."""
        kept = {k: v for k, v in self.header.items() if k not in ("version", "digest")}
        body = [record.to_json() for record in self.records]
        return digest([kept, body, self.last["outcome"], self.last["state"]])

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> Trajectory:
        """Read what ``lines`` wrote.

        Raises:
            StoreError: If it is no trajectory.
        """
        try:
            header, *body, last = [json.loads(line) for line in lines]
            return cls(header, tuple(map(Record.from_json, body)), last)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise StoreError(f"not a trajectory: {error!r}") from None


def trajectory(episode: TicketEpisode) -> Trajectory:
    """The episode so far as a trajectory."""
    outcome = episode.outcome
    last = {
        "outcome": "" if outcome is None else outcome.name,
        "metrics": episode.metrics(),
        "return_micro": sum(r.reward_micro for r in episode.records[episode.header["start"] :]),
        "state": digest(episode.state.cloud.dump()),
    }
    return Trajectory(episode.header, tuple(episode.records), last)


def replay(
    stored: Trajectory,
    ticket: Ticket | None = None,
    *,
    reward: str | RewardRule | Mapping[str, float] = "cirrus",
) -> TicketEpisode:
    """Play the stored assistant actions again with the same seed, customer and limits.

    Args:
        stored: A trajectory whose customer is one of the package's own.
        ticket: The ticket where it isn't a bundled one.
        reward: The reward's rule.
    """
    header = stored.header
    episode = TicketEpisode(
        ticket if ticket is not None else bundled(header["ticket"]),
        customer=header["customer"],
        judge=header["judge"],
        reward=reward,
        language=header["language"],
        tools=header["tools"],
        faults=header.get("faults"),
        mode=header.get("mode", NORMAL),
        distractions=header.get("distractions", 0),
        scramble=header.get("scramble"),
        **{name: value for name, value in header["limits"].items() if name != "max_transcript"},
    )
    options = {"variant": header["variant"], "turn": header["turn"]}
    episode.reset(seed=header["seed"], options=options)
    for record in stored.records[len(episode.records) :]:
        if record.seat == ASSISTANT and record.action["kind"] != "stopped":
            episode.step(episode.as_shown(AssistantAction.from_json(record.action)))
    if stored.last["outcome"] == "stopped" and episode.outcome is None:
        episode.truncate()
    return episode


def rescore(
    header: Mapping[str, Any],
    records: Sequence[Record],
    *,
    ticket: Ticket | None = None,
    reward: str | RewardRule | Mapping[str, float] = "cirrus",
) -> tuple[dict[str, Any], int]:
    """Metrics and return (in millionths) of a stored trajectory, without an environment.

    Args:
        header: Its header.
        records: Its records.
        ticket: The ticket where it isn't a bundled one.
        reward: The reward's rule.
    """
    scenario = scene(
        ticket if ticket is not None else bundled(header["ticket"]),
        header["seed"],
        variant=header["variant"],
        language=header["language"],
        mode=header.get("mode", NORMAL),
    )
    tally = Tally.of(scenario, rule=reward_rule(reward))
    before = 0
    for record in records:
        if record.i == header["start"]:
            before = tally.micro()
        tally.add(record)
    return tally.metrics(), tally.micro() - before
