"""A world rebuilt from the rows of its run is the world, to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pytest
from small import small
from worlds import assert_equal_worlds, running

from simulation.encoders import EncoderSpec, load
from simulation.errors import EncoderError, RunFileError, UsageError
from simulation.founding import read
from simulation.models.rule import RuleModel
from simulation.rebuilding import engine_at, rebuild
from simulation.runlog import RunFile
from simulation.runs import simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.models.base import (
        Reactions,
        ReflectionReplies,
        ReflectionRequests,
        TurnRequests,
    )
    from simulation.scenario import Loaded

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"


def shipped(name: str, *settings: str) -> Loaded:
    return read(SCENARIOS / f"{name}.yaml", settings=settings)


def from_files(folder: Path) -> Loaded:
    """Return a scenario whose people and follows come from files, in a folder then emptied."""
    ids = [f"n{i:02d}" for i in range(14)]
    rows = [f"{name},{20 + i},{0.2 + i / 20},{i / 14},{'frontier' if i % 3 else 'cheap'}"
            for i, name in enumerate(ids)]  # fmt: skip
    people = "id,age,lively,c1,tier\n" + "\n".join(rows)
    (folder / "people.csv").write_text(people, encoding="utf-8")
    edges = "\n".join(f"{a} {b}" for i, a in enumerate(ids) for b in ids[i + 1 : i + 4])
    (folder / "edges.txt").write_text(edges, encoding="utf-8")
    return small(
        folder,
        population={
            "source": "people.csv",
            "id_column": "id",
            "columns": {"age": "age"},
            "activity": {"column": "lively"},
            "tier": {"column": "tier"},
            "beliefs": {"C1": {"column": "c1"}},
        },
        graph={"kind": "edges", "file": "edges.txt", "directed": True},
    )


def assert_rebuilt(loaded: Loaded, goes_on: Sequence[int] = (), **given: Any) -> None:
    """Fail unless the world of every tick comes back from the rows, and goes on as it did."""
    digests: list[str] = []
    started = {}
    for engine, writer in running(loaded, **given):
        tick = engine.world.tick
        digests.append(engine.records.state_digest)
        again = engine_at(writer.reader(), **given)
        assert_equal_worlds(again.world, engine.world)
        assert again.records.state_digest == engine.records.state_digest
        for one, other in zip(again.people.attributes, engine.people.attributes, strict=True):
            assert list(one.items()) == list(other.items())
        if tick in goes_on:
            started[tick] = again
    for tick, engine in started.items():
        later = [engine.advance().state_digest for _ in digests[tick + 1 :]]
        assert later == digests[tick + 1 :]
    with writer.reader() as run:  # the rows of later ticks are there by now
        for tick in {0, *goes_on}:
            assert rebuild(run, tick).digest() == digests[tick]


def test_a_small_run_comes_back_after_every_tick() -> None:
    assert_rebuilt(small(), goes_on=range(9))


def test_the_protein_bar_comes_back_after_every_tick() -> None:
    loaded = shipped("protein_bar", "population.size=25", "memory.cap=9", "horizon=12")
    assert_rebuilt(loaded, goes_on=(9,))


def test_affects_and_gates_come_back_after_every_tick() -> None:
    loaded = shipped("anxious_neighbours", "population.size=20", "horizon=8")
    assert_rebuilt(loaded, goes_on=(1, 6))


def test_a_rumour_comes_back_after_every_tick() -> None:
    assert_rebuilt(shipped("health_rumour", "population.size=30", "horizon=6"), goes_on=(4,))


@pytest.mark.parametrize("mode", ["persmem", "random"])
def test_every_way_of_recalling_goes_on_as_it_did(mode: str) -> None:
    loaded = small(
        population={"size": 9, "personality": {"kind": "big_five", "sample": True}},
        recall={"mode": mode},
        memory={"cap": 4, "reflection_cap": 1},
        horizon=6,
    )
    assert_rebuilt(loaded, goes_on=(5,))


def test_a_run_with_nobody_comes_back() -> None:
    assert_rebuilt(small(population={"size": 0}), goes_on=(2,))


def test_people_and_follows_of_files_come_back_when_the_files_are_gone(tmp_path: Path) -> None:
    loaded = from_files(tmp_path)
    steps = list(zip(range(6), running(loaded), strict=False))
    engine, writer = steps[-1][1]
    for file in tmp_path.iterdir():
        file.unlink()
    again = engine_at(writer.reader())
    assert_equal_worlds(again.world, engine.world)
    assert again.advance().state_digest == engine.advance().state_digest


def test_an_ontology_of_its_own_travels_with_the_run(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    text = (SCENARIOS.parent / "ontology" / "consumer_products.yaml").read_text("utf-8")
    mine.write_text(text.replace("consumer_products", "mine"), encoding="utf-8")
    path = simulate(small(tmp_path, ontology="mine.yaml"), out=tmp_path / "a.duckdb")
    mine.unlink()
    with RunFile.open(path) as run:
        assert engine_at(run, 3).ontology.name == "mine"


class Halves:
    """The rule model, whose people speak in half surrogate pairs, and of such by name."""

    name = "halves"

    def __init__(self, rule: RuleModel) -> None:
        self.rule = rule

    def react(self, requests: TurnRequests) -> Reactions:
        reactions = self.rule.react(requests)
        words = [f"{text} \ud83d \\udc00" if text else "" for text in reactions.words]
        object.__setattr__(reactions, "words", words)
        return reactions

    def reflect(self, requests: ReflectionRequests) -> ReflectionReplies:
        return self.rule.reflect(requests)

    def answer_probes(self, requests: Any) -> Any:
        return self.rule.answer_probes(requests)


def test_half_a_surrogate_pair_comes_back_as_it_was() -> None:
    loaded = small()
    rule = next(running(loaded))[0].rule
    assert isinstance(rule, RuleModel)
    assert_rebuilt(loaded, goes_on=(4,), tiers=(Halves(rule), Halves(rule)))


class Counting:
    """The shipped encoder, which remembers what it was asked."""

    def __init__(self) -> None:
        self._own = load(EncoderSpec(name="static"))
        self.name, self.width, self.sha256 = self._own.name, self._own.width, self._own.sha256
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return self._own.encode(texts)


def test_only_new_texts_are_embedded_when_a_run_goes_on(tmp_path: Path) -> None:
    path = simulate(small(), out=tmp_path / "a.duckdb")
    encoder = Counting()
    with RunFile.open(path) as run:
        engine = engine_at(run, 4, encoder=encoder)
        assert encoder.asked == []
        known = {row[0] for row in run.query("SELECT text FROM embeddings WHERE tick <= 4").rows}
    engine.advance()
    assert encoder.asked
    assert not known & set(encoder.asked)


def test_a_world_to_be_read_has_no_encoder(tmp_path: Path) -> None:
    with RunFile.open(simulate(small(), out=tmp_path / "a.duckdb")) as run:
        world = rebuild(run)
    assert world.tick == 8
    with pytest.raises(EncoderError, match="'never said' has no vector in the run"):
        world.texts.intern(["never said"])


def test_another_encoder_is_refused(tmp_path: Path) -> None:
    path = simulate(small(), out=tmp_path / "a.duckdb")
    other = Counting()
    other.sha256 = "0" * 64
    with (
        RunFile.open(path) as run,
        pytest.raises(UsageError, match=r"made with the encoder static .*0000… *\)?"),
    ):
        engine_at(run, encoder=other)


def test_another_appraiser_is_refused(tmp_path: Path) -> None:
    loaded = small(population={"size": 5, "personality": {"kind": "big_five", "sample": True}})
    path = simulate(loaded, out=tmp_path / "a.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            'UPDATE run SET parameters = json_merge_patch(parameters, \'{"affect.sha256": "x"}\')'
        )
    with RunFile.open(path) as run, pytest.raises(UsageError, match="made with the appraiser"):
        engine_at(run)


@pytest.mark.parametrize("tick", [-1, 9])
def test_a_tick_that_is_not_there_is_refused(tick: int, tmp_path: Path) -> None:
    with (
        RunFile.open(simulate(small(), out=tmp_path / "a.duckdb")) as run,
        pytest.raises(UsageError, match=f"has no tick {tick}; it holds the ticks 0 to 8"),
    ):
        rebuild(run, tick)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("UPDATE belief_changes SET after = 1 - after", "have the digest"),
        ("UPDATE posts SET credibility = 0.1 WHERE author = 'p0003'", "have the digest"),
        (
            "UPDATE embedding_rows SET text = 'x' WHERE embedding_id = 3",
            "the text 'x' was changed",
        ),
        ("DELETE FROM embedding_rows WHERE embedding_id = 3", "texts are missing"),
        ("DELETE FROM ticks WHERE tick = 8", "says that tick 8 is its last"),
        ("UPDATE run SET last_tick = 2000000000", "says that tick 2000000000 is its last"),
        ("UPDATE run SET scenario_yaml = 'x'", "the text of its scenario was changed"),
        ("UPDATE personas SET attributes = '[]'", "its rows do not make a world"),
        ("DELETE FROM sources", "is damaged"),
        ("UPDATE sources SET content = 'x'", "its copy of consumer_products.yaml was changed"),
        (
            "UPDATE personas SET persona_block = 'x' WHERE persona_index = 0",
            "block of p0000 was changed",
        ),
    ],
)
def test_rows_that_were_changed_are_found_out(change: str, why: str, tmp_path: Path) -> None:
    path = simulate(small(), out=tmp_path / "a.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(change)
    with RunFile.open(path) as run, pytest.raises((RunFileError, EncoderError), match=why):
        rebuild(run)


def test_a_run_of_an_older_layout_is_refused(tmp_path: Path) -> None:
    path = simulate(small(), out=tmp_path / "a.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE run SET schema_version = 1")
    with (
        RunFile.open(path) as run,
        pytest.raises(RunFileError, match="has layout 1, and"),
    ):
        rebuild(run)


def test_a_run_without_a_tick_is_refused(tmp_path: Path) -> None:
    path = simulate(small(), out=tmp_path / "a.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE run SET last_tick = -1")
    with RunFile.open(path) as run, pytest.raises(RunFileError, match="before tick 0 was finish"):
        rebuild(run)


class Moody:
    """An appraiser that tells another affect whenever it is asked, and fails at times."""

    name, sha256, notes = "moody", "m" * 64, ()

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failures: tuple[tuple[int, str], ...] = ()

    def appraise(self, texts: Sequence[str], _: object) -> NDArray[np.float64]:
        self.asked += texts
        self.failures = tuple((i, "no") for i, text in enumerate(texts) if len(text) % 5 == 0)
        return np.array([[(len(self.asked) + i) % 7 / 7, 0.5, 0.5] for i in range(len(texts))])


def test_no_text_is_appraised_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    moody = Moody()
    monkeypatch.setattr("simulation.engine.Engine._appraiser", lambda *_: moody)
    loaded = small(population={"size": 8, "personality": {"kind": "attachment", "sample": True}})
    for engine, writer in running(loaded):
        before = len(moody.asked)
        assert_equal_worlds(engine_at(writer.reader()).world, engine.world)
        assert len(moody.asked) == before
    assert len(moody.asked) == len(set(moody.asked))
