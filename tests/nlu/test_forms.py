"""A reply read by its form says exactly what it says read directly."""

import pytest

from cirrus_env.judging.pairs import filled, sets
from cirrus_env.nlu.forms import form_of, model
from cirrus_env.nlu.heard import Heard
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.index import index
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.scenario import make_scenario

CASES = [
    (entry["id"], variant, language)
    for entry in index()
    for variant in entry["variants"]
    for language in entry["languages"]
]


class Direct(Reader):
    """A reader that knows no forms."""

    def _known(self, even):
        return None


def directly(scenario) -> Reader:
    return Direct(scenario)


def heard_by(scenario) -> Heard:
    heard = Heard()
    heard.add_customer(scenario.private.opening)
    for fact in scenario.private.facts.values():
        heard.add_customer(fact.text)
    return heard


def own_words(scenario):
    gold = scenario.gold
    yield gold.closing.text
    yield from gold.must_pass
    for checkpoint in gold.checkpoints:
        yield checkpoint.reference.reply
        yield from checkpoint.near_misses
    yield scenario.private.opening
    for fact in scenario.private.facts.values():
        yield f"{fact.text}?"
    for value in scenario.values.values():
        yield f"May I stop {value}? Its address will change. It is {value} a day, until {value}."


@pytest.mark.parametrize(("name", "variant", "language"), CASES)
def test_every_text_of_a_ticket_reads_the_same_by_its_form(name, variant, language):
    for seed in (0, 1, 2, 3, 11):
        scenario = make_scenario(bundled(name), seed, variant=variant, language=language)
        heard, by_form, direct = heard_by(scenario), Reader(scenario), directly(scenario)
        for text in own_words(scenario):
            assert by_form.read(text, heard) == direct.read(text, heard), text


def test_every_labelled_pair_reads_the_same_by_its_form():
    for pair in sets()["dev"]:
        ticket = bundled(pair.ticket)
        scenario = make_scenario(ticket, pair.seed, variant=pair.variant, language=pair.language)
        text, heard = filled(pair.reply, scenario, pair.where), heard_by(scenario)
        assert Reader(scenario).read(text, heard) == directly(scenario).read(text, heard), text


def scenario(seed=5):
    return make_scenario(bundled("ECS-Billing"), seed, variant="kept-charging", language="en")


def form(seed=5):
    found = model(bundled("ECS-Billing"), "kept-charging", "en")
    return form_of(scenario(seed), found.names)


def test_seeds_share_a_form_and_it_comes_back_filled():
    texts = []
    for seed in (5, 6):
        values = scenario(seed).values
        cents = values["daily"]
        texts.append(f"{values['instance']} costs CNY {cents // 100}.{cents % 100:02} a day.")
    assert form(5).of(texts[0]) == form(6).of(texts[1]) != ""
    assert form(6).filled(form(5).of(texts[0])) == texts[1]


def test_other_figures_and_private_characters_have_no_form():
    known = scenario().values["instance"]
    for text in (
        "It costs CNY 1.23 a day.", f"{known}7 is stopped.", f"1{known}", "15 days", "１５天",
        "a \ue000 mark", f"{scenario(6).values['instance']} is stopped.",
    ):  # fmt: skip
        assert form().of(text) == "", text
    assert form().of("No figure at all.") == "No figure at all."


def test_reading_a_form_again_is_a_look_up():
    reader, heard = Reader(scenario()), Heard()
    text = "A sentence that only this test has: the server was stopped in the standard mode."
    said = reader.read(text, heard)
    other = Reader(scenario(8))
    assert other.read(text, heard) == said
    assert reader._model is other._model is not None
    assert reader._model.read.cache_info().hits >= 1
