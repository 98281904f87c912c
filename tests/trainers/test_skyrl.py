"""SkyRL's own gym: made by its registry, played by its loop's calls."""

from __future__ import annotations

import pytest

pytest.importorskip("skyrl_gym")

import skyrl_gym
from skyrl_gym.envs.registration import registry as skyrl_registry

from cirrus_env.adapters.skyrl import CirrusTextEnv
from cirrus_env.customers import registry
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import EndpointError

pytestmark = pytest.mark.trainer

ROW = {"ticket": "ECS-Billing", "seed": 3}
CALL = '<tool_call>\n{"name": "GetAccountProfile", "arguments": {}}\n</tool_call>'
CLOSE = '<tool_call>\n{"name": "close_ticket", "arguments": {"message": "Bye."}}\n</tool_call>'


@pytest.fixture
def make():
    entry = "cirrus_env.adapters.skyrl:CirrusTextEnv"
    skyrl_gym.register("cirrus", entry_point=entry)
    yield lambda **config: skyrl_gym.make("cirrus", env_config=config, extras=ROW)
    del skyrl_registry["cirrus"]


def test_an_episode_through_skyrls_registry_is_the_cores(make):
    env = make(max_turns=5)
    twin = TicketEpisode("ECS-Billing", parser="hermes", max_turns=5)
    opening, info = twin.reset(seed=3)
    prompt, known = env.init([{"role": "user", "content": "ignored"}])
    assert prompt[1:] == opening[1:]
    assert prompt[0]["content"].startswith(opening[0]["content"])
    assert "close_ticket" in prompt[0]["content"]
    assert known == info
    assert env.get_metrics() == {}
    for text in ("Which instance is it?", CALL, CLOSE):
        mine, core = env.step(text), twin.step(text)
        assert mine["observations"] == core.delta
        assert mine["reward"] == core.reward
        assert mine["done"] == (core.terminated or core.truncated)
        assert mine["metadata"] == core.info
        assert mine["postprocessed_action"] is None
        assert all(type(part) is str for each in core.delta for part in each.values())
    assert mine["done"]
    assert env.get_metrics()["success"] == 0.0
    assert CirrusTextEnv.aggregate_metrics([{"success": 1.0}, {"success": 0.0}]) == {"success": 0.5}
    env.close()


def test_a_group_begins_alike(make):
    assert make().init([])[0] == make().init([])[0]


def test_what_failed_is_raised_not_rewarded(make, monkeypatch):
    class Failing(SimulatedCustomer):
        name = "failing"

        def react(self, mind, view):
            raise EndpointError("down")

    monkeypatch.setattr(registry, "CUSTOMERS", {**registry.CUSTOMERS, "failing": Failing})
    env = make(customer="failing")
    env.init([])
    with pytest.raises(EndpointError, match="customer_error"):
        env.step("Hello?")
