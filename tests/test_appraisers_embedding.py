"""The regression: exact sums, coefficients for one encoder, and how they are fitted."""

from __future__ import annotations

import io
import json
import math
import zlib
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simulation import encoders
from simulation.appraisers import AppraiserSpec, features, fit, load, sentiment
from simulation.appraisers.embedding import (
    FOLDER,
    UNIT,
    WORD_UNIT,
    Coefficients,
    EmbeddingAppraiser,
    read,
    write,
)
from simulation.appraisers.features import NAMES, plain
from simulation.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.encoders import Encoder

ENCODER = encoders.load(encoders.EncoderSpec())
MOODS = {"lovely": (4.2, 3.4, 3.3), "dreadful": (1.6, 3.8, 2.6), "wooden": (3.0, 2.8, 3.0)}


class Letters:
    """A tiny encoder: one component for each vowel."""

    name = "letters"
    width = 5
    sha256 = "5" * 64

    def encode(self, texts: Any) -> np.ndarray:
        counts = np.array([[t.count(c) for c in "aeiou"] for t in texts], float).reshape(-1, 5)
        return encoders.base.unit_rows(counts)


def coefficients(**changes: Any) -> Coefficients:
    rng = np.random.default_rng(3)
    made = Coefficients(
        encoder="letters",
        encoder_sha256="5" * 64,
        any_sha256=False,
        intercept=np.array([0, 419430, 524288], np.int32),
        dense=rng.integers(-100_000, 100_000, (10 + len(NAMES), 3), dtype=np.int32),
        words=rng.integers(-3000, 3000, (7, 3), dtype=np.int16),
    )
    return replace(made, **changes)


def table(path: Path, extra: str = "") -> Path:
    rows = [
        f'{split},{v + d},{a},{dom},"A {mood} day, number {i}."'
        for i in range(8)
        for split, d in (("train", 0.0), ("dev", 0.1), ("test", 0.2))
        for mood, (v, a, dom) in MOODS.items()
    ]
    path.write_text("\n".join(["split,V,A,D,text", *rows, extra]), encoding="utf-8")
    return path


def test_a_row_is_the_linear_map_worked_out_by_hand() -> None:
    text, vector = "Good, good tea?", np.array([[0.6, 0.8, 0, 0, 0]], np.float32)
    found = coefficients()
    told = [*sentiment.scores(text), 0.0, 0.25, 1 / 11, 0.0, math.sqrt(len(text) / 400)]
    unit = vector[0].astype(float)
    row = np.rint(np.hstack([unit, told[3] * unit, told]) * UNIT) / UNIT
    expected = found.intercept / UNIT + row @ (found.dense / UNIT)
    for word in (b"good", b"good", b"tea"):
        crc = zlib.crc32(word)
        expected += (-1 if crc >= 2**31 else 1) * found.words[crc % 7] / WORD_UNIT / math.sqrt(3)
    (row,) = EmbeddingAppraiser(found).appraise([text], vector)
    assert row == pytest.approx(np.clip(expected, (-1, 0, 0), 1), abs=1e-12)
    assert plain([text])[0] == pytest.approx(told)


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
@example("\u24b6" * 9)  # upper case, but no letter
@example("!" * 99 + "?" * 99)
@example("7" * 3000)
def test_every_feature_of_a_text_lies_within_minus_one_and_one(text: str) -> None:
    assert (np.abs(plain([text])) <= 1).all()


@given(st.permutations(range(6)))
def test_large_coefficients_are_summed_exactly_in_any_order(order: list[int]) -> None:
    rng = np.random.default_rng(0)
    large = coefficients(dense=rng.integers(-(2**27), 2**27, (19, 3), dtype=np.int32))
    texts = [f"text {i}!" for i in range(6)]
    vectors = rng.normal(0, 0.4, (6, 5)).astype(np.float32)
    appraiser = EmbeddingAppraiser(large)
    rows = appraiser.appraise(texts, vectors)
    shuffled = appraiser.appraise([texts[i] for i in order], vectors[order])
    assert shuffled.tobytes() == rows[order].tobytes()


