"""Sentence encoders, chosen by name: static and ngram (ship), sentence_transformers, openai.

>>> encoder = load(EncoderSpec(name="static"))
>>> encoder.encode(["A snack with 20 g of protein."]).shape
(1, 256)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from simulation.encoders.base import Encoder, EncoderSpec
from simulation.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["NAMES", "Encoder", "EncoderSpec", "load"]

NAMES = ("static", "ngram", "sentence_transformers", "openai")
"""The encoders that a scenario may name."""


def load(spec: EncoderSpec) -> Encoder:
    """Return the encoder that `spec` names; only its module, and so only its SDK, is imported.

    Args:
        spec: The name and the settings; settings that the encoder has no use for are refused.

    Raises:
        EncoderError: The files are damaged.
        MissingPackageError: The encoder's package is not installed; names the extra to install.
        UsageError: The name is unknown, a setting makes no sense, or the model is not here.
    """
    if spec.name not in NAMES:
        raise UsageError(f'there is no encoder "{spec.name}"; encoders are {", ".join(NAMES)}')
    return cast("Encoder", _backend(spec.name).build(spec))


def _backend(name: str) -> ModuleType:
    """Import one backend, by a name already checked against NAMES."""
    return import_module(f"{__name__}.{name}")
