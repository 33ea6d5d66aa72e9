"""What every sentence encoder promises, and what it is built from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

MAX_CHARACTERS = 8192
"""Only so many characters of a text are read, by every encoder; posts and memories are shorter."""


class Encoder(Protocol):
    """Turns texts into unit vectors whose dot product is a similarity of topic."""

    @property
    def name(self) -> str:
        """The encoder and its model, as a run records it: "static", "openai:MODEL"."""
        ...

    @property
    def width(self) -> int:
        """Components of a vector."""
        ...

    @property
    def sha256(self) -> str:
        """Fingerprint of the files that decide the vectors, 64 hexadecimal digits."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row a text, in the order given.

        Returns:
            (n, width) float32. A row has Euclidean length 1; a text without any known token has
            an all-zero row, so that its relevance to everything is 0. No texts give (0, width).

        Raises:
            EncoderError: A backend refused or answered nonsense.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderSpec:
    """Which encoder, and its settings."""

    name: str = "static"
    model: str | None = None
    """A model's folder or name; the static encoder takes a folder made by `distil`."""
    base_url: str | None = None
    """Endpoint of the openai encoder; None is the provider's own."""
    api_key: str | None = field(default=None, repr=False)
    """Resolved by the caller; never logged, never read from the environment here."""
    batch_size: int | None = None
    """Texts a call, >= 1; None is the encoder's own default (see docs/encoders.md)."""

    def __post_init__(self) -> None:
        """Refuse a batch size that cannot be.

        Raises:
            UsageError: `batch_size` is below 1.
        """
        if self.batch_size is not None and self.batch_size < 1:
            raise UsageError(f"encoder.batch_size is {self.batch_size}; allowed is 1 or more")


def refuse_settings(spec: EncoderSpec, *names: str) -> None:
    """Refuse settings that an encoder would silently ignore.

    Raises:
        UsageError: One of the named settings is given.
    """
    given = [name for name in names if getattr(spec, name) is not None]
    if given:
        raise UsageError(f'the encoder "{spec.name}" has no setting {", ".join(given)}')


def clean(text: str) -> str:
    """Return the first MAX_CHARACTERS of a text as valid Unicode.

    Surrogate pairs, which some JSON readers leave apart, are joined; a lone surrogate becomes
    U+FFFD, since neither a tokenizer nor JSON can carry it.
    """
    head = text[:MAX_CHARACTERS]
    if head.isascii():
        return head
    return head.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def fingerprint(files: Mapping[str, str]) -> str:
    """Return the SHA-256 of a set of files from their own: what `sha256sum` prints, hashed again.

    Args:
        files: SHA-256 (hexadecimal) by file name. The order does not matter: names are sorted.
    """
    lines = "".join(f"{files[name]}  {name}\n" for name in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()


def unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Scale each row to Euclidean length 1; a row of zeros stays as it is.

    Args:
        rows: (n, width), finite.
    """
    peak = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = rows / np.where(peak > 0.0, peak, 1.0)  # so that no square overflows
    length = np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    return (scaled / np.where(length > 0.0, length, 1.0)).astype(np.float32)
