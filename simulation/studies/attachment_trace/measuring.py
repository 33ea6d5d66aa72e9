"""How often instances are classified rightly, in every way that the study looks at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.studies import corpus, intervals, recalling
from simulation.studies.attachment_trace import protocol, traces
from simulation.studies.attachment_trace.centroid import Folds, shuffled
from simulation.studies.attachment_trace.traces import CONTENT, Trial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simulation.encoders import Encoder
    from simulation.rng import FloatArray
    from simulation.studies.attachment_trace.protocol import Gains
    from simulation.studies.attachment_trace.traces import Instances
    from simulation.studies.intervals import Interval
    from simulation.studies.recalling import Bank

    IntArray = NDArray[np.int64]

CLASSES: Final = len(protocol.PROFILES)
_FEATURES: Final = {"all": len(traces.FEATURES), "content": len(CONTENT)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A way to look.

    split: of `protocol.SPLITS`.  streams: `paired` or `own`.  features: `all` or `content`.
    held_out: `instance` or `replicate`, all four of it.
    """

    split: str
    method: str
    gains: Gains
    streams: str = "paired"
    features: str = "all"
    held_out: str = "instance"


AS_THE_SOURCE: Final = "one instance held out"
OWN_STREAMS: Final = "streams of their own"
CONTENT_ONLY: Final = "content only"


def ways(main: Case) -> dict[str, Case]:
    """Return the ways to look at a method that are reported."""
    return {
        AS_THE_SOURCE: main,
        "whole replicates held out": replace(main, held_out="replicate"),
        OWN_STREAMS: replace(main, streams="own"),
        CONTENT_ONLY: replace(main, features="content"),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What came out, for one seed.

    right: classified rightly, of each profile.  each: instances of a profile.  ties: instances
    that two or more centroids were equally near to.  p, null: one-sided p value of the share under
    labels permuted within replicates, and the mean share under them; NaN if not asked for.
    """

    case: Case
    seed: int
    right: tuple[int, ...]
    each: int
    ties: int
    p: float
    null: float

    @property
    def trials(self) -> int:
        """Number of instances."""
        return self.each * len(self.right)

    @property
    def accuracy(self) -> float:
        """Share of instances classified rightly."""
        return sum(self.right) / self.trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is done."""

    seeds: tuple[int, ...] = protocol.SEEDS
    replicates: int = protocol.REPLICATES
    permutations: int = protocol.PERMUTATIONS


QUICK: Final = Size(
    seeds=protocol.QUICK_SEEDS,
    replicates=protocol.QUICK_REPLICATES,
    permutations=protocol.QUICK_PERMUTATIONS,
)


def banks(encoder: Encoder | None = None) -> dict[str, Bank]:
    """Return the memories of each split."""
    return {
        split: recalling.bank(corpus.read(name), encoder)
        for split, name in protocol.SPLITS.items()
    }


def methods() -> tuple[tuple[str, Gains], ...]:
    """Return each method with its gains; PersMem once with each map, controls have no gains."""
    with_maps = ((protocol.PERSMEM, gains) for gains in protocol.MAPS)
    return (*with_maps, *((method, protocol.MAPS[0]) for method in protocol.METHODS[1:]))


def measure(held: dict[str, Bank], size: Size) -> tuple[list[Score], dict[Case, list[Instances]]]:
    """Return all scores, and the instances with paired streams by their main case."""
    scores: list[Score] = []
    kept: dict[Case, list[Instances]] = {}
    for split, bank in held.items():
        for method, gains in methods():
            main = Case(split=split, method=method, gains=gains)
            kept[main] = []
            for seed in size.seeds:
                trial = Trial(bank=bank, method=method, gains=gains, seed=seed)
                for streams in ("paired", "own"):
                    found = trial.instances(size.replicates, own=streams == "own")
                    scores += _scores(main, streams, found, seed, size)
                    if streams == "paired":
                        kept[main].append(found)
    return scores, kept


def _scores(main: Case, streams: str, found: Instances, seed: int, size: Size) -> Iterator[Score]:
    for features in _FEATURES:
        for held_out in ("instance", "replicate"):
            case = replace(main, streams=streams, features=features, held_out=held_out)
            yield score(case, found, seed=seed, permutations=size.permutations * (case == main))


def score(case: Case, found: Instances, *, seed: int, permutations: int = 0) -> Score:
    """Return how often instances are classified rightly.

    permutations: of labels within replicates; none by default.
    """
    fold = np.arange(len(found.profile)) if case.held_out == "instance" else found.replicate
    folds = Folds.of(found.features[:, : _FEATURES[case.features]], fold)
    predicted, ties = folds.predict(found.profile, CLASSES)
    hit = predicted == found.profile
    null = np.array(
        [
            (folds.predict(labels, CLASSES)[0] == labels).mean()
            for labels in shuffled(found.profile, found.replicate, draws=permutations, seed=seed)
        ]
    )
    return Score(
        case=case,
        seed=seed,
        right=tuple(int(hit[found.profile == i].sum()) for i in range(CLASSES)),
        each=len(hit) // CLASSES,
        ties=int(ties.sum()),
        p=intervals.permutation_p(float(hit.mean()), null) if permutations else np.nan,
        null=float(null.mean()) if permutations else np.nan,
    )


def bias_difference(bank: Bank, method: str, gains: Gains) -> Interval:
    """Return the bias to the bad, anxious less secure, with its interval over the probes (E.1)."""
    bias = Trial(bank=bank, method=method, gains=gains).bias()
    anxious, secure = (bias[protocol.PROFILES.index(name)] for name in ("anxious", "secure"))
    return intervals.bootstrap(anxious - secure, _mean, purpose=f"attachment-trace:{method}")


def contrasts(bank: Bank, size: Size) -> dict[float, list[Score]]:
    """Return scores where the traits of the profiles lie nearer together, replicates held out."""
    case = Case(split="", method=protocol.PERSMEM, gains="paper", held_out="replicate")
    found: dict[float, list[Score]] = {}
    for contrast in protocol.CONTRASTS:
        for seed in size.seeds:
            trial = Trial(bank=bank, method=case.method, seed=seed, contrast=contrast)
            one = score(case, trial.instances(size.replicates), seed=seed)
            found.setdefault(contrast, []).append(one)
    return found


def _mean(values: FloatArray) -> float:
    return float(values.mean())
