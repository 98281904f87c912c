"""An honest agent of keyword rules: the baseline that a trained agent should beat."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from cirrus_env.baselines import reading, sampling
from cirrus_env.baselines.keyword_rules import Conclusion, conclusions, render
from cirrus_env.baselines.policy import Observation
from cirrus_env.baselines.scripted import Script, Scripted, reply
from cirrus_env.wire import AssistantAction
from cirrus_env.world import Stream

_TEXTS: Final = {
    "en": {
        "ask": "Which one is it, please? I need the instance id.",
        "phone": "And what are the last four digits of your registered phone number?",
        "article": "Our help page '{title}' has the details.",
        "nothing": "I have looked at your account and found nothing unusual so far.",
        "else": "Is there anything else that I can do for you?",
        "bye": "Thank you for contacting Cirrus Cloud.",
    },
    "zh": {
        "ask": "请问是哪台？请提供实例ID。",
        "phone": "另外，账号登记手机号的后四位是多少？",
        "article": "帮助文档《{title}》里有详细说明。",
        "nothing": "我查看了您的账户，暂未发现异常。",
        "else": "请问还有其他可以帮您的吗？",
        "bye": "感谢您联系 Cirrus Cloud。",
    },
}
_READS: Final = 16
_FOUR_DIGITS: Final = re.compile(r"(?<![\w-])\d{4}(?![\w-])")


class KeywordRules(Scripted):
    """Asks for the id, reads state and knowledge, and answers by a table of keyword rules.

    It sees observations alone and changes nothing: it explains, or hands over.
    """

    name = "keyword"

    def play(self, observation: Observation) -> Script:
        """Ask, look, search, answer, ask whether anything remains."""
        texts = _TEXTS[reading.language(observation)]
        self._verdicts: tuple[Conclusion, ...] = ()
        offered = reading.tools(observation)
        known = reading.ids_in("\n".join(reading.customer_words(observation)))
        identity = any(tool.name == "VerifyIdentity" for tool in offered)
        if identity or not known:
            asked = texts["ask"] if not known else ""
            observation = yield reply(f"{asked} {texts['phone']}".strip() if identity else asked)
        proof = _proof(observation)
        if identity and proof:
            observation = yield reading.call("VerifyIdentity", proof)
        if offered:
            pairs = _reads(observation)
            if pairs:
                observation = yield reading.calls(pairs)
            if any(tool.name == "SearchKnowledge" for tool in offered):
                query = reading.customer_words(observation)[0][:500]
                observation = yield reading.call("SearchKnowledge", {"Query": query})
        words = "\n".join(reading.customer_words(observation))
        self._verdicts = conclusions(words, _about(observation))
        if any(found.rule.queue for found in self._verdicts):
            return
        yield reply(self._answer(observation))
        yield reply(texts["else"])

    def end(self, observation: Observation) -> AssistantAction:
        """Hand over where a rule says so; close otherwise."""
        for found in self._verdicts:
            for queue in reading.queues(observation):
                if found.rule.queue and found.rule.queue in queue:
                    return AssistantAction("escalate", self._answer(observation), queue=queue)
        return AssistantAction("close", _TEXTS[reading.language(observation)]["bye"])

    def _answer(self, observation: Observation) -> str:
        language = reading.language(observation)
        texts = _TEXTS[language]
        known = reading.ids_in("\n".join(reading.customer_words(observation)))
        named = known[0] if known else ""
        said = [render(found, language, named) for found in self._verdicts]
        title = _title(observation)
        if title:
            said.append(texts["article"].format(title=title))
        return ("" if language == "zh" else " ").join(said or [texts["nothing"]])


def _proof(observation: Observation) -> dict[str, str]:
    """What the customer proves its identity with; empty if it gave nothing."""
    account = reading.ids_in(reading.system(observation))
    phone = _FOUR_DIGITS.search(reading.customer_words(observation)[-1])
    if not account or not phone:
        return {}
    return {"AccountId": account[0], "PhoneLastFour": phone.group()}


def _reads(observation: Observation) -> list[tuple[str, dict[str, Any]]]:
    """Reads that need nothing but the ids that the customer named."""
    known = reading.ids_in("\n".join(reading.customer_words(observation)))
    stream = Stream(0, "policy:keyword")
    pairs: list[tuple[str, dict[str, Any]]] = []
    for tool in reading.tools(observation):
        fitting = all(name.lower().endswith(("id", "ids")) for name in tool.required)
        if tool.name.startswith(("Describe", "Query")) and fitting and len(pairs) < _READS:
            arguments = sampling.arguments(tool.parameters, known, stream)
            if arguments is not None:
                pairs.append((tool.name, arguments))
    return pairs


def _about(observation: Observation) -> tuple[str, ...]:
    """The parts of the results that are about what the customer named; all if it named nothing."""
    known = set(reading.ids_in("\n".join(reading.customer_words(observation))))
    if not known:
        return reading.results(observation)
    found: list[str] = []
    for result in reading.results(observation):
        _collect(json.loads(result), known, found)
    return tuple(found)


def _collect(value: Any, known: set[str], found: list[str]) -> None:
    if isinstance(value, dict):
        if any(isinstance(item, str) and item in known for item in value.values()):
            found.append(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
            return
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            _collect(item, known, found)


def _title(observation: Observation) -> str:
    """The best article's title in the last search."""
    for result in reversed(reading.results(observation)):
        data = json.loads(result)
        if isinstance(data, dict) and data.get("Articles"):
            return str(data["Articles"][0]["Title"])
    return ""
