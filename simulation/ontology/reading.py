"""From the bytes of an ontology file to typed entries, with a line for every problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from simulation.errors import Problem, ScenarioError
from simulation.ontology.entries import FieldEntry
from simulation.ontology.salvage import salvage
from simulation.spelling import did_you_mean
from simulation.yaml_reading import (
    Limits,
    Plain,
    YamlError,
    decoded,
    deepest,
    format_path,
    frozen,
    lies_in,
    read_plain_yaml,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_core import ErrorDetails

    from simulation.yaml_reading import KeyPath

LIMITS = Limits(bytes=2_000_000, depth=20, aliases=0)

_WORDS = {
    "string_type": "a text is needed; put it in quotes",
    "missing": "this key is missing",
    "tuple_type": "a list is needed",
    "dict_type": "a mapping is needed",
    "model_type": "a mapping is needed",
    "float_type": "a number is needed",
    "bool_type": "true or false is needed",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "has characters that are not allowed here",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be above {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDraft:
    """What an ontology file says, as far as its types can be read.

    entry: typed entries.  plain: the file's values with their lines.  problems: what the types
    refused.  unknown: ids of attributes of which nothing is known on that account.
    """

    entry: FieldEntry
    plain: Plain
    problems: tuple[Problem, ...] = ()
    unknown: frozenset[str] = frozenset()


def read_field(data: bytes, *, source: str) -> FieldDraft:
    """Return the typed entries of an ontology file, and what the types refuse of it.

    Raises:
        ScenarioError: the file is not plain YAML, or so far from the shape of an ontology that
            nothing else can be checked; it carries every problem found.
    """
    try:
        plain = read_plain_yaml(decoded(data, LIMITS), LIMITS)
    except YamlError as error:
        raise ScenarioError(source, [error.problem]) from None
    refused = [(path, False) for path in plain.broken]
    told = list(plain.problems)
    try:
        entry = FieldEntry.model_validate(frozen(plain.data))
        if not refused:
            return FieldDraft(entry=entry, plain=plain, problems=tuple(told))
    except ValidationError as error:
        told += _complaints(error, plain)
        refused += [(e["loc"], e["type"] == "extra_forbidden") for e in error.errors()]
    problems = tuple(dict.fromkeys(told))
    rest = salvage(plain.data, refused)
    if rest is None:
        raise ScenarioError(source, problems)
    return FieldDraft(entry=rest[0], plain=plain, problems=problems, unknown=rest[1])


def problem(path: KeyPath, message: str, plain: Plain) -> Problem:
    """Return a problem at a key path, with the line of its longest part that the file has."""
    first = None if plain.data is None else 1
    line = plain.lines.get(deepest(path, plain.lines), first)
    return Problem(where=format_path(path), message=message, line=line)


def _complaints(error: ValidationError, plain: Plain) -> list[Problem]:
    """Return what the types refuse, without what was complained about already."""
    found = []
    for each in error.errors(include_url=False):
        # A list whose items all failed is reported as too short as well; the items say more.
        told = each["type"] == "too_short" and each["input"]
        if not told and not lies_in(each["loc"], plain.broken):
            found.append(_complaint(each, plain))
    return found


def _complaint(error: ErrorDetails, plain: Plain) -> Problem:
    path = error["loc"]
    found = deepest(path, plain.lines)
    if error["type"] == "missing":
        found = path[: len(found) + 1]
    return problem(found, _message(error), plain)


def _message(error: ErrorDetails) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return f"unknown key{did_you_mean(str(error['loc'][-1]), _keys(error['loc']))}"
    text = _WORDS.get(kind, "").format(**error.get("ctx", {})) or error["msg"]
    given = error["input"]
    shown = isinstance(given, str | int | float) and kind != "missing"
    return f"{text}; found {given!r:.80}" if shown else text


def _keys(path: Sequence[str | int]) -> list[str]:
    """Return the keys that are allowed beside an unknown one, by walking the entry types."""
    from simulation.ontology import entries as e  # noqa: PLC0415  (only needed for a message)

    parts = [part for part in path[:-1] if isinstance(part, str)]
    models: dict[str, type[e.Entry]] = {
        "attributes": e.AttributeEntry,
        "values": e.ValueEntry,
        "bands": e.BandEntry,
        "table": e.RowEntry,
        "effects": e.EffectsEntry,
    }
    model = models[parts[-1]] if parts else FieldEntry
    return list(model.model_fields)
