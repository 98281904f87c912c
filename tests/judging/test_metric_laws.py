"""The laws of METRICS section 8 over made-up trajectories."""

from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.judging.reward import MICRO, TERMS, RewardRule, reward_rule
from cirrus_env.judging.tally import Tally
from cirrus_env.wire import Act, Event, Record
from tests.judging.builders import CHAIN, assistant, called, customer, ended, folded, gold, mine

NAMES = [checkpoint.id for checkpoint in CHAIN]
RULES = ["cirrus", "sparse", "dense", "shaped", "paper"]
SCORES = (
    "tpr", "nei", "efficiency", "incorrect_action_rate", "invalid_action_rate", "satisfaction",
    "elicitation_ratio",
)  # fmt: skip
COUNTS = (
    "checkpoints", "passed", "f", "lj", "replies", "tokens", "reasoning_tokens", "turns", "stl",
    "wrong_replies", "writes", "incorrect_writes", "invalid_turns", "policy_violations", "cost",
)  # fmt: skip
HIGHER_IS_BETTER = ("tpr", "f", "efficiency", "passed", "success", "attempt@1", "attempt@2")
LOWER_IS_BETTER = (
    "replies", "tokens", "stl", "mtl", "wrong_replies", "incorrect_writes",
    "incorrect_action_rate", "invalid_turns", "invalid_action_rate", "policy_violations", "cost",
)  # fmt: skip

call_events = st.builds(
    lambda **kw: called(**kw),
    name=st.sampled_from(["Stop", "Delete", "Describe"]),
    ok=st.booleans(),
    effect=st.sampled_from(["read", "write", "irreversible"]),
    arguments=st.sampled_from([{}, {"Id": "i-1"}, {"Id": "i-2"}]),
    consent=st.booleans(),
    outside=st.booleans(),
    duplicate=st.booleans(),
)
events = st.one_of(
    call_events,
    st.builds(Event, st.just("invalid"), st.just(""), st.just("bad")),
    st.builds(mine, st.sampled_from(["P1", "P2"]), st.sampled_from(["cost", "void", "fatal"]),
              st.sampled_from(["a", "b"])),
    st.builds(Event, st.just("order"), st.just("identity"), st.none()),
    st.builds(Event, st.just("wrong"), st.just("cause"), st.just("kept")),
)  # fmt: skip
texts = st.sampled_from(["", "Which one?", "It is halted.", "服务器还在运行。", "x" * 200])


def by_assistant(draw):
    kind = draw(st.sampled_from(["reply", "call", "call"]))
    more = {"fault": "bad"} if draw(st.integers(0, 9)) == 0 else {}
    pairs = [("Stop", draw(st.sampled_from(["{}", '{"Id":"i-1"}'])))] if kind == "call" else []
    acts = draw(st.sampled_from([(), (Act("courtesy"),)]))
    some = draw(st.lists(events, max_size=3))
    return assistant(kind, draw(texts), some, acts, pairs, **more)


def by_customer(draw):
    some = [Event("satisfaction", "", draw(st.integers(0, MICRO)))]
    some += [Event("fact", "id")] * draw(st.integers(0, 1))
    return customer("Hm.", some)


@st.composite
def trajectories(draw):
    """Records with passes in topological order, and perhaps an end."""
    records = [
        by_assistant(draw) if draw(st.booleans()) else by_customer(draw)
        for _ in range(draw(st.integers(0, 8)))
    ]
    waiting = [name for name in NAMES if draw(st.booleans())]
    placed = []
    for record in records:
        extra = []
        while waiting and draw(st.booleans()):
            extra.append(Event("passed", waiting.pop(0)))
        placed.append(
            Record(record.i, record.seat, record.action, record.acts,
                   (*record.events, *extra), 0, 0)
        )  # fmt: skip
    return placed


@st.composite
def endings(draw):
    outcome = draw(st.sampled_from(["success", "closed_early", "turn_limit", "agent_error"]))
    event = ended(
        success=outcome == "success",
        terminated=outcome in ("success", "closed_early"),
        valid=outcome != "agent_error",
        outcome=outcome,
    )
    return draw(st.sampled_from([assistant("close", text="Bye.", events=(event,)),
                                 customer(events=(event,))]))  # fmt: skip


def fold(records, rule="cirrus"):
    return folded(records, rule, needed=("id", "why"))


@given(trajectories(), endings())
def test_scores_lie_in_the_unit_interval_and_counts_are_whole(records, end):
    for some in (records, [*records, end]):
        metrics = fold(some).metrics()
        for name in SCORES:
            value = metrics[name]
            assert value is None or (isinstance(value, float) and 0 <= value <= 1), name
        for name in COUNTS:
            assert type(metrics[name]) is int, name
            assert metrics[name] >= 0, name
        assert metrics["lj"] <= max(0, metrics["f"] - 1)
        assert metrics["f"] == metrics["passed"] + metrics["lj"]


