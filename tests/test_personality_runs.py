"""Personality from a scenario and its files to the run database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small import small

from simulation.analysis.compare import compare
from simulation.errors import ScenarioError
from simulation.runlog import RunFile
from simulation.runs import simulate
from simulation.society import Society

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.scenario import Loaded

ATTACHMENT = {"kind": "attachment", "columns": {"avoidance": "avo", "anxiety": "anx"}}
BIG_FIVE = {"kind": "big_five", "columns": {name: name.lower() for name in "NAECO"}}
ROWS = [
    {"who": f"é{i}", "age": str(20 + i), "anx": f"{i / 10}", "avo": f"{1 - i / 20}"}
    | {name: str(i * step % 11 / 10) for step, name in enumerate("ocean", start=1)}
    for i in range(9)
]


def write_csv(folder: Path, rows: Sequence[dict[str, str]]) -> None:
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def from_file(folder: Path, personality: Any, **more: Any) -> Loaded:
    keys = {"source": "people.csv", "id_column": "who", "personality": personality}
    return small(folder, population=keys | more, horizon=2, stimuli=[])


def digests(loaded: Loaded) -> list[str]:
    society = Society(loaded)
    found = [society.records.state_digest]
    while society.running:
        society.step()
        found.append(society.records.state_digest)
    return found


def vectors(loaded: Loaded) -> np.ndarray[Any, np.dtype[np.float64]]:
    return Society(loaded).engine.world.personality.vectors


def problems(loaded: Loaded) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        Society(loaded)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("personality", "kind", "width"),
    [
        ("none", "none", 0),
        ({"kind": "attachment", "profile": "avoidant"}, "attachment", 2),
        ({"kind": "attachment", "anxiety": 0.3, "avoidance": 0.6}, "attachment", 2),
        ({"kind": "attachment", "sample": True}, "attachment", 2),
        ({"kind": "attachment", "shares": {"secure": 1, "anxious": 2}}, "attachment", 2),
        ({"kind": "big_five", "sample": True}, "big_five", 5),
        ({"kind": "big_five", "O": 0.1, "C": 0.2, "E": 0.3, "A": 0.4, "N": 0.5}, "big_five", 5),
    ],
)
def test_a_run_of_each_kind_says_in_its_database_who_has_which_personality(
    tmp_path: Path, personality: Any, kind: str, width: int
) -> None:
    loaded = small(population={"size": 12, "personality": personality}, horizon=2, stimuli=[])
    path = simulate(loaded, out=tmp_path / "run.duckdb")
    sql = "SELECT personality_kind, personality FROM personas ORDER BY persona_index"
    with RunFile.open(path) as run:
        found = run.query(sql).rows
    assert [row[0] for row in found] == [kind] * 12
    if kind == "none":
        assert [row[1] for row in found] == [None] * 12
    else:
        assert [list(row[1]) for row in found] == vectors(loaded).tolist()
        assert vectors(loaded).shape == (12, width)


def test_personality_none_is_the_run_without_the_key() -> None:
    without = digests(small())
    assert digests(small(population={"size": 12, "activity": 0.9, "personality": "none"})) == (
        without
    )


@pytest.mark.parametrize(
    ("personality", "names"),
    [(ATTACHMENT, ["anx", "avo"]), (BIG_FIVE, ["o", "c", "e", "a", "n"])],
)
def test_columns_are_read_by_id_in_whatever_order_the_rows_stand(
    tmp_path: Path, personality: Any, names: list[str]
) -> None:
    write_csv(tmp_path, ROWS)
    loaded = from_file(tmp_path, personality)
    found, before = vectors(loaded), digests(loaded)
    assert found.tolist() == [[float(row[name]) for name in names] for row in ROWS]
    write_csv(tmp_path, [ROWS[i] for i in (4, 2, 8, 0, 1, 7, 3, 6, 5)])
    assert vectors(loaded).tolist() == found.tolist()
    assert digests(loaded) == before


def test_a_part_of_a_file_keeps_its_personalities(tmp_path: Path) -> None:
    write_csv(tmp_path, ROWS)
    society = Society(from_file(tmp_path, ATTACHMENT, size=6))
    ids = society.engine.world.cast.ids
    expected = [[float(r["anx"]), float(r["avo"])] for r in ROWS if r["who"] in ids]
    assert len(ids) == 6
    assert society.engine.world.personality.vectors.tolist() == expected


def test_a_persona_of_a_file_is_sampled_by_its_id_alone(tmp_path: Path) -> None:
    write_csv(tmp_path, ROWS)
    everyone = vectors(from_file(tmp_path, {"kind": "big_five", "sample": True}))
    write_csv(tmp_path, ROWS[:2:-1])
    some = vectors(from_file(tmp_path, {"kind": "big_five", "sample": True}))
    assert np.array_equal(some, everyone[3:])


def test_a_parquet_file_gives_the_same_personalities(tmp_path: Path) -> None:
    write_csv(tmp_path, ROWS)
    numbers = {name: [float(r[name]) for r in ROWS] for name in ("anx", "avo")}
    texts = {name: [r[name] for r in ROWS] for name in ("who", "age")}
    pq.write_table(pa.table(texts | numbers), tmp_path / "people.parquet")
    parquet = from_file(tmp_path, ATTACHMENT, source="people.parquet")
    assert np.array_equal(vectors(parquet), vectors(from_file(tmp_path, ATTACHMENT)))


@pytest.mark.parametrize("cell", ["1.01", "-0.1", "nan", "inf", "", "high"])
def test_a_cell_that_is_no_trait_is_named_with_line_row_and_column(
    tmp_path: Path, cell: str
) -> None:
    write_csv(tmp_path, [*ROWS[:2], ROWS[2] | {"avo": cell}, *ROWS[3:]])
    (problem,) = problems(from_file(tmp_path, ATTACHMENT))
    assert problem == f'line 4  row 3, column "avo"  "{cell}" is not a number from 0 to 1'


def test_a_parquet_nan_is_a_missing_value_and_refused(tmp_path: Path) -> None:
    table = {"who": ["a"], "age": ["3"], "anx": [float("nan")], "avo": [0.2]}
    pq.write_table(pa.table(table), tmp_path / "people.parquet")
    (problem,) = problems(from_file(tmp_path, ATTACHMENT, source="people.parquet"))
    assert problem == 'row 1, column "anx"  "" is not a number from 0 to 1'


def test_columns_that_are_missing_are_all_named_with_their_lines(tmp_path: Path) -> None:
    write_csv(tmp_path, ROWS)
    wrong = {"kind": "attachment", "columns": {"anxiety": "anxx", "avoidance": "shoes"}}
    first, second = problems(from_file(tmp_path, wrong))
    assert "population.personality.columns.anxiety" in first
    assert first.startswith("line ")
    assert first.endswith('did you mean "anx"?')
    assert 'population.personality.columns.avoidance  no column "shoes" in the file' in second


@pytest.mark.parametrize(
    ("by", "where", "message"),
    [
        ({"by": "agee", "profiles": {"1": "secure"}}, "by", 'did you mean "age"?'),
        ({"by": "age", "profiles": {"21": "secure"}}, "profiles", "no profile for personas with"),
    ],
)
def test_a_personality_that_cannot_be_built_is_named_with_its_line(
    tmp_path: Path, by: dict[str, Any], where: str, message: str
) -> None:
    write_csv(tmp_path, ROWS)
    (problem,) = problems(from_file(tmp_path, {"kind": "attachment", **by}))
    assert problem.startswith("line ")
    assert f"population.personality.{where}" in problem
    assert message in problem


def test_two_runs_with_other_personalities_have_other_people(tmp_path: Path) -> None:
    paths = []
    for profile in ("secure", "anxious"):
        personality = {"kind": "attachment", "profile": profile}
        loaded = small(population={"size": 6, "personality": personality}, horizon=1, stimuli=[])
        paths.append(simulate(loaded, out=tmp_path / f"{profile}.duckdb"))
    assert compare(paths).different_personas == 6
