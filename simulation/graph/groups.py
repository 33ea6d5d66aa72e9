"""Who is alike: groups of personas with equal attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.errors import Problem, ScenarioError
from simulation.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulation.graph.follows import IntArray
    from simulation.ontology import Ontology
    from simulation.population import People
    from simulation.scenario.model import Graph


def group_indices(spec: Graph, people: People, *, ontology: Ontology | None) -> IntArray:
    """Return (P,) group numbers from 0: personas with equal values of the attributes `by`.

    A number counts by its band, where the ontology has bands. A missing value is a value of its
    own; without `by` all are one group.

    Raises:
        ScenarioError: no persona has one of the attributes; most likely it is misspelt.
    """
    _refuse_unknown(spec, people)
    names = [
        tuple(_value(name, values, ontology) for name in spec.by) for values in people.attributes
    ]
    numbers = {name: i for i, name in enumerate(sorted(set(names)))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


def _refuse_unknown(spec: Graph, people: People) -> None:
    held = sorted({name for values in people.attributes for name in values})
    problems = [
        Problem(
            where=f"graph.by[{index}]",
            message=f'no persona has the attribute "{name}"{did_you_mean(name, held)}',
        )
        for index, name in enumerate(spec.by)
        if name not in held
    ]
    if problems:
        raise ScenarioError("the graph", problems)


def _value(name: str, values: Mapping[str, str], ontology: Ontology | None) -> str:
    value = values.get(name, "")
    if ontology is None or name not in ontology or ontology[name].kind != "number":
        return value
    level = ontology[name].level(value)
    return level.id if level is not None else value