junk_events = st.one_of(
    st.builds(called, ok=st.just(False), outside=st.booleans()),
    st.builds(called, duplicate=st.just(True), outside=st.booleans(), consent=st.booleans()),
    st.builds(called, arguments=st.just({}), outside=st.booleans(), consent=st.booleans(),
              effect=st.sampled_from(["read", "write", "irreversible"])),
    st.builds(Event, st.just("invalid"), st.just("Stop"), st.just("missing argument")),
)  # fmt: skip


@given(trajectories(), st.lists(junk_events, min_size=1, max_size=3), endings(),
       st.sampled_from(RULES), st.booleans())  # fmt: skip
def test_junk_calls_never_improve_anything(records, events, end, rule, finished):
    junk = assistant("call", events=events, calls=[("Stop", "{}")] * len(events))
    tail = [end] if finished else []
    before, after = fold([*records, *tail], rule), fold([*records, junk, *tail], rule)
    a, b = before.metrics(), after.metrics()
    for name in HIGHER_IS_BETTER:
        assert (b[name] or 0) <= (a[name] or 0), name
    for name in LOWER_IS_BETTER:
        assert (b[name] or 0) >= (a[name] or 0), name
    assert b["nei"] == a["nei"]
    assert b["elicitation_ratio"] == a["elicitation_ratio"]
    assert after.micro() <= before.micro()


@given(trajectories(), endings(), st.sampled_from(RULES))
def test_step_rewards_add_up_and_stored_records_score_the_same(records, end, rule):
    tally = fold([], rule)
    total = 0
    for record in [*records, end]:
        before = tally.micro()
        tally.add(record)
        total += tally.micro() - before
    assert total == tally.micro()
    stored = [Record.from_json(record.to_json()) for record in [*records, end]]
    again = fold(stored, rule)
    assert again.micro() == total
    assert again.metrics() == tally.metrics()
    assert again.terms() == tally.terms()


@given(trajectories(), endings(), st.sampled_from(RULES))
def test_the_return_is_the_rounded_sum_of_the_terms(records, end, rule):
    for some in (records, [*records, end]):
        tally = fold(some, rule)
        exact = tally._exact_terms()
        weights = reward_rule(rule).fractions
        total = sum((w * t for w, t in zip(weights, exact, strict=True)), Fraction(0))
        assert tally.micro() == round(MICRO * total)
        assert tally.terms() == dict(zip(TERMS, map(float, exact), strict=True))


@given(trajectories(), endings())
def test_only_success_earns_more_than_a_twentieth_and_nothing_earns_more_than_one(records, end):
    tally = fold([*records, end])
    assert tally.micro() <= (MICRO if tally.success else MICRO // 20)


@given(trajectories())
def test_a_crash_never_scores_better_than_a_wrong_answer(records):
    wrong = customer(events=(ended(False, outcome="closed_early"),))
    crash = customer(events=(ended(True, False, False, "agent_error"),))
    missing = fold(records)
    for rule in ("cirrus", "sparse", "dense", "paper"):
        assert fold([*records, crash], rule).micro() <= fold([*records, wrong], rule).micro()
    worse, bad = fold([*records, crash]).metrics(), fold([*records, wrong]).metrics()
    for name in ("success", "attempt@1", "attempt@2", "efficiency"):
        assert worse[name] <= bad[name]
        assert missing.metrics()[name] <= bad[name]


@given(st.lists(trajectories(), min_size=2, max_size=3), st.integers(1, 7))
def test_interleaved_episodes_score_as_alone(several, cut):
    alone = [fold(records).metrics() for records in several]
    tallies = [fold([]) for _ in several]
    longest = max(map(len, several))
    for step in range(longest):
        for tally, records in zip(tallies, several, strict=True):
            if step < len(records):
                tally.add(records[step])
    assert [tally.metrics() for tally in tallies] == alone
    forked = fold(several[0][:cut]).copy()
    for record in several[0][cut:]:
        forked.add(record)
    assert forked.metrics() == alone[0]


@given(trajectories(), endings(), st.fractions(0, 1, max_denominator=100))
def test_shaping_is_the_sum_over_decisions(records, end, gamma):
    rule = RewardRule({"shaping": 1}, gamma=float(gamma))
    tally = Tally(gold(), rule=rule)
    potentials = []  # before each decision
    for record in [*records, end]:
        if record.seat == "assistant_0":
            potentials.append(Fraction(tally.filled, 5))
        tally.add(record)
    terminated = end.events[0].value["terminated"]
    potentials.append(Fraction(0) if terminated else Fraction(tally.filled, 5))
    total = sum((rule.discount * b - a for a, b in pairwise(potentials)), Fraction(0))
    assert tally.micro() == round(MICRO * total)
