"""What instances cost before anything is bought."""

from __future__ import annotations

from typing import Any, Final

from cirrus_env.cloud.api import Schema, one_of, parameters, text, view
from cirrus_env.cloud.model import Operation
from cirrus_env.cloud.services.ecs import errors
from cirrus_env.cloud.services.ecs.models import TYPES
from cirrus_env.cloud.services.ecs.power import INSTANCE_ID, find
from cirrus_env.cloud.work import Work
from cirrus_env.errors import CloudError

SUBSCRIPTION: Final = "billing.subscription"


def price(cents: int) -> dict[str, Any]:
    """A price as the API writes it."""
    amount = f"{cents / 100:.2f}"
    return {
        "PriceInfo": {
            "Price": {
                "OriginalPrice": amount, "DiscountPrice": "0.00", "TradePrice": amount,
                "Currency": "USD",
            }
        }
    }  # fmt: skip


def describe_price(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribePrice."""
    spec = TYPES.get(arguments["InstanceType"])
    if spec is None:
        raise CloudError(
            "InvalidInstanceType.ValueNotSupported", f"On offer are {', '.join(TYPES)}."
        )
    hourly = arguments.get("PriceUnit", "Hour") == "Hour"
    return price(spec.hourly_cents if hourly else spec.monthly_cents * arguments.get("Period", 1))


def describe_renewal_price(work: Work, arguments: dict[str, Any]) -> dict[str, Any]:
    """DescribeRenewalPrice."""
    instance = find(work, arguments["ResourceId"])
    if instance.charge_type == "PostPaid":
        raise errors.charge_type_violation("Only a subscription can be renewed.")
    monthly = view(work.peek(SUBSCRIPTION, instance.id), "monthly") or instance.monthly_cents
    years = arguments.get("PriceUnit", "Month") == "Year"
    return price(monthly * arguments.get("Period", 1) * (12 if years else 1))


PERIOD: Final[Schema] = {
    "type": "integer", "enum": [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 24, 36], "default": 1,
}  # fmt: skip
UNIT: Final = one_of("Month", "Year", default="Month")

OPERATIONS: Final = (
    Operation(
        name="DescribePrice",
        description="The price of an instance type by the hour or for months.",
        effect="read",
        parameters=parameters(
            ("InstanceType",),
            InstanceType=text("Such as ecs.g7.xlarge.", 64),
            PriceUnit=one_of("Hour", "Month", default="Hour"),
            Period=PERIOD,
        ),
        run=describe_price,
    ),
    Operation(
        name="DescribeRenewalPrice",
        description="What renewing a subscription instance costs.",
        effect="read",
        parameters=parameters(
            ("ResourceId",), ResourceId=INSTANCE_ID, Period=PERIOD, PriceUnit=UNIT
        ),
        run=describe_renewal_price,
    ),
)
