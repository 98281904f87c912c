"""Why an episode came out as it did: its steps, its checkpoints, its assertions, its success.

The episode is acted again from its records (``runner.playback``), so every reason is looked up in
the true state of that moment. What comes out is JSON; the command line writes it as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cirrus_env.engine.stage import Stage
from cirrus_env.errors import OptionError
from cirrus_env.judging.progress import EVENT_KINDS
from cirrus_env.judging.reward import RewardRule, reward_rule
from cirrus_env.runner.manifest import rule_of
from cirrus_env.runner.playback import acted_again
from cirrus_env.runner.stored import Stored, StoredRun
from cirrus_env.runner.why import Past, reasons
from cirrus_env.tickets.model import Checkpoint
from cirrus_env.wire import Act, Record

JSON = dict[str, Any]


def explain(run: StoredRun, stored: Stored) -> JSON:
    """Explain one stored episode.

    Returns:
        ``episode`` (what it is and came to), ``steps``, ``checkpoints``, ``assertions``,
        ``success`` (each condition, and whether it is met), ``reward`` (terms, weights, return)
        and ``reproduced`` (whether every record came out again as it is stored).

    Raises:
        OptionError: If nothing of it was played, or turns by themselves, which pass nothing.
        StoreError: If this package ships another text of its ticket.
    """
    if not stored.trajectory.records:
        row = stored.row
        why = f"nothing of it was played ({row.error})" if row.error else f"it is {row.mode}"
        raise OptionError(f"episode {stored.number} can't be explained: {why}")
    rule = rule_of(run.manifest) or reward_rule("cirrus")
    system = run.manifest["settings"].get("system")
    moments = acted_again(
        stored.trajectory, run.tickets[stored.row.ticket], rule=rule, system=system
    )
    steps: list[JSON] = []
    stage: Stage | None = None
    reproduced = True
    for record, again, stage in moments:
        reproduced = reproduced and record == again
        steps.append(_step(record, stage))
    if stage is None:
        raise OptionError(f"episode {stored.number} has no records")
    return {
        "episode": _episode(stored),
        "steps": steps,
        "checkpoints": [_checkpoint(c, stage) for c in stage.scenario.gold.checkpoints],
        "assertions": list(_assertions(stage)),
        "success": list(_conditions(stage)),
        "reward": _reward(stage, rule, stored),
        "reproduced": reproduced,
    }


def _episode(stored: Stored) -> JSON:
    row = stored.row.to_json()
    metrics = row.pop("metrics")
    return {"number": stored.number, "name": stored.name, **row, "metrics": dict(metrics)}


# -- steps -----------------------------------------------------------------------------------


def _step(record: Record, stage: Stage) -> JSON:
    """One record: what was done, how it was read, and what that changed."""
    action = record.action
    found: JSON = {
        "i": record.i,
        "seat": record.seat,
        "does": action["kind"],
        "text": action.get("text", ""),
        "fault": action.get("fault", ""),
        "queue": action.get("queue", ""),
        "console": action.get("console", ""),
        "read": [_act(act) for act in record.acts],
        "calls": [], "judged": [], "happened": [], "passed": [],
        "reward_micro": record.reward_micro,
        "clock": record.clock,
    }  # fmt: skip
    for event in record.events:
        if event.kind == "called":
            found["calls"].append({"operation": event.name, **_call(event.value)})
        elif event.kind == "verdict":
            value = stage.scenario.gold.slots.get(event.name)
            found["judged"].append(
                {"slot": event.name, "value": value.value if value else "", "right": True}
            )
        elif event.kind == "wrong":
            found["judged"].append({"slot": event.name, "value": event.value, "right": False})
        elif event.kind == "passed":
            found["passed"].append(_passed(event.name, record.i, stage))
        elif event.kind not in ("satisfaction", "assertion"):
            found["happened"].append({"what": event.kind, "name": event.name, "value": event.value})
    return found


def _call(value: Mapping[str, Any]) -> JSON:
    kept = ("arguments", "ok", "code", "effect", "consent", "changed", "outside", "duplicate")
    return {name: value[name] for name in kept}


def _act(act: Act) -> JSON:
    return {"kind": act.kind, "name": act.name, "value": act.value, "detail": list(act.detail)}


def _passed(name: str, step: int, stage: Stage) -> JSON:
    checkpoint = next(c for c in stage.scenario.gold.checkpoints if c.id == name)
    past = _past(checkpoint, stage, before=step)
    return {
        "checkpoint": name,
        "because": [reason.to_json() for reason in reasons(checkpoint.evidence, past)],
    }


# -- checkpoints -----------------------------------------------------------------------------


def _above(checkpoint: Checkpoint, stage: Stage) -> list[Checkpoint]:
    """Its ancestors, in listed order."""
    known = {c.id: c for c in stage.scenario.gold.checkpoints}
    found: set[str] = set()
    todo = [name for name in checkpoint.after if name in known]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [parent for parent in known[name].after if parent in known]
    return [c for c in known.values() if c.id in found]


def _past(checkpoint: Checkpoint, stage: Stage, *, before: int | None = None) -> Past:
    """What a checkpoint's evidence is looked for in (as ``judging.progress`` does)."""
    state = stage.state
    since = -1
    if checkpoint.kind in EVENT_KINDS:
        steps = (state.evidence.passed.get(c.id, -1) for c in _above(checkpoint, stage))
        since = max((s for s in steps if before is None or s < before), default=-1)
    evidence = state.evidence
    if checkpoint.kind == "escalation":
        evidence = replace(evidence, told=evidence.handed)
    return Past(stage.scenario, evidence, state.cloud, state.records, since)


