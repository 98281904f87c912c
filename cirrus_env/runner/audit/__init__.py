"""Audit: proves tickets by running episodes on every variant, language and several seeds."""

from cirrus_env.runner.audit.case import Case, Finding, cases_of
from cirrus_env.runner.audit.measure import measured, with_constants
from cirrus_env.runner.audit.report import CHECKS, Report, audit

__all__ = [
    "CHECKS",
    "Case",
    "Finding",
    "Report",
    "audit",
    "cases_of",
    "measured",
    "with_constants",
]
