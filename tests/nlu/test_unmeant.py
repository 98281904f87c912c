"""What a reply itself says is not meant tells nothing, wherever it says so."""

import pytest
from nlu_lexicons import gist

TOLD = "The server is still running, because you shut down inside Linux."
TOLD_ZH = "您在系统内关机所以实例仍在运行。"
BEFORE = [
    "None of what follows is true.", "The following statements are all false:\n-",
    "Here is what I will not claim:", "Let's pretend for a moment.", "Once upon a time:",
    "For another customer the answer was this.", "I wrote this to another customer.",
    "Sample answer:", "An example of a reply that I might give:", "Template:",
    "True or false?", "I rolled a dice and it says:", "[FALSE]", "Joke:", "Assumption:",
    "Someone told me this:", "In a parallel universe:", "I dreamt last night.",
]  # fmt: skip
AFTER = [
    "That was all invented.", "I made that up.", "Please do not believe a word of this.",
    "Every word of it is untrue.", "None of this applies to you.", "This is only a guess.",
    "I'm just guessing here.", "I have not checked any of this.", "I take all of that back.",
    "The text above is mistaken.", "Answer: false.", "(confidence: low)", "Ha ha.",
]  # fmt: skip
BEFORE_ZH = [
    "以下都不是真的。", "以下说法全是假的：", "对另一位客户，答案是这样的：", "示例回复：",
    "模板一：", "假设一：", "讲个笑话：", "判断对错：", "【错误】", "我昨晚做了个梦。",
]  # fmt: skip
AFTER_ZH = [
    "以上都是我编的。", "请不要相信这些话。", "这些话没有一句是真的。", "不过这些都不适用于您。",
    "这只是猜测。", "以上均未核实。", "我收回以上所有的话。", "上面全错了。", "（可信度：低）",
]  # fmt: skip


@pytest.mark.parametrize("frame", BEFORE)
def test_what_is_announced_as_unmeant_tells_nothing(frame):
    assert "cause=" not in gist(f"{frame} {TOLD}")
    assert "cause=" not in gist(f"{frame}\n\n{TOLD}")


@pytest.mark.parametrize("frame", AFTER)
def test_what_is_taken_back_as_unmeant_tells_nothing(frame):
    assert "cause=" not in gist(f"{TOLD} {frame}")


@pytest.mark.parametrize("frame", BEFORE_ZH)
def test_what_is_announced_as_unmeant_tells_nothing_in_chinese(frame):
    assert "cause=" not in gist(frame + TOLD_ZH, "zh")


@pytest.mark.parametrize("frame", AFTER_ZH)
def test_what_is_taken_back_as_unmeant_tells_nothing_in_chinese(frame):
    assert "cause=" not in gist(TOLD_ZH + frame, "zh")


@pytest.mark.parametrize(
    "text",
    [
        f"Suppose this: the network is fine, but {TOLD[0].lower()}{TOLD[1:]}",
        "You shut down inside Linux, where the server is still running?",
        f"{TOLD[:-1]}.?", f"{TOLD[:-1]}, which costs money?", f"<!-- {TOLD} -->", f"<s>{TOLD}</s>",
        f"<blockquote>\n{TOLD}\n</blockquote>",        f"```\n{TOLD}\n``` caf\u00e9", f"~~{TOLD}~~",
    ],
)  # fmt: skip
def test_struck_out_hidden_quoted_and_questioned_words_tell_nothing(text):
    assert "cause=" not in gist(text)


def test_a_fence_is_a_fence_in_chinese_too():
    assert "cause=" not in gist(f"```\n{TOLD_ZH}\n```", "zh")


@pytest.mark.parametrize(
    "frame",
    [
        "This is no joke. {}", "I have checked all of this. {}",
        "You expected no charge, but the opposite is true. {}", "I am 100% sure. {}",
        "For other customers it may be different. {}",
    ],
)  # fmt: skip
def test_what_is_meant_is_told(frame):
    assert gist(frame.format(TOLD)).startswith("cause=")
