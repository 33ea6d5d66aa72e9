"""The static encoder: exact, robust, quick, and as good as it is said to be."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest
from benchmarks.encoder_recall import contrast, conversations, recall
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.encoders import EncoderSpec, load
from simulation.encoders.base import MAX_CHARACTERS
from simulation.encoders.static import (
    FILES,
    FOLDER,
    MAX_MULTIPLIER,
    MAX_TOKENS,
    StaticEncoder,
    _unit,
)
from simulation.errors import EncoderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARED: Final = Path(__file__).resolve().parents[2] / "shared"
ENCODER: Final = StaticEncoder()
ODD: Final = [
    "",
    " \t\n",
    "\0",
    "a\0b",
    "\ud800",
    "\U0001f600\U0001f525",
    "\u65e5\u672c\u8a9e \u30c6\u30b9\u30c8",
    "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440",
    "\u0645\u0631\u062d\u0628\u0627",
    "x" * 1_000_000,
    "good value " * 100_000,
    "\U0001f525" * 1_000_000,
    "[MASK] [UNK] [CLS]",
    "e\u0301" * 50,
]


def cosine(first: str, second: str) -> float:
    a, b = ENCODER.encode([first, second]).astype(np.float64)
    return float(a @ b)


def test_rows_are_float32_and_of_the_encoders_width() -> None:
    rows = ENCODER.encode(["one", "two"])
    assert rows.shape == (2, ENCODER.width)
    assert rows.dtype == np.float32
    assert ENCODER.width == 256


def test_no_texts_give_no_rows() -> None:
    assert ENCODER.encode([]).shape == (0, 256)


def test_texts_of_one_topic_are_nearer_than_others() -> None:
    bar = "This protein bar keeps me full after the gym."
    assert cosine(bar, "A snack with lots of protein for athletes") > 0.4
    assert cosine(bar, "The council voted on the new tram line") < 0.2


def test_case_and_accents_do_not_matter() -> None:
    assert cosine("CAF\u00c9 na\u00efve", "cafe naive") == pytest.approx(1.0)


def test_an_emoji_at_the_end_of_a_word_does_not_hide_the_word() -> None:
    with_emoji, without = ENCODER.encode(["tasty\U0001f525 and cheap\u2728", "tasty and cheap"])
    assert np.array_equal(with_emoji, without)


def test_a_symbol_of_the_vocabulary_is_read() -> None:
    assert not np.array_equal(*ENCODER.encode(["20 \u00b0", "20"]))


@pytest.mark.parametrize(
    "text", ["", " \n", "\0", "\ud800", "\U0001f600\U0001f525\u2728", "\ufe0f"]
)
def test_a_text_without_a_known_token_is_a_row_of_zeros(text: str) -> None:
    assert not ENCODER.encode([text]).any()


def test_odd_texts_embed_without_error_and_with_length_one_or_zero() -> None:
    length = np.linalg.norm(ENCODER.encode(ODD).astype(np.float64), axis=1)
    assert np.all((np.abs(length - 1.0) < 1e-6) | (length == 0.0))


def test_special_tokens_in_a_text_are_ordinary_words() -> None:
    assert cosine("[MASK]", "mask") > 0.9


def test_of_a_huge_text_the_beginning_is_read() -> None:
    words = "price " * MAX_TOKENS
    assert np.array_equal(*ENCODER.encode([words, words + "unrelated tram"]))
    long_word = "\ufffd" * MAX_CHARACTERS  # cleaned away by the tokenizer, so not one token
    assert not ENCODER.encode([long_word + " price"]).any()


@given(st.lists(st.text(st.characters(exclude_categories=[]), max_size=40), max_size=8))
def test_a_text_has_bitwise_the_same_row_alone_and_in_any_batch_and_order(
    texts: list[str],
) -> None:
    together = ENCODER.encode(texts)
    backwards = ENCODER.encode(texts[::-1])[::-1]
    alone = [ENCODER.encode([text])[0] for text in texts]
    assert together.tobytes() == backwards.tobytes()
    assert together.tobytes() == b"".join(row.tobytes() for row in alone)


@settings(max_examples=50)
@given(
    st.lists(
        st.sampled_from(
            ["the", "protein", "bar", "tastes", "great", "but", "costs", "3", "dollars"]
        )
    )
)
def test_the_order_of_words_does_not_change_a_bit(words: list[str]) -> None:
    there, back = ENCODER.encode([" ".join(words), " ".join(words[::-1])])
    assert there.tobytes() == back.tobytes()


def test_rows_are_the_sum_of_the_tables_rows_scaled_to_length_one() -> None:
    table = np.load(FOLDER / "table.npy").astype(np.float64)
    multipliers = np.load(FOLDER / "multipliers.npy").astype(np.float64)
    vocabulary = json.loads((FOLDER / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    rows = [vocabulary[token] for token in ("protein", "bars", "taste", "un", "##bel")]
    total = (multipliers[rows, None] * table[rows]).sum(axis=0)
    got = ENCODER.encode(["Protein bars taste unbel"])[0]
    assert got == pytest.approx(total / np.linalg.norm(total), abs=1e-7)


def test_the_vectors_do_not_drift_from_release_to_release() -> None:
    texts = ["20 g protein with zero sugar", "I do not trust this brand", "\u65e5\u672c"]
    digest = hashlib.sha256(ENCODER.encode(texts).tobytes()).hexdigest()
    assert digest.startswith("4c3b4e7e4bfc2351")


def test_a_process_with_another_hash_seed_and_thread_count_gives_the_same_bytes() -> None:
    code = (
        "import sys; from simulation.encoders import *;"
        "sys.stdout.write(load(EncoderSpec()).encode(['a cheap bar', 'no sugar']).tobytes().hex())"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for seed, threads in (("0", "1"), ("7", "2"))
    }
    assert results == {ENCODER.encode(["a cheap bar", "no sugar"]).tobytes().hex().encode()}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_encoding_starts_no_threads_that_a_fork_would_lose() -> None:
    code = (
        "import os; from simulation.encoders import *; e = load(EncoderSpec());"
        "before = os.listdir('/proc/self/task'); e.encode(['a', 'b', 'c'] * 100);"
        "print(len(os.listdir('/proc/self/task')) - len(before))"
    )
    environment = {k: v for k, v in os.environ.items() if k != "TOKENIZERS_PARALLELISM"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize(
    "extreme",
    [
        np.full((1, 4), 127 * MAX_MULTIPLIER * MAX_TOKENS),
        np.full((1, 4), -127 * MAX_MULTIPLIER * MAX_TOKENS),
        np.array([[1, 0, -1, 0]]),
        np.array([[-65536, 65535, 65536, -65535]]),
    ],
)
def test_the_length_of_the_smallest_and_the_largest_sums_is_exact(
    extreme: NDArray[np.int64],
) -> None:
    row = _unit(extreme.astype(np.int32))
    exact = extreme / np.sqrt(float(sum(int(x) ** 2 for x in extreme[0])))
    assert np.array_equal(row, exact.astype(np.float32))


def test_the_largest_possible_sum_of_a_text_fits_its_integer_type() -> None:
    assert np.iinfo(np.int32).max >= 127 * MAX_MULTIPLIER * MAX_TOKENS
    assert np.abs(np.load(FOLDER / "table.npy").astype(int)).max() == 127
    assert np.load(FOLDER / "multipliers.npy").max() <= MAX_MULTIPLIER


def test_the_fingerprint_covers_table_multipliers_and_tokenizer() -> None:
    lines = "".join(
        f"{hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()}  {name}\n" for name in FILES
    )
    manifest = json.loads((FOLDER / "manifest.json").read_text("utf-8"))
    assert ENCODER.sha256 == hashlib.sha256(lines.encode()).hexdigest()
    assert ENCODER.sha256 == manifest["fingerprint"]


def test_the_table_is_small_enough_to_ship() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 9_000_000


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return shutil.copytree(FOLDER, tmp_path / "mine")


def test_another_table_is_named_by_its_folder(copy: Path) -> None:
    encoder = load(EncoderSpec(model=str(copy)))
    assert (encoder.name, encoder.sha256) == ("static:mine", ENCODER.sha256)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_noticed(copy: Path, name: str) -> None:
    content = bytearray((copy / name).read_bytes())
    content[-2] ^= 1
    (copy / name).write_bytes(content)
    with pytest.raises(EncoderError, match=f"damaged: {name}"):
        StaticEncoder(copy)


@pytest.mark.parametrize("name", [*FILES, "manifest.json"])
def test_a_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(EncoderError, match=name):
        StaticEncoder(copy)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 1, "sha256": 3}'])
def test_a_broken_manifest_is_refused(copy: Path, content: str) -> None:
    (copy / "manifest.json").write_text(content)
    with pytest.raises(EncoderError, match=r"manifest\.json cannot be read"):
        StaticEncoder(copy)


def test_a_table_of_a_later_format_is_refused(copy: Path) -> None:
    (copy / "manifest.json").write_text('{"format": 2, "sha256": {}}')
    with pytest.raises(EncoderError, match="format 2; this version reads 1"):
        StaticEncoder(copy)


def test_it_encodes_quickly_enough_for_a_large_population() -> None:
    texts = [f"I think bar number {i} tastes great and costs too much" for i in range(500)]
    best = 0.0
    for _ in range(5):
        start = time.perf_counter()
        ENCODER.encode(texts)
        best = max(best, len(texts) / (time.perf_counter() - start))
    assert best > 2_000  # 16,000 to 27,000 on an idle core


def test_it_finds_evidence_in_long_conversations_as_documented() -> None:
    data = SHARED / "data" / "locomo" / "locomo_5.json"
    if not data.exists():
        pytest.skip(f"{data} is not there")
    talks = conversations(data)
    assert recall(ENCODER.encode, talks, named=True) == pytest.approx(0.429, abs=0.001)
    assert recall(ENCODER.encode, talks, named=False) == pytest.approx(0.383, abs=0.001)
    found = contrast(ENCODER.encode, talks)
    assert found["auc"] == pytest.approx(0.931, abs=0.001)
    assert found["unrelated"] < 0.12
