"""Small trajectories and scenarios, written by hand."""

from __future__ import annotations

from types import SimpleNamespace

from cirrus_env.judging.reward import reward_rule
from cirrus_env.judging.tally import Tally
from cirrus_env.tickets.model import Checkpoint, Closing, Gold, Slot
from cirrus_env.tickets.predicates import Called, Told
from cirrus_env.wire import ASSISTANT, CUSTOMER, Act, Event, Record

ASK = Checkpoint("ask", "inquiry", Called("x"), skippable=True)
WHO = Checkpoint("who", "identity", Called("CheckIdentity"), after=("ask",))
SEE = Checkpoint("see", "diagnosis", Called("Describe"), after=("ask",))
CALM = Checkpoint("calm", "inquiry", Called("x"), after=("see",), skippable=True)
SAY = Checkpoint("say", "explanation", Told("cause"), after=("calm",))
ACT = Checkpoint("act", "action", Called("Stop"), after=("say",))
CHAIN = (ASK, SEE, CALM, SAY, ACT)
"""Five checkpoints in a row; two may be skipped."""

SLOTS = {
    "cause": Slot("cause", "enum", "halted", values={"halted": (), "kept": (), "prepaid": ()}),
    "daily": Slot("daily", "money", "2400"),
    "loss": Slot("loss", "statement", "said", values={"said": ()}),
    "none": Slot("none", "enum", "", values={"a": (), "b": ()}),
}


def gold(**changes) -> Gold:
    base = {
        "ending": "resolve",
        "queue": "",
        "checkpoints": CHAIN,
        "slots": SLOTS,
        "minefields": (),
        "must_flip": (),
        "must_hold": (),
        "may_change": (),
        "closing": Closing("close", "Bye."),
        "shortest": 2,
        "tokens": 40,
    }
    return Gold(**{**base, **changes})


def scenario(**changes):
    return SimpleNamespace(
        gold=gold(**changes.pop("gold", {})), private=SimpleNamespace(**changes.pop("private", {}))
    )


def tally(rule="cirrus", needed=(), **changes) -> Tally:
    return Tally(gold(**changes), rule=reward_rule(rule), needed=needed)


def assistant(kind="reply", text="", events=(), acts=(), calls=(), **more) -> Record:
    action = {"kind": kind}
    if text:
        action["text"] = text
    if calls:
        action["calls"] = [[f"c{k}", name, arguments] for k, (name, arguments) in enumerate(calls)]
    return Record(0, ASSISTANT, {**action, **more}, tuple(acts), tuple(events), 0, 0)


def customer(text="Hm.", events=(), acts=()) -> Record:
    return Record(0, CUSTOMER, {"kind": "say", "text": text}, tuple(acts), tuple(events), 0, 0)


def passed(*names) -> tuple[Event, ...]:
    return tuple(Event("passed", name) for name in names)


def called(name="Stop", ok=True, effect="write", arguments=None, **more) -> Event:
    value = {
        "arguments": {"Id": "i-1"} if arguments is None else arguments,
        "ok": ok,
        "code": "" if ok else "Forbidden",
        "effect": effect,
        "consent": True,
        "changed": [] if effect == "read" else [["ecs.instance", "i-1", ["status"]]],
        "outside": False,
        "duplicate": False,
    }
    return Event("called", name, {**value, **more})


def ended(success=True, terminated=True, valid=True, outcome="success") -> Event:
    value = {"ending": "close", "success": success, "terminated": terminated, "valid": valid}
    return Event("ended", outcome, value)


def mine(policy="P1", effect="cost", key="k") -> Event:
    return Event("minefield", policy, {"effect": effect, "key": key})


def folded(records, rule="cirrus", needed=(), **changes) -> Tally:
    result = tally(rule, needed, **changes)
    for record in records:
        result.add(record)
    return result


def told(slot, value) -> Act:
    return Act("told", slot, value)
