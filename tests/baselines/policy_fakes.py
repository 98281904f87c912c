"""A small ticket, and a stand-in for an episode that records what a policy does."""

import json

from cirrus_env.engine.prompt import tool_set
from cirrus_env.tickets.load import load_ticket
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.wire import messages as build
from cirrus_env.wire import strict_loads

TICKET = """
id = "ECS-Fake"
version = 0
family = "fake"
split = "train"
uses = ["ecs"]
title = "Fake"
languages = ["en"]
ending = "resolve"
knowledge = ["ecs/stop-modes"]
queues = ["security", "billing"]
[parameters]
instance = { kind = "id", of = "ecs.instance" }
other = { kind = "id", of = "ecs.instance" }
price = { kind = "cents_range", from = 120000, to = 130000 }
[[variants]]
name = "running"
[[variants]]
name = "kept"
[[variants]]
name = "locked"
ending = "escalate"
queue = "security"
[[world]]
kind = "ecs.instance"
id = "{instance}"
only = ["running"]
status = "Running"
public_ip = "203.0.113.27"
[[world]]
kind = "ecs.instance"
id = "{instance}"
only = ["locked"]
status = "Stopped"
lock_reasons = ["security"]
[[world]]
kind = "ecs.instance"
id = "{instance}"
only = ["kept"]
status = "Stopped"
stopped_mode = "KeepCharging"
[[world]]
kind = "ecs.instance"
id = "{other}"
status = "Running"
[slots.cause]
type = "enum"
values.running = { en = [["still running", "not stopped"]] }
values.kept = { en = [["keep charging", "standard mode"]] }
values.locked = { en = [["security lock"]] }
[slots.price]
type = "money"
value = "{price}"
near.en = [["month"]]
[customer]
mood = "calm"
patience = 6
opening.en = ["My server costs money, why?"]
consents = [{ to = "StopInstance", id = "{instance}" }]
[[customer.satisfied]]
told = "cause"
[customer.facts.instance]
en = "It is {instance}."
when = "asked"
asked_by.en = [["which instance"]]
[[checkpoints]]
id = "ask"
kind = "inquiry"
skippable = true
evidence = { asked = "instance" }
reference = { en = "Which instance is it?" }
[[checkpoints]]
id = "explain"
kind = "explanation"
after = ["ask"]
only = ["running"]
evidence = { all = [{ told = "cause" }, { told = "price" }] }
reference = { en = "It is still running, that is {price} a month." }
[[checkpoints]]
id = "explain"
kind = "explanation"
after = ["ask"]
only = ["kept"]
evidence = { told = "cause" }
reference = { en = "It was stopped in the standard mode." }
[[checkpoints]]
id = "explain"
kind = "explanation"
after = ["ask"]
only = ["locked"]
evidence = { told = "cause" }
reference = { en = "There is a security lock." }
[[checkpoints]]
id = "agree"
kind = "consent"
after = ["explain"]
only = ["running"]
evidence = { agreed = "StopInstance", id = "{instance}" }
reference = { en = "May I stop {instance}?" }
[[checkpoints]]
id = "stop"
kind = "action"
after = ["agree"]
only = ["running"]
evidence = { called = "StopInstance", with = { InstanceId = "{instance}" } }
reference = { calls = [{ call = "StopInstance", with = { InstanceId = "{instance}" } }] }
[[checkpoints]]
id = "see"
kind = "verification"
after = ["stop"]
only = ["running"]
evidence = { called = "DescribeInstances", showing = { Status = "Stopped" } }
reference = { calls = [{ call = "DescribeInstances" }] }
[[minefields]]
called = "DeleteInstance"
with = { InstanceId = "{other}", Force = true }
policy = "P01"
effect = "fatal"
[[must_flip]]
name = "stopped"
only = ["running"]
state = "ecs.instance"
id = "{instance}"
field = "status"
is = "Stopped"
[[closings]]
only = ["running", "kept"]
en = "That is all."
[[closings]]
only = ["locked"]
queue = "security"
en = "Locked for security: {instance}."
"""


def scenario(variant="running", seed=7):
    return make_scenario(load_ticket(TICKET), seed, variant=variant)


class Stand:
    """Runs calls and answers every reply with fixed words."""

    def __init__(self, scenario, answer="Hm. And now?", with_tools=True):
        self.scenario = scenario
        self.with_tools = with_tools
        self.answer = answer
        self.cloud = scenario.cloud.fork()
        public = scenario.public
        self.tools = tool_set(self.cloud.catalogue, None, public.queues, bool(public.services))
        queues = f"Queues for a hand-over: {', '.join(public.queues)}"
        self.messages = [
            build.system(f"You help.\n\n{queues}"),
            build.customer(scenario.private.opening),
        ]
        self.actions = []
        self.results = []
        self.ended = False

    def observe(self):
        return {
            "message": self.messages[-1]["content"],
            "role": self.messages[-1]["role"],
            "transcript": json.dumps(self.messages, ensure_ascii=False),
            "tools": self.tools.json if self.with_tools else "[]",
            "turn": 0,
            "budget": 30,
        }

    def take(self, action):
        self.actions.append(action)
        self.messages.append(build.assistant(action.text, action.calls))
        self.ended = action.kind in ("close", "escalate")
        if action.kind == "reply":
            self.cloud.advance(60)
            self.messages.append(build.customer(self.answer))
        for call in action.calls:
            self.cloud.advance(10)
            result = self.cloud.call(call.name, strict_loads(call.arguments))
            self.results.append((call.name, result))
            self.messages.append(build.tool_result(call, _text(result.result)))

    def play(self, policy, most=80):
        policy.reset(7)
        while not self.ended and len(self.actions) < most:
            self.take(policy.act(self.observe()))
        return self.actions


def _text(result):
    return json.dumps(result, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
