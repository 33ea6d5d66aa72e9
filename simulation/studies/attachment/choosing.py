"""How the protocol was chosen: by validation inside the development split, and nowhere else.

The development memories and cues are halved, at random; a classifier is fitted on one half of
both and put to the other, and the other way round. So, as on the test split, neither a memory nor
a cue of the validation was seen in training.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.rng import Streams, stream_keys
from simulation.scenario.persmem import PersMem
from simulation.studies.attachment import classifier, controls, protocol, traces
from simulation.studies.attachment.features import READINGS, embeddings, features
from simulation.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.attachment.traces import Instances, Split, Trace

SIZES: Final = (1, 2, 3, 6)
"""Cues an instance."""
RIDGES: Final = (classifier.CENTROID, 1.0, 10.0, 100.0)
TEXT_RIDGES: Final = (classifier.CENTROID, 100.0, 10000.0)
STRENGTHS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
HALVINGS: Final = 5
REPLICATES: Final = 20
_DIGITS = 9  # beyond them means of the same counts may differ

FULL: Final = "PersMem"
TEXT: Final = "text embeddings"
LINEAR: Final = "linear reranker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A setting, and its accuracy in each validation. strength: of the reranker, else 0."""

    system: str
    reading: str
    size: int
    ridge: float
    strength: float
    accuracies: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean accuracy."""
        return float(np.mean(self.accuracies))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Half:
    """A half of the development split, and what was recalled from it."""

    split: Split
    trace: Trace


def choices(split: Split, *, quick: bool = False) -> list[Choice]:
    """Return all settings that were compared, with their accuracies.

    quick: one halving, and no text embeddings, whose many features take their time.
    """
    pairs = [pair for i in range(1 if quick else HALVINGS) for pair in _pairs(split, i)]
    return [*_persmem(pairs), *(() if quick else _text(pairs)), *_linear(pairs)]


def table(found: list[Choice]) -> Table:
    """Return them as a table."""
    return Table(
        name="choice",
        title="Validation inside the development split: accuracy by setting",
        columns=("system", "read", "cues", "ridge", "strength", "mean", "least", "most"),
        rows=tuple(
            (c.system, c.reading, c.size, c.ridge, c.strength, c.mean, *_ends(c.accuracies))
            for c in found
        ),
    )


def by_rule(found: list[Choice]) -> dict[str, object]:
    """Return what the rules of `protocol` choose, by the names of its constants."""
    enough = (
        size
        for size in SIZES
        if best(found, system=FULL, reading=READINGS[0], size=size).mean >= protocol.SOURCE["full"]
    )
    size = next(enough, SIZES[-1])
    strongest = best(found, system=LINEAR)
    matched = best(found, system=LINEAR, strength=protocol.MATCHED[0])
    chosen = {
        "SIZE": size,
        "RIDGE": best(found, system=FULL, reading=READINGS[0], size=size).ridge,
        "OTHER_RIDGE": best(found, system=FULL, reading=READINGS[1], size=size).ridge,
        "MATCHED": (matched.strength, matched.ridge),
        "STRONGEST": (strongest.strength, strongest.ridge),
    }
    if any(choice.system == TEXT for choice in found):
        chosen["TEXT_RIDGE"] = best(found, system=TEXT).ridge
    return chosen


def best(found: list[Choice], **wanted: object) -> Choice:
    """Return the most accurate of the settings with some values; of equals the first."""
    fitting = [c for c in found if all(getattr(c, k) == v for k, v in wanted.items())]
    return max(fitting, key=lambda choice: round(choice.mean, _DIGITS))


def _ends(values: tuple[float, ...]) -> tuple[float, float]:
    return min(values), max(values)


def _pairs(split: Split, i: int) -> Iterator[tuple[Half, Half]]:
    """Yield two halves of memories and cues, each once for training."""
    streams, corpus = Streams(i), split.corpus
    memories = streams.permutation("halve memories", keys=stream_keys(corpus.ids))
    cues = streams.permutation("halve cues", keys=stream_keys(split.cues))
    middle, half = len(corpus) // 2, len(cues) // 2
    first, second = (
        _half(split, np.sort(m), np.sort(c), i)
        for m, c in ((memories[:middle], cues[:half]), (memories[middle:], cues[half:]))
    )
    yield first, second
    yield second, first


def _half(split: Split, memories: NDArray[np.int64], cues: NDArray[np.int64], i: int) -> Half:
    corpus = split.corpus
    part = replace(
        corpus,
        ids=tuple(corpus.ids[k] for k in memories),
        texts=tuple(corpus.texts[k] for k in memories),
        topics=tuple(corpus.topics[k] for k in memories),
        affect=corpus.affect[memories],
        overgeneral=corpus.overgeneral[memories],
    )
    made = traces.split_of(part, tuple(split.cues[c] for c in cues), encoder=split.bank.encoder)
    trace = traces.remember(made, PersMem(), seed=i, replicates=REPLICATES)
    return Half(split=made, trace=trace)


def _dealt(half: Half, size: int) -> Instances:
    return traces.instances(half.split, seed=0, replicates=REPLICATES, size=size)


def _accuracy(
    train: FloatArray, given: Instances, test: FloatArray, asked: Instances, ridge: float
) -> float:
    fitted = classifier.fit(train, given.profiles(), ridge=ridge)
    return float((fitted.predict(test) == asked.profiles()).mean())


def _persmem(pairs: list[tuple[Half, Half]]) -> Iterator[Choice]:
    for reading in READINGS:
        for size in SIZES:
            sides = []
            for pair in pairs:
                dealt = [_dealt(half, size) for half in pair]
                seen = [
                    features(half.trace, instances, half.split.corpus, reading)
                    for half, instances in zip(pair, dealt, strict=True)
                ]
                sides.append((seen[0], dealt[0], seen[1], dealt[1]))
            for ridge in RIDGES:
                found = tuple(_accuracy(*side, ridge) for side in sides)
                yield _choice(FULL, reading, size, ridge, found)


def _text(pairs: list[tuple[Half, Half]]) -> Iterator[Choice]:
    sides = []
    for pair in pairs:
        dealt = [_dealt(half, 1) for half in pair]
        seen = [
            embeddings(half.trace, instances, traces.vectors(half.split), READINGS[0])
            for half, instances in zip(pair, dealt, strict=True)
        ]
        sides.append((seen[0], dealt[0], seen[1], dealt[1]))
    for ridge in TEXT_RIDGES:
        yield _choice(TEXT, READINGS[0], 1, ridge, tuple(_accuracy(*s, ridge) for s in sides))


def _linear(pairs: list[tuple[Half, Half]]) -> Iterator[Choice]:
    for strength in STRENGTHS:
        sides = []
        for train, test in pairs:
            made = controls.fitted(train.split, PersMem(), strength=strength)
            dealt = [_dealt(half, 1) for half in (train, test)]
            seen = [
                features(
                    controls.rerank(half.split, made, replicates=REPLICATES),
                    instances,
                    half.split.corpus,
                    READINGS[0],
                )
                for half, instances in zip((train, test), dealt, strict=True)
            ]
            sides.append((seen[0], dealt[0], seen[1], dealt[1]))
        for ridge in RIDGES:
            found = tuple(_accuracy(*side, ridge) for side in sides)
            yield _choice(LINEAR, READINGS[0], 1, ridge, found, strength)


def _choice(
    system: str,
    reading: str,
    size: int,
    ridge: float,
    found: tuple[float, ...],
    strength: float = 0.0,
) -> Choice:
    return Choice(
        system=system,
        reading=reading,
        size=size,
        ridge=ridge,
        strength=strength,
        accuracies=found,
    )
