import copy
import hashlib
import os
import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

import cirrus_env  # noqa: F401
from cirrus_env.envs.registration import pools
from cirrus_env.errors import EpisodeNotRunning, InvalidAction, InvariantError, OptionError
from cirrus_env.tickets.index import index
from cirrus_env.world import Stream
from cirrus_env.wrappers import ScrambledNames
from cirrus_env.wrappers.candidates import (
    SIZE,
    CandidateActions,
    K,
    features,
    handbook,
    index_of,
    results,
)
from cirrus_env.wrappers.candidates import facts as f
from cirrus_env.wrappers.candidates.handbook import read
from cirrus_env.wrappers.candidates.notes import Notes

BILLING = "Cirrus/ECS-Billing-v0"
WAYS = {
    ("ECS-Billing", "subscription"): "ask.instance call.verify ask.how_stopped call.instances"
    " call.term find.is_subscription advise.renewal_off ask.anything_else",
    ("ECS-Billing", "kept-charging"): "ask.instance call.verify ask.how_stopped call.instances"
    " call.bill find.stopped_standard propose.start_and_stop call.start call.instances"
    " call.instances call.instances call.stop_economical call.instances call.instances"
    " advise.disk_still_billed",
    ("Disk-Rollback", "other-disk-only"): "ask.instance call.verify call.disks"
    " call.snapshots_of_instance find.snapshot_of_other_disk advise.keep_untouched escalate.data",
    ("Disk-Rollback", "snapshot-there"): "ask.instance call.verify call.disks"
    " call.snapshots_of_disk ask.written_since find.snapshot_before propose.snapshot"
    " call.make_snapshot propose.roll_back call.stop call.instances+ call.roll_back+ call.start+"
    " call.instances+ advise.harden close.thanks",
    ("ECS-Upgrade", "restart-pending"): "ask.instance call.verify call.instances call.orders"
    " find.upgrade_waits_for_restart ask.moment propose.reboot call.reboot call.instances+"
    " ask.size call.disks propose.snapshot_and_resize call.make_snapshot call.snapshots_of_disk+"
    " call.resize call.disks advise.grow_partition ask.anything_else",
    ("ECS-Locked", "security-lock"): "ask.instance call.verify call.instances call.events"
    " find.security_lock advise.appeal escalate.security",
    ("ECS-Renewal", "kept"): "ask.product ask.end_date find.expired_but_kept"
    " advise.renew_by_hand ask.anything_else",
    ("Billing-AutoRenewal", "unwanted"): "ask.charge call.verify call.orders call.order"
    " ask.still_needed call.refund_quote_order find.renewed_by_itself propose.refund_order"
    " call.refund_order propose.renewal_manual call.renewal_manual call.term close.thanks",
    ("Billing-Refund", "already-used"): "ask.instance call.verify call.orders_refund"
    " call.orders call.order call.refund_quote find.refund_used advise.keep_using close.sorry",
    ("VPC-Eip", "idle-address"): "ask.address call.verify call.address_said call.bill_address"
    " ask.depends find.idle_address propose.release_address call.release_address"
    " call.address_known ask.anything_else",
    ("VPC-Nat", "no-snat-entry"): "ask.instance call.verify call.instances call.gateways"
    " call.snat_of_gateway find.no_snat_entry propose.add_snat call.add_snat"
    " call.snat_of_gateway+ advise.try_curl ask.anything_else",
    ("Billing-Coupon", "wrong-product"): "call.orders call.coupons ask.coupon call.coupons"
    " find.coupon_other_product advise.pay_with_other call.orders ask.anything_else",
    ("ECS-Billing", "economical-leftovers"): "ask.how_stopped ask.instance call.verify"
    " call.instances call.snapshots_of_instance call.addresses_idle find.idle_leftovers"
    " propose.delete_snapshot call.delete_snapshot propose.release_address call.release_address"
    " call.snapshots_of_instance call.addresses_idle ask.anything_else",
    ("Billing-UnpaidOrder", "drop-renewal"): "ask.instance call.verify call.orders"
    " find.two_unpaid ask.order_wish propose.cancel_renewal call.cancel_renewal"
    " call.renewal_price_second propose.renew_second call.renew_second call.term_second"
    " advise.pay_upgrade call.instances ask.anything_else",
    ("Disk-Rollback", "never-applied"): "ask.instance call.verify call.disks"
    " call.snapshots_of_disk call.snapshot_policies find.policy_not_applied"
    " advise.keep_untouched escalate.data",
    ("ECS-Locked", "financial-lock"): "ask.instance call.verify call.instances call.balance"
    " find.financial_lock advise.pay_debt call.instances+ ask.anything_else",
    ("ECS-Ssh", "office-only"): "ask.error ask.instance call.verify call.instances call.group"
    " ask.client_address find.rule_admits_office propose.allow_ssh call.allow_ssh advise.try_ssh"
    " call.group ask.anything_else",
}
"""Scripted ways through the candidates, some of them in the test split; ``+``: while on offer."""


