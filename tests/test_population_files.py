from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulation import ontology, population
from simulation.errors import ScenarioError
from simulation.population import FRONTIER, People
from simulation.rng import Streams
from simulation.scenario.model import Population

SHARED = Path(__file__).resolve().parents[2] / "shared"
GSS = SHARED / "data" / "populations" / "gss_personas.csv"

FIELD = ontology.from_bytes(
    b"""
name: field
attributes:
  - {id: age, kind: number, minimum: 0, maximum: 120}
  - id: work
    kind: category
    values: [{id: nurse, label: a nurse, synonyms: [RN]}, {id: night_guard}, {id: cook}]
  - {id: town, kind: text}
""",
    source="field.yaml",
)


def build(file: Path, *, seed: int = 0, targets: tuple[str, ...] = ("C1",), **keys: Any) -> People:
    return population.build(
        Population.model_validate({"source": file.name, **keys}, strict=False),
        targets=targets,
        tier="cheap",
        ontology=FIELD,
        streams=Streams(seed),
        file=file,
        source="x.yaml",
    )


def csv_file(folder: Path, text: str) -> Path:
    file = folder / "people.csv"
    file.write_bytes(text.encode())
    return file


def problems(file: Path, **keys: Any) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        build(file, **keys)
    return [str(problem) for problem in caught.value.problems]


def test_columns_of_the_same_name_become_attributes(tmp_path: Path) -> None:
    file = csv_file(tmp_path, "id,age,work,town,shoe\nb,34,nurse,Ulm,42\na,51,cook,Köln,40\n")
    people = build(file, id_column="id")
    assert people.ids == ("a", "b")
    assert people.attributes == (
        {"age": "51", "work": "cook", "town": "Köln"},
        {"age": "34", "work": "nurse", "town": "Ulm"},
    )


def test_columns_can_be_mapped_to_attributes(tmp_path: Path) -> None:
    file = csv_file(tmp_path, "Alter,age\n34,unused\n")
    assert build(file, columns={"age": "Alter"}).attributes == ({"age": "34"},)


def test_without_an_id_column_rows_are_numbered_in_order(tmp_path: Path) -> None:
    assert build(csv_file(tmp_path, "age\n34\n35\n")).ids == ("p0000", "p0001")


@pytest.mark.parametrize("raw", ["nurse", "NURSE", "A nurse", "rn", " nurse "])
def test_a_category_is_found_by_id_label_or_synonym_in_any_case(tmp_path: Path, raw: str) -> None:
    assert build(csv_file(tmp_path, f"work\n{raw}\n")).attributes == ({"work": "nurse"},)


@pytest.mark.parametrize(("raw", "value"), [("34", "34"), ("34.0", "34"), (" 3.4e1", "34")])
def test_a_number_is_written_in_one_way(tmp_path: Path, raw: str, value: str) -> None:
    assert build(csv_file(tmp_path, f"age\n{raw}\n")).attributes == ({"age": value},)


def test_missing_values_are_absent_attributes(tmp_path: Path) -> None:
    file = csv_file(tmp_path, "age,work,town\n34,, \n,cook,\n")
    assert build(file).attributes == ({"age": "34"}, {"work": "cook"})


def test_a_persona_without_any_attribute_is_refused_by_name(tmp_path: Path) -> None:
    file = csv_file(tmp_path, "id,age,town\nx,,\ny,3,\nz,,\n")
    (problem,) = problems(file, id_column="id")
    assert problem == (
        'personas "x", "z"  2 personas have an empty persona block: '
        "no attribute of the ontology has a value"
    )


