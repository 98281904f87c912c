"""What an endpoint may be told."""

import pickle
from dataclasses import FrozenInstanceError

import pytest

from cirrus_env.endpoints.settings import Endpoint, endpoint
from cirrus_env.errors import OptionError

pytestmark = pytest.mark.usefixtures("canary")


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": ""}, {"model": 3}, {"model": "\ud800"}, {"model": "a\x1b[2J"},
        {"key_env": " "}, {"key_env": None}, {"key_env": "sk-secret"},
        {"base_url": "http://a b/v1"}, {"base_url": "http://a/v1\n"},
        {"base_url": "http://a:99999/v1"}, {"base_url": "http://@a/v1"},
        {"base_url": "models.example.com"}, {"base_url": "ftp://a/v1"}, {"base_url": 3},
        {"base_url": "http://[::1/v1"}, {"base_url": "https://me:secret@example.com/v1"},
        {"temperature": -1}, {"temperature": True}, {"temperature": float("nan")},
        {"top_p": 1.5}, {"max_tokens": 0}, {"max_tokens": 1.5}, {"seed": -1}, {"timeout": 0},
        {"timeout": None}, {"retries": -1}, {"backoff": 31}, {"concurrency": 0},
        {"max_calls": 0}, {"max_total_tokens": "many"}, {"extra": {"a": object()}},
        {"extra": {"a": "\ud800"}}, {"extra": 3}, {"extra": {"stream": True}},
        {"extra": {"messages": []}}, {"extra": {"temperature": 0}},
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
        "model": "m", "temperature": 0.0, "base_url": "https://models.example.com:8443/v1",
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


def test_a_setting_is_frozen_hashable_and_shown_without_values_of_further_fields():
    made = Endpoint("m", "http://a/v1?key=secret", max_tokens=5, extra={"b": "secret", "a": 1})
    assert repr(made) == "Endpoint('m', base_url='http://a/v1', max_tokens=5, extra=['a', 'b'])"
    assert repr(Endpoint("m")) == "Endpoint('m')"
    again = pickle.loads(pickle.dumps(made))
    assert (again, hash(again)) == (made, hash(made))
    with pytest.raises(FrozenInstanceError):
        made.model = "other"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"])
def test_a_server_on_this_machine_needs_no_key(host, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    assert Endpoint("m", f"http://{host}:8000/v1").key() == "none"


@pytest.mark.parametrize("host", ["10.0.0.1", "localhost.example.com", "[2001:db8::1]"])
def test_one_on_another_needs_one(host, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(OptionError, match="set the environment variable OPENAI_API_KEY"):
        Endpoint("m", f"http://{host}:8000/v1").key()
