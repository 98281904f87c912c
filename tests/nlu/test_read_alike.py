"""A reply names the same causes in every variant of a ticket.

Were it not so, words could be made that name in each variant just the cause that is right there.
"""

import pytest

from cirrus_env.nlu.heard import Heard
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.index import index
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.world import Stream

IDS = [entry["id"] for entry in index() if len(entry["variants"]) > 1]
JOINTS = {
    "en": [
        "not", "if", "may", "so", "because", "but", ",", "and", "or", "unless", "once", "is",
        "that", "another customer", "no longer", "perhaps", "also", ".", "nothing", "never",
        "which", "you", "eip-000000fake", "s-000000fake", "d-000000fake", "it", "was", "although",
    ],
    "zh": ["不", "如果", "可能", "所以", "因为", "但", "，", "并", "没有", "就", "您", "。",
        "也", "不会"],
}  # fmt: skip


def readers(name, language):
    ticket = bundled(name)
    scenarios = [make_scenario(ticket, 5, variant=v, language=language) for v in ticket.variants]
    return scenarios, [Reader(scenario) for scenario in scenarios]


def phrases(scenarios):
    found = {}
    for scenario in scenarios:
        for slot in scenario.gold.slots.values():
            for groups in slot.values.values():
                for group in groups:
                    found.update(dict.fromkeys(group))
    return list(found)


def causes(reader, scenario, text):
    heard = Heard()
    heard.add_customer("Hello.")
    enums = {slot.name for slot in scenario.gold.slots.values() if slot.type == "enum"}
    return [(a.name, a.value) for a in reader.read(text, heard) if a.name in enums]


def alike(name, language, seeds):
    scenarios, made = readers(name, language)
    known = phrases(scenarios)
    space = " " if language == "en" else ""
    for seed in seeds:
        chance = Stream(seed, "read alike")
        parts = []
        for _ in range(chance.integer(2, 7)):
            parts += [chance.choice(JOINTS[language]), chance.choice(known)]
        text = space.join(parts)
        pairs = zip(made, scenarios, strict=True)
        found = [causes(reader, scenario, text) for reader, scenario in pairs]
        assert all(each == found[0] for each in found), (text, found)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", IDS)
def test_causes_are_read_alike(name, language):
    if language in bundled(name).languages:
        alike(name, language, range(400))


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", IDS)
def test_causes_are_read_alike_whatever_is_said(name, language):
    if language in bundled(name).languages:
        alike(name, language, range(400, 20_000))


@pytest.mark.parametrize(
    "text",
    [
        "If you release it nothing is refunded because it is pay-as-you-go.",
        "Once you release it, it is pay-as-you-go, so there is nothing to refund.",
        "It can not be undone that you qualify for the five-day refund.",
        "You may also keep that you used the five-day refund on 1 May.",
    ],
)
def test_a_consequences_words_turn_no_condition_into_a_claim(text):
    scenarios, made = readers("Billing-Refund", "en")
    assert all(not causes(reader, s, text) for reader, s in zip(made, scenarios, strict=True))
