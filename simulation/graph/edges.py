"""Read an edge list and give its nodes to personas."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simulation.errors import Problem, ScenarioError
from simulation.graph.follows import Follows, IntArray, tidy
from simulation.rng import stream_keys

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simulation.population import People
    from simulation.rng import Streams
    from simulation.scenario.model import Graph

MOST_PROBLEMS = 20
MAX_LINE = 2_000
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_BY_LOT = (
    "every node of the file is the id of a persona, yet assign: permutation gives the nodes to "
    "personas by lot; assign: by_id keeps them"
)
_HEADER = ("source", "target", "weight")


@dataclass(slots=True)
class EdgeList:
    """The edges of a file as its node ids; lines are 1-based; problems: of its other lines."""

    file: str
    source: list[str] = field(default_factory=list)
    target: list[str] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def from_file(spec: Graph, *, people: People, streams: Streams, file: Path) -> Follows:
    """Return the follows of an edge list; see docs/populations-and-graphs.md for its format.

    Raises:
        ScenarioError: the file cannot be read, has bad lines, names personas that do not exist
            (`assign: by_id`) or has fewer nodes than there are personas (`permutation`).
    """
    edges = _read(file)
    if spec.assign == "permutation":
        _stop(edges)
        index = _permuted(edges, people, streams)
    else:
        index = {name: i for i, name in enumerate(people.ids)}
        edges.problems += _unknown(edges, index)
        _stop(edges)
    source = np.array([index.get(name, -1) for name in edges.source], dtype=np.int64)
    target = np.array([index.get(name, -1) for name in edges.target], dtype=np.int64)
    kept = (source >= 0) & (target >= 0)
    follows = tidy(
        source[kept],
        target[kept],
        np.array(edges.weight, dtype=np.float64)[kept],
        both_ways=not spec.directed,
    )
    notes = _notes(edges, source, target, follows, both_ways=not spec.directed)
    if spec.assign == "permutation" and edges.source and _named_after(edges, people):
        notes = (*notes, _BY_LOT)
    return Follows(
        source=follows.source, target=follows.target, weight=follows.weight, notes=notes
    )


def read_edges(file: Path) -> EdgeList:
    """Return the edges of a file.

    A line is `source target [weight]`, parted by blanks or commas, quoted as in CSV where an id
    has either; lines that start with # and empty lines are skipped, and a first line `source
    target` is a header.

    Raises:
        ScenarioError: the file cannot be read or has bad lines; it names up to twenty of them.
    """
    edges = _read(file)
    _stop(edges)
    return edges


def _read(file: Path) -> EdgeList:
    """Return the edges of the sound lines, and the problems of the others."""
    edges = EdgeList(file=str(file))
    for line, text in _lines(file):
        wrong = _read_line(text, line, edges)
        if wrong:
            edges.problems.append(Problem(where="", message=wrong, line=line))
    return edges


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise _error(file, error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise _error(file, f"byte {error.start} is not UTF-8") from None
    first = True
    for line, raw in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        stripped = raw.strip()
        if not stripped or stripped.startswith("#"):
            continue
        header = first and _is_header(stripped)
        first = False
        if not header:
            yield line, stripped


def _is_header(text: str) -> bool:
    if len(text) > MAX_LINE:  # longer than the csv module takes; told as a bad line
        return False
    return tuple(part.casefold() for part in _split(text)) in (_HEADER, _HEADER[:2])


def _split(text: str) -> list[str]:
    if '"' in text:
        mark = "," if "," in text else "\t" if "\t" in text else " "
        return next(csv.reader([text], delimiter=mark, skipinitialspace=True))
    return [part.strip() for part in text.split(",")] if "," in text else text.split()


def _read_line(text: str, line: int, edges: EdgeList) -> str:
    """Add a line's edge; return what is wrong with it, "" when nothing is."""
    parts = _split(text) if len(text) <= MAX_LINE else []
    if len(parts) not in (2, 3) or not all(parts):
        return f"`source target` or `source target weight` is needed; found {text[:80]!r}"
    weight = _weight(parts[2]) if len(parts) == len(_HEADER) else 1.0
    if weight is None:
        return f"the weight must be a number above 0; found {parts[2][:80]!r}"
    edges.source.append(parts[0])
    edges.target.append(parts[1])
    edges.weight.append(weight)
    edges.lines.append(line)
    return ""


def _weight(text: str) -> float | None:
    try:
        weight = float(text)
    except ValueError:
        return None
    return weight if 0.0 < weight < math.inf else None


def _permuted(edges: EdgeList, people: People, streams: Streams) -> dict[str, int]:
    """Return the persona of each node in use: personas sorted by id take a seeded permutation."""
    nodes = sorted_nodes({*edges.source, *edges.target})
    if len(people) > len(nodes):
        message = (
            f"{len(people):,} personas but only {len(nodes):,} nodes; lower population.size or "
            "take a larger graph"
        )
        raise ScenarioError(edges.file, [Problem(where="", message=message)])
    order = streams.permutation("graph:assign", keys=stream_keys(nodes))
    return {nodes[node]: persona for persona, node in enumerate(order[: len(people)].tolist())}


def sorted_nodes(nodes: set[str]) -> list[str]:
    """Return node ids in order: as numbers when all are whole numbers, else by code points."""
    if all(_INTEGER.fullmatch(node) for node in nodes):
        return sorted(nodes, key=lambda node: (int(node), node))
    return sorted(nodes)


def _named_after(edges: EdgeList, people: People) -> bool:
    return {*edges.source, *edges.target} <= set(people.ids)


def _unknown(edges: EdgeList, index: dict[str, int]) -> list[Problem]:
    """Return one problem for each end of an edge that is no persona."""
    return [
        Problem(where="", message=f"{name[:80]!r} is not a persona id", line=line)
        for names in (edges.source, edges.target)
        for name, line in zip(names, edges.lines, strict=True)
        if name not in index
    ]


def _notes(
    edges: EdgeList, source: IntArray, target: IntArray, follows: Follows, *, both_ways: bool
) -> tuple[str, ...]:
    nodes = len({*edges.source, *edges.target})
    used = len(np.unique(np.concatenate([source, target]))) - bool(
        ((source < 0) | (target < 0)).any()
    )
    loops = sum(a == b for a, b in zip(edges.source, edges.target, strict=True))
    inside = int(((source >= 0) & (target >= 0) & (source != target)).sum())
    outside = int(((source < 0) | (target < 0)).sum())
    repeats = inside * (2 if both_ways else 1) - len(follows)
    notes = []
    if outside:
        notes.append(f"{nodes - used:,} of {nodes:,} nodes are unused; {outside:,} lines drop")
    if loops:
        notes.append(f"{loops:,} lines tie a node to itself and drop")
    if repeats:
        notes.append(f"{repeats:,} follows are said more than once and merge")
    return tuple(notes)


def _stop(edges: EdgeList) -> None:
    """Raise what was found, in order of lines, the first twenty."""
    problems = sorted(edges.problems, key=lambda p: p.line or 0)
    if not problems:
        return
    more = len(problems) - MOST_PROBLEMS
    shown = problems[:MOST_PROBLEMS]
    if more > 0:
        shown.append(Problem(where="", message=f"and {more:,} more problems"))
    raise ScenarioError(edges.file, shown)


def _error(file: Path, message: str) -> ScenarioError:
    return ScenarioError(str(file), [Problem(where="", message=message)])