def make(env_id=BILLING, **arguments):
    return CandidateActions(gymnasium.make(env_id, **arguments))


def play(env, names):
    info = {}
    for name in names.split():
        number = index_of(name.removesuffix("+"))
        assert env.action_masks()[number], f"{name} is not on offer"
        *_, info = env.step(number)
        while name.endswith("+") and env.action_masks()[number]:
            *_, info = env.step(number)
        if info["outcome"]:
            break
    return info


def wander(env, seed, steps=60):
    """Moments of a random policy."""
    stream = Stream(seed, "wander")
    observation, info = env.reset(seed=seed)
    moments = [(observation, 0.0, False, False, info)]
    while not info["outcome"] and len(moments) < steps:
        moments.append(env.step(stream.choice(np.flatnonzero(info["action_mask"]).tolist())))
        info = moments[-1][4]
    return moments


def digest(moments):
    total = hashlib.sha256()
    for observation, reward, _, _, info in moments:
        total.update(observation.tobytes() + info["action_mask"].tobytes() + repr(reward).encode())
    return total.hexdigest()


def test_gymnasium_finds_no_fault():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*different from the unwrapped.*")
        check_env(make(), skip_render_check=True)


def test_the_spaces_are_the_same_for_every_ticket():
    for entry in index():
        env = make(entry["env_id"])
        assert env.action_space.n == K == len(handbook())
        assert env.observation_space.shape == (SIZE,)
        for language in entry["languages"]:
            observation, info = env.reset(seed=1, options={"language": language})
            assert observation in env.observation_space
            assert info["action_mask"].shape == (K,)
            assert info["action_mask"][index_of("close.thanks")]


def test_every_step_gives_what_the_spaces_promise():
    env = make("Cirrus/Train-v0")
    for seed in range(12):
        for observation, reward, terminated, truncated, info in wander(env, seed):
            assert observation in env.observation_space
            assert observation.dtype == np.float32
            assert np.isfinite(observation).all()
            assert type(reward) is float
            assert type(terminated) is type(truncated) is bool
            assert env.action_space.sample(mask=info["action_mask"]) in env.action_space


@pytest.mark.parametrize("case", WAYS, ids="/".join)
def test_a_scripted_way_through_the_candidates_solves(case):
    ticket, variant = case
    for seed in (5, 11):
        env = make(f"Cirrus/{ticket}-v0")
        env.reset(seed=seed, options={"variant": variant})
        assert play(env, WAYS[case])["metrics"]["success"] is True


def test_chinese_tickets_are_solved_in_chinese():
    for case in (("ECS-Locked", "security-lock"), ("ECS-Renewal", "kept")):
        env = make(f"Cirrus/{case[0]}-v0")
        env.reset(seed=2, options={"variant": case[1], "language": "zh"})
        assert play(env, WAYS[case])["metrics"]["success"] is True


def test_a_sibling_variants_way_fails():
    env = make()
    env.reset(seed=5, options={"variant": "halted-in-guest"})
    for name in WAYS["ECS-Billing", "subscription"].split():
        *_, info = env.step(index_of(name))
        if info["outcome"]:
            break
    else:
        *_, info = env.step(index_of("close.thanks"))
    assert info["metrics"]["success"] is False


