"""Every text once, with a vector whose cosines are exact."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.errors import EncoderError
from simulation.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 6


class Encoder:
    """Gives every text a fixed vector, and counts its calls; "zero..." has none."""

    def __init__(self, width: int = WIDTH) -> None:
        self.width = width
        self.calls: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(list(texts))
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> np.ndarray:
        if text.startswith("zero"):
            return np.zeros(self.width, np.float32)
        seed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:4]
        generator = np.random.default_rng(int.from_bytes(seed, "little"))
        return generator.normal(size=self.width).astype(np.float32)


def filled(texts: Sequence[str], *, width: int = WIDTH) -> Texts:
    table = Texts(Encoder(width), width=width)
    table.intern(texts)
    return table


def plain_cosine(table: Texts, left: int, right: int) -> float:
    """Return the cosine by Python integers."""
    if left < 0 or right < 0:
        return 0.0
    a, b = (table.quantised[i].tolist() for i in (left, right))
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    norms = [math.sqrt(sum(x * x for x in v)) for v in (a, b)]
    return dot / (norms[0] * norms[1]) if all(norms) else 0.0


@settings(deadline=None)
@given(st.lists(st.lists(st.text(), max_size=12), max_size=6))
def test_a_text_is_encoded_once_in_one_call_with_the_other_new_ones(
    batches: list[list[str]],
) -> None:
    encoder = Encoder()
    table = Texts(encoder, width=WIDTH)
    order: dict[str, int] = {}
    for batch in batches:
        new = [t for t in dict.fromkeys(batch) if t not in order]
        calls = len(encoder.calls)
        ids = table.intern(batch)
        assert encoder.calls[calls:] == ([new] if new else [])
        for text in new:
            order[text] = len(order)
        assert ids.tolist() == [order[t] for t in batch]
    assert [table[i] for i in range(len(table))] == list(order)
    assert len(table) == len(order)


def test_texts_that_only_look_alike_are_different_texts() -> None:
    composed, decomposed = "Zoë", unicodedata.normalize("NFD", "Zoë")
    assert composed != decomposed
    assert filled([]).intern([composed, decomposed, "", " "]).tolist() == [0, 1, 2, 3]


def test_no_text_has_the_id_minus_one_and_unknown_ids_are_errors() -> None:
    table = filled(["a"])
    assert table[-1] == ""
    for wrong in (-2, 1):
        with pytest.raises(IndexError):
            table[wrong]
        with pytest.raises(IndexError):
            table.cosine(np.array([0, wrong]), np.array([0]))
        with pytest.raises(IndexError):
            table.key(np.array([wrong]))


@settings(deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=10, unique=True))
def test_keys_and_digests_are_those_of_the_utf8_bytes(texts: list[str]) -> None:
    table = filled(texts)
    digests = [hashlib.sha256(t.encode("utf-8", "surrogatepass")).digest() for t in texts]
    ids = np.arange(-1, len(texts))
    nothing = hashlib.sha256(b"").hexdigest()
    assert table.sha256(ids) == [nothing, *(d.hex() for d in digests)]
    keys = table.key(np.arange(len(texts)))
    assert keys.dtype == np.uint64
    assert keys.tolist() == [int.from_bytes(d[:8], "little") for d in digests]


def test_no_text_has_the_key_of_the_empty_one_and_shapes_are_kept() -> None:
    table = filled(["", "a"])
    keys = table.key(np.array([[-1, 0], [1, -1]]))
    assert keys[0, 0] == keys[0, 1] == keys[1, 1] != keys[1, 0]
    assert filled([]).key(np.array([-1])).shape == (1,)


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.floats(-1e6, 1e6, width=32), min_size=WIDTH, max_size=WIDTH),
        min_size=1,
        max_size=5,
    )
)
def test_a_vector_is_kept_to_half_a_step_of_its_largest_component(
    vectors: list[list[float]],
) -> None:
    given_ = np.array(vectors, np.float32)
    table = Texts(lambda _: given_, width=WIDTH)
    table.intern([str(i) for i in range(len(vectors))])
    kept = table.quantised.astype(np.float64) * table.scale[:, None]
    largest = np.abs(given_).max(axis=1).astype(np.float64)
    usable = largest / 127 >= np.finfo(np.float32).tiny
    np.testing.assert_allclose(table.scale, np.where(usable, largest / 127, 0), rtol=1e-6, atol=0)
    error = np.abs(kept - given_).max(axis=1)
    assert (error[usable] <= 0.501 * largest[usable] / 127).all()
    assert (np.abs(table.quantised).max(axis=1) == np.where(usable, 127, 0)).all()


def test_a_zero_vector_and_one_too_small_to_divide_by_are_zero_and_akin_to_nothing() -> None:
    tiny = np.array([[0, 0], [1e-42, 0], [3, -4]], np.float32)
    table = Texts(lambda _: tiny, width=2)
    ids = table.intern(["none", "tiny", "some"])
    assert table.scale[:2].tolist() == [0, 0]
    assert not table.quantised[:2].any()
    assert table.cosine(ids, ids).tolist() == [0, 0, 1]


def test_many_new_texts_at_once_are_kept_like_single_ones() -> None:
    texts = [f"text {i}" for i in range(9000)]
    at_once, singly = filled(texts), filled([])
    for text in texts[:50] + texts[4090:4100] + texts[-5:]:
        singly.intern([text])
    where = at_once.intern([singly[i] for i in range(len(singly))])
    assert (at_once.quantised[where] == singly.quantised).all()
    assert (at_once.scale[where] == singly.scale).all()
    ids = np.arange(len(singly))
    assert (at_once.cosine(where, where[::-1]) == singly.cosine(ids, ids[::-1])).all()


SOME = [f"text {i}" for i in range(12)] + ["zero"]
IDS = st.integers(-1, len(SOME) - 1)


@settings(deadline=None)
@given(st.lists(IDS, min_size=1, max_size=20), IDS)
def test_a_cosine_is_the_exact_one_of_the_integers(left: list[int], right: int) -> None:
    table = filled(SOME)
    expected = [plain_cosine(table, i, right) for i in left]
    assert table.cosine(np.array(left), np.array([right])).tolist() == expected
    assert table.cosine(np.array([right]), np.array(left)).tolist() == expected
    assert table.cosine(np.array(left), np.full(len(left), right)).tolist() == expected
    assert float(table.cosine(np.array(left[0]), np.array(right))) == expected[0]


@pytest.mark.parametrize(
    ("left", "right"),
    [((7, 5), (7, 1)), ((7, 1), (7, 5)), ((7, 1), (5,)), ((4,), (3, 1)), ((2, 3, 4), (3, 1)),
     ((7, 5), (7, 5)), ((2, 1500), (2, 1)), ((1500,), (1,)), ((900, 2), (900, 1)),
     ((0, 5), (0, 1)), ((3, 0), (3, 1)), ((), ())],
)  # fmt: skip
def test_cosines_broadcast_like_numpy(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    table = filled(SOME)
    generator = np.random.default_rng(1)
    a = generator.integers(-1, len(SOME), left)
    b = generator.integers(-1, len(SOME), right)
    result = table.cosine(a, b)
    expected = np.vectorize(lambda i, j: plain_cosine(table, i, j), otypes=[np.float64])
    assert result.shape == np.broadcast_shapes(left, right)
    assert (result == (expected(a, b) if result.size else 0)).all()


@pytest.mark.parametrize("width", [1, 1040, 1041, 3000])
def test_a_dot_product_is_exact_at_any_width(width: int) -> None:
    signs = np.sign(np.random.default_rng(width).normal(size=(3, width)))
    signs[1] = signs[0]
    signs[1, 0] *= -1
    signs[2, : width // 2] = 0.99  # 126 after quantisation: sums that float32 cannot hold
    table = Texts(lambda _: signs.astype(np.float32), width=width)
    ids = table.intern(["a", "b", "c"])
    expected = [[plain_cosine(table, i, j) for j in range(3)] for i in range(3)]
    assert table.cosine(ids[:, None], ids).tolist() == expected


def test_an_empty_table_knows_only_that_nothing_is_akin_to_nothing() -> None:
    none = np.full((3, 2), -1)
    assert filled([]).cosine(none, none[:, :1]).tolist() == [[0, 0]] * 3


def test_what_was_added_since_a_mark_is_a_slice_of_ids() -> None:
    table = filled(["a", "b"])
    mark = len(table)
    table.intern(["b", "c", "d"])
    assert [table[i] for i in range(len(table))[table.since(mark)]] == ["c", "d"]
    assert table.quantised[table.since(mark)].shape == (2, WIDTH)


@settings(deadline=None)
@given(st.lists(st.text(), unique=True, min_size=1, max_size=12), st.integers(0, 12))
def test_a_table_restored_from_its_log_is_the_same_table(texts: list[str], cut: int) -> None:
    table = filled(texts)
    encoder = Encoder()
    again = Texts(encoder, width=WIDTH)
    for piece in (slice(0, cut), slice(cut, None)):
        again.restore(texts[piece], table.quantised[piece], table.scale[piece])
    ids = np.arange(len(texts))
    assert (again.quantised == table.quantised).all()
    assert (again.scale == table.scale).all()
    assert (again.key(ids) == table.key(ids)).all()
    assert (again.cosine(ids[:, None], ids) == table.cosine(ids[:, None], ids)).all()
    assert again.intern(texts).tolist() == ids.tolist()
    assert encoder.calls == []


@pytest.mark.parametrize("twice", [["a"], ["b", "b"]])
def test_a_log_with_a_text_twice_is_refused(twice: list[str]) -> None:
    table = filled(["a"])
    n = len(twice)
    with pytest.raises(ValueError, match="occurs twice"):
        table.restore(twice, np.zeros((n, WIDTH), np.int8), np.zeros(n, np.float32))
    assert len(table) == 1


def test_a_log_whose_vectors_do_not_fit_is_refused() -> None:
    for shape, scales in (((1, WIDTH + 1), 1), ((1, WIDTH), 2), ((2, WIDTH), 1)):
        with pytest.raises(ValueError, match="need vectors"):
            filled([]).restore(["a"], np.zeros(shape, np.int8), np.zeros(scales, np.float32))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((1, WIDTH)), "is expected"),
        (np.zeros((2, WIDTH + 1)), "is expected"),
        (np.array([[0.0] * WIDTH, [np.nan] * WIDTH]), "infinite vector for 'second'"),
        (np.array([[0.0] * WIDTH, [np.inf] * WIDTH]), "infinite vector for 'second'"),
    ],
)
def test_an_encoder_that_answers_wrongly_is_an_error_and_adds_nothing(
    answer: np.ndarray, message: str
) -> None:
    table = Texts(lambda _: answer, width=WIDTH)
    with pytest.raises(EncoderError, match=message):
        table.intern(["first", "second"])
    assert len(table) == 0


def test_views_cannot_be_written() -> None:
    table = filled(["a"])
    with pytest.raises(ValueError, match="read-only"):
        table.quantised[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        table.scale[0] = 1
    table.intern(["b"])  # the table itself still can
