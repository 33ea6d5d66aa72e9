"""Find an ontology by name or path, read it, check it and build it."""

from __future__ import annotations

import hashlib
import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simulation.errors import Problem, ScenarioError
from simulation.ontology.attributes import Attribute, Dispositions, Distribution, Level
from simulation.ontology.checks import drawing_order, field_problems, is_drawn, row_for
from simulation.ontology.entries import BandEntry, ValueEntry
from simulation.ontology.ontology import Ontology
from simulation.ontology.reading import read_field
from simulation.spelling import did_you_mean, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.ontology.entries import AttributeEntry, FieldEntry, LevelEntry
    from simulation.rng import FloatArray

_PACKAGE = Path(__file__).resolve().parents[1]
# In a wheel the ontologies are package data; in a clone they lie beside the package.
_FOLDERS = (_PACKAGE / "_shipped" / "ontology", _PACKAGE.parent / "ontology")


def _folder() -> Path:
    return next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])


def shipped() -> tuple[str, ...]:
    """Return the names of the ontologies that come with the engine, sorted."""
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def shipped_file(name: str) -> Path:
    """Return the file of an ontology that comes with the engine; of a name in `shipped()`."""
    return _folder() / f"{name}.yaml"


def load(name_or_path: str | Path, *, path: Path | None = None) -> Ontology:
    """Return an ontology by the name of a shipped one, or from a file.

    path: read this file; the name then only serves messages.

    Raises:
        ScenarioError: no such ontology, an unreadable file, or a file with problems; it carries
            all of them.
    """
    if path is None:
        names = shipped()
        name = str(name_or_path)
        if name not in names:
            message = f'"{name}" does not ship; those that do are {listed(names)}'
            problem = Problem(where="ontology", message=message + did_you_mean(name, names))
            raise ScenarioError(f'ontology "{name}"', [problem])
        path = shipped_file(name)
    try:
        data = path.read_bytes()
    except OSError as error:
        problem = Problem(where="", message=error.strerror or type(error).__name__)
        raise ScenarioError(str(path), [problem]) from None
    return from_bytes(data, source=str(path))


def from_bytes(data: bytes, *, source: str) -> Ontology:
    """Return the ontology that a file's bytes describe; `source` names it in messages.

    Raises:
        ScenarioError: the bytes are not a sound ontology; it carries every problem found.
    """
    draft = read_field(data, source=source)
    entry = draft.entry
    problems = [*draft.problems, *field_problems(entry, draft.plain, unknown=draft.unknown)]
    if problems:
        raise ScenarioError(source, problems)
    return Ontology(
        name=entry.name,
        description=entry.description,
        sha256=hashlib.sha256(data).hexdigest(),
        attributes=tuple(_attribute(a, entry) for a in entry.attributes),
        order=drawing_order(entry) or (),
        aspects=dict(entry.aspects),
    )


def _attribute(entry: AttributeEntry, field: FieldEntry) -> Attribute:
    label = entry.label or entry.id.replace("_", " ")
    say = entry.say or f"Your {label} is {{value}}."
    voice = entry.voice or ""
    return Attribute(
        id=entry.id,
        label=label,
        kind=entry.kind,
        say=say,
        voice=voice,
        question=entry.question or "",
        answers=entry.answers,
        levels=tuple(_level(level, say=say, voice=voice) for level in entry.levels),
        distribution=_distribution(entry, field) if is_drawn(entry) else None,
        minimum=-math.inf if entry.minimum is None else entry.minimum,
        maximum=math.inf if entry.maximum is None else entry.maximum,
        integer=entry.integer,
    )


def _level(entry: LevelEntry, *, say: str, voice: str) -> Level:
    value = entry if isinstance(entry, ValueEntry) else None
    band = entry if isinstance(entry, BandEntry) else None
    return Level(
        id=entry.id,
        label=(value.label if value else None) or entry.id.replace("_", " "),
        say=entry.say or say,
        voice=entry.voice or voice,
        synonyms=value.synonyms if value else (),
        effects=Dispositions(**entry.effects.model_dump()),
        low=band.low if band else math.nan,
        high=band.high if band else math.nan,
    )


def _distribution(entry: AttributeEntry, field: FieldEntry) -> Distribution:
    if entry.distribution != "bands":
        mean = math.nan if entry.mean is None else entry.mean
        return Distribution(mean=mean, sd=math.nan if entry.sd is None else entry.sd)
    by_id = {a.id: a for a in field.attributes}
    levels = [[level.id for level in by_id[parent].levels] for parent in entry.given]
    rows = [_weights(entry, combination) for combination in itertools.product(*levels)]
    return Distribution(
        parents=entry.given,
        shape=tuple(map(len, levels)),
        cumulative=np.array([_cumulative(row, entry) for row in rows]),
    )


def _weights(entry: AttributeEntry, combination: Sequence[str]) -> Mapping[str, float]:
    row = row_for(entry, combination)
    return row.weights if row else {level.id: level.weight or 0.0 for level in entry.levels}


def _cumulative(weights: Mapping[str, float], entry: AttributeEntry) -> FloatArray:
    """Return the CDF over the levels; it is exactly 1 from the last possible level on."""
    ordered = np.array([weights.get(level.id, 0.0) for level in entry.levels])
    rising: FloatArray = np.cumsum(ordered) / ordered.sum()
    rising[np.flatnonzero(ordered)[-1] :] = 1.0
    return rising
