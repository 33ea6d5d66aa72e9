"""From a scenario's `population` to people: sampled from the ontology, or read from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.errors import Problem, ScenarioError
from simulation.ontology.attributes import parse_number
from simulation.population import beliefs
from simulation.population.checks import (
    SAMPLE,
    id_problem,
    means_by_value,
    spec_problems,
    trait_columns,
)
from simulation.population.people import CHEAP, FRONTIER, People
from simulation.population.problems import Problems, pointed, quoted
from simulation.population.tables import Table, read_table
from simulation.rng import stream_keys
from simulation.scenario.model import ByAttribute, FromColumn
from simulation.spelling import did_you_mean, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from simulation.ontology import Attribute, Ontology
    from simulation.population.people import IntArray
    from simulation.rng import FloatArray, Streams
    from simulation.scenario.model import BeliefSource, Population

_TIERS = {"cheap": CHEAP, "frontier": FRONTIER}


def build(
    spec: Population,
    *,
    targets: tuple[str, ...],
    tier: str,
    ontology: Ontology,
    streams: Streams,
    file: Path | None,
    source: str,
) -> People:
    """Return the people that a scenario describes.

    targets: names of the beliefs, in order.  tier: the scenario's, for personas without their
    own.  file: the population file when `spec.source` names one.  source: the scenario's name in
    messages about its keys.

    Sampled personas are called p0000, p0001, …; so are the rows of a file without an id column.

    Raises:
        ScenarioError: the description or the file cannot be used; it carries every problem of
            the description, or the first twenty of the file and the number of the others.
    """
    found = list(spec_problems(spec, targets=targets, ontology=ontology))
    if spec.source != SAMPLE and file is None:
        found.append(Problem(where="population.source", message="the file was not found"))
    if found:
        found += file_problems(spec, file)
        raise ScenarioError(source, found)
    if file is None:
        ids, attributes = _sample(spec.size or 0, ontology=ontology, streams=streams)
        table = Table(source=source, names=(), columns={}, rows=len(ids))
    else:
        table = read_table(file)
        ids, attributes, table = _from_table(spec, table, ontology, streams, source=source)
    _refuse_empty(ids, attributes, source=table.source)
    reader = _Columns(table, ids)
    people = People(
        ids=ids,
        attributes=attributes,
        activity=reader.activity(spec),
        tiers=reader.tiers(spec, tier),
        beliefs=_beliefs(spec, targets, attributes, reader, ontology=ontology, streams=streams),
        traits=reader.traits(spec),
        notes=_notes(spec, table),
    )
    reader.problems.stop_if_any()
    return people


def file_problems(spec: Population, file: Path | None) -> tuple[Problem, ...]:
    """Return what can be said of a population's file without an ontology, by key paths."""
    if file is None:
        return ()
    try:
        return column_problems(spec, read_table(file))
    except ScenarioError as error:
        return pointed(error, where="population.source")


def column_problems(spec: Population, table: Table) -> tuple[Problem, ...]:
    """Return what of a population's description does not fit its file, whatever the ontology."""
    problems = []
    for key, column in _asked(spec).items():
        if column not in table.names:
            hint = did_you_mean(column, table.names, most=len(table.names))
            names = f"there are {listed(table.names)}{hint}"
            problems.append((key, f"no column {quoted(column)} in the file; {names}"))
        elif column not in table.columns:
            problems.append((key, f"column {quoted(column)} holds no plain values"))
    if spec.size is not None and spec.size > table.rows:
        message = f"{spec.size:,} personas from a file of {table.rows:,} rows"
        problems.append(("size", message))
    return tuple(Problem(where=f"population.{key}", message=text) for key, text in problems)


def _asked(spec: Population) -> dict[str, str]:
    """Return the columns that the description names, by key path below `population`."""
    asked = {f"columns.{name}": column for name, column in spec.columns.items()}
    asked |= {"id_column": spec.id_column} if spec.id_column is not None else {}
    asked |= {f"personality.columns.{name}": column for name, column in trait_columns(spec)}
    return asked | {key: value.column for key, value in _column_sources(spec)}


def _notes(spec: Population, table: Table) -> tuple[str, ...]:
    """Return what of the file looks as if it were meant to be used and is not."""
    unused = [name for name in table.names if name.casefold() == "id"]
    if spec.id_column is not None or not unused or unused[0] in _asked(spec).values():
        return ()
    said = f"the column {quoted(unused[0])} is not read: without id_column, rows are numbered"
    return (f"{said} p0000, p0001 and so on",)


