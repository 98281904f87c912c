"""What a newcomer without an extra is told, whichever module is asked for first."""

from __future__ import annotations

import importlib
import importlib.util

import pytest

from cirrus_env.adapters.extras import MissingExtra

MODULES = [
    ("cirrus_env.adapters.openenv", "openenv", "openenv"),
    ("cirrus_env.adapters.openenv.client", "openenv", "openenv"),
    ("cirrus_env.adapters.openenv.server", "openenv", "openenv"),
    ("cirrus_env.adapters.verifiers", "verifiers", "verifiers"),
    ("cirrus_env_vf", "verifiers", "verifiers"),
    ("cirrus_env.adapters.skyrl", "skyrl_gym", "skyrl"),
    ("cirrus_env.adapters.tinker", "tinker_cookbook", "tinker"),
    ("cirrus_env.adapters.verl", "verl", "verl"),
]


@pytest.mark.parametrize(("module", "package", "extra"), MODULES)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(module, package, extra):
    if importlib.util.find_spec(package) is not None:
        pytest.skip(f"{package} is installed here")
    with pytest.raises(MissingExtra) as caught:
        importlib.import_module(module)
    assert str(caught.value) == f'{package} is missing: pip install "cirrus-env[{extra}]"'
