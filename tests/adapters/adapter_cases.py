"""What the adapters' tests share: playing imported tickets."""

import json
from pathlib import Path

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions
from cirrus_env.tickets.load import load_ticket

HERE = Path(__file__).parent
SHARED = HERE.parents[2] / "shared" / "samples"


def entries(report):
    """Source -> its entry as JSON."""
    return {entry["source"]: entry for entry in report.to_json()["files"]}


def episode(entry, **arguments) -> TicketEpisode:
    """A running episode on the ticket of a report's entry."""
    made = TicketEpisode(load_ticket(Path(entry["path"])), **arguments)
    made.reset(seed=1)
    return made


def play(running, actions):
    """The last step of some actions; they must not outlive the episode."""
    step = None
    for action in actions:
        step = running.step(action)
        if step.terminated or step.truncated:
            break
    return step


def reference(running):
    """The outcome of the recorded reference."""
    return play(running, reference_actions(running.scenario)).info["outcome"]


def call(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": function}]}


def close(text="Goodbye."):
    return call("close_ticket", message=text)
