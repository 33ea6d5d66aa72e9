"""The n-gram encoder: no model, one vector a text, weights that anyone can recompute."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.encoders import EncoderSpec, load, ngram
from simulation.encoders.base import MAX_CHARACTERS
from simulation.encoders.static import FOLDER
from simulation.errors import UsageError

ENCODER = load(EncoderSpec(name="ngram"))
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=60)


def cosine(left: str, right: str) -> float:
    a, b = ENCODER.encode([left, right]).astype(np.float64)
    return float(a @ b)


def test_it_tells_its_name_width_and_fingerprint() -> None:
    assert (ENCODER.name, ENCODER.width, len(ENCODER.sha256)) == ("ngram", 1024, 64)


def test_a_vector_is_the_weighted_count_of_the_pieces_worked_out_by_hand() -> None:
    weights = np.load(ngram.TABLE)
    expected = np.zeros(1024)
    for piece, count in ((b" ab", 2), (b"ab ", 2), (b" ab ", 2)):
        crc = zlib.crc32(piece)
        sign = -1 if crc >= 2**31 else 1
        expected[crc % 1024] += sign * np.rint(np.sqrt(count) * weights[crc % 1024])
    expected /= np.sqrt((expected**2).sum())
    assert np.array_equal(ENCODER.encode(["Ab, ab!"])[0], expected.astype(np.float32))


@pytest.mark.parametrize("text", ["", "  \n", "!?", "😀😀", "\ud800"])
def test_a_text_without_words_has_a_vector_of_zeros(text: str) -> None:
    assert not ENCODER.encode([text]).any()


def test_no_texts_give_no_rows() -> None:
    assert ENCODER.encode([]).shape == (0, 1024)


@given(st.lists(ANY_TEXT, min_size=1, max_size=6))
def test_a_text_has_bitwise_the_same_vector_alone_and_in_any_batch(texts: list[str]) -> None:
    batch = ENCODER.encode(texts)
    alone = np.vstack([ENCODER.encode([text]) for text in texts])
    assert batch.tobytes() == alone.tobytes()


@given(ANY_TEXT)
def test_a_vector_has_length_one_or_zero(text: str) -> None:
    length = np.linalg.norm(ENCODER.encode([text])[0].astype(np.float64))
    assert length == 0 or length == pytest.approx(1, abs=1e-6)


def test_only_the_beginning_of_a_huge_text_is_read() -> None:
    head = "word " * 5000
    assert np.array_equal(*ENCODER.encode([head + "other " * 20_000, head[:MAX_CHARACTERS]]))


def test_a_misspelt_or_inflected_word_stays_near_and_another_word_does_not() -> None:
    assert cosine("recommend", "reccomend") > 0.3
    assert cosine("snack bar", "snack bars") > 0.6
    assert abs(cosine("recommend", "tractor")) < 0.15


def test_a_rare_word_says_more_than_a_frequent_one() -> None:
    assert cosine("the protein", "protein") > cosine("the protein", "the")


def test_a_setting_is_refused() -> None:
    with pytest.raises(UsageError, match="has no setting model, batch_size"):
        load(EncoderSpec(name="ngram", model="m", batch_size=2))


def test_the_shipped_weights_are_those_of_the_static_encoders_vocabulary() -> None:
    vocabulary = json.loads((FOLDER / "tokenizer.json").read_text())["model"]["vocab"]
    ordered = sorted(vocabulary, key=vocabulary.__getitem__)
    ordered = ordered[ordered.index("the") :]
    words = [word for word in ordered if not word.startswith("##") and word != "[UNK]"]
    fresh = ngram.document_weights(words)
    # another libm may round a logarithm the other way
    assert np.abs(np.load(ngram.TABLE).astype(int) - fresh).max() <= 1
    assert fresh.min() >= 1
