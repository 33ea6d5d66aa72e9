"""Providers of language models; each loads its SDK only when asked for.

>>> provider = load(ProviderSpec(provider="openai", model="m", base_url="http://localhost:1/v1"))
>>> provider.host
'localhost:1'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from simulation.errors import UsageError
from simulation.providers.spec import EFFORTS, ProviderSpec
from simulation.spelling import did_you_mean

if TYPE_CHECKING:
    from simulation.providers.base import Provider

__all__ = ["MODES", "NAMES", "ProviderSpec", "load"]

MODES = {
    "anthropic": ("json_schema", "tool", "plain"),
    "openai": ("json_schema", "json_object", "plain"),
}
"""By provider, the ways of asking for JSON, best first; `auto` goes down them where it must."""

NAMES = tuple(MODES)
"""The providers that a scenario may name."""


def load(spec: ProviderSpec) -> Provider:
    """Return the provider that `spec` names; only its SDK is imported, and nothing is sent yet.

    Raises:
        UsageError: the name or a setting is unknown, or the provider's own host has no key.
    """
    _check(spec.provider, NAMES, "provider")
    _check(spec.structured, ("auto", *MODES[spec.provider]), f"structured of {spec.provider}")
    _check(spec.effort or EFFORTS[0], EFFORTS, "effort")
    module = import_module(f"{__name__}.{spec.provider}")
    return cast("Provider", module.build(spec, MODES[spec.provider]))


def _check(word: str, allowed: tuple[str, ...], what: str) -> None:
    """Refuse a word that is not among those allowed."""
    if word not in allowed:
        raise UsageError(
            f'{what} cannot be "{word:.60}"; it can be {", ".join(allowed)}'
            f"{did_you_mean(word, allowed)}"
        )