def test_what_variants_have_in_common_looks_the_same():
    """Before anything was asked, neither features nor masks tell the variant."""
    for entry in index():
        env = make(entry["env_id"])
        seen = set()
        for variant in entry["variants"]:
            observation, info = env.reset(seed=4, options={"variant": variant})
            seen.add(observation.tobytes() + info["action_mask"].tobytes())
        assert len(seen) == 1


def test_the_observation_is_made_from_the_transcript_alone():
    env = make("Cirrus/Train-v0")
    for seed in range(6):
        chosen, stream = [], Stream(seed, "again")
        _, info = env.reset(seed=seed)
        while not info["outcome"] and len(chosen) < 15:
            number = stream.choice(np.flatnonzero(info["action_mask"]).tolist())
            messages = len(env.unwrapped.episode.messages)
            observation, *_, info = env.step(number)
            chosen.append((number, messages, info["turn"]))
        episode = env.unwrapped.episode
        notes = Notes(episode.messages[0]["content"], episode.tool_names, 30)
        notes.customer(episode.messages[1]["content"])
        for position, (number, start, turn) in enumerate(chosen):
            end = chosen[position + 1][1] if position + 1 < len(chosen) else None
            sent = notes.action(number)
            arguments = sent.calls[0].arguments if sent.calls else "{}"
            notes.take(number, turn, episode.messages[start + 1 : end], arguments)
        assert notes.vector.tobytes() == observation.tobytes()


def test_a_random_policy_hardly_ever_succeeds():
    env = make("Cirrus/Train-v0")
    ends = [wander(env, seed, 200)[-1][4] for seed in range(40)]
    assert sum(end["metrics"]["success"] for end in ends) <= 1


def test_naming_one_finding_a_turn_wins_nothing():
    findings = [n for n, c in enumerate(handbook()) if c.kind == "find"]
    for entry in index():
        if entry["split"] != "train":
            continue
        env = make(entry["env_id"])
        for variant in entry["variants"]:
            env.reset(seed=1, options={"variant": variant})
            total = 0.0
            for name in ("ask.instance", "call.verify", "call.instances", "call.orders"):
                _, reward, *_, info = env.step(index_of(name))
                total += reward
            for number in findings:
                if not info["outcome"] and env.action_masks()[number]:
                    _, reward, *_, info = env.step(number)
                    total += reward
            if not info["outcome"]:
                _, reward, *_, info = env.step(index_of("close.thanks"))
                total += reward
            assert info["metrics"]["success"] is False
            assert total <= 0.05


def test_the_same_seed_and_actions_give_the_same_bytes_in_every_process():
    code = (
        "import sys; sys.path.insert(0, 'tests/wrappers')\n"
        "from test_candidates import *\n"
        "print(digest(wander(make('Cirrus/Train-v0'), 3)))"
    )
    env = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Shanghai"}
    printed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=env, capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip
    assert printed.strip() == digest(wander(make("Cirrus/Train-v0"), 3))


def test_an_episode_goes_on_from_snapshot_fork_pickle_and_deepcopy():
    way = WAYS["ECS-Billing", "subscription"].split()
    env = make()
    env.reset(seed=5, options={"variant": "subscription"})
    play(env, " ".join(way[:4]))
    kept = env.snapshot()
    others = [env.fork(), pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]

    def rest(one):
        return [one.step(index_of(name)) for name in way[4:]]

    expected = rest(env)
    for other in others:
        assert data_equivalence(rest(other), expected, exact=True)
    observation, info = env.restore(kept)
    assert observation in env.observation_space
    assert info["outcome"] == ""
    assert data_equivalence(rest(env), expected, exact=True)


def test_an_action_not_on_offer_means_the_next_one():
    env = make()
    env.reset(seed=0)
    verify = index_of("call.verify")
    mask = env.action_masks()
    assert not mask[verify]
    assert env.offered(verify) == verify + int(mask[verify:].argmax())
    env.reset(seed=0)
    assert env.offered(np.int64(index_of("ask.port"))) == index_of("ask.port")


def test_after_the_last_candidate_comes_the_first():
    env = make()
    env.reset(seed=0)
    env._notes._blocked[:] = True
    env._notes._blocked[2] = False
    assert env.offered(K - 1) == 2


