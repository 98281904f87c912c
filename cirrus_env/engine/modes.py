"""Ways to play a ticket that are no measure of an agent that talks with its customer.

===========  ================================================================================
mode         what is other
===========  ================================================================================
normal       nothing
solo         nobody answers: the first message says all, the agent acts by tools and then closes
             or hands over. What needs the customer (questions, agreement, its console) is no
             checkpoint, and only the closing words tell anything
oracle-plan  the system text holds the reference plan, which the agent still has to carry out
===========  ================================================================================

Results of different modes are never mixed (``runner.modes``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from cirrus_env.engine.plan import checkpoint_actions, closing_action
from cirrus_env.tickets.model import Closing, Reference, Scenario
from cirrus_env.tickets.predicates import (
    Agreed,
    All,
    AnyOf,
    Asked,
    Called,
    CustomerDid,
    Predicate,
    Told,
)
from cirrus_env.tickets.scenario import shared_scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import AssistantAction

NORMAL: Final = "normal"
SOLO: Final = "solo"
ORACLE_PLAN: Final = "oracle-plan"
EPISODE_MODES: Final = (NORMAL, SOLO, ORACLE_PLAN)

NOBODY_ANSWERS: Final = (
    "nobody answers in this mode: act with the tools, then close the ticket or hand it over"
)


def scene(
    ticket: Ticket,
    seed: int,
    *,
    variant: str | None = None,
    language: str | None = None,
    mode: str = NORMAL,
) -> Scenario:
    """The scenario as it is played in a mode; see ``make_scenario``."""
    made = shared_scenario(ticket, seed, variant=variant, language=language)
    return alone(made) if mode == SOLO else made


def mode_text(scenario: Scenario, mode: str) -> str:
    """What the mode adds to the system text; empty for ``normal``."""
    language = scenario.public.language if scenario.public.language in _ALONE else "en"
    if mode == SOLO:
        return "\n\n" + _ALONE[language]
    if mode == ORACLE_PLAN:
        return "\n\n" + _plan(scenario, language)
    return ""


# -- solo ------------------------------------------------------------------------------------

_ALONE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": "The customer can't be reached: its message holds everything it has to say, and it"
        " has agreed to whatever it would agree to. Act with the tools, then close the ticket or"
        " hand it over. Your last words are the only ones that are read.",
        "zh": "客户无法联系: 它的来信已写明全部情况, 凡是它会同意的操作都已同意。"
        "请直接使用工具处理, 然后关闭工单或转交。只有您最后的话会被阅读。",
    }
)


def alone(scenario: Scenario) -> Scenario:
    """The scenario without what needs the customer.

    The reference keeps its calls, and says in its closing what it would have told on the way. All
    of that is told at once, so nothing has to come after something told.
    """
    gold = scenario.gold
    kept = [c for c in gold.checkpoints if not _needs(c.evidence, Asked, Agreed, CustomerDid)]
    silent = {c.id for c in kept if not _needs(c.evidence, Told)}
    ancestors: dict[str, tuple[str, ...]] = {}
    for checkpoint in gold.checkpoints:  # in topological order
        found: dict[str, None] = {}
        for parent in checkpoint.after:
            found.update(dict.fromkeys([parent] if parent in silent else ancestors[parent]))
        ancestors[checkpoint.id] = tuple(found)
    words = [text for c in kept for text in _words(checkpoint_actions(c))]
    space = "" if scenario.public.language == "zh" else " "
    return replace(
        scenario,
        gold=replace(
            gold,
            checkpoints=tuple(
                replace(
                    checkpoint,
                    after=ancestors[checkpoint.id],
                    evidence=_bound_to(checkpoint.evidence, silent),
                    reference=Reference(checkpoint.reference.calls),
                )
                for checkpoint in kept
            ),
            closing=Closing(
                gold.closing.kind, space.join([*words, gold.closing.text]), gold.closing.queue
            ),
            shortest=min(gold.shortest, 1),
            wrong_replies=0,
        ),
    )


def _words(actions: Iterable[AssistantAction]) -> list[str]:
    return [action.text for action in actions if action.kind == "reply"]


def _needs(predicate: Predicate, *kinds: type) -> bool:
    """Whether it can't hold without something of these kinds."""
    if isinstance(predicate, All):
        return any(_needs(part, *kinds) for part in predicate.parts)
    if isinstance(predicate, AnyOf):
        return all(_needs(part, *kinds) for part in predicate.parts)
    return isinstance(predicate, kinds)


def _bound_to(predicate: Predicate, ids: set[str]) -> Predicate:
    """The predicate, whose calls come after checkpoints of these ids only."""
    if isinstance(predicate, All | AnyOf):
        return replace(predicate, parts=tuple(_bound_to(part, ids) for part in predicate.parts))
    if isinstance(predicate, Called) and predicate.after and predicate.after not in ids:
        return replace(predicate, after="")
    return predicate


# -- oracle plan -----------------------------------------------------------------------------

_PLAN: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "en": {
            "head": "The plan for this ticket. Carry it out in this order, wait for the customer's"
            " answer after each message, and adapt it where the cloud or the customer answers"
            " otherwise:",
            "call": "Call {name} with {arguments}.",
            "reply": "Write to the customer, conveying this: {text}",
            "close": "Close the ticket, conveying this: {text}",
            "escalate": "Hand the ticket over to the queue {queue}, with a summary that conveys"
            " this: {text}",
        },
        "zh": {
            "head": "本工单的处理计划如下。请按顺序执行, 每条消息之后等待客户答复; "
            "如云平台或客户的答复与计划不同, 请相应调整:",
            "call": "调用 {name}, 参数为 {arguments}。",
            "reply": "回复客户, 说明以下内容: {text}",
            "close": "关闭工单, 说明以下内容: {text}",
            "escalate": "将工单转交队列 {queue}, 摘要须说明以下内容: {text}",
        },
    }
)


def _plan(scenario: Scenario, language: str) -> str:
    wording = _PLAN[language]
    actions = [a for c in scenario.gold.checkpoints for a in checkpoint_actions(c)]
    steps = [_step(action, wording) for action in (*actions, closing_action(scenario))]
    lines = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    return "\n".join([wording["head"], *lines])


def _step(action: AssistantAction, wording: Mapping[str, str]) -> str:
    fill: Callable[..., str] = wording[action.kind].format
    if action.calls:
        return fill(name=action.calls[0].name, arguments=action.calls[0].arguments)
    return fill(text=action.text, queue=action.queue)
