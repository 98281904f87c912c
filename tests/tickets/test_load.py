# ruff: noqa: E501 (a case, or a line of a ticket file, stays on one line)
import copy
import pickle
import tomllib

import pytest
from ticket_samples import SMALL, changed, small

from cirrus_env.errors import TicketError, UnknownTicket
from cirrus_env.tickets.load import bundled, load_ticket, restore
from cirrus_env.tickets.model import Reference
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.schema import schema_errors
from cirrus_env.wire.jsontext import digest


def test_a_ticket_says_what_it_is():
    ticket = small()
    assert ticket.env_id == "Cirrus/ECS-Small-v0"
    assert (ticket.family, ticket.split, ticket.title) == ("small", "train", "A small ticket")
    assert ticket.languages == ("en", "zh")
    assert ticket.variants == ("halted", "kept")
    assert ticket.uses == ("ecs", "disk", "billing")
    assert ticket.digest == digest(SMALL)
    assert ticket.file == "small.toml"


def test_equality_is_by_digest_and_a_copy_is_itself():
    ticket = small()
    twin = load_ticket(SMALL)
    other = small(('family = "small"', 'family = "tiny"'))
    assert ticket == twin
    assert hash(ticket) == hash(twin)
    assert ticket != other
    assert copy.copy(ticket) is ticket
    assert copy.deepcopy(ticket) is ticket


def test_a_pickle_is_small_and_comes_back_whole():
    own = pickle.dumps(bundled("ECS-Billing"))
    assert len(own) < 400
    assert pickle.loads(own) == bundled("ECS-Billing")
    ticket = pickle.loads(pickle.dumps(small()))
    assert ticket == small()
    assert ticket.plan("kept", "zh") is not None


def test_a_pickle_of_another_text_of_a_shipped_ticket_is_refused():
    with pytest.raises(TicketError, match="another text"):
        restore("ECS-Billing", "0" * 64, "ecs/Billing.toml", "")


def test_a_shipped_ticket_is_found_by_both_names():
    assert bundled("ECS-Billing") is bundled("Cirrus/ECS-Billing-v0")
    with pytest.raises(UnknownTicket, match="did you mean ECS-Billing"):
        bundled("ECS-Biling")


def test_a_file_is_read_from_its_path(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(SMALL, "utf-8")
    assert load_ticket(path).file == str(path)
    assert load_ticket(str(path)) == small()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"a = ", "not TOML"),
        (b"a = 1979-13-45\n", "not TOML"),
        (b"a = " + b"[" * 5000, "not TOML|nested too deep"),
        (b"a = " + b"[" * 60 + b"]" * 60 + b"\n", "nested too deep"),
        (b"#" * 2_000_001, "too large"),
    ],
)
def test_what_is_no_ticket_file_is_a_ticket_error(tmp_path, content, problem):
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(TicketError, match=problem) as caught:
        load_ticket(path)
    assert caught.value.file == str(path)


def test_a_missing_file_and_a_surrogate_are_ticket_errors(tmp_path):
    with pytest.raises(TicketError, match="can't be read"):
        load_ticket(tmp_path / "none.toml")
    with pytest.raises(TicketError, match="can't be read"):
        load_ticket("no\0such.toml")
    with pytest.raises(TicketError, match="lone surrogate"):
        load_ticket("a = '\ud800'\n")


