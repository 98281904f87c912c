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


def customer(customer: str | Customer) -> Customer:
    """The customer of this name; an object that is one is given back.

    Raises:
        OptionError: For an unknown name or an object that is no customer.
    """
    if isinstance(customer, str):
        kind = CUSTOMERS.get(customer)
        if kind is None:
            known = ", ".join(CUSTOMERS)
            raise OptionError(f"there is no customer {customer!r}; known: {known}")
        return kind()
    if isinstance(customer, Customer) and not isinstance(customer, type):
        return customer
    raise OptionError(
        f"customer must be a name or an object with name, begin and react, not {customer!r}"
    )
