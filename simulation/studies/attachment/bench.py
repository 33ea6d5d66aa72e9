"""Where ways of recalling are fitted on development and measured on the test split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from simulation.studies.attachment import classifier, protocol, traces
from simulation.studies.attachment.features import features
from simulation.studies.attachment.traces import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.scenario.persmem import PersMem
    from simulation.studies.attachment.classifier import Classifier
    from simulation.studies.attachment.traces import Instances, Split, Trace

    IntArray = NDArray[np.int64]
    Recall = Callable[[Split, int, int], Trace]  # of a split, by seed and number of replicates
    View = Callable[[Split, Trace, Instances], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much is made of a study: replicates of training, and seeds of the test."""

    replicates: int = protocol.TRAIN_REPLICATES
    seeds: tuple[int, ...] = protocol.TEST_SEEDS
    permutations: int = protocol.PERMUTATIONS


WHOLE = Sizes()
QUICK = Sizes(replicates=3, seeds=(0, 1), permutations=199)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way of recalling, what is seen of it, and the ridge of its classifier."""

    name: str
    recall: Recall
    view: View
    ridge: float = protocol.RIDGE

    def seen(self, split: Split, *, seed: int, replicates: int, size: int) -> FloatArray:
        """Return features of a split's instances, (P * N, F)."""
        trace = self.recall(split, seed, replicates)
        return self.view(split, trace, _dealt(split, seed, replicates, size))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """What a classifier took the instances of the test split for.

    predicted: (E, P, N) profiles, by seed, true profile and instance.  cluster: (E, N) what is
    resampled together: the cue, or with several cues the replicate.
    """

    name: str
    predicted: IntArray
    cluster: IntArray

    @property
    def right(self) -> FloatArray:
        """Where it is right, (E, P, N), 1 or 0."""
        true = np.arange(len(PROFILES))[None, :, None]
        right: FloatArray = (self.predicted == true).astype(np.float64)
        return right

    @property
    def by_seed(self) -> FloatArray:
        """Accuracy of each seed, (E,)."""
        found: FloatArray = self.right.mean(axis=(1, 2))
        return found

    @property
    def accuracy(self) -> float:
        """Accuracy over all seeds."""
        return float(self.right.mean())

    @property
    def blocks(self) -> FloatArray:
        """Share right of the four profiles that met the same cue and numbers, (E * N,)."""
        found: FloatArray = self.right.mean(axis=1).ravel()
        return found

    def confusion(self) -> IntArray:
        """Return how often each profile, (P,), was taken for each, (P, P)."""
        by_profile = np.moveaxis(self.predicted, 1, 0)
        found = [np.bincount(row.ravel(), minlength=len(PROFILES)) for row in by_profile]
        return np.stack(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bench:
    """The two splits with one kind of label, and the sizes of the study."""

    development: Split
    test: Split
    sizes: Sizes

    def fit(self, method: Method, *, size: int = protocol.SIZE) -> Classifier:
        """Return the classifier of a method, fitted on development."""
        replicates = self.sizes.replicates * size  # as many instances, whatever their size
        shape = {"seed": protocol.TRAIN_SEED, "replicates": replicates, "size": size}
        dealt = _dealt(self.development, **shape)
        seen = method.seen(self.development, **shape)
        return classifier.fit(seen, dealt.profiles(), ridge=method.ridge)

    def put(
        self, fitted: Classifier, method: Method, *, size: int = protocol.SIZE, name: str = ""
    ) -> Answers:
        """Put a method's recall from the test split to a fitted classifier."""
        replicates = self.replicates(size)
        predicted, cluster = [], []
        for seed in self.sizes.seeds:
            seen = method.seen(self.test, seed=seed, replicates=replicates, size=size)
            dealt = _dealt(self.test, seed, replicates, size)
            predicted.append(fitted.predict(seen).reshape(len(PROFILES), -1))
            alone = size == 1
            cluster.append(dealt.cues[:, 0] if alone else dealt.replicate + seed * replicates)
        return Answers(
            name=name or method.name,
            predicted=np.stack(predicted),
            cluster=np.stack(cluster),
        )

    def measure(self, method: Method, *, size: int = protocol.SIZE) -> Answers:
        """Fit a method on development, and measure it on the test split."""
        return self.put(self.fit(method, size=size), method, size=size)

    def replicates(self, size: int = protocol.SIZE) -> int:
        """Return how often all cues of the test split are dealt for a seed."""
        return protocol.TEST_INSTANCES * size // len(self.test.cues)


def bench(sizes: Sizes, *, annotate: traces.Annotate | None = None) -> Bench:
    """Return the splits; default, with the labels of the first reader."""
    development = traces.read("development", annotate=annotate)
    encoder = development.bank.encoder
    test = traces.read("test", encoder=encoder, annotate=annotate)
    return Bench(development=development, test=test, sizes=sizes)


def persmem(name: str, spec: PersMem, *, reading: str = protocol.READING) -> Method:
    """Return PersMem under some constants and switches, as a method."""

    def recall(split: Split, seed: int, replicates: int) -> Trace:
        return traces.remember(split, spec, seed=seed, replicates=replicates)

    ridge = protocol.RIDGE if reading == protocol.READING else protocol.OTHER_RIDGE
    return Method(name=name, recall=recall, view=partial(view, reading=reading), ridge=ridge)


def view(split: Split, trace: Trace, taken: Instances, *, reading: str) -> FloatArray:
    """Return the features of a reading."""
    return features(trace, taken, split.corpus, reading)


def only(method: Method, name: str, columns: slice) -> Method:
    """Return a method of whose features only some are seen."""

    def part(split: Split, trace: Trace, taken: Instances) -> FloatArray:
        return method.view(split, trace, taken)[:, columns]

    return replace(method, name=name, view=part)


def _dealt(split: Split, seed: int, replicates: int, size: int) -> Instances:
    return traces.instances(split, seed=seed, replicates=replicates, size=size)
