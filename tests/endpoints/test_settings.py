"""What an endpoint may be told."""

import pickle

import pytest

from cirrus_env.endpoints.settings import Endpoint, endpoint
from cirrus_env.errors import OptionError

pytestmark = pytest.mark.usefixtures("canary")


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": ""}, {"model": 3}, {"model": "\ud800"}, {"key_env": " "},
        {"base_url": "models.example.com"}, {"base_url": "ftp://a/v1"}, {"base_url": 3},
        {"base_url": "http://[::1/v1"}, {"base_url": "https://me:secret@example.com/v1"},
        {"temperature": -1}, {"temperature": True}, {"temperature": float("nan")},
        {"top_p": 1.5}, {"max_tokens": 0}, {"max_tokens": 1.5}, {"seed": -1}, {"timeout": 0},
        {"timeout": None}, {"retries": -1}, {"backoff": 31}, {"concurrency": 0},
        {"max_calls": 0}, {"max_total_tokens": "many"}, {"extra": {"a": object()}},
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named(wrong):
    (name,) = wrong
    with pytest.raises(OptionError, match=name) as caught:
        Endpoint(**({"model": "m"} | wrong))
    assert "secret" not in str(caught.value)


def test_what_is_stored_is_an_allow_list(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example.com:8443/v1/?token=secret#x")
    made = Endpoint("m", temperature=0.0, extra={"secret": "secret"})
    assert made.describe() == {
        "model": "m", "temperature": 0.0, "base_url": "https://models.example.com:8443/v1/",
    }  # fmt: skip


def test_the_address(monkeypatch):
    assert Endpoint("m").address == "https://api.openai.com/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    assert Endpoint("m").address == "http://localhost:1/v1"
    assert Endpoint("m", "https://a.example/v1").address == "https://a.example/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "nonsense")
    with pytest.raises(OptionError, match="base_url is no http"):
        Endpoint("m").key()


def test_the_key_may_have_another_name(monkeypatch):
    monkeypatch.setenv("MY_KEY", "k")
    assert Endpoint("m", key_env="MY_KEY").key() == "k"


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("gpt-x", Endpoint("gpt-x")),
        ("qwen@http://host:8000/v1", Endpoint("qwen", "http://host:8000/v1")),
        ("org/model@v2", Endpoint("org/model@v2")),
        ("a@b@https://host/v1", Endpoint("a@b", "https://host/v1")),
    ],
)
def test_an_endpoint_in_short(spec, wanted):
    assert endpoint(spec) == wanted
    assert pickle.loads(pickle.dumps(wanted)) == wanted


@pytest.mark.parametrize(
    "spec", ["", "@http://host/v1", "m@http://", "m@http://host/v1?key=secret"]
)
def test_a_short_form_that_says_nothing(spec):
    with pytest.raises(OptionError):
        endpoint(spec)
