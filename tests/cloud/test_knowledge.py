"""Article search within a scope, the articles themselves, and the policies."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from cirrus_env.cloud.catalogue import catalogue
from cirrus_env.cloud.kernel import Cloud
from cirrus_env.cloud.policies import POLICIES, general_policies, policy
from cirrus_env.cloud.services.knowledge.articles import LANGUAGES, article, known
from cirrus_env.cloud.services.knowledge.index import index, tokens
from cirrus_env.cloud.services.knowledge.models import Scope
from cirrus_env.world.clock import EPOCH

ACCOUNT = "1234567890123456"
SCOPE = ("ecs/stop-modes", "ecs/in-os-shutdown", "billing/refund-rules", "network/security-groups")


def cloud(articles: tuple[str, ...] = SCOPE, language: str = "en") -> Cloud:
    world = Cloud(catalogue(("knowledge",)), 7, ACCOUNT, EPOCH)
    world.insert(Scope("scope", ACCOUNT, articles=articles, language=language))
    return world


def found(world: Cloud, query: str, **more: object) -> list[str]:
    result = world.call("SearchKnowledge", {"Query": query, **more})
    assert result.ok, result.result
    return [a["ArticleId"] for a in result.result["Articles"]]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("I shut down linux inside the system", "ecs/in-os-shutdown"),
        ("what does an economical stop save", "ecs/stop-modes"),
        ("how much money is returned when unsubscribing", "billing/refund-rules"),
        ("open port 22", "network/security-groups"),
    ],
)
def test_the_best_match_comes_first(query: str, best: str) -> None:
    assert found(cloud(), query)[0] == best


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("在系统里关机还收费", "ecs/in-os-shutdown"),
        ("节省停机模式", "ecs/stop-modes"),
        ("退订能退多少", "billing/refund-rules"),
    ],
)
def test_chinese_is_searched_by_pairs_of_characters(query: str, best: str) -> None:
    assert found(cloud(language="zh"), query)[0] == best


def test_chinese_and_latin_terms() -> None:
    assert tokens("Stopped servers, 停机模式 i-bp1x 锁") == [
        "stopp", "server", "停机", "机模", "模式", "i-bp1x", "锁",
    ]  # fmt: skip


def test_only_the_scope_is_searched_and_read() -> None:
    world = cloud()
    assert set(found(world, "server stop bill port refund snapshot", MaxResults=10)) <= set(SCOPE)
    assert world.call("GetArticle", {"ArticleId": "billing/arrears"}).code == (
        "InvalidArticleId.NotFound"
    )
    assert world.call("GetArticle", {"ArticleId": "../../models"}).code == (
        "InvalidArticleId.NotFound"
    )


def test_an_article_outside_the_scope_changes_no_result() -> None:
    wide = cloud(tuple(reversed(SCOPE)))
    assert found(wide, "stop the server") == found(cloud(), "stop the server")


def test_a_query_that_shares_no_word_finds_nothing() -> None:
    assert found(cloud(), "zzz") == []
    assert found(cloud(), "?!") == []
    assert found(cloud(()), "stop") == []


def test_equal_matches_are_ordered_by_id() -> None:
    same = index(("ecs/stop-modes", "ecs/in-os-shutdown"), "en").search("the", 10)
    assert len(same) == len({a.id for a in same})
    assert found(cloud(), "stop") == found(cloud(), "stop")


def test_results_are_limited() -> None:
    assert len(found(cloud(), "server", MaxResults=2)) == 2
    for bad in (0, 11, "3", True):
        result = cloud().call("SearchKnowledge", {"Query": "stop", "MaxResults": bad})
        assert result.code == "InvalidParameter"


def test_an_article_comes_whole_and_in_the_customer_s_language() -> None:
    read = cloud(language="zh").call("GetArticle", {"ArticleId": "ecs/stop-modes"}).result
    assert (read["Language"], read["Title"]) == ("zh", "停机模式：停止实例能省什么")
    read = cloud(language="zh").call(
        "GetArticle", {"ArticleId": "ecs/stop-modes", "Language": "en"}
    ).result  # fmt: skip
    assert read["Language"] == "en"
    assert "StopCharging" in read["Content"]


def test_an_article_without_a_chinese_version_comes_in_english() -> None:
    read = cloud(language="zh").call("GetArticle", {"ArticleId": "network/security-groups"}).result
    assert read["Language"] == "en"


def test_an_index_is_built_once() -> None:
    assert index(SCOPE, "en") is index(SCOPE, "en")


def test_the_search_library_is_loaded_on_first_use() -> None:
    code = (
        "import sys; import cirrus_env.cloud.services.knowledge as k; "
        "sys.exit('rank_bm25' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_chinese_article_has_an_english_one() -> None:
    assert set(known("zh")) <= set(known("en"))
    assert len(known("en")) >= 25


@pytest.mark.parametrize("language", LANGUAGES)
def test_articles_are_titled_and_short(language: str) -> None:
    for id in known(language):
        found = article(id, language)
        assert found is not None
        assert found.language == language
        assert found.title
        assert found.summary
        if language == "en":
            assert 60 <= len(found.text.split()) <= 220, id
        else:
            assert 120 <= len(re.findall("[\u4e00-\u9fff]", found.text)) <= 300, id


def test_every_policy_has_a_text_in_both_languages() -> None:
    assert len(POLICIES) == 25
    for id in POLICIES:
        assert policy(id).isascii()
        assert re.search("[\u4e00-\u9fff]", policy(id, "zh"))
    assert policy("P05") == policy("P05", "de")
    with pytest.raises(KeyError):
        policy("P26")


def test_general_policies_are_the_same_in_both_languages() -> None:
    english, chinese = general_policies(), general_policies("zh")
    assert [id for id, _ in english] == [id for id, _ in chinese]
    assert {"P01", "P02", "P03", "P04"} <= {id for id, _ in english}
    assert len(english) < len(POLICIES)
