"""What a map from traits to gains is measured by, and what it is aimed at (method.md 7.8).

Everything stands at the fixed state (0, 0.4, 0.5), with all memories of age 0: retention is the
same for all of them and moves neither a ranking nor a draw. The bias is read off the ranking of
passive scores; overgeneral recall and departure are sampled from the whole store. The numbers
that settle the sampling are drawn once and met by every setting and every candidate of a search.

Shapes: S settings, C cues, K memories, M measures, T traits, G gains.

Source: PersMem, C.8, D.3, F.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.choice import top_without_replacement
from simulation.mind import calibration, passive, traits
from simulation.mind.affect import NEUTRAL_STATE
from simulation.rng import Streams

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulation.mind.calibration import FloatArray, IntArray, SearchSettings
    from simulation.studies.calibration.store import Store

PARAMETERS: Final = passive.PassiveParameters()
DEPARTURE_DRAWS: Final = 20  # on the reference cue (D.3)
SEED: Final = 0  # of all chance of the study


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One of the two kinds of personality, as the calibration sees it.

    low, high, reference: the gains of the two direct settings and of an uncalibrated run.
    settings: S trait vectors by name; the first `fitted` of them are fitted.
    shares: from trait vectors (S, T) to where in its range each measure should be, (S, M).
    draws: sampled memories a cue for the rate of overgeneral recall.
    """

    name: str
    traits: tuple[str, ...]
    gains: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    reference: tuple[float, ...]
    measures: tuple[str, ...]
    settings: Mapping[str, tuple[float, ...]]
    fitted: int
    shares: Callable[[FloatArray], FloatArray]
    search: SearchSettings
    draws: int

    @property
    def vectors(self) -> FloatArray:
        """The settings as an array, (S, T)."""
        return np.array(list(self.settings.values()))


