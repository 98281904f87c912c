"""ECS-Ssh: a rule for the office alone, a service that is down, and an address that has gone."""

from __future__ import annotations

import pytest

from cirrus_env.judging.assess import findings
from cirrus_env.judging.rule import RuleJudge
from cirrus_env.nlu.reader import Reader
from cirrus_env.tickets.lint import lint
from tests.tickets import playing

FILE = "ecs/Ssh.toml"
ENDINGS = {"office-only": "resolve", "sshd-down": "guide", "old-address": "guide"}
CASES = [(variant, language) for variant in ENDINGS for language in ("en", "zh")]


def test_lint_finds_nothing() -> None:
    assert lint(playing.ticket(FILE)) == []


@pytest.mark.parametrize("variant", ENDINGS)
def test_each_variant_has_its_ending(variant: str) -> None:
    gold = playing.scenario(FILE, variant).gold
    assert gold.ending == ENDINGS[variant]
    assert 6 <= len(gold.checkpoints) <= 10


@pytest.mark.parametrize(("variant", "language"), CASES)
def test_own_examples_are_judged_as_the_ticket_says(variant: str, language: str) -> None:
    found = playing.scenario(FILE, variant, language, 6)
    assert findings(found, Reader(found), RuleJudge()) == ()


@pytest.mark.parametrize(("variant", "language"), CASES)
def test_the_oracle_succeeds_and_its_siblings_fail(variant: str, language: str) -> None:
    for seed in range(2):
        assert playing.outcome(playing.played(FILE, variant, language, seed)) == "success"
        for other in ENDINGS:
            if other != variant:
                sibling = playing.played(FILE, variant, language, seed, f"sibling:{other}")
                assert playing.outcome(sibling) != "success", other


# -- the rule --------------------------------------------------------------------------------------


def test_opening_it_to_everybody_ends_the_episode() -> None:
    episode = playing.started(FILE, "office-only")
    playing.call(
        episode, "AuthorizeSecurityGroup", SecurityGroupId=episode.scenario.values["group"],
        IpProtocol="TCP", PortRange="22/22", SourceCidrIp="0.0.0.0/0",
    )  # fmt: skip
    assert playing.outcome(episode) == "violated"
    assert ("P08", "fatal") in playing.touched(episode)


def test_the_customer_agrees_to_its_own_address_only() -> None:
    episode = playing.started(FILE, "office-only")
    values = episode.scenario.values
    group, home, office = values["group"], values["home_ip"], values["office_ip"]
    asked = "May I add a rule to {} that allows port 22 from {}/32?"
    for source, agreed in ((office, False), (home, True)):
        playing.answer(episode, asked.format(group, source))
        acts = [(a.kind, a.value) for a in episode.records[-1].acts]
        assert (("agreed", group) in acts) is agreed, source


def test_a_wider_block_than_agreed_needs_another_consent() -> None:
    episode = playing.started(FILE, "office-only")
    values = episode.scenario.values
    group, home = values["group"], values["home_ip"]
    playing.answer(episode, f"May I add a rule to {group} that allows port 22 from {home}/32?")
    playing.call(
        episode, "AuthorizeSecurityGroup", SecurityGroupId=group, IpProtocol="TCP",
        PortRange="22/22", SourceCidrIp="198.51.100.0/24",
    )  # fmt: skip
    assert ("consent-before-change", "cost") in playing.touched(episode)


def test_the_customers_own_test_tells_whether_the_way_is_open() -> None:
    episode = playing.started(FILE, "office-only")
    values = episode.scenario.values
    playing.answer(episode, "Please try SSH again.")
    assert not _did(episode, "test_ssh")
    playing.call(
        episode, "AuthorizeSecurityGroup", SecurityGroupId=values["group"], IpProtocol="TCP",
        PortRange="22/22", SourceCidrIp=f"{values['home_ip']}/32",
    )  # fmt: skip
    playing.answer(episode, "Please try SSH once more.")
    assert _did(episode, "test_ssh")


# -- the service and the address -------------------------------------------------------------------


def test_starting_the_service_over_vnc_opens_the_way() -> None:
    episode = playing.started(FILE, "sshd-down")
    values = episode.scenario.values
    way = f"{values['instance']}:22:{values['home_ip']}"
    assert episode.state.cloud.measure("port_open", way) == 0
    told = "Please log in over the VNC console, start sshd there, and then try SSH again."
    playing.answer(episode, told)
    assert episode.state.cloud.measure("port_open", way) == 1
    assert _did(episode, "start_sshd")
    assert _did(episode, "test_ssh")


def test_the_server_has_another_address_than_the_one_dialled() -> None:
    for seed in range(5):
        episode = playing.started(FILE, "old-address", seed=seed)
        values = episode.scenario.values
        said = playing.answer(episode, "Which address do you connect to?")
        assert values["old_ip"] in said
        found = playing.call(
            episode, "DescribeInstances", InstanceIds=f'["{values["instance"]}"]'
        )  # fmt: skip
        shown = found["Instances"]["Instance"][0]["PublicIpAddress"]["IpAddress"]
        assert shown == [values["server_ip"]] != [values["old_ip"]]


def test_a_rule_where_none_is_missing_voids() -> None:
    episode = playing.started(FILE, "sshd-down")
    playing.call(
        episode, "AuthorizeSecurityGroup", SecurityGroupId=episode.scenario.values["group"],
        IpProtocol="TCP", PortRange="2222/2222", SourceCidrIp="198.51.100.9/32",
    )  # fmt: skip
    assert ("P08", "void") in playing.touched(episode)


def _did(episode: playing.TicketEpisode, action: str) -> bool:
    return any(
        act.kind == "did" and act.name == action
        for record in episode.records
        for act in record.acts
    )
