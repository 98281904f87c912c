# ruff: noqa: E501 (a case, or a line of a ticket file, stays on one line)
import re

import pytest
from ticket_samples import small

from cirrus_env.errors import TicketError
from cirrus_env.tickets.moments import is_moment
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.shapes import NAMES, draw_id, has_shape, known_kinds
from cirrus_env.world import Stream
from cirrus_env.world.clock import DAY, EPOCH

LINE = 'days = { kind = "integer_range", from = 2, to = 5 }\n'


def value(line, seed=3, name="probe", **options):
    ticket = small((LINE, LINE + line + "\n"))
    return make_scenario(ticket, seed, **options).values[name]


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("ecs.instance", r"i-bp1[0-9a-z]{17}"),
        ("disk.disk", r"d-bp1[0-9a-z]{17}"),
        ("disk.snapshot", r"s-bp1[0-9a-z]{17}"),
        ("vpc.eip", r"eip-bp1[0-9a-z]{17}"),
        ("billing.order", r"[1-9][0-9]{14}"),
        ("billing.account", r"[1-9][0-9]{15}"),
        ("billing.voucher", r"Q-[0-9a-f]{12}"),
    ],
)
def test_ids_have_the_real_shapes(kind, shape):
    drawn = [draw_id(kind, Stream(seed, "id")) for seed in range(50)]
    assert all(re.fullmatch(shape, id) for id in drawn)
    assert len(set(drawn)) == 50


def test_every_known_kind_can_be_drawn():
    for kind in known_kinds():
        assert has_shape(f"x.{kind}")
        assert draw_id(f"x.{kind}", Stream(1, "id"))
    assert not has_shape("x.unicorn")


def test_ranges_stay_inside_and_keep_their_step():
    line = 'probe = { kind = "cents_range", from = 100, to = 190, step = 25 }'
    drawn = {value(line, seed) for seed in range(60)}
    assert drawn == {100, 125, 150, 175}


def test_dates_are_whole_days_from_their_start():
    line = 'probe = { kind = "date", from = "-9d", to = "-3d" }'
    drawn = {value(line, seed) for seed in range(80)}
    assert drawn == {EPOCH - n * DAY for n in range(3, 10)}


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('probe = { kind = "derive", sum = ["{days}", 10, "{days}"] }', lambda v: 2 * v["days"] + 10),
        ('probe = { kind = "derive", difference = ["{daily}", "{hourly}"] }', lambda v: 23 * v["hourly"]),
        ('probe = { kind = "derive", product = ["{days}", "{hourly}", 2] }', lambda v: 2 * v["days"] * v["hourly"]),
        ('probe = { kind = "derive", sum = ["{since}", 15] }', lambda v: v["since"] + 15 * DAY),
        ('probe = { kind = "derive", difference = ["{since}", "{days}"] }', lambda v: v["since"] - v["days"] * DAY),
        ('probe = { kind = "derive", difference = ["{now}", "{since}"] }', lambda v: (EPOCH - v["since"]) // DAY),
    ],
)  # fmt: skip
def test_derived_values_follow_from_the_others(line, wanted):
    ticket = small((LINE, LINE + line + "\n"))
    for seed in range(5):
        values = make_scenario(ticket, seed).values
        assert values["probe"] == wanted(values)


def test_names_are_of_the_language():
    line = 'probe = { kind = "name" }'
    assert value(line) in NAMES["en"]
    assert value(line, language="zh") in NAMES["zh"]


def test_a_parameter_may_be_drawn_otherwise_in_each_variant():
    line = (
        'probe = [{ kind = "integer_range", from = 1, to = 1, only = ["halted"] }, '
        '{ kind = "integer_range", from = 2, to = 2, only = ["kept"] }]'
    )
    assert value(line, variant="halted") == 1
    assert value(line, variant="kept") == 2
    with pytest.raises(TicketError, match="drawn in two ways"):
        value(line.replace('["kept"]', '["kept", "halted"]'))


def test_a_parameter_with_only_is_absent_elsewhere():
    line = 'probe = { kind = "name", only = ["kept"] }'
    ticket = small((LINE, LINE + line + "\n"))
    assert "probe" not in make_scenario(ticket, 1, variant="halted").values


def test_a_choice_has_a_value_for_machines_and_words_for_people():
    seen = set()
    for seed in range(30):
        scenario = make_scenario(small(), seed)
        seen.add((scenario.values["spot"], scenario.values["place"]))
    assert ("south", "in the south") in seen
    assert ("north", "near north") in seen


@pytest.mark.parametrize("text", ["-3d", "+1h", "-{days}d+4h", "{since}-2d", "{since}"])
def test_moments_are_recognised(text):
    assert is_moment(text)


@pytest.mark.parametrize("text", ["", "3d", "-3", "-3w", "now", "-3d ", "{a}{b}", "-1234567d"])
def test_what_is_no_moment_is_not(text):
    assert not is_moment(text)
