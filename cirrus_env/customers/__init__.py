"""Who plays the customer."""

from cirrus_env.customers.protocol import Customer, Reaction, View
from cirrus_env.customers.registry import CUSTOMERS, customer

__all__ = ["CUSTOMERS", "Customer", "Reaction", "View", "customer"]
