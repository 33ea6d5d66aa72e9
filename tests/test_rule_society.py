"""The rule model in whole runs: follows, topics and decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from small import small

from simulation import records
from simulation.models.base import ACTION_CODE, ACTIONS
from simulation.society import Society

if TYPE_CHECKING:
    from collections.abc import Iterator

GRAPHS: dict[str, dict[str, Any]] = {
    "homophily": {"kind": "homophily", "by": ["setting"], "degree": 6, "within": 0.6},
    "barabasi_albert": {"kind": "barabasi_albert", "degree": 6},
}


def happened(society: Society, ticks: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of each tick, by table."""
    for _ in range(ticks):
        society.step()
        yield {part.table: part for part in society.records.rows}


@pytest.mark.parametrize("graph", GRAPHS)
def test_people_follow_whose_words_reach_them_now_and_then(graph: str) -> None:
    society = Society(small(population={"size": 150}, graph=GRAPHS[graph], horizon=20))
    before = society.world.network
    known = set(zip(before.source.tolist(), before.target.tolist(), strict=True))
    follows = turns = 0
    for tables in happened(society, 20):
        tick = society.world.tick
        turns += len(tables["turns"])
        edges = tables.get("edges")
        if edges is None:
            continue
        assert isinstance(edges, records.Edges)
        assert isinstance(edges.source, records.Coded)
        assert isinstance(edges.target, records.Coded)
        pairs = set(zip(edges.source.codes.tolist(), edges.target.codes.tolist(), strict=True))
        assert not pairs & known
        assert all(a != b for a, b in pairs)
        assert (edges.created_tick == tick).all()
        known |= pairs
        follows += len(edges)
    network = society.world.network
    assert set(zip(network.source.tolist(), network.target.tolist(), strict=True)) == known
    assert (network.created > 0).sum() == follows
    assert 0.0005 < follows / turns < 0.015


def test_nobody_speaks_of_a_claim_before_it_is_out() -> None:
    stimuli = [
        {"tick": 1, "kind": "ad", "source": "Bolt", "text": "No sugar in Bolt.", "claim": "C1"},
        {"tick": 6, "kind": "news", "text": "Bolt tastes of chocolate.", "claim": "C2"},
    ]
    beliefs = {"C2": {"distribution": "beta", "a": 20.0, "b": 1.0}}
    society = Society(
        small(population={"size": 80, "beliefs": beliefs}, horizon=9, stimuli=stimuli)
    )
    spoken = dict.fromkeys(range(1, 10), 0)
    for _ in happened(society, 9):
        posts, tick = society.world.posts, society.world.tick
        ours = (posts.integers("tick") == tick) & (posts.integers("author") >= 0)
        spoken[tick] = int((posts.integers("claim")[ours] == 1).sum())
    assert not any(spoken[tick] for tick in range(1, 6))
    assert any(spoken[tick] for tick in range(6, 10))


def test_a_decision_is_kept_with_its_side() -> None:
    apart = {name: {"distribution": "normal", "mean": 0.4, "sd": 0.3} for name in ("value", "fit")}
    society = Society(small(population={"size": 120, "beliefs": apart}, horizon=12))
    final = np.zeros(120, dtype=np.int64)
    for tables in happened(society, 12):
        turns = tables["turns"].columns()
        rows, action = turns["persona_id"].codes, turns["action"].codes
        final[rows[action == ACTIONS.index("buy")]] = 1
        final[rows[action == ACTION_CODE["reject"]]] = -1
        assert society.world.decided.tolist() == final.tolist()
    assert set(final.tolist()) == {-1, 0, 1}
