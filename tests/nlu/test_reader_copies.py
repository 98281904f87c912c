"""An episode is copied and pickled in mid-course, and its reader with it (law R6)."""

from __future__ import annotations

import copy
import pickle

from cirrus_env.nlu.heard import Heard
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.scenario import make_scenario


def test_a_reader_copies_and_pickles():
    scenario = make_scenario(bundled("ECS-Billing"), 1)
    reader = Reader(scenario)
    text = "Which instance is it, please?"
    expected = reader.read(text, Heard())
    assert expected
    assert copy.deepcopy(reader) is reader
    assert pickle.loads(pickle.dumps(reader)).read(text, Heard()) == expected
