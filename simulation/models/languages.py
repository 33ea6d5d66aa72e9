"""The language models of a run: from what a scenario says to what answers.

Nothing is sent here. Keys come from the environment, through `Loaded.key`, which says to which
host they may go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulation.calls.budget import NOTHING, Limits, Spend
from simulation.calls.settings import ModelSettings, Settings
from simulation.calls.switchboard import Switchboard
from simulation.models.targets import provider_spec, targets
from simulation.providers import load
from simulation.scenario.addresses import KEY_VARIABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulation.calls.base import Asker
    from simulation.calls.recorded import Recorded
    from simulation.errors import Problem
    from simulation.models.targets import Target
    from simulation.rng import Streams
    from simulation.scenario import Loaded, Tier


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
    for target in targets(loaded):
        askers |= dict.fromkeys(target.tiers, _asker(board, loaded, target))
    return Languages(switchboard=board, askers=askers)


def _asker(board: Switchboard, loaded: Loaded, target: Target) -> Asker:
    spec = target.spec
    settings = ModelSettings(
        provider=spec.provider,
        model=spec.model or "",
        max_tokens=spec.max_tokens,
        temperature=target.temperature,
        price=target.price,
        effort=spec.effort,
    )
    wanted = provider_spec(loaded, target, spec.structured)
    return board.asker(lambda: load(wanted), settings)


def missing(loaded: Loaded, *, recorded: Recorded | None = None) -> Iterator[Problem]:
    """Yield what a scenario's language models still need: keys, prices.

    recorded: answers that were given before; where they should be enough, nothing is needed.
    """
    if recorded is not None and not recorded.expects_to_ask:
        return
    for target in targets(loaded):
        for tier in target.tiers:
            yield from _lacking(loaded, target, f"models.{tier}")


def _lacking(loaded: Loaded, target: Target, place: str) -> Iterator[Problem]:
    """Yield what a model still needs. place: key of the tier that asks it."""
    spec, host = target.spec, target.hostname
    if target.own and loaded.key(provider=spec.provider, base_url=spec.base_url) is None:
        key = KEY_VARIABLES[spec.provider]
        yield loaded.problem(
            f"{place}.provider", f"{spec.provider} needs a key; set the environment's {key}"
        )
    if target.price is not None:
        return
    if not loaded.access.no_price:
        yield loaded.problem(
            f"{place}.model",
            f"no price is known for {spec.model} at {host}; give {place}.price, or add "
            "--no-price to count no money",
        )
    elif loaded.scenario.budget.usd is not None:
        yield loaded.problem(
            "budget.usd", f"cannot be kept: no price is known for {spec.model} at {host}"
        )
