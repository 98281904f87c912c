"""A ticket's example replies against its own evidence."""

from types import SimpleNamespace

import pytest

from cirrus_env.judging.assess import carried, findings, spoken, words_of
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.heard import Heard
from cirrus_env.tickets import predicates as p
from cirrus_env.tickets.model import Checkpoint, Closing, Consent, Reference
from cirrus_env.wire import Act
from tests.judging.builders import gold, told

STOP = Consent("Stop", "i-1", ("loss",))


class Table:
    """A reader that looks replies up."""

    def __init__(self, **acts):
        self.acts = acts
        self.heard = []

    def read(self, text, heard):
        self.heard.append(heard)
        return tuple(self.acts.get(text, ()))


def scenario(*checkpoints, closing="bye", must_pass=(), **more):
    return SimpleNamespace(
        gold=gold(checkpoints=checkpoints, closing=Closing("close", closing),
                  must_pass=must_pass, **more),
        private=SimpleNamespace(opening="Help!", consents=(STOP,)),
        cloud=None,
    )  # fmt: skip


def say(evidence, reference="", near_misses=()):
    return Checkpoint("say", "explanation", evidence, reference=Reference(reply=reference),
                      near_misses=near_misses)  # fmt: skip


def problems(made, reader):
    return [(f.where, f.problem) for f in findings(made, reader, RuleJudge())]


RIGHT, WRONG = told("cause", "halted"), told("cause", "kept")
ASKS, DOES = Act("asked", "id"), Act("instructed", "press")
PROPOSES = Act("proposed", "Stop", "i-1", ("loss",))


def words(*acts):
    return words_of(scenario(), "x", Table(x=acts), RuleJudge())


@pytest.mark.parametrize(
    ("predicate", "acts", "expected"),
    [
        (p.Told("cause"), (RIGHT,), True),
        (p.Told("cause"), (WRONG,), False),
        (p.Asked("id"), (ASKS,), True),
        (p.Asked("id"), (), False),
        (p.CustomerDid("press"), (DOES,), True),
        (p.Agreed("Stop", "i-1"), (PROPOSES,), True),
        (p.Agreed("Stop", "i-1"), (Act("proposed", "Stop", "i-1"),), False),
        (p.Agreed("Stop", "i-2"), (PROPOSES,), False),
        (p.Called("Look"), (), True),
        (p.All((p.Told("cause"), p.Called("Look"))), (), False),
        (p.All((p.Told("cause"), p.Called("Look"))), (RIGHT,), True),
        (p.AnyOf((p.Told("cause"), p.Asked("id"))), (ASKS,), True),
        (p.Not((p.Told("cause"),)), (RIGHT,), False),
        (p.Not((p.Told("cause"), p.Called("Look"))), (), True),
    ],
)
def test_what_a_reply_carries(predicate, acts, expected):
    assert carried(predicate, words(*acts), scenario()) is expected


def test_which_predicates_ask_for_words():
    assert spoken(p.All((p.Called("Look"), p.Not((p.Told("cause"),)))))
    assert not spoken(p.AnyOf((p.Called("Look"), p.Exists("k", "i"))))


def test_a_sound_scenario_has_no_findings():
    made = scenario(
        say(p.Told("cause"), "right", ("vague", "wrong")),
        Checkpoint("look", "diagnosis", p.Called("Look")),
        must_pass=("vague",),
    )
    assert problems(made, Table(right=[RIGHT], wrong=[WRONG])) == []


def test_a_near_miss_that_passes_is_found():
    made = scenario(say(p.Told("cause"), near_misses=("vague", "right")))
    found = problems(made, Table(right=[RIGHT]))
    assert found == [("checkpoints.say.near_misses[1]", "passes, and must not")]


def test_a_near_miss_without_spoken_evidence_proves_nothing():
    made = scenario(say(p.Called("Look"), near_misses=("vague",)))
    assert problems(made, Table()) == [
        ("checkpoints.say.near_misses[0]", "the checkpoint's evidence asks for no words")
    ]


def test_a_reference_must_pass_and_say_nothing_wrong():
    made = scenario(say(p.Told("cause"), "wrong"))
    assert problems(made, Table(wrong=[WRONG, Act("proposed", "Delete", "i-1")])) == [
        ("checkpoints.say.reference", "does not pass"),
        ("checkpoints.say.reference", "is read as telling cause = 'kept', which is wrong"),
        ("checkpoints.say.reference", "proposes Delete of i-1, which nobody agrees to"),
        ("checkpoints.say.reference", "touches the minefield wrong-cause (cause=kept)"),
    ]


def test_a_reference_without_spoken_evidence_need_only_be_clean():
    assert problems(scenario(say(p.Called("Look"), "hello")), Table()) == []


def test_closing_and_honest_words_must_be_clean():
    made = scenario(closing="wrong", must_pass=("number",))
    assert [
        where for where, _ in problems(made, Table(wrong=[WRONG], number=[told("daily", "1")]))
    ] == [
        "closing",
        "closing",
        "must_pass[0]",
    ]


def test_a_known_proposal_is_no_finding():
    assert problems(scenario(must_pass=("offer",)), Table(offer=[PROPOSES])) == []


def test_what_was_heard_before_reaches_the_reader():
    reader, heard = Table(), Heard()
    words_of(scenario(), "x", reader, RuleJudge(), heard)
    words_of(scenario(), "x", reader, RuleJudge())
    assert reader.heard[0] is heard
    assert reader.heard[1] is not heard
