"""What a replicate of a profile recalls, and the numbers that describe it.

An instance is one profile in one replicate: three memories for each of eight probes. All methods
draw from their best twelve scores, at one temperature and by the same random numbers; the numbers
of a replicate and probe are the same for every profile, unless streams are `own`.

Shapes: N instances, A = 8 N questions, K memories, D features.

Source: PersMem, E.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.choice import top_without_replacement
from simulation.mind.traits import ATTACHMENT_PROFILES
from simulation.rng import Streams, stream_keys
from simulation.scenario.persmem import PersMem, Switches
from simulation.studies import recalling
from simulation.studies.attachment_trace import protocol
from simulation.studies.corpus import NEGATIVE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.recalling import Asked, Bank, Minds

    IntArray = NDArray[np.int64]

OFF: Final = Switches(A=False, R=False, P=False, G=False, S=False)
CONTENT: Final = (
    "valence mean",
    "valence sd",
    "arousal mean",
    "arousal sd",
    "dominance mean",
    "dominance sd",
    "share negative",
    "share overgeneral",
)
INTERNAL: Final = ("relation mean", "relation sd", "retention mean", "retention sd")
FEATURES: Final = (*CONTENT, *INTERNAL)
_MODES: Final = {
    protocol.SEMANTIC: "semantic",
    protocol.GENERATIVE_AGENTS: "generative_agents",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Instances:
    """N instances.

    features: (N, D) as `FEATURES`.  profile, replicate: (N,).  recalled: (N, 24) places of the
    memories, probe by probe, in the order of drawing.
    """

    features: FloatArray
    profile: IntArray
    replicate: IntArray
    recalled: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """Profiles that hold one set of memories, under one method.

    method: of `protocol.METHODS`.  gains: of `protocol.MAPS`.  seed: of the draws.
    contrast: how far the traits lie from 0.5.
    """

    bank: Bank
    method: str
    gains: protocol.Gains = "paper"
    seed: int = 0
    contrast: float = protocol.CONTRASTS[-1]

    def instances(self, replicates: int, *, own: bool = False) -> Instances:
        """Return the instances of all profiles, profile by profile.

        own: each profile meets random numbers of its own, instead of the same.
        """
        count = len(protocol.PROFILES)
        profile = np.repeat(np.arange(count), replicates)
        replicate = np.tile(np.arange(replicates), count)
        streams = [
            f"{f'{protocol.PROFILES[p]}:' if own else ''}{r}:{i}"
            for p, r in zip(profile.tolist(), replicate.tolist(), strict=True)
            for i in range(len(protocol.PROBES))
        ]
        asked = recalling.ask(
            self.bank,
            personas=np.repeat(profile, len(protocol.PROBES)),
            cues=protocol.PROBES * len(profile),
            streams=streams,
            state=protocol.STATE,
        )
        minds = self._minds()
        places = self._drawn(minds, asked)
        relation, retention = minds.weighed(asked)
        shape = (len(profile), -1)
        recalled = places.reshape(shape)
        inner = [
            np.take_along_axis(part, places, axis=1).reshape(shape)
            for part in (relation, retention)
        ]
        return Instances(
            features=_features(self.bank, recalled, *inner),
            profile=profile,
            replicate=replicate,
            recalled=recalled,
        )

    def bias(self) -> FloatArray:
        """Return [-v]+ of the three best scores, mean, for each profile and probe, (P, 8)."""
        profiles, probes = len(protocol.PROFILES), len(protocol.PROBES)
        asked = recalling.ask(
            self.bank,
            personas=np.repeat(np.arange(profiles), probes),
            cues=protocol.PROBES * profiles,
            streams=["bias"] * (profiles * probes),
            state=protocol.STATE,
        )
        score = self._scores(self._minds(), asked)
        best = np.argsort(-score, axis=1, kind="stable")[:, : protocol.RECALLED]
        bad = np.maximum(-self.bank.corpus.affect[:, 0], 0.0)
        return np.asarray(bad[best].mean(axis=1).reshape(profiles, probes))

    def _minds(self) -> Minds:
        """Return the profiles; controls know nothing of personality."""
        of_persmem = self.method == protocol.PERSMEM
        spec = PersMem(gains=self.gains) if of_persmem else PersMem(switches=OFF)
        return recalling.Minds(
            self.bank,
            "attachment",
            0.5 + self.contrast * np.sign(np.array(list(ATTACHMENT_PROFILES.values())) - 0.5),
            spec,
            seed=self.seed,
            ages=ages(self.bank),
        )

    def _drawn(self, minds: Minds, asked: Asked) -> IntArray:
        """Return the places of the memories drawn for each question, (A, 3)."""
        if self.method not in _MODES:
            return minds.passive(asked, count=protocol.RECALLED)
        score = self._scores(minds, asked)
        gumbel = Streams(self.seed).gumbel(  # the numbers of `Search.draw`
            "passive",
            tick=int(ages(self.bank).max()),
            keys=asked.keys[:, None],
            index=np.arange(score.shape[1]),
        )
        return top_without_replacement(
            score,
            np.ones(score.shape, np.bool_),
            temperature=protocol.TEMPERATURE,
            count=protocol.RECALLED,
            gumbel=gumbel,
            candidates=protocol.CANDIDATES,
        )

    def _scores(self, minds: Minds, asked: Asked) -> FloatArray:
        """Return what the method ranks memories by, (A, K)."""
        if self.method not in _MODES:
            return minds.scores(asked)
        ranked = minds.control(asked, _MODES[self.method], count=len(self.bank.corpus))
        score = np.zeros(ranked.score.shape)
        np.put_along_axis(score, ranked.position, ranked.score, axis=1)
        return score


def ages(bank: Bank) -> IntArray:
    """Return how old each memory is, ticks, (K,): by its id, the same in every trial."""
    drawn = Streams(0).uniform(
        "attachment-trace:age", tick=0, keys=stream_keys(bank.corpus.ids), index=0
    )
    return np.asarray(drawn * protocol.AGES, np.int64)


def _features(
    bank: Bank, recalled: IntArray, relation: FloatArray, retention: FloatArray
) -> FloatArray:
    """Return the features of instances, (N, D), from what they recalled, (N, 24) each.

    Affect and specificity are as labelled, not as felt.
    """
    affect = bank.corpus.affect[recalled]
    measured = [affect[..., i] for i in range(affect.shape[-1])]
    shares = [
        (measured[0] < NEGATIVE).mean(axis=1),
        bank.corpus.overgeneral[recalled].mean(axis=1),
    ]
    return np.stack(
        [*_mean_and_sd(measured), *shares, *_mean_and_sd([relation, retention])], axis=1
    )


def _mean_and_sd(columns: list[FloatArray]) -> list[FloatArray]:
    return [part for column in columns for part in (column.mean(axis=1), column.std(axis=1))]
