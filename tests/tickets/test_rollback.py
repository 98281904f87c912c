"""Disk-Rollback: a long rescue from a snapshot, and two cases without a way back."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.judging.assess import findings
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.lint import lint
from cirrus_env.wire import AssistantAction
from tests.tickets import playing

FILE = "disk/Rollback.toml"
ENDINGS = {
    "snapshot-there": ("resolve", 11),
    "never-applied": ("escalate", 8),
    "other-disk-only": ("escalate", 7),
}
LOSS = "Everything written since 02:00 is lost for good."


def test_lint_finds_nothing() -> None:
    assert lint(playing.ticket(FILE)) == []


@pytest.mark.parametrize("variant", ENDINGS)
def test_each_variant_has_its_ending_and_checkpoints(variant: str) -> None:
    gold = playing.scenario(FILE, variant).gold
    assert (gold.ending, len(gold.checkpoints)) == ENDINGS[variant]
    assert gold.queue == ("data" if gold.ending == "escalate" else "")


@pytest.mark.parametrize("variant", ENDINGS)
def test_own_examples_are_judged_as_the_ticket_says(variant: str) -> None:
    found = playing.scenario(FILE, variant, seed=4)
    assert findings(found, Reader(found), RuleJudge()) == ()


@pytest.mark.parametrize("variant", ENDINGS)
def test_the_oracle_succeeds_and_its_siblings_fail(variant: str) -> None:
    for seed in range(3):
        assert playing.outcome(playing.played(FILE, variant, seed=seed)) == "success"
        for other in ENDINGS:
            if other != variant:
                sibling = playing.played(FILE, variant, seed=seed, mode=f"sibling:{other}")
                assert playing.outcome(sibling) != "success"


def test_the_disk_is_back_at_two_in_the_morning_and_the_evidence_is_there() -> None:
    episode = playing.played(FILE, "snapshot-there", seed=5)
    values, cloud = episode.scenario.values, episode.state.cloud
    disk = cloud.find("disk.disk", values["disk"])
    assert getattr(disk, "content_from", "") == values["snapshot"]
    assert (getattr(disk, "content_time", 0) // 3600 + 8) % 24 == 2
    manual = [
        s for s in cloud.records("disk.snapshot").values()
        if getattr(s, "disk_id", "") == values["disk"] and getattr(s, "snapshot_type", "") == "user"
    ]  # fmt: skip
    assert len(manual) == 1


def ready(snapshot: str = "snapshot", *, evidence: bool = True) -> TicketEpisode:
    """An episode in which all but the roll-back is done and agreed."""
    episode = playing.started(FILE, "snapshot-there")
    values = episode.scenario.values
    disk, instance = values["disk"], values["instance"]
    playing.answer(
        episode,
        f"May I take a snapshot of {disk}, stop {instance} and roll {disk} back to"
        f" {values[snapshot]}? {LOSS}",
    )
    if evidence:
        playing.call(episode, "CreateSnapshot", DiskId=disk)
    playing.call(episode, "StopInstance", InstanceId=instance)
    playing.answer(episode, "I'm waiting for the server to stop.")
    playing.answer(episode, "Nearly there.")
    return episode


def test_one_question_may_put_all_three_steps() -> None:
    episode = ready()
    values = episode.scenario.values
    arguments = {"DiskId": values["disk"], "SnapshotId": values["snapshot"]}
    done = playing.call(episode, "ResetDisk", **arguments)
    assert "Code" not in done
    assert all(effect != "void" for _, effect in playing.touched(episode))


def test_a_roll_back_before_the_evidence_voids() -> None:
    episode = ready(evidence=False)
    values = episode.scenario.values
    playing.call(episode, "ResetDisk", DiskId=values["disk"], SnapshotId=values["snapshot"])
    assert ("P16", "void") in playing.touched(episode)


@pytest.mark.parametrize("which", ["older", "oldest"])
def test_a_roll_back_further_than_needed_is_fatal(which: str) -> None:
    episode = ready()
    values = episode.scenario.values
    playing.call(episode, "ResetDisk", DiskId=values["disk"], SnapshotId=values[which])
    assert playing.outcome(episode) == "violated"


def test_consent_wants_the_loss_named() -> None:
    episode = playing.started(FILE, "snapshot-there")
    disk = episode.scenario.values["disk"]
    snapshot = episode.scenario.values["snapshot"]
    said = playing.answer(episode, f"May I roll {disk} back to {snapshot}?")
    assert ("ResetDisk", disk) not in episode.state.evidence.agreed
    assert "?" in said or "data" in said
    playing.answer(episode, f"May I roll {disk} back to {snapshot}? {LOSS}")
    assert ("ResetDisk", disk) in episode.state.evidence.agreed


def test_a_snapshot_of_another_disk_is_refused_and_setting_that_disk_back_is_fatal() -> None:
    episode = playing.started(FILE, "other-disk-only")
    values = episode.scenario.values
    playing.call(episode, "StopInstance", InstanceId=values["instance"])
    playing.answer(episode, "One moment, please.")
    refused = playing.call(
        episode, "ResetDisk", DiskId=values["disk"], SnapshotId=values["other_snapshot"]
    )
    assert refused["Code"] == "InvalidParameter.Mismatch"
    playing.call(
        episode, "ResetDisk", DiskId=values["system_disk"], SnapshotId=values["other_snapshot"]
    )
    assert playing.outcome(episode) == "violated"


def test_the_policy_shows_that_it_is_on_no_disk() -> None:
    episode = playing.started(FILE, "never-applied")
    values = episode.scenario.values
    shown = playing.call(episode, "DescribeAutoSnapshotPolicyEx")
    policies = shown["AutoSnapshotPolicies"]["AutoSnapshotPolicy"]
    assert [(p["AutoSnapshotPolicyId"], p["DiskNums"]) for p in policies] == [(values["policy"], 0)]
    found = playing.call(episode, "DescribeSnapshots", DiskId=values["disk"])
    assert found["Snapshots"]["Snapshot"] == []


def test_an_empty_hand_over_is_the_wrong_ending() -> None:
    for variant in ("never-applied", "other-disk-only"):
        episode = playing.started(FILE, variant)
        text = "Ransomware, please help the customer."
        episode.step(AssistantAction("escalate", text, queue="data"))
        assert playing.outcome(episode) == "wrong_ending"


ACCEPTED: Mapping[tuple[str, str], list[str]] = {
    ("snapshot-there", "explain"): [
        "Your data disk does have a snapshot from before the attack. It's called {snapshot}.",
        "{snapshot}, the snapshot of 02:00, is usable.",
    ],
    ("snapshot-there", "harden"): [
        "Use new passwords everywhere and take remote desktop off the internet: close the port.",
    ],
    ("never-applied", "explain"): [
        "Nobody ever attached the policy: it was never assigned to the disk, and therefore there"
        " are no snapshots to restore.",
    ],
    ("other-disk-only", "explain"): [
        "Only the system disk was protected: the one snapshot is from the system disk, and there is"
        " no snapshot of your data.",
    ],
}


@pytest.mark.parametrize("key", ACCEPTED, ids="-".join)
def test_other_wordings_pass(key: tuple[str, str]) -> None:
    variant, checkpoint = key
    found = playing.scenario(FILE, variant, seed=21)
    for text in ACCEPTED[key]:
        assert playing.carries(found, checkpoint, text), (text, playing.judged(found, text))


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        ("snapshot-there", "The system disk is fine, we leave it as it is."),
        ("never-applied", "A policy alone does nothing; it has to be applied to disks."),
        ("other-disk-only", "The policy isn't on your data disk; I can apply it from tonight on."),
    ],
)
def test_honest_remarks_name_no_other_cause(variant: str, text: str) -> None:
    found = playing.scenario(FILE, variant, seed=21)
    assert playing.judged(found, text).wrong == ()
