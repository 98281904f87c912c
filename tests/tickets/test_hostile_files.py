"""Edits of a whole ticket that no reading may let through: a ``TicketError`` names the place."""

import pytest

from cirrus_env.errors import TicketError
from cirrus_env.tickets.index import DATA
from cirrus_env.tickets.load import load_ticket

TEXT = (DATA / "ecs" / "Billing.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('id = "ECS-Billing"', 'id = "ECS-Billing\\n"', "id"),
        ('family = "stopped-but-charged"', 'family = "stopped\\n"', "family"),
        ('of = ["shop-web"', 'of = ["{system_disk}"', "parameters.label.of[0]"),
        ('of = ["shop-web"', 'of = ["at {now}"', "parameters.label.of[0]"),
        ('hourly_cents = "{hourly}"', 'hourly_cents = "{label}"', "hourly_cents"),
        ('value = "{daily}"', 'value = "{label}"', "slots.daily_cost.value"),
    ],
)
def test_an_edit_is_refused_by_its_place(old, new, place):
    assert old in TEXT
    with pytest.raises(TicketError) as refusal:
        load_ticket(TEXT.replace(old, new), file="edited.toml")
    assert refusal.value.path.endswith(place)
