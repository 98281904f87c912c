"""Stored episodes as preference pairs: JSONL that TRL's ``DPOTrainer`` reads.

One line a pair: ``prompt`` (the messages that both have in common), ``chosen`` and ``rejected``
(what followed, the better first), ``tools``, ``margin`` (how much more return the better one has)
and ``meta``. Pairs come from

- two episodes of the same ticket, seed, root cause, language and limits, of one run, of two, or
  forks at hand (``fork_preferences``): they part at the first message in which their agents differ,
  and the better return is chosen;
- one episode and the oracle's completion (``regret_preferences``): at each action that lost
  something, the completion's next action is chosen, and the margin is the regret.

``chosen`` and ``rejected`` hold one message, the agent's, unless ``whole``: then all that followed,
with ``chosen_mask`` and ``rejected_mask``, since a trainer that counts every token would learn the
customer's words, too. Episodes that failed for outside reasons are in no pair, and are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, count
from pathlib import Path
from typing import Any, NamedTuple

from cirrus_env.adapters.jsonl import JsonlReport, Played, meta_of, played_of, write_lines
from cirrus_env.adapters.sft import OBJECT, Chat, chat_of, message_of
from cirrus_env.adapters.write import Progress
from cirrus_env.baselines.policy import Policy
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.replay import trajectory
from cirrus_env.errors import ComparisonError, OptionError
from cirrus_env.judging.reward import reward_rule
from cirrus_env.runner.agents import Agent
from cirrus_env.runner.manifest import rule_of
from cirrus_env.runner.play import Job, as_json
from cirrus_env.runner.regret import regrets
from cirrus_env.runner.rows import Row
from cirrus_env.runner.stored import StoredRun
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import Message, canonical


class _Member(NamedTuple):
    """One episode of a group."""

    played: Played
    micro: int
    chat: Chat


def export_preferences(
    run: Path,
    out: Path,
    tickets: Iterable[Ticket] = (),
    progress: Progress | None = None,
    *,
    other: Path | None = None,
    min_margin: float = 0.0,
    whole: bool = False,
    arguments: str = OBJECT,
) -> JsonlReport:
    """Write the pairs of a stored run, or of two.

    Args:
        run: The run's folder.
        out: The file.
        tickets: Not needed: a run keeps its tickets.
        progress: Told how far it is.
        other: A second run's folder, whose episodes join the groups of the first.
        min_margin: Pairs with more than this difference of return; ties are never written.
        whole: All that followed instead of the first message that differs.
        arguments: ``object`` or ``text``.

    Raises:
        ComparisonError: If the two runs have different rewards.
        OptionError: For a negative margin.
        StoreError: If a run can't be read or the file can't be written.
    """
    least = _least(min_margin)
    runs = [StoredRun(folder) for folder in (run, other) if folder is not None]
    if len({canonical(each.manifest["reward"]) for each in runs}) > 1:
        raise ComparisonError("the two runs have different rewards: their returns can't be paired")
    report = JsonlReport("preferences", str(out))
    advance = progress(sum(map(len, runs))) if progress is not None else lambda: None
    groups: dict[str, list[Played]] = {}
    for played in (each for source in runs for each in played_of(source)):
        report.episodes += 1
        if played.row.valid:
            groups.setdefault(_group(played), []).append(played)
        else:
            report.invalid += 1
            advance()
    lines: list[Mapping[str, Any]] = []
    for group in groups.values():
        members = []
        for played in group:
            members += _member(played, arguments, report)
            advance()
        lines += _pairs(members, least, whole, report)
    write_lines(out, lines)
    return report


def fork_preferences(
    episodes: Iterable[TicketEpisode],
    *,
    names: Iterable[str] | None = None,
    min_margin: float = 0.0,
    whole: bool = False,
    arguments: str = OBJECT,
) -> tuple[list[dict[str, Any]], JsonlReport]:
    """The pairs of finished episodes at hand, such as a group rollout's forks.

    Args:
        episodes: Finished episodes; those of one scenario and one setting make a group.
        names: How to name them in ``meta``; numbers if None.
        min_margin: As ``export_preferences``.
        whole: As ``export_preferences``.
        arguments: As ``export_preferences``.

    Returns:
        The lines, for ``adapters.jsonl.write_lines``, and what was counted.

    Raises:
        OptionError: For a negative margin, or an episode that goes on.
    """
    least = _least(min_margin)
    report = JsonlReport("preferences", "")
    groups: dict[str, list[_Member]] = {}
    called = count() if names is None else iter(names)
    for episode, name in zip(episodes, called, strict=False):
        if episode.outcome is None:
            raise OptionError(f"episode {name} has not ended: its return isn't known yet")
        report.episodes += 1
        job = Job(Agent(str(name), _nobody), episode.ticket, episode.scenario.seed)
        row = Row.from_episode(as_json(job, episode))
        played = Played(row, trajectory(episode), episode.ticket, episode.setting.system)
        if row.valid:
            group = groups.setdefault(_group(played), [])
            group += _member(played, arguments, report)
        else:
            report.invalid += 1
    lines = [pair for group in groups.values() for pair in _pairs(group, least, whole, report)]
    return lines, report


def _nobody(episode: TicketEpisode) -> Policy:
    raise OptionError("this episode has been played already")


def regret_preferences(
    run: Path,
    out: Path,
    tickets: Iterable[Ticket] = (),
    progress: Progress | None = None,
    *,
    min_margin: float = 0.0,
    arguments: str = OBJECT,
) -> JsonlReport:
    """Write, for each action that lost something, the oracle's action over the agent's.

    Args:
        run: The run's folder.
        out: The file.
        tickets: Not needed: a run keeps its tickets.
        progress: Told how far it is.
        min_margin: Actions with more than this regret.
        arguments: ``object`` or ``text``.

    Raises:
        OptionError: For a negative margin.
        StoreError: If the run can't be read or the file can't be written.
    """
    least = _least(min_margin)
    source = StoredRun(run)
    rule = rule_of(source.manifest) or reward_rule("cirrus")
    report = JsonlReport("preferences", str(out))
    advance = progress(len(source)) if progress is not None else lambda: None
    lines: list[Mapping[str, Any]] = []
    for played in played_of(source):
        report.episodes += 1
        if not played.row.valid:
            report.invalid += 1
        for member in _member(played, arguments, report) if played.row.valid else ():
            try:
                found = regrets(played.trajectory, played.ticket, reward=rule)
            except OptionError as error:
                report.left_out.append((played.name, str(error)))
                continue
            chat = member.chat
            for lost in found.actions:
                if lost.regret_micro <= least:
                    continue
                at = chat.steps.index(lost.i)
                better = message_of(lost.best, lost.i, arguments)
                report.count(played.row.agent, 1)
                lines.append(
                    {
                        "prompt": list(chat.messages[:at]),
                        "chosen": [better],
                        "rejected": [chat.messages[at]],
                        "tools": chat.tools,
                        "margin": lost.regret,
                        "meta": {"rejected": meta_of(played.row), "step": lost.i},
                    }
                )
        advance()
    write_lines(out, lines)
    return report


def _least(margin: float) -> float:
    if not margin >= 0:
        raise OptionError(f"a margin is 0 or more, not {margin!r}")
    return margin * 1_000_000


def _group(played: Played) -> str:
    """What two episodes must have in common."""
    header = {k: v for k, v in played.trajectory.header.items() if k != "version"}
    return canonical([header, played.system])


def _member(played: Played, arguments: str, report: JsonlReport) -> list[_Member]:
    """The episode as chat; nothing, with a note, where it can't be."""
    try:
        chat = chat_of(played.trajectory, played.ticket, system=played.system, arguments=arguments)
    except OptionError as error:
        report.left_out.append((played.name, str(error)))
        return []
    return [_Member(played, played.row.return_micro or 0, chat)]


