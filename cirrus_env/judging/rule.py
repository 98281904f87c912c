"""The rule judge: a slot is told iff the reply asserts its right value and no other."""

from __future__ import annotations

from collections.abc import Sequence

from cirrus_env.judging.judge import Assessment
from cirrus_env.tickets.model import Scenario
from cirrus_env.wire import Act

_NOTHING = Assessment()


class RuleJudge:
    """Reads the verdict off the dialogue acts (METRICS section 4); offline and deterministic.

    All the reading is done by ``nlu``: questions, quotations, negations, conditionals and hedges
    leave no ``told`` act. What remains is to compare values: a slot is told rightly iff its told
    values in this reply are exactly its right value. Every other told value is wrong, a denied
    statement and a number bound to the slot included. A slot without a right value in this
    scenario (``value`` empty) can only be told wrongly.
    """

    name = "rule"

    __slots__ = ()

    def assess(self, scenario: Scenario, text: str, acts: Sequence[Act]) -> Assessment:
        """Judge one reply by its acts; the words are not read again."""
        slots = scenario.gold.slots
        right: dict[str, None] = {}
        wrong: dict[tuple[str, str], None] = {}
        for act in acts:
            if act.kind != "told" or act.name not in slots:
                continue
            if act.value == slots[act.name].value and act.value:
                right[act.name] = None
            else:
                wrong[act.name, act.value] = None
        if not wrong:
            return Assessment(tuple(right)) if right else _NOTHING
        spoilt = {slot for slot, _ in wrong}
        return Assessment(tuple(s for s in right if s not in spoilt), tuple(wrong))
