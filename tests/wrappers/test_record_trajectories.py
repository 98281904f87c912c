"""Finished episodes go to a sink, each once, as runs store them."""

import copy
import json
import pickle

import gymnasium
import pytest
from wrapping import ID, holds_all_promises, lines, play_on, play_oracle, probes

from cirrus_env.engine.replay import Trajectory, rescore
from cirrus_env.envs import conformance
from cirrus_env.errors import OptionError
from cirrus_env.runner.agents import find_agent
from cirrus_env.runner.play import Job, play
from cirrus_env.tickets.load import bundled
from cirrus_env.wire import Record, canonical
from cirrus_env.wrappers import (
    ChatMessages,
    CustomReward,
    EarlyStop,
    RecordTrajectories,
    TokenBudget,
    ToolCallText,
)

CLOSE = {"type": 2, "text": "Goodbye.", "tool": 0, "arguments": ""}
IDLE = "I see. One moment."


class Kept:
    """A sink that can be pickled; all copies keep to one list."""

    episodes: list = []  # noqa: RUF012  # shared on purpose

    def __call__(self, episode):
        self.episodes.append(episode)


@pytest.fixture(autouse=True)
def no_episodes():
    Kept.episodes.clear()


def recording(wrap=lambda env: env, **kwargs):
    episodes = []
    return RecordTrajectories(wrap(gymnasium.make(ID, **kwargs)), episodes.append), episodes


def test_an_episode_is_stored_as_a_run_stores_it():
    env, episodes = recording()
    play_oracle(env, 3)
    (found,) = episodes
    run = found.pop("run")
    stored = play(Job(find_agent("oracle"), bundled("ECS-Billing"), 3))
    variant = stored["variant"]
    assert found.pop("key") == ["learner", ID, 3, variant, "en", 0]
    assert stored.pop("key") == ["oracle", ID, 3, "", ""]
    assert found.pop("agent") == "learner"
    assert stored.pop("agent") == "oracle"
    assert canonical(found) == canonical(stored)
    assert run["reward"]["name"] == "cirrus"
    assert run["settings"] == {}
    assert run["source"] is None
    assert run["constants"] == dict(bundled("ECS-Billing").constants)


def test_what_is_handed_over_is_enough_to_score_it_again():
    rule = {"preset": "dense", "progress": 0.8}
    env, episodes = recording(lambda env: CustomReward(env, rule), system="Be kind.")
    play_oracle(env, 3)
    found = json.loads(json.dumps(episodes[0]))
    kept, reward = found["trajectory"], found["run"]["reward"]
    records = tuple(map(Record.from_json, kept["records"]))
    again = Trajectory(kept["header"], records, kept["last"])
    metrics, micro = rescore(again.header, again.records, reward=reward["weights"])
    assert micro == found["return_micro"] == 1_500_000
    assert canonical(metrics) == canonical(found["metrics"])
    assert found["run"]["settings"] == {"system": "Be kind."}


def test_episodes_left_before_their_end_are_dropped():
    env, episodes = recording()
    env.reset(seed=1)
    env.step(IDLE)
    env.reset(seed=2)
    env.step(CLOSE)
    env.reset(seed=3)
    env.step(IDLE)
    env.close()
    assert [(e["seed"], e["key"][-1]) for e in episodes] == [(2, 0)]


def test_the_same_seed_again_is_another_episode():
    env, episodes = recording()
    for _ in range(2):
        env.reset(seed=3)
        env.step(CLOSE)
    assert [e["key"][-1] for e in episodes] == [0, 1]
    assert canonical(episodes[0]["trajectory"]) == canonical(episodes[1]["trajectory"])


def test_what_others_stop_is_handed_over_at_the_next_reset_or_close():
    env, episodes = recording()
    stopping = EarlyStop(env, repeats=1)
    stopping.reset(seed=3)
    play_on(stopping, [IDLE, IDLE])
    assert episodes == []
    stopping.reset(seed=4)
    assert [(e["seed"], e["outcome"]) for e in episodes] == [(3, "stopped")]
    env.unwrapped.truncate("agent_error")
    env.close()
    env.close()
    assert [(e["seed"], e["outcome"]) for e in episodes[1:]] == [(4, "agent_error")]
    assert episodes[1]["return_micro"] is None
    assert episodes[1]["valid"] is False