@pytest.mark.parametrize("action", [K, -1, "ask.instance", 1.0, None, True])
def test_what_is_no_index_is_refused(action):
    env = make()
    env.reset(seed=0)
    before = env.snapshot().notes.vector.tobytes()
    with pytest.raises(InvalidAction):
        env.step(action)
    assert env.snapshot().notes.vector.tobytes() == before


def test_steps_need_a_running_episode():
    env = make()
    with pytest.raises(EpisodeNotRunning):
        env.step(0)
    env.reset(seed=0)
    env.step(index_of("close.sorry"))
    with pytest.raises(EpisodeNotRunning):
        env.step(0)


def test_it_wraps_a_ticket_with_the_assistants_seat_only():
    with pytest.raises(OptionError, match="TicketEnv directly"):
        CandidateActions(gymnasium.make("CartPole-v1"))
    limited = gymnasium.wrappers.TimeLimit(gymnasium.make(BILLING), 5)
    with pytest.raises(OptionError, match="TicketEnv directly"):
        CandidateActions(limited)
    with pytest.raises(OptionError, match="assistant"):
        make(seat="customer")
    with pytest.raises(OptionError, match="no entry"):
        index_of("find.nothing")


def test_a_reply_is_offered_once_and_a_call_again_when_something_changed():
    env = make()
    env.reset(seed=5, options={"variant": "halted-in-guest"})
    play(env, "ask.instance call.verify call.instances")
    assert not env.action_masks()[index_of("ask.instance")]
    assert not env.action_masks()[index_of("call.instances")]
    play(env, "ask.how_stopped")
    assert env.action_masks()[index_of("call.instances")]
    play(env, "call.instances call.bill find.shut_down_inside propose.stop_economical"
              " call.stop_economical call.instances")  # fmt: skip
    assert env.action_masks()[index_of("call.instances")]  # it is still stopping
    assert not env.action_masks()[index_of("call.stop_economical")]


def test_the_same_change_is_not_offered_again_by_words_alone():
    env = make()
    env.reset(seed=5, options={"variant": "halted-in-guest"})
    play(env, "ask.instance call.verify")
    assert not env.action_masks()[index_of("call.verify")]
    play(env, "ask.how_stopped")
    assert not env.action_masks()[index_of("call.verify")]
    notes = env.snapshot().notes
    notes.customer("I'm sorry, the phone's last four digits are 0815.")
    assert notes.mask()[index_of("call.verify")]  # it would be another check


def test_what_failed_is_offered_again_when_it_may_work():
    env = make("Cirrus/Disk-Rollback-v0")
    env.reset(seed=5, options={"variant": "snapshot-there"})
    play(env, "ask.instance call.verify call.disks call.snapshots_of_disk propose.snapshot"
              " call.make_snapshot propose.roll_back call.roll_back")  # fmt: skip
    roll_back = index_of("call.roll_back")
    assert not env.action_masks()[roll_back]  # the server runs: trying again would not help
    play(env, "call.stop call.instances+")
    assert env.action_masks()[roll_back]
    play(env, "call.roll_back+ call.start")
    assert '"HttpStatus":500' in env.unwrapped.episode.messages[-1]["content"]
    assert env.action_masks()[index_of("call.start")]


def test_what_a_call_may_do_is_offered_only_with_the_tool():
    env = make(tools=["VerifyIdentity"])
    env.reset(seed=5)
    play(env, "ask.instance")
    offered = [handbook()[n].operation for n in env.action_masks().nonzero()[0]]
    assert set(offered) == {"", "VerifyIdentity"}


def test_a_candidate_is_described_in_words():
    env = make(render_mode="ansi")
    env.reset(seed=5)
    assert env.describe(index_of("ask.how_stopped")) == (
        "ask.how_stopped: How did you switch the server off?"
    )
    play(env, "ask.instance")
    assert env.describe(index_of("call.verify")).startswith("call.verify: VerifyIdentity {")
    assert "last four digits" in env.render()
    other = make(render_mode="html")
    other.reset(seed=5)
    assert "<" in other.render()


