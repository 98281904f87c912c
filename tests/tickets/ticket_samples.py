# ruff: noqa: E501 (a case, or a line of a ticket file, stays on one line)
"""A small but whole ticket that the tests bend."""

from __future__ import annotations

from functools import lru_cache

from cirrus_env.tickets.load import load_ticket
from cirrus_env.tickets.ticket import Ticket

SMALL = """
id = "ECS-Small"
version = 0
family = "small"
split = "train"
uses = ["ecs", "disk", "billing"]
title = { en = "A small ticket", zh = "小工单" }
languages = ["en", "zh"]
ending = "resolve"
queues = ["billing"]
policies = ["P10"]
knowledge = ["ecs/stop-modes"]

[parameters]
instance = { kind = "id", of = "ecs.instance" }
disk = { kind = "id", of = "disk.disk" }
hourly = { kind = "cents_range", from = 50, to = 90 }
daily = { kind = "derive", product = ["{hourly}", 24] }
days = { kind = "integer_range", from = 2, to = 5 }
since = { kind = "date", from = "-{days}d", to = "-1d" }
spot = { kind = "choice", of = ["north", { value = "south", en = "the south", zh = "南方" }] }
place = { kind = "wording", en = ["in {spot}", "near {spot}"], zh = ["在{spot}", "靠近{spot}"] }

[[variants]]
name = "halted"
[[variants]]
name = "kept"
ending = "guide"

[[world]]
kind = "ecs.instance"
id = "{instance}"
only = ["halted"]
status = "Running"
os_state = "halted"
hourly_cents = "{hourly}"
started_time = "-{days}d-2h"
security_groups = ["sg-one", "sg-two"]

[[world]]
kind = "ecs.instance"
id = "{instance}"
only = ["kept"]
status = "Stopped"
stopped_mode = "KeepCharging"
hourly_cents = "{hourly}"

[[distractors]]
kind = "ecs.instance"
name = "others"
count = { from = 2, to = 4 }
fields = { private_ip = "10.1.0.{number}" }
vary.name = ["a", "b", "c"]

[[distractors]]
kind = "disk.disk"
count = 2
fields = { instance_id = "{others}" }

[[history]]
at = "-{days}d"
every = "12h"
times = 6
cents = "{hourly}"
item = "compute"
resource = "{instance}"

[slots.cause]
type = "enum"
values.halted = { en = [["inside"]], zh = [["内部"]] }
values.kept = { en = [["standard mode"], ["reserved"]], zh = [["普通停机"]] }

[slots.daily_cost]
type = "money"
value = "{daily}"
near = { en = [["a day"]], zh = [["每天"]] }
[slots.began]
type = "date"
value = { halted = "{since}" }
only = ["halted"]
near = { en = [["since"]], zh = [["自"]] }

[slots.loss]
type = "statement"
only = ["halted"]
values.said = { en = [["address"], ["changes"]], zh = [["地址"], ["变"]] }

[customer]
mood = "calm"
patience = 5
opening = { en = ["It costs {daily} a day {place}.", "Still charged {place}!"], zh = ["{place}每天扣{daily}。"] }
consents = [{ to = "StopInstance", with = { StoppedMode = "StopCharging" }, needs = ["{instance}", "loss"], only = ["halted"] }]
[[customer.satisfied]]
all = [{ told = "cause" }, { only = ["halted"], predicate = "free" }]
[customer.facts.instance]
en = "It is {instance}."
zh = "是 {instance}。"
when = "asked"
asked_by = { en = [["which instance"]], zh = [["哪台"]] }
[customer.beliefs.free]
en = "Off is free."
zh = "关机免费。"
asked_by = { en = [["why"]], zh = [["为什么"]] }
when = "asked"
[customer.console.look]
told_by = { en = [["log in"]], zh = [["登录"]] }
operation = "GuestUptime"
arguments = { InstanceId = "{instance}" }
says = { en = ["Nothing."], zh = ["没反应。"] }

[predicates.free]
measure = "compute_charge_per_hour"
of = "{instance}"
is = 0

[[checkpoints]]
id = "ask"
kind = "inquiry"
skippable = true
evidence = { asked = "instance" }
reference = { en = "Which instance?", zh = "哪台？" }
[[checkpoints]]
id = "see"
kind = "diagnosis"
after = ["ask"]
evidence = { called = "DescribeInstances", returned = "{instance}", showing = { StoppedMode = "KeepCharging" } }
only = ["kept"]
reference = { calls = [{ call = "DescribeInstances" }] }
[[checkpoints]]
id = "explain"
kind = "explanation"
after = ["ask", "see"]
evidence = { told = "cause" }
reference = [
  { only = ["halted"], en = "It was shut down inside since {since}, {daily} a day.", zh = "系统内部关机，每天{daily}。" },
  { only = ["kept"], en = "Standard mode, all stays reserved, {billing.daily_charge:{instance}} a day.", zh = "普通停机，每天{billing.daily_charge:{instance}}。" },
]
near_misses = { en = ["No.", "Maybe inside.", "Why?"], zh = ["不。", "也许内部。", "为什么？"] }
[[checkpoints]]
id = "know_more"
kind = "explanation"
after = ["ask"]
evidence = { all = [{ told = "daily_cost" }, { only = ["halted"], told = "began" }] }
reference = { en = "{daily} a day.", zh = "每天{daily}。" }
near_misses = { en = ["No.", "Much.", "Why?"], zh = ["不。", "很多。", "为什么？"] }
[[checkpoints]]
id = "agree"
kind = "consent"
only = ["halted"]
after = ["explain"]
evidence = { agreed = "StopInstance", id = "{instance}" }
reference = { en = "May I stop {instance}? Its address changes.", zh = "我可以停止 {instance} 吗？地址会变。" }
near_misses = { en = ["Stop?", "I stop it.", "May I?"], zh = ["停？", "我停。", "可以吗？"] }
[[checkpoints]]
id = "stop"
kind = "action"
only = ["halted"]
after = ["agree"]
evidence = { called = "StopInstance", with = { InstanceId = "{instance}" } }
reference = { calls = [{ call = "StopInstance", with = { InstanceId = "{instance}", StoppedMode = "StopCharging" } }] }

[[must_flip]]
name = "free"
only = ["halted"]
predicate = "free"
[[must_hold]]
name = "there"
exists = "ecs.instance"
id = "{instance}"
[[may_change]]
only = ["halted"]
kind = "ecs.instance"
id = "{instance}"
fields = ["status", "stopped_mode"]
[[minefields]]
called = "RebootInstance"
policy = "P10"
effect = "void"
unless = { agreed = "RebootInstance", id = "{instance}" }
[[closings]]
en = "Bye."
zh = "再见。"
[must_pass]
en = ["Hello."]
zh = ["你好。"]
"""


