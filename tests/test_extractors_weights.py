"""A fitted table of word weights: what a file may hold, and that quick sums are the plain ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.errors import UsageError
from simulation.extractors import polarity, weights
from simulation.extractors.clauses import head, read

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = weights.read_weights()
TABLE: dict[str, Any] = {
    "format": 1,
    "aspects": ["food"],
    "labels": {"food": [1, 2, 3]},
    "find": {"bias": [-500], "list:food": [1000], "word:soup": [900], "word:cold": [300]},
    "lean": {"bias": [0, 0, 100], "near:cold": [-1000, 2000, 0], "near food:cold": [0, 500, 0]},
}
texts = st.lists(
    st.sampled_from(
        [
            *("the", "waiter", "food", "was", "rude", "good", "not", "cold", "price", ",", "but"),
            *(".", "never", "don't", "x"),
        ]
    ),
    max_size=25,
).map(" ".join)


def test_an_aspect_is_spoken_of_above_even_odds() -> None:
    table = weights.from_table(TABLE)
    assert table.spoken(read("soup"), []) == ["food"]
    assert table.spoken(read("cold"), []) == []
    assert table.spoken(read("cold"), ["food"]) == ["food"]
    assert weights.from_table(TABLE | {"find": {}}).spoken(read("soup"), []) == []


def test_an_aspect_is_named_by_its_listed_words_else_by_the_heaviest() -> None:
    table = weights.from_table(TABLE)
    assert table.anchors(read("cold soup here"), "food", [2]) == [2]
    assert table.anchors(read("cold soup here"), "food", []) == [1]
    assert table.anchors(read("cold here"), "food", []) == []


@given(texts, st.sampled_from(SHIPPED.aspects), st.data())
def test_joined_rows_give_what_the_features_give(
    text: str, aspect: str, data: st.DataObject
) -> None:
    reading = read(head(text))
    places = st.lists(st.sampled_from(range(len(reading.words))), max_size=2)
    anchors = data.draw(places) if reading.words else []
    said, near = polarity.judgements(reading), polarity.nearness(reading, anchors)
    features = weights.lean_features(reading, aspect, said, near)
    plain = [
        sum(value * SHIPPED.lean.get(name, (0, 0, 0))[i] for name, value in features.items())
        for i in range(3)
    ]
    quick = SHIPPED.logits(reading, aspect, said, near)
    assert [value * weights.UNIT for value in quick] == pytest.approx(plain, abs=1e-6)


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3))
def test_shares_of_logits_are_a_distribution_in_their_order(logits: list[float]) -> None:
    shares = weights.softmax(logits)
    assert sum(shares) == pytest.approx(1.0, abs=1e-12)
    assert min(shares) >= 0.0
    assert shares[0] >= shares[1] if logits[0] >= logits[1] else shares[1] >= shares[0]


def test_a_table_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE))
    table = weights.read_weights(path)
    assert table.aspects == ("food",)
    assert len(table.sha256) == 64
    assert table.near["food"] == {"cold": (-1000.0, 2250.0, 0.0)}
    ((_, worse, _),) = [weights.softmax(table.logits(read("cold"), "food", [], [1.0]))]
    assert worse > 0.8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "its format is 2, not 1"),
        ({"find": {"bias": [1, 2]}}, '"bias" must have 1 whole numbers'),
        ({"lean": {"bias": [1, 2, 0.5]}}, '"bias" must have 3 whole numbers'),
        ({"lean": []}, "holds no word weights"),
        ({"aspects": None}, "holds no word weights"),
    ],
)
def test_a_file_that_is_no_table_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE | change))
    with pytest.raises(UsageError, match=message):
        weights.read_weights(path)


def test_a_file_that_is_missing_or_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    with pytest.raises(UsageError, match="holds no word weights"):
        weights.read_weights(path)
    for text in ("{", "[]", "3"):
        path.write_text(text)
        with pytest.raises(UsageError, match="holds no word weights"):
            weights.read_weights(path)


def test_the_shipped_table_holds_figures_about_the_aspects_of_its_lists() -> None:
    assert set(SHIPPED.labels) == set(SHIPPED.aspects)
    assert all(len(row) == len(SHIPPED.aspects) for row in SHIPPED.find.values())
    assert sum(map(sum, SHIPPED.labels.values())) == 7090
