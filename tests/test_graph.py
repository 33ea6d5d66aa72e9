from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation import graph, ontology, population
from simulation.errors import ScenarioError
from simulation.graph.generators import _skips, _triangle
from simulation.graph.groups import group_indices
from simulation.population import People
from simulation.rng import Streams
from simulation.scenario.model import Graph, Population

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.graph import Follows

CIVIC = ontology.load("civic_life")
GENERATED = ["watts_strogatz", "barabasi_albert", "stochastic_block", "homophily"]
BY = ("party_leaning",)


def people_with(attributes: Sequence[Mapping[str, str]]) -> People:
    n = len(attributes)
    return People(
        ids=tuple(f"p{i:04d}" for i in range(n)),
        attributes=tuple(attributes),
        activity=np.ones(n),
        tiers=np.zeros(n, dtype=np.int64),
        beliefs=np.zeros((n, 0)),
    )


def town(size: int) -> People:
    return population.build(
        Population(size=size),
        targets=(),
        tier="cheap",
        ontology=CIVIC,
        streams=Streams(0),
        file=None,
        source="x.yaml",
    )


TOWN = town(1500)


def build(people: People, *, seed: int = 0, **keys: Any) -> Follows:
    described = Graph.model_validate(keys, strict=False)
    return graph.build(described, people=people, streams=Streams(seed), file=None, ontology=CIVIC)


def degrees(follows: Follows, people: People) -> np.ndarray[Any, Any]:
    return np.bincount(follows.source, minlength=len(people))


