# ruff: noqa: E501 (a case, or a line of a ticket file, stays on one line)
import copy
import dataclasses
import pickle

import pytest
from ticket_samples import small

from cirrus_env.errors import OptionError
from cirrus_env.tickets import predicates as p
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.scenario import make_scenario, shared_scenario, symbolic
from cirrus_env.wire.jsontext import canonical
from cirrus_env.world.clock import DAY, EPOCH, HOUR


def as_text(scenario):
    parts = (scenario.public, scenario.private, scenario.gold, dict(scenario.values))
    return repr(parts) + canonical(scenario.cloud.dump())


def test_the_same_seed_gives_the_same_scenario():
    assert as_text(make_scenario(small(), 5)) == as_text(make_scenario(small(), 5))
    assert as_text(make_scenario(small(), 5)) != as_text(make_scenario(small(), 6))


def test_what_a_seed_draws_never_changes():
    values = make_scenario(small(), 5, variant="halted").values
    drawn = (values["instance"], values["hourly"], values["days"], values["customer"])
    assert drawn == ("i-bp1a802vx6iledn9c6n7", 73, 2, "Priya Sandal")


def test_one_more_parameter_or_variant_rule_shifts_nothing():
    more = small(
        (
            'hourly = { kind = "cents_range"',
            'extra = { kind = "name" }\nhourly = { kind = "cents_range"',
        )
    )
    for seed in range(20):
        one, other = make_scenario(small(), seed), make_scenario(more, seed)
        kept = {k: v for k, v in other.values.items() if k != "extra"}
        assert kept == dict(one.values)
        assert one.variant == other.variant
        assert one.private.opening == other.private.opening


def test_seeds_reach_both_variants_and_read_differently():
    scenarios = [make_scenario(small(), seed) for seed in range(40)]
    assert {s.variant for s in scenarios} == {"halted", "kept"}
    assert len({s.private.opening for s in scenarios}) > 20
    assert len({s.values["instance"] for s in scenarios}) == 40


def test_the_cause_changes_neither_the_opening_nor_the_drawn_values():
    for seed in range(10):
        one = make_scenario(small(), seed, variant="halted")
        other = make_scenario(small(), seed, variant="kept")
        assert one.private.opening == other.private.opening
        assert one.values == other.values


def test_the_first_language_is_the_default():
    assert make_scenario(small(), 1).public.language == "en"
    assert make_scenario(small(), 1, language="zh").public.title == "小工单"


@pytest.mark.parametrize("options", [{"variant": "x"}, {"language": "fr"}])
def test_what_the_ticket_does_not_have_is_refused(options):
    with pytest.raises(OptionError, match="there are"):
        make_scenario(small(), 1, **options)


def test_the_public_part_holds_scope_and_general_policies():
    public = make_scenario(small(), 1).public
    assert public.services == ("account", "knowledge", "ecs", "disk", "billing")
    ids = [id for id, _ in public.policies]
    assert "P10" in ids
    assert "P01" in ids
    assert "P15" not in ids
    assert public.articles == ("ecs/stop-modes",)
    assert public.queues == ("billing",)
    assert public.now == EPOCH


def test_values_take_their_types_and_texts_the_language():
    scenario = make_scenario(small(), 4, variant="halted")
    values = scenario.values
    record = scenario.cloud.find("ecs.instance", values["instance"])
    assert record.hourly_cents == values["hourly"]
    assert record.started_time == EPOCH - values["days"] * DAY - 2 * HOUR
    assert record.security_groups == ("sg-one", "sg-two")
    assert scenario.gold.slots["daily_cost"].value == str(24 * values["hourly"])
    assert scenario.gold.slots["began"].value.startswith("2026-11-")
    assert values["daily"] == 24 * values["hourly"]
    assert values["spot"] in ("north", "south")


def test_distractors_are_drawn_and_refer_to_each_other():
    for seed in range(8):
        scenario = make_scenario(small(), seed, variant="kept")
        instances = scenario.cloud.records("ecs.instance")
        disks = scenario.cloud.records("disk.disk")
        assert 3 <= len(instances) <= 5
        assert len(disks) == 2
        others = [i for i in instances if i != scenario.values["instance"]]
        assert [d.instance_id for d in disks.values()] == others[:2]
        assert {instances[i].private_ip for i in others} >= {"10.1.0.1", "10.1.0.2"}
        assert {instances[i].name for i in others} <= {"a", "b", "c"}


def test_history_is_booked_before_the_opening():
    scenario = make_scenario(small(), 4)
    postings = scenario.cloud.ledger.postings
    cash = f"cash:{scenario.public.account}"
    assert postings
    assert all(q.at <= EPOCH for q in postings)
    assert [q.at for q in postings] == sorted(q.at for q in postings)
    assert scenario.cloud.ledger.balance(cash) == -len(postings) * scenario.values["hourly"]
    assert scenario.cloud.ledger.total() == 0