def test_a_byte_order_mark_and_windows_line_ends_and_quotes_are_read(tmp_path: Path) -> None:
    file = csv_file(
        tmp_path, '\ufeffage,town\r\n34,"Ulm, ""old"" town"\r\n\r\n35,"two\r\nlines"\r\n'
    )
    people = build(file)
    assert [a["town"] for a in people.attributes] == ['Ulm, "old" town', "two\r\nlines"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(order=st.permutations(range(8)), size=st.integers(1, 8))
def test_the_order_of_rows_never_matters_with_an_id_column(
    tmp_path: Path, order: list[int], size: int
) -> None:
    rows = [f"é{i},{20 + i},0.{i}" for i in range(8)]
    first = build(
        csv_file(tmp_path, "\n".join(["id,age,c", *rows])),
        id_column="id",
        size=size,
        beliefs={"C1": {"column": "c"}},
    )
    second = build(
        csv_file(tmp_path, "\n".join(["id,age,c", *(rows[i] for i in order)])),
        id_column="id",
        size=size,
        beliefs={"C1": {"column": "c"}},
    )
    assert first.ids == second.ids
    assert first.attributes == second.attributes
    assert (first.beliefs == second.beliefs).all()
    assert len(first) == size
    ages = [int(values["age"]) for values in first.attributes]
    assert (first.beliefs[:, 0] == [(age - 20) / 10 for age in ages]).all()


def test_a_smaller_size_draws_evenly_and_with_the_seed(tmp_path: Path) -> None:
    file = csv_file(tmp_path, "age\n" + "".join(f"{i}\n" for i in range(100)))
    chosen = [build(file, size=20, seed=seed).ids for seed in range(40)]
    assert chosen[0] == build(file, size=20, seed=0).ids
    assert len(set(chosen)) == 40
    counts = np.array([sum(name in ids for ids in chosen) for name in build(file).ids])
    assert counts.mean() == 8.0
    assert counts.max() < 8 + 5 * np.sqrt(6.4)


def test_a_larger_drawn_sample_contains_the_smaller_one(tmp_path: Path) -> None:
    file = csv_file(tmp_path, "age\n" + "".join(f"{i}\n" for i in range(50)))
    assert set(build(file, size=5).ids) < set(build(file, size=6).ids)


def test_activity_tier_and_beliefs_come_from_columns(tmp_path: Path) -> None:
    file = csv_file(tmp_path, "id,age,act,tier,belief\nb,1,0.25,Frontier,1\na,2,1,cheap,0\n")
    people = build(
        file,
        id_column="id",
        activity={"column": "act"},
        tier={"column": "tier"},
        beliefs={"C1": {"column": "belief"}},
    )
    assert people.activity.tolist() == [1.0, 0.25]
    assert people.tiers.tolist() == [0, FRONTIER]
    assert people.beliefs.tolist() == [[0.0], [1.0]]


def test_a_value_that_is_no_number_names_its_row_of_the_file(tmp_path: Path) -> None:
    file = csv_file(tmp_path, "id,age,act,tier\nb,1,1.5,cheap\na,2,,fast\n")
    found = problems(file, id_column="id", activity={"column": "act"}, tier={"column": "tier"})
    assert found == [
        'line 2  row 1, column "act"  "1.5" is not a number from 0 to 1',
        'line 3  row 2, column "act"  "" is not a number from 0 to 1',
        'line 3  row 2, column "tier"  "fast" is not a tier: cheap or frontier',
    ]


def test_wrong_values_are_named_with_row_column_value_and_what_is_allowed(tmp_path: Path) -> None:
    file = csv_file(
        tmp_path,
        'age,work,town\nold,nurs,"a\x07b"\n150,cook,x\n3.5,cook,x\nnan,cook,' + "y" * 2001,
    )
    assert problems(file) == [
        'line 2  row 1, column "age"  "old" is not a number',
        'line 2  row 1, column "town"  "a\\x07b" has the control character U+0007',
        (
            'line 2  row 1, column "work"  "nurs" is not a value of work; '
            'values are nurse, night_guard, cook; did you mean "nurse"?'
        ),
        'line 3  row 2, column "age"  "150" is not between 0 and 120',
        'line 4  row 3, column "age"  "3.5" is not a whole number',
        'line 5  row 4, column "age"  "nan" is not a number',
        (
            f'line 5  row 4, column "town"  "{"y" * 80}…" has 2,001 characters; '
            "at most 2,000 are allowed"
        ),
    ]


def test_twenty_problems_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    file = csv_file(tmp_path, "age\n" + "x\n" * 33)
    found = problems(file)
    assert len(found) == 21
    assert found[-1] == "and 13 more problems"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("age,work\n1,cook,3\n2\n", "line 2  row 1  3 values in a row of 2 columns"),
        ("age,work\n1,cook,3\n2\n", "line 3  row 2  1 values in a row of 2 columns"),
        ("age,age\n1,2\n", 'line 1  column "age"  stands 2 times in the header'),
        ("age,\n1,2\n", "line 1  column 2  has no name in the header"),
        ("age;work\n1;cook\n", "columns must be separated by commas"),
        ('age,town\n1,"x"y\n', "line 2  not valid CSV"),
        ('age,town\n1,"x\n', "not valid CSV: unexpected end of data"),
    ],
)
def test_a_file_that_is_no_table_says_where(tmp_path: Path, text: str, message: str) -> None:
    assert any(message in problem for problem in problems(csv_file(tmp_path, text)))


def test_a_file_in_another_encoding_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes("age,town\n1,Köln\n".encode("latin-1"))
    assert problems(file) == ["byte 12 is not UTF-8; save the file as UTF-8"]


def test_a_missing_file_or_folder_is_a_problem(tmp_path: Path) -> None:
    assert problems(tmp_path / "nobody.csv") == ["No such file or directory"]
    assert problems(tmp_path) == ["Is a directory"]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a", "a"], 'line 3  row 2, column "id"  the id "a" stands in row 1 already'),
        (["a", " "], 'line 3  row 2, column "id"  the id is empty'),
        (["a\x01b"], "the id has a control character"),
        (["a\x85b"], "the id has a control character"),
        (["x" * 201], "the id has 201 characters; at most 200 are allowed"),
    ],
)
def test_ids_must_be_there_unique_and_printable(
    tmp_path: Path, ids: list[str], message: str
) -> None:
    file = csv_file(tmp_path, "id,age\n" + "".join(f"{name},1\n" for name in ids))
    assert any(message in problem for problem in problems(file, id_column="id"))