def assert_tidy(follows: Follows, people: People) -> None:
    pairs = list(zip(follows.source.tolist(), follows.target.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert all(a != b for a, b in pairs)
    assert {(b, a) for a, b in pairs} == set(pairs)  # a tie is two follows
    assert follows.weight.tolist() == [1.0] * len(follows)
    assert all(0 <= a < len(people) for a, _ in pairs)
    assert follows.source.dtype == follows.target.dtype == np.int64


@given(
    kind=st.sampled_from(GENERATED),
    size=st.integers(0, 12),
    degree=st.integers(0, 30),
    within=st.sampled_from([0.0, 0.3, 1.0]),
    groups=st.integers(1, 12),
    seed=st.integers(0, 3),
)
def test_any_small_graph_is_tidy(
    kind: str, size: int, degree: int, within: float, groups: int, seed: int
) -> None:
    people = people_with([{"team": str(i % groups)} for i in range(size)])
    follows = build(people, kind=kind, degree=degree, within=within, by=["team"], seed=seed)
    assert_tidy(follows, people)
    if degree == 0 or size <= 1:
        assert len(follows) == 0


@pytest.mark.parametrize("kind", GENERATED)
def test_the_mean_number_of_ties_is_the_degree(kind: str) -> None:
    follows = build(TOWN, kind=kind, degree=8, by=BY)
    assert_tidy(follows, TOWN)
    assert degrees(follows, TOWN).mean() == pytest.approx(8.0, rel=0.04)


@pytest.mark.parametrize("kind", GENERATED)
def test_a_seed_fixes_the_graph_and_another_gives_another(kind: str) -> None:
    first, again = build(TOWN, kind=kind, by=BY), build(TOWN, kind=kind, by=BY)
    other = build(TOWN, kind=kind, by=BY, seed=1)
    assert (first.source == again.source).all()
    assert (first.target == again.target).all()
    assert len(first) != len(other) or not (first.target == other.target).all()


def test_without_a_kind_or_ties_nobody_follows_anybody() -> None:
    assert len(build(TOWN, kind="none")) == 0
    assert len(build(TOWN, kind="watts_strogatz", degree=0)) == 0


@pytest.mark.parametrize("size", [2, 5, 8])
@pytest.mark.parametrize("kind", ["watts_strogatz", "stochastic_block"])
def test_a_degree_beyond_everybody_ties_all_to_all(kind: str, size: int) -> None:
    people = people_with([{"team": "a"}] * size)
    follows = build(people, kind=kind, degree=50, by=["team"])
    assert degrees(follows, people).tolist() == [size - 1] * size


def test_a_ring_without_rewiring_gives_everybody_the_same_number_of_ties() -> None:
    follows = build(TOWN, kind="watts_strogatz", degree=6, rewire=0.0)
    assert set(degrees(follows, TOWN).tolist()) == {6}


def test_an_odd_degree_of_a_ring_is_rounded_up() -> None:
    follows = build(TOWN, kind="watts_strogatz", degree=5, rewire=0.0)
    assert set(degrees(follows, TOWN).tolist()) == {6}


def undirected(follows: Follows) -> nx.Graph[int]:
    return nx.Graph(list(zip(follows.source.tolist(), follows.target.tolist(), strict=True)))


def test_a_small_world_is_clustered_and_still_small() -> None:
    ring = undirected(build(TOWN, kind="watts_strogatz", degree=8, rewire=0.0))
    world = undirected(build(TOWN, kind="watts_strogatz", degree=8, rewire=0.1))
    assert nx.average_clustering(world) > 0.4
    far = max(nx.single_source_shortest_path_length(ring, 0).values())
    assert max(nx.single_source_shortest_path_length(world, 0).values()) < far / 5


def test_a_scale_free_graph_has_hubs() -> None:
    ties = degrees(build(TOWN, kind="barabasi_albert", degree=8), TOWN)
    assert ties.max() > 8 * ties.mean()
    assert ties.min() >= 4


def test_hubs_are_not_the_first_personas() -> None:
    hubs = [
        int(degrees(build(TOWN, kind="barabasi_albert", seed=seed), TOWN).argmax())
        for seed in range(6)
    ]
    assert len(set(hubs)) > 4
    assert max(hubs) > 300


def share_within(follows: Follows, people: People) -> float:
    party = np.array([values["party_leaning"] for values in people.attributes])
    return float((party[follows.source] == party[follows.target]).mean())


@pytest.mark.parametrize("kind", ["stochastic_block", "homophily"])
@pytest.mark.parametrize("within", [0.0, 0.5, 0.9, 1.0])
def test_the_share_of_ties_in_the_own_group_is_as_asked(kind: str, within: float) -> None:
    follows = build(TOWN, kind=kind, degree=10, by=BY, within=within)
    assert share_within(follows, TOWN) == pytest.approx(within, abs=0.02)


def test_homophily_on_two_attributes_needs_both_to_be_equal() -> None:
    follows = build(TOWN, kind="homophily", by=["party_leaning", "gender"], within=1.0)
    for name in ("party_leaning", "gender"):
        values = np.array([v[name] for v in TOWN.attributes])
        assert (values[follows.source] == values[follows.target]).all()


def test_an_odd_homophilous_degree_is_met_on_average() -> None:
    follows = build(TOWN, kind="homophily", by=BY, degree=5)
    assert degrees(follows, TOWN).mean() == pytest.approx(5.0, rel=0.04)


def test_partners_are_picked_evenly() -> None:
    people = people_with([{"team": str(i % 2)} for i in range(20)])
    counts = np.zeros((20, 20))
    for seed in range(600):
        follows = build(people, kind="homophily", by=["team"], degree=2, within=0.5, seed=seed)
        counts[follows.source, follows.target] += 1
    # Each persona picks one of 9 like or 10 unlike ones; a tie stands when either picks the other.
    same = np.equal.outer(np.arange(20) % 2, np.arange(20) % 2) & ~np.eye(20, dtype=bool)
    like, unlike = 1 - (1 - 0.5 / 9) ** 2, 1 - (1 - 0.5 / 10) ** 2
    for mask, chance in ((same, like), (~same & ~np.eye(20, dtype=bool), unlike)):
        assert counts[mask].mean() / 600 == pytest.approx(chance, abs=0.005)
        assert np.abs(counts[mask] / 600 - chance).max() < 5 * np.sqrt(chance / 600)


@pytest.mark.parametrize("kind", ["stochastic_block", "homophily"])
def test_one_group_or_only_single_ones_still_tie(kind: str) -> None:
    alike = people_with([{"team": "a"}] * 300)
    apart = people_with([{"team": str(i)} for i in range(300)])
    for people in (alike, apart):
        follows = build(people, kind=kind, by=["team"], degree=6, within=0.4)
        assert degrees(follows, people).mean() == pytest.approx(6.0, rel=0.1)


def test_numbers_make_groups_by_their_band_where_the_ontology_has_bands() -> None:
    described = Graph(kind="homophily", by=("age",))
    assert len(set(group_indices(described, TOWN, ontology=CIVIC).tolist())) == 6
    assert len(set(group_indices(described, TOWN, ontology=None).tolist())) > 60


def test_a_number_outside_every_band_is_its_own_group() -> None:
    people = people_with([{"age": "20"}, {"age": "24"}, {"age": "3"}])
    groups = group_indices(Graph(kind="homophily", by=("age",)), people, ontology=CIVIC)
    assert groups[0] == groups[1] != groups[2]


def test_a_missing_value_is_a_group_and_an_attribute_of_nobody_a_mistake() -> None:
    people = people_with([{"team": "a"}, {"team": "a"}, {"name": "x"}, {"name": "y"}])
    groups = group_indices(Graph(kind="homophily", by=("team",)), people, ontology=None)
    assert groups.tolist() == [1, 1, 0, 0]
    with pytest.raises(ScenarioError, match=r'the attribute "taem"; did you mean "team"\?'):
        build(people, kind="homophily", by=["taem"])


def test_many_personas_with_few_ties_between_blocks_are_no_burden() -> None:
    people = people_with([{"team": "one" if i else "other"} for i in range(20_000)])
    follows = build(people, kind="stochastic_block", by=["team"], degree=4, within=0.5)
    assert_tidy(follows, people)
    # The one outsider can have at most one tie to each of the others; the cut is documented.
    assert degrees(follows, people)[0] == 19_999


@given(st.integers(0, 10**9))
def test_places_of_the_triangle_are_pairs_in_order(index: int) -> None:
    i, j = _triangle(np.array([index]))[0].tolist()
    assert 0 <= i < j
    assert j * (j - 1) // 2 + i == index


def test_skipping_finds_each_pair_with_its_chance() -> None:
    for chance in (0.001, 0.3, 0.9):
        counts = np.zeros(1000)
        for seed in range(200):
            counts[_skips(1000, chance, "x", Streams(seed))] += 1
        spread = np.sqrt(chance * (1 - chance) / 200)
        assert counts.mean() / 200 == pytest.approx(chance, abs=5 * spread / np.sqrt(1000))
        assert np.abs(counts / 200 - chance).max() < 5.5 * spread + 0.02
    assert _skips(50, 1.0, "x", Streams(0)).tolist() == list(range(50))
    assert _skips(50, 1e-300, "x", Streams(0)).tolist() == []
    assert _skips(50, 0.0, "x", Streams(0)).tolist() == []


def test_problems_of_a_description_are_named() -> None:
    described = Graph(kind="homophily", by=("party_leening", "age"))
    (problem,) = graph.spec_problems(described, ontology=CIVIC)
    assert problem.where == "graph.by[0]"
    assert 'did you mean "party_leaning"?' in problem.message
    (problem,) = graph.spec_problems(Graph(kind="stochastic_block"), ontology=CIVIC)
    assert str(problem) == "graph.by  kind `stochastic_block` needs attributes"
    (problem,) = graph.spec_problems(Graph(kind="edges"), ontology=CIVIC)
    assert str(problem) == "graph.file  kind `edges` needs a file"
    assert graph.spec_problems(Graph(), ontology=CIVIC) == ()


@pytest.mark.slow
def test_a_graph_of_a_hundred_thousand_personas_is_quickly_made() -> None:
    ids = tuple(f"p{i:06d}" for i in range(100_000))
    people = People(
        ids=ids,
        attributes=({"team": "a"},) * 100_000,
        activity=np.ones(100_000),
        tiers=np.zeros(100_000, dtype=np.int64),
        beliefs=np.zeros((100_000, 0)),
    )
    follows = build(people, kind="watts_strogatz", degree=8)
    assert len(follows) == 800_000


DIGEST = """
import hashlib
from simulation import graph, ontology, population
from simulation.rng import Streams
from simulation.scenario.model import Graph, Population
field = ontology.load("civic_life")
people = population.build(Population(size=300), targets=(), tier="cheap", ontology=field,
                          streams=Streams(5), file=None, source="x")
digest = hashlib.sha256(repr(people.attributes).encode())
for kind in ("watts_strogatz", "barabasi_albert", "stochastic_block", "homophily"):
    follows = graph.build(Graph(kind=kind, by=("age", "gender")), people=people,
                          streams=Streams(5), file=None, ontology=field)
    digest.update(follows.source.tobytes() + follows.target.tobytes())
print(digest.hexdigest())
"""


def test_people_and_graphs_are_the_same_in_any_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64
