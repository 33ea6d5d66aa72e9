"""What the study found, before it is told: ways to use the law, and the answers of its runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.studies.networks import clinicians
from simulation.studies.networks.measuring import Shape, ratio, shape_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulation.studies.intervals import Interval
    from simulation.studies.networks.baselines import Baseline
    from simulation.studies.networks.fitting import Fitted
    from simulation.studies.networks.panel import FloatArray, Panel

MAIN: Final = "plausibility"
PULL: Final = "linear pull"
RULE: Final = "rule model, defaults"
SHAPES: Final = {
    "unchanged": "unchanged share, round 1 to 3",
    "variance": "variance ratio, round 3 to 1",
    "toward": "share of moves toward the peers' mean",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A way to use the law. claims: see `fitting.fit`.  told: what personas know beside peers."""

    claims: str
    told: str


OWN: Final = "set on clinicians"
ELSEWHERE: Final = "set on news items"
ARMS: Final = {
    "peers": Kind(claims="none", told="their peers' answers alone"),
    MAIN: Kind(
        claims="learned",
        told="those and how plausible each item was to people of the fitting networks",
    ),
    "truth": Kind(claims="truth", told="all that and whether the item is true"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arm:
    """The law as it was set, and the answers of its runs, (3, S, N)."""

    fitted: Fitted
    rounds: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The mean last answer of the seeds, (N,)."""
        return np.asarray(self.rounds[-1].mean(axis=0))

    def runs(self) -> list[FloatArray]:
        """Return the answers of each seed, (3, N)."""
        return [self.rounds[:, i] for i in range(self.rounds.shape[1])]

    def shapes(self, panel: Panel) -> list[Shape]:
        """Return what each single seed looks like."""
        return [shape_of(panel, self.rounds[:, i : i + 1]) for i in range(self.rounds.shape[1])]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class News:
    """What was found about stated probabilities.

    rule: of the rule model with its defaults, (3, S, N).  back, baselines_back: set on the test
    half and run on the fitting half.  ratios: `ratios_of` this.
    """

    fitted_on: Panel
    test: Panel
    arms: Mapping[str, Arm]
    rule: FloatArray
    baselines: Sequence[Baseline]
    back: Arm | None
    baselines_back: Sequence[Baseline]
    ratios: Mapping[str, tuple[Interval, Interval]] = field(default_factory=dict)

    def baseline(self, name: str) -> FloatArray:
        """Return the predictions of a baseline on the test half."""
        return next(b for b in self.baselines if b.name == name).predict(self.test)

    def predictions(self) -> Iterator[tuple[str, str, FloatArray]]:
        """Yield each way to predict, what was set in it, and its last answers."""
        for one in self.baselines:
            yield one.name, one.constants, one.predict(self.test)
        yield RULE, "", self.rule[-1].mean(axis=0)
        for name, arm in self.arms.items():
            yield named(name), "", arm.mean


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clinic:
    """What was found about the clinicians.

    whole: all of them.  back: set on the test half and run on the fitting half.
    """

    whole: Panel
    fitted_on: Panel
    test: Panel
    arms: Mapping[str, Arm]
    back: Arm | None

    def crossed(self) -> list[tuple[float, float]]:
        """Return network and control of each seed over all, each half as set on the other."""
        if self.back is None:
            return []
        pairs = zip(self.arms[OWN].runs(), self.back.runs(), strict=True)
        return [
            clinicians.pooled([(self.test, here[-1]), (self.fitted_on, there[-1])])
            for here, there in pairs
        ]


def named(arm: str) -> str:
    """Return how the predictions of an arm are called."""
    return f"revision: {arm}"


def ratios_of(news: News) -> dict[str, tuple[Interval, Interval]]:
    """Return each prediction's error over that of no change, and over the linear pull's."""
    test, pull = news.test, news.baseline(PULL)
    return {
        name: (
            ratio(predicted, test.first, test, purpose="no change"),
            ratio(predicted, pull, test, purpose=PULL),
        )
        for name, _, predicted in news.predictions()
    }
