"""What travels between rooms: messages, actions, acts, events, records; canonical JSON."""

from cirrus_env.wire.actions import (
    ASSISTANT,
    ASSISTANT_KINDS,
    CUSTOMER,
    CUSTOMER_KINDS,
    SEATS,
    AssistantAction,
    CustomerAction,
    ToolCall,
)
from cirrus_env.wire.jsontext import (
    canonical,
    canonical_result,
    digest,
    encodes,
    strict_loads,
)
from cirrus_env.wire.messages import Message
from cirrus_env.wire.records import Act, Event, Record

__all__ = [
    "ASSISTANT",
    "ASSISTANT_KINDS",
    "CUSTOMER",
    "CUSTOMER_KINDS",
    "SEATS",
    "Act",
    "AssistantAction",
    "CustomerAction",
    "Event",
    "Message",
    "Record",
    "ToolCall",
    "canonical",
    "canonical_result",
    "digest",
    "encodes",
    "strict_loads",
]
