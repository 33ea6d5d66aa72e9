"""JSON Schemas of what a written model may answer, for backends with structured output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.models.base import ON_A_POST
from simulation.models.batches import FRONTIER, choices, target_name
from simulation.providers.schemas import VARIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.models.base import ReflectionRequests, TurnRequests
    from simulation.models.batches import Choices

MAX_MEMORIES = 3


def reaction_schema(
    requests: TurnRequests, i: int, possible: Choices | None = None
) -> dict[str, Any]:
    """Return the JSON Schema of an answer to the i-th turn: what is possible now, nothing else.

    Every property is required and no other allowed, as structured output of the providers wants
    it; "no target" is null, "no change" is 0.

    possible: the turn's `choices`, where they are known.
    """
    possible = choices(requests, i) if possible is None else possible
    changes = {name: _number(-1, 1) for name in requests.cast.targets}
    properties: dict[str, Any] = {
        "action": {"type": "string", "enum": list(possible)},
        "target": _target_schema(possible, requests.cast.ids),
        "words": {"type": "string"},
        "changes": _object(changes),
    }
    if requests.tier[i] == FRONTIER:
        properties["importance"] = _number(0, 1)
    return _object(properties)


def reflection_schema(requests: ReflectionRequests) -> dict[str, Any]:
    """Return the JSON Schema of an answer to a reflection; null leaves a belief as it is."""
    unit = {"anyOf": [_number(0, 1), {"type": "null"}]}
    memories = {
        "type": "array",
        "items": {"type": "string"},
        "minItems": 1,
        "maxItems": MAX_MEMORIES,
    }
    beliefs = _object(dict.fromkeys(requests.cast.targets, unit))
    return _object({"beliefs": beliefs, "memories": memories})


def answer_schema(choices: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema of an answer to a question: one of the choices, else a text."""
    enum = {"enum": list(choices)} if choices else {}
    return _object({"answer": {"type": "string", **enum}})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _number(low: int, high: int) -> dict[str, Any]:
    """Return the schema of a bounded number."""
    return {"type": "number", "minimum": low, "maximum": high}


def _target_schema(possible: Choices, ids: Sequence[str]) -> dict[str, Any]:
    """Return the schema of a target: an id, as text, of any action possible now, or null."""
    # Most actions have the same targets, which are named once.
    distinct = {(targets, action in ON_A_POST): action for action, targets in possible.items()}
    names = dict.fromkeys(
        target_name(action, target, ids)
        for (targets, _), action in distinct.items()
        for target in targets
    )
    if not names:
        return {"type": "null"}
    # Ids differ from turn to turn: a provider that compiles schemas may leave them out.
    some = {"type": "string", "enum": list(names), VARIES: True}
    return {"anyOf": [some, {"type": "null"}]}
