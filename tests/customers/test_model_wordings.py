"""What a model may write for a customer, and what of it is said."""

from contextlib import closing

import pytest
from chat_server import ChatServer, completion

from cirrus_env.customers.model import ModelCustomer
from cirrus_env.endpoints.client import ChatClient
from cirrus_env.endpoints.settings import Endpoint
from cirrus_env.engine.episode import TicketEpisode

pytestmark = pytest.mark.usefixtures("canary")

GOOD = "Off for 5 days and it still costs money, why?"


def opening(*answers):
    """The customer's first words, and the messages of the model's last request."""
    with ChatServer([completion(answer) for answer in answers]) as server:
        client = ChatClient(Endpoint("m", server.base_url))
        with closing(client):
            made = TicketEpisode("ECS-Billing", customer=ModelCustomer(client))
            made.reset(seed=3)
    return made.messages[1]["content"], server.requests[-1]["messages"]


@pytest.mark.parametrize(
    "written",
    [
        "<think>I am to say 5 days, not 7.</think>" + GOOD,
        "<think>\nFirst</think>\n<think>then</think>\n\n" + GOOD,
        "I am to keep the 5.\n</think>\n" + GOOD,
        "<thinking>5</thinking>" + GOOD,
        "[THINK]5[/THINK]" + GOOD,
    ],
)
def test_what_a_model_thinks_aloud_is_not_said(written):
    said, messages = opening(written)
    assert said == GOOD
    assert len(messages) == 2  # asked once


def test_thoughts_that_never_end_are_no_words():
    said, messages = opening("<think>Off for 5 days, I should say that", GOOD)
    assert said == GOOD
    assert messages[-2:] == [
        {"role": "assistant", "content": ""},
        {
            "role": "user",
            "content": "That changed the message: there are no words. Write it again, from what the"
            " customer wants to say.",
        },
    ]


@pytest.mark.parametrize(
    "written",
    [
        '```json\n{"message": "Off for 5 days."}\n```',
        '{"message": "Off for 5 days."}',
        "Off for 5 days.\x1b[2J",
        "Off for 5\x00 days.",
    ],
)
def test_what_nobody_writes_in_a_chat_is_asked_for_again(written):
    said, messages = opening(written, GOOD)
    assert said == GOOD
    assert "it is no chat message" in messages[-1]["content"]


def test_two_lines_are_a_chat_message():
    said, messages = opening("Off for 5 days.\r\nStill {charged}, why?")
    assert said == "Off for 5 days.\r\nStill {charged}, why?"
    assert len(messages) == 2
