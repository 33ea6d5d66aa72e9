"""Appraisers, chosen by name: the raw valence, arousal and dominance of a text (method.md 7.1).

>>> appraiser = load(AppraiserSpec(name="lexicon"))
>>> appraiser.appraise(["I love this!", ""], None).tolist()
[[0.6696, 0.4, 0.5], [0.0, 0.4, 0.5]]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from simulation.appraisers.base import FALLBACK, NEUTRAL, Appraiser, AppraiserSpec
from simulation.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["FALLBACK", "NAMES", "NEUTRAL", "Appraiser", "AppraiserSpec", "load"]

NAMES = ("embedding", "lexicon", "model")
"""The appraisers that a scenario may name."""


def load(spec: AppraiserSpec) -> Appraiser:
    """Return the appraiser that `spec` names; only its module is imported.

    Raises:
        UsageError: The name is unknown, a setting makes no sense or is missing, a file cannot be
            read, or there are no coefficients for the encoder (says how to fit them).
    """
    if spec.name not in NAMES:
        raise UsageError(f'there is no appraiser "{spec.name}"; appraisers are {", ".join(NAMES)}')
    return cast("Appraiser", _module(spec.name).build(spec))


def _module(name: str) -> ModuleType:
    """Import one appraiser, by a name already checked against NAMES."""
    return import_module(f"{__name__}.{name}")
