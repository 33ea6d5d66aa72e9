"""How well a memory is kept: aroused memories fade slowly, bad ones too for an anxious persona.

Source: PersMem, section 3 ("Memory Retention"), C.3, C.7 and D.1; method.md 7.3. The seed states
the exponential and lost the decay rate, which is the project's reading.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulation.mind import elementary

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionParameters:
    """What slows the decay of a memory (method.md 7.3)."""

    rho_a: float = 0.5  # share of the decay that full arousal takes off, in [0, 1]
    rho_n: float = 0.4  # share that trait x negative valence takes off, in [0, 1]
    rho_min: float = 0.1  # the personality factor is never below it, in [0, 1]


def decay_factor(
    arousal: FloatArray,
    valence: FloatArray,
    trait: FloatArray,
    *,
    parameters: RetentionParameters,
    personality: bool = True,
) -> FloatArray:
    """Return the decay rate of each memory as a multiple of 1 / tau, (A, K), in [0, 1].

    (1 - rho_a * arousal) * max(rho_min, 1 - rho_n * trait * [-valence]+). With the default
    parameters the second factor is never below 0.60.

    arousal: (A, K) in [0, 1].  valence: (A, K) in [-1, 1].  trait: (A,) anxiety or neuroticism,
    in [0, 1].  personality: switch R; without it the second factor is left out.
    """
    calm = 1.0 - parameters.rho_a * arousal
    if not personality:
        return calm
    held = parameters.rho_n * trait[:, None] * np.maximum(-valence, 0.0)
    return calm * np.maximum(parameters.rho_min, 1.0 - held)


def retention(
    age: IntArray,
    arousal: FloatArray,
    valence: FloatArray,
    trait: FloatArray,
    *,
    tau: float,
    parameters: RetentionParameters,
    personality: bool = True,
) -> FloatArray:
    """Return exp(-age * rate), (A, K), in (0, 1] (0 where that is below the smallest float).

    Without personality, a memory of no arousal is kept exactly as recency of method.md 3 has it,
    to the last bit.

    age: (A, K) whole ticks since each memory was written, >= 0.  tau: ticks, > 0.  The others are
    those of `decay_factor`; the rate is that factor / tau.

    Raises:
        ValueError: an age is negative (a memory of the future), or `tau` is not positive.
    """
    if not tau > 0:
        raise ValueError(f"tau is {tau}; it must be above 0")
    age = np.asarray(age)
    if age.size and age.min() < 0:
        raise ValueError("a memory was written after the present tick")
    factor = decay_factor(arousal, valence, trait, parameters=parameters, personality=personality)
    return elementary.exp(-(age * factor) / tau)
