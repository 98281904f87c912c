# ruff: noqa: E501 (a case, or a line of a ticket file, stays on one line)
import pytest
from ticket_samples import WORDS_ONLY, changed, small

from cirrus_env.tickets.lint import lint, lint_file
from cirrus_env.tickets.load import load_ticket


def rules(*changes):
    return {problem.rule for problem in lint(small(*changes))}


def test_the_small_ticket_is_clean():
    assert lint(small()) == []


BITES = [
    ("listed-order", 'after = ["ask", "see"]', 'after = ["ask", "see", "agree"]'),
    ("skippable-inquiry", 'kind = "inquiry"\nskippable', 'kind = "diagnosis"\nskippable'),
    ("skippable-inquiry", 'after = ["ask"]\nevidence = { all', 'after = ["ask"]\nskippable = true\nevidence = { all'),
    ("evidence-positive", 'evidence = { told = "cause" }', 'evidence = { not = [{ told = "cause" }] }'),
    ("evidence-positive", 'evidence = { told = "cause" }', 'evidence = { any = [{ told = "cause" }, { not = [{ asked = "instance" }] }] }'),
    ("evidence-positive", 'evidence = { told = "cause" }', 'evidence = { all = [{ not = [{ asked = "instance" }] }] }'),
    ("evidence-kind", 'evidence = { told = "cause" }', 'evidence = { asked = "instance" }'),
    ("near-misses", '["No.", "Maybe inside.", "Why?"]', '["No."]'),
    ("must-pass", 'en = ["Hello."]\n', 'en = []\n'),
    ("references", 'reference = { en = "Which instance?", zh = "哪台？" }\n', ""),
    ("closing", '[[closings]]', '[[closings]]\nkind = "escalate"\nqueue = "billing"'),
    ("slots", '{ only = ["halted"], told = "began" }', '{ only = ["halted"], told = "daily_cost" }'),
    ("slots", 'value = { halted = "{since}" }', 'value = { kept = "{since}" }'),
    ("must-flip", '[[must_flip]]\nname = "free"\nonly = ["halted"]\npredicate = "free"\n', ""),
    ("languages", 'zh = ["你好。"]\n', ''),
    ("languages", 'near = { en = [["a day"]], zh = [["每天"]] }', 'near = { en = [["a day"]] }'),
    ("ids", 'en = "Off is free."', 'en = "Off is free for i-bp1abcdefgh12345."'),
    ("same-opening", 'when = "asked"\n[customer.console', 'when = "volunteered"\nonly = ["kept"]\n[customer.console'),
    ("contradiction", 'evidence = { told = "cause" }', 'evidence = { told = "daily_cost" }'),
    ("specific", 'ending = "guide"', 'ending = "refuse"'),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "old", "new"), BITES)
def test_each_rule_bites(rule, old, new):
    assert rule in rules((old, new))


def test_a_refusal_needs_a_sibling_that_ends_otherwise():
    both = (('ending = "resolve"', 'ending = "refuse"'), ('ending = "guide"', 'ending = "refuse"'))
    assert "contradiction" in rules(*both)


def test_a_problem_names_place_rule_variant_and_language():
    problem = lint(small(('["No.", "Maybe inside.", "Why?"]', '["No."]')))[0]
    assert problem.path == "checkpoints.explain.near_misses [halted, en]"
    assert problem.rule == "near-misses"
    assert "1 near-misses; write 3 or more" in problem.message


def test_an_irreversible_reference_call_needs_a_consent():
    old = '{ call = "StopInstance", with = { InstanceId = "{instance}", StoppedMode = "StopCharging" } }'
    new = '{ call = "DeleteDisk", with = { DiskId = "{disk}" } }'
    assert "consent" in rules((old, new))


def test_a_ticket_without_tools_asks_for_more():
    assert lint(load_ticket(WORDS_ONLY)) == []
    for old, new in (
        ('all = [{ told = "state" }, { told = "day" }]', 'told = "state"'),
        ('kind = "inquiry"\n', 'kind = "inquiry"\nskippable = true\n'),
        ('near_misses.en = ["a", "b", "c"]', 'near_misses.en = ["a", "b"]'),
    ):
        assert old in WORDS_ONLY
        found = {p.rule for p in lint(load_ticket(WORDS_ONLY.replace(old, new)))}
        assert "without-tools" in found


def test_one_variant_alone_is_a_problem():
    text = WORDS_ONLY.replace('[[variants]]\nname = "later"\n', "")
    text = text.replace('  { only = ["later"], en = "Tomorrow, since {day}." },\n', "")
    assert "contradiction" in {p.rule for p in lint(load_ticket(text))}


def test_a_file_that_is_no_ticket_is_one_problem(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(changed(('split = "train"', 'split = "dev"')), "utf-8")
    (problem,) = lint_file(path)
    assert problem.rule == "schema"
    assert problem.path == "split"
    assert "one of train, test" in problem.message
    path.write_text(changed(), "utf-8")
    assert lint_file(path) == []
