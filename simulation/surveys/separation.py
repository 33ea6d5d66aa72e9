"""How well anchors tell answers apart: measured on held-out answers, and seen from anchors alone.

No encoder tells acceptance from refusal by cosine alone: a sentence and its denial share almost
all of their words and lie close together. So anchors are checked before what is made of them is
believed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
import yaml

from simulation.mind import likert
from simulation.surveys.rating import Rater

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from simulation.records import FloatArray


class Encoder(Protocol):
    """What an encoder must do here: each of `simulation.encoders` does."""

    @property
    def width(self) -> int:
        """Components of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one finite vector per text, (n, width)."""
        ...


SAME = 0.95  # cosine of two anchors from which on they say the same to an encoder
CONFUSED = 0.1  # share of pairs of a refusal and an acceptance from which on it is told


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """How answers of known points are rated.

    answers: how many.  accuracy: share whose likeliest point is theirs.
    mean_absolute_error: of the likeliest point, in points.  rank_correlation: Spearman's, of the
    expected point and theirs; NaN where the expected point never changes.
    wrong_side: of the answers below and above the middle of the scale, the share whose expected
    point lies on its other side or at it.  confusion: how often, of one answer below the middle
    and one above, the lower has the higher expected point (a draw counts half): 0.5 is guessing.
    Both are NaN where all answers are of one side.
    means: the mean expected point of the answers of each point, NaN where there are none.
    """

    answers: int
    accuracy: float
    mean_absolute_error: float
    rank_correlation: float
    wrong_side: float
    confusion: float
    means: tuple[float, ...]


def check_anchors(
    encoder: Encoder,
    sets: Sequence[Sequence[str]],
    held_out: Sequence[Sequence[str]],
    *,
    epsilon: float = 0.0,
    temperature: float = 1.0,
) -> Separation:
    """Return how well sets of anchors rate answers whose points are known.

    sets: sets of R anchors, lowest point first.  held_out: for each of the R points, answers that
    mean it; none of them should have served to choose the anchors.

    Raises:
        ValueError: the sets and the answers are not of one and the same number of points, or there
            are no answers.
        EncoderError: the encoder cannot embed a text.
    """
    rater = Rater(encoder.encode, width=encoder.width)
    return separation(rater, sets, held_out, epsilon=epsilon, temperature=temperature)


def separation(
    rater: Rater,
    sets: Sequence[Sequence[str]],
    held_out: Sequence[Sequence[str]],
    *,
    epsilon: float = 0.0,
    temperature: float = 1.0,
) -> Separation:
    """Return what `check_anchors` does, with a rater that is there already.

    Raises:
        ValueError, EncoderError: as `check_anchors`.
    """
    if {len(one) for one in sets} != {len(held_out)} or not any(held_out):
        raise ValueError("every set of anchors and the held-out answers need the same points")
    answers = [answer for point in held_out for answer in point]
    truth = np.repeat(np.arange(1, len(held_out) + 1), [len(point) for point in held_out])
    pmf = rater.rate(answers, sets, epsilon=epsilon, temperature=temperature)
    expected, error = likert.mean(pmf), np.abs(likert.point(pmf) - truth)
    side = np.sign(2 * truth - (len(held_out) + 1))
    return Separation(
        answers=len(answers),
        accuracy=float(np.mean(error == 0)),
        mean_absolute_error=float(np.mean(error)),
        rank_correlation=_spearman(expected, truth.astype(np.float64)),
        wrong_side=_wrong_side(expected, side, (len(held_out) + 1) / 2),
        confusion=_confusion(expected[side < 0], expected[side > 0]),
        means=tuple(_mean(expected[truth == p]) for p in range(1, len(held_out) + 1)),
    )


@cache
def held_out() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Return the held-out answers to the shipped scales: per scale and point."""
    text = files("simulation.surveys").joinpath("held_out.yaml").read_text("utf-8")
    return {
        name: tuple(tuple(point) for point in points)
        for name, points in yaml.safe_load(text).items()
    }


def weaknesses(nearness: FloatArray) -> Iterator[str]:
    """Yield why answers can hardly be told apart by anchors, a sentence each.

    nearness: (S, R, R) cosines of the anchors of each set with each other.  A set whose anchors
    have no vector at all (cosine 0 with themselves) is passed over: nothing was embedded.
    """
    for number, cosine in enumerate(nearness, start=1):
        if not np.diagonal(cosine).any():
            continue
        for low, high in pairwise(range(len(cosine))):
            if cosine[low, high] >= SAME:
                yield (
                    f"set {number}: points {low + 1} and {high + 1} lie at cosine "
                    f"{cosine[low, high]:.2f}; to this encoder they say the same"
                )
        steps = np.diagonal(cosine, offset=1)
        if len(cosine) > 2 and cosine[0, -1] >= steps.mean():  # noqa: PLR2004 - two points are both ends and neighbours
            yield (
                f"set {number}: its ends lie at cosine {cosine[0, -1]:.2f}, no farther apart than "
                f"neighbours ({steps.mean():.2f}): acceptance can be taken for refusal"
            )


def confusions(found: Separation) -> Iterator[str]:
    """Yield a sentence if acceptance is often taken for refusal.

    Where no answer differs from another, nothing was embedded, and nothing is said.
    """
    if found.confusion >= CONFUSED and not math.isnan(found.rank_correlation):
        yield (
            f"with this encoder {found.accuracy:.0%} of {found.answers} held-out answers are "
            f"rated as their point, and {found.confusion:.0%} of refusals above an acceptance; "
            "compare means, trust no single answer (docs/surveys.md)"
        )


def _wrong_side(expected: FloatArray, side: FloatArray, middle: float) -> float:
    given = side != 0
    return _mean((np.sign(expected - middle) != side)[given].astype(np.float64))


def _confusion(low: FloatArray, high: FloatArray) -> float:
    """Return the share of pairs in the wrong order: the area above the ROC curve."""
    gap = high[np.newaxis, :] - low[:, np.newaxis]
    return _mean((gap < 0.0) + 0.5 * (gap == 0.0))


def _mean(values: FloatArray) -> float:
    return float(np.mean(values)) if values.size else float("nan")


def _spearman(left: FloatArray, right: FloatArray) -> float:
    """Return the correlation of ranks, equal values sharing their mean rank."""
    x, y = (_ranks(values) for values in (left, right))
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum()) / size if size > 0.0 else float("nan")


def _ranks(values: FloatArray) -> FloatArray:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - 0.5 * (count - 1))[place]
