"""A reward rule as an option's value: a preset's name, or weights as JSON."""

from __future__ import annotations

from typing import Any

import click

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
    if text is None:
        return None
    spec: Any = text
    try:
        if text.lstrip().startswith("{"):
            spec = strict_loads(text)
        reward_rule(spec)
    except (MalformedText, OptionError) as error:
        raise click.BadParameter(str(error), ctx, param) from None
    result: str | dict[str, Any] = spec
    return result