def test_every_entry_of_the_handbook_has_both_languages_with_the_same_places():
    names = [candidate.name for candidate in handbook()]
    assert len(names) == len(set(names))
    for candidate in handbook():
        if candidate.kind not in ("call", "escalate"):
            for language in ("en", "zh"):
                for place in candidate.places:
                    assert "{" + place + "}" in candidate.texts[language], candidate.name


def test_what_changes_something_is_offered_once_it_was_proposed():
    for candidate in handbook():
        asked = candidate.kind == "call" and not candidate.reads and candidate.name != "call.verify"
        assert bool(candidate.after) == asked, candidate.name
    env = make()
    env.reset(seed=5, options={"variant": "halted-in-guest"})
    play(env, "ask.instance call.verify call.instances")
    start, stop = index_of("call.start"), index_of("call.stop_economical")
    assert not env.action_masks()[start]
    assert not env.action_masks()[stop]
    play(env, "propose.start_and_stop")
    assert env.action_masks()[start]
    assert env.action_masks()[stop]
    assert not env.action_masks()[index_of("call.reboot")]


def test_the_handbook_names_no_ticket_and_no_variant():
    text = " ".join(candidate.name for candidate in handbook())
    for entry in index():
        assert entry["id"] not in text


def test_a_wrong_handbook_is_found_out():
    with pytest.raises(InvariantError, match="no operation"):
        read("[call]\nx = ['Nothing', {}]")
    with pytest.raises(InvariantError, match="no proposals"):
        read("[call]\nx = ['StopInstance', {}, ['x']]")
    with pytest.raises(InvariantError, match="no facts"):
        read("[ask]\nx = ['{weather}?', '{weather}？']")


def test_the_customers_words_name_facts():
    known = {}
    moment = f.said(
        known, "i-bp1abcdefg and i-bp1zzzzzzz, order 123456789012345. 4877. From 198.51.100.7."
        " We need 120 GiB by 7 December 2026.", "en",
    )  # fmt: skip
    assert known == {
        "instance": "i-bp1abcdefg", "instance2": "i-bp1zzzzzzz", "order": "123456789012345",
        "phone": "4877", "ip": "198.51.100.7", "client_ip": "198.51.100.7", "size": "120",
        "last_day": "22 December 2026",
    }  # fmt: skip
    assert moment == 1_796_616_000
    known = {}
    f.said(known, "2026年11月27日到期。", "zh")
    assert known == {"last_day": "2026年12月12日"}
    assert f.said({}, "on 45 December 2026", "en") is None


def test_results_of_unknown_shape_tell_nothing():
    for operation in results.READERS:
        known = {"instance": "i-1"}
        results.shown(known, operation, {}, {}, "en")
        assert known == {"instance": "i-1"}


def test_ids_names_and_amounts_leave_no_trace_in_the_features():
    def seen(id, name, amount):
        data = {"Disks": {"Disk": [{"DiskId": id, "DiskName": name, "Size": amount}]}}
        return features.fields("DescribeDisks", data, frozenset(), "2026-11-30")

    assert seen("d-bp1abcdefgh", "one", 40) == seen("d-bp1zzzzzzzz", "another", 200)
    said = features.bare("batch-runner i-bp1abcdefg is off, 120 GiB")
    places = features.words(said, 100, 64)
    assert places.tolist() == features.words("is off GiB", 100, 64).tolist()
    assert len(places) == 3
    assert 100 <= places.min() <= places.max() < 164


def test_pools_work_as_single_tickets_do():
    env = make("Cirrus/Train-v0")
    _, info = env.reset(seed=1, options={"ticket": "ECS-Locked", "variant": "security-lock"})
    assert info["ticket"] == "Cirrus/ECS-Locked-v0"
    assert "ECS-Locked" in pools()["Cirrus/Train-v0"]
    info = play(env, WAYS["ECS-Locked", "security-lock"])
    assert info["ending"] == "escalate"


def test_scrambled_names_are_refused():
    env = ScrambledNames(CandidateActions(gymnasium.make(BILLING)), 5)
    with pytest.raises(OptionError, match="by their true names: no scramble"):
        env.reset(seed=1)