def numbered(count: int) -> tuple[str, ...]:
    """Return p0000, p0001, …: an id never changes when more personas follow."""
    return tuple(f"p{i:04d}" for i in range(count))


def _sample(
    size: int, *, ontology: Ontology, streams: Streams
) -> tuple[tuple[str, ...], tuple[Mapping[str, str], ...]]:
    ids = tuple(sorted(numbered(size)))
    columns = ontology.sample(streams=streams, keys=stream_keys(ids))
    return ids, _transposed([(a.id, columns.get(a.id)) for a in ontology.attributes], size)


def _transposed(
    columns: Iterable[tuple[str, list[str] | None]], size: int
) -> tuple[Mapping[str, str], ...]:
    """Return one mapping per persona from one list per attribute, without missing values."""
    present = [(name, values) for name, values in columns if values is not None]
    return tuple({name: values[i] for name, values in present if values[i]} for i in range(size))


def _from_table(
    spec: Population, table: Table, ontology: Ontology, streams: Streams, *, source: str
) -> tuple[tuple[str, ...], tuple[Mapping[str, str], ...], Table]:
    """Return sorted ids, their attributes and the table in the same order, cut to the size."""
    wrong = Problems(source, list(column_problems(spec, table)))
    problems = Problems(table.source)
    ids = _ids(spec, table, problems)
    columns = {
        attribute.id: _canonical(attribute, column, table, problems)
        for attribute, column in _mapped_columns(spec, table, ontology)
    }
    if wrong.found or problems.found:
        _Columns(table, numbered(table.rows), problems).read_all(spec)
    if wrong.found:
        wrong.take(problems, where="population.source")
    wrong.stop_if_any()
    problems.stop_if_any()
    order = _chosen(ids, spec.size, streams=streams)
    attributes = _transposed(
        [(name, [values[i] for i in order]) for name, values in columns.items()], len(order)
    )
    return tuple(ids[i] for i in order), attributes, table.take(order)


def _mapped_columns(
    spec: Population, table: Table, ontology: Ontology
) -> list[tuple[Attribute, str]]:
    named = [(a, spec.columns.get(a.id, a.id)) for a in ontology.attributes]
    return [(attribute, column) for attribute, column in named if column in table.columns]


def _column_sources(spec: Population) -> list[tuple[str, FromColumn]]:
    targets = spec.beliefs if isinstance(spec.beliefs, dict) else {}
    keyed: list[tuple[str, object]] = [("activity", spec.activity), ("tier", spec.tier)]
    keyed += [(f"beliefs.{name}", belief) for name, belief in targets.items()]
    return [(key, value) for key, value in keyed if isinstance(value, FromColumn)]


def _ids(spec: Population, table: Table, problems: Problems) -> Sequence[str]:
    if spec.id_column not in table.columns:  # none was asked for, or it was complained about
        return numbered(table.rows)
    ids = [name.strip() for name in table.columns[spec.id_column]]
    first: dict[str, int] = {}
    for row, name in enumerate(ids):
        wrong = id_problem(name)
        if not wrong and name in first:
            wrong = f"the id {quoted(name)} stands in row {first[name] + 1} already"
        first.setdefault(name, row)
        if wrong:
            problems.add(table.where(row, spec.id_column), wrong, line=table.line(row))
    return ids


def _canonical(attribute: Attribute, column: str, table: Table, problems: Problems) -> list[str]:
    """Return the values of a column as personas hold them, "" where missing or wrong."""
    known: dict[str, str] = {"": ""}
    values: list[str] = []
    for row, raw in enumerate(table.columns[column]):
        if raw not in known:
            known[raw] = _value(attribute, raw)
        if raw.strip() and not known[raw]:
            message = _wrong_value(attribute, raw)
            problems.add(table.where(row, column), message, line=table.line(row))
        values.append(known[raw])
    return values


def _value(attribute: Attribute, raw: str) -> str:
    try:
        return attribute.canonical(raw) if raw.strip() else ""
    except ValueError:
        return ""


def _wrong_value(attribute: Attribute, raw: str) -> str:
    try:
        attribute.canonical(raw)
    except ValueError as error:
        allowed = [level.id for level in attribute.levels] if attribute.kind == "category" else []
        hint = f"; values are {listed(allowed)}{did_you_mean(raw, allowed)}" if allowed else ""
        return f"{quoted(raw)} {error}{hint}"
    raise AssertionError(raw)  # pragma: no cover  (only called for a value that was refused)