def test_any_unicode_id_is_kept_as_it_is(tmp_path: Path) -> None:
    names = ["Zoë", "李雷", "a b", "🦊", "p|1", "-", "x" * 200]
    file = csv_file(tmp_path, "id,age\n" + "".join(f"{name},1\n" for name in names))
    assert list(build(file, id_column="id").ids) == sorted(names)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"id_column": "Id"}, 'population.id_column  no column "Id" in the file'),
        ({"columns": {"age": "aeg"}}, 'did you mean "age"?'),
        ({"activity": {"column": "x"}}, "population.activity  no column"),
        ({"tier": {"column": "x"}}, "population.tier  no column"),
        ({"beliefs": {"C1": {"column": "x"}}}, "population.beliefs.C1  no column"),
        ({"size": 2}, "population.size  2 personas from a file of 1 rows"),
    ],
)
def test_columns_that_the_file_lacks_are_named_with_those_it_has(
    tmp_path: Path, keys: dict[str, Any], message: str
) -> None:
    file = csv_file(tmp_path, "id,age\na,1\n")
    found = problems(file, **keys)
    assert any(message in problem for problem in found)


def test_a_file_with_a_header_only_is_a_population_of_nobody(tmp_path: Path) -> None:
    people = build(csv_file(tmp_path, "id,age\n"), id_column="id")
    assert (people.ids, people.beliefs.shape) == ((), (0, 1))


def parquet_file(folder: Path, columns: dict[str, Any]) -> Path:
    file = folder / "people.parquet"
    pq.write_table(pa.table(columns), file)
    return file


def test_parquet_says_the_same_as_csv(tmp_path: Path) -> None:
    text = "id,age,work,town,c\nb,34,nurse,Ulm,0.25\na,,cook,,1.0\n"
    table = {
        "id": ["b", "a"],
        "age": [34, None],
        "work": pa.array(["nurse", "cook"]).dictionary_encode(),
        "town": ["Ulm", None],
        "c": [0.25, 1.0],
    }
    keys: dict[str, Any] = {"id_column": "id", "beliefs": {"C1": {"column": "c"}}}
    first = build(csv_file(tmp_path, text), **keys)
    second = build(parquet_file(tmp_path, table), **keys)
    assert first.ids == second.ids
    assert first.attributes == second.attributes
    assert (first.beliefs == second.beliefs).all()


def test_numbers_and_missing_numbers_of_parquet_are_read(tmp_path: Path) -> None:
    file = parquet_file(
        tmp_path,
        {"age": pa.array([34.0, float("nan"), None]), "town": pa.array([1, 2, 3], pa.int8())},
    )
    assert build(file).attributes == ({"age": "34", "town": "1"}, {"town": "2"}, {"town": "3"})


def test_a_wrong_value_in_parquet_names_its_row(tmp_path: Path) -> None:
    file = parquet_file(tmp_path, {"age": [34, 999]})
    assert problems(file) == ['row 2, column "age"  "999" is not between 0 and 120']


def test_a_parquet_column_without_plain_values_cannot_be_used(tmp_path: Path) -> None:
    file = parquet_file(
        tmp_path,
        {"age": [1], "town": [["Ulm"]], "raw": [b"x"], "key": pa.array([b"\xff" * 16], pa.uuid())},
    )
    assert build(file).attributes == ({"age": "1"},)
    for column in ("town", "raw", "key"):
        (problem,) = problems(file, columns={"town": column})
        assert problem == f'population.columns.town  column "{column}" holds no plain values'


def test_a_file_that_is_no_parquet_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    file.write_bytes(b"age\n1\n")
    assert problems(file)[0].startswith("not a readable Parquet file")


def test_a_parquet_file_with_repeated_columns_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "people.parquet"
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"])
    sink = io.BytesIO()
    pq.write_table(table, sink)
    file.write_bytes(sink.getvalue())
    assert 'column "age"  stands 2 times in the header' in problems(file)[0]


@pytest.mark.skipif(not GSS.exists(), reason="the survey file is not beside the repository")
def test_every_survey_respondent_becomes_a_persona_with_a_full_block() -> None:
    field = ontology.load("survey_respondents")
    people = population.build(
        Population(source="people.csv", id_column="id"),
        targets=("C1",),
        tier="cheap",
        ontology=field,
        streams=Streams(0),
        file=GSS,
        source="x.yaml",
    )
    assert len(people) == 3505
    assert people.ids[0] == "g0000"
    named = {attribute.id for attribute in field.attributes}
    assert all(set(values) == named for values in people.attributes)
    assert min(len(field.probe_questions(a)) for a in people.attributes[:200]) >= 15
