"""The language models that a scenario names: where they are, what they cost, how to ask them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from simulation.calls.prices import Price, Tariff, price_of
from simulation.providers import ProviderSpec
from simulation.scenario.addresses import OWN_HOSTS, is_loopback

if TYPE_CHECKING:
    from simulation.scenario import Loaded, Tier
    from simulation.scenario.models import ModelSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A language model and the tiers that ask it.

    host: with its port where the address names one.  hostname: without.  own: the provider's own.
    price: None where nobody knows it.  temperature: None for the provider's own.
    """

    tiers: tuple[Tier, ...]
    spec: ModelSpec
    host: str
    hostname: str
    own: bool
    loopback: bool
    price: Price | None
    temperature: float | None

    @property
    def name(self) -> str:
        """Provider and model, as a run records them."""
        return f"{self.spec.provider}:{self.spec.model}"

    @property
    def tariff(self) -> Tariff | None:
        """What its tokens cost."""
        return None if self.price is None else Tariff(self.price)

    @property
    def place(self) -> str:
        """Where it stands in the scenario."""
        return f"models.{self.tiers[0]}"


def targets(loaded: Loaded) -> tuple[Target, ...]:
    """Return each language model of a scenario once; none for a scenario that is all by rule."""
    scenario = loaded.scenario
    found: list[tuple[ModelSpec, list[Tier]]] = []
    for tier, spec in scenario.languages.items():
        same = next((tiers for other, tiers in found if other == spec), None)
        if same is None:
            found.append((spec, [tier]))
        else:
            same.append(tier)
    return tuple(_target(spec, tuple(tiers), scenario.temperature) for spec, tiers in found)


def provider_spec(loaded: Loaded, target: Target, structured: str) -> ProviderSpec:
    """Return what a provider is built from, with the key that its host may have."""
    spec = target.spec
    return ProviderSpec(
        provider=spec.provider,
        model=spec.model or "",
        base_url=spec.base_url,
        api_key=loaded.key(provider=spec.provider, base_url=spec.base_url),
        structured=structured,
        effort=spec.effort,
        stream=spec.stream,
        timeout=loaded.scenario.calls.timeout,
    )


def _target(spec: ModelSpec, tiers: tuple[Tier, ...], temperature: float | None) -> Target:
    own_host = OWN_HOSTS[spec.provider]
    parts = urlsplit(spec.base_url or f"https://{own_host}")
    name = (parts.hostname or "").rstrip(".")
    return Target(
        tiers=tiers,
        spec=spec,
        host=parts.netloc.lower(),
        hostname=name,
        own=name == own_host,
        loopback=is_loopback(name),
        price=_price(spec, name, own=name == own_host),
        temperature=temperature if spec.temperature is None else spec.temperature,
    )


def _price(spec: ModelSpec, host: str, *, own: bool) -> Price | None:
    """Return what is paid; None where nobody said. A stranger's price is not the owner's."""
    if spec.price is not None:
        return Price(**spec.price.model_dump())
    if not own and not is_loopback(host):
        return None
    return price_of(spec.provider, spec.model or "", host)
