"""Teacher-forced turns: one of the agent at every turn of the reference."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_turns
from cirrus_env.errors import ComparisonError
from cirrus_env.runner.agents import Agent, find_agent
from cirrus_env.runner.compare import compare
from cirrus_env.runner.play import Job
from cirrus_env.runner.rows import Row
from cirrus_env.runner.run import run_jobs
from cirrus_env.runner.single_turn import play_scene
from cirrus_env.runner.store import read_episodes
from cirrus_env.runner.turn_scores import FLOORED, turn_scores
from cirrus_env.runner.turns import MOST_CALLS
from cirrus_env.tickets.index import index
from cirrus_env.tickets.load import bundled, load_ticket
from cirrus_env.wire import AssistantAction, ToolCall

SMALL = load_ticket(Path(__file__).parent / "small.toml")
ASKS = "Which instance is it, please? I need its instance id."
EXACT = ("RR", "TIA", "TSA", "TEV", "SR@1", "SR@2", "TPR")


class Says:
    """The same action, whatever is said."""

    name = "says"

    def __init__(self, action: object) -> None:
        self.action = action

    def reset(self, seed):
        pass

    def act(self, observation):
        return self.action


class Beside:
    """Another policy, with further actions before each of its own."""

    name = "beside"

    def __init__(self, inner, extra) -> None:
        self.inner = inner
        self.extra = extra

    def reset(self, seed):
        self.inner.reset(seed)
        self.queue = []

    def act(self, observation):
        if not self.queue:
            self.queue = [*self.extra, None]
        action = self.queue.pop(0)
        if action is not None:
            return action
        return self.inner.act(observation)


def rows(*agents, ticket=SMALL, seed=1, variant=None):
    jobs = [Job(agent, ticket, seed, variant) for agent in agents]
    return run_jobs(jobs, settings={"mode": "single-turn"})


def values(found, names=EXACT):
    (mine,) = turn_scores(found)
    return {name: mine.scores[name].value for name in names}


def says(action):
    return Agent("says", lambda _: Says(action))


def call(name, arguments):
    return AssistantAction("call", calls=(ToolCall("", name, arguments),))


@pytest.mark.parametrize(
    ("name", "variant"),
    [(e["id"], v) for e in index() for v in e["variants"]],
)
def test_the_oracle_has_everything_and_doing_nothing_has_nothing(name, variant):
    ticket = bundled(name)
    for agent, score in (("oracle", 1.0), ("do-nothing", 0.0)):
        got = values(rows(find_agent(agent), ticket=ticket, variant=variant))
        assert set(got.values()) <= {score, None}, (agent, got)
        assert got["TPR"] == got["SR@1"] == got["RR"] == score


def test_asking_at_every_turn_by_hand():
    (row,) = rows(says(ASKS))
    turns = row.metrics["turns"]
    # ask | look, explain | propose | stop, look (three times, once more while it stops), close
    assert [len(turn["reference"]) for turn in turns] == [0, 1, 0, 5]
    assert [turn["says"] for turn in turns] == [True, True, True, False]
    assert [a["carries"] for turn in turns for a in turn["attempts"]] == [True] * 2 + [False] * 6
    # one of three that say something; ask_instance alone of six checkpoints
    assert values([row]) == {
        "RR": 1 / 3, "TIA": 0.0, "TSA": 0.0, "TEV": 0.0, "SR@1": 0.0, "SR@2": 0.0, "TPR": 1 / 6,
    }  # fmt: skip
    assert values([row], ("RR_paper", "TIA_paper", "TPR_paper", "NEI_paper")) == {
        "RR_paper": 1 / 3, "TIA_paper": 0.0, "TPR_paper": 1 / 6, "NEI_paper": 1.0,
    }  # fmt: skip
    assert values([row], ("STL", "AMTL")) == {"STL": 14.0, "AMTL": 14.0}


def test_looking_at_every_turn_by_hand():
    look = call("DescribeInstances", "{}")
    agent = Agent("looks", lambda _: Beside(Says("I have looked."), [look]))
    (row,) = rows(agent)
    # a call at all four turns, needed at two; an empty one matches none that names an instance
    assert [len(t["attempts"][0]["calls"]) for t in row.metrics["turns"]] == [1, 1, 1, 1]
    assert values([row], ("TIA", "TSA", "TEV", "TSA_precision")) == {
        "TIA": 0.0, "TSA": 0.0, "TEV": 0.0, "TSA_precision": 0.0,
    }  # fmt: skip


def test_arguments_are_compared_as_the_schema_reads_them():
    def make(episode):
        instance = episode.scenario.values["instance"]
        written = f'{{"InstanceIds": "[\\"{instance}\\"]", "MaxResults": 10}}'
        return Beside(Says("I have looked."), [call("DescribeInstances", written)])

    (row,) = rows(Agent("looks", make))
    # at turn 4 the reference's three looks are one, beside the stop: 2 of its 3 calls in all
    got = values([row], ("TSA", "TEV", "TEV_paper", "TIA", "TIA_precision"))
    assert got == {
        "TSA": 2 / 3, "TEV": 2 / 3, "TEV_paper": 0.0, "TIA": 2 / 3, "TIA_precision": 0.5,
    }  # fmt: skip


def test_a_second_attempt_is_a_fresh_sample_from_the_same_point():
    seen = []

    class Notes(Says):
        def reset(self, seed):
            seen.append(["reset", seed])

        def act(self, observation):
            seen[-1].append(observation["transcript"])
            return "Hello."

    (row,) = rows(Agent("notes", lambda _: Notes("")))
    first, second = seen[0::2], seen[1::2]
    assert [turn[2] for turn in first] == [turn[2] for turn in second]
    assert {turn[1] for turn in first} == {1}
    assert len({turn[1] for turn in second}) == 1
    assert first[0][1] != second[0][1]
    assert all("Hello." not in turn[2] for turn in seen)
    assert all(len(turn["attempts"]) == 2 for turn in row.metrics["turns"])


def test_turns_start_where_a_reset_to_that_turn_starts():
    starts = []

    class Notes(Says):
        def act(self, observation):
            starts.append(observation["transcript"])
            return "Hello."

    rows(Agent("notes", lambda _: Notes("")), seed=4)
    episode = TicketEpisode(SMALL)
    episode.reset(seed=4)
    number = len(reference_turns(episode.scenario))
    for turn in range(number):
        messages, _ = episode.reset(seed=4, options={"turn": turn})
        assert all(m["content"][:60] in starts[2 * turn].replace('\\"', '"') for m in messages[1:])


def test_second_attempts_count_where_they_are_meant_to():
    made = []

    def make(episode):
        made.append(episode)
        return find_agent("oracle" if len(made) % 2 == 0 else "do-nothing").make(episode)

    got = values(rows(Agent("second-time", make)))
    assert got == {
        "RR": 0.0, "TIA": 0.0, "TSA": 0.0, "TEV": 0.0, "SR@1": 0.0, "SR@2": 1.0, "TPR": 1.0,
    }  # fmt: skip


def test_an_agent_that_only_calls_is_cut_off():
    (row,) = rows(says(call("DescribeInstances", '{"MaxResults": 10}')))
    attempts = [a for turn in row.metrics["turns"] for a in turn["attempts"]]
    assert {len(a["calls"]) for a in attempts} == {MOST_CALLS}
    assert not any(a["carries"] for a in attempts)


def test_an_attempt_that_crashes_is_invalid_and_no_wrong_answer():
    class Breaks(Says):
        def act(self, observation):
            if observation["turn"] == 2:
                raise RuntimeError("the key sk-canary-1 was refused")
            return self.action

    found = rows(Agent("breaks", lambda _: Breaks(ASKS)), find_agent("do-nothing"))
    breaks, nothing = turn_scores(found)
    assert (breaks.scenes, breaks.invalid, breaks.turns) == (1, 1, 0)
    assert {score.value for score in breaks.scores.values()} == {None}
    assert breaks.floor == dict.fromkeys(FLOORED, 0.0)
    assert (nothing.invalid, nothing.turns) == (0, 4)
    (row, _) = found
    assert (row.outcome, row.valid, row.success) == ("agent_error", False, None)
    assert row.error.startswith("RuntimeError at test_single_turn.py:")


@pytest.mark.parametrize("sends", [None, 7, object()])
def test_what_is_no_action_is_the_agents_failure(sends):
    (row,) = rows(says(sends))
    assert (row.outcome, row.valid) == ("agent_error", False)


def test_an_agent_that_cannot_be_made_is_its_own_failure():
    def make(episode):
        raise ValueError("no key")

    (row,) = rows(Agent("unmade", make))
    assert (row.outcome, row.valid) == ("agent_error", False)


def test_a_crash_scores_below_every_answer():
    class Crashes(Says):
        def act(self, observation):
            raise RuntimeError

    crashed = rows(Agent("says", lambda _: Crashes("")))
    (floor,) = turn_scores(rows(find_agent("oracle")) + crashed)[1:]
    for action in ("No.", ASKS, call("DescribeInstances", "{}")):
        (answered,) = turn_scores(rows(says(action)))
        for name in FLOORED:
            assert floor.floor[name] <= answered.scores[name].value


JUNK = st.lists(
    st.sampled_from(
        [
            call("DescribeInstances", "{"),
            call("NoSuchTool", '{"x": 1}'),
            call("StopInstance", '{"InstanceId": "i-000000000000000000000"}'),
            call("StopInstance", "{}"),
            AssistantAction("reply", " "),
        ]
    ),
    max_size=2,
)


@settings(max_examples=25, deadline=None)
@given(extra=JUNK, name=st.sampled_from(["oracle", "jump-oracle", "do-nothing"]))
def test_junk_calls_never_improve_a_number(extra, name):
    inner = find_agent(name)
    plain = turn_scores(rows(inner))[0].scores
    junk = rows(Agent("junk", lambda episode: Beside(inner.make(episode), extra)))
    for key, score in turn_scores(junk)[0].scores.items():
        if score.value is not None and key not in ("STL", "AMTL", "AMTL_paper"):
            assert score.value <= (plain[key].value or 0.0), key


def test_a_scene_is_kept_read_and_gone_on_with(tmp_path):
    jobs = [Job(find_agent("oracle"), SMALL, seed) for seed in (1, 2)]
    mode = {"mode": "single-turn"}
    kept = run_jobs(jobs, settings=mode, folder=tmp_path / "run")
    stored = list(read_episodes(tmp_path / "run"))
    assert [Row.from_episode(episode) for episode in stored] == kept
    assert [row.mode for row in kept] == ["single-turn"] * 2
    assert len(stored[0]["turns"]) == 4
    again = run_jobs(jobs, settings=mode, folder=tmp_path / "run", resume=True)
    assert again == kept
    assert turn_scores(again)[0].turns == 8


@pytest.mark.long
def test_the_same_scene_is_the_same_in_several_processes():
    jobs = [Job(find_agent("keyword"), bundled("ECS-Billing"), seed) for seed in (1, 2)]
    mode = {"mode": "single-turn"}
    assert run_jobs(jobs, settings=mode, processes=2) == run_jobs(jobs, settings=mode)


def test_turns_are_never_compared_as_episodes():
    episodes = run_jobs([Job(find_agent("oracle"), SMALL, 1)])
    turns = rows(find_agent("oracle"))
    for mixed in (turns, turns + episodes):
        for force in (False, True):
            with pytest.raises(ComparisonError, match="scored apart"):
                compare(mixed, force=force)


def test_a_scene_names_what_it_was_played_on():
    scene = play_scene(Job(find_agent("oracle"), SMALL, 3), {})
    assert (scene["mode"], scene["outcome"], scene["seed"]) == ("single-turn", "single_turn", 3)
    assert scene["variant"] == "halted-in-guest"
