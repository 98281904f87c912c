from __future__ import annotations

import pytest
import reply_table_en as en
import reply_table_zh as zh
from nlu_lexicons import gist


@pytest.mark.parametrize(("text", "expected"), en.TOLD)
def test_cause_is_told_only_where_asserted(text: str, expected: str) -> None:
    assert gist(text) == expected


@pytest.mark.parametrize(("text", "expected"), en.STATEMENTS)
def test_statement_is_said_or_denied(text: str, expected: str) -> None:
    assert gist(text) == expected


@pytest.mark.parametrize(("text", "expected"), en.BOUND)
def test_value_binds_to_the_nearest_phrase(text: str, expected: str) -> None:
    assert gist(text) == expected


@pytest.mark.parametrize(("text", "expected"), en.ASKED)
def test_fact_is_asked_by_question_or_request(text: str, expected: str) -> None:
    assert gist(text) == expected


@pytest.mark.parametrize(("text", "expected"), en.PROPOSED)
def test_operation_is_proposed_with_its_id(text: str, expected: str) -> None:
    assert gist(text) == expected


@pytest.mark.parametrize(("text", "expected"), en.INSTRUCTED)
def test_console_action_is_instructed(text: str, expected: str) -> None:
    assert gist(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [*zh.TOLD, *zh.BOUND, *zh.ASKED, *zh.PROPOSED, *zh.INSTRUCTED]
)
def test_chinese_is_read_alike(text: str, expected: str) -> None:
    assert gist(text, "zh") == expected
