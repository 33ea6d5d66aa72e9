"""Where the personas of a graph stand on the page, and which communities they are in.

Both are computed by networkx with a fixed seed and over integers, so that one run always gives
one picture. Neither enters any number of the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulation.analysis.report.numbers import many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.analysis.report.source import Source

MOST_NODES = 300
"""Personas that are drawn one by one; of more, communities are drawn."""

MOST_TIES = 6_000
_SEED = 7  # of where the search for communities begins; nothing of the run depends on it
_ROUNDS = 120  # of the layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Communities:
    """Communities, largest first: the indexes of their members.

    modularity: of the whole, at most 1.  inside: share of ties that stay inside one, [0, 1].
    """

    members: list[list[int]]
    modularity: float
    inside: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """What is drawn: dots, lines between them, and a sentence on what a dot is.

    nodes: `i` its number, `name`, `x` and `y` in [-1, 1], `size`, `community` from 1.
    ties: `a` and `z` the numbers of two nodes, `from` and `until` (not included) the ticks of its
    life, `w` its width.
    """

    nodes: list[dict[str, Any]]
    ties: list[dict[str, Any]]
    note: str


def communities(personas: int, follows: Sequence[dict[str, Any]]) -> Communities:
    """Return the communities of a graph by the Louvain method (Blondel et al. 2008).

    personas: how many there are, numbered from 0.  follows: at least one tie, with `one`, `other`
    and `follows`, the number of follows between the two.
    """
    import networkx as nx  # noqa: PLC0415 - slow to import, and only this section needs it

    graph: Any = nx.Graph()
    graph.add_nodes_from(range(personas))
    graph.add_weighted_edges_from((row["one"], row["other"], row["follows"]) for row in follows)
    parts = [sorted(each) for each in nx.community.louvain_communities(graph, seed=_SEED)]
    parts.sort(key=lambda each: (-len(each), each[0]))
    home = {node: place for place, each in enumerate(parts) for node in each}
    inside = sum(home[row["one"]] == home[row["other"]] for row in follows)
    return Communities(
        members=parts,
        modularity=float(nx.community.modularity(graph, [set(each) for each in parts])),
        inside=inside / len(follows),
    )


def people(source: Source, follows: Sequence[dict[str, Any]], found: Communities) -> Drawing:
    """Return a drawing with one dot per persona."""
    names = [
        row[0] for row in source.ask("SELECT persona_id FROM personas ORDER BY persona_index").rows
    ]
    home = {node: place for place, each in enumerate(found.members) for node in each}
    degree = [0] * len(names)
    for row in follows:
        degree[row["one"]] += 1
        degree[row["other"]] += 1
    pairs = [(row["one"], row["other"], 1.0) for row in follows]
    places = _layout([node for each in found.members for node in each], pairs)
    nodes = [
        {
            "i": i,
            "name": name,
            "x": places[i][0],
            "y": places[i][1],
            "size": degree[i],
            "community": home[i] + 1,
        }
        for i, name in enumerate(names)
    ]
    ties = [
        {
            "a": row["one"],
            "z": row["other"],
            "from": row["created"],
            "until": source.last + 1 if row["removed"] is None else row["removed"],
            "w": 1,
        }
        for row in follows[:MOST_TIES]
    ]
    left = len(follows) - len(ties)
    cut = f" {left:,} of the ties are not drawn." if left else ""
    return Drawing(
        nodes=nodes,
        ties=ties,
        note="Each dot is a persona, larger with more ties; orange doubts, grey is undecided, "
        f"blue believes. Move the slider to see it spread.{cut}",
    )


def clusters(source: Source, follows: Sequence[dict[str, Any]], found: Communities) -> Drawing:
    """Return a drawing with one dot per community, the largest of them."""
    shown = found.members[:MOST_NODES]
    home = {node: place for place, each in enumerate(shown) for node in each}
    weights: dict[tuple[int, int], int] = {}
    for row in follows:
        one, other = home.get(row["one"]), home.get(row["other"])
        if one is not None and other is not None and one != other:
            key = (min(one, other), max(one, other))
            weights[key] = weights.get(key, 0) + row["follows"]
    places = _layout(list(range(len(shown))), [(*key, float(w)) for key, w in weights.items()])
    nodes = [
        {
            "i": i,
            "name": f"community {i + 1}: {many(len(each), 'persona')}",
            "x": places[i][0],
            "y": places[i][1],
            "size": len(each),
            "community": i + 1,
        }
        for i, each in enumerate(shown)
    ]
    heavy = sorted(weights.items(), key=lambda each: (-each[1], each[0]))[:MOST_TIES]
    most = heavy[0][1] if heavy else 1
    ties = [
        {"a": a, "z": z, "from": 0, "until": source.last + 1, "w": 0.3 + 4 * weight / most}
        for (a, z), weight in heavy
    ]
    left = source.personas - sum(map(len, shown))
    rest = f" {many(left, 'persona')} in smaller ones are not drawn." if left else ""
    return Drawing(
        nodes=nodes,
        ties=ties,
        note=f"With {many(source.personas, 'persona')} each dot is a community, coloured by the "
        "mean belief of its members: orange doubts, blue believes; lines are ties between them."
        f"{rest}",
    )


def _layout(
    order: Sequence[int], pairs: Sequence[tuple[int, int, float]]
) -> dict[int, tuple[float, float]]:
    """Return a place for each node, from a circle in the given order; each in [-1, 1]."""
    import networkx as nx  # noqa: PLC0415 - as above
    import numpy as np  # noqa: PLC0415 - as above

    graph: Any = nx.Graph()
    graph.add_nodes_from(order)
    graph.add_weighted_edges_from(pairs)
    angles = 2 * np.pi * np.arange(len(order)) / max(1, len(order))
    start = {
        node: (float(np.cos(angle)), float(np.sin(angle)))
        for node, angle in zip(order, angles, strict=True)
    }
    if len(order) < 2:  # noqa: PLR2004 - one node stands where it is
        return start
    found = nx.spring_layout(
        graph,
        pos=start,
        iterations=_ROUNDS,
        seed=_SEED,
        k=1.6 / len(order) ** 0.5,
        method="force",
    )
    return {node: (round(float(x), 3), round(float(y), 3)) for node, (x, y) in found.items()}


def by_node(
    states: Sequence[tuple[Any, ...]], home: dict[int, int]
) -> dict[int, dict[str, list[float]]]:
    """Return node: target: belief in hundredths by tick shown, the mean over its personas."""
    sums: dict[tuple[int, str], list[int]] = {}
    counts: dict[tuple[int, str], int] = {}
    for index, target, values in states:
        key = (home[index], target)
        before = sums.get(key)
        sums[key] = (
            values if before is None else [a + b for a, b in zip(before, values, strict=True)]
        )
        counts[key] = counts.get(key, 0) + 1
    found: dict[int, dict[str, list[float]]] = {}
    for (node, target), total in sums.items():
        count = counts[node, target]
        found.setdefault(node, {})[target] = [value / count for value in total]
    return found
