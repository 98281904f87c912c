"""ToolTalk's databases as tables that answer its plain reads.

A table is kept for a conversation only if it holds every row of every recorded read that came
before a change. Rows hold the columns that the public API shows: passwords and tokens never leave
the files. What belongs to one user is answered only where that user is signed in from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

from cirrus_env.adapters.source import read_json
from cirrus_env.cloud.arguments import plain, same
from cirrus_env.cloud.lookup import Condition, Lookup, Row
from cirrus_env.cloud.recorded import RecordedCall
from cirrus_env.errors import ImportFormatError

FOLDER: Final = "databases"

_ACCOUNT: Final = ("UserLogin", "LogoutUser", "RegisterUser", "DeleteAccount")
_PUBLIC: Final = ("username", "email", "phone", "name")


@dataclass(frozen=True, slots=True)
class Databases:
    """The database files beside some conversations.

    Attributes:
        tables: Name, such as ``Calendar`` -> its JSON.
        wrong: What could not be read, a sentence each.
    """

    tables: Mapping[str, Mapping[str, Any]]
    wrong: tuple[str, ...] = ()


def databases_for(path: Path) -> Path | None:
    """The nearest ``databases`` folder beside a conversation or beside its folder."""
    for folder in (path.parent, path.parent.parent):
        if (folder / FOLDER).is_dir():
            return folder / FOLDER
    return None


def read_databases(folder: Path) -> Databases:
    """All database files of a folder."""
    tables: dict[str, Mapping[str, Any]] = {}
    wrong = []
    for path in sorted(folder.glob("*.json")):
        try:
            value = read_json(path)
        except ImportFormatError as error:
            wrong.append(f"the database {error}")
            continue
        if isinstance(value, dict) and all(isinstance(item, dict) for item in value.values()):
            tables[path.stem] = value
        else:
            wrong.append(f"the database {path.name}: not an object of objects")
    return Databases(tables, tuple(wrong))


def lookups_for(
    databases: Databases, username: str, now: str, calls: tuple[RecordedCall, ...]
) -> tuple[tuple[Lookup, ...], list[str], list[str]]:
    """The tables that one conversation can use.

    Args:
        databases: All of them.
        username: Who is signed in from the start; empty for nobody.
        now: The opening moment as ``YYYY-MM-DD HH:MM:SS``; empty if unknown.
        calls: The recorded calls, in order.

    Returns:
        The tables, what they are, and what was not used, a sentence each.
    """
    kept: list[Lookup] = []
    used: list[str] = []
    dropped = list(databases.wrong)
    for name, make in _MAKERS.items():
        for lookup in make(databases.tables, username, now):
            if not _agrees(lookup, calls):
                dropped.append(f"the table for {lookup.function}: the recording says otherwise")
                continue
            kept.append(lookup)
            used.append(f"{name}.json answers {lookup.function} ({len(lookup.rows)} rows)")
    if not username and databases.tables:
        dropped.append("the databases' personal tables: nobody is signed in at the start")
    return tuple(kept), used, dropped


def _agrees(lookup: Lookup, calls: tuple[RecordedCall, ...]) -> bool:
    """Whether the table says all that was recorded before it became stale."""
    for call in calls:
        if call.name in lookup.stale and not call.error:
            return True
        if call.name == lookup.function and not call.error:
            answer = lookup.answer(call.arguments)
            if answer is not None and not _covers(plain(answer), plain(call.result)):
                return False
    return True


def _covers(answer: Mapping[str, Any], recorded: Any) -> bool:
    """Whether an answer is the recorded one; a list may hold more: some recordings were cut."""
    if not isinstance(recorded, Mapping) or answer.keys() != recorded.keys():
        return False
    for key, value in recorded.items():
        said = answer[key]
        if isinstance(said, list) and isinstance(value, list):
            if not all(any(same(row, other) for other in said) for row in value):
                return False
        elif not same(said, value):
            return False
    return True


def _rows(values: Any, *columns: str) -> tuple[Row, ...]:
    """The rows that have all the columns, and only these."""
    found = []
    for value in values.values() if isinstance(values, Mapping) else ():
        if isinstance(value, Mapping) and all(column in value for column in columns):
            found.append(Row({column: value[column] for column in columns}, {}))
    return tuple(found)


Tables = Mapping[str, Mapping[str, Any]]


def _calendar(tables: Tables, username: str, now: str) -> Iterator[Lookup]:
    if username in tables.get("Calendar", ()):
        yield Lookup(
            "QueryCalendar",
            "events",
            _rows(tables["Calendar"][username], "event_id", "name", "event_type", "start_time",
                  "end_time", "location", "description", "attendees"),
            (Condition("start_time", ("end_time",), "at_least", "moment"),
             Condition("end_time", ("start_time",), "at_most", "moment")),
            stale=(*_ACCOUNT, "CreateEvent", "ModifyEvent", "DeleteEvent"),
        )  # fmt: skip


def _searched(
    table: str,
    function: str,
    result: str,
    columns: tuple[str, ...],
    moment: str,
    words: tuple[str, ...],
) -> Callable[[Tables, str, str], Iterator[Lookup]]:
    def make(tables: Tables, username: str, now: str) -> Iterator[Lookup]:
        if username not in tables.get(table, ()) or not now:
            return
        rows = _rows(tables[table][username], *columns)
        filters = ("query", "sender", "start_date", "end_date")
        yield Lookup(
            function,
            result,
            tuple(row for row in rows if str(row.value[moment]) <= now),
            (
                Condition("query", words, "words"),
                Condition("sender", ("sender",)),
                Condition("start_date", (moment,), "at_least", "moment"),
                Condition("end_date", (moment,), "at_most", "moment"),
            ),
            some=filters,
            latest=(moment, 5),
            stale=_ACCOUNT,
        )

    return make


def _alarms(tables: Tables, username: str, now: str) -> Iterator[Lookup]:
    if username in tables.get("Alarm", ()):
        yield Lookup(
            "FindAlarms",
            "alarms",
            _rows(tables["Alarm"][username], "alarm_id", "time"),
            (Condition("start_range", ("time",), "at_least", "clock"),
             Condition("end_range", ("time",), "at_most", "clock")),
            stale=(*_ACCOUNT, "AddAlarm", "DeleteAlarm"),
        )  # fmt: skip


def _reminders(tables: Tables, username: str, now: str) -> Iterator[Lookup]:
    if username in tables.get("Reminder", ()):
        yield Lookup(
            "GetReminders",
            "reminders",
            _rows(tables["Reminder"][username], "reminder_id", "task", "due_date", "status"),
            stale=(*_ACCOUNT, "AddReminder", "CompleteReminder", "DeleteReminder"),
        )


def _accounts(tables: Tables, username: str, now: str) -> Iterator[Lookup]:
    accounts = tables.get("Account", {})
    if username not in accounts:
        return
    stale = (*_ACCOUNT, "UpdateAccountInformation")
    yield Lookup(
        "QueryUser",
        "users",
        _rows(accounts, *_PUBLIC),
        (Condition("username", ("username",)), Condition("email", ("email",))),
        alone=("username", "email"),
        stale=stale,
    )
    own = _rows({username: accounts[username]}, *_PUBLIC)
    yield Lookup("GetAccountInformation", "user", own, one=True, stale=stale)


def _weather(tables: Tables, username: str, now: str) -> Iterator[Lookup]:
    try:
        today = date.fromisoformat(now[:10])
    except ValueError:
        return
    where = (Condition("location", ("place",), "folded"),)
    for function, result, days, one in (
        ("CurrentWeather", "weather", (0,), True),
        ("ForecastWeather", "forecast", (1, 2, 3), False),
    ):
        rows = []
        for place, table in tables.get("Weather", {}).items():
            found = [table.get((today + timedelta(days=day)).isoformat()) for day in days]
            if all(found):
                rows += [Row(value, {"place": place}) for value in found]
        if rows:
            yield Lookup(function, result, tuple(rows), where, one=one, found=True)


def _historic(tables: Tables, username: str, now: str) -> Iterator[Lookup]:
    rows = tuple(
        Row(value, {"place": place, "month": month})
        for place, months in tables.get("HistoricWeather", {}).items()
        for month, value in months.items()
    )
    if rows:
        where = (
            Condition("location", ("place",), "folded"),
            Condition("month", ("month",), "folded"),
        )
        yield Lookup("HistoricWeather", "weather", rows, where, one=True, found=True)


_MAKERS: Final[Mapping[str, Callable[[Tables, str, str], Iterator[Lookup]]]] = {
    "Account": _accounts,
    "Alarm": _alarms,
    "Calendar": _calendar,
    "Email": _searched(
        "Email", "SearchInbox", "emails",
        ("email_id", "date", "sender", "receivers", "subject", "body"), "date", ("body", "subject"),
    ),
    "HistoricWeather": _historic,
    "Message": _searched(
        "Message", "SearchMessages", "messages",
        ("message_id", "timestamp", "sender", "message"), "timestamp", ("message",),
    ),
    "Reminder": _reminders,
    "Weather": _weather,
}  # fmt: skip
"""Database -> what makes its tables, for a user and a moment."""
