"""Random graphs over n personas: small world, scale-free, blocks, homophily on attributes.

Small worlds and scale-free graphs come from networkx, whose seed is an integer from the run's
named streams. Generators number their nodes; a seeded permutation decides which persona is which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.graph.follows import Follows, IntArray, tidy
from simulation.mind import elementary
from simulation.rng import stream_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import networkx as nx
    from numpy.typing import NDArray

    from simulation.population import People
    from simulation.rng import FloatArray, Streams, UIntArray
    from simulation.scenario.model import Graph

    BoolArray = NDArray[np.bool_]


def watts_strogatz(spec: Graph, *, people: People, streams: Streams) -> Follows:
    """Return a small world (Watts & Strogatz 1998): a ring with some ties rewired.

    The mean number of ties is `degree`; an odd one is rounded up to an even one.
    """
    import networkx as nx  # noqa: PLC0415 - only this kind of graph needs it; slow to import

    n = len(people)
    degree = min(spec.degree, n - 1)
    degree += degree % 2  # n itself means that everybody is tied to everybody
    graph = nx.watts_strogatz_graph(n, degree, spec.rewire, seed=_seed(streams))
    return _placed(graph, _permutation(people, streams))


def barabasi_albert(spec: Graph, *, people: People, streams: Streams) -> Follows:
    """Return a scale-free graph (Barabási & Albert 1999): each newcomer makes degree / 2 ties.

    An odd degree is rounded up to an even one.
    """
    import networkx as nx  # noqa: PLC0415 - only this kind of graph needs it; slow to import

    n = len(people)
    ties = min((spec.degree + 1) // 2, n - 1)
    graph = nx.barabasi_albert_graph(n, ties, seed=_seed(streams))
    return _placed(graph, _permutation(people, streams))


def stochastic_block(
    spec: Graph, *, groups: IntArray, people: People, streams: Streams
) -> Follows:
    """Return a stochastic block model (Holland, Laskey & Leinhardt 1983) over groups.

    groups: (P,) group numbers from 0, none empty.

    A persona has on average `degree * within` ties in its own group, and the whole graph has
    `n * degree * (1 - within) / 2` ties between groups, spread evenly over all such pairs; a
    chance above 1 is cut to 1. Where there is only one group, or where every group has one
    persona, all ties are of the one kind that is possible.

    networkx looks at every pair, which at 100,000 personas are five billion; skipping from tie to
    tie (Batagelj & Brandes 2005) draws from the same distribution in the time of the ties.
    """
    permutation = _permutation(people, streams)
    members = permutation[np.argsort(groups[permutation], kind="stable")]
    sizes = np.bincount(groups)
    own, across = _chances(sizes, degree=min(spec.degree, len(people) - 1), within=spec.within)
    pairs = [np.empty((0, 2), dtype=np.int64)]
    start = 0
    for group, size in enumerate(sizes.tolist()):
        end, later = start + size, len(people) - start - size
        ties = _skips(size * (size - 1) // 2, own[group], f"{group}:own", streams)
        pairs.append(start + _triangle(ties))
        ties = _skips(size * later, across, f"{group}:across", streams)
        pairs.append(np.column_stack([start + ties % size, end + ties // size]))
        start = end
    nodes = np.concatenate(pairs)
    return tidy(members[nodes[:, 0]], members[nodes[:, 1]])


def _chances(sizes: IntArray, *, degree: int, within: float) -> tuple[list[float], float]:
    """Return the chance of a tie inside each group, and between any two groups."""
    n = int(sizes.sum())
    pairs = (n * n - int((sizes * sizes).sum())) / 2
    within = 1.0 if pairs == 0 else 0.0 if sizes.max() == 1 else within
    across = (1.0 - within) * n * degree / 2 / pairs if pairs else 0.0
    own = within * degree / np.maximum(sizes - 1, 1)
    return np.minimum(1.0, own).tolist(), min(1.0, across)


def _skips(pairs: int, chance: float, name: str, streams: Streams) -> IntArray:
    """Return which of `pairs` have a tie, each with the same chance, in rising order."""
    expected = pairs * chance
    if expected == 0.0:
        return np.empty(0, dtype=np.int64)
    key = stream_keys([name])
    chunk = int(expected + 6.0 * np.sqrt(expected)) + 16
    found = [np.empty(0)]
    last, index = -1.0, 0
    while last < pairs:
        places = np.arange(index, index + chunk)
        draws = streams.uniform("graph:skip", tick=0, keys=key, index=places)
        # A chance of 1 skips nobody: log(0) is -infinity.
        gaps = 1.0 + np.floor(elementary.log(draws) / elementary.log1p(-chance))
        found.append(last + np.cumsum(np.minimum(gaps, pairs + 1.0)))
        last, index = float(found[-1][-1]), index + chunk
    ties = np.concatenate(found)
    return ties[ties < pairs].astype(np.int64)


def _triangle(index: IntArray) -> IntArray:
    """Return (E, 2) the pairs i < j that stand at places of the list (0,1), (0,2), (1,2), …."""
    j = np.floor((1.0 + np.sqrt(1.0 + 8.0 * index)) / 2.0).astype(np.int64)
    j -= index < j * (j - 1) // 2  # the root may be off by one in the last digit
    j += index >= j * (j + 1) // 2
    return np.column_stack([index - j * (j - 1) // 2, j])


def homophily(spec: Graph, *, groups: IntArray, people: People, streams: Streams) -> Follows:
    """Return a graph of like with like: each persona picks degree / 2 partners.

    groups: (P,) group numbers from 0, none empty.

    A partner comes from the persona's own group with chance `within`, else from the others, in
    both cases evenly; where one of the two is empty, from the other. Of an odd degree the half
    partner is there for half of the personas. A pair that picked each other, or one that was
    picked twice, has one tie: mean degrees end a little lower, notably in small groups.
    """
    n, degree = len(people), min(spec.degree, len(people) - 1)
    keys = stream_keys(people.ids)
    picks = np.arange((degree + 1) // 2)
    who = np.repeat(np.arange(n), len(picks))
    index = np.tile(picks, n)
    if degree % 2:
        half = streams.uniform("graph:half", tick=0, keys=keys) < 0.5  # noqa: PLR2004  (a half)
        kept = (index < degree // 2) | half[who]
        who, index = who[kept], index[kept]
    uniform = _indexed(streams, keys[who], index)
    own = uniform("graph:within") < spec.within
    partner = _partners(groups, who, own=own, draw=uniform("graph:partner"))
    return tidy(who, partner)


def _indexed(streams: Streams, keys: UIntArray, index: IntArray) -> Callable[[str], FloatArray]:
    return lambda purpose: streams.uniform(purpose, tick=0, keys=keys, index=index)


def _partners(groups: IntArray, who: IntArray, *, own: BoolArray, draw: FloatArray) -> IntArray:
    """Return the partner of each pick; `own` says which ones are from the own group."""
    n = len(groups)
    order = np.argsort(groups, kind="stable")  # personas, group by group
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    sizes = np.bincount(groups)
    start = (np.cumsum(sizes) - sizes)[groups[who]]
    size = sizes[groups[who]]
    own = (own & (size > 1)) | (size == n)
    inside = start + np.floor(draw * (size - 1)).astype(np.int64)
    inside += inside >= place[who]  # step over oneself
    outside = np.floor(draw * (n - size)).astype(np.int64)
    outside += np.where(outside >= start, size, 0)  # step over the own group
    return np.asarray(order[np.where(own, inside, outside) % n])


def _seed(streams: Streams) -> int:
    bits = streams.bits("graph", tick=0, keys=stream_keys(["networkx"]))
    return int(bits[0] >> np.uint64(1))


def _permutation(people: People, streams: Streams) -> IntArray:
    """Return (n,) the persona of each node."""
    return streams.permutation("graph:permutation", keys=stream_keys(people.ids))


def _placed(graph: nx.Graph[int], persona_of_node: IntArray) -> Follows:
    pairs: Sequence[tuple[int, int]] = list(graph.edges())
    nodes = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return tidy(persona_of_node[nodes[:, 0]], persona_of_node[nodes[:, 1]])
