"""The trivial agents of RELIABILITY law R8: none may ever succeed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cirrus_env.baselines.gold_attacks import (
    AskEverything,
    BlanketConsent,
    EveryCause,
    OneCauseATurn,
)
from cirrus_env.baselines.pasters import (
    EchoLastResult,
    EveryFact,
    PasteArticle,
    PasteResults,
    PasteSchemas,
)
from cirrus_env.baselines.scripted import Scripted
from cirrus_env.baselines.sweeps import EmptyArguments, EveryToolEveryId, ReadOnlySweep
from cirrus_env.baselines.talkers import (
    AlwaysRefuse,
    Apologise,
    DoNothing,
    ForgeVerdict,
    InstantClose,
    InstantEscalate,
    ItIsResolved,
    Parrot,
    PasteTicket,
    SaySolved,
)

_HONEST: Final[tuple[type[Scripted], ...]] = (
    DoNothing, InstantClose, InstantEscalate, AlwaysRefuse, Apologise, ItIsResolved, SaySolved,
    Parrot, PasteTicket, ForgeVerdict, EchoLastResult, PasteResults, PasteArticle, EveryFact,
    PasteSchemas, EmptyArguments, EveryToolEveryId, ReadOnlySweep,
)  # fmt: skip

_WITH_GOLD: Final[tuple[type[Scripted], ...]] = (
    EveryCause, OneCauseATurn, AskEverything, BlanketConsent,
)  # fmt: skip

WITHOUT_GOLD: Final[Mapping[str, type[Scripted]]] = MappingProxyType(
    {kind.name: kind for kind in _HONEST}
)
"""Those that see observations alone; made with a source they end as the scenario should."""

TRIVIAL: Final[Mapping[str, type[Scripted]]] = MappingProxyType(
    {kind.name: kind for kind in (*_HONEST, *_WITH_GOLD)}
)
"""Name -> class, to be made with the episode; the oracle's wrong modes are in ``plans``."""
