"""The language models of a run: from what a scenario says to what answers.

Nothing is sent here. Keys come from the environment, through `Loaded.key`, which says to which
host they may go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from simulation.calls.budget import NOTHING, Limits, Spend
from simulation.calls.prices import Price, price_of
from simulation.calls.settings import ModelSettings, Settings
from simulation.calls.switchboard import Switchboard
from simulation.errors import Problem
from simulation.providers import ProviderSpec, load
from simulation.scenario.addresses import KEY_VARIABLES, OWN_HOSTS, is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulation.calls.base import Asker
    from simulation.calls.recorded import Recorded
    from simulation.errors import Problem
    from simulation.rng import Streams
    from simulation.scenario import Loaded, Tier
    from simulation.scenario.models import ModelSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Languages:
    """Who answers for each tier that asks a language model; equal models are one asker."""

    switchboard: Switchboard
    askers: Mapping[Tier, Asker]


def connect(
    loaded: Loaded,
    streams: Streams,
    *,
    recorded: Recorded | None = None,
    spent_before: Spend | None = None,
) -> Languages:
    """Return the language models of a scenario that names some.

    recorded: answers that were given before.  spent_before: what of the budget is gone already.
    Nothing must be `missing`.
    """
    scenario = loaded.scenario
    calls = scenario.calls
    board = Switchboard(
        settings=Settings(
            concurrency=calls.concurrency,
            requests_per_minute=calls.requests_per_minute,
            tries=calls.tries,
            timeout=calls.timeout,
        ),
        limits=Limits(**scenario.budget.model_dump()),
        streams=streams,
        recorded=recorded,
        spent_before=spent_before or NOTHING,
    )
    askers: dict[Tier, Asker] = {}
    for tier, spec in scenario.languages.items():
        twin = next((each for each, other in scenario.languages.items() if other == spec), tier)
        askers[tier] = askers[twin] if twin in askers else _asker(board, loaded, spec)
    return Languages(switchboard=board, askers=askers)


def _asker(board: Switchboard, loaded: Loaded, spec: ModelSpec) -> Asker:
    heat = spec.temperature if spec.temperature is not None else loaded.scenario.temperature
    settings = ModelSettings(
        provider=spec.provider,
        model=spec.model or "",
        max_tokens=spec.max_tokens,
        temperature=heat,
        price=_price(spec),
        effort=spec.effort,
    )
    wanted = ProviderSpec(
        provider=spec.provider,
        model=spec.model or "",
        base_url=spec.base_url,
        api_key=loaded.key(provider=spec.provider, base_url=spec.base_url),
        structured=spec.structured,
        effort=spec.effort,
        stream=spec.stream,
        timeout=loaded.scenario.calls.timeout,
    )
    return board.asker(lambda: load(wanted), settings)


def missing(loaded: Loaded, *, recorded: Recorded | None = None) -> Iterator[Problem]:
    """Yield what a scenario's language models still need: keys, prices.

    recorded: answers that were given before; where they should be enough, nothing is needed.
    """
    if recorded is not None and not recorded.expects_to_ask:
        return
    budget, no_price = loaded.scenario.budget, loaded.access.no_price
    for tier, spec in loaded.scenario.languages.items():
        place = f"models.{tier}"
        host = _host(spec)
        own = spec.base_url is None or host == OWN_HOSTS[spec.provider]
        if own and loaded.key(provider=spec.provider, base_url=spec.base_url) is None:
            key = KEY_VARIABLES[spec.provider]
            yield loaded.problem(
                f"{place}.provider", f"{spec.provider} needs a key; set the environment's {key}"
            )
        if _price(spec) is None and not no_price:
            yield loaded.problem(
                f"{place}.model",
                f"no price is known for {spec.model} at {host}; give {place}.price, or add "
                "--no-price to count no money",
            )
        if _price(spec) is None and no_price and budget.usd is not None:
            yield loaded.problem(
                "budget.usd", f"cannot be kept: no price is known for {spec.model} at {host}"
            )


def _host(spec: ModelSpec) -> str:
    """Return the host that is asked, without its port."""
    if spec.base_url is None:
        return OWN_HOSTS[spec.provider]
    return (urlsplit(spec.base_url).hostname or "").rstrip(".")


def _price(spec: ModelSpec) -> Price | None:
    """Return what a model costs; None where nobody said. A stranger's price is not the owner's."""
    if spec.price is not None:
        return Price(**spec.price.model_dump())
    host = _host(spec)
    if host != OWN_HOSTS[spec.provider] and not is_loopback(host):
        return None
    return price_of(spec.provider, spec.model or "", host)
