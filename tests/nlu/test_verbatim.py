from __future__ import annotations

import json

from nlu_lexicons import ID, gist

from cirrus_env.nlu import verbatim
from cirrus_env.nlu.heard import Heard
from cirrus_env.nlu.verbatim import LeftOut

ARTICLE = (
    "Stopping from within. When your server was shut down inside the guest it is still running"
    " in the eyes of the platform, therefore the hourly price of vCPU and memory goes on."
)
CHINESE_ARTICLE = (
    "常见问题：您的服务器在系统内关机之后实例仍在运行并且按小时继续收取计算费用直到停止。"
)


def heard(*sources: str, customer: str = "") -> Heard:
    memory = Heard()
    for source in sources:
        memory.add_source(source)
    if customer:
        memory.add_customer(customer)
    return memory


def test_own_words_of_the_same_content_count() -> None:
    text = (
        "You shut down inside the guest. To us your server is still running, so the price goes on."
    )
    assert gist(text, heard=heard(ARTICLE)) == "cause=guest"


def test_pasted_sentence_asserts_nothing() -> None:
    pasted = (
        "your server was shut down inside the guest it is still running in the eyes of the platform"
    )
    assert gist(pasted) == "cause=guest"
    assert gist(pasted, heard=heard(ARTICLE)) == ""


def test_paste_is_seen_through_case_signs_and_markup() -> None:
    pasted = (
        "**Your Server** was -- shut down inside: the `guest`! It is *still running*"
        " in the eyes; of the platform."
    )
    assert gist(pasted, heard=heard(ARTICLE)) == ""
    wide = "your server was shut down inside the guest it is still running in the eyes".translate(
        {i: i + 0xFEE0 for i in range(33, 127)}
    )
    assert gist(wide, heard=heard(ARTICLE)) == ""
    invisible = (
        "your server was shut down inside the guest it is still runn\u200bing in the eyes of the"
    )
    assert gist(invisible, heard=heard(ARTICLE)) == ""


def test_eleven_words_are_no_quotation_and_twelve_are() -> None:
    eleven = "your server was shut down inside the guest it is still"
    assert len(eleven.split()) == 11
    memory = heard(f"xx {eleven} qq {eleven} running yy")
    assert gist(f"{eleven} running", heard=memory) == ""
    assert gist(f"{eleven}, in fact still running", heard=heard(f"a {eleven} b")) == "cause=guest"


def changed(text: str, every: int, put: str = "so") -> str:
    """The text with a word exchanged now and then."""
    return " ".join(put if n % every == every - 1 else w for n, w in enumerate(text.split()))


def test_a_longer_paste_with_exchanged_words_asserts_nothing() -> None:
    for every in (6, 7, 9):
        assert gist(changed(ARTICLE, every), heard=heard(ARTICLE)) == ""


def test_a_longer_paste_in_pieces_asserts_nothing() -> None:
    words = ARTICLE.split()
    pieces = [" ".join(words[i : i + 11]) for i in range(0, len(words), 11)]
    assert gist(" and so it is ".join(pieces), heard=heard(ARTICLE)) == ""


def test_a_few_shared_words_are_no_paste() -> None:
    text = "Your server was shut down inside the guest, and so to us it is still running."
    assert gist(text, heard=heard(ARTICLE)) == "cause=guest"


def test_own_words_around_a_paste_count() -> None:
    pasted = "in the eyes of the platform, therefore the hourly price of vCPU and memory goes on"
    text = f"You shut down inside Linux and it is still running. Our help says: {pasted}"
    assert gist(text, heard=heard(ARTICLE)) == "cause=guest"


def test_scenario_values_do_not_count_as_quoted_words() -> None:
    row = f"your server {ID} on day 2026-12-04 costs 27.84 CNY a day all in all"
    memory = heard(row)
    assert gist(row) == f"daily=2784 which={ID}"
    assert gist(row, heard=memory) == f"daily=2784 which={ID}"
    longer = row + " as the bill of this month shows"
    assert gist(longer, heard=heard(longer)) == ""


def test_pasted_tool_result_asserts_nothing() -> None:
    result = json.dumps(
        {"Instances": [{"InstanceId": ID, "Status": "Running", "Note": "server daily price " * 4}]}
    )
    assert gist(result, heard=heard(result)) == ""


def test_pasted_proposal_proposes_nothing() -> None:
    source = "Agents may ask: may I stop it for you now and would that be fine with you today"
    text = f"May I stop it for you now and would that be fine with you today {ID}"
    assert gist(text, heard=heard(source)) == ""


def test_customers_own_words_told_back_assert_nothing() -> None:
    complaint = (
        "my colleague shut down inside the guest yesterday and yet the server is still running here"
    )
    assert gist(complaint, heard=heard(customer=complaint)) == ""


def test_question_that_repeats_the_customer_is_no_question() -> None:
    memory = heard(customer="Tell me, how do I stop the server for good?")
    assert gist("How do I stop the server for good?", heard=memory) == ""
    assert gist("How do I stop the server?", heard=heard(customer="Hello there")) == "?method"


def test_chinese_paste_of_twenty_characters_asserts_nothing() -> None:
    pasted = "您的服务器在系统内关机之后实例仍在运行并且按小时继续收取"
    assert gist(pasted, "zh") == "cause=guest"
    assert gist(pasted, "zh", heard(CHINESE_ARTICLE)) == ""
    assert gist("您在系统内关机，实例仍在运行。", "zh", heard(CHINESE_ARTICLE)) == "cause=guest"


def test_memory_forgets_after_its_mark() -> None:
    memory = heard("something else entirely")
    mark = memory.mark()
    memory.add_source(ARTICLE)
    pasted = ARTICLE[22:]
    assert gist(pasted, heard=memory) == ""
    memory.truncate(mark)
    assert memory.mark() == mark
    assert gist(pasted, heard=memory) == "cause=guest"


def test_copy_is_independent() -> None:
    memory = heard()
    twin = memory.copy()
    twin.add_source(ARTICLE)
    assert gist(ARTICLE[22:], heard=twin) == ""
    assert gist(ARTICLE[22:], heard=memory) == "cause=guest"
    assert not memory.any
    assert twin.any


def test_spans_give_every_quoted_range() -> None:
    sources = verbatim.Sources()
    sources.add("one two three four five six seven eight nine ten eleven twelve", LeftOut())
    words = [
        "x",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "y",
    ]
    assert sources.spans(words) == [(1, 13)]
    assert sources.spans(words[2:]) == []
    assert sources.spans([]) == []


def test_blanked_text_keeps_what_is_not_quoted() -> None:
    assert verbatim.blanked("a b, c d!", LeftOut(), [(1, 3)]) == "a  ;  d!"
