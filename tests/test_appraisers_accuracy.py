"""How near the appraisers come to people's ratings of sentences they were not fitted to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simulation import encoders
from simulation.appraisers import AppraiserSpec, load
from simulation.appraisers.fit import Rated, correlation, read_ratings

SHARED = Path(__file__).resolve().parents[2] / "shared"
RATINGS = SHARED / "data" / "affect" / "emobank_train_dev.csv"
NORMS = SHARED / "data" / "affect" / "glasgow_norms.csv"

pytestmark = pytest.mark.skipif(not RATINGS.exists(), reason="no ../shared/data/affect")


@pytest.fixture(scope="module")
def dev() -> Rated:
    rated = read_ratings(RATINGS)
    texts = [text for text, train in zip(rated.texts, rated.train, strict=True) if not train]
    return Rated(texts=texts, train=~rated.train, affect=rated.affect[~rated.train], sha256="")


def quality(dev: Rated, spec: encoders.EncoderSpec) -> np.ndarray:
    encoder = encoders.load(spec)
    rows = load(AppraiserSpec(encoder=encoder)).appraise(dev.texts, encoder.encode(dev.texts))
    return correlation(rows, dev.affect)


def test_the_default_appraiser_follows_peoples_ratings_better_than_lexicons_do(
    dev: Rated,
) -> None:
    ours = quality(dev, encoders.EncoderSpec())
    assert (ours >= (0.60, 0.48, 0.27)).all()
    norms = load(AppraiserSpec(name="lexicon", norms=NORMS)).appraise(dev.texts, None)
    valence = correlation(np.repeat(norms[:, :1], 3, axis=1), dev.affect)
    assert (ours > np.maximum(correlation(norms, dev.affect), valence) + 0.05).all()


def test_its_numbers_lie_where_peoples_do(dev: Rated) -> None:
    encoder = encoders.load(encoders.EncoderSpec())
    rows = load(AppraiserSpec(encoder=encoder)).appraise(dev.texts, encoder.encode(dev.texts))
    assert rows.mean(axis=0) == pytest.approx(dev.affect.mean(axis=0), abs=0.02)


@pytest.mark.slow
@pytest.mark.extra
def test_with_minilm_it_follows_them_better_still(dev: Rated) -> None:
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    spec = encoders.EncoderSpec(name="sentence_transformers", batch_size=32)
    assert (quality(dev, spec) >= (0.63, 0.48, 0.29)).all()
