"""What is left of an ontology file when the types refuse parts of it, so that the rest is checked.

A refused wording (a label, a question) is taken out alone. Where values, bands, weights or
references are refused, nothing can be said of the attribute: it is held as a text, and what refers
to it is believed.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from simulation.ontology.entries import FieldEntry
from simulation.yaml_reading import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulation.yaml_reading import KeyPath

_WORDS = frozenset(
    {"label", "say", "voice", "question", "answers", "synonyms", "effects", "description"}
)
_IN_ATTRIBUTE = 2  # keys of a path before those of an attribute: "attributes", its index


def salvage(
    data: Any, refused: Iterable[tuple[KeyPath, bool]]
) -> tuple[FieldEntry, frozenset[str]] | None:
    """Return the field without what was refused, and the attributes of which nothing is known.

    refused: the place of each problem, and whether it is a key that should not be there.
    None when nothing can be told from the rest.
    """
    attributes = data.get("attributes") if isinstance(data, dict) else None
    if not isinstance(attributes, list) or not all(_has_id(each) for each in attributes):
        return None
    refused = list(refused)
    if any(path in {(), ("attributes",)} for path, _ in refused):
        return None
    kept = copy.deepcopy(data)
    lost = {path[1] for path, extra in refused if not _taken_out(kept, path, extra=extra)}
    names = {index: str(attributes[int(index)]["id"]) for index in lost}
    for index in names:
        kept["attributes"][int(index)] = {"id": f"unknown{index}", "kind": "text"}
    try:
        return FieldEntry.model_validate(frozen(kept)), frozenset(names.values())
    except ValidationError:  # pragma: no cover - a way out, should the types refuse more
        return None


def _has_id(attribute: object) -> bool:
    return isinstance(attribute, dict) and isinstance(attribute.get("id"), str)


def _taken_out(kept: dict[str, Any], path: KeyPath, *, extra: bool) -> bool:
    """Take a refused place out, or put something harmless there; return whether that was done."""
    if path[0] != "attributes":
        kept.pop(str(path[0]), None)
        kept.setdefault("name", "unknown")
        return True
    if path[_IN_ATTRIBUTE:] == ("kind",):
        attribute = kept["attributes"][path[1]]
        attribute["kind"] = _kind(attribute)
        return True
    words = (i for i in range(_IN_ATTRIBUTE, len(path)) if path[i] in _WORDS)
    at = next(words, len(path) - 1 if extra else None)
    if at is None:
        return False
    holder: Any = kept
    for key in path[:at]:
        holder = holder[key]
    holder.pop(path[at], None)
    if path[at] == "question":  # answers are of no use without one
        holder.pop("answers", None)
    return True


def _kind(attribute: dict[str, Any]) -> str:
    """Return the kind that an attribute most likely has, from its other keys."""
    if "values" in attribute:
        return "category"
    numeric = ("bands", "minimum", "maximum", "mean", "distribution")
    return "number" if any(key in attribute for key in numeric) else "text"
