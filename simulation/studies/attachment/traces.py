"""What minds of the four attachment profiles recall: the raw material of the attachment studies.

Every profile meets every cue of a split in every replicate, at the neutral state, with the same
random numbers: passive retrieval, then an active search with the cue as its goal.

Shapes: P profiles, R replicates, C cues, S slots of a search, N instances, K memories.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from simulation.mind.traits import ATTACHMENT_PROFILES
from simulation.recall import PATHS
from simulation.rng import Streams, stream_keys
from simulation.studies import corpus as corpora
from simulation.studies import recalling
from simulation.studies.attachment import protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simulation.encoders import Encoder
    from simulation.rng import FloatArray
    from simulation.scenario.persmem import PersMem
    from simulation.studies.corpus import Corpus

    IntArray = NDArray[np.int64]
    BoolArray = NDArray[np.bool_]
    Annotate = Callable[[recalling.Bank], Corpus]

_Scalar = TypeVar("_Scalar", bound=np.generic)
PROFILES = tuple(ATTACHMENT_PROFILES)
VECTORS = np.array(list(ATTACHMENT_PROFILES.values()))
_FOUND = tuple(PATHS.index(name) for name in ("redirect", "active"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Split:
    """Memories with their labels, encoded, and the cues that call them up.

    ages: (K,) of the memories, ticks.
    """

    name: str
    bank: recalling.Bank
    cues: tuple[str, ...]
    ages: IntArray

    @property
    def corpus(self) -> Corpus:
        """The memories."""
        return self.bank.corpus


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """What was recalled, and where the gate redirected the search.

    found: (P, R, C, S) places in the corpus, in the order of the active search; -1 beyond its end.
    redirected: (P, R, C, S) where the gate let a memory take over.
    passive: (P, R, C, n) places of what came unasked at first.
    """

    found: IntArray
    redirected: BoolArray
    passive: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Instances:
    """Which recalls make an instance; each stands for one of every profile.

    replicate: (N,).  cues: (N, g) their cues in that replicate.
    """

    replicate: IntArray
    cues: IntArray

    def __len__(self) -> int:
        """Return the number of instances of a profile."""
        return len(self.replicate)

    def of(self, values: NDArray[_Scalar]) -> NDArray[_Scalar]:
        """Return (P, R, C, ...) values by instance, (P * N, g, ...), profile by profile."""
        taken = values[:, self.replicate[:, None], self.cues]
        return taken.reshape(-1, *taken.shape[2:])

    def profiles(self) -> IntArray:
        """Return the profile of each instance, (P * N,)."""
        return np.repeat(np.arange(len(PROFILES)), len(self))


def read(name: str, *, encoder: Encoder | None = None, annotate: Annotate | None = None) -> Split:
    """Return the split `development` or `test`.

    encoder: default, the shipped static one.  annotate: gives the labels; default, those of the
    first reader.
    """
    return split_of(corpora.read(name), corpora.cues(name), encoder=encoder, annotate=annotate)


def split_of(
    corpus: Corpus,
    cues: tuple[str, ...],
    *,
    encoder: Encoder | None = None,
    annotate: Annotate | None = None,
) -> Split:
    """Return memories as a split; their ages are spread evenly over `protocol.AGES` ticks."""
    bank = recalling.bank(corpus, encoder)
    if annotate is not None:
        bank = replace(bank, corpus=annotate(bank))
    order = Streams(0).permutation(f"ages:{corpus.name}", keys=stream_keys(corpus.ids))
    ages = np.argsort(order) * protocol.AGES // len(corpus)
    return Split(name=corpus.name, bank=bank, cues=cues, ages=ages)


def asked(split: Split, *, replicates: int) -> recalling.Asked:
    """Return every cue to every profile in every replicate, in the order (P, R, C)."""
    shape = (len(PROFILES), replicates, len(split.cues))
    personas, replicate, cue = (part.ravel().tolist() for part in np.indices(shape))
    return recalling.ask(
        split.bank,
        personas=personas,
        cues=[split.cues[c] for c in cue],
        streams=[f"{split.name}:{r}:{split.cues[c]}" for r, c in zip(replicate, cue, strict=True)],
    )


def minds(split: Split, spec: PersMem, *, seed: int) -> recalling.Minds:
    """Return the four profiles, holding the memories of a split."""
    return recalling.Minds(
        split.bank, "attachment", VECTORS, spec, seed=seed, ages=split.ages, tau=protocol.TAU
    )


def remember(split: Split, spec: PersMem, *, seed: int, replicates: int) -> Trace:
    """Return what is recalled under some constants and switches."""
    people, questions = minds(split, spec, seed=seed), asked(split, replicates=replicates)
    recalled, _ = people.retrieve(questions)
    # the active set stands first, a memory a step: slot and step are one
    steps = spec.max_steps
    position, path = recalled.position[:, :steps], recalled.path[:, :steps]
    shape = (len(PROFILES), replicates, len(split.cues), -1)
    return Trace(
        found=np.where(np.isin(path, _FOUND), position, -1).reshape(shape),
        redirected=(path == _FOUND[0]).reshape(shape),
        passive=people.passive(questions, count=spec.passive.draws).reshape(shape),
    )


def instances(split: Split, *, seed: int, replicates: int, size: int) -> Instances:
    """Return instances of `size` cues: in each replicate the cues are dealt out anew.

    Cues that are left over are not used.
    """
    streams, keys = Streams(seed), stream_keys(split.cues)
    dealt = len(split.cues) // size
    order = np.stack(
        [streams.permutation(f"deal:{split.name}", keys=keys, tick=r) for r in range(replicates)]
    )
    return Instances(
        replicate=np.repeat(np.arange(replicates), dealt),
        cues=order[:, : dealt * size].reshape(-1, size),
    )


def vectors(split: Split) -> FloatArray:
    """Return the vectors of a split's memories, (K, width)."""
    return np.asarray(split.bank.encoder.encode(list(split.corpus.texts)), np.float64)
