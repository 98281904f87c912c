"""Lets Minari store ``FreeText`` spaces, where Minari is used.

A stored space reads as a plain ``Text`` in a process that doesn't know this package.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from cirrus_env.envs.on_import import when_imported

_SERIALISER: Final = "minari.serialization"
_MARK: Final = "free_text"


def register_when_imported() -> None:
    """Teach Minari's serialiser now if Minari is there, else as soon as it is imported."""
    when_imported(_SERIALISER, register)


def register() -> None:
    """Teach Minari's serialiser; harmless when repeated."""
    from cirrus_env.envs.freetext import FreeText  # `import cirrus_env` stays lean

    module = sys.modules[_SERIALISER]
    if FreeText in module.serialize_space.registry:
        return
    plain_text = module.deserialize_space.registry["Text"]

    def write(space: FreeText, to_string: bool = True) -> Any:
        data = {
            "type": "Text",
            "min_length": space.min_length,
            "max_length": space.max_length,
            "charset": "".join(space.character_list),
            _MARK: space.shared_bytes,
        }
        return json.dumps(data) if to_string else data

    def read(data: dict[str, Any]) -> Any:
        if _MARK not in data:
            return plain_text(data)
        return FreeText(
            data["max_length"],
            min_length=data["min_length"],
            charset=data["charset"],
            shared_bytes=data[_MARK],
        )

    module.serialize_space.register(FreeText)(write)
    module.deserialize_space.registry["Text"] = read
