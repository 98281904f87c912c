"""Trivial agents that paste what tools, articles and schemas say (RELIABILITY law R8)."""

from __future__ import annotations

import json
from typing import Any, Final

from cirrus_env.baselines import reading
from cirrus_env.baselines.policy import Observation
from cirrus_env.baselines.scripted import Script, Scripted, reply
from cirrus_env.baselines.sweeps import READS, read_only, sweep

_LONGEST: Final = 15_000


class EchoLastResult(Scripted):
    """Sends the last tool result, after each read that needs no arguments."""

    name = "echo-last-result"

    def play(self, observation: Observation) -> Script:
        """A read, its echo, the next read."""
        for name, arguments in read_only(observation)[:8]:
            observation = yield reading.call(name, arguments)
            observation = yield reply(_cut(reading.results(observation)[-1]))

    def last_words(self, observation: Observation) -> str:
        """The last result once more."""
        found = reading.results(observation)
        return _cut(found[-1]) if found else super().last_words(observation)


class PasteResults(Scripted):
    """Reads all that it can, then pastes every result in one reply."""

    name = "paste-results"

    def play(self, observation: Observation) -> Script:
        """The reads, then the paste."""
        observation = yield from sweep(observation, READS)
        yield reply(self.last_words(observation))

    def last_words(self, observation: Observation) -> str:
        """Every result."""
        found = reading.results(observation)
        return _cut("\n".join(found)) if found else super().last_words(observation)


class PasteArticle(Scripted):
    """Searches with the customer's words and pastes the nearest article."""

    name = "paste-article"
    articles = 1

    def play(self, observation: Observation) -> Script:
        """Search, read, paste."""
        if "SearchKnowledge" in {tool.name for tool in reading.tools(observation)}:
            words = reading.customer_words(observation)[0][:500]
            found: dict[str, None] = {}
            for query in (words, *_QUERIES)[: self.articles]:
                observation = yield reading.call(
                    "SearchKnowledge", {"Query": query, "MaxResults": 10}
                )
                found.update(dict.fromkeys(_article_ids(observation)))
            for article in list(found)[: self.articles]:
                observation = yield reading.call("GetArticle", {"ArticleId": article})
        yield reply(self.last_words(observation))

    def last_words(self, observation: Observation) -> str:
        """The articles' texts."""
        texts = [_content(result) for result in reading.results(observation)]
        pasted = "\n".join(text for text in texts if text)
        return _cut(pasted) if pasted else super().last_words(observation)


class EveryFact(PasteArticle):
    """Says every fact of the knowledge base that it can find, in one reply."""

    name = "every-fact"
    articles = 24


class PasteSchemas(Scripted):
    """Pastes the tool schemas."""

    name = "paste-schemas"

    def play(self, observation: Observation) -> Script:
        """Once as a reply."""
        yield reply(self.last_words(observation))

    def last_words(self, observation: Observation) -> str:
        """The schemas."""
        return _cut(observation["tools"])


_QUERIES: Final = (
    "billing charge stopped", "subscription renewal expire release", "refund unsubscribe",
    "arrears lock security", "disk snapshot address", "停机 计费", "续费 到期 释放", "退款 退订",
    "欠费 锁定 安全", "云盘 快照 公网",
)  # fmt: skip


def _article_ids(observation: Observation) -> list[str]:
    found = _json(reading.results(observation)[-1]).get("Articles", [])
    return [str(entry["ArticleId"]) for entry in found]


def _content(result: str) -> str:
    return str(_json(result).get("Content", ""))


def _json(text: str) -> dict[str, Any]:
    data = json.loads(text)
    return data if isinstance(data, dict) else {}


def _cut(text: str) -> str:
    return text[:_LONGEST]