ATTACHMENT: Final = Kind(
    name="attachment",
    traits=traits.ATTACHMENT_TRAITS,
    gains=traits.ATTACHMENT_GAINS,
    low=traits.ATTACHMENT_LOW,
    high=traits.ATTACHMENT_HIGH,
    reference=traits.ATTACHMENT_REFERENCE,
    measures=calibration.ATTACHMENT_MEASURES,
    settings=traits.ATTACHMENT_PROFILES,
    fitted=len(traits.ATTACHMENT_PROFILES),
    shares=calibration.attachment_shares,
    search=calibration.ATTACHMENT_SEARCH,
    draws=60,
)
BIG_FIVE: Final = Kind(
    name="big_five",
    traits=traits.BIG_FIVE_TRAITS,
    gains=traits.BIG_FIVE_GAINS,
    low=traits.BIG_FIVE_LOW,
    high=traits.BIG_FIVE_HIGH,
    reference=traits.BIG_FIVE_REFERENCE,
    measures=calibration.BIG_FIVE_MEASURES,
    settings=calibration.BIG_FIVE_ANCHORS | calibration.BIG_FIVE_UNFITTED,
    fitted=len(calibration.BIG_FIVE_ANCHORS),
    shares=calibration.big_five_shares,
    search=calibration.BIG_FIVE_SEARCH,
    draws=12,
)
KINDS: Final = (ATTACHMENT, BIG_FIVE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draws:
    """Gumbel numbers that settle what is sampled.

    overgeneral: (C, L, K).  departure: (1, L, K), for the reference cue.
    """

    overgeneral: FloatArray
    departure: FloatArray


def draw(store: Store, *, overgeneral: int, departure: int = DEPARTURE_DRAWS) -> Draws:
    """Return the numbers of `overgeneral` draws a cue and `departure` on the reference cue.

    A number depends on the cue, the place of the draw and the memory's text, so that more draws
    or more memories leave the others alone.
    """
    return Draws(
        overgeneral=np.stack([_numbers(store, f"ogm:{cue}", overgeneral) for cue in store.cues]),
        departure=_numbers(store, f"sdr:{store.cues[0]}", departure)[None],
    )


def _numbers(store: Store, purpose: str, count: int) -> FloatArray:
    index = np.arange(count)[:, None]
    return Streams(SEED).gumbel(f"calibration:{purpose}", tick=0, keys=store.keys, index=index)


def measure(
    kind: Kind, store: Store, draws: Draws, *, personality: FloatArray, gains: FloatArray
) -> FloatArray:
    """Return the measures of each setting, (S, M), in the order of `kind.measures`.

    personality: (S, T) in [0, 1].  gains: (S, G), each setting's own.
    """
    score = scores(kind, store, personality=personality, gains=gains)
    heat = temperatures(kind, gains)
    drawn = _sampled(score, heat, draws.overgeneral)
    found = [
        calibration.personality_bias(score, store.affect[:, 0]),
        calibration.overgeneral_rate(drawn, store.overgeneral),
    ]
    if "sdr" in kind.measures:
        near = _sampled(score[:, :1], heat, draws.departure)
        found.append(calibration.semantic_departure(near, store.semantic[:1]))
    return np.stack(found, axis=-1)


def scores(kind: Kind, store: Store, *, personality: FloatArray, gains: FloatArray) -> FloatArray:
    """Return the passive scores, (S, C, K), at the calibration state.

    personality: (S, T).  gains: (S, G).
    """
    settings, (cues, memories) = len(personality), store.semantic.shape
    memory = np.broadcast_to(store.affect, (settings, memories, 3))
    state = np.tile(NEUTRAL_STATE, (settings, 1))
    vague = np.broadcast_to(store.overgeneral, (settings, memories))
    if kind is ATTACHMENT:
        relation = passive.relation_attachment(
            memory,
            state,
            vague,
            anxiety=personality[:, 0],
            avoidance=personality[:, 1],
            gains=gains,
            parameters=PARAMETERS,
        )
        trait = personality[:, traits.ATTACHMENT_REACTIVITY]
    else:
        relation = passive.relation_big_five(memory, state, vague, traits=personality, gains=gains)
        trait = personality[:, traits.BIG_FIVE_REACTIVITY]
    score = passive.score(
        np.tile(store.semantic, (settings, 1)),
        np.repeat(relation, cues, axis=0),
        np.ones((settings * cues, memories)),
        weight=np.repeat(passive.relation_weight(trait, parameters=PARAMETERS), cues),
        parameters=PARAMETERS,
    )
    return score.reshape(settings, cues, memories)


def temperatures(kind: Kind, gains: FloatArray) -> FloatArray:
    """Return the sampling temperature of each setting, (S,)."""
    if kind is BIG_FIVE:
        return passive.temperature_big_five(gains, parameters=PARAMETERS)
    return np.full(len(gains), PARAMETERS.temperature)


def _sampled(score: FloatArray, heat: FloatArray, gumbel: FloatArray) -> IntArray:
    """Return single draws from the whole store, (S, C, L), each independent of the others.

    score: (S, C, K).  heat: (S,).  gumbel: (C, L, K).
    """
    shape = (len(score), *gumbel.shape)
    rows = np.broadcast_to(score[:, :, None, :], shape).reshape(-1, shape[-1])
    drawn = top_without_replacement(
        rows,
        np.ones(rows.shape, np.bool_),
        temperature=np.repeat(heat, shape[1] * shape[2]),
        count=1,
        gumbel=np.broadcast_to(gumbel, shape).reshape(rows.shape),
        candidates=None,
    )
    return drawn.reshape(shape[:-1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Targets:
    """What each setting is aimed at; all (S, M). low, high: the range that gains can reach."""

    share: FloatArray
    low: FloatArray
    high: FloatArray
    aim: FloatArray


def targets(kind: Kind, store: Store, draws: Draws) -> Targets:
    """Return the targets: shares of the range measured under the two direct gain settings."""
    ends = [
        measure(
            kind,
            store,
            draws,
            personality=kind.vectors,
            gains=traits.fixed_gains(end, personas=len(kind.settings)),
        )
        for end in (kind.low, kind.high)
    ]
    low, high = calibration.measured_range(*ends)
    share = kind.shares(kind.vectors)
    return Targets(
        share=share, low=low, high=high, aim=calibration.target(share, low=low, high=high)
    )


def errors(measured: FloatArray, aims: Targets) -> FloatArray:
    """Return the error of each setting, (S,), >= 0, in ranges.

    measured: (S, M).
    """
    return calibration.setting_error(measured, aims.aim, low=aims.low, high=aims.high)
