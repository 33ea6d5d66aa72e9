"""Plain values to a Scenario: pydantic checks them, and its complaints are put in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from simulation.scenario.model import Scenario
from simulation.scenario.words import (
    branches,
    locate,
    meant,
    phrase,
    resolved,
    shown,
)
from simulation.spelling import nearest
from simulation.yaml_reading import lies_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from simulation.scenario.words import Schema
    from simulation.yaml_reading import KeyPath

Complaint = tuple["KeyPath", str]
_LONG = 20_000
MOST = 1000  # a file with more problems is no scenario; nobody reads on


def validate(
    data: object, *, words: Mapping[KeyPath, str], broken: AbstractSet[KeyPath]
) -> tuple[Scenario | None, list[Complaint]]:
    """Return the scenario, or None and what is wrong: (key path, message) for each problem.

    data: values of the file.  words: spelling of unquoted scalars.  broken: places that were
    complained about already and are skipped.
    """
    try:
        return Scenario.model_validate(data), []
    except ValidationError as failure:
        errors = failure.errors(include_url=False, include_context=False)
    complaints = (_translated(dict(error), words) for error in errors[:MOST])
    found = [c for c in complaints if c is not None and not lies_in(c[0], broken)]
    if len(errors) > MOST:
        found.append(((), f"and {len(errors) - MOST} more"))
    return None, found


def _translated(error: dict[str, Any], words: Mapping[KeyPath, str]) -> Complaint | None:
    schema, parent, place = locate(error["loc"])
    kind, value = error["type"], error["input"]
    if kind == "too_short" and value:
        return None  # items were refused one by one, and said so
    if kind == "extra_forbidden":
        names = parent.get("properties", {})
        return place, "unknown key; " + meant(str(place[-1]), names, "allowed are")
    if kind == "missing":
        return place, _required(parent, str(place[-1]))
    if kind.startswith("union_tag") and isinstance(value, dict):
        return _no_branch(schema, place, value)
    return place, _must_be(schema, value, words.get(place))


def _required(parent: Schema, key: str) -> str:
    field = parent["properties"][key]
    meaning = field.get("description") or resolved(field).get("description")
    words = f"is required: {phrase(field)}"
    return f"{words}. {meaning}" if meaning else words


def _no_branch(schema: Schema, place: KeyPath, value: dict[str, Any]) -> Complaint:
    """Return what to say of a mapping that fits no member of a union."""
    if "distribution" in value:
        names = [
            resolved(member)["properties"]["distribution"]["const"]
            for member in schema.get("oneOf", ())
            if "distribution" in resolved(member).get("properties", {})
        ]
        said = value["distribution"]
        hint = meant(str(said), names, "allowed are")
        return (*place, "distribution"), f"{shown(said)} is not a distribution; {hint}"
    marks = branches(schema)
    near = next(filter(None, (nearest(key, marks) for key in value)), None)
    hint = f'; did you mean the key "{near}"?' if near else ""
    return place, f"must be {phrase(schema)}{hint}"


def _must_be(schema: Schema, value: object, word: str | None) -> str:
    allowed = phrase(schema)
    names = schema.get("enum")
    if names and isinstance(value, str):
        near = nearest(value, names)
        allowed = f"{allowed}; did you mean {shown(near)}?" if near else allowed
        return f"{shown(value)} is not allowed; must be {allowed}"
    if isinstance(value, str) and len(value) > _LONG and schema.get("type") == "string":
        return f"must be text of at most {_LONG} characters, not {len(value)}"
    if value == "" or (isinstance(value, str) and not value.strip()):
        return f"must be {allowed}, not blank"
    hint = next(filter(None, (rule(schema, value, word) for rule in _HINTS)), "")
    return f"must be {allowed}, not {word or shown(value)}{hint}"


def _quote_it(schema: Schema, value: Any, word: str | None) -> str | None:
    """Numbers and booleans where text is wanted: YAML reads `no` as false, `12` as a number."""
    if schema.get("type") != "string" or not isinstance(value, bool | int | float):
        return None
    text = word or shown(value)
    reads = f"; YAML reads {text} as {shown(value)}" if isinstance(value, bool) else ""
    return f'{reads}; put it in quotes: "{text}"'


def _unquote_it(schema: Schema, value: Any, _word: str | None) -> str | None:
    if not isinstance(value, str) or not _takes_number(schema):
        return None
    try:
        float(value)
    except ValueError:
        return None
    return "; remove the quotes"


def _takes_number(schema: Schema) -> bool:
    kinds = {schema.get("type"), *(m.get("type") for m in schema.get("oneOf", ()))}
    return bool(kinds & {"integer", "number"})


def _whole(schema: Schema, value: Any, _word: str | None) -> str | None:
    if schema.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        return f"; write {int(value)}"
    return None


def _in_brackets(schema: Schema, value: Any, word: str | None) -> str | None:
    if schema.get("type") == "array" and isinstance(value, str | int | float):
        return f"; put it in brackets: [{word or shown(value)}]"
    return None


_HINTS: tuple[Callable[[Schema, Any, str | None], str | None], ...] = (
    _quote_it,
    _unquote_it,
    _whole,
    _in_brackets,
)
