"""Sentence encoders, their large batches encoded by an executor.

Encoding is most of a tick's work, so this is what workers are for. It may be done elsewhere only
where a text has bitwise the same vector in any batch, on any number of threads and any machine:
`static` and `ngram`, whose sums are of whole numbers. A transformer's last digits follow the
threads and the processor, and `openai` waits instead of computing: both stay in the driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.encoders.base import Encoder
    from simulation.executors.base import Executor

BATCH = 256
"""Texts sent at a time."""


class DistributedEncoder:
    """An encoder of exact vectors whose large batches are encoded on an executor's workers."""

    def __init__(self, encoder: Encoder, executor: Executor, *, batch: int | None = None) -> None:
        """Encode by `encoder` on `executor`, `batch` texts at a time, >= 1, default BATCH."""
        self._encoder, self._executor, self._batch = encoder, executor, batch or BATCH
        self._shared: Any = None

    @property
    def name(self) -> str:
        """Return the encoder's own name."""
        return self._encoder.name

    @property
    def width(self) -> int:
        """Components of a vector."""
        return self._encoder.width

    @property
    def sha256(self) -> str:
        """Fingerprint of the encoder's files."""
        return self._encoder.sha256

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit rows, (n, width); see `Encoder.encode`. One part's worth is encoded here."""
        if len(texts) <= self._batch:
            return self._encoder.encode(texts)
        if self._shared is None:
            self._shared = self._executor.share(self._encoder)
        starts = range(0, len(texts), self._batch)
        parts = (list(texts[start : start + self._batch]) for start in starts)
        return np.concatenate(self._executor.map(_encode, self._shared, parts))


def _encode(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    return encoder.encode(texts)


def is_exact(encoder: Encoder) -> bool:
    """Tell whether a text has bitwise the same vector wherever it is encoded."""
    from simulation.encoders.ngram import NgramEncoder  # noqa: PLC0415 - only for whom it concerns
    from simulation.encoders.static import StaticEncoder  # noqa: PLC0415 - as above

    return type(encoder) in (NgramEncoder, StaticEncoder)
