"""Branching: forks for group rollouts, regret by oracle completion, and a small tree search.

    python examples/branching.py                       # ECS-Billing, seed 3
    python examples/branching.py --ticket VPC-Eip --seed 1 --group 6 --branches 4

1. A group rollout: all members share a beginning (one fork each), as group-relative trainers want.
2. The regret of every action of the members: how much of the return, completed by the oracle, was
   gone after it, and which action lost the ticket.
3. A tree search: at every turn a few candidate actions are tried on forks, each fork is completed,
   and the best one is played. It needs gold, so it is a teacher, not an agent.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from cirrus_env.baselines import policy
from cirrus_env.baselines.completion import Completion, complete, return_micro
from cirrus_env.baselines.policy import Policy
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.envs.views import AssistantView
from cirrus_env.runner.regret import regrets
from cirrus_env.wire import AssistantAction

Action = AssistantAction | str


def play(episode: TicketEpisode, who: Policy, steps: int | None = None) -> None:
    """Let a policy act, to the end or for so many steps."""
    view = AssistantView()
    while episode.outcome is None and steps != 0:
        episode.step(who.act(view.observe(episode)))
        steps = None if steps is None else steps - 1


def group_rollout(start: TicketEpisode, members: list[Policy]) -> list[TicketEpisode]:
    """Every member plays on from the same moment, each in a world of its own."""
    played = []
    for number, member in enumerate(members):
        fork = start.fork()
        member.reset(number)
        play(fork, member)
        played.append(fork)
    return played


def candidates(episode: TicketEpisode, guides: list[Policy], most: int) -> Iterator[Action]:
    """What the guides would do now, each thing once."""
    seen: list[Action] = []
    for guide in guides:
        action = guide.act(AssistantView().observe(episode))
        if action not in seen and len(seen) < most:
            seen.append(action)
            yield action


def tree_search(episode: TicketEpisode, guides: list[Policy], branches: int) -> list[Completion]:
    """Play the episode, always taking the branch whose completion is best.

    Returns:
        The completion after each step.
    """
    values = []
    while episode.outcome is None:
        tried = []
        for action in candidates(episode, guides, branches):
            fork = episode.fork()
            fork.step(action)
            tried.append((complete(fork), action))
        best, action = max(tried, key=lambda each: each[0].micro)
        episode.step(action)
        values.append(best)
    return values


def main() -> None:
    """Group rollout, regrets, tree search."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ticket", default="ECS-Billing")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--group", type=int, default=4, help="members of the group")
    parser.add_argument("--branches", type=int, default=3, help="candidates at each turn")
    arguments = parser.parse_args()

    start = TicketEpisode(arguments.ticket)
    start.reset(seed=arguments.seed)
    play(start, policy("oracle", start), steps=2)
    members = [policy("oracle", start), policy("keyword")]
    members += [policy("random") for _ in range(max(0, arguments.group - 2))]
    played = group_rollout(start, members)
    print(f"{arguments.ticket}, seed {arguments.seed}: a group of {len(played)} from turn "
          f"{start.state.turn}")  # fmt: skip
    mean = sum(map(return_micro, played)) / len(played)
    for member, episode in zip(members, played, strict=True):
        advantage = (return_micro(episode) - mean) / 1e6
        found = regrets(episode)
        lost = found.lost_at
        where = "" if lost is None else f", lost at step {lost.i} ({lost.action.kind})"
        print(f"  {member.name:<8} return {return_micro(episode) / 1e6:6.3f}  "
              f"advantage {advantage:6.3f}  regrets {found.by_turn()}{where}")  # fmt: skip

    search = TicketEpisode(arguments.ticket)
    search.reset(seed=arguments.seed)
    guides = [policy("keyword"), policy("oracle", search), policy("oracle:polite", search)]
    for guide in guides:
        guide.reset(arguments.seed)
    values = tree_search(search, guides, arguments.branches)
    print(f"tree search: {len(values)} steps, return {return_micro(search) / 1e6:.3f}, "
          f"outcome {search.outcome.name if search.outcome else ''}")  # fmt: skip


if __name__ == "__main__":
    main()
