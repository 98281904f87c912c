"""What the keyword policy concludes from what it has read: patterns and sentences of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple


class Rule(NamedTuple):
    """One rule.

    Attributes:
        words: Must occur in the customer's words, in any language; empty for any.
        shown: Must occur in a tool result; empty for any.
        en: What to say, ``{id}`` being the resource and ``{until}`` the date until which it is
            paid.
        zh: The same in Chinese.
        queue: A word of the queue to hand over to; empty to go on.
    """

    words: str
    shown: str
    en: str
    zh: str
    queue: str = ""


RULES: Final = (
    Rule(
        "", r'"LockReason":"security"',
        "The server {id} is locked for security reasons, so support can't start or unlock it.",
        "服务器 {id} 因安全原因被锁定，客服无法启动或解锁。",
        "security",
    ),
    Rule(
        "", r'"LockReason":"financial"',
        "The server {id} is locked because the account is overdue. Please pay what is owed, and it"
        " starts again.",
        "服务器 {id} 因账户欠费被锁定。请先结清欠款，之后会恢复运行。",
    ),
    Rule(
        r"(?i)stop|switch|shut|off|charge|关|停|扣费|收费", r'"InstanceChargeType":"PrePaid"',
        "The server {id} is a subscription that was paid in advance and is paid until {until}, so"
        " its price does not depend on whether it runs. Please switch off automatic renewal in the"
        " console; then no further period is charged.",
        "服务器 {id} 是包年包月，费用已预先支付，付到 {until}，与是否运行无关。"
        "请在控制台关闭自动续费，之后不再扣下一期。",
    ),
    Rule(
        r"(?i)stop|switch|shut|off|charge|关|停|扣费|收费", r'"Status":"Running"',
        "The server {id} was shut down inside its operating system; for us it is still running, and"
        " computing is charged.",
        "服务器 {id} 是在操作系统里关机的，在平台上仍在运行，所以计算资源继续计费。",
    ),
    Rule(
        r"(?i)stop|switch|shut|off|charge|关|停|扣费|收费", r'"StoppedMode":"KeepCharging"',
        "The server {id} was stopped in the standard mode, in which resources stay reserved and"
        " keep charging.",
        "服务器 {id} 用的是普通停机模式，资源保留并继续收费。",
    ),
    Rule(
        r"(?i)stop|switch|shut|off|charge|关|停|扣费|收费", r'"StoppedMode":"StopCharging"',
        "The server {id} is stopped in economical mode; what is still billed are its disks, its"
        " elastic IP address and its snapshots.",
        "服务器 {id} 已按节省停机模式停止；仍在计费的是云盘、弹性公网IP和快照。",
    ),
    Rule(
        r"(?i)refund|money back|unsubscribe|退款|退钱|退订", "",
        "A refund follows the rules for unsubscribing: the unused cash part goes back, vouchers do"
        " not.",
        "退款按退订规则办理：未使用的现金部分退回，代金券不退。",
    ),
    Rule(
        r"(?i)renew|expire|run out|subscription|续费|到期|过期", "",
        "After a subscription has expired the server is stopped, and it is released with its data"
        " when it is not renewed in time. Please renew it before that date.",
        "包年包月到期后服务器会停机，如不及时续费，之后会连同数据一起释放。请在此之前续费。",
    ),
)  # fmt: skip
"""In order of precedence among those that read results; every one that fits without is added."""


class Conclusion(NamedTuple):
    """A rule that fits, and the part of a result that it was read from (JSON text, or empty)."""

    rule: Rule
    shown: str


def conclusions(words: str, results: Iterable[str]) -> tuple[Conclusion, ...]:
    """The first rule that a result supports, then those that the words alone support."""
    shown = tuple(results)
    found: list[Conclusion] = []
    for rule in RULES:
        if rule.words and not re.search(rule.words, words):
            continue
        if not rule.shown:
            found.append(Conclusion(rule, ""))
            continue
        fitting = [text for text in shown if re.search(rule.shown, text)]
        if fitting and not any(other.shown for other in found):
            found.append(Conclusion(rule, fitting[0]))
    return tuple(found)


def render(conclusion: Conclusion, language: str, known: str) -> str:
    """The rule's sentence about what it was read from.

    Args:
        conclusion: The rule and its source.
        language: ``en`` or ``zh``.
        known: The id that the customer named; used where the source names none.
    """
    text = conclusion.rule.zh if language == "zh" else conclusion.rule.en
    id = _ID.search(conclusion.shown)
    until = _UNTIL.search(conclusion.shown)
    text = text.replace("{id}", id.group(1) if id else known)
    return text.replace("{until}", until.group(1) if until else "-")


_ID: Final = re.compile(r'"InstanceId":"([^"]+)"')
_UNTIL: Final = re.compile(r'"ExpiredTime":"(\d{4}-\d\d-\d\d)')
