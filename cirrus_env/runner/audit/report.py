"""All checks over all cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from cirrus_env.runner.agents import Agent
from cirrus_env.runner.audit import agents, leaks, measure, words
from cirrus_env.runner.audit.case import Case, Finding
from cirrus_env.runner.play import describe

Check = Callable[[Case], Iterator[str]]

CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {
        "oracle": agents.oracle_succeeds,
        "changed oracle": agents.changed_oracles,
        "attacks": agents.attacks_fail,
        "examples": words.examples_are_judged_rightly,
        "nothing free": words.nothing_is_free,
        "leaks": leaks.nothing_leaks,
        "constants": measure.constants_are_current,
    }
)
"""Check -> a generator of problems."""


@dataclass(frozen=True, slots=True)
class Report:
    """What an audit found.

    Attributes:
        checks: The checks made, in order.
        cases: The cases that they were made on.
        findings: Everything wrong.
    """

    checks: tuple[str, ...]
    cases: tuple[Case, ...]
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong and anything was proved at all."""
        return bool(self.cases) and not self.findings

    def to_json(self) -> dict[str, Any]:
        """The report as JSON."""
        return {
            "passed": self.passed,
            "checks": list(self.checks),
            "cases": [case.label for case in self.cases],
            "findings": [finding._asdict() for finding in self.findings],
        }


def audit(
    cases: Iterable[Case],
    *,
    outside: Sequence[Agent] = (),
    on_done: Callable[[Case], None] | None = None,
) -> Report:
    """Make every check on every case.

    Args:
        cases: Scenarios to prove.
        outside: Agents from outside the package, which must not succeed either.
        on_done: Called after each case.
    """
    checks = dict(CHECKS)
    if outside:
        checks["outside agents"] = partial(agents.outside_agents_fail, agents=outside)
    done: list[Case] = []
    findings: list[Finding] = []
    for case in cases:
        for name, check in checks.items():
            findings.extend(Finding(name, case.label, p) for p in _problems(check, case))
        done.append(case)
        if on_done is not None:
            on_done(case)
    return Report(tuple(checks), tuple(done), tuple(findings))


def _problems(check: Check, case: Case) -> Iterator[str]:
    """The check's problems; one that breaks is a problem, not the end of the audit."""
    try:
        yield from check(case)
    except Exception as error:
        yield f"the check broke: {describe(error)}: {error}"
