"""Options that are a name or something else: a reward rule, the cloud's faults, a count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from cirrus_env.cloud.faults import fault_rates
from cirrus_env.engine.distractions import ALL
from cirrus_env.errors import MalformedText, OptionError
from cirrus_env.judging.reward import reward_rule
from cirrus_env.wire import strict_loads


def read_reward(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> str | dict[str, Any] | None:
    """The preset's name or the weights, checked.

    Raises:
        click.BadParameter: If it is no reward.
    """
    return _read(ctx, param, text, reward_rule)


def read_faults(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> str | dict[str, Any] | None:
    """The preset's name or the rates by kind, checked.

    Raises:
        click.BadParameter: If they are no faults.
    """
    return _read(ctx, param, text, fault_rates)


def read_distractions(
    ctx: click.Context, param: click.Parameter, text: str | None
) -> int | str | None:
    """A number of tools, or ``all``.

    Raises:
        click.BadParameter: If it is neither.
    """
    if text is None or text == ALL:
        return text
    if text.isascii() and text.isdigit():
        return int(text[:9])
    raise click.BadParameter(f"a number of tools or {ALL}, not {text!r}"[:100], ctx, param)


def _read(
    ctx: click.Context, param: click.Parameter, text: str | None, check: Callable[[Any], object]
) -> str | dict[str, Any] | None:
    if text is None:
        return None
    spec: Any = text
    try:
        if text.lstrip().startswith("{"):
            spec = strict_loads(text)
        check(spec)
    except (MalformedText, OptionError, TypeError, ValueError) as error:
        raise click.BadParameter(str(error), ctx, param) from None
    result: str | dict[str, Any] = spec
    return result