def _checkpoint(checkpoint: Checkpoint, stage: Stage) -> JSON:
    """What became of a checkpoint, and what it lacked at the end."""
    passed = stage.state.evidence.passed
    found: JSON = {
        "checkpoint": checkpoint.id,
        "kind": checkpoint.kind,
        "after": list(checkpoint.after),
        "skippable": checkpoint.skippable,
        "status": "open",
        "step": passed.get(checkpoint.id),
        "waits_for": [],
        "evidence": [],
    }
    if checkpoint.id in passed:
        found["status"] = "passed"
    elif checkpoint.id in stage.progress.skipped(stage.state.evidence):
        found["status"] = "skipped"
    else:
        above = _above(checkpoint, stage)
        found["waits_for"] = [c.id for c in above if not c.skippable and c.id not in passed]
        past = _past(checkpoint, stage)
        found["evidence"] = [reason.to_json() for reason in reasons(checkpoint.evidence, past)]
    return found


# -- success ---------------------------------------------------------------------------------


def _assertions(stage: Stage) -> Iterator[JSON]:
    """Every assertion with its reasons; the results are those of the end where there was one."""
    gold, state = stage.scenario.gold, stage.state
    past = Past(stage.scenario, state.evidence, state.cloud, state.records)
    told = {} if state.outcome is None else dict(state.outcome.assertions)
    for kind, named in (("must_flip", gold.must_flip), ("must_hold", gold.must_hold)):
        for name, predicate in named:
            yield {
                "assertion": name,
                "kind": kind,
                "holds": told.pop(name, past.holds(predicate)),
                "because": [reason.to_json() for reason in reasons(predicate, past)],
            }
    for name, value in told.items():
        because = [] if value else [_reason(what) for what in _touched_outside(stage)]
        yield {"assertion": name, "kind": "must_hold", "holds": value, "because": because}


def _reason(text: str) -> JSON:
    return {"text": text, "holds": False, "note": ""}


def _touched_outside(stage: Stage) -> Iterator[str]:
    for record in stage.state.records:
        for event in record.events:
            if event.kind == "called" and event.value["outside"]:
                changed = "; ".join(
                    f"{kind} {id}: {', '.join(fields)}"
                    for kind, id, fields in event.value["changed"]
                )
                yield f"{event.name} at {record.i} changed {changed}"


def _conditions(stage: Stage) -> Iterator[JSON]:
    """What success asks for (METRICS section 3), and whether it is so."""
    gold, state = stage.scenario.gold, stage.state
    if not gold.scored:
        yield _condition("evidence to judge by", False, "this ticket is unscored")
        return
    outcome = state.outcome
    how = "" if outcome is None else outcome.ending
    chosen = how in ("close", "accept", "escalate")
    right = chosen and (how == "escalate") == (gold.ending == "escalate")
    ended = f"{outcome.name} ({how})" if outcome is not None else "it has not ended"
    yield _condition(f"the ending fits {gold.ending}", right, ended)
    if gold.ending == "escalate" and gold.queue:
        queue = state.records[-1].action.get("queue", "")
        note = queue or "none was named"
        yield _condition(f"the queue is {gold.queue}", queue == gold.queue, note)
    passed = state.evidence.passed
    lacking = [c.id for c in gold.checkpoints if not c.skippable and c.id not in passed]
    yield _condition("every required checkpoint passed", not lacking, ", ".join(lacking))
    if outcome is not None and outcome.assertions:
        false = [name for name, value in outcome.assertions if not value]
        yield _condition("every assertion holds", not false, ", ".join(false))
    void = [f"{name} ({key})" for (name, key), effect in state.touched.items() if effect != "cost"]
    yield _condition("no minefield voids it", not void, ", ".join(void))


def _condition(text: str, met: bool, note: str) -> JSON:
    return {"text": text, "met": met, "note": note}


def _reward(stage: Stage, rule: RewardRule, stored: Stored) -> JSON:
    terms = stage.state.tally.terms()
    return {
        "rule": rule.name,
        "terms": {
            name: {"value": value, "weight": rule.weights[name]}
            for name, value in terms.items()
            if rule.weights[name]
        },
        "return_micro": stored.row.return_micro,
    }
