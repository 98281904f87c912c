"""Minari stores the spaces, when it is there; nobody has to have it."""

from __future__ import annotations

import importlib
import json
import sys
from functools import singledispatch
from types import ModuleType, SimpleNamespace

import pytest
from gymnasium import spaces

from cirrus_env.envs import minari_text
from cirrus_env.envs.spaces import FreeText, assistant_action_space


@pytest.fixture
def stand_in(monkeypatch):
    """A module with the two tables of Minari's serialiser."""
    module = ModuleType("minari.serialization")

    @singledispatch
    def serialize_space(space, to_string=True):
        raise NotImplementedError(space)

    def read_text(data):
        return spaces.Text(
            data["max_length"], min_length=data["min_length"], charset=data["charset"]
        )

    module.serialize_space = serialize_space
    module.deserialize_space = SimpleNamespace(registry={"Text": read_text})
    monkeypatch.setitem(sys.modules, "minari.serialization", module)
    return module


def test_without_minari_nothing_happens(monkeypatch):
    monkeypatch.delitem(sys.modules, "minari.serialization", raising=False)
    minari_text.register_when_imported()
    assert "minari.serialization" not in sys.modules


def test_a_minari_that_comes_later_is_taught_then(tmp_path, monkeypatch):
    source = "from types import SimpleNamespace\nfrom functools import singledispatch\n"
    source += "serialize_space = singledispatch(lambda space, to_string=True: None)\n"
    source += "deserialize_space = SimpleNamespace(registry={'Text': None})\n"
    (tmp_path / "minari").mkdir()
    (tmp_path / "minari" / "__init__.py").write_text("")
    (tmp_path / "minari" / "serialization.py").write_text(source)
    for name in ("minari", "minari.serialization"):
        # set first, so that it is put back as it was when the test is over
        monkeypatch.setitem(sys.modules, name, None)
        del sys.modules[name]
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.syspath_prepend(tmp_path)
    minari_text.register_when_imported()
    module = importlib.import_module("minari.serialization")
    assert FreeText in module.serialize_space.registry


def test_free_text_there_and_back(stand_in):
    original = stand_in.deserialize_space.registry["Text"]
    minari_text.register_when_imported()
    minari_text.register_when_imported()
    space = FreeText(9, min_length=1, charset="ba", shared_bytes=20)
    data = json.loads(stand_in.serialize_space(space))
    assert stand_in.serialize_space(space, to_string=False) == data
    assert stand_in.deserialize_space.registry["Text"](data) == space
    # who doesn't know this package still reads a text space
    assert original(data) == spaces.Text(9, min_length=1, charset="ab")


def test_plain_text_is_still_plain(stand_in):
    minari_text.register_when_imported()
    data = {"type": "Text", "max_length": 3, "min_length": 0, "charset": "ab"}
    read = stand_in.deserialize_space.registry["Text"](data)
    assert type(read) is spaces.Text


def test_the_real_one():
    serialization = pytest.importorskip("minari.serialization")
    minari_text.register_when_imported()
    space = assistant_action_space()
    text = serialization.serialize_space(space)
    assert serialization.deserialize_space(text) == space
