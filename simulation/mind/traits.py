"""Personalities, and the gains by which they weigh a memory's affect.

A personality is a fixed vector in [0, 1]: attachment (anxiety, avoidance) or the Big Five
(openness, conscientiousness, extraversion, agreeableness, neuroticism).

Source: PersMem, section 3 ("Personality Representation"), C.8 and D.3; method.md 7 and 7.8. The
map is a design choice of the seed, not a validated model of people.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulation.mind import elementary

FloatArray = NDArray[np.float64]

ATTACHMENT_TRAITS = ("anxiety", "avoidance")
BIG_FIVE_TRAITS = (
    "openness",
    "conscientiousness",
    "extraversion",
    "agreeableness",
    "neuroticism",
)

# The trait x of method.md 7.3 to 7.5: it slows the fading of bad memories, raises the weight of
# affect and lowers the gate's threshold.
ATTACHMENT_REACTIVITY = ATTACHMENT_TRAITS.index("anxiety")
BIG_FIVE_REACTIVITY = BIG_FIVE_TRAITS.index("neuroticism")

# (anxiety, avoidance); the seed holds 0.15 as the low value, 0.85 is the project's reading.
ATTACHMENT_PROFILES: dict[str, tuple[float, float]] = {
    "secure": (0.15, 0.15),
    "anxious": (0.85, 0.15),
    "avoidant": (0.15, 0.85),
    "fearful": (0.85, 0.85),
}

ATTACHMENT_GAINS = ("mu", "mu_d", "kappa_fa")
ATTACHMENT_LOW = (0.0, 0.0, 0.0)
ATTACHMENT_HIGH = (1.0, 1.0, 1.2)
ATTACHMENT_REFERENCE = (0.6, 0.6, 0.6)  # the gains of an uncalibrated run

BIG_FIVE_GAINS = ("mu", "mu_pos", "mu_d", "kappa_fa", "tau_bf")
BIG_FIVE_LOW = (0.0, 0.0, 0.0, 0.0, 0.02)
BIG_FIVE_HIGH = (1.0, 1.0, 1.0, 1.2, 0.5)
BIG_FIVE_REFERENCE = (0.6, 0.6, 0.6, 0.6, 0.12)


def gains(
    personality: FloatArray,
    weights: FloatArray,
    bias: FloatArray,
    *,
    low: FloatArray,
    high: FloatArray,
) -> FloatArray:
    """Return low + (high - low) * sigma(weights @ personality + bias), (A, G), in [low, high].

    The sum runs trait by trait and not through a matrix product, so that a persona has the same
    bits whoever stands beside it.

    personality: (A, T) in [0, 1].  weights: (G, T).  bias, low, high: (G,), low <= high.
    """
    total = np.broadcast_to(bias, (len(personality), len(bias)))
    for trait in range(weights.shape[1]):
        total = total + personality[:, trait, None] * weights[:, trait]
    inner = low + (high - low) * elementary.logistic(total)
    return np.clip(inner, low, high)  # rounding may step over the end by one bit


def fixed_gains(reference: tuple[float, ...], *, personas: int) -> FloatArray:
    """Return the same gains for every persona, (A, G): those of an uncalibrated run.

    reference: G gains, such as `ATTACHMENT_REFERENCE`.
    """
    return np.tile(np.array(reference, np.float64), (personas, 1))


def unpack(vector: FloatArray, *, gains: int, traits: int) -> tuple[FloatArray, FloatArray]:
    """Return the weights (G, T) and the bias (G,) of a map that is written as one vector.

    vector: (G * T + G,), the weights gain by gain, then the bias.

    Raises:
        ValueError: the vector has another length.
    """
    length = gains * traits + gains
    if vector.shape != (length,):
        raise ValueError(
            f"a map of {traits} traits to {gains} gains has {length} coefficients, "
            f"not an array of shape {vector.shape}"
        )
    return vector[: gains * traits].reshape(gains, traits), vector[gains * traits :]


def pack(weights: FloatArray, bias: FloatArray) -> FloatArray:
    """Return a map as one vector, (G * T + G,); the inverse of `unpack`."""
    return np.concatenate([weights.ravel(), bias])
