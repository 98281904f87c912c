"""The package as a newcomer meets it: its metadata, its laws that tools check, its README."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest

import cirrus_env

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "cirrus_env"
MODULES = sorted(PACKAGE.rglob("*.py"))
README = (ROOT / "README.md").read_text()

TEST_COMMAND = 'python -m pip install -e ".[test]" && python -m pytest'
COMPARE_COMMAND = "python -m pip install . && cirrus-env compare"


def test_one_version():
    assert version("cirrus-env") == cirrus_env.__version__


def test_types_are_shipped_and_the_licence_stands():
    assert (PACKAGE / "py.typed").exists()
    assert "Apache License" in (ROOT / "LICENSE").read_text()


def test_the_core_stays_light():
    core = {
        re.split(r"[<>=!~; ]", line)[0] for line in requires("cirrus-env") if "extra" not in line
    }
    assert core == {
        "gymnasium", "pettingzoo", "numpy", "jsonschema", "jsonschema-rs", "openai", "orjson",
        "rank-bm25", "rich", "click", "tomli-w",
    }  # fmt: skip


def test_the_readme_gives_the_two_commands():
    lines = README.splitlines()
    assert lines.count(TEST_COMMAND) == 1
    assert lines.count(COMPARE_COMMAND) == 1


def examples() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(len(examples())))
def test_the_readmes_examples_run(number, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(examples()[number], f"README example {number}", "exec"), {"__name__": "example"})
    capsys.readouterr()


def test_the_readme_has_an_example_of_about_ten_lines():
    assert 8 <= len(examples()[0].splitlines()) <= 13


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_check_is_an_assert(path):
    tree = ast.parse(path.read_text())
    found = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    assert not found, "python -O removes it"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_changes_its_own_global_state(path):
    tree = ast.parse(path.read_text())
    found = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Global)]
    assert not found


def test_every_lint_exemption_has_a_reason():
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    start = lines.index("[tool.ruff.lint.per-file-ignores]")
    rules = [line for line in lines[start + 1 : lines.index("[tool.mypy]")] if '"' in line]
    inside = [line for line in rules if not line.endswith("[")]
    assert inside
    assert all("#" in line for line in inside)


def test_importing_loads_nothing_that_is_slow_or_optional():
    code = (
        "import sys, cirrus_env\n"
        "slow = {'jsonschema', 'rank_bm25', 'rich', 'openai', 'click', 'tomllib', 'pettingzoo'}\n"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_layers_name_every_room():
    with (ROOT / "pyproject.toml").open("rb") as file:
        (layers, *_) = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    named = {room.strip() for layer in layers["layers"] for room in layer.split("|")}
    rooms = {p.name for p in PACKAGE.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert rooms <= named
