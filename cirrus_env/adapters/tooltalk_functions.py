"""The functions of ToolTalk's suites, described here: its conversation files don't.

Names, arguments and which of them must be given follow the public API; the descriptions are ours.
The session token, which its executor fills in, is no argument here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

_KINDS: Final[Mapping[str, dict[str, Any]]] = {
    "text": {"type": "string"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "moment": {
        "type": "string",
        "description": "As YYYY-MM-DD HH:MM:SS.",
        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$",
    },
    "clock": {
        "type": "string",
        "description": "As HH:MM:SS.",
        "pattern": "^[0-9]{2}:[0-9]{2}:[0-9]{2}$",
    },
    "any or all": {"type": "string", "enum": ["any", "all"]},
    "event or meeting": {"type": "string", "enum": ["event", "meeting"]},
}

_SEARCH: Final = (
    "query?:text", "match_type?:any or all", "sender?:text", "start_date?:moment",
    "end_date?:moment",
)  # fmt: skip

_TABLE: Final[tuple[tuple[str, str, str, tuple[str, ...]], ...]] = (
    ("AddAlarm", "write", "Set an alarm.", ("time:clock",)),
    ("AddReminder", "write", "Add a reminder, with a due date if there is one.",
     ("task:text", "due_date?:moment")),
    ("ChangePassword", "write", "Change the signed-in user's password.",
     ("old_password:text", "new_password:text")),
    ("CompleteReminder", "write", "Mark a reminder as complete.", ("reminder_id:text",)),
    ("CreateEvent", "write", "Put an event into the calendar; a meeting has attendees.",
     ("name:text", "event_type:event or meeting", "start_time:moment", "end_time:moment",
      "description?:text", "location?:text", "attendees?:texts")),
    ("CurrentWeather", "read", "Today's weather at a place.", ("location:text",)),
    ("DeleteAccount", "write", "Delete the signed-in user's account.", ("password:text",)),
    ("DeleteAlarm", "write", "Delete an alarm.", ("alarm_id:text",)),
    ("DeleteEvent", "write", "Take an event out of the calendar.", ("event_id:text",)),
    ("DeleteReminder", "write", "Delete a reminder.", ("reminder_id:text",)),
    ("FindAlarms", "read", "The user's alarms, all or those in a range of time.",
     ("start_range?:clock", "end_range?:clock")),
    ("ForecastWeather", "read", "The weather of the next three days at a place.",
     ("location:text",)),
    ("GetAccountInformation", "read", "The signed-in user's account.", ()),
    ("GetReminders", "read", "All reminders of the user.", ()),
    ("HistoricWeather", "read", "What the weather of a month usually is at a place.",
     ("location:text", "month:text")),
    ("LogoutUser", "write", "Sign the user out.", ()),
    ("ModifyEvent", "write", "Change an event; a new start needs a new end.",
     ("event_id:text", "new_name?:text", "new_start_time?:moment", "new_end_time?:moment",
      "new_description?:text", "new_location?:text", "new_attendees?:texts")),
    ("QueryCalendar", "read", "The user's events in a range of time.",
     ("start_time:moment", "end_time:moment")),
    ("QueryUser", "read", "Find users by name or by e-mail address.",
     ("username?:text", "email?:text")),
    ("RegisterUser", "write", "Open an account and sign in.",
     ("username:text", "password:text", "email:text", "name?:text", "phone?:text")),
    ("ResetPassword", "write", "Set a new password with a verification code.",
     ("username:text", "verification_code:text", "new_password:text")),
    ("SearchInbox", "read", "The five latest e-mails that fit; at least one filter.", _SEARCH),
    ("SearchMessages", "read", "The five latest messages that fit; at least one filter.", _SEARCH),
    ("SendEmail", "write", "Send an e-mail.", ("to:texts", "subject:text", "body:text")),
    ("SendMessage", "write", "Send a message to another user.", ("receiver:text", "message:text")),
    ("SendVerificationCode", "write", "Send a verification code for a password reset.",
     ("username:text", "email:text")),
    ("UpdateAccountInformation", "write", "Change the account's e-mail address, phone or name.",
     ("password:text", "new_email?:text", "new_phone_number?:text", "new_name?:text")),
    ("UserLogin", "write", "Sign a user in.", ("username:text", "password:text")),
)  # fmt: skip


def _function(
    name: str, effect: str, description: str, arguments: tuple[str, ...]
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for argument in arguments:
        given, _, kind = argument.partition(":")
        properties[given.rstrip("?")] = _KINDS[kind]
        if not given.endswith("?"):
            required.append(given)
    return {
        "name": name,
        "description": description,
        "effect": effect,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
    }


FUNCTIONS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {row[0]: _function(*row) for row in _TABLE}
)
"""Name -> ``{name, description, effect, parameters}``."""