def test_components_beyond_one_are_read_as_one() -> None:
    appraiser = EmbeddingAppraiser(coefficients())
    large = appraiser.appraise(["a"], np.full((1, 5), 1e30, np.float32))
    assert np.array_equal(large, appraiser.appraise(["a"], np.ones((1, 5), np.float32)))


@pytest.mark.parametrize("shape", [(1, 4), (2, 5), (5,)])
def test_vectors_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match=r"finite vectors \(1, 5\) are expected"):
        EmbeddingAppraiser(coefficients()).appraise(["a"], np.zeros(shape, np.float32))


def test_vectors_are_needed_and_must_be_finite() -> None:
    appraiser = EmbeddingAppraiser(coefficients())
    with pytest.raises(UsageError, match="needs the vectors"):
        appraiser.appraise(["a"], None)
    with pytest.raises(UsageError, match="finite"):
        appraiser.appraise(["a"], np.full((1, 5), np.nan, np.float32))


def test_an_encoder_must_be_named() -> None:
    with pytest.raises(UsageError, match="needs to know the run's encoder"):
        load(AppraiserSpec())


def test_another_encoder_is_refused_with_how_to_fit() -> None:
    with pytest.raises(UsageError, match=r"no coefficients for the encoder \"letters\"") as caught:
        load(AppraiserSpec(encoder=Letters()))
    assert "python -m simulation.appraisers.fit" in str(caught.value)
    assert "shipped: sentence_transformers:all-MiniLM-L6-v2, static" in str(caught.value)


def test_an_encoder_of_the_same_name_and_other_files_is_refused_unless_the_name_is_enough() -> (
    None
):
    other = cast("Encoder", SimpleNamespace(name="letters", sha256="6" * 64))
    assert not coefficients().fits(other)
    assert coefficients(any_sha256=True).fits(other)
    assert not coefficients(any_sha256=True).fits(ENCODER)


def test_a_copy_of_minilm_with_another_read_me_has_coefficients() -> None:
    name = "sentence_transformers:all-MiniLM-L6-v2"
    copy = cast("Encoder", SimpleNamespace(name=name, sha256="6" * 64))
    found = load(AppraiserSpec(encoder=copy))
    assert found.name == f"embedding:{name}"
    assert "another copy" in found.notes[0]
    assert load(AppraiserSpec(encoder=ENCODER)).notes == ()


def test_a_file_is_read_as_it_was_written_and_the_same_bytes_each_time(tmp_path: Path) -> None:
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    for path in (first, second):
        write(path, coefficients(), {"dev_r": 0.5})
    assert first.read_bytes() == second.read_bytes()
    found = read(first)
    assert np.array_equal(found.dense, coefficients().dense)
    assert (found.encoder, found.width, len(found.sha256)) == ("letters", 5, 64)
    spec = AppraiserSpec(encoder=Letters(), coefficients=first)
    assert load(spec).appraise(["a"], np.zeros((1, 5), np.float32)).shape == (1, 3)


@pytest.mark.parametrize(
    "changes",
    [
        {"dense": np.zeros((18, 3), np.int32)},
        {"dense": np.zeros((19, 3), np.int64)},
        {"words": np.zeros((0, 3), np.int16)},
        {"intercept": np.zeros(2, np.int32)},
        {"dense": np.full((19, 3), 2**30, np.int32)},
    ],
)
def test_coefficients_that_make_no_sense_are_refused(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    write(tmp_path / "a.npz", coefficients(**changes), {})
    with pytest.raises(UsageError, match=r"a\.npz"):
        read(tmp_path / "a.npz")


def test_a_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    for content in (b"", b"word,valence\n", _archive(about='{"format": 2}'), _archive(x="y")):
        path.write_bytes(content)
        with pytest.raises(UsageError, match="holds no coefficients"):
            read(path)
    with pytest.raises(UsageError, match="holds no coefficients"):
        read(tmp_path / "absent.npz")


def _archive(**texts: str) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{k: np.array(text) for k, text in texts.items()})
    return buffer.getvalue()