WRONG = [
    ('split = "train"', 'split = "dev"', "split", "one of train, test"),
    ("version = 0", "version = -1", "version", "minimum"),
    ('family = "small"\n', "", "(top)", "'family' is a required property"),
    ('mood = "calm"', 'mood = "calm"\nhat = 1', "customer", "known keys: "),
    ('uses = ["ecs", ', 'uses = ["ecz", ', "uses[0]", "no service 'ecz'"),
    ('name = "kept"\n', 'name = "halted"\n', "variants", "two variants have one name"),
    ('of = "ecs.instance"', 'of = "ecs.instanse"', "parameters.instance.of", "instance"),
    ("from = 50, to = 90", "from = 90, to = 50", "parameters.hourly", "empty"),
    ('"{hourly}", 24]', '"{hurly}", 24]', "parameters.daily", "did you mean hourly"),
    ('from = "-{days}d"', 'from = "-{hourly}d"', "parameters.since.from", "is no number"),
    ('from = "-{days}d"', 'from = "yesterday"', "parameters.since", ""),
    ('product = ["{hourly}", 24]', 'product = ["{daily}", 24]', "parameters", "read each other"),
    ('product = ["{hourly}", 24]', 'product = ["{hourly}", "{hourly}"]', "parameters.daily", "at most"),
    ('product = ["{hourly}", 24]', 'sum = ["{hourly}", "{since}"]', "parameters.daily", "don't mix"),
    ('product = ["{hourly}", 24]', 'sum = ["{spot}", 1]', "parameters.daily.sum[0]", "is no amount"),
    ('kind = "ecs.instance"\nid', 'kind = "ecs.instances"\nid', "world[0].kind", "did you mean ecs.instance"),
    ("os_state =", "os_stat =", "world[0].os_stat", "did you mean os_state"),
    ('os_state = "halted"', "os_state = 3", "world[0].os_state", "is not"),
    ('os_state = "halted"', 'os_state = "asleep"', "world[0].os_state", "is not"),
    ('hourly_cents = "{hourly}"', 'hourly_cents = "{spot} {days}"', "world[0].hourly_cents", "is text"),
    ('hourly_cents = "{hourly}"', 'hourly_cents = "{instance}"', "world[0].hourly_cents", "is text, not"),
    ('hourly_cents = "{hourly}"', "hourly_cents = 1.5", "world[0].hourly_cents", "is not int"),
    ('hourly_cents = "{hourly}"', "hourly_cents = nan", "world[0].hourly_cents", "no JSON number"),
    ('hourly_cents = "{hourly}"', "hourly_cents = 1979-05-27", "world[0].hourly_cents", "date"),
    ('hourly_cents = "{hourly}"', f"hourly_cents = {2**70}", "world[0].hourly_cents", "too large"),
    ('started_time = "-{days}d-2h"', 'started_time = "-{since}d"', "world[0].started_time", "is no number"),
    ('["sg-one", "sg-two"]', '["sg-one", 2]', "world[0].security_groups", "is not"),
    ("vary.name", "vary.nane", "distractors[0].vary.nane", "did you mean name"),
    ('name = "others"', 'name = "days"', "distractors[0].name", "is a parameter already"),
    ("from = 2, to = 4", "from = 4, to = 2", "distractors[0].count", "range is empty"),
    ('every = "12h"', 'every = "0h"', "history[0].every", "hourly at most"),
    ('times = 6\ncents = "{hourly}"', 'times = 6\ncents = "{spot} x"', "history[0].cents", "is text"),
    ('value = "{daily}"', 'value = "{days}"', "slots.daily_cost.value", "is no money"),
    ('value = { halted = "{since}" }', 'value = { halt = "{since}" }', "slots.began.value", "did you mean halted"),
    ('values.said = {', 'values.told = {', "slots.loss.values", "one value 'said'"),
    ('{ en = [["inside"]]', '{ en = [["Inside"]]', "slots.cause.values.halted.en[0][0]", "lower case"),
    ('{ en = [["inside"]]', '{ en = [["in {spot}"]]', "slots.cause.values.halted.en[0][0]", "placeholder"),
    ('to = "StopInstance"', 'to = "StopInstances"', "customer.consents[0].to", "did you mean StopInstance"),
    ("with = { StoppedMode", "with = { StopMode", "customer.consents[0].with", "StoppedMode"),
    ('"{instance}", "loss"]', '"{instance}", "los"]', "customer.consents[0].needs[1]", "did you mean loss"),
    ('needs = ["{instance}", "loss"]', 'needs = ["loss"]', "customer.consents[0]", "no resource"),
    ('operation = "GuestUptime"', 'operation = "StopInstance"', "customer.console.look.operation", "operation"),
    ('asked_by = { en = [["which instance"]], zh = [["哪台"]] }', "", "customer.facts.instance", "asked_by"),
    ('{ told = "cause" }, { only', '{ told = "couse" }, { only', "customer.satisfied[0].all[0].told", "cause"),
    ('predicate = "free" }]', 'predicate = "fre" }]', "customer.satisfied[0].all[1].predicate", "free"),
    ('measure = "compute_charge_per_hour"', 'measure = "compute_charge"', "predicates.free.measure", "did you mean"),
    ("is = 0", "is = 0\nnot = 1", "predicates.free", "exactly one of"),
    ("is = 0", 'is = "x"', "predicates.free.is", "not int"),
    ('evidence = { asked = "instance" }', "evidence = { asked = 3 }", "checkpoints[0].evidence.asked", "text is missing"),
    ('evidence = { asked = "instance" }', "evidence = { all = [] }", "checkpoints[0].evidence.all", "empty all"),
    ('evidence = { asked = "instance" }', 'evidence = { ask = "x" }', "checkpoints[0].evidence", "did you mean asked"),
    ('after = ["ask", "see"]', 'after = ["ask", "se"]', "checkpoints[2].after[1]", "did you mean see"),
    ('returned = "{instance}"', 'returned = "{instanse}"', "checkpoints[1].evidence.returned", "did you mean instance"),
    ('{ call = "DescribeInstances" }', '{ call = "DescribeInstance" }', "checkpoints[1].reference.calls[0].call", "did you mean"),
    ('policy = "P10"', 'policy = "P99"', "minefields[0].policy", "no policy in scope"),
    ('policies = ["P10"]', 'policies = ["P77"]', "policies[0]", "no policy"),
    ('knowledge = ["ecs/stop-modes"]', 'knowledge = ["ecs/stop-mode"]', "knowledge[0]", "did you mean ecs/stop-modes"),
    ('fields = ["status", "stopped_mode"]', 'fields = ["state"]', "may_change[0].fields", "no field"),
    ('[[closings]]', '[[closings]]\nonly = ["kept"]', "closings", "0 closings in variant 'halted'"),
    ('[[closings]]', '[[closings]]\nen = "Bye."\nzh = "再见。"\n[[closings]]', "closings", "2 closings"),
    ('only = ["kept"]\nreference', 'only = ["keept"]\nreference', "checkpoints[1].only[0]", "did you mean kept"),
    ('ending = "guide"', 'ending = "escalate"\nqueue = "bill"', "queue", "did you mean billing"),
    ('en = "Bye."', 'de = "Tschüß."', "closings[0]", "known keys"),
    ("{billing.daily_charge:{instance}}", "{billing.charge:{instance}}", "checkpoints[2].reference.en", "daily_charge"),
    ('id = "ECS-Small"', 'id = "ECS-Small"\nnow = "noon"', "now", "is no moment"),
    ('evidence = { told = "cause" }', 'evidence = { all = [3] }', "checkpoints[2].evidence.all[0]", "is a table"),
    ('evidence = { told = "cause" }', 'evidence = { all = [{ told = "cause", only = 3 }] }', "checkpoints[2].evidence.all[0].only", "list of variants"),
    ('evidence = { told = "cause" }', 'evidence = { all = [{ told = "cause", only = ["kept"] }] }', "checkpoints[2].evidence.all", "nothing of it is left"),
    ('showing = { StoppedMode', 'showing = 3, not_returned = { StoppedMode', "checkpoints[1].evidence.showing", "table is needed"),
    ('showing = { StoppedMode = "KeepCharging" }', 'after = "sea"', "checkpoints[1].evidence.after", "did you mean see"),
    ('[predicates.free]\nmeasure = "compute_charge_per_hour"\nof = "{instance}"\nis = 0', '[predicates.free]\npredicate = "free"', "predicates.free", "nested too deep"),
    ('[customer.beliefs.free]', '[customer.beliefs.instance]', "customer.beliefs.instance", "a fact and a belief"),
    ('when = "asked"\n[customer.console.look]', 'when = "confronted"\n[customer.console.look]', "customer.beliefs.free", "nothing confronts it"),
    ('when = "asked"\n[customer.console.look]', 'when = "confronted"\nconfronted_by = "Stop"\n[customer.console.look]', "customer.beliefs.free.confronted_by", "no operation, fact or slot"),
    ('[[customer.satisfied]]', '[[customer.satisfied]]\nonly = ["kept"]', "customer.satisfied", "nothing satisfies"),
    ('id = "know_more"', 'id = "explain"', "checkpoints[3]", "two checkpoints 'explain'"),
    ('only = ["kept"], en = "Standard', 'only = ["kept", "halted"], en = "Standard', "checkpoints[2].reference", "2 references"),
    ('[[must_hold]]\nname = "there"', '[[must_hold]]\nname = "there"\nexists = "ecs.instance"\nid = "{instance}"\n[[must_hold]]\nname = "there"', "must_hold[1]", "two assertions 'there'"),
    ('value = { halted = "{since}" }', "value = 3", "slots.began.value", "use a parameter"),
    ('{ en = [["inside"]], zh = [["内部"]] }', '{ en = [["inside"]] }', "slots.cause.values.halted", "no phrases in 'zh'"),
    ('values.halted =', 'value = "halt"\nvalues.halted =', "slots.cause.value", "did you mean halted"),
    ('started_time = "-{days}d-2h"', 'started_time = "{days}-2h"', "world[0].started_time", "is no date"),
    ('started_time = "-{days}d-2h"', 'started_time = "soon"', "world[0].started_time", "is not int"),
    ('fields = { private_ip', 'fields = { id = "x", private_ip', "distractors[0].fields.id", "is drawn, not given"),
    ('kind = "ecs.instance"\nname = "others"', 'kind = "account.profile"\nname = "others"', "distractors[0].kind", "id shape"),
    ('languages = ["en", "zh"]', 'languages = []', "languages", "at least 1"),
    ('id = "ECS-Small"', 'id = "ECS Small"', "id", "must match"),
    ('patience = 5', 'patience = 500', "customer.patience", "at most 100"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "path", "words"), WRONG)
