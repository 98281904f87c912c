"""What a run is, as JSON: enough to refuse another one, and to score it again years later.

``manifest.json`` holds, beside the store's own ``format`` and ``sha256``:

- ``version``: the package's;
- ``reward``: the rule's weights and version (``RewardRule.to_json``);
- ``settings``: keyword arguments of ``TicketEpisode``; an object is written as its name and type;
- ``tickets``: registered name -> digest, and ``constants``: registered name -> what audit measured;
- ``sources``: registered name -> the file's text, of tickets that don't ship with the package;
- ``protocol``: name and digest of the official protocol, of a run that follows one;
- ``jobs``: the keys of all episodes, ``[agent, ticket, seed, variant, language]``, the last two
  empty where the seed and the ticket choose. An episode's number is its place in this list. Null
  for a recorded run: its episodes' keys stand in their lines, with a sixth part, and their numbers
  are their places in the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cirrus_env._version import __version__
from cirrus_env.engine.episode import TicketEpisode
from cirrus_env.errors import OptionError, StoreError, UnknownTicket
from cirrus_env.judging.reward import REWARD_VERSION, RewardRule, reward_rule
from cirrus_env.runner.modes import episode_settings
from cirrus_env.runner.play import Job
from cirrus_env.tickets.load import bundled, restore
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.wire import canonical, encodes


def manifest_of(
    jobs: Sequence[Job], settings: Mapping[str, Any], protocol: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The manifest: the same jobs and settings give the same one.

    Args:
        jobs: What is played.
        settings: Keyword arguments of ``TicketEpisode``.
        protocol: Name and digest of the official protocol that the run follows, if any.

    Raises:
        OptionError: For a setting that no episode could begin with, or that JSON can't name.
    """
    check_settings(jobs, settings)
    tickets = {job.ticket.env_id: job.ticket for job in jobs}
    return {
        "version": __version__,
        "reward": reward_rule(settings.get("reward", "cirrus")).to_json(),
        "settings": {name: _named(name, value) for name, value in settings.items()},
        "tickets": {name: ticket.digest for name, ticket in tickets.items()},
        "constants": {name: dict(ticket.constants) for name, ticket in tickets.items()},
        "sources": {name: t.text for name, t in tickets.items() if not t.bundled},
        "jobs": [job.key for job in jobs],
        **({} if protocol is None else {"protocol": dict(protocol)}),
    }


def check_settings(jobs: Sequence[Job], settings: Mapping[str, Any]) -> None:
    """Refuse what no episode could begin with, before anything is stored.

    Raises:
        OptionError: Naming it.
    """
    digests: dict[str, str] = {}
    for job in {(j.ticket.digest, j.language): j for j in jobs}.values():
        name = job.ticket.env_id
        if digests.setdefault(name, job.ticket.digest) != job.ticket.digest:
            raise OptionError(f"two tickets are named {name}")
        TicketEpisode(job.ticket, language=job.language, **episode_settings(settings))


def tickets_of(manifest: Mapping[str, Any]) -> dict[str, Ticket]:
    """The run's tickets by registered name, with the constants that it was scored with.

    Raises:
        StoreError: If this package ships another text of one of them.
        TicketError: If this package can't read one.
    """
    found: dict[str, Ticket] = {}
    for name, digest in manifest["tickets"].items():
        text = manifest["sources"].get(name)
        if text is None:
            try:
                ticket = bundled(name)
            except UnknownTicket as error:
                raise StoreError(f"{error}; the run is of version {manifest['version']}") from None
        else:
            ticket = restore(name, digest, f"{name} (stored in the run)", text)
        if ticket.digest != digest:
            raise StoreError(
                f"{name} has another text than when it was played; "
                f"the run is of version {manifest['version']} of this package"
            )
        constants = manifest["constants"][name]
        if ticket.constants != constants:
            ticket = replace(ticket, constants=constants, plans={})
        found[name] = ticket
    return found


def rule_of(manifest: Mapping[str, Any]) -> RewardRule | None:
    """The run's own reward rule; None where it can't be made again.

    A function of the user's is in no manifest, and another version of the rules' arithmetic gives
    other integers.
    """
    stored = manifest["reward"]
    if stored["custom"] or stored["version"] != REWARD_VERSION:
        return None
    return RewardRule(stored["weights"], gamma=stored["gamma"], name=stored["name"])


def _named(name: str, value: Any) -> Any:
    """The setting as JSON; an object as its name and type."""
    if isinstance(value, RewardRule):
        return value.to_json()
    try:
        if encodes(canonical(value)):
            return value
    except (TypeError, ValueError, RecursionError):
        pass
    kind = value if isinstance(value, type) or hasattr(value, "__qualname__") else type(value)
    own = getattr(value, "name", "")
    if isinstance(own, str) and encodes(own):
        return {"name": own, "type": f"{kind.__module__}:{kind.__qualname__}"}
    raise OptionError(f"the setting {name!r} can't be stored: {type(value).__name__}")
