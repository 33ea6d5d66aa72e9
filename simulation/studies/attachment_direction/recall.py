"""E.5: probes, sweeps of one trait, and what the four profiles recall for emotional cues."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.mind.traits import ATTACHMENT_PROFILES, ATTACHMENT_TRAITS
from simulation.studies.attachment_direction import protocol
from simulation.studies.attachment_direction.claims import Claim
from simulation.studies.attachment_direction.sampling import rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.attachment_direction.claims import Flips
    from simulation.studies.attachment_direction.sampling import Setting
    from simulation.studies.corpus import Corpus

    IntArray = NDArray[np.int64]

PART: Final = "E.5"
VECTORS: Final = np.array(list(ATTACHMENT_PROFILES.values()))
SECURE, ANXIOUS, AVOIDANT, FEARFUL = range(len(protocol.PROFILES))
PROBES: Final = {
    "neutral probes": protocol.NEUTRAL_PROBES,
    "positive-only probes": protocol.POSITIVE_PROBES,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measures:
    """What sampled memories are like, for each seed, personality and cue: (S, P, C).

    valence, dominance: means, as labelled.  negative, overgeneral: shares.  first: (S, P, C)
    valence of the first draw alone.
    """

    valence: FloatArray
    dominance: FloatArray
    negative: FloatArray
    overgeneral: FloatArray
    first: FloatArray

    @classmethod
    def of(cls, memories: Corpus, sampled: IntArray) -> Measures:
        """Measure. sampled: (S, P, C, L) places of memories."""
        valence = memories.affect[:, 0]
        return cls(
            valence=rate(valence, sampled),
            dominance=rate(memories.affect[:, 2], sampled),
            negative=rate(valence < protocol.NEGATIVE, sampled),
            overgeneral=rate(memories.overgeneral, sampled),
            first=valence[sampled[..., 0]],
        )


def by_state(setting: Setting, cues: tuple[str, ...]) -> dict[str, Measures]:
    """Return what is recalled in each affective state."""
    return {
        name: Measures.of(setting.bank.corpus, setting.sampled(cues, state))
        for name, state in protocol.STATES.items()
    }


def sweep_vectors(trait: int) -> FloatArray:
    """Return personalities that differ in one trait, (5, 2)."""
    vectors = np.full((len(protocol.LEVELS), len(ATTACHMENT_TRAITS)), protocol.HELD)
    vectors[:, trait] = protocol.LEVELS
    return vectors


def profile_claims(
    found: Mapping[str, Measures], moods: tuple[str, ...], flips: Flips
) -> Iterator[Claim]:
    """Yield what the source says of Table 14, for each state: it names none for valence."""
    for state, measured in found.items():
        yield from _as_the_source(state, measured, moods)
    for state, measured in found.items():
        yield from _valence(state, measured, flips)
    for state, pairs in _OVERGENERAL.items():
        for high, low in pairs:
            name = f"{_name(high)} above {_name(low)}, {state}"
            values = found[state].overgeneral
            yield flips.difference(values[:, high] - values[:, low], purpose=f"ogm:{name}").claim(
                PART, f"overgeneral recall, {name}"
            )


_OVERGENERAL: Final = {
    "neutral": ((AVOIDANT, SECURE),),
    "distress": (
        (AVOIDANT, SECURE),
        (FEARFUL, SECURE),
        (AVOIDANT, ANXIOUS),
        (FEARFUL, ANXIOUS),
    ),
}


def _name(profile: int) -> str:
    return protocol.PROFILES[profile]


def _as_the_source(state: str, measured: Measures, moods: tuple[str, ...]) -> Iterator[Claim]:
    """Yield the orders of Table 14 from one memory a cue, first seed: no more than points."""
    first = measured.first[0].mean(axis=-1)
    shown = ", ".join(f"{_name(i)} {value:.3f}" for i, value in enumerate(first))
    how = f"{state}, one memory a cue, seed 0"
    yield Claim(
        part=PART,
        text=f"avoidant recalls least negatively, {how}",
        found=shown,
        target="avoidant highest",
        holds=int(first.argmax()) == AVOIDANT,
    )
    yield Claim(
        part=PART,
        text=f"anxious recalls most negatively, {how}",
        found=shown,
        target="anxious lowest",
        holds=int(first.argmin()) == ANXIOUS,
    )
    of_bad_cues = measured.first[0][:, np.array(moods) == "negative"] < protocol.NEGATIVE
    yield Claim(
        part=PART,
        text=f"negative-cue congruence, {how}",
        found=", ".join(f"{_name(i)} {v:.3f}" for i, v in enumerate(of_bad_cues.mean(axis=1))),
        target="",
        holds=None,
    )


def _valence(state: str, measured: Measures, flips: Flips) -> Iterator[Claim]:
    """Yield the orders of valence from all draws and seeds, against the nearest other profile."""
    valence = measured.valence
    for profile, sign, word in ((AVOIDANT, 1, "least"), (ANXIOUS, -1, "most")):
        others = [i for i in range(len(protocol.PROFILES)) if i != profile]
        means = sign * valence.mean(axis=(0, 2))[others]
        other = others[int(means.argmax())]
        text = f"{_name(profile)} recalls {word} negatively, {state}, all draws"
        claim = flips.difference(
            valence[:, profile] - valence[:, other], purpose=text, sign=sign
        ).claim(PART, text, sign=sign)
        yield replace(claim, found=f"{_name(profile)} less {_name(other)}: {claim.found}")


def sweep_claims(sweeps: Mapping[int, Mapping[str, Measures]], flips: Flips) -> Iterator[Claim]:
    """Yield the directions of section 3 along each sweep: the last level less the first."""
    for trait, name, sign in (
        (0, "valence", -1),
        (0, "negative", 1),
        (1, "dominance", 1),
        (1, "overgeneral", 1),
    ):
        for state, measured in sweeps[trait].items():
            values: FloatArray = getattr(measured, name)
            steps = sign * np.diff(values.mean(axis=(0, 2)))
            text = f"{_WORDS[name]} along {ATTACHMENT_TRAITS[trait]}, {state}"
            claim = flips.difference(
                values[:, -1] - values[:, 0], purpose=f"sweep:{text}", sign=sign
            ).claim(PART, f"{text}, 1 less 0", sign=sign)
            taken = f"{int((steps > 0).sum())} of {len(steps)} steps so"
            yield replace(claim, found=f"{claim.found}; {taken}")


_WORDS: Final = {
    "valence": "recalled valence",
    "negative": "share of negative memories",
    "dominance": "recalled dominance",
    "overgeneral": "overgeneral recall",
}


def probe_claims(found: Mapping[str, Measures], flips: Flips) -> Iterator[Claim]:
    """Yield that anxiety darkens recall, whether probes are neutral or ask for the good only."""
    for probes, measured in found.items():
        for profile in (ANXIOUS, FEARFUL):
            name = f"{_name(profile)} less secure"
            values = measured.valence[:, profile] - measured.valence[:, SECURE]
            yield flips.difference(values, purpose=f"{probes}:{name}", sign=-1).claim(
                PART, f"recalled valence, {probes}, {name}", sign=-1
            )
