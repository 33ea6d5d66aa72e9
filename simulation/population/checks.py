"""What can be wrong with the `population` of a scenario before any file is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simulation.errors import Problem
from simulation.scenario.model import TRAITS, ByAttribute, Choice, FromColumn, Uniform
from simulation.spelling import did_you_mean, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.ontology import Attribute, Ontology
    from simulation.scenario.model import BeliefSource, Population

SAMPLE = "sample"


def spec_problems(
    spec: Population, *, targets: Sequence[str], ontology: Ontology
) -> tuple[Problem, ...]:
    """Return everything wrong with a population's description, with key paths, without lines."""
    found = [*_source(spec), *_columns(spec, ontology), *_beliefs(spec, targets, ontology)]
    return tuple(Problem(where=f"population.{where}", message=text) for where, text in found)


def _source(spec: Population) -> Iterator[tuple[str, str]]:
    if spec.source != SAMPLE:
        return
    if spec.size is None:
        yield "size", "a number is needed to sample from the ontology"
    if spec.id_column is not None:
        yield "id_column", "there are no columns; the source is `sample`"
    for key in ("activity", "tier"):
        if isinstance(getattr(spec, key), FromColumn):
            yield key, "there are no columns; the source is `sample`"
    if trait_columns(spec):
        yield "personality.columns", "there are no columns; the source is `sample`"


def trait_columns(spec: Population) -> list[tuple[str, str]]:
    """Return the traits that are read from the file and their columns, in the kind's order."""
    personality = spec.personality
    if personality == "none" or personality.columns is None:
        return []
    columns = personality.columns
    return [(name, columns[name]) for name in TRAITS[personality.kind] if name in columns]


def _columns(spec: Population, ontology: Ontology) -> Iterator[tuple[str, str]]:
    names = [attribute.id for attribute in ontology.attributes]
    if spec.columns and spec.source == SAMPLE:
        yield "columns", "there are no columns; the source is `sample`"
    for name in spec.columns:
        if name not in names:
            yield f"columns.{name}", _unknown(name, names, f"an attribute of {ontology.name}")


def _beliefs(
    spec: Population, targets: Sequence[str], ontology: Ontology
) -> Iterator[tuple[str, str]]:
    if not isinstance(spec.beliefs, dict):
        return
    for target, source in spec.beliefs.items():
        where = f"beliefs.{target}"
        if target not in targets:
            yield where, _unknown(target, targets, "a dimension or claim of the brief")
        for key, text in _belief(source, sampled=spec.source == SAMPLE, ontology=ontology):
            yield where + key, text


def _belief(
    source: BeliefSource, *, sampled: bool, ontology: Ontology
) -> Iterator[tuple[str, str]]:
    if isinstance(source, FromColumn) and sampled:
        yield ".column", "there are no columns; the source is `sample`"
    if isinstance(source, Uniform) and source.low > source.high:
        yield ".low", f"low {source.low:g} is above high {source.high:g}"
    if isinstance(source, Choice) and source.weights is not None:
        if len(source.weights) != len(source.values):
            yield ".weights", f"{len(source.weights)} weights for {len(source.values)} values"
        if sum(source.weights) <= 0:
            yield ".weights", "the weights sum to 0; at least one must be positive"
    if isinstance(source, ByAttribute):
        yield from _by_attribute(source, ontology)


def _by_attribute(source: ByAttribute, ontology: Ontology) -> Iterator[tuple[str, str]]:
    if source.by not in ontology:
        names = [attribute.id for attribute in ontology.attributes]
        yield ".by", _unknown(source.by, names, f"an attribute of {ontology.name}")
        return
    attribute = ontology[source.by]
    first: dict[str, str] = {}
    for name in source.means:
        value = named_value(attribute, name)
        if value is None:
            yield f".means.{name}", unknown_value(attribute, name)
        elif value in first:
            yield f".means.{name}", f'"{first[value]}" names the same value'
        first.setdefault(value or "", name)


def unknown_value(attribute: Attribute, name: str) -> str:
    """Return what to say of a name that is no value or band: those that are, and the nearest."""
    allowed = [level.id for level in attribute.levels]
    wrong = ""
    try:
        attribute.canonical(name)
    except ValueError as error:
        wrong = str(error)
    if not allowed:
        return f'"{name}" {wrong}'
    these = "bands are" if attribute.kind == "number" else "there are"
    return f'"{name}" {wrong}; {these} {listed(allowed)}{did_you_mean(name, allowed)}'


def named_value(attribute: Attribute, name: str) -> str | None:
    """Return the value or the band that a name stands for, None when there is none."""
    if attribute.kind == "number" and name in attribute.by_id:
        return name
    try:
        return attribute.canonical(name)
    except ValueError:
        return None


def means_by_value(source: ByAttribute, attribute: Attribute, held: set[str]) -> dict[str, float]:
    """Return the mean per value that personas hold; a number's band stands for its values."""
    by_name = dict(source.means)
    means: dict[str, float] = {}
    for name, mean in by_name.items():
        if not (attribute.kind == "number" and name in attribute.by_id):
            means[attribute.canonical(name)] = mean
    for value in sorted(held):
        level = attribute.level(value) if attribute.kind == "number" else None
        if level is not None and level.id in by_name:
            means.setdefault(value, by_name[level.id])
    return means


def _unknown(name: str, options: Sequence[str], what: str) -> str:
    return f'"{name}" is not {what}; there are {listed(options)}{did_you_mean(name, options)}'


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
MAX_ID = 200


def id_problem(name: str) -> str:
    """Return what is wrong with a persona id, "" when nothing is."""
    if not name:
        return "the id is empty"
    if len(name) > MAX_ID:
        return f"the id has {len(name)} characters; at most {MAX_ID} are allowed"
    return "the id has a control character" if _CONTROL.search(name) else ""
