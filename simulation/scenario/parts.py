"""What every part of a scenario is made of: the base class, texts, and numbers with bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

IDENTIFIER_PATTERN = r"^[A-Za-z][A-Za-z0-9_]{0,31}$"
VISIBLE_PATTERN = r"\S"

Text = Annotated[str, Field(min_length=1, max_length=20_000, pattern=VISIBLE_PATTERN)]
Unit = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Signed = Annotated[float, Field(ge=-1.0, le=1.0, allow_inf_nan=False)]
# Numbers without a bound of their own are held where sums and quotients of them stay finite.
Positive = Annotated[float, Field(ge=1e-6, le=1e6, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0.0, le=1e6, allow_inf_nan=False)]
Gain = Annotated[float, Field(ge=0.0, le=100.0, allow_inf_nan=False)]  # a weight, not boundless

Identifier = Annotated[str, Field(pattern=IDENTIFIER_PATTERN)]
Tick = Annotated[int, Field(ge=1)]


def shape(value: object) -> str | None:
    """Return which member of a union a value wants to be, by its JSON type or its class."""
    if isinstance(value, BaseModel):
        return type(value).__name__
    if isinstance(value, bool):
        return "boolean"
    shapes: tuple[tuple[Any, str], ...] = (
        ((int, float), "number"),
        (str, "string"),
        ((list, tuple), "array"),
        (Mapping, "object"),
    )
    return next((name for kind, name in shapes if isinstance(value, kind)), None)


def _tick_or_ticks(value: object) -> str | None:
    found = shape(value)
    return "integer" if found == "number" else found


Ticks = Annotated[
    Annotated[Tick, Tag("integer")]
    | Annotated[tuple[Tick, ...], Field(min_length=1), Tag("array")],
    Discriminator(_tick_or_ticks),
]


class Part(BaseModel):
    """A part of a scenario: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=True)

    @model_validator(mode="before")
    @classmethod
    def _lists_are_tuples(cls, data: Any) -> Any:
        """Take lists where tuples are declared: YAML, JSON and notebooks write lists."""
        if not isinstance(data, Mapping):
            return data
        return {key: _as_tuple(value) for key, value in data.items()}


def _as_tuple(value: Any) -> Any:
    """Return lists as tuples, also those that are values of a mapping (`audience`)."""
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, dict):
        return {key: tuple(v) if isinstance(v, list) else v for key, v in value.items()}
    return value
