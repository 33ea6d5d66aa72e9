"""JSON Schemas as the providers take them.

Anthropic's structured output knows types, `enum`, `const`, `anyOf`, `allOf`, references, some
`format`s and `minItems` of 0 and 1. OpenAI's strict one also knows bounds of numbers and lists,
`pattern` and `format`, but no `allOf`, no `default` and no lengths of strings. What a provider
cannot enforce stands in the description, for the model to read. Servers of other people compile
a schema to a grammar or ignore what they do not know; they get it whole.
"""

from __future__ import annotations

from typing import Any, Final

VARIES: Final = "x-varies"
"""Marks a property whose `enum` differs from request to request."""

_COMMON: Final = frozenset(
    {"type", "properties", "required", "additionalProperties", "items"}
    | {"enum", "const", "anyOf", "$ref", "$defs", "description"}
)
_BOUNDS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_KNOWN: Final = {
    "anthropic": _COMMON | {"allOf", "format"},
    "openai": _COMMON | _BOUNDS | {"multipleOf", "minItems", "maxItems", "pattern", "format"},
}
_FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email"}
    | {"hostname", "uri", "ipv4", "ipv6", "uuid"}
)
_SILENT: Final = frozenset({VARIES, "title", "$schema", "$id", "default", "examples"})
_NAMED: Final = ("properties", "$defs")
_LISTED: Final = ("anyOf", "oneOf", "allOf")
_SINGLE: Final = ("items", "additionalProperties", "not")


def strict(schema: dict[str, Any], *, provider: str) -> dict[str, Any]:
    """Return the schema as a provider's own host takes it, the same for every request.

    The `enum` of a property marked with VARIES is left out, as each new schema is compiled once,
    which takes seconds. The schema given is not changed.
    """
    kept: dict[str, Any] = {}
    said: dict[str, Any] = {}
    for word, value in schema.items():
        if word in _SILENT or (word == "enum" and schema.get(VARIES)):
            continue
        if _is_known(word, value, provider):
            kept["anyOf" if word == "oneOf" else word] = _within(word, value, provider)
        else:
            said[word] = value
    if kept.get("type") == "object":
        kept["additionalProperties"] = False
    return _described(kept, said)


def whole(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema for a server that takes any: all of it but VARIES."""
    kept = {word: value for word, value in schema.items() if word != VARIES}
    return {word: _within(word, value, None) for word, value in kept.items()}


def _is_known(word: str, value: object, provider: str) -> bool:
    """Return whether a provider enforces a word of a schema."""
    if word == "oneOf":
        return True  # is said as anyOf
    if provider == "anthropic" and word == "minItems":
        return value in (0, 1)
    if word == "format":
        return value in _FORMATS
    return word in _KNOWN[provider]


def _within(word: str, value: Any, provider: str | None) -> Any:
    """Return the value of a word with the schemas in it as `strict` or, without one, `whole`."""
    if word in _NAMED and isinstance(value, dict):
        return {name: _schema(part, provider) for name, part in value.items()}
    if word in _LISTED and isinstance(value, list):
        return [_schema(part, provider) for part in value]
    return _schema(value, provider) if word in _SINGLE else value


def _schema(schema: Any, provider: str | None) -> Any:
    """Return one schema transformed; `true` and `false` are schemas too."""
    if not isinstance(schema, dict):
        return schema
    return whole(schema) if provider is None else strict(schema, provider=provider)


def _described(kept: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with what cannot be enforced in its description."""
    if not said:
        return kept
    rest = ", ".join(f"{word}: {value}" for word, value in said.items())
    parts = (str(kept.get("description", "")), f"({rest})")
    return kept | {"description": " ".join(part for part in parts if part)}
