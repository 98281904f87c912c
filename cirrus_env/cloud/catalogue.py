"""A set of services, merged into the tables that the kernel reads."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any

from cirrus_env.cloud.arguments import ArgumentSchema
from cirrus_env.cloud.model import Handler, Link, Measure, Operation, Rates, Resource, Service
from cirrus_env.errors import InvariantError

SERVICES = {
    "account": "cirrus_env.cloud.services.account",
    "knowledge": "cirrus_env.cloud.services.knowledge",
    "ecs": "cirrus_env.cloud.services.ecs",
    "disk": "cirrus_env.cloud.services.disk",
    "image": "cirrus_env.cloud.services.image",
    "vpc": "cirrus_env.cloud.services.vpc",
    "network": "cirrus_env.cloud.services.network",
    "nat": "cirrus_env.cloud.services.nat",
    "billing": "cirrus_env.cloud.services.billing",
    "invoice": "cirrus_env.cloud.services.invoice",
}
"""Service name -> its package, which holds ``SERVICE``. One line a service."""

GENERAL = ("account", "knowledge")
"""Services that every ticket with tools offers."""


class Catalogue:
    """The operations, kinds, lifecycles, rates, measures, handlers and links of some services.

    Pickles and copies as the list of names.
    """

    def __init__(self, services: Iterable[Service]) -> None:
        self.names: tuple[str, ...] = ()
        self.operations: dict[str, Operation] = {}
        self.service_of: dict[str, str] = {}
        self.kinds: dict[str, type[Resource]] = {}
        self.lifecycle: dict[str, frozenset[tuple[str, str]]] = {}
        self.rates: dict[str, Rates] = {}
        self.measures: dict[str, Measure] = {}
        self.handlers: dict[str, tuple[Handler, ...]] = {}
        self.links: dict[str, Link] = {}
        self._schemas: dict[str, ArgumentSchema] = {}
        for service in services:
            self._add(service)

    def _add(self, service: Service) -> None:
        self.names = (*self.names, service.name)
        for operation in service.operations:
            if operation.name in self.operations:
                raise InvariantError(f"two services offer {operation.name}")
            self.operations[operation.name] = operation
            self.service_of[operation.name] = service.name
        self.kinds.update({kind.kind: kind for kind in service.kinds})
        self.lifecycle.update(service.lifecycle)
        self.rates.update(service.rates)
        self.measures.update(service.measures)
        self.links.update(service.links)
        for event, handler in service.handlers.items():
            self.handlers[event] = (*self.handlers.get(event, ()), handler)

    def schema(self, operation: str) -> ArgumentSchema:
        """The operation's argument schema, compiled on first use."""
        schema = self._schemas.get(operation)
        if schema is None:
            schema = self._schemas[operation] = ArgumentSchema(
                self.operations[operation].parameters
            )
        return schema

    def __reduce__(self) -> tuple[Any, ...]:
        return catalogue, (self.names,)

    def __deepcopy__(self, memo: object) -> Catalogue:
        return self


class Widened(Catalogue):
    """The catalogue of some services, and single operations of others on offer beside theirs.

    The others' operations and records work, but they don't answer to events: a world in which none
    of them is called stays what it is.

    Attributes:
        names: The services in scope, without the others.
        extra: The other services' operations.
    """

    def __init__(self, names: tuple[str, ...], extra: tuple[str, ...]) -> None:
        super().__init__(())
        mine, every = catalogue(names), catalogue(tuple(SERVICES))
        self.names, self.extra = mine.names, extra
        # in the order of the services, so that a tool's place doesn't tell what it is there for
        self.operations = {
            name: operation
            for name, operation in every.operations.items()
            if name in mine.operations or name in extra
        }
        self.service_of = {name: every.service_of[name] for name in self.operations}
        self.kinds, self.lifecycle, self.links = every.kinds, every.lifecycle, every.links
        self.rates, self.measures = every.rates, every.measures
        self.handlers = mine.handlers

    def schema(self, operation: str) -> ArgumentSchema:
        """The operation's argument schema, compiled once for all catalogues."""
        return catalogue(tuple(SERVICES)).schema(operation)

    def __reduce__(self) -> tuple[Any, ...]:
        return widened, (self.names, self.extra)


@lru_cache(maxsize=64)
def widened(names: tuple[str, ...], extra: tuple[str, ...]) -> Widened:
    """The catalogue of these services with single operations of others."""
    return Widened(names, extra)


@lru_cache(maxsize=64)
def catalogue(names: tuple[str, ...]) -> Catalogue:
    """The catalogue of these services, in the order of ``SERVICES``."""
    ordered = [name for name in SERVICES if name in names]
    return Catalogue(import_module(SERVICES[name]).SERVICE for name in ordered)
