"""A fork beside its parent: who differs first, and by whom everybody else was reached."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import duckdb
import networkx as nx
import pytest
from small import SMALL, small

from simulation.analysis.counterfactual import (
    NEVER,
    ChangedTurn,
    Counterfactual,
    Reached,
    Spread,
    _way,
    between,
    counterfactual,
    paired,
)
from simulation.analysis.twins import Item, Twin
from simulation.errors import RunFileError, UsageError
from simulation.runlog import RunFile
from simulation.runs import fork, simulate

if TYPE_CHECKING:
    from pathlib import Path

STIMULI: list[dict[str, Any]] = [
    *SMALL["stimuli"],
    {"id": "late", "tick": 5, "kind": "news", "source": "Daily", "text": "Bolt is full of sugar.",
     "claim": "C1", "stance": -1.0, "reach": 0.2},
]  # fmt: skip
CHANGES: dict[str, Any] = {
    "horizon": 12,
    "population": {"size": 24},
    "graph": {"kind": "watts_strogatz", "degree": 2, "rewire": 0.0},
    "feed": {"similar": 0.0, "engaging": 0.0},
    "stimuli": STIMULI,
    "actions": ["post", "comment"],
}


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counterfactual")
    path = simulate(small(**CHANGES), out=folder / "parent.duckdb")
    fork(path, at=4, settings=["stimuli[3].stance=1.0"], out=folder / "news.duckdb")
    fork(path, at=3, settings=["rule.influence=0.9"], out=folder / "rule.duckdb")
    fork(path, at=6, out=folder / "same.duckdb")
    simulate(small(**CHANGES), seed=8, out=folder / "seed.duckdb")
    return folder


@pytest.fixture(scope="module", name="news")
def _news(folder: Path) -> Counterfactual:
    return counterfactual(folder / "parent.duckdb", folder / "news.duckdb")


def test_a_fork_with_nothing_set_differs_in_nothing(folder: Path) -> None:
    found = counterfactual(folder / "parent.duckdb", folder / "same.duckdb")
    assert (found.reached, found.ticks, found.first, found.settings) == ((), (), (), {})
    assert (found.shared, found.forked_at, found.last_tick, found.changed) == (12, 6, 12, 0)
    assert found.lines()[-1] == "  nobody did, believed or remembered anything else"


def lived(path: Path) -> dict[tuple[str, int], list[Any]]:
    """Return what each persona did, believed and wrote in each tick, by slow and plain means."""
    parts: dict[tuple[str, int], list[Any]] = defaultdict(list)
    with RunFile.open(path) as run:
        posts = {
            str(post): (author, tick)
            for post, author, tick in run.query("SELECT post_id, author, tick FROM posts").rows
        }
        for who, tick, action, target, text in run.query(
            "SELECT persona_id, tick, action, target_id, text FROM turns"
        ).rows:
            parts[who, tick].append((action, posts.get(target, target), text))
        for who, tick, *rest in run.query(
            "SELECT persona_id, tick, text, importance FROM memories ORDER BY memory_id"
        ).rows:
            parts[who, tick].append(rest)
        for who, tick, *rest in run.query(
            "SELECT persona_id, tick, target, belief FROM beliefs ORDER BY ALL"
        ).rows:
            parts[who, tick].append(rest)
    return parts


@pytest.mark.parametrize("name", ["news", "rule"])
def test_a_persona_is_reached_in_the_first_tick_in_which_it_lives_otherwise(
    name: str, folder: Path
) -> None:
    found = counterfactual(folder / "parent.duckdb", folder / f"{name}.duckdb")
    first, second = lived(folder / "parent.duckdb"), lived(folder / f"{name}.duckdb")
    when: dict[str, int] = {}
    for who, tick in sorted(first, key=lambda key: key[1]):
        if first[who, tick] != second[who, tick]:
            when.setdefault(who, tick)
    assert when == {each.persona_id: each.tick for each in found.reached}
    assert when


def test_the_first_turns_are_those_of_the_first_tick_that_differs(
    news: Counterfactual, folder: Path
) -> None:
    assert (news.shared, news.forked_at) == (4, 4)
    assert news.ticks[0].tick == 5
    assert news.changed == len([each for each in news.reached if each.tick == 5])
    assert [turn.persona_id for turn in news.first] == [
        each.persona_id for each in news.reached if each.tick == 5
    ][:10]
    with RunFile.open(folder / "news.duckdb") as run:
        for turn in news.first:
            done = run.query(
                "SELECT action, text FROM turns WHERE tick = 5 AND persona_id = ?",
                parameters=[turn.persona_id],
            ).rows[0]
            assert turn.turns[1] is not None
            assert (turn.turns[1]["action"], turn.turns[1]["text"]) == done
            assert turn.beliefs


def test_an_event_reaches_its_audience_and_posts_carry_it_on(
    news: Counterfactual, folder: Path
) -> None:
    by = {each.persona_id: each for each in news.reached}
    with RunFile.open(folder / "parent.duckdb") as run:
        shown = {
            row[0]
            for row in run.query(
                "SELECT persona_id FROM exposures WHERE stimulus_id = 'late' AND tick = 5"
            ).rows
        }
    assert {each.persona_id for each in news.reached if each.tick == 5} <= shown
    ways = {each.way for each in news.reached}
    assert {"event", "post"} <= ways
    for each in news.reached:
        if each.way == "event":
            assert (each.by, each.hops, each.distance) == ("late", 0, 0)
        elif each.way == "post":
            sender = by[each.by or ""]
            assert sender.tick < each.tick
            assert each.hops == (sender.hops or 0) + 1
            assert each.distance is None or each.distance <= each.hops
    assert max(each.hops or 0 for each in news.reached) >= 2


def test_distance_is_the_shortest_way_along_follows(news: Counterfactual, folder: Path) -> None:
    graph: nx.DiGraph[str] = nx.DiGraph()
    for name in ("parent", "news"):
        with RunFile.open(folder / f"{name}.duckdb") as run:
            graph.add_edges_from(run.query("SELECT target, source FROM edges").rows)
    starts = {each.persona_id for each in news.reached if each.hops == 0}
    paths = nx.multi_source_dijkstra_path_length(graph, starts)
    assert {each.persona_id: each.distance for each in news.reached} == {
        each.persona_id: paths.get(each.persona_id) for each in news.reached
    }


def test_the_spread_counts_what_the_two_runs_say(news: Counterfactual, folder: Path) -> None:
    reached = [each.reached for each in news.ticks]
    assert reached == sorted(reached)
    assert reached[-1] == len(news.reached) == sum(each.new for each in news.ticks)
    last = news.ticks[-1]
    assert sum(last.hops.values()) == sum(each.hops is not None for each in news.reached)
    means = []
    for name in ("parent", "news"):
        with RunFile.open(folder / f"{name}.duckdb") as run:
            sql = "SELECT target, mean FROM belief_summary WHERE tick = 12"
            means.append(dict(run.query(sql).rows))
    for target, difference in last.difference.items():
        assert difference == pytest.approx(means[1][target] - means[0][target], abs=1e-12)
        assert last.size[target] >= abs(difference) - 1e-12


def test_the_order_of_a_run_and_its_fork_does_not_matter(
    news: Counterfactual, folder: Path
) -> None:
    assert counterfactual(folder / "news.duckdb", folder / "parent.duckdb") == news


def test_two_forks_of_one_run_are_a_pair(folder: Path) -> None:
    found = counterfactual(folder / "news.duckdb", folder / "rule.duckdb")
    assert found.forked_at is None
    assert found.shared == 3
    assert set(found.settings) == {"rule.influence", "stimuli"}


def test_runs_of_two_seeds_are_no_pair(folder: Path) -> None:
    with pytest.raises(UsageError, match="are no pair: they have another seed"):
        counterfactual(folder / "parent.duckdb", folder / "seed.duckdb")
    with (
        RunFile.open(folder / "parent.duckdb") as first,
        RunFile.open(folder / "seed.duckdb") as second,
        RunFile.open(folder / "rule.duckdb") as third,
    ):
        assert not paired(first, second)
        assert paired(first, third)


def test_a_rule_that_changes_acts_by_itself(folder: Path) -> None:
    found = counterfactual(folder / "parent.duckdb", folder / "rule.duckdb")
    first = [each for each in found.reached if each.tick == found.ticks[0].tick]
    assert {(each.way, each.by, each.hops) for each in first} == {("setting", None, 0)}


def test_a_run_with_nobody_in_it_has_no_difference(tmp_path: Path) -> None:
    path = simulate(small(population={"size": 0}), out=tmp_path / "a.duckdb")
    other = fork(path, at=2, settings=["feed.size=1"], out=tmp_path / "b.duckdb")
    found = counterfactual(path, other)
    assert (found.personas, found.reached, found.shared) == (0, (), 8)


def test_everything_can_be_said_as_json_and_in_words(news: Counterfactual) -> None:
    told = json.loads(json.dumps(news.to_dict()))
    assert told["reached"][0]["persona_id"] == news.reached[0].persona_id
    words = news.lines()
    assert words[0].startswith("Counterfactual: the same 24 personas and the same chance in both")
    assert "  the second is a fork of the first at tick 4" in words
    assert any(line.startswith("  set anew: stimuli: ") for line in words)
    assert any("by an event of the scenario" in line for line in words)
    chains = [line for line in words if " hops at tick " in line]
    assert chains
    assert all("event late -> " in line for line in chains)
    assert max(map(len, words)) < 200


class Said:
    """A run in which some posts were published."""

    def __init__(self, **contents: int) -> None:
        self.contents = contents

    def content(self, key: str) -> int | None:
        return self.contents.get(key)


def item(key: str, content: int = 1, *, position: int = 0, event: str = "") -> Item:
    return Item(key=key, content=content, author=key, event=event, position=position)


def way(first: list[Item], second: list[Item], *, new_events: bool = False) -> Any:
    twins: Any = tuple(
        Said(**{"shared": 1, **{each.key: each.content for each in feed}})
        for feed in (first, second)
    )
    feeds: Any = tuple({each.key: each for each in feed} for feed in (first, second))
    return _way(twins, feeds, {"near": 0, "far": 3, "lost": None}, new_events=new_events)


def test_what_was_seen_otherwise_says_by_whom_one_was_reached() -> None:
    assert way([item("near")], [item("near")]) == ("setting", None)
    assert way([item("near")], [item("near", 2)]) == ("post", "near")
    assert way([item("far")], [item("near", position=4)]) == ("post", "near")
    assert way([item("lost")], []) == ("ranking", None)
    assert way([item("other")], []) == ("ranking", None)
    assert way([item("shared")], []) == ("ranking", None)
    assert way([item("near"), item("a", position=1, event="ad")], []) == ("event", "ad")
    ad = item("shared", event="ad")
    assert way([ad], []) == ("ranking", None)
    assert way([ad], [], new_events=True) == ("event", "ad")


def test_the_marks_of_a_tick_in_which_nothing_was_done_are_zero(folder: Path) -> None:
    with RunFile.open(folder / "parent.duckdb") as run:
        twin = Twin(run, 3)
        for what in ("turns", "memories", "feeds"):
            marks = twin.marks(what)
            assert marks.shape == (4, 24)
            assert not marks[0].any()
            assert marks[1:].any()
        assert between(run, run).reached == ()
    assert NEVER > 10**6


def spread(tick: int) -> Spread:
    return Spread(
        tick=tick,
        new=0,
        reached=2,
        saw=1,
        acted=1,
        remembered=1,
        believed=2,
        hops={0: 1, 2: 1},
        difference={"C1": -0.01 * tick, "C2": 0.001},
        size={"C1": 0.01 * tick, "C2": 0.001},
    )


def test_much_is_told_in_few_lines() -> None:
    turn = {"action": "post", "target": None, "text": "x" * 100}
    found = Counterfactual(
        paths=("a", "b"),
        run_ids=("1", "2"),
        personas=3,
        shared=3,
        forked_at=None,
        last_tick=40,
        settings={f"rule.{i}": (i, i + 1) for i in range(9)},
        changed=2,
        first=(
            ChangedTurn(persona_id="p1", turns=(None, turn), beliefs={}),
            ChangedTurn(persona_id="p2", turns=(turn, turn), beliefs={"C1": (0.1, 0.9)}),
        ),
        ticks=tuple(spread(tick) for tick in range(4, 41)),
        reached=(
            Reached(persona_id="p1", tick=4, way="setting", by=None, hops=0, distance=0),
            Reached(persona_id="p3", tick=6, way="post", by="p1", hops=1, distance=None),
        ),
    )
    words = found.lines()
    assert "  … and 4 more" in words
    assert f'  p1: no turn -> post "{"x" * 59}…"' in words
    assert f'  p2: the same (post "{"x" * 59}…")' in words
    assert "    C1 afterwards 0.100 -> 0.900" in words
    table = [line for line in words if line.endswith(("0400", "4000"))]
    assert [line.split()[0] for line in table] == ["4", "40"]
    assert "1, 0, 1" in table[0]
    assert next(line for line in words if line.startswith("  tick")).endswith("mean C1")
    assert sum(line.lstrip()[:2].strip().isdigit() for line in words) == 13  # 12 ticks, one chain
    assert words[-1] == "  1 hop at tick 6: p1 -> p3"
    assert (
        "Reached: 1 by what was set, 1 by a post of somebody reached before; 1 not at all" in words
    )


def test_beliefs_that_are_missing_are_damage(folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.duckdb"
    shutil.copy(folder / "same.duckdb", broken)
    with duckdb.connect(str(broken)) as connection:
        connection.execute("DELETE FROM initial_beliefs WHERE persona_id = 'p0001'")
    with pytest.raises(RunFileError, match="beliefs are missing"):
        counterfactual(folder / "parent.duckdb", broken)
