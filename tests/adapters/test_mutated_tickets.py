"""Mutated imported tickets: a ``TicketError``, or a ticket that plays."""

import copy
import json
import random
import tomllib
from pathlib import Path

import pytest
import tomli_w
from adapter_cases import call, close
from test_mutated_sources import ODD, places
from test_trivial_agents import cirrusbench, taubench, tooltalk

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.engine.plan import reference_actions
from cirrus_env.errors import TicketError
from cirrus_env.tickets.load import load_ticket

TABLES = ("functions", "calls", "lookups")


@pytest.fixture(scope="module")
def tickets(tmp_path_factory):
    """The data of imported tickets, their JSON texts read."""
    found = []
    for prepare in (tooltalk, cirrusbench, taubench):
        folder = tmp_path_factory.mktemp("in")
        report = prepare(folder)(folder, tmp_path_factory.mktemp("out"))
        for entry in report.to_json()["files"]:
            data = tomllib.loads(Path(entry["path"]).read_text())
            for key in TABLES:
                data["imported"][key] = json.loads(data["imported"][key])
            found.append(data)
    return found


def mutated(data, chance):
    """The text of the ticket with one or two changes; empty where TOML can't hold it."""
    data = copy.deepcopy(data)
    for _ in range(chance.randint(1, 2)):
        table = data.get("imported")
        target = table if isinstance(table, dict) and table and chance.random() < 0.6 else data
        path = chance.choice([place for place in places(target) if place])
        parent = target
        for step in path[:-1]:
            parent = parent[step]
        if chance.random() < 0.3:
            del parent[path[-1]]
        else:
            parent[path[-1]] = copy.deepcopy(chance.choice(ODD))
    table = data.get("imported")
    if isinstance(table, dict):
        table.update({key: json.dumps(table[key]) for key in TABLES if key in table})
    try:
        return tomli_w.dumps(data)
    except (TypeError, ValueError):
        return ""


def check(tickets, seed):
    chance = random.Random(seed)
    text = mutated(chance.choice(tickets), chance)
    if "\n" not in text:
        return False
    try:
        ticket = load_ticket(text, file="mutated.toml")
    except TicketError:
        return False
    for customer in (None, "replay+simulated"):
        running = TicketEpisode(ticket, customer=customer)
        running.reset(seed=0)
        asked = {"query": "a", "location": "Oslo", "start_time": "2024-02-03 00:00:00"}
        tools = [call(name, **asked) for name in running.tool_names[:4]]
        for action in (*tools, *reference_actions(running.scenario)[:6], close()):
            if running.outcome is None:
                running.step(action)
    return True


def test_mutated_tickets_are_refused_or_play(tickets):
    assert 30 < sum(check(tickets, seed) for seed in range(150)) < 150


@pytest.mark.long
def test_many_mutated_tickets(tickets):
    assert sum(check(tickets, seed) for seed in range(150, 5000)) > 1000
