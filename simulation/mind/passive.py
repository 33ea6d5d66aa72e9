"""What comes to mind unasked: the passive score of each memory of a persona.

S = alpha * semantic + beta * relation + gamma * retention, where the relation measures how well a
memory's affect fits the persona's state and its traits.

Shapes: A turns, K memories; memories' affects (A, K, 3) and states (A, 3) as (valence, arousal,
dominance) in [-1, 1] x [0, 1] x [0, 1]; traits in [0, 1]. Sums run component by component, never
through a matrix product, so that a row has the same bits whatever rows stand beside it.

Two switches of C.7 act here. `personality` is P: without it the gain terms, the overgeneral term
and the trait in beta vanish, and the temperature is the common one. `specificity` is S: without
it only the overgeneral term vanishes.

Source: PersMem, section 3 ("Passive Affect-Driven Memory Retrieval"), C.4, C.7 and D.2; method.md
7.4 and 7.7. The seed states the form of S and lost the relation, which is the project's reading.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]

FARTHEST = float(
    np.sqrt(6.0)
)  # distance of (-1, 0, 0) and (1, 1, 1), the two ends of the affect space


@dataclass(frozen=True, slots=True, kw_only=True)
class PassiveParameters:
    """Passive retrieval (method.md 7.4)."""

    alpha: float = 1.0  # weight of the semantic similarity
    beta_0: float = 0.6  # weight of the relation for a persona with trait 0
    beta_x: float = 0.5  # how far the trait raises that weight
    gamma: float = 0.3  # weight of the retention
    phi_0: float = 0.25  # overgeneral recall that avoidance brings in any state (seed, E.6)
    phi_a: float = 0.5  # part of the overgeneral recall under distress that needs no avoidance
    temperature: float = 0.12  # T of the sampling, unless the gain map sets it
    candidates: int = 12  # K: only so many of the best scores can be drawn
    draws: int = 3  # n: memories drawn to form the passive set


def affect_match(memory: FloatArray, state: FloatArray) -> FloatArray:
    """Return 1 - distance / sqrt(6), (A, K), in [0, 1]: 1 where a memory feels like the state.

    memory: (A, K, 3).  state: (A, 3), the state s_in of the turn.
    """
    gap = memory - state[:, None, :]
    square = gap[..., 0] ** 2 + gap[..., 1] ** 2 + gap[..., 2] ** 2
    return np.asarray(1.0 - np.sqrt(square) / FARTHEST)


def relation_attachment(
    memory: FloatArray,
    state: FloatArray,
    overgeneral: BoolArray,
    *,
    anxiety: FloatArray,
    avoidance: FloatArray,
    gains: FloatArray,
    parameters: PassiveParameters,
    personality: bool = True,
    specificity: bool = True,
) -> FloatArray:
    """Return the affective relation R of each memory to a persona with attachment, (A, K), >= 0.

    match + mu * anx * [-v_m]+ + mu_d * avo * d_m
    + kappa_fa * (phi_0 * avo + [-v_s]+ * (phi_a + (1 - phi_a) * avo)) where overgeneral.

    overgeneral: (A, K) memories labelled so.  anxiety, avoidance: (A,).  gains: (A, 3), the
    columns mu, mu_d and kappa_fa of method.md 7.8.
    """
    match = affect_match(memory, state)
    if not personality:
        return match
    gloom = (gains[:, 0] * anxiety)[:, None] * np.maximum(-memory[..., 0], 0.0)
    control = (gains[:, 1] * avoidance)[:, None] * memory[..., 2]
    relation = match + gloom + control
    if not specificity:
        return relation
    distress = np.maximum(-state[:, 0], 0.0)
    yielding = parameters.phi_a + (1.0 - parameters.phi_a) * avoidance
    vague = gains[:, 2] * (parameters.phi_0 * avoidance + distress * yielding)
    return np.asarray(relation + vague[:, None] * overgeneral)


def relation_big_five(
    memory: FloatArray,
    state: FloatArray,
    overgeneral: BoolArray,
    *,
    traits: FloatArray,
    gains: FloatArray,
    personality: bool = True,
    specificity: bool = True,
) -> FloatArray:
    """Return the affective relation R of each memory to a persona with Big Five, (A, K), >= 0.

    match + mu * N * [-v_m]+ + mu_pos * (E + A) / 2 * [v_m]+ + mu_d * (1 - A) * d_m
    + kappa_fa * ((1 - C) + N + [-v_s]+ * a_s) where overgeneral.

    overgeneral: (A, K) memories labelled so.  traits: (A, 5) in the order O, C, E, A, N.
    gains: (A, 4) or more, the columns mu, mu_pos, mu_d and kappa_fa of method.md 7.8; the fifth,
    a temperature, is not a part of the relation (see `temperature_big_five`).
    """
    match = affect_match(memory, state)
    if not personality:
        return match
    conscientiousness, agreeableness, neuroticism = traits[:, 1], traits[:, 3], traits[:, 4]
    warmth = 0.5 * (traits[:, 2] + agreeableness)
    valence = memory[..., 0]
    gloom = (gains[:, 0] * neuroticism)[:, None] * np.maximum(-valence, 0.0)
    cheer = (gains[:, 1] * warmth)[:, None] * np.maximum(valence, 0.0)
    control = (gains[:, 2] * (1.0 - agreeableness))[:, None] * memory[..., 2]
    relation = match + gloom + cheer + control
    if not specificity:
        return relation
    distress = np.maximum(-state[:, 0], 0.0) * state[:, 1]
    vague = gains[:, 3] * ((1.0 - conscientiousness) + neuroticism + distress)
    return np.asarray(relation + vague[:, None] * overgeneral)


def relation_weight(
    trait: FloatArray, *, parameters: PassiveParameters, personality: bool = True
) -> FloatArray:
    """Return beta = beta_0 * (1 + beta_x * trait), (A,); beta_0 without personality.

    trait: (A,) anxiety or neuroticism.
    """
    if not personality:
        return np.full(trait.shape, parameters.beta_0)
    return parameters.beta_0 * (1.0 + parameters.beta_x * trait)


def temperature_big_five(
    gains: FloatArray, *, parameters: PassiveParameters, personality: bool = True
) -> FloatArray:
    """Return the sampling temperature of each persona, (A,), > 0: the fifth gain, tau_BF.

    Without personality it is `parameters.temperature`, which attachment always uses.

    gains: (A, 5), as `relation_big_five`.
    """
    if not personality:
        return np.full(len(gains), parameters.temperature)
    return np.asarray(gains[:, 4])


def score(
    semantic: FloatArray,
    relation: FloatArray,
    retention: FloatArray,
    *,
    weight: FloatArray,
    parameters: PassiveParameters,
) -> FloatArray:
    """Return the passive score S, (A, K), >= 0.

    semantic: (A, K) cosine of memory and query, clipped into [0, 1].  relation: (A, K).
    retention: (A, K) in [0, 1].  weight: (A,) of `relation_weight`.
    """
    felt = weight[:, None] * relation
    return parameters.alpha * semantic + felt + parameters.gamma * retention
