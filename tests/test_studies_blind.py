"""The study `blind-annotation`: what is handed out, what is read back, and how it is scored."""

from __future__ import annotations

import csv
import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.errors import InputError
from simulation.studies import corpus
from simulation.studies.blind import labels as blind_labels
from simulation.studies.blind import study as blind
from simulation.studies.output import sha256_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HEAD = ("item", "valence", "arousal", "dominance", "specificity")
ITEMS = [one.item for one in blind.items()]


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("blind") / "out"
    return folder, blind.run(folder, quick=True, data=None)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _file(path: Path, rows: Sequence[Sequence[object]], head: Sequence[str] = HEAD) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)
    return path


def _own_labels(count: int) -> list[tuple[str, float, float, float, str]]:
    """Return rows of a reader who labels as the first one did."""
    _, first, _ = blind._ours()
    return [
        (item, v, a, d, "overgeneral" if vague else "specific")
        for item, (v, a, d), vague in zip(
            ITEMS[:count], first.affect.tolist(), first.overgeneral.tolist(), strict=False
        )
    ]


def test_the_reader_gets_names_without_meaning_and_texts_and_nothing_else(
    handed_out: tuple[Path, str],
) -> None:
    folder, told = handed_out
    assert "640 items" in told
    reader = folder / "for_the_reader"
    assert sorted(path.name for path in reader.iterdir()) == ["instructions.md", "items.csv"]
    items = _rows(reader / "items.csv")
    assert [tuple(row) for row in items] == [("item", "text")] * 640
    assert [row["item"] for row in items] == [f"item-{n:03d}" for n in range(1, 641)]
    everything = (reader / "items.csv").read_text(encoding="utf-8")
    names = {one for name in corpus.NAMES for one in corpus.read(name).ids}
    assert not any(name in everything for name in names)
    instructions = (reader / "instructions.md").read_text(encoding="utf-8")
    assert all(f"**{label}**" in instructions for label in blind_labels.LABELS)
    for word in ("anxi", "avoidan", "attachment", "PersMem", "personality", "study"):
        assert word not in instructions


def test_the_key_leads_back_to_every_memory(handed_out: tuple[Path, str]) -> None:
    folder, _ = handed_out
    texts = {row["item"]: row["text"] for row in _rows(folder / "for_the_reader" / "items.csv")}
    key = _rows(folder / "key.csv")
    sets = {name: corpus.read(name) for name in corpus.NAMES}
    for row in key:
        found = sets[row["set"]]
        assert found.texts[found.ids.index(row["memory_id"])] == texts[row["item"]]
    assert len({row["memory_id"] for row in key}) == 640


def test_items_are_mixed_and_come_in_the_same_order_again() -> None:
    first, again = blind.items(), blind.items()
    assert first == again
    assert {one.of for one in first[:40]} == set(corpus.NAMES)
    _, ours, _ = blind._ours()
    place = np.arange(640.0)
    assert abs(np.corrcoef(place, ours.affect[:, 0])[0, 1]) < 0.1
    assert abs(np.corrcoef(place, ours.overgeneral)[0, 1]) < 0.1


def test_the_shipped_second_reader_is_scored(handed_out: tuple[Path, str]) -> None:
    folder, _ = handed_out
    rows = {row["set"]: row for row in _rows(folder / "agreement.csv")}
    assert [int(row["items"]) for row in rows.values()] == [63, 92, 165, 320, 640]
    assert float(rows["all"]["specificity kappa"]) == 1.0
    assert float(rows["all"]["valence kappa"]) == pytest.approx(0.84, abs=0.005)
    assert float(rows["test"]["valence r"]) > 0.9
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for name in ("key.csv", "for_the_reader/items.csv", "for_the_reader/instructions.md"):
        assert manifest["files"][name] == sha256_of(folder / name)


def test_a_reader_who_labels_alike_agrees_fully(tmp_path: Path) -> None:
    told = blind.run(
        tmp_path / "out", quick=False, data=_file(tmp_path / "own.csv", _own_labels(100))
    )
    assert "100 of 640 items" in told
    assert told.count("1.000 [1.000, 1.000]") == 4
    assert "not reached" not in told
    rows = _rows(tmp_path / "out" / "agreement.csv")
    assert float(rows[-1]["valence r"]) == pytest.approx(1.0)
    assert not (tmp_path / "out" / "key.csv").exists()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert "own.csv" in manifest["data"]


def test_a_reader_who_turns_all_round_does_not(tmp_path: Path) -> None:
    turned = [
        (item, -v, 1 - a, 1 - d, "specific" if kind == "overgeneral" else "overgeneral")
        for item, v, a, d, kind in _own_labels(60)
    ]
    told = blind.run(tmp_path / "out", quick=False, data=_file(tmp_path / "own.csv", turned))
    assert told.count("not reached") == 4


def test_a_reader_of_one_kind_only_has_no_kappa(tmp_path: Path) -> None:
    rows = [row for row in _own_labels(40) if row[4] == "specific"][:2]  # not of every set
    told = blind.run(tmp_path / "out", quick=False, data=_file(tmp_path / "own.csv", rows))
    assert "specificity, Cohen's kappa: undefined" in told