def test_a_measure_is_read_from_the_world_as_set_up():
    scenario = make_scenario(small(), 4, variant="kept")
    reply = next(c.reference.reply for c in scenario.gold.checkpoints if c.id == "explain")
    daily = scenario.values["daily"]
    assert f"CNY {daily // 100}.{daily % 100:02d} a day" in reply


def test_after_ignores_what_the_variant_does_not_have():
    halted = {c.id: c for c in make_scenario(small(), 1, variant="halted").gold.checkpoints}
    kept = {c.id: c for c in make_scenario(small(), 1, variant="kept").gold.checkpoints}
    assert halted["explain"].after == ("ask",)
    assert kept["explain"].after == ("ask", "see")
    assert "stop" not in kept


def test_only_limits_parts_of_a_predicate():
    halted = make_scenario(small(), 1, variant="halted").private.satisfied
    kept = make_scenario(small(), 1, variant="kept").private.satisfied
    id = make_scenario(small(), 1).values["instance"]
    assert kept == p.All((p.Told("cause"),))
    measure = p.Measure("compute_charge_per_hour", id, "is", 0)
    assert halted == p.All((p.Told("cause"), measure))


def test_static_parts_are_one_object_in_all_scenarios():
    one, other = make_scenario(small(), 1), make_scenario(small(), 2)
    assert one.gold.slots["cause"].values is other.gold.slots["cause"].values
    assert one.gold.slots["daily_cost"].near is other.gold.slots["daily_cost"].near
    fact, twin = one.private.facts["instance"], other.private.facts["instance"]
    assert fact.asked_by is twin.asked_by


def test_a_scenario_pickles_as_its_seed_and_copies_as_itself():
    scenario = make_scenario(small(), 9, variant="kept", language="zh")
    data = pickle.dumps(scenario)
    again = pickle.loads(data)
    assert as_text(again) == as_text(scenario)
    assert copy.deepcopy(scenario) is scenario
    assert copy.copy(scenario) is scenario


def test_an_id_is_written_as_its_parameter():
    scenario = make_scenario(small(), 9)
    assert symbolic(scenario, scenario.values["instance"]) == "{instance}"
    assert symbolic(scenario, "i-bp1new") == "*"


def test_the_constants_of_audit_reach_the_gold():
    constants = {
        "halted": {
            "en": {
                "shortest": 4, "tokens": 321, "wrong_replies": 1,
                "may_change": [["ecs.instance", "{instance}", "status"], ["disk.disk", "*", "*"]],
            }
        }
    }  # fmt: skip
    ticket = small(
        (
            '[[may_change]]\nonly = ["halted"]\nkind = "ecs.instance"\nid = "{instance}"\nfields = ["status", "stopped_mode"]\n',
            "",
        )
    )
    measured = dataclasses.replace(ticket, constants=constants, plans={})
    gold = make_scenario(measured, 3, variant="halted").gold
    id = make_scenario(measured, 3, variant="halted").values["instance"]
    assert (gold.shortest, gold.tokens, gold.wrong_replies) == (4, 321, 1)
    assert gold.may_change == (("ecs.instance", id, "status"), ("disk.disk", "*", "*"))
    assert make_scenario(measured, 3, variant="halted", language="zh").gold.shortest == 0


def test_what_is_logged_of_a_scenario_tells_nothing_of_its_gold():
    scenario = make_scenario(bundled("ECS-Billing"), 3)
    shown = repr((scenario, scenario.gold, scenario.private, scenario.ticket.env_id))
    hidden = [scenario.variant, scenario.gold.closing.text, *map(str, scenario.values.values())]
    hidden += [fact.text for fact in scenario.private.facts.values()]
    hidden += [checkpoint.id for checkpoint in scenario.gold.checkpoints]
    assert not [text for text in hidden if len(text) > 4 and text in shown]


def test_the_variant_of_a_seed_tells_nothing_of_another_tickets():
    """Ids of a seed are the same in every ticket: were the variants, too, one could be learned."""
    first, second = bundled("ECS-Billing"), bundled("Billing-Refund")
    assert len(first.variants) == len(second.variants)
    alike = sum(
        first.variants.index(make_scenario(first, seed).variant)
        == second.variants.index(make_scenario(second, seed).variant)
        for seed in range(200)
    )
    assert 25 < alike < 80


def test_a_group_shares_one_scenario_and_other_constants_do_not():
    ticket = bundled("ECS-Billing")
    first = shared_scenario(ticket, 7)
    assert shared_scenario(ticket, 7) is first
    assert shared_scenario(ticket, 7, variant=first.variant, language="en") is first
    assert shared_scenario(ticket, 7, language="zh") is not first
    assert first.gold == make_scenario(ticket, 7).gold
    other = dataclasses.replace(ticket, constants={}, plans={})
    assert shared_scenario(other, 7).gold.shortest == 0 != first.gold.shortest
