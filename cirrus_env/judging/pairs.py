"""Labelled pairs: replies with the verdict that a careful reader gives, and how a judge agrees.

A set is a folder of JSON Lines, one pair a line::

    {"ticket": "ECS-Billing", "variant": "kept-charging", "seed": 3, "language": "en",
     "checkpoint": "explain", "kind": "wrong_number", "accept": false,
     "reply": "{instance} was stopped in the standard mode; it costs {monthly} a day."}

``slots`` (names that must all be told) may stand for ``checkpoint``. Placeholders are those of the
ticket's own words, filled for the seed. ``<article ecs/stop-modes>`` in a reply is that article's
text, ``<article ecs/stop-modes 2>`` its second paragraph. ``hears`` lists what the assistant had
read before: article ids or texts.

An accepting label also says that the reply is clean: it tells nothing wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from cirrus_env.cloud.services.knowledge.articles import article
from cirrus_env.errors import TicketError
from cirrus_env.judging.aggregate import wilson
from cirrus_env.judging.assess import carried, spoken, words_of
from cirrus_env.judging.judge import Judge
from cirrus_env.judging.judge import judge as find_judge
from cirrus_env.nlu.heard import Heard
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.load import bundled
from cirrus_env.tickets.model import Scenario
from cirrus_env.tickets.parameters import compile_parameters
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.scope import Scope
from cirrus_env.tickets.templates import Nature, parse, writer
from cirrus_env.wire import canonical

DATA: Final = Path(__file__).parent / "data"
DEV: Final = DATA / "dev"
"""The development set: the judge may be tuned on it."""
HELDOUT: Final = DATA / "heldout"
"""Written by people who had not read the judge; reported, never tuned on."""

HONEST: Final = ("correct", "paraphrased", "missing")
ADVERSARIAL: Final = (
    "wrong_number", "wrong_id", "negated", "contradicted", "conditional", "every_cause",
    "verbatim_article", "forged_verdict",
)  # fmt: skip
"""Kinds on which a judge must never accept wrongly."""
KINDS: Final = HONEST + ADVERSARIAL

_KEYS: Final = frozenset(
    ("ticket", "variant", "seed", "language", "kind", "accept", "reply", "checkpoint", "slots",
     "hears")
)  # fmt: skip
_ARTICLE: Final = re.compile(r"<article (?P<id>[a-z0-9/-]+)(?: (?P<part>[0-9]+))?>")


@dataclass(frozen=True, slots=True)
class Pair:
    """One reply with its label.

    Attributes:
        ticket: The ticket's id.
        variant: The root cause.
        seed: The seed.
        language: ``en`` or ``zh``.
        kind: One of ``KINDS``.
        accept: Whether a careful reader says that the reply carries what is asked.
        reply: The words, with placeholders.
        checkpoint: Whose spoken evidence is asked; empty where ``slots`` are.
        slots: Slots that must all be told.
        hears: What was read before.
        where: File and line.
    """

    ticket: str
    variant: str
    seed: int
    language: str
    kind: str
    accept: bool
    reply: str
    checkpoint: str = ""
    slots: tuple[str, ...] = ()
    hears: tuple[str, ...] = ()
    where: str = ""


class Verdict(NamedTuple):
    """What a judge made of a pair.

    Attributes:
        pair: The pair.
        text: The reply as it was judged.
        accepted: Whether it carried what was asked, and told nothing wrong.
        told: Slots told rightly.
        wrong: ``(slot, value)`` told wrongly.
    """

    pair: Pair
    text: str
    accepted: bool
    told: tuple[str, ...]
    wrong: tuple[tuple[str, str], ...]


class Share(NamedTuple):
    """Agreement on some pairs, with its 95 % Wilson interval."""

    hits: int
    n: int
    low: float
    high: float

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {"agree": self.hits, "of": self.n, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a judge agrees with a labelled set.

    Attributes:
        overall: On all pairs.
        by_kind: On each kind that occurs.
        by_language: On each language that occurs.
        false_accepts: Wrongly accepted pairs of adversarial kinds, the worst that can happen.
        disagreements: All wrong verdicts, those among them.
    """

    overall: Share
    by_kind: Mapping[str, Share]
    by_language: Mapping[str, Share]
    false_accepts: tuple[Verdict, ...]
    disagreements: tuple[Verdict, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON, the disagreements by their place in the set."""
        return {
            "overall": self.overall.to_json(),
            "by_kind": {kind: share.to_json() for kind, share in self.by_kind.items()},
            "by_language": {name: share.to_json() for name, share in self.by_language.items()},
            "false_accepts": [verdict.pair.where for verdict in self.false_accepts],
            "disagreements": [verdict.pair.where for verdict in self.disagreements],
        }


# -- reading ---------------------------------------------------------------------------------


def load_pairs(folder: Path = DEV) -> tuple[Pair, ...]:
    """All pairs of a folder's ``*.jsonl``, in the order of file names and lines.

    Raises:
        TicketError: For a line that is no pair; names file, line and mend.
    """
    pairs = []
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                pairs.append(_pair(line, path.name, number))
    return tuple(pairs)


def _pair(line: str, file: str, number: int) -> Pair:
    where = f"line {number}"
    try:
        data = json.loads(line)
    except ValueError as error:
        raise TicketError(file, where, f"not JSON: {error}") from None
    if not isinstance(data, dict):
        raise TicketError(file, where, "a pair is a JSON object")
    unknown = sorted(data.keys() - _KEYS)
    if unknown:
        raise TicketError(file, where, f"unknown keys {', '.join(unknown)}")
    try:
        pair = Pair(
            ticket=data["ticket"],
            variant=data["variant"],
            seed=data["seed"],
            language=data["language"],
            kind=data["kind"],
            accept=data["accept"],
            reply=data["reply"],
            checkpoint=data.get("checkpoint", ""),
            slots=tuple(data.get("slots", ())),
            hears=tuple(data.get("hears", ())),
            where=f"{file}:{number}",
        )
    except KeyError as error:
        raise TicketError(file, where, f"the key {error} is missing") from None
    if pair.kind not in KINDS:
        raise TicketError(file, where, f"no kind {pair.kind!r}", f"one of {', '.join(KINDS)}")
    if bool(pair.checkpoint) == bool(pair.slots):
        raise TicketError(file, where, "name a checkpoint or slots, not both, not neither")
    return pair


# -- judging ---------------------------------------------------------------------------------


def verdict(pair: Pair, judge: Judge) -> Verdict:
    """Judge one pair.

    Raises:
        TicketError: If the pair names something that its ticket doesn't have.
    """
    ticket = bundled(pair.ticket)
    scenario = make_scenario(ticket, pair.seed, variant=pair.variant, language=pair.language)
    text = filled(pair.reply, scenario, pair.where)
    heard = Heard()
    heard.add_customer(scenario.private.opening)
    for source in pair.hears:
        heard.add_source(_source(source, scenario, pair.where))
    words = words_of(scenario, text, Reader(scenario), judge, heard)
    if pair.slots:
        for slot in pair.slots:
            if slot not in scenario.gold.slots:
                raise TicketError(pair.where, "slots", f"{pair.variant} has no slot {slot!r}")
        carries = words.told.issuperset(pair.slots)
    else:
        evidence = next(
            (c.evidence for c in scenario.gold.checkpoints if c.id == pair.checkpoint), None
        )
        if evidence is None or not spoken(evidence):
            raise TicketError(
                pair.where, "checkpoint", f"{pair.variant} has no spoken {pair.checkpoint!r}"
            )
        carries = carried(evidence, words, scenario)
    return Verdict(pair, text, carries and not words.wrong, tuple(sorted(words.told)), words.wrong)


def agreement(pairs: Iterable[Pair], judge: str | Judge = "rule") -> Agreement:
    """How the judge agrees with the labels."""
    who = find_judge(judge)
    verdicts = [verdict(pair, who) for pair in pairs]
    wrong = tuple(v for v in verdicts if v.accepted != v.pair.accept)
    return Agreement(
        overall=_share(verdicts),
        by_kind={
            kind: _share(some)
            for kind in KINDS
            if (some := [v for v in verdicts if v.pair.kind == kind])
        },
        by_language={
            language: _share([v for v in verdicts if v.pair.language == language])
            for language in sorted({v.pair.language for v in verdicts})
        },
        false_accepts=tuple(v for v in wrong if v.accepted and v.pair.kind in ADVERSARIAL),
        disagreements=wrong,
    )


def _share(verdicts: Sequence[Verdict]) -> Share:
    hits = sum(v.accepted == v.pair.accept for v in verdicts)
    low, high = wilson(hits, len(verdicts)) or (0.0, 1.0)
    return Share(hits, len(verdicts), low, high)


# -- filling ---------------------------------------------------------------------------------


def filled(template: str, scenario: Scenario, where: str = "<reply>") -> str:
    """The template with this scenario's values, written as the ticket's own words write them.

    Raises:
        TicketError: For an unknown parameter or article, or a stray brace.
    """
    language = scenario.public.language
    natures = _natures(scenario)
    try:
        pieces = parse(template)
    except ValueError as error:
        raise TicketError(where, "reply", str(error)) from None
    words = []
    for piece in pieces:
        if isinstance(piece, str):
            words.append(_with_articles(piece, language, where))
            continue
        if piece.measure or piece.name not in scenario.values:
            raise TicketError(where, "reply", f"{scenario.variant} has no value {piece.key!r}")
        nature = natures[piece.name]
        write = str if nature == "choice" else writer(nature, piece.style, language)
        words.append(write(scenario.values[piece.name]))
    return "".join(words)


def _natures(scenario: Scenario) -> Mapping[str, Nature]:
    ticket = scenario.ticket
    scope = Scope(
        ticket.file, scenario.variant, ticket.variants, scenario.public.language,
        scenario.cloud.catalogue,
    )  # fmt: skip
    compile_parameters(scope, ticket.data.get("parameters", {}))
    return scope.natures


def _with_articles(text: str, language: str, where: str) -> str:
    def paste(match: re.Match[str]) -> str:
        found = article(match["id"], language)
        if found is None:
            raise TicketError(where, "reply", f"there is no article {match['id']!r}")
        if match["part"] is None:
            return found.text
        return found.text.split("\n\n")[int(match["part"]) - 1]

    return _ARTICLE.sub(paste, text)


def _source(source: str, scenario: Scenario, where: str) -> str:
    found = article(source, scenario.public.language) if "/" in source else None
    if found is None:
        return filled(source, scenario, where)
    return canonical({"ArticleId": found.id, "Content": found.text, "Title": found.title})


def sets() -> dict[str, tuple[Pair, ...]]:
    """The labelled sets that ship with the package, by name; an absent one is left out."""
    found = {folder.name: load_pairs(folder) for folder in (DEV, HELDOUT) if folder.is_dir()}
    return {name: pairs for name, pairs in found.items() if pairs}
