"""The error tree survives what happens to errors."""

from __future__ import annotations

import pickle

import pytest

from cirrus_env import errors
from cirrus_env.errors import CirrusError, CloudError, TicketError, UnknownTicket


def test_every_error_is_in_the_one_tree_and_in_its_drawing():
    found = [
        value for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, Exception)
    ]  # fmt: skip
    assert all(issubclass(error, CirrusError) for error in found)
    assert errors.__doc__ is not None
    assert all(error.__name__ in errors.__doc__ for error in found)


@pytest.mark.parametrize(
    "error",
    [
        CloudError("Code", "words", 403),
        TicketError("a.toml", "x[1]", "is wrong", "mend it"),
        UnknownTicket("ECS-Biling", ["ECS-Billing", "ECS-Building", "Other"]),
        errors.MalformedText("x"),
        errors.InvariantError("x"),
    ],
)
def test_an_error_survives_pickling(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_near_names_are_suggested():
    error = UnknownTicket("ECS-Biling", ["ECS-Billing", "Billing-Refund"])
    assert "did you mean ECS-Billing" in str(error)
    assert "did you mean" not in str(UnknownTicket("zzz", ["ECS-Billing"]))
    assert str(TicketError("f", "p", "q")) == "f: p: q"
