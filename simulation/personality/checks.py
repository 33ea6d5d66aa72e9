"""What can be wrong with a personality by attribute, once the ontology is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.errors import Problem
from simulation.spelling import did_you_mean, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.ontology import Attribute, Ontology
    from simulation.scenario.model import PersonalitySource


def spec_problems(spec: PersonalitySource, *, ontology: Ontology) -> tuple[Problem, ...]:
    """Return what is wrong with the attribute or its values, with key paths, without lines."""
    if spec == "none" or spec.by is None:
        return ()
    found = _by(spec.by, tuple(spec.profiles or ()), ontology)
    return tuple(Problem(where=f"population.personality.{key}", message=m) for key, m in found)


def _by(by: str, values: Sequence[str], ontology: Ontology) -> Iterator[tuple[str, str]]:
    if by not in ontology:
        names = [attribute.id for attribute in ontology.attributes]
        yield "by", _unknown(by, names, f"an attribute of {ontology.name}")
        return
    attribute = ontology[by]
    first: dict[str, str] = {}
    for name in values:
        value = value_named(attribute, name)
        if value is None:
            levels = [level.id for level in attribute.levels]
            yield f"profiles.{name}", _unknown(name, levels, f"a value of {by}")
        elif value in first:
            yield f"profiles.{name}", f'"{first[value]}" names the same value'
        first.setdefault(value or "", name)


def value_named(attribute: Attribute, name: str) -> str | None:
    """Return the value, or the band of a number, that a name stands for; None for nothing."""
    if attribute.kind == "number" and name in attribute.by_id:
        return name
    try:
        return attribute.canonical(name)
    except ValueError:
        return None


def _unknown(name: str, options: Sequence[str], what: str) -> str:
    there = f"; there are {listed(options)}" if options else ""
    return f'"{name}" is not {what}{there}{did_you_mean(name, options)}'
