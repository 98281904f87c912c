"""The reference path of a scenario as actions: what the oracle plays and where a start may lie."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from cirrus_env.tickets.model import Checkpoint, Scenario
from cirrus_env.wire import AssistantAction, ToolCall, canonical

Turn = tuple[AssistantAction, ...]
"""Actions up to and including a reply, close or escalation."""

PATIENCE: Final = 12
"""How often a reading call is repeated while a transition is not over."""

_UNDER_WAY: Final = re.compile(
    r'"Status":"(?:Stopping|Starting|Pending|Attaching|Detaching|Creating|Associating'
    r'|Unassociating|Modifying|ReIniting|progressing)"|"Code":"OperationConflict"'
).search


_THROTTLED: Final = '"Code":"Throttling.User"'


class PlanStep(NamedTuple):
    """One action, and whether to repeat it while its result shows a transition."""

    action: AssistantAction
    waits: bool


def under_way(result: str) -> bool:
    """Whether a call's result shows a transition that is not over."""
    return _UNDER_WAY(result) is not None


def to_repeat(step: PlanStep, result: str) -> bool:
    """Whether a step is played again: it was throttled, or waits for what is still under way."""
    return _THROTTLED in result or (step.waits and under_way(result))


def with_waits(scenario: Scenario, actions: Iterable[AssistantAction]) -> Iterator[PlanStep]:
    """The actions, reads after something was set going marked as waiting."""
    operations = scenario.cloud.catalogue.operations
    moving = False
    for action in actions:
        effects = [operations[c.name].effect for c in action.calls if c.name in operations]
        yield PlanStep(action, moving and bool(effects) and set(effects) == {"read"})
        if any(effect != "read" for effect in effects):
            moving = True
        elif action.kind == "reply" and scenario.private.console:
            moving = True  # the customer may have set something going


def checkpoint_actions(checkpoint: Checkpoint) -> Turn:
    """Its reference: what leads to it, each call an action of its own, then the reply, if any."""
    reference = checkpoint.reference
    actions = [AssistantAction("reply", text) for text in reference.lead]
    actions += [
        AssistantAction("call", calls=(ToolCall("", name, canonical(dict(arguments))),))
        for name, arguments in reference.calls
    ]
    if reference.reply:
        actions.append(AssistantAction("reply", reference.reply))
    actions += [AssistantAction("reply", text) for text in reference.trail]
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