def test_an_error_names_file_place_and_mend(old, new, path, words):
    with pytest.raises(TicketError) as caught:
        load_ticket(changed((old, new)), file="small.toml")
    error = caught.value
    assert error.file == "small.toml"
    assert error.path.startswith(path), error
    assert words in str(error), error
    assert pickle.loads(pickle.dumps(error)).path == error.path


def test_all_violations_of_the_schema_are_listed_in_order():
    errors = schema_errors({"id": 1, "version": "x", "hat": 2}, "a.toml")
    assert [str(e) for e in errors] == sorted(str(e) for e in errors)
    assert {e.path for e in errors} == {"(top)", "id", "version"}


def test_a_name_in_a_measure_before_the_world_is_refused():
    with pytest.raises(TicketError, match="not known before the world is set up"):
        small(
            (
                'hourly_cents = "{hourly}"\nstarted',
                'hourly_cents = "{billing.daily_charge:{instance}}"\nstarted',
            )
        )


def test_a_message_of_the_schema_is_cut_short():
    (error,) = schema_errors({**tomllib.loads(SMALL), "split": "x" * 900}, "a.toml")
    assert len(error.problem) == 200


def test_recorded_turns_are_read():
    recorded = """
[[customer.recorded]]
text = "Then stop {instance}."
needs_calls = [{ call = "DescribeInstances", with = { InstanceIds = '["{instance}"]' } }]
needs_asked = ["instance"]
needs_passed = ["ask"]
[[customer.recorded]]
only = ["kept"]
text = ""
[customer.facts.instance]
"""
    ticket = small(("[customer.facts.instance]\n", recorded))
    scenario = make_scenario(ticket, 1, variant="halted")
    id = scenario.values["instance"]
    (turn,) = scenario.private.recorded
    assert turn.text == f"Then stop {id}."
    assert turn.needs_calls == (("DescribeInstances", {"InstanceIds": f'["{id}"]'}),)
    assert (turn.needs_asked, turn.needs_passed) == (("instance",), ("ask",))
    assert len(make_scenario(ticket, 1, variant="kept").private.recorded) == 2
    for old, new in (('needs_asked = ["instance"]', '["x"]'), ('needs_passed = ["ask"]', '["x"]')):
        wrong = recorded.replace(old, f"{old.split(' = ')[0]} = {new}")
        with pytest.raises(TicketError, match=r"no (fact|checkpoint) 'x'"):
            small(("[customer.facts.instance]\n", wrong))


def test_a_reference_is_written_when_it_is_read_and_compares_by_its_parts():
    made = []

    def make():
        made.append(1)
        return (("Stop", {"a": 1}),), "done", ("Hello.",), ("Bye.",)

    reference = Reference.deferred(make)
    assert not made
    assert reference.reply == "done"
    assert (reference.lead, reference.trail) == (("Hello.",), ("Bye.",))
    assert reference == Reference((("Stop", {"a": 1}),), "done", ("Hello.",), ("Bye.",))
    assert reference != Reference((("Stop", {"a": 1}),), "done")
    assert reference.calls == (("Stop", {"a": 1}),)
    assert made == [1]
    assert hash(reference) == hash(Reference((("Stop", {"a": 1}),), "done"))
    assert "done" in repr(reference)
    assert pickle.loads(pickle.dumps(reference)) == reference
    assert reference != "done"