def test_rows_without_labels_are_left_out_and_texts_may_stay(tmp_path: Path) -> None:
    rows = [(*row[:1], "a text", *row[1:]) for row in _own_labels(3)]
    empty = (ITEMS[7], "a text", "", "", "", "")
    path = _file(tmp_path / "own.csv", [*rows, empty], head=("item", "text", *HEAD[1:]))
    names, labels = blind_labels.read_labels(path, ITEMS)
    assert names == tuple(ITEMS[:3])
    assert labels.affect.shape == (3, 3)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("item-001", "1.5", "0.5", "0.5", "specific"), 'valence is "1.5"; allowed is a number'),
        (("item-001", "0", "-0.1", "0.5", "specific"), "from 0 to 1"),
        (("item-001", "0", "0.5", "high", "specific"), 'dominance is "high"'),
        (("item-001", "nan", "0.5", "0.5", "specific"), 'valence is "nan"'),
        (
            ("item-001", "0", "", "0.5", ""),
            "there is no arousal and no specificity; a row has all four labels or none",
        ),
        (("item-001", "0_0", "0.5", "0.5", "specific"), 'valence is "0_0"; allowed is a number'),
        (("item-001", "0.12", "0.5", "0.5", "specific"), "from -1 to 1 in steps of 0.05"),
        (("item-001", "0", "1" * 5000, "0.5", "specific"), "from 0 to 1 in steps of 0.05"),
        (("item-001", "0", "0.5", "0.5", "vague"), "allowed are specific and overgeneral"),
        (("item-999", "0", "0.5", "0.5", "specific"), "they run from item-001 to item-640"),
    ],
)
def test_a_wrong_label_is_told_with_its_line(
    tmp_path: Path, row: tuple[str, ...], message: str
) -> None:
    path = _file(tmp_path / "own.csv", [("item-002", "0", "0.5", "0.5", "specific"), row])
    with pytest.raises(InputError) as caught:
        blind.run(tmp_path / "out", quick=False, data=path)
    assert "own.csv cannot be used (1 problem):" in str(caught.value)
    assert "line 3" in str(caught.value)
    assert message in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_an_unlabelled_second_row_is_told_in_one_way(tmp_path: Path) -> None:
    rows = [("item-002", "0", "0.5", "0.5", "specific"), ("item-002", "", "", "", "")]
    with pytest.raises(InputError) as caught:
        blind_labels.read_labels(_file(tmp_path / "own.csv", rows), ITEMS)
    assert str(caught.value).endswith("line 3  item-002 stands here a second time")


def test_few_labels_are_not_judged(tmp_path: Path) -> None:
    told = blind.run(
        tmp_path / "out", quick=False, data=_file(tmp_path / "own.csv", _own_labels(29))
    )
    assert told.count("; 29 items are too few to judge") == 4
    assert not any(line.startswith(("reached", "not reached")) for line in told.splitlines())
    told = blind.run(
        tmp_path / "more", quick=False, data=_file(tmp_path / "own.csv", _own_labels(30))
    )
    assert sum(line.startswith("reached") for line in told.splitlines()) == 4


def test_an_item_labelled_twice_is_refused(tmp_path: Path) -> None:
    row = ("item-002", "0", "0.5", "0.5", "specific")
    with pytest.raises(InputError, match="item-002 stands here a second time"):
        blind_labels.read_labels(_file(tmp_path / "own.csv", [row, row]), ITEMS)


def test_a_missing_column_is_named_with_what_was_probably_meant(tmp_path: Path) -> None:
    path = _file(
        tmp_path / "own.csv",
        [("item-001", "0", "0.5", "0.5", "specific")],
        head=("item", "valance", "arousal", "dominance", "specificity"),
    )
    with pytest.raises(InputError, match='no column "valence"; did you mean "valance"'):
        blind_labels.read_labels(path, ITEMS)


def test_a_file_without_any_label_and_one_that_is_not_there_are_refused(tmp_path: Path) -> None:
    path = _file(tmp_path / "own.csv", [("item-001", "", "", "", "")])
    with pytest.raises(InputError, match="no row has labels"):
        blind_labels.read_labels(path, ITEMS)
    with pytest.raises(InputError, match="No such file"):
        blind_labels.read_labels(tmp_path / "nothing.csv", ITEMS)


def test_kappa_is_cohens() -> None:
    one, other = np.repeat([0, 0, 1, 1], [20, 5, 10, 15]), np.repeat([0, 1, 0, 1], [20, 5, 10, 15])
    assert blind_labels.kappa(one, other) == pytest.approx(0.4)
    assert math.isnan(blind_labels.kappa(np.zeros(4, int), np.zeros(4, int)))
    assert blind_labels.kappa(np.zeros(4, int), np.array([0, 1, 0, 1])) == 0.0


@given(st.lists(st.integers(0, 2), min_size=2, max_size=30).filter(lambda x: len(set(x)) > 1))
def test_kappa_of_equals_is_one_and_it_is_symmetric(kinds: list[int]) -> None:
    one, turned = np.array(kinds), np.array(kinds[::-1])
    assert blind_labels.kappa(one, one) == pytest.approx(1.0)
    assert blind_labels.kappa(one, turned) == pytest.approx(blind_labels.kappa(turned, one))


def test_a_correlation_of_what_does_not_vary_is_none() -> None:
    assert math.isnan(blind_labels.correlation(np.zeros(3), np.arange(3.0)))
    assert blind_labels.correlation(np.arange(3.0), -np.arange(3.0)) == pytest.approx(-1.0)


def test_the_limits_of_the_sides_are_those_of_the_rubric() -> None:
    affect = np.array([[-0.25, 0.45, 0.5], [-0.2, 0.5, 0.45], [0.2, 0.5, 0.5], [0.25, 0.5, 0.5]])
    labels = blind_labels.Labels(affect=affect, overgeneral=np.array([True, False, False, True]))
    sides = labels.sides()
    assert sides["valence"].tolist() == [0, 1, 1, 2]
    assert sides["arousal"].tolist() == [0, 1, 1, 1]
    assert sides["dominance"].tolist() == [1, 0, 1, 1]
    assert sides["specificity"].tolist() == [1, 0, 0, 1]