def _pairs(
    members: Sequence[_Member], least: float, whole: bool, report: JsonlReport
) -> Iterator[dict[str, Any]]:
    """The pairs of a group, each once."""
    written: set[str] = set()
    for one, two in combinations(members, 2):
        better, worse = (one, two) if one.micro >= two.micro else (two, one)
        if better.micro - worse.micro <= least:
            report.ties += 1
            continue
        at = _parting(better.chat, worse.chat)
        if at is None:
            report.alike += 1
            continue
        pair = _pair(better, worse, at, whole)
        key = canonical([pair["prompt"], pair["chosen"], pair["rejected"]])
        if key in written:  # sampled twice: once is enough
            report.alike += 1
            continue
        written.add(key)
        report.count(better.played.row.agent, 1)
        yield pair


def _pair(better: _Member, worse: _Member, at: int, whole: bool) -> dict[str, Any]:
    end = None if whole else at + 1
    pair = {
        "prompt": list(better.chat.messages[:at]),
        "chosen": list(better.chat.messages[at:end]),
        "rejected": list(worse.chat.messages[at:end]),
        "tools": better.chat.tools,
        "margin": (better.micro - worse.micro) / 1_000_000,
        "meta": {"chosen": meta_of(better.played.row), "rejected": meta_of(worse.played.row)},
    }
    if whole:
        pair["chosen_mask"] = list(map(int, better.chat.mask[at:]))
        pair["rejected_mask"] = list(map(int, worse.chat.mask[at:]))
    return pair


def _parting(one: Chat, two: Chat) -> int | None:
    """The first message that differs, if both are an agent's; ids of calls don't count."""
    for at, (mine, theirs) in enumerate(zip(one.messages, two.messages, strict=False)):
        if _said(mine) == _said(theirs):
            continue
        # the better one must be worth learning; the worse may be an invalid action
        both = mine["role"] == theirs["role"] == "assistant"
        return at if both and one.mask[at] else None
    return None


def _said(message: Message) -> tuple[Any, ...]:
    calls = [canonical(call["function"]) for call in message.get("tool_calls", ())]
    return message["role"], message["content"], calls
