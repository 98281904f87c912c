"""No trivial agent succeeds on any imported ticket (law R8), and no prompt holds a secret."""

import json
import shutil

import pytest
from adapter_cases import HERE, SHARED, episode
from test_openai_chat import EMPTY, LEGACY, ORDER, WORDS
from test_taubench import TRAJECTORIES
from test_tooltalk import CHAT, DATABASES, DAY, LAMP, OUT

from cirrus_env.adapters.cirrusbench import import_cirrusbench
from cirrus_env.adapters.openai_chat import import_openai
from cirrus_env.adapters.taubench import import_taubench
from cirrus_env.adapters.tooltalk import import_tooltalk
from cirrus_env.baselines.registry import ATTACKS
from cirrus_env.runner.audit.agents import changed_oracles, oracle_succeeds
from cirrus_env.runner.audit.case import Case, play_case
from cirrus_env.tickets.load import load_ticket


def tooltalk(folder):
    (folder / "databases").mkdir()
    for value in (LAMP, CHAT, DAY, OUT):
        (folder / f"{value['name']}.json").write_text(json.dumps(value))
    for name, value in DATABASES.items():
        (folder / "databases" / f"{name}.json").write_text(json.dumps(value))
    return import_tooltalk


def openai(folder):
    lines = [json.dumps(record) for record in (ORDER, WORDS, EMPTY, LEGACY)]
    (folder / "chat.jsonl").write_text("\n".join(lines))
    return import_openai


def taubench(folder):
    (folder / "runs.json").write_text(json.dumps(TRAJECTORIES))
    return import_taubench


def cirrusbench(folder):
    shutil.copytree(HERE / "cirrusbench", folder, dirs_exist_ok=True)
    return import_cirrusbench


def public(name, importer):
    def copy(folder):
        if not (SHARED / name).is_dir():
            pytest.skip("the public samples are not here")
        shutil.copytree(SHARED / name, folder, dirs_exist_ok=True)
        return importer

    copy.__name__ = f"public_{importer.__name__}"
    return copy


SOURCES = (
    tooltalk, openai, taubench, cirrusbench,
    public("tooltalk", import_tooltalk), public("tau-bench", import_taubench),
)  # fmt: skip


@pytest.fixture(scope="module", params=SOURCES, ids=lambda prepare: prepare.__name__)
def written(request, tmp_path_factory):
    """The entries of one source's tickets."""
    folder = tmp_path_factory.mktemp("source")
    importer = request.param(folder)
    facts = importer(folder, tmp_path_factory.mktemp("out")).to_json()
    assert facts["failed"] == 0
    return facts["files"]


def cases(written):
    for entry in written:
        ticket = load_ticket(episode(entry).ticket.text)
        yield Case(ticket, "recorded", ticket.languages[0], 0)


def test_no_trivial_agent_succeeds(written):
    for case in cases(written):
        for name, make in ATTACKS.items():
            played = play_case(case, make, name)
            assert not played.success, f"{name} on {case.label}"
            assert not played.error, f"{name} on {case.label}: {played.error}"
            assert played.returned <= 0.05, f"{name} on {case.label}"


def test_the_oracle_succeeds_and_no_part_of_it_can_be_left_out(written):
    for case in cases(written):
        assert list(oracle_succeeds(case)) == []
        assert list(changed_oracles(case)) == []


def test_no_prompt_holds_a_password_or_a_token(written):
    for entry in written:
        running = episode(entry)
        text = json.dumps([running.messages[0], running.tools])
        for secret in ("secret", "justforkicks", "ooZ0ahKae", "98a5a87a-7714-b404", "chaew5Oeth"):
            assert secret not in text