def test_around_what_stops_it_hands_over_at_once():
    env, episodes = recording(lambda env: TokenBudget(EarlyStop(env, repeats=1), turn=1))
    env.reset(seed=3)
    env.step(IDLE)
    assert [e["outcome"] for e in episodes] == ["stopped"]


def test_going_back_and_ending_otherwise_is_another_episode():
    env, episodes = recording()
    env.reset(seed=3)
    then = env.unwrapped.snapshot()
    env.step(CLOSE)
    env.unwrapped.restore(then)
    play_on(env, [IDLE, CLOSE])
    env.close()
    assert [len(e["trajectory"]["records"]) for e in episodes] == [2, 4]


def test_a_sink_that_fails_gets_the_episode_again():
    episodes = []

    def sink(episode):
        episodes.append(episode)
        if len(episodes) == 1:
            raise OSError("no room")

    env = RecordTrajectories(gymnasium.make(ID), sink)
    env.reset(seed=3)
    with pytest.raises(OSError, match="no room"):
        env.step(CLOSE)
    env.reset(seed=4)
    env.reset(seed=5)
    assert [(e["seed"], e["key"][-1]) for e in episodes] == [(3, 0), (3, 0)]


def test_copies_go_on_and_hand_over_once_each():
    env = RecordTrajectories(gymnasium.make(ID), Kept())
    env.reset(seed=3)
    for ended in (False, True):
        if ended:
            env.step(CLOSE)
        for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            if not ended:
                other.step(CLOSE)
            other.close()
    assert len(Kept.episodes) == 3


def test_the_customers_seat_is_recorded_too():
    env, episodes = recording(seat="customer")
    conformance.play(env, 3, list(conformance.probes(env, 3, 4)))
    (found,) = episodes
    assert found["trajectory"]["header"]["customer"] == "external"


def test_vector_environments_share_a_sink():
    episodes = []

    def make():
        env = ToolCallText(ChatMessages(gymnasium.make(ID)), format="json")
        return RecordTrajectories(env, episodes.append, agent="me")

    bye = '{"name": "close_ticket", "arguments": {"message": "Goodbye."}}'

    envs = gymnasium.vector.SyncVectorEnv([make, make])
    envs.reset(seed=[1, 2])
    for _ in range(3):  # the second one only resets
        envs.step((bye, bye))
    envs.close()
    assert [(e["agent"], e["seed"]) for e in episodes[:2]] == [("me", 1), ("me", 2)]
    assert [e["key"][-1] for e in episodes] == [0, 0, 1, 1]


def test_it_holds_all_promises():
    holds_all_promises(lambda env: RecordTrajectories(env, Kept(), agent="me"))
    assert {e["agent"] for e in Kept.episodes} == {"me"}
    plain, (env, _) = gymnasium.make(ID), recording()
    assert conformance.play(plain, 3, probes(3))
    conformance.play(env, 3, probes(3))
    assert lines(env) == lines(plain)


def test_an_environment_made_again_feeds_the_same_sink():
    env, episodes = recording()
    again = gymnasium.make(EarlyStop(env, repeats=9).spec)
    again.reset(seed=3)
    again.step(CLOSE)
    assert len(episodes) == 1


def test_what_cannot_be_used_is_refused():
    env = gymnasium.make(ID)
    with pytest.raises(OptionError, match="a sink is a function"):
        RecordTrajectories(env, [])
    for agent in ("", "\ud800", 3):
        with pytest.raises(OptionError, match="name is a text"):
            RecordTrajectories(env, print, agent=agent)
    with pytest.raises(OptionError, match="wraps a ticket environment"):
        RecordTrajectories(gymnasium.make("CartPole-v1"), print)
