"""Customers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from cirrus_env.customers.handover import HandoverCustomer
from cirrus_env.customers.protocol import Customer
from cirrus_env.customers.replay import ReplayCustomer
from cirrus_env.customers.simulated import SimulatedCustomer
from cirrus_env.errors import OptionError

CUSTOMERS: Final[Mapping[str, Callable[[], Customer]]] = MappingProxyType(
    {
        "simulated": SimulatedCustomer,
        "replay": ReplayCustomer,
        "replay+simulated": HandoverCustomer,
    }
)
"""Name -> class. One line a customer."""

MODEL: Final = "model"
"""``model:NAME`` and ``model:NAME@URL`` name a customer whose words a model finds."""


def customer(customer: str | Customer) -> Customer:
    """The customer of this name; an object that is one is given back.

    Raises:
        OptionError: For an unknown name or an object that is no customer.
    """
    if isinstance(customer, str):
        head, colon, spec = customer.partition(":")
        if head == MODEL and colon:
            return model_customer(spec)
        kind = CUSTOMERS.get(customer)
        if kind is None:
            known = ", ".join((*CUSTOMERS, f"{MODEL}:NAME"))
            raise OptionError(f"there is no customer {customer!r}; known: {known}")
        return kind()
    if isinstance(customer, Customer) and not isinstance(customer, type):
        return customer
    raise OptionError(
        f"customer must be a name or an object with name, begin and react, not {customer!r}"
    )


def model_customer(spec: str) -> Customer:
    """The customer whose words the model of a short endpoint (``NAME`` or ``NAME@URL``) finds.

    Raises:
        OptionError: If that is no endpoint, or its key isn't set.
    """
    from cirrus_env.customers.model import ModelCustomer  # few need it, and its client is large
    from cirrus_env.endpoints.client import ChatClient
    from cirrus_env.endpoints.settings import endpoint

    found = endpoint(spec)
    found.key()  # a missing one is told now, not by every episode
    return ModelCustomer(ChatClient(found), f"{MODEL}:{found.model}")
