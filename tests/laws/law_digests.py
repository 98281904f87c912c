"""Plays a fixed list of actions on every ticket and prints one digest a line: run by law R1.

Run as a script it needs nothing but the package; the golden file beside it holds what it printed.
"""

from __future__ import annotations

import json

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions
from cirrus_env.tickets.index import index
from cirrus_env.wire import AssistantAction, ToolCall, digest

SEEDS = (0, 7, 2**40)
WARM_UP = (
    AssistantAction("reply", "Hello, I will look into this."),
    AssistantAction("call", calls=(ToolCall("a", "SearchKnowledge", '{"Query": "charged"}'),)),
    AssistantAction("call", calls=(ToolCall("b", "DescribeInstances", "{}"),)),
    AssistantAction("reply", "One moment, please."),  # without tools two calls were invalid
    AssistantAction("call", calls=(ToolCall("c", "NoSuchTool", "{"),)),
    AssistantAction("reply", ""),
)


def digests() -> dict[str, str]:
    """Ticket, variant, language, seed -> digest of messages, results, rewards, clock, outcome."""
    result = {}
    for entry in index():
        episode = TicketEpisode(entry["id"])
        for variant in episode.ticket.variants:
            for language in episode.ticket.languages:
                for seed in SEEDS:
                    options = {"variant": variant, "language": language}
                    episode.reset(seed=seed, options=options)
                    episode.play_through((*WARM_UP, *reference_actions(episode.scenario)))
                    name = f"{entry['id']}/{variant}/{language}/{seed}"
                    result[name] = digest(
                        [
                            episode.messages[1:],
                            [record.reward_micro for record in episode.records],
                            [record.clock for record in episode.records],
                            episode.info()["outcome"],
                        ]
                    )
    return result


if __name__ == "__main__":
    print(json.dumps(digests(), indent=1, sort_keys=True))
