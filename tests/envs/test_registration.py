"""Registration as data: ids, pools, both registries, and what an import may cost."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from pathlib import Path

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec, registry

import cirrus_env
from cirrus_env.envs import pettingzoo_ids, registration
from cirrus_env.errors import OptionError, TicketError
from cirrus_env.tickets.index import DATA, index

INDEX = index()


def in_a_fresh_process(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def clean_registry():
    before = dict(registry)
    yield
    registry.clear()
    registry.update(before)


@pytest.fixture
def folder(tmp_path):
    bundled = DATA / INDEX[0]["file"]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "one.toml").write_bytes(bundled.read_bytes())
    (tmp_path / "two-b.toml").write_bytes(bundled.read_bytes())
    (tmp_path / "notes.txt").write_text("not a ticket")
    return tmp_path


def test_every_ticket_of_the_index_is_registered():
    assert cirrus_env.ids() == sorted(e["env_id"] for e in INDEX)
    assert "Cirrus/ECS-Billing-v0" in cirrus_env.ids()


def test_specs_are_strings_and_json():
    for name in cirrus_env.ids(with_pools=True):
        spec = registry[name]
        assert isinstance(spec.entry_point, str)
        assert list(spec.kwargs) == ["ticket"]
        assert EnvSpec.from_json(spec.to_json()) == spec


def test_pools_are_the_index_split_and_ordered_data():
    pools = cirrus_env.pools()
    train = [e["id"] for e in INDEX if e["split"] == "train"]
    test = [e["id"] for e in INDEX if e["split"] == "test"]
    # a pool that no longer fits a release gets a new version beside it, never another list
    assert pools["Cirrus/Train-v0"] == sorted(train)
    assert pools["Cirrus/Test-v0"] == sorted(test)
    for prefix in {name.partition("-")[0] for name in train}:
        members = sorted(name for name in train if name.startswith(f"{prefix}-"))
        assert pools[f"Cirrus/{prefix}-v0"] == members
    assert set(cirrus_env.ids(with_pools=True)) - set(cirrus_env.ids()) == set(pools)


def test_registering_twice_changes_nothing():
    before = dict(registry)
    registration.register_all()
    assert registry == before


@pytest.mark.usefixtures("clean_registry")
def test_a_large_index_registers():
    registration.register_all(
        {"id": f"ECS-T{i}", "env_id": f"Cirrus/ECS-T{i}-v1"} for i in range(2000)
    )
    assert len(cirrus_env.ids()) == len(INDEX) + 2000
    assert registry["Cirrus/ECS-T7-v1"].kwargs == {"ticket": "ECS-T7"}


def test_an_unknown_id_suggests_a_near_one():
    with pytest.raises(gymnasium.error.NameNotFound, match="ECS-Billing"):
        gymnasium.make("Cirrus/ECS-Biling-v0")


@pytest.mark.usefixtures("clean_registry")
def test_a_folder_of_tickets_registers_under_its_stems(folder):
    names = cirrus_env.register_tickets(folder)
    assert names == ["Imported/one-v0", "Imported/two-b-v0"]
    assert cirrus_env.ids("Imported") == names
    assert registry["Imported/one-v0"].kwargs == {"ticket": str(folder / "sub" / "one.toml")}
    assert cirrus_env.register_tickets(folder) == names
    assert set(names) < set(cirrus_env.ids(None))


@pytest.mark.usefixtures("clean_registry")
def test_one_file_and_another_namespace(folder):
    assert cirrus_env.register_tickets(folder / "two-b.toml", "Mine") == ["Mine/two-b-v0"]


@pytest.mark.usefixtures("clean_registry")
def test_two_files_never_share_an_id(folder, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "one.toml").write_text("")
    before = dict(registry)
    with pytest.raises(OptionError, match="already stands for"):
        cirrus_env.register_tickets(folder)
    assert registry == before


@pytest.mark.parametrize("namespace", ["", "a/b", "a b", "a:b", "a&b"])
def test_bad_namespaces(folder, namespace):
    with pytest.raises(OptionError, match="namespace"):
        cirrus_env.register_tickets(folder, namespace)


def test_missing_and_unnameable_files(tmp_path):
    with pytest.raises(TicketError, match="no ticket file"):
        cirrus_env.register_tickets(tmp_path / "nothing")
    with pytest.raises(TicketError, match="no ticket file"):
        cirrus_env.register_tickets(tmp_path)
    (tmp_path / "a b.toml").write_text("")
    with pytest.raises(TicketError, match="part of an id"):
        cirrus_env.register_tickets(tmp_path)


def test_importing_brings_in_nothing_optional():
    code = """
        import sys, gymnasium, os
        before = set(sys.modules)
        audio = os.environ.get("SDL_AUDIODRIVER")
        import cirrus_env
        new = {name.partition(".")[0] for name in set(sys.modules) - before}
        heavy = {"pettingzoo", "jsonschema", "jsonschema_rs", "openai", "rich", "click",
                 "rank_bm25"}
        assert not new & heavy, new & heavy
        mine = {n for n in sys.modules if n.startswith("cirrus_env.")} & {
            "cirrus_env.tickets.load", "cirrus_env.engine.episode", "cirrus_env.envs.ticket_env"}
        assert not mine, mine
        assert os.environ.get("SDL_AUDIODRIVER") == audio
        print(len(cirrus_env.ids()))
    """
    assert in_a_fresh_process(code) == str(len(INDEX))


@pytest.mark.parametrize("first", ["cirrus_env", "pettingzoo"])
def test_pettingzoo_knows_the_ids_whichever_comes_first(first):
    code = """
        import sys, importlib
        for name in sys.argv[1:]:
            importlib.import_module(name)
        from pettingzoo import aec_registry, spec
        import cirrus_env
        mine = sorted(n for n in aec_registry if n.startswith("Cirrus/"))
        assert mine == cirrus_env.ids(with_pools=True), mine
        assert spec("aec", "Cirrus/ECS-Billing-v0").kwargs == {"ticket": "ECS-Billing"}
        print(spec("aec", "classic/tictactoe-v3").name)
    """
    second = "pettingzoo" if first == "cirrus_env" else "cirrus_env"
    assert in_a_fresh_process(code, first, second) == "tictactoe"


def test_the_watcher_waits_for_one_module_and_goes(monkeypatch):
    name = "pettingzoo.env_registry.registration"
    package = importlib.import_module("pettingzoo.env_registry")
    kept = importlib.import_module(name)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.delitem(sys.modules, name)
    watching = len(sys.meta_path) + 1
    for _ in range(2):
        pettingzoo_ids.fill_when_imported()
        assert len(sys.meta_path) == watching
    assert sys.meta_path[0].find_spec("json.tool", None) is None
    try:
        fresh = importlib.import_module(name)
    finally:
        package.registration = kept
    assert len(sys.meta_path) == watching - 1
    assert fresh is not kept
    assert set(fresh.aec_registry) == set(cirrus_env.ids(None, with_pools=True))


def test_the_version_is_in_one_place():
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    assert cirrus_env.__version__
    assert f'version = "{cirrus_env.__version__}"' in pyproject.read_text() or (
        "dynamic" in pyproject.read_text()
    )


def test_public_names_resolve():
    for name in cirrus_env.__all__:
        assert getattr(cirrus_env, name) is not None
    assert set(dir(cirrus_env)) == set(cirrus_env.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        cirrus_env.Nothing  # noqa: B018
