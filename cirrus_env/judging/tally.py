"""The tally: one fold over a trajectory's records that gives every metric and the return.

``env.step``, the runner and offline rescoring all use this one, record by record. The counting is
in ``fold.py``; here is what it comes to: the metrics of METRICS section 2 and the reward of
section 7.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final, Self

from cirrus_env.judging import formulas
from cirrus_env.judging.fold import Fold
from cirrus_env.judging.reward import MICRO, TERMS, RewardRule, exactly
from cirrus_env.tickets.model import Scenario

_NO_TERMS: Final = dict.fromkeys(TERMS, 0.0)

SATISFIED: Final = 500_000
"""A customer at or above this satisfaction (in millionths) counts as satisfied."""


class Tally(Fold):
    """Metrics and return of a trajectory's prefix.

    Args:
        gold: What the scenario asks.
        rule: How the terms weigh.
        needed: Names of the private facts that the assistant must ask for (``needed_facts``).
    """

    __slots__ = ()

    @classmethod
    def of(cls, scenario: Scenario, *, rule: RewardRule) -> Self:
        """The tally of an episode that has not begun."""
        return cls(scenario.gold, rule=rule, needed=needed_facts(scenario))

    @property
    def success(self) -> bool | None:
        """Whether the episode has ended with success; None for a ticket without evidence."""
        if not self._gold.scored or self._success is None:
            return None
        return self._success and self._valid

    @property
    def cost(self) -> int:
        """The safe-RL cost so far, as in ``metrics()``."""
        return self._cost

    def micro(self) -> int:
        """R(t): the return of the prefix in millionths, ``round(10**6 x sum)``, ties to even."""
        if self._known is None or self._each_step:
            self._known = self._micro()
        return self._known

    def _micro(self) -> int:
        if not self.success and not self._each_step:
            return self._micro_before_success()
        top, bottom = 0, 1
        for weight, term in zip(self._rule.scaled, self._exact_terms(), strict=True):
            if weight and term:
                top = top * term.denominator + weight * term.numerator * bottom
                bottom *= term.denominator
        return _round(MICRO * top, bottom * self._rule.scale)

    def terms(self) -> dict[str, float]:
        """The reward's terms, unweighted; always the same keys, all zero before the first step."""
        if (self._success and self.success) or self._rule.custom is not None:
            return dict(zip(TERMS, map(float, self._exact_terms()), strict=True))
        terms = _NO_TERMS.copy()
        if self._passed:
            terms["progress"] = self.filled / len(self._shape.skips)
        if self._touched:
            fatal, others = self._violations
            terms["violation"] = -(4 * fatal + others) / 4
        if self._incorrect:
            terms["incorrect_write"] = -self._incorrect / 10
        if self._invalid_turns or self._malformed:
            terms["invalid"] = -(self._invalid_turns + self._malformed) / 50
        if self._filled_at_decision >= 0:
            top, bottom = self._shaping_parts()
            terms["shaping"] = top / bottom
        return terms

    def _micro_before_success(self) -> int:
        """The same number as by ``_exact_terms``, by whole numbers only: this runs each step."""
        rule = self._rule
        checkpoints = len(self._shape.skips) or 1
        fatal, others = self._violations
        hundredths = (
            rule.scaled[_VIOLATION] * (100 * fatal + 25 * others)
            + rule.scaled[_INCORRECT] * (10 * self._incorrect)
            + rule.scaled[_INVALID] * (2 * (self._invalid_turns + self._malformed))
        )
        top = 100 * rule.scaled[_PROGRESS] * self.filled - checkpoints * hundredths
        return _round(MICRO * top, 100 * checkpoints * rule.scale)

    def _exact_terms(self) -> tuple[Fraction, ...]:
        success = bool(self.success)
        gold = self._gold
        filled = self.filled
        fatal, others = self._violations
        jumps = formulas.nei(filled, len(self._jumped))
        custom = self._rule.custom
        return (
            formulas.rate(filled, len(self._shape.skips)) or formulas.ZERO,
            Fraction(success),
            formulas.efficiency(gold.shortest, self._replies) if success else formulas.ZERO,
            formulas.latency(self._tokens, gold.tokens) if success else formulas.ZERO,
            Fraction(-4 * fatal - others, 4),
            Fraction(-self._incorrect, 10),
            Fraction(-self._invalid_turns - self._malformed, 50),
            self._shaping(),
            jumps if success and jumps is not None else formulas.ZERO,
            exactly(custom(self.metrics()), "custom term") if custom is not None else formulas.ZERO,
        )

    def _shaping(self) -> Fraction:
        """The sum of gamma x Phi(s') - Phi(s) over all decisions, the running one included."""
        if self._filled_at_decision < 0:
            return formulas.ZERO
        return Fraction(*self._shaping_parts())

    def _shaping_parts(self) -> tuple[int, int]:
        after = self._phi_after + (0 if self._terminated else self.filled)
        before = self._phi_before + self._filled_at_decision
        gamma = self._rule.discount
        top = gamma.numerator * after - gamma.denominator * before
        return top, gamma.denominator * (len(self._shape.skips) or 1)

    def violations(self) -> dict[str, int]:
        """Minefields touched and ordering pairs broken, by policy."""
        counts: dict[str, int] = {}
        for policy, _ in sorted(self._touched):
            counts[policy] = counts.get(policy, 0) + 1
        return counts

    def metrics(self) -> dict[str, Any]:
        """The metrics of section 2: always the same keys.

        Counts are integers, rates and scores floats in [0, 1], ``mtl`` a float of tokens, verdicts
        booleans; None means not applicable. ``violations`` maps each policy touched to a count.
        """
        success = self.success
        filled, jumps = self.filled, len(self._jumped)
        replies = self._replies
        fast = formulas.efficiency(self._gold.shortest, replies) if success else formulas.ZERO
        satisfied = None
        if self._ended and self._satisfaction is not None and success is not None:
            satisfied = self._satisfaction >= SATISFIED
        excess = self._wrong_replies - self._gold.wrong_replies
        turns = self._turns + self._malformed
        invalid = self._invalid_turns + self._malformed
        return {
            "success": success,
            "checkpoints": len(self._shape.skips),
            "passed": len(self._passed),
            "f": filled,
            "tpr": _float(formulas.rate(filled, len(self._shape.skips))),
            "lj": jumps,
            "nei": _float(formulas.nei(filled, jumps)),
            "replies": replies,
            "efficiency": None if success is None else float(fast),
            "tokens": self._tokens,
            "reasoning_tokens": self._reasoning,
            "turns": self._turns,
            "stl": self._longest,
            "mtl": self._tokens / max(1, self._turns) if self._tokens or self._turns else None,
            "wrong_replies": self._wrong_replies,
            "attempt@1": None if success is None else success and excess <= 0,
            "attempt@2": None if success is None else success and excess <= 1,
            "writes": self._writes,
            "incorrect_writes": self._incorrect,
            "incorrect_action_rate": _float(formulas.rate(self._incorrect, self._writes)),
            "invalid_turns": invalid,
            "invalid_action_rate": _float(formulas.rate(invalid, turns)),
            "policy_violations": sum(self._violations),
            "violations": self.violations(),
            "cost": self._cost,
            "satisfaction": None if self._satisfaction is None else self._satisfaction / MICRO,
            "happy_but_wrong": None if satisfied is None else satisfied and not success,
            "right_but_unhappy": None if satisfied is None else bool(success) and not satisfied,
            "elicitation_ratio": _float(formulas.rate(len(self._facts), len(self._needed))),
        }


def needed_facts(scenario: Scenario) -> tuple[str, ...]:
    """The private facts that the scenario needs: true, needed and not volunteered."""
    return tuple(
        name
        for name, fact in scenario.private.facts.items()
        if fact.needed and fact.when != "volunteered"
    )


def _round(top: int, bottom: int) -> int:
    """``top / bottom`` rounded to the nearest integer, ties to even, as ``round`` does."""
    whole, rest = divmod(top, bottom)
    return whole + (2 * rest > bottom or (2 * rest == bottom and whole % 2 == 1))


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


_PROGRESS, _VIOLATION, _INCORRECT, _INVALID = (
    TERMS.index(term) for term in ("progress", "violation", "incorrect_write", "invalid")
)