@lru_cache(maxsize=64)
def small(*changes: tuple[str, str]) -> Ticket:
    """The small ticket with some texts replaced; each must occur."""
    return load_ticket(changed(*changes), file="small.toml")


def changed(*changes: tuple[str, str]) -> str:
    text = SMALL
    for old, new in changes:
        if old not in text:
            raise LookupError(old)
        text = text.replace(old, new, 1)
    return text


WORDS_ONLY = """
id = "ECS-Words"
version = 0
family = "words"
split = "train"
title = "Words only"
languages = ["en"]
ending = "guide"
[parameters]
day = { kind = "date", from = "-5d", to = "-1d" }
[[variants]]
name = "now"
[[variants]]
name = "later"
[slots.state]
type = "enum"
values.now = { en = [["today"]] }
values.later = { en = [["tomorrow"]] }
[slots.day]
type = "date"
value = "{day}"
near = { en = [["since"]] }
[customer]
mood = "calm"
patience = 3
opening = { en = "When?" }
[[customer.satisfied]]
told = "state"
[customer.facts.date]
en = "On {day}."
when = "asked"
asked_by.en = [["which day"]]
[[checkpoints]]
id = "ask"
kind = "inquiry"
evidence = { asked = "date" }
reference.en = "Which day?"
[[checkpoints]]
id = "tell"
kind = "explanation"
after = ["ask"]
evidence = { all = [{ told = "state" }, { told = "day" }] }
reference = [
  { only = ["now"], en = "Today, since {day}." },
  { only = ["later"], en = "Tomorrow, since {day}." },
]
near_misses.en = ["a", "b", "c"]
[[closings]]
en = "Bye."
[must_pass]
en = ["Hello."]
"""
