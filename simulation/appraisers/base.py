"""What every appraiser promises, and what it is built from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simulation.calls.base import Asker
    from simulation.encoders.base import Encoder

MAX_CHARACTERS: Final = 2000
"""Only so many code points of a text are appraised (`model` reads 500): the sentiment rules take
time that grows with the square of a text full of loaded words."""

NEUTRAL: Final = (0.0, 0.4, 0.5)
"""Valence, arousal, dominance of a text that says nothing: the state at rest of method.md 7.2, so
that it neither excites nor calms a persona at rest."""

FALLBACK: Final = (0.0, 0.0, 0.5)
"""What an invalid or missing answer of the `model` appraiser becomes (seed C.2)."""

LOWER: Final = np.array((-1.0, 0.0, 0.0))
UPPER: Final = np.array((1.0, 1.0, 1.0))

Failures = tuple[tuple[int, str], ...]
"""(row of the batch, reason), by row."""


class Appraiser(Protocol):
    """Tells the raw affect of texts, before any personality acts on it."""

    @property
    def name(self) -> str:
        """The appraiser and its model, as a run records it: "embedding:static", "lexicon"."""
        ...

    @property
    def sha256(self) -> str:
        """Fingerprint of the files that decide the numbers, 64 hexadecimal digits."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a run should say about this appraiser, one sentence each; often nothing."""
        ...

    @property
    def failures(self) -> Failures:
        """Rows of the latest call that could not be appraised and hold FALLBACK instead."""
        ...

    def appraise(
        self, texts: Sequence[str], vectors: NDArray[np.float32] | None
    ) -> NDArray[np.float64]:
        """Return one row a text: valence in [-1, 1], arousal and dominance in [0, 1].

        A row depends on its own text and vector alone, bitwise. No text is refused, whatever is
        in it.

        Args:
            texts: n texts of any length.
            vectors: (n, width), unit rows of the run's encoder; only `embedding` reads them.

        Returns:
            (n, 3) float64.

        Raises:
            UsageError: Vectors are needed and missing, not finite, or of another shape.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AppraiserSpec:
    """Which appraiser, and its settings."""

    name: str = "embedding"
    encoder: Encoder | None = None
    """embedding: the encoder whose vectors will be given. Only its name and SHA-256 are read."""
    coefficients: Path | None = None
    """embedding: a file made by `python -m simulation.appraisers.fit`; None is a shipped one."""
    norms: Path | None = None
    """lexicon: word norms as CSV, for arousal and dominance; None leaves both neutral."""
    asker: Asker | None = field(default=None, repr=False)
    """model: who answers."""
    now: Callable[[], int] = field(default=lambda: 0, repr=False)
    """model: the tick that asks."""


def refuse_settings(spec: AppraiserSpec, *names: str) -> None:
    """Refuse settings that an appraiser would silently ignore.

    Raises:
        UsageError: One of the named settings is given.
    """
    given = [name for name in names if getattr(spec, name) is not None]
    if given:
        raise UsageError(f'the appraiser "{spec.name}" has no setting {", ".join(given)}')


def clipped(affect: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return valence clipped to [-1, 1], arousal and dominance to [0, 1]; never -0.

    affect: (n, 3), finite.
    """
    inside: NDArray[np.float64] = np.clip(affect, LOWER, UPPER) + 0.0
    return inside
