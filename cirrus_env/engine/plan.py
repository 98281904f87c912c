"""The reference path of a scenario as actions: what the oracle plays and where a start may lie."""

from __future__ import annotations

from collections.abc import Iterable

from cirrus_env.tickets.model import Checkpoint, Scenario
from cirrus_env.wire import AssistantAction, ToolCall, canonical

Turn = tuple[AssistantAction, ...]
"""Actions up to and including a reply, close or escalation."""


def checkpoint_actions(checkpoint: Checkpoint) -> Turn:
    """A checkpoint's reference: each call an action of its own, then the reply, if any."""
    reference = checkpoint.reference
    actions = [
        AssistantAction("call", calls=(ToolCall("", name, canonical(dict(arguments))),))
        for name, arguments in reference.calls
    ]
    if reference.reply:
        actions.append(AssistantAction("reply", reference.reply))
    return tuple(actions)


def closing_action(scenario: Scenario) -> AssistantAction:
    """How the reference ends."""
    closing = scenario.gold.closing
    return AssistantAction(closing.kind, closing.text, queue=closing.queue)


def reference_actions(scenario: Scenario, skip: Iterable[str] = ()) -> Turn:
    """All actions of the reference, without the checkpoints to skip."""
    left_out = set(skip)
    actions = [
        action
        for checkpoint in scenario.gold.checkpoints
        if checkpoint.id not in left_out
        for action in checkpoint_actions(checkpoint)
    ]
    return (*actions, closing_action(scenario))


def reference_turns(scenario: Scenario) -> tuple[Turn, ...]:
    """The reference's actions, turn by turn."""
    turns: list[Turn] = []
    current: list[AssistantAction] = []
    for action in reference_actions(scenario):
        current.append(action)
        if action.kind != "call":
            turns.append(tuple(current))
            current = []
    return tuple(turns)
