"""Raw answers to IPIP-FFM and ECR, scored."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import small

from simulation.errors import InputError
from simulation.personality import questionnaires
from simulation.personality.questionnaires import QUESTIONNAIRES, population_csv, read
from simulation.scenario.model import TRAITS
from simulation.society import Society

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.personality.questionnaires import Questionnaire

NEW, OLD, ECR = QUESTIONNAIRES
# what somebody with much of the trait agrees to, as the tests' authors word it, and what he denies
AGREED = {
    "O": ("OPN1", "OPN3", "OPN5", "OPN7", "OPN8", "OPN9", "OPN10"),
    "C": ("CSN1", "CSN3", "CSN5", "CSN7", "CSN9", "CSN10"),
    "E": ("EXT1", "EXT3", "EXT5", "EXT7", "EXT9"),
    "A": ("AGR2", "AGR4", "AGR6", "AGR8", "AGR9", "AGR10"),
    "N": ("EST1", "EST3", "EST5", "EST6", "EST7", "EST8", "EST9", "EST10"),
}


def _write(
    path: Path, rows: Sequence[Mapping[str, object]], *, columns: Sequence[str], by: str = "\t"
) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=by)
        writer.writerow(columns)
        writer.writerows([row[name] for name in columns] for row in rows)
    return path


def _all(asked: Questionnaire, answer: object) -> dict[str, object]:
    return dict.fromkeys(asked.columns, answer)


def _row(asked: Questionnaire, answer: object = 3, **others: object) -> dict[str, object]:
    return _all(asked, answer) | others


def _file(tmp_path: Path, *rows: Mapping[str, object], asked: Questionnaire = NEW) -> Path:
    return _write(tmp_path / "data.csv", rows, columns=asked.columns)


def _refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(path)
    return str(caught.value)


def test_every_item_belongs_to_one_scale() -> None:
    for asked, items in ((NEW, 50), (OLD, 50), (ECR, 36)):
        assert len(set(asked.columns)) == len(asked.columns) == items
        assert len(asked.scales) == len(TRAITS[asked.kind])


def test_someone_in_the_middle_scores_a_half(tmp_path: Path) -> None:
    scored = read(_file(tmp_path, _row(NEW)))
    assert scored.kind == "big_five"
    assert scored.ids == ("r2",)
    assert scored.traits.tolist() == [[0.5] * 5]
    assert scored.dropped == {"answered nothing": 0, "left items out": 0}


@pytest.mark.parametrize("trait", AGREED)
def test_agreeing_to_what_names_a_trait_and_denying_the_rest_gives_all_of_it(
    tmp_path: Path, trait: str
) -> None:
    scale = NEW.scales[TRAITS["big_five"].index(trait)]
    answers = {name: 5 if name in AGREED[trait] else 1 for name in scale.columns}
    scored = read(_file(tmp_path, _row(NEW, **answers)))
    assert scored.traits[0].tolist() == [float(t == trait) or 0.5 * (t != trait) for t in AGREED]


def test_a_relaxed_person_who_seldom_feels_blue_is_less_neurotic(tmp_path: Path) -> None:
    scored = read(_file(tmp_path, _row(NEW, EST2=5, EST4=5), _row(NEW, EST1=5, EST10=5)))
    assert scored.traits[:, -1].tolist() == [0.4, 0.6]


def test_ecr_takes_anxiety_from_even_and_avoidance_from_odd_items(tmp_path: Path) -> None:
    turned = (3, 15, 19, 22, 25, 27, 29, 31, 33, 35)
    worried = {f"Q{i}": 1 if i in turned else 5 for i in range(2, 37, 2)}
    distant = {f"Q{i}": 1 if i in turned else 5 for i in range(1, 37, 2)}
    scored = read(_file(tmp_path, _row(ECR, **worried), _row(ECR, **distant), asked=ECR))
    assert scored.kind == "attachment"
    assert scored.traits.tolist() == [[1.0, 0.5], [0.5, 1.0]]


def test_the_columns_of_the_older_dump_mean_the_same(tmp_path: Path) -> None:
    new = _row(NEW, EXT2=1, EST3=5, OPN4=4, CSN6=2, AGR7=1)
    old = _row(OLD, E2=1, N3=5, O4=4, C6=2, A7=1)
    first = read(_file(tmp_path, new))
    second = read(_write(tmp_path / "old.csv", [old], columns=OLD.columns))
    assert np.array_equal(first.traits, second.traits)


def test_who_left_an_item_out_is_dropped_and_counted(tmp_path: Path) -> None:
    rows = [_all(NEW, "NULL"), _row(NEW), _row(NEW, EXT4=0), _row(NEW, OPN9=""), _all(NEW, 0)]
    scored = read(_file(tmp_path, *rows))
    assert scored.ids == ("r3",)
    assert scored.dropped == {"answered nothing": 2, "left items out": 2}


@pytest.mark.parametrize("by", ["\t", ",", ";"])
def test_any_separator_order_case_and_further_column_will_do(tmp_path: Path, by: str) -> None:
    columns = [*reversed(NEW.columns), "EXT1_E", "country"]
    row = _row(NEW, EXT1="4.0", EXT3=" 5", EXT1_E=9128, country="GB, or so")
    path = _write(tmp_path / "data.csv", [row], columns=columns, by=by)
    path.write_text("\ufeff" + path.read_text("utf-8").replace("EXT1\t", "ext1\t"), "utf-8")
    assert read(path).traits[0].tolist() == [0.5, 0.5, 0.575, 0.5, 0.5]


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = _file(tmp_path, _row(NEW))
    path.write_text(path.read_text("utf-8") + "\n", "utf-8")
    assert len(read(path).ids) == 1


def test_ids_are_those_of_the_file(tmp_path: Path) -> None:
    rows = [_row(NEW, id="ann"), _row(NEW, id="bob", EXT1=0), _row(NEW, id="cy")]
    path = _write(tmp_path / "data.csv", rows, columns=["id", *NEW.columns])
    assert read(path).ids == ("ann", "cy")


def test_a_wrong_answer_is_told_by_line_and_column(tmp_path: Path) -> None:
    told = _refused(_file(tmp_path, _row(NEW), _row(NEW, EST3=6, OPN1="yes")))
    assert "data.csv cannot be used" in told
    assert "line 3  column EST3: '6' is not 1 to 5, or 0, NULL, NA or nothing" in told
    assert "line 3  column OPN1: 'yes' is not" in told


def test_only_the_first_problems_are_told(tmp_path: Path) -> None:
    told = _refused(_file(tmp_path, *[_row(NEW, EST3=9)] * 30))
    assert "line 11" in told
    assert "line 12" not in told
    assert "and more after the first 10" in told


def test_a_torn_row_is_told(tmp_path: Path) -> None:
    path = _file(tmp_path, _row(NEW))
    path.write_text(path.read_text("utf-8") + "1\t2\n", "utf-8")
    assert "line 3  has 2 cells, the header 50" in _refused(path)


def test_a_missing_column_is_named_with_one_that_may_be_meant(tmp_path: Path) -> None:
    columns = ["EXTT3" if name == "EXT3" else name for name in NEW.columns]
    path = _write(tmp_path / "data.csv", [_row(NEW, EXTT3=1)], columns=columns)
    told = _refused(path)
    assert "there is no column EXT3 of IPIP-FFM, EXT1 to OPN10" in told
    assert 'did you mean "EXTT3"?' in told


def test_several_missing_columns_are_counted(tmp_path: Path) -> None:
    path = _write(tmp_path / "data.csv", [_row(NEW)], columns=NEW.columns[:40])
    assert "no column EST1 and 9 others" in _refused(path)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (("a", "b"), "no column of a questionnaire is there"),
        ((*NEW.columns, *ECR.columns), "are those of several: IPIP-FFM"),
        ((*ECR.columns, "Q37"), "the column Q37 is none of the 36 items of ECR"),
        ((*NEW.columns, "EXT1"), "the column EXT1 stands 2 times"),
        (("id", *ECR.columns), "column id is empty"),
    ],
)
def test_columns_that_are_not_those_of_a_questionnaire_are_refused(
    tmp_path: Path, columns: tuple[str, ...], said: str
) -> None:
    row = dict.fromkeys(columns, 3) | {"id": ""}
    assert said in _refused(_write(tmp_path / "data.csv", [row], columns=columns))


def test_two_people_of_one_id_are_refused(tmp_path: Path) -> None:
    rows = [_row(NEW, id="ann"), _row(NEW, id="ann")]
    path = _write(tmp_path / "data.csv", rows, columns=["id", *NEW.columns])
    assert "line 3  id 'ann' is that of line 2" in _refused(path)


def test_a_file_without_one_whole_row_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, _row(NEW, EXT1=0), _all(NEW, 0))
    assert "of 2 people nobody answered all 50 items" in _refused(path)


def test_a_missing_file_an_empty_one_and_one_that_is_no_text_are_refused(tmp_path: Path) -> None:
    assert "cannot be read" in _refused(tmp_path / "none.csv")
    path = tmp_path / "data.csv"
    path.write_bytes(b"")
    assert "no column of a questionnaire" in _refused(path)
    path.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in _refused(path)
    path.write_text("\t".join(NEW.columns) + '\n"3', encoding="utf-8")
    assert "data.csv, line 2" in _refused(path)


@given(st.lists(st.integers(1, 5), min_size=50, max_size=50))
def test_scores_are_in_range_and_turn_round_with_the_answers(answers: list[int]) -> None:
    given_ = np.array([answers, [6 - x for x in answers]], np.uint8)
    traits = questionnaires._traits(given_, NEW)
    assert traits.min() >= 0.0
    assert traits.max() <= 1.0
    assert np.allclose(traits.sum(axis=0), 1.0)


def test_scored_people_can_be_the_population_of_a_scenario(tmp_path: Path) -> None:
    scored = read(_file(tmp_path, *[_row(NEW, EXT1=i, EST2=i, OPN4=i) for i in range(1, 6)]))
    text = population_csv(scored)
    assert text.splitlines()[0] == "id,O,C,E,A,N"
    aged = [f"{line},{'age' if i == 0 else 40 + i}" for i, line in enumerate(text.splitlines())]
    (tmp_path / "people.csv").write_text("\n".join(aged), "utf-8")
    columns = {name: name for name in TRAITS["big_five"]}
    population = {
        "source": "people.csv",
        "id_column": "id",
        "columns": {"age": "age"},
        "personality": {"kind": "big_five", "columns": columns},
    }
    world = Society(small(tmp_path, population=population)).engine.world
    assert world.personality.vectors.tolist() == scored.traits.tolist()


def test_the_script_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "big-five.md"
    (script,) = re.findall(
        r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    _file(tmp_path, _row(NEW), _row(NEW, EXT1=0)).rename("answers.csv")
    exec(compile(script, page.name, "exec"), {})  # noqa: S102 - the page's own code
    assert Path("people.csv").read_text("utf-8") == "id,O,C,E,A,N\nr2,0.5,0.5,0.5,0.5,0.5\n"