def _chosen(ids: Sequence[str], size: int | None, *, streams: Streams) -> list[int]:
    """Return the rows to take, sorted by id: all, or those with the smallest draws."""
    order = sorted(range(len(ids)), key=ids.__getitem__)
    if size is None or size == len(ids):
        return order
    draws = streams.bits("population-sample", tick=0, keys=stream_keys(ids[i] for i in order))
    taken = np.sort(np.argsort(draws, kind="stable")[:size])
    return [order[i] for i in taken.tolist()]


def _refuse_empty(
    ids: Sequence[str], attributes: Sequence[Mapping[str, str]], *, source: str
) -> None:
    # Every attribute has a sentence, so a block is empty when no attribute has a value.
    empty = [name for name, values in zip(ids, attributes, strict=True) if not values]
    if empty:
        count = f"{len(empty):,} persona" + ("s have" if len(empty) > 1 else " has")
        message = f"{count} an empty persona block: no attribute of the ontology has a value"
        where = f"personas {listed([quoted(name) for name in empty], most=20)}"
        raise ScenarioError(source, [Problem(where=where, message=message)])


class _Columns:
    """Numbers and tiers that stand in columns of the population file."""

    def __init__(self, table: Table, ids: Sequence[str], problems: Problems | None = None) -> None:
        self._table = table
        self.keys = stream_keys(ids)
        self.problems = Problems(table.source) if problems is None else problems

    def read_all(self, spec: Population) -> None:
        """Note what is wrong with all columns that are there, where others have problems."""
        for key, source in _column_sources(spec):
            if source.column in self._table.columns:
                self.tiers(spec, "cheap") if key == "tier" else self.units(source.column)

    def activity(self, spec: Population) -> FloatArray:
        if isinstance(spec.activity, FromColumn):
            return self.units(spec.activity.column)
        return np.full(self._table.rows, spec.activity)

    def tiers(self, spec: Population, tier: str) -> IntArray:
        if not isinstance(spec.tier, FromColumn):
            return np.full(self._table.rows, _TIERS[spec.tier or tier], dtype=np.int64)
        found = self._converted(spec.tier.column, _tier, "is not a tier: cheap or frontier")
        return np.array(found, dtype=np.int64)

    def traits(self, spec: Population) -> FloatArray:
        read = [self.units(column) for _, column in trait_columns(spec)]
        return np.stack(read, axis=1) if read else np.empty((self._table.rows, 0))

    def units(self, column: str) -> FloatArray:
        return np.array(self._converted(column, _unit, "is not a number from 0 to 1"), dtype=float)

    def _converted(
        self, column: str, convert: Callable[[str], float | None], message: str
    ) -> list[float]:
        values: list[float] = []
        for row, raw in enumerate(self._table.columns[column]):
            value = convert(raw.strip())
            if value is None:
                where = self._table.where(row, column)
                self.problems.add(where, f"{quoted(raw)} {message}", line=self._table.line(row))
            values.append(0.0 if value is None else value)
        return values


def _unit(text: str) -> float | None:
    number = parse_number(text)
    return number + 0.0 if number is not None and 0.0 <= number <= 1.0 else None  # no -0.0


def _tier(text: str) -> float | None:
    return _TIERS.get(text.casefold())


def _beliefs(
    spec: Population,
    targets: Sequence[str],
    attributes: Sequence[Mapping[str, str]],
    reader: _Columns,
    *,
    ontology: Ontology,
    streams: Streams,
) -> FloatArray:
    values = np.full((len(attributes), len(targets)), 0.5)
    for index, target in enumerate(targets):
        source = spec.beliefs.get(target, 0.5) if isinstance(spec.beliefs, dict) else spec.beliefs
        values[:, index] = _belief(
            source, f"belief:{target}", attributes, reader, ontology, streams
        )
    return values


def _belief(
    source: BeliefSource,
    purpose: str,
    attributes: Sequence[Mapping[str, str]],
    reader: _Columns,
    ontology: Ontology,
    streams: Streams,
) -> FloatArray | float:
    if isinstance(source, FromColumn):
        return reader.units(source.column)
    if isinstance(source, ByAttribute):
        held = {values[source.by] for values in attributes if source.by in values}
        means = means_by_value(source, ontology[source.by], held)
        return beliefs.by_attribute(
            source, means, attributes, purpose=purpose, streams=streams, keys=reader.keys
        )
    if isinstance(source, int | float):
        return source
    return beliefs.draw(source, purpose=purpose, streams=streams, keys=reader.keys)