def test_the_shipped_coefficients_are_small_and_hold_no_text_but_how_they_were_made() -> None:
    files = sorted(FOLDER.iterdir())
    assert [file.name for file in files] == ["minilm.npz", "static.npz"]
    assert sum(file.stat().st_size for file in files) < 200_000
    for file in files:
        with np.load(file) as arrays:
            assert sorted(arrays) == ["about", "dense", "intercept", "words"]
            assert len(json.loads(str(arrays["about"]))["data_sha256"]) == 64


def test_fitting_finds_what_is_in_the_texts_and_the_appraiser_repeats_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = fit.read_ratings(table(tmp_path / "data.csv"))
    out = tmp_path / "out.npz"
    quality = fit.fit(data, Letters(), out, buckets=64)
    assert (quality > 0.9).all()
    dev = [text for text, train in zip(data.texts, data.train, strict=True) if not train]
    found = load(AppraiserSpec(encoder=Letters(), coefficients=out))
    rows = found.appraise(dev, Letters().encode(dev))
    assert fit.correlation(rows, data.affect[~data.train]) == pytest.approx(quality, abs=0.01)
    assert capsys.readouterr() == ("", "")


def test_ratings_are_scaled_to_our_ranges_and_other_splits_left_out(tmp_path: Path) -> None:
    data = fit.read_ratings(table(tmp_path / "data.csv", "train,1,5,1,low\ndev,5,1,3,high\n"))
    assert len(data.texts) == 50
    assert data.affect[-2:].tolist() == [[-1.0, 1.0, 0.0], [1.0, 0.0, 0.5]]
    assert data.train.sum() == 25


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("split,V,A,text\n", "no column D"),
        ("split,V,A,D,text\ntrain,1,x,1,a\ndev,1,1,1,b\n", "no number"),
        ("split,V,A,D,text\ntrain,1,2\n", "no number"),
        ("split,V,A,D,text\ntrain,1,1,1,a\n", "both splits"),
        ("split,V,A,D,text\ntrain,1,1,1,a\ndev,9,1,1,b\n", "rated from 1 to 5"),
        ("split,V,A,D,text\n", "both splits"),
    ],
)
def test_data_that_cannot_be_fitted_is_one_clear_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, problem: str
) -> None:
    path = tmp_path / "data.csv"
    path.write_text(content)
    assert fit.main([str(path), str(tmp_path / "out.npz")]) == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "out.npz").exists()


def test_the_command_says_how_good_the_fit_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "PENALTIES", ((5.0,), (10.0,), (10.0, 20.0)))
    out = tmp_path / "out.npz"
    arguments = [str(table(tmp_path / "data.csv")), str(out), "--encoder", "ngram"]
    assert fit.main(arguments) == 0
    assert "Pearson r on the dev split V 1.000, A 0.99" in capsys.readouterr().out
    assert read(out).encoder == "ngram"


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
def test_ridge_solves_its_normal_equations_in_both_forms(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=shape)
    features -= features.mean(axis=0)
    targets, penalty = rng.normal(size=(shape[0], 2)), rng.uniform(0.5, 2, shape[1])
    found = fit.ridge(features, targets, penalty)
    residual = targets - targets.mean(axis=0) - features @ found
    assert features.T @ residual == pytest.approx(penalty[:, None] * found)


def test_a_column_that_does_not_vary_correlates_with_nothing() -> None:
    left = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    assert fit.correlation(left, left) == pytest.approx([0.0, 1.0])


def test_a_wall_of_emoji_is_appraised_as_quickly_as_prose() -> None:
    wall = "\N{FACE SCREAMING IN FEAR}" * 2000
    few = "\N{FACE SCREAMING IN FEAR}" * 50
    assert features._few_symbols(few) == few
    assert features._few_symbols(wall + " awful") == few + " " * 1950 + " awful"
    assert features.plain([wall]).shape == (1, 9)
