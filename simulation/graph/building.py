"""From a scenario's `graph` to follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.errors import Problem, ScenarioError
from simulation.graph import edges, generators
from simulation.graph.follows import Follows, tidy
from simulation.graph.groups import group_indices
from simulation.spelling import did_you_mean, listed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulation.ontology import Ontology
    from simulation.population import People
    from simulation.rng import Streams
    from simulation.scenario.model import Graph

_PLAIN: dict[str, Callable[..., Follows]] = {
    "watts_strogatz": generators.watts_strogatz,
    "barabasi_albert": generators.barabasi_albert,
}
_GROUPED: dict[str, Callable[..., Follows]] = {
    "stochastic_block": generators.stochastic_block,
    "homophily": generators.homophily,
}


def build(
    spec: Graph,
    *,
    people: People,
    streams: Streams,
    file: Path | None,
    ontology: Ontology | None = None,
) -> Follows:
    """Return who follows whom at tick 0.

    file: the edge list when `spec.kind` is `edges`.  ontology: where given, numbers such as ages
    make groups by their bands; without it each number is a group of its own.

    Raises:
        ScenarioError: the edge list is missing or cannot be used, or nobody has an attribute that
            should make groups.
    """
    if spec.kind == "edges":
        if file is None:
            problem = Problem(where="graph.file", message="an edge list is needed")
            raise ScenarioError("the graph", [problem])
        return edges.from_file(spec, people=people, streams=streams, file=file)
    if spec.kind == "none" or spec.degree == 0 or len(people) <= 1:
        nobody = np.empty(0, dtype=np.int64)
        return tidy(nobody, nobody)
    if spec.kind not in _GROUPED:
        return _PLAIN[spec.kind](spec, people=people, streams=streams)
    groups = group_indices(spec, people, ontology=ontology)
    return _GROUPED[spec.kind](spec, groups=groups, people=people, streams=streams)


def spec_problems(spec: Graph, *, ontology: Ontology) -> tuple[Problem, ...]:
    """Return everything wrong with a graph's description, with key paths, without lines."""
    found: list[Problem] = []
    if spec.kind == "edges" and spec.file is None:
        found.append(Problem(where="graph.file", message="kind `edges` needs a file"))
    if spec.kind in _GROUPED and not spec.by:
        found.append(Problem(where="graph.by", message=f"kind `{spec.kind}` needs attributes"))
    names = [attribute.id for attribute in ontology.attributes]
    for index, name in enumerate(spec.by):
        if name not in names:
            message = f'"{name}" is not an attribute of {ontology.name}; there are {listed(names)}'
            where = f"graph.by[{index}]"
            found.append(Problem(where=where, message=message + did_you_mean(name, names)))
    return tuple(found)
