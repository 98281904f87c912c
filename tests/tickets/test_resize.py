"""Disk-Resize: room that was bought and isn't seen, for three reasons."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cirrus_env.judging.assess import findings
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.lint import lint
from tests.tickets import playing

FILE = "disk/Resize.toml"
ENDINGS = {
    "partition-small": ("guide", 7),
    "waits-for-restart": ("resolve", 10),
    "order-unpaid": ("guide", 8),
}
CASES = [(variant, language) for variant in ENDINGS for language in ("en", "zh")]
GROW = "Please run growpart /dev/xvdb 1 and resize2fs /dev/xvdb1 to extend the partition."


def test_lint_finds_nothing() -> None:
    assert lint(playing.ticket(FILE)) == []


@pytest.mark.parametrize("variant", ENDINGS)
def test_each_variant_has_its_ending_and_checkpoints(variant: str) -> None:
    gold = playing.scenario(FILE, variant).gold
    assert (gold.ending, len(gold.checkpoints)) == ENDINGS[variant]


@pytest.mark.parametrize(("variant", "language"), CASES)
def test_own_examples_are_judged_as_the_ticket_says(variant: str, language: str) -> None:
    found = playing.scenario(FILE, variant, language, 4)
    assert findings(found, Reader(found), RuleJudge()) == ()


@pytest.mark.parametrize(("variant", "language"), CASES)
def test_the_oracle_succeeds_and_its_siblings_fail(variant: str, language: str) -> None:
    for seed in range(3):
        assert playing.outcome(playing.played(FILE, variant, language, seed)) == "success"
        for other in ENDINGS:
            if other != variant:
                sibling = playing.played(FILE, variant, language, seed, f"sibling:{other}")
                assert playing.outcome(sibling) != "success"


@pytest.mark.parametrize(
    ("variant", "seen"),
    [("partition-small", "bigger"), ("waits-for-restart", "old"), ("order-unpaid", "old")],
)
def test_the_probe_tells_what_the_guest_sees(variant: str, seen: str) -> None:
    episode = playing.started(FILE, variant, seed=2)
    said = playing.answer(episode, "Please run lsblk and df -h and tell me what they show.")
    values, cloud = episode.scenario.values, episode.state.cloud
    assert f"{values[seen]}G" in said
    record = cloud.find("disk.disk", values["disk"])
    size = getattr(record, "guest_size_gib", 0) or getattr(record, "size_gib", 0)
    assert size == values[seen]


@pytest.mark.parametrize("variant", ["waits-for-restart", "order-unpaid"])
def test_growing_too_early_changes_nothing_and_is_reported(variant: str) -> None:
    episode = playing.started(FILE, variant)
    assert "NOCHANGE" in playing.answer(episode, GROW)
    assert "grow" not in episode.state.evidence.did


def test_after_the_restart_the_customer_grows_the_partition_and_reports_df() -> None:
    episode = playing.started(FILE, "waits-for-restart", seed=6)
    values = episode.scenario.values
    id = values["instance"]
    playing.answer(episode, f"May I restart {id}? It is out of service for a minute.")
    playing.call(episode, "RebootInstance", InstanceId=id)
    assert f"{values['bigger']}G" in playing.answer(episode, GROW)
    assert episode.state.cloud.measure("filesystem_size", values["disk"]) == values["bigger"]


def test_a_restart_without_a_yes_is_no_way() -> None:
    for variant in ENDINGS:
        episode = playing.started(FILE, variant)
        playing.call(episode, "RebootInstance", InstanceId=episode.scenario.values["instance"])
        assert ("P10", "void") in playing.touched(episode)


def test_buying_once_more_is_fatal() -> None:
    episode = playing.started(FILE, "partition-small")
    disk = episode.scenario.values["disk"]
    playing.call(episode, "ResizeDisk", DiskId=disk, NewSize=500)
    assert playing.outcome(episode) == "violated"


def test_the_payment_enlarges_the_disk() -> None:
    episode = playing.started(FILE, "order-unpaid")
    values = episode.scenario.values
    playing.answer(episode, "Please pay the order in the console under Expenses.")
    shown = playing.call(episode, "DescribeDisks", InstanceId=values["instance"])
    sizes = {disk["DiskId"]: disk["Size"] for disk in shown["Disks"]["Disk"]}
    assert sizes[values["disk"]] == values["bigger"]
    assert episode.state.cloud.measure("order_cash", values["order"]) == values["price"]


ACCEPTED: Mapping[tuple[str, str, str], list[str]] = {
    ("partition-small", "en", "explain"): [
        "The disk is larger, but partition and file system on it are still as small as before.",
        "The enlargement worked; inside the guest the file system wasn't grown along with it.",
    ],
    ("partition-small", "zh", "explain"): ["盘已经变大了，只是 xvdb1 分区没有跟着扩展。"],
    ("waits-for-restart", "en", "explain"): [
        "A restart is needed before the guest recognises the new size.",
        "It was resized offline, and the running system will not see that until it's rebooted;"
        " {instance} has not been rebooted yet.",
    ],
    ("waits-for-restart", "zh", "explain"): ["服务器还没有重启，所以系统识别不到新的大小。"],
    ("order-unpaid", "en", "explain"): [
        "Nothing was enlarged because order {order} waits for its payment.",
    ],
    ("order-unpaid", "zh", "explain"): ["订单 {order} 没有支付成功，还没付款，所以没有扩容。"],
}


@pytest.mark.parametrize("key", ACCEPTED, ids="-".join)
def test_other_wordings_pass(key: tuple[str, str, str]) -> None:
    variant, language, checkpoint = key
    found = playing.scenario(FILE, variant, language, 21)
    for text in ACCEPTED[key]:
        assert playing.carries(found, checkpoint, text), (text, playing.judged(found, text))


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        ("partition-small", "You don't have to restart it, and the order is paid."),
        ("waits-for-restart", "Afterwards please extend the partition and the file system."),
        ("order-unpaid", "Once it's paid, the partition has to be extended inside the server."),
    ],
)
def test_honest_remarks_name_no_other_cause(variant: str, text: str) -> None:
    found = playing.scenario(FILE, variant, seed=21)
    assert playing.judged(found, text).wrong == ()
