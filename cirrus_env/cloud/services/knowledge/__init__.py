"""Knowledge: searching and reading the help articles in the ticket's scope."""

from __future__ import annotations

from typing import Any

from cirrus_env.cloud.model import Operation, Service
from cirrus_env.cloud.services.knowledge.articles import LANGUAGES, Article, article
from cirrus_env.cloud.services.knowledge.index import index
from cirrus_env.cloud.services.knowledge.models import Scope
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError

_LANGUAGE: dict[str, Any] = {
    "enum": list(LANGUAGES),
    "description": "Of the articles; the customer's by default.",
}


def _scope(work: Work) -> tuple[tuple[str, ...], str]:
    scopes = work.all(Scope)
    articles = tuple(id for scope in scopes for id in scope.articles)
    return articles, scopes[0].language if scopes else "en"


def _search(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    articles, language = _scope(work)
    searched = index(articles, arguments.get("Language", language))
    found = searched.search(arguments["Query"], arguments.get("MaxResults", 5))
    return {
        "Articles": [{"ArticleId": a.id, "Title": a.title, "Summary": a.summary} for a in found],
        "TotalCount": len(found),
    }


def _get(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    articles, language = _scope(work)
    id = arguments["ArticleId"]
    found: Article | None = None
    if id in articles:
        found = article(id, arguments.get("Language", language))
    if found is None:
        raise CloudError("InvalidArticleId.NotFound", f"There is no article {id}.", 404)
    return {
        "ArticleId": found.id,
        "Language": found.language,
        "Title": found.title,
        "Content": found.text,
    }


SERVICE = Service(
    name="knowledge",
    kinds=(Scope,),
    operations=(
        Operation(
            "SearchKnowledge",
            "Searches the help articles; gives titles and summaries, best match first.",
            "read",
            {
                "type": "object",
                "properties": {
                    "Query": {"type": "string", "minLength": 1, "maxLength": 500},
                    "Language": _LANGUAGE,
                    "MaxResults": {"type": "integer", "minimum": 1, "maximum": 10, "default": 5},
                },
                "required": ["Query"],
                "additionalProperties": False,
            },
            _search,
        ),
        Operation(
            "GetArticle",
            "Gets one help article in full.",
            "read",
            {
                "type": "object",
                "properties": {
                    "ArticleId": {"type": "string", "minLength": 1, "maxLength": 128},
                    "Language": _LANGUAGE,
                },
                "required": ["ArticleId"],
                "additionalProperties": False,
            },
            _get,
        ),
    ),
)
"""What the catalogue reads."""
