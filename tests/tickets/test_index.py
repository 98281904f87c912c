import json

from cirrus_env.tickets.index import DATA, INDEX_FILE, build_index, index
from cirrus_env.tickets.load import bundled


def test_the_committed_index_is_that_of_the_files():
    assert build_index() == index()


def test_the_index_is_written_in_one_way():
    text = json.dumps(index(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    assert INDEX_FILE.read_text("utf-8") == text


def test_entries_tell_what_the_tickets_are():
    for entry in index():
        ticket = bundled(entry["id"])
        assert (DATA / entry["file"]).exists()
        assert entry["env_id"] == ticket.env_id
        assert entry["tools"] == bool(ticket.uses)
        assert entry["digest"] == ticket.digest
        assert set(entry["endings"]) == set(ticket.variants)
        assert set(entry["constants"]) <= set(ticket.variants)


def test_no_family_is_in_both_splits():
    splits = {}
    for entry in index():
        splits.setdefault(entry["family"], set()).add(entry["split"])
    assert all(len(found) == 1 for found in splits.values())


def test_measured_constants_are_kept_only_with_their_text():
    entry = index()[0]
    measured = {entry["id"]: {entry["variants"][0]: {"en": {"shortest": 3}}}}
    built = {e["id"]: e for e in build_index(measured)}
    assert built[entry["id"]]["constants"] == measured[entry["id"]]


def test_an_index_is_a_fresh_list_each_time():
    index()[0]["id"] = "spoilt"
    assert index()[0]["id"] != "spoilt"


def test_the_index_is_written_from_the_files(tmp_path, monkeypatch):
    from cirrus_env.tickets import index as module

    monkeypatch.setattr(module, "INDEX_FILE", tmp_path / "index.json")
    module._text.cache_clear()
    try:
        module.write_index()
        assert [e["id"] for e in module.index()] == [e["id"] for e in build_index()]
        assert all(not entry["constants"] for entry in module.index())
    finally:
        module._text.cache_clear()
