"""What holds for every appraiser, and how one is chosen."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation import encoders
from simulation.appraisers import NAMES, NEUTRAL, AppraiserSpec, load
from simulation.appraisers.base import MAX_CHARACTERS, clipped
from simulation.errors import UsageError

if TYPE_CHECKING:
    from simulation.appraisers import Appraiser

ENCODER = encoders.load(encoders.EncoderSpec())
EMBEDDING = load(AppraiserSpec(encoder=ENCODER))
LEXICON = load(AppraiserSpec(name="lexicon"))
OFFLINE = pytest.mark.parametrize("appraiser", [EMBEDDING, LEXICON], ids=["embedding", "lexicon"])
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=80)
ODD = (
    "",
    " \n\t",
    "😀😀",
    "\ud800",
    "\x00",
    "!" * 5000,
    "good " * 20_000,
    "x" * 100_000,
    "not " * 25_000,
    "but good but bad",
    "İ'ŉ \u2019",
)


def appraised(appraiser: Appraiser, *texts: str) -> np.ndarray:
    return appraiser.appraise(texts, ENCODER.encode(texts))


def test_the_default_appraiser_is_the_embedding_one() -> None:
    assert EMBEDDING.name == "embedding:static"
    assert NAMES == ("embedding", "lexicon", "model")


def test_an_unknown_appraiser_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(UsageError, match="appraisers are embedding, lexicon, model"):
        load(AppraiserSpec(name="os"))


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        (AppraiserSpec(encoder=ENCODER, norms=Path("n.csv")), "norms"),
        (AppraiserSpec(name="lexicon", coefficients=Path("c.npz")), "coefficients"),
        (AppraiserSpec(name="model", norms=Path("n.csv")), "norms"),
    ],
)
def test_a_setting_that_would_be_ignored_is_refused(spec: AppraiserSpec, named: str) -> None:
    with pytest.raises(UsageError, match=f"has no setting {named}"):
        load(spec)


@OFFLINE
@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_no_text_is_too_odd_to_be_appraised_quickly(appraiser: Appraiser, text: str) -> None:
    vectors = ENCODER.encode([text])
    start = time.process_time()
    (row,) = appraiser.appraise([text], vectors)
    assert time.process_time() - start < 1
    assert np.isfinite(row).all()
    assert (row >= (-1, 0, 0)).all()
    assert (row <= 1).all()


@OFFLINE
@given(st.lists(ANY_TEXT, min_size=1, max_size=6))
def test_a_row_is_bitwise_the_same_alone_and_in_any_batch(
    appraiser: Appraiser, texts: list[str]
) -> None:
    alone = np.vstack([appraised(appraiser, text) for text in texts])
    assert appraised(appraiser, *texts).tobytes() == alone.tobytes()
    assert appraised(appraiser, *texts[::-1]).tobytes() == alone[::-1].tobytes()


@OFFLINE
def test_a_row_is_bitwise_the_same_in_a_large_batch_of_any_layout(appraiser: Appraiser) -> None:
    texts = [f"I {mood} this {thing}!" for mood in ("love", "hate") for thing in range(700)]
    vectors = ENCODER.encode(texts)
    whole = appraiser.appraise(texts, vectors)
    columns_first = appraiser.appraise(texts, np.asfortranarray(vectors))
    one_by_one = [appraiser.appraise([t], v[None]) for t, v in zip(texts, vectors, strict=True)]
    assert whole.tobytes() == columns_first.tobytes() == np.vstack(one_by_one).tobytes()


@OFFLINE
def test_no_texts_give_no_rows(appraiser: Appraiser) -> None:
    assert appraised(appraiser).shape == (0, 3)


@OFFLINE
def test_a_blank_text_is_neutral(appraiser: Appraiser) -> None:
    assert appraised(appraiser, "", "  \n").tolist() == [list(NEUTRAL)] * 2


@OFFLINE
def test_only_the_beginning_of_a_huge_text_counts(appraiser: Appraiser) -> None:
    head = "the plain road " * MAX_CHARACTERS
    texts = (head[:MAX_CHARACTERS], head[:MAX_CHARACTERS] + " awful, awful!")
    vectors = np.zeros((2, ENCODER.width), np.float32)
    first, second = appraiser.appraise(texts, vectors)
    assert np.array_equal(first, second)


@OFFLINE
def test_hate_is_less_pleasant_than_love(appraiser: Appraiser) -> None:
    hate, plain, love = appraised(
        appraiser, "I hate this awful bar.", "The parcel came on Tuesday.", "I love it so much."
    )[:, 0]
    assert hate < -0.2 < plain < 0.2 < love


@OFFLINE
def test_nothing_fails_and_the_fingerprint_is_one(appraiser: Appraiser) -> None:
    appraised(appraiser, "")
    assert appraiser.failures == ()
    assert len(appraiser.sha256) == 64


def test_the_fingerprints_of_two_appraisers_differ() -> None:
    assert EMBEDDING.sha256 != LEXICON.sha256


def test_clipping_leaves_no_negative_zero() -> None:
    row = clipped(np.array([[-0.0, -3.0, 3.0], [-3.0, -0.0, 0.5]]))
    assert row.tolist() == [[0.0, 0.0, 1.0], [-1.0, 0.0, 0.5]]
    assert not np.signbit(row[[0, 1], [0, 1]]).any()


def test_choosing_an_appraiser_imports_no_sdk() -> None:
    code = (
        "import sys; from simulation.appraisers import *;"
        "load(AppraiserSpec(name='lexicon')).appraise(['a'], None);"
        "heavy = {'openai', 'anthropic', 'torch', 'requests', 'tokenizers'} & set(sys.modules);"
        "sys.exit(str(sorted(heavy)) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
