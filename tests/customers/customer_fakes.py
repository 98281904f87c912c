"""A small scenario to speak to, without tickets or cloud."""

from types import MappingProxyType

from cirrus_env.cloud.catalogue import Catalogue
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.customers import View
from cirrus_env.tickets.model import (
    Closing,
    Consent,
    ConsoleAction,
    Fact,
    Gold,
    Private,
    Public,
    Scenario,
)
from cirrus_env.tickets.predicates import Told

INSTANCE = "i-bp1abc"

FACTS = (
    Fact("symptom", "It started last week.", "volunteered"),
    Fact("instance", f"It is {INSTANCE}.", "asked", (("which instance", "instance id"),)),
    Fact("region", "It is in Hangzhou.", "asked", (("region",),)),
    Fact("since", "Since Monday.", "asked", (("since when",),)),
    Fact("belief", "A server that is off costs nothing.", "asked", (("for free",),), false=True),
    Fact("shutdown", "I typed shutdown in it.", "confronted", (("how did you",),), ("os_state",)),
    Fact("script", "A script did it.", "confronted", (("script",),), ("DescribeInstances",)),
    Fact("secret", "I forgot to pay.", "never", (("pay",),)),
)


def scenario(language="en", seed=7, mood="annoyed", patience=4, **private):
    fields = {
        "name": "Kim",
        "mood": mood,
        "patience": patience,
        "opening": "I switched it off and you still charge me!",
        "facts": MappingProxyType({fact.name: fact for fact in FACTS}),
        "consents": (
            Consent("StopInstance", INSTANCE, ("ip_change",)),
            Consent("RefundOrder", "", ("refund_amount",)),
        ),
        "console": MappingProxyType(
            {
                "pay": ConsoleAction(
                    "pay", (("pay",),), "PayOrder", {}, "It is paid.", "No money."
                ),
                "look": ConsoleAction("look", (("look",),), says="The page says off."),
                "click": ConsoleAction("click", (("click",),), "Click", {}, "Clicked."),
            }
        ),
        "satisfied": Told("cause"),
    }
    return Scenario(
        ticket=None,
        seed=seed,
        variant="one",
        public=Public("title", language, "1001", (), (), (), (), 0),
        private=Private(**{**fields, **private}),
        gold=Gold("resolve", "", (), {}, (), (), (), (), Closing("close", "Bye.")),
        cloud=Cloud(Catalogue(()), seed, "1001", 0),
        values={},
    )


def view(scenario, *acts, text="words", told=(), satisfied=False, **more):
    return View(scenario, text, acts, dict.fromkeys(told, 1), satisfied, **more)
