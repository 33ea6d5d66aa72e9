"""How a persona feels about a text, and the state that this leaves it in.

An affect is (valence, arousal, dominance): valence in [-1, 1], the others in [0, 1]. Arrays hold
A turns with the three components last, (A, 3); traits lie in [0, 1].

Source: PersMem, section 3 ("Affective Appraisal"), C.2 and D.1; method.md 7.1 and 7.2. The seed
lost its Eq. 2; the formulas of appraisal are the project's reading of the sentences around it.
The bounds on a trait's effect hold for parameters that are not negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]

NEUTRAL_STATE = (0.0, 0.4, 0.5)  # s_out(0): the state before the first turn
UNKNOWN_AFFECT = (0.0, 0.0, 0.5)  # what an invalid or missing answer of an appraiser becomes

LOWEST = (-1.0, 0.0, 0.0)
HIGHEST = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppraisalParameters:
    """How far traits bend a raw affect (method.md 7.1); each is a share of full scale, >= 0."""

    kappa_v: float = 0.5  # how far anxiety or neuroticism deepens a negative valence
    kappa_a: float = 0.4  # arousal that anxiety or neuroticism adds to a negative text
    kappa_b: float = 0.4  # share of arousal that avoidance damps, at most 1 (attachment only)
    kappa_d: float = 0.2  # dominance taken by anxiety; given by low agreeableness
    kappa_e: float = 0.2  # dominance that avoidance adds (attachment only)
    kappa_p: float = 0.4  # how far extraversion and agreeableness lift a positive valence


def is_valid(raw: FloatArray) -> BoolArray:
    """Return where an appraiser's answer can be used, (A,): all three numbers are finite.

    raw: (A, 3). The caller logs what is not valid; `clip_affect` replaces it.
    """
    return np.asarray(np.isfinite(raw).all(axis=-1))


def clip_affect(raw: FloatArray) -> FloatArray:
    """Return affects within their ranges, (A, 3).

    raw: (A, 3) as an appraiser answered. A row that is not `is_valid` becomes `UNKNOWN_AFFECT`
    as a whole, then every component is clipped.  Source: C.2.
    """
    known = np.where(is_valid(raw)[..., None], raw, UNKNOWN_AFFECT)
    return np.clip(known, LOWEST, HIGHEST)


def appraise_attachment(
    raw: FloatArray,
    anxiety: FloatArray,
    avoidance: FloatArray,
    *,
    parameters: AppraisalParameters,
) -> FloatArray:
    """Return affects as a persona with an attachment style feels them, (A, 3).

    Anxiety deepens negative valence, arouses at negative texts and takes dominance; avoidance
    damps arousal and adds dominance.

    raw: (A, 3) within the ranges of an affect.  anxiety, avoidance: (A,) in [0, 1].
    """
    valence, arousal, dominance = raw[..., 0], raw[..., 1], raw[..., 2]
    threat = anxiety * np.maximum(-valence, 0.0)
    felt = (
        valence - parameters.kappa_v * threat,
        arousal * (1.0 - parameters.kappa_b * avoidance) + parameters.kappa_a * threat,
        dominance - parameters.kappa_d * anxiety + parameters.kappa_e * avoidance,
    )
    return np.clip(np.stack(felt, axis=-1), LOWEST, HIGHEST)


def appraise_big_five(
    raw: FloatArray, traits: FloatArray, *, parameters: AppraisalParameters
) -> FloatArray:
    """Return affects as a persona with Big Five traits feels them, (A, 3).

    Neuroticism deepens negative valence and arouses at negative texts; extraversion and
    agreeableness lift positive valence; low agreeableness adds dominance.

    raw: (A, 3) within the ranges of an affect.  traits: (A, 5) in [0, 1], in the order openness,
    conscientiousness, extraversion, agreeableness, neuroticism.
    """
    valence, arousal, dominance = raw[..., 0], raw[..., 1], raw[..., 2]
    extraversion, agreeableness, neuroticism = traits[..., 2], traits[..., 3], traits[..., 4]
    threat = neuroticism * np.maximum(-valence, 0.0)
    delight = 0.5 * (extraversion + agreeableness) * np.maximum(valence, 0.0)
    felt = (
        valence - parameters.kappa_v * threat + parameters.kappa_p * delight,
        arousal + parameters.kappa_a * threat,
        dominance + parameters.kappa_d * (1.0 - agreeableness),
    )
    return np.clip(np.stack(felt, axis=-1), LOWEST, HIGHEST)


def update_state(before: FloatArray, appraised: FloatArray, *, rate: float = 0.5) -> FloatArray:
    """Return the state after an appraisal, (A, 3): (1 - rate) * before + rate * appraised.

    A turn calls it twice: s_in from the last turn's s_out and the stimulus, then s_out from s_in
    and the reply.

    before, appraised: (A, 3) within the ranges of an affect.  rate: lambda, in [0, 1].
    Source: Eq. 3; method.md 7.2.
    """
    return (1.0 - rate) * before + rate * appraised


def memory_affect(e_in: FloatArray, e_reply: FloatArray) -> FloatArray:
    """Return the affect stored with a turn's memory, (A, 3): the mean of the two appraisals.

    e_in, e_reply: (A, 3) the *adjusted* affects of stimulus and reply.  Source: Eq. 3.
    """
    return 0.5 * (e_in + e_reply)
