"""How an episode begins: options are checked, the stage is set, turns to play first are found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from cirrus_env.customers.registry import customer as find_customer
from cirrus_env.engine.modes import scene
from cirrus_env.engine.options import ResetOptions, read_options
from cirrus_env.engine.plan import reference_turns
from cirrus_env.engine.play import staged
from cirrus_env.engine.setting import Setting, as_customer
from cirrus_env.engine.stage import Stage
from cirrus_env.errors import OptionError
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import AssistantAction


class Opening(NamedTuple):
    """An episode before its first words.

    Attributes:
        stage: The stage.
        actions: What of the reference is played before it is the learner's turn.
        outside: The setting that holds afterwards, where somebody outside takes the customer over.
    """

    stage: Stage
    actions: tuple[AssistantAction, ...] = ()
    outside: Setting | None = None


def checked_options(
    ticket: Ticket, setting: Setting, options: Mapping[str, Any] | None
) -> ResetOptions:
    """The options of a reset, with the language that it comes to.

    Raises:
        OptionError: If one can't be used.
    """
    chosen = read_options(options)
    if chosen.variant is not None and chosen.variant not in ticket.variants:
        known = ", ".join(ticket.variants)
        raise OptionError(f"{ticket.id} has no variant {chosen.variant!r}; it has {known}")
    language = chosen.language or setting.language
    if language is not None and language not in ticket.languages:
        raise OptionError(f"{ticket.id} has no language {language!r}")
    return chosen._replace(language=language)


def prepare(ticket: Ticket, setting: Setting, seed: int, chosen: ResetOptions) -> Opening:
    """Set the stage for a seed.

    Args:
        ticket: The ticket.
        setting: What the caller chose for all episodes.
        seed: The scenario's seed.
        chosen: By ``checked_options``.

    Raises:
        OptionError: If the reference has fewer turns than shall be played first.
    """
    mode = setting.mode
    scenario = scene(ticket, seed, variant=chosen.variant, language=chosen.language, mode=mode)
    if chosen.customer is not None:
        setting = replace(setting, customer=as_customer(chosen.customer, mode))
    if not chosen.turn:
        return Opening(staged(scenario, setting))
    turns = reference_turns(scenario)[: chosen.turn]
    if len(turns) < chosen.turn:
        raise OptionError(f"the reference has only {len(turns)} turns, not {chosen.turn}")
    actions = tuple(action for turn in turns for action in turn)
    if setting.customer is not None:
        return Opening(staged(scenario, setting), actions)
    # somebody outside takes over after these turns; the reference needs its answers
    own = replace(setting, customer=find_customer(ticket.default_customer))
    return Opening(staged(scenario, own), actions, outside=setting)
