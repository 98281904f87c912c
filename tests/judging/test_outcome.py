"""Endings: which ending fits, and what success asks for."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.model import AuditEntry, Resource
from cirrus_env.judging.outcome import (
    Outcome,
    changed_fields,
    changes_account,
    ended_by_choice,
    outside,
    record_of,
)
from cirrus_env.nlu.evidence import Evidence
from cirrus_env.tickets.model import Checkpoint, Closing, Gold
from cirrus_env.tickets.predicates import Asked, State, Told


@dataclass(frozen=True, slots=True)
class Box(Resource):
    kind: ClassVar[str] = "test.box"

    status: str = "open"
    size: int = 1


def gold(**changes) -> Gold:
    base = Gold(
        ending="resolve",
        queue="",
        checkpoints=(
            Checkpoint("ask", "inquiry", Asked("id"), skippable=True),
            Checkpoint("say", "explanation", Told("cause"), after=("ask",)),
        ),
        slots={},
        minefields=(),
        must_flip=(("closed", State("test.box", "b", "status", "is", "closed")),),
        must_hold=(),
        may_change=(("test.box", "b", "status"),),
        closing=Closing("close", "bye"),
        shortest=1,
    )
    return replace(base, **changes)


def world(status: str = "closed", *entries: AuditEntry) -> Cloud:
    cloud = Cloud(Catalogue([]), 1, "me", 0)
    cloud.insert(Box("b", "me", status))
    cloud.audit.extend(entries)
    return cloud


DONE = Evidence(passed={"say": 3})


def end(how="close", queue="", *, of=None, evidence=DONE, cloud=None, void=False) -> Outcome:
    return ended_by_choice(how, queue, of or gold(), evidence, cloud or world(), void=void)


@pytest.mark.parametrize("how", ["close", "accept"])
def test_success_needs_the_ending_the_checkpoints_and_the_assertions(how):
    outcome = end(how)
    assert (outcome.name, outcome.success, outcome.terminated, outcome.valid) == (
        "success", True, True, True,
    )  # fmt: skip
    assert dict(outcome.assertions) == {"closed": True, "untouched_elsewhere": True}


def test_a_missing_checkpoint_is_closed_early_and_a_skippable_one_is_not_missed():
    assert end(evidence=Evidence(passed={"ask": 1})).name == "closed_early"
    assert end(evidence=Evidence(passed={"say": 1})).name == "success"


def test_a_failed_assertion_is_closed_early():
    assert end(cloud=world("open")).name == "closed_early"


def test_a_void_minefield_is_closed_early():
    assert end(void=True).name == "closed_early"


def test_leaving_is_abandoned_whatever_was_done():
    outcome = end("leave")
    assert (outcome.name, outcome.success) == ("abandoned", False)


def test_the_other_ending_and_the_other_queue_are_wrong():
    handing = gold(ending="escalate", queue="security")
    assert end("escalate", "security").name == "wrong_ending"
    assert end("close", of=handing).name == "wrong_ending"
    assert end("accept", of=handing).name == "wrong_ending"
    assert end("escalate", "billing", of=handing).name == "wrong_ending"
    assert end("escalate", "security", of=handing).name == "success"
    assert end("escalate", "any", of=gold(ending="escalate")).name == "success"


def test_an_escalation_without_its_facts_is_no_success():
    handing = gold(ending="escalate", queue="security")
    outcome = end("escalate", "security", of=handing, evidence=Evidence())
    assert (outcome.name, outcome.success) == ("wrong_ending", False)


def test_a_ticket_without_evidence_is_unscored():
    outcome = end(of=gold(scored=False))
    assert (outcome.name, outcome.success, outcome.terminated) == ("unscored", None, True)


def entry(before: Box | None, after: Box | None, actor="assistant") -> AuditEntry:
    return AuditEntry(0, actor, "Op", before, after)


BEFORE = Box("b", "me")


def test_the_assistants_change_elsewhere_fails_and_the_customers_does_not():
    resized = entry(BEFORE, replace(BEFORE, size=2))
    assert end(cloud=world("closed", resized)).name == "closed_early"
    mine = entry(BEFORE, replace(BEFORE, size=2), "customer")
    assert end(cloud=world("closed", mine)).name == "success"


def test_without_any_known_constant_nothing_is_outside():
    resized = entry(BEFORE, replace(BEFORE, size=2))
    assert end(of=gold(may_change=(), shortest=0), cloud=world("closed", resized)).name == (
        "success"
    )


def test_an_entrys_fields_and_what_lies_outside():
    shut = entry(BEFORE, replace(BEFORE, status="closed"))
    both = entry(BEFORE, replace(BEFORE, status="closed", size=3))
    made, gone = entry(None, BEFORE), entry(BEFORE, None)
    assert changed_fields(shut) == ("status",)
    assert changed_fields(both) == ("status", "size")
    assert changed_fields(made) == changed_fields(gone) == ("*",)
    assert not outside(shut, gold())
    assert outside(both, gold())
    assert outside(made, gold())
    assert not outside(made, gold(may_change=(("test.box", "*", "*"),)))
    assert record_of(gone) == BEFORE
    with pytest.raises(ValueError, match="nothing"):
        record_of(entry(None, None))


@pytest.mark.parametrize(
    ("name", "terminated", "valid"),
    [
        ("turn_limit", False, True),
        ("context_overflow", False, True),
        ("diverged", False, True),
        ("stopped", False, True),
        ("agent_error", False, False),
        ("judge_error", False, False),
        ("violated", True, True),
        ("abandoned", True, True),
    ],
)
def test_every_outcome_has_its_flags(name, terminated, valid):
    outcome = Outcome(name, "limit", False)
    assert outcome.to_json() == {
        "ending": "limit", "success": False, "terminated": terminated, "valid": valid,
    }  # fmt: skip


def test_an_identity_check_is_no_change_of_the_account():
    assert not changes_account([["account.verification", "acct", ["verified"]]])
    assert changes_account([["account.verification", "a", ["verified"]], ["x", "b", ["c"]]])
    assert not changes_account([])

    @dataclass(frozen=True, slots=True)
    class Check(Resource):
        kind: ClassVar[str] = "account.verification"

    assert not outside(entry(None, Check("a", "me")), gold())
