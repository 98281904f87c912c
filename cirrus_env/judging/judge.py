"""What a judge is: it decides which slots a reply told, rightly or wrongly."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from cirrus_env.errors import OptionError
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import Act


class Assessment(NamedTuple):
    """A judge's verdict on one reply.

    Attributes:
        told: Slots whose right value the reply tells, in the order told.
        wrong: ``(slot, value)`` told wrongly, each once, in the order told.
    """

    told: tuple[str, ...] = ()
    wrong: tuple[tuple[str, str], ...] = ()


@runtime_checkable
class Judge(Protocol):
    """Decides said-evidence. One object serves any number of episodes; it keeps no state.

    Attributes:
        name: As the trajectory's header names it.
    """

    name: str

    def assess(self, scenario: Scenario, text: str, acts: Sequence[Act]) -> Assessment:
        """Judge one reply.

        Args:
            scenario: What is true.
            text: The reply's words.
            acts: The dialogue acts read from it.

        Returns:
            The verdict, a function of the arguments only.
        """
        ...


def judge(spec: str | Judge) -> Judge:
    """The judge of this name, or the judge itself.

    Raises:
        OptionError: If there is no such judge.
    """
    if not isinstance(spec, str):
        if isinstance(spec, Judge):
            return spec
        raise OptionError(f"a judge has a name and assess(scenario, text, acts); got {spec!r}")
    from cirrus_env.judging.rule import RuleJudge

    if spec == RuleJudge.name:
        return RuleJudge()
    near = difflib.get_close_matches(spec, JUDGES, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(JUDGES)}"
    raise OptionError(f"there is no judge {spec!r}{hint}")


JUDGES = ("rule",)
