"""The form of an answer that is a letter, a figure, a name or a list.

A server that can hold a model to a JSON Schema is sent the schema, and the prompt stays word for
word what it is without. What the study reads stays the same, too: of a choice its words ("A",
"anxious 4"), not the JSON around them. A server that cannot is asked in words alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simulation.providers.adaptation import STRUCTURED, named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.calls.record import CallRecord

FIXED: Final = "fixed"
FREE: Final = "free"
FORMS: Final = (FIXED, FREE)

ROOM: Final = 128
"""Tokens for names, quotes and blanks around a choice: llama.cpp allows a model two line ends and
twenty blanks between any two parts, and a small one takes some of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What an answer has to look like.

    schema: JSON Schema of an object.  room: tokens that the form takes beside the answer.
    joined: whether the study reads the values of the object, with blanks between; else the object
    as it was written. All values are then choices (`enum`).
    """

    schema: Mapping[str, Any]
    room: int = 0
    joined: bool = False

    def read(self, text: str) -> str | None:
        """Return what the study reads of an answer; None where it has not this form.

        >>> one_of("A", "B").read('{"answer": "B"}'), one_of("A", "B").read("B")
        ('B', None)
        """
        found = _object(text)
        parts: dict[str, Any] = self.schema["properties"]
        if found is None or found.keys() != parts.keys():
            return None
        if not self.joined:
            return text
        values = [(found[name], part["enum"]) for name, part in parts.items()]
        if not all(value in allowed for value, allowed in values):
            return None
        return " ".join(value for value, _ in values)


def one_of(*choices: str) -> Form:
    """Return the form of an answer that is one of some words."""
    return each_of(answer=choices)


def each_of(**parts: Sequence[str]) -> Form:
    """Return the form of an answer that is a word of each of several lists, in this order."""
    return Form(
        schema=closed({name: {"type": "string", "enum": [*of]} for name, of in parts.items()}),
        room=ROOM,
        joined=True,
    )


def closed(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has these properties, and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def was_fixed(record: CallRecord) -> bool:
    """Return whether a fixed form was asked for; not of a rule, whose request is not kept."""
    return record.request is not None and json.loads(record.request)["schema"] is not None


def declines(record: CallRecord) -> bool:
    """Return whether a server turned a request away because of its form."""
    return (
        record.outcome == "error" and was_fixed(record) and named(STRUCTURED, record.error or "")
    )


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
