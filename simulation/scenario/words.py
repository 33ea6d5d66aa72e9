"""What a scenario allows at a place, in plain words: read from the JSON Schema of the model.

The same words stand in error messages and in docs/scenario.md, so they cannot disagree.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from simulation.scenario.model import NAME_PATTERN, Scenario
from simulation.scenario.parts import IDENTIFIER_PATTERN, VISIBLE_PATTERN
from simulation.spelling import listed, nearest
from simulation.yaml_reading import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simulation.yaml_reading import Key, KeyPath

Schema = dict[str, Any]

_PATTERNS = {
    IDENTIFIER_PATTERN: "a short name (a letter, then letters, digits or _, at most 32 in all)",
    NAME_PATTERN: "a name (letters, digits, _, . or -, at most 64, the first a letter or digit)",
    VISIBLE_PATTERN: "text",
}
MOST_LISTED = 20  # longer lists of allowed values are shortened


@lru_cache(maxsize=1)
def model_schema() -> Schema:
    """Return the JSON Schema of a scenario; to be read, not changed."""
    return Scenario.model_json_schema()


def resolved(schema: Schema) -> Schema:
    """Return a schema with a reference followed and `null` left out of its members."""
    members = [m for m in schema.get("anyOf", ()) if m.get("type") != "null"]
    if len(members) == 1:
        schema = members[0]
    if "$ref" in schema:
        definition: Schema = model_schema()["$defs"][schema["$ref"].rpartition("/")[2]]
        return definition
    return schema


def locate(loc: KeyPath) -> tuple[Schema, Schema, KeyPath]:
    """Return the schema of an error's place, that of its parent, and the place in the data.

    loc: a location of pydantic, in which a member of a union is named by its tag; the tags are
    no keys of the data and are left out of the returned place.
    """
    parent: Schema = {}
    schema = resolved(model_schema())
    place: list[Key] = []
    for key in loc:
        if "oneOf" in schema:
            schema = resolved(_member(schema, str(key)))
            continue
        parent = schema
        schema = resolved(_child(schema, key))
        place.append(key)
    return schema, parent, tuple(place)


def _member(schema: Schema, tag: str) -> Schema:
    fits = (m for m in schema["oneOf"] if tag in (m.get("type"), m.get("$ref", "")[8:]))
    return dict(next(fits))  # "$ref" is "#/$defs/CLASS"


def _child(schema: Schema, key: Key) -> Schema:
    if isinstance(key, int):
        return dict(schema.get("items", {}))
    properties = schema.get("properties", {})
    if key in properties:
        return dict(properties[key])
    rest = schema.get("additionalProperties")
    return dict(rest) if isinstance(rest, dict) else {}


def phrase(schema: Schema) -> str:
    """Return what a schema allows, such as "a number between 0 and 1"."""
    schema = resolved(schema)
    if "oneOf" in schema:
        return _union(schema["oneOf"])
    if "const" in schema:
        return quoted(str(schema["const"]))
    if "enum" in schema:
        return "one of " + listed(schema["enum"], most=MOST_LISTED)
    kind = schema.get("type")
    if kind in {"integer", "number"}:
        return ("a whole number" if kind == "integer" else "a number") + _range(schema)
    words = {"array": _array, "object": _object, "string": _string}.get(str(kind))
    return words(schema) if words else "true or false" if kind == "boolean" else "a value"


def _range(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" between {_digits(low)} and {_digits(high)}"
    if low is not None:
        return f" of at least {_digits(low)}"
    return ""


def _digits(number: float) -> str:
    if float(number).is_integer():
        return f"{int(number):,}"
    return f"{number:f}".rstrip("0")  # 0.000001, not 1e-06


def _string(schema: Schema) -> str:
    return _PATTERNS.get(schema.get("pattern", ""), "text")


def _array(schema: Schema) -> str:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least and most:
        return f"a list of {least:,} to {most:,}: " + phrase(schema.get("items", {}))
    least = "a list of at least one: " if least else "a list, each item "
    return least + phrase(schema.get("items", {}))


def _object(schema: Schema) -> str:
    if "properties" in schema:
        return "a mapping with the keys " + ", ".join(schema["properties"])
    return "a mapping of names, each to " + phrase(schema["additionalProperties"])


def _union(members: Iterable[Schema]) -> str:
    """Join the members; mappings are told apart by the key that only they have."""
    plain = [phrase(m) for m in members if "$ref" not in m]
    marks = [resolved(m)["required"][0] for m in members if "$ref" in m]
    if marks:
        keys = list(dict.fromkeys(marks))
        one = "the key " if len(keys) == 1 else "one of the keys "
        plain.append(f"a mapping with {one}{', '.join(keys)}")
    return ", or ".join(plain)


def meant(word: str, names: Iterable[str], otherwise: str) -> str:
    """Return `did you mean "x"?` when a name is near, else a list of all that is allowed."""
    every = list(names)
    near = nearest(word, every)
    if near is not None:
        return f"did you mean {quoted(near)}?"
    return f"{otherwise} {listed(every, most=MOST_LISTED)}" if every else f"{otherwise} none"


def shown(value: object) -> str:
    """Return a value of a scenario for a message, short."""
    if isinstance(value, str):
        return quoted(value)
    if value is None:
        return "empty"
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return str(value).lower() if isinstance(value, bool) else f"{value}"


def branches(schema: Schema) -> Mapping[str, Schema]:
    """Return the members of a union that are mappings, by the key that names them."""
    members = [resolved(m) for m in schema.get("oneOf", ()) if "$ref" in m]
    return {member["required"][0]: member for member in members}
