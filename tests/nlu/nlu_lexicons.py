"""Small hand-made scenarios to read replies of: a server that still costs money."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from cirrus_env.nlu.heard import Heard
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.model import Consent, ConsoleAction, Fact, Slot

ID = "i-bp1k2m3"
OTHER_ID = "i-bp9z8y7"
EIP = "eip-bp1q2w3"
DISK = "d-bp1e4r5"

ENGLISH = {
    "cause": Slot(
        "cause",
        "enum",
        "guest",
        {
            "guest": (
                ("shut down inside", "shut down from inside", "halted from the operating system"),
                ("still running", "not stopped in the console"),
            ),
            "reserved": (
                ("standard stop", "keep charging mode"),
                ("stay reserved", "kept for you"),
            ),
            "leftover": (
                ("disk", "eip", "snapshot"),
                ("still billed", "remain billed", "keep costing"),
            ),
            "prepaid": (("subscription", "prepaid"), ("paid in advance", "whole month")),
        },
    ),
    "address": Slot(
        "address",
        "statement",
        "said",
        {"said": (("public ip", "ip address"), ("change", "be lost", "different"))},
    ),
    "daily": Slot("daily", "money", "2784", near=(("a day", "per day", "daily"),)),
    "back": Slot("back", "money", "150000", near=(("refund", "get back"),)),
    "days": Slot(
        "days", "number", "15", near=(("kept", "retained", "stored"),), unit=("days", "day")
    ),
    "expiry": Slot("expiry", "date", "2026-12-04", near=(("expire", "run out", "end on"),)),
    "which": Slot("which", "id", ID, near=(("instance", "server"),)),
}
CHINESE = {
    "cause": Slot(
        "cause",
        "enum",
        "guest",
        {
            "guest": (
                ("系统内关机", "系统里关机", "在操作系统中关机"),
                ("仍在运行", "还在运行", "运行中"),
            ),
            "reserved": (("普通停机", "停机不收费未开启"), ("资源保留", "保留资源")),
            "leftover": (("云盘", "快照", "弹性公网"), ("仍然计费", "继续计费", "仍在收费")),
            "prepaid": (("包年包月", "预付费"), ("提前支付", "整月")),
        },
    ),
    "address": Slot(
        "address",
        "statement",
        "said",
        {"said": (("公网ip", "公网地址"), ("改变", "变化", "丢失"))},
    ),
    "daily": Slot("daily", "money", "2784", near=(("每天", "每日"),)),
    "back": Slot("back", "money", "150000", near=(("退款", "退回"),)),
    "days": Slot("days", "number", "15", near=(("保留",),), unit=("天", "日")),
    "expiry": Slot("expiry", "date", "2026-12-04", near=(("到期",),)),
    "which": Slot("which", "id", ID, near=(("实例", "服务器"),)),
}
FACTS = {
    "en": {
        "server": Fact(
            "server", "It is it.", "asked",
            asked_by=(("which instance", "which server", "instance id", "id of your server"),),
        ),
        "method": Fact(
            "method", "From inside.", "asked", asked_by=(("how", "where"), ("stop", "shut down"))
        ),
    },
    "zh": {
        "server": Fact("server", "是它。", "asked", asked_by=(("哪台", "实例id", "实例编号"),)),
        "method": Fact(
            "method", "里面。", "asked", asked_by=(("怎么", "在哪里"), ("关机", "停止"))
        ),
    },
}  # fmt: skip
CONSOLE = {
    "en": {
        "stop": ConsoleAction(
            "stop", (("stop the server in the console", "stop the instance in the console"),)
        )
    },
    "zh": {"stop": ConsoleAction("stop", (("控制台",), ("停止", "关闭")))},
}
CONSENTS = (Consent("StopInstance", ID, ("address",)), Consent("ReleaseEipAddress", EIP, ()))


def scenario(language: str = "en", *, slots: dict[str, Slot] | None = None) -> Any:
    """A stand-in with just the parts that a reader looks at."""
    return SimpleNamespace(
        gold=SimpleNamespace(
            slots=slots or (ENGLISH if language == "en" else CHINESE),
            checkpoints=(),
            must_flip=(),
            must_hold=(),
        ),
        private=SimpleNamespace(
            facts=FACTS[language], console=CONSOLE[language], consents=CONSENTS
        ),
        public=SimpleNamespace(services=("ecs", "disk", "vpc", "billing"), language=language),
    )


READERS = {language: Reader(scenario(language)) for language in ("en", "zh")}
_SHOWN = ("told", "asked", "proposed", "instructed")


def gist(text: str, language: str = "en", heard: Heard | None = None) -> str:
    """The acts that matter most, such as ``cause=guest ?server !StopInstance:i-1(address)``."""
    parts = []
    for act in READERS[language].read(text, heard or Heard()):
        if act.kind == "told":
            parts.append(f"{act.name}={act.value}")
        elif act.kind == "asked":
            parts.append(f"?{act.name}")
        elif act.kind == "proposed":
            detail = f"({','.join(act.detail)})" if act.detail else ""
            parts.append(f"!{act.name}:{act.value}{detail}")
        elif act.kind == "instructed":
            parts.append(f">{act.name}")
    return " ".join(parts)


def kinds(text: str, language: str = "en") -> set[str]:
    """All kinds of act in the reply."""
    return {act.kind for act in READERS[language].read(text, Heard())}
