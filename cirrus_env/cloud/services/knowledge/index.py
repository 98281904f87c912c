"""Searching a scope by BM25: words of Latin text, pairs of characters of Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from cirrus_env.cloud.services.knowledge.articles import Article, article

_RUN = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*|[\u3400-\u9fff]+")
_TITLE_WEIGHT = 3


def tokens(text: str) -> list[str]:
    """The search terms of a text."""
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[str]:
    for run in _RUN.findall(text.lower()):
        if run[0] < "\u3400":
            yield _stem(run)
        elif len(run) == 1:
            yield run
        else:
            yield from (run[i : i + 2] for i in range(len(run) - 1))


def _stem(word: str) -> str:
    """The word without the commonest English endings, so that charges finds charge."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if len(word) - len(ending) >= 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word


class Index:
    """An immutable index of some articles.

    Args:
        articles: What it covers, in order of their ids.
    """

    __slots__ = ("_articles", "_bm25", "_terms")

    def __init__(self, articles: tuple[Article, ...]) -> None:
        from rank_bm25 import BM25Plus  # type: ignore[import-untyped]  # on first use: numpy

        self._articles = articles
        documents = [tokens(a.title) * _TITLE_WEIGHT + tokens(a.text) for a in articles]
        self._terms = tuple(frozenset(document) for document in documents)
        self._bm25: Any = BM25Plus(documents) if documents else None

    def search(self, query: str, limit: int) -> list[Article]:
        """The articles that share a term with the query, best first, ties by id."""
        terms = tokens(query)
        if self._bm25 is None or not terms:
            return []
        wanted = frozenset(terms)
        scores = self._bm25.get_scores(terms)
        ranked = sorted(
            (-round(float(score), 6), found.id, found)
            for score, found, held in zip(scores, self._articles, self._terms, strict=True)
            if wanted & held
        )
        return [found for _, _, found in ranked[:limit]]


@lru_cache(maxsize=64)
def index(scope: tuple[str, ...], language: str) -> Index:
    """The index of a scope in a language; built once, whatever the number of episodes."""
    found = (article(id, language) for id in sorted(set(scope)))
    return Index(tuple(a for a in found if a is not None))
