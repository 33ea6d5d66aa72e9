"""The first prompts that a run would send, and what leaves the machine; nothing is sent.

Up to the first turns of tick 1 no answer matters, so these prompts are to the letter those of the
run. From there on the rule model acts in place of the language models: a later prompt, such as
that of a reflection, shows the same parts with other words of the personas' own.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from simulation.models.targets import targets
from simulation.planning.stage import OneVector, StandIn, nothing, stage, unquarantined
from simulation.providers.schemas import strict, whole
from simulation.scenario.addresses import OWN_HOSTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.calls.base import Call
    from simulation.encoders.base import Encoder
    from simulation.models.targets import Target
    from simulation.scenario import Loaded, Scenario, Tier

_ENCODER_HOST = OWN_HOSTS["openai"]
_FIXED = ("probe",)  # purposes whose prompts hold nothing that a model has said
_OFFLINE = ("static", "ngram")  # encoders that read nothing but what ships


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One request. exact: to the letter that of the run.  schema: of the answer; None for text."""

    purpose: str
    tier: str
    tick: int
    persona_id: str | None
    exact: bool
    provider: str
    model: str
    host: str
    system: str
    persona: str
    question: str
    schema: dict[str, Any] | None
    max_tokens: int
    temperature: float | None
    structured: str
    effort: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The first requests of each purpose and tier. leaves: what goes where, in sentences."""

    scenario: str
    requests: tuple[Shown, ...]
    leaves: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON."""
        return asdict(self)


class _Collector:
    """Keeps the first call of each purpose and tier."""

    def __init__(self, *, exact: bool) -> None:
        self.shown: dict[tuple[str, str], Shown] = {}
        self._exact = exact

    def taker(self, target: Target, tier: Tier) -> StandIn:
        """Return who stands in for a tier's model, and shows what it is asked first."""

        def note(calls: Sequence[Call[Any]]) -> None:
            key = (calls[0].purpose, tier)
            if key not in self.shown:
                first = self._exact and calls[0].tick == 1 and key[0] == "turn"
                exact = first or key[0] in _FIXED
                self.shown[key] = _shown(calls[0], target, tier, exact=exact)

        return StandIn(target.name, nothing, note)

    def lacks(self, purposes: Sequence[str]) -> bool:
        """Tell whether one of some purposes was not met yet."""
        return bool(set(purposes) - {purpose for purpose, _ in self.shown})


def preview(loaded: Loaded, *, seed: int | None = None) -> Preview:
    """Return the first requests of a run, rendered by the engine.

    Raises:
        ScenarioError: something in the scenario or its files cannot be used.
        UsageError: the seed cannot be used.
    """
    scenario = loaded.scenario
    found = {tier: target for target in targets(loaded) for tier in target.tiers}
    encoder = None if scenario.encoder.name in _OFFLINE else OneVector(1.0)
    collector = _Collector(exact=encoder is None and scenario.affect.appraiser != "model")
    if found:
        _play(loaded, seed, found, collector, encoder)
    else:
        stage(loaded, seed, {}, encoder=OneVector(0.0))  # is it fit to run?
    return Preview(
        scenario=scenario.name,
        requests=tuple(collector.shown.values()),
        leaves=tuple(_leaves(loaded, tuple(found.values()))),
        notes=tuple(_notes(scenario, collector, found, encoder)),
    )


def _play(
    loaded: Loaded,
    seed: int | None,
    found: dict[Tier, Target],
    collector: _Collector,
    encoder: Encoder | None,
) -> None:
    """Play until every purpose has come up that can, or to the horizon."""
    takers = {tier: collector.taker(target, tier) for tier, target in found.items()}
    engine = stage(unquarantined(loaded), seed, takers, encoder=encoder)
    wanted = tuple(_wanted(loaded.scenario, found))
    while engine.world.tick < loaded.scenario.horizon and collector.lacks(wanted):
        engine.advance()


def _wanted(scenario: Scenario, found: dict[Tier, Target]) -> Iterator[str]:
    """Yield the purposes to wait for."""
    yield "turn"
    if "frontier" in found:
        yield "reflection"
    if "cheap" in found and scenario.probes.share and scenario.probes.every <= scenario.horizon:
        yield "probe"
    if "cheap" in found and scenario.surveys:
        yield "survey"


def _shown(call: Call[Any], target: Target, tier: str, *, exact: bool) -> Shown:
    prompt, spec = call.prompt(), target.spec
    return Shown(
        purpose=call.purpose,
        tier=tier,
        tick=call.tick,
        persona_id=call.persona_id,
        exact=exact,
        provider=spec.provider,
        model=spec.model or "",
        host=target.host,
        system=prompt.system,
        persona=prompt.persona,
        question=prompt.question,
        schema=None if call.schema is None else _sent(call.schema, target),
        max_tokens=call.max_tokens or spec.max_tokens,
        temperature=target.temperature if call.temperature is None else call.temperature,
        structured=spec.structured,
        effort=spec.effort,
    )


def _sent(schema: dict[str, Any], target: Target) -> dict[str, Any]:
    """Return the schema as a server is sent it; the providers' own know only a part of it."""
    return strict(schema, provider=target.spec.provider) if target.own else whole(schema)


def _leaves(loaded: Loaded, found: Sequence[Target]) -> Iterator[str]:
    """Yield what goes to which host."""
    scenario = loaded.scenario
    for target in dict.fromkeys(found):
        asked = " and ".join(target.tiers)
        key = loaded.key(provider=target.spec.provider, base_url=target.spec.base_url)
        sent = "with your key" if key or target.own else "without a key"
        where = "this machine" if target.loopback else target.host
        yield (
            f"{where} gets the prompts of the {asked} tier ({target.name}), {sent}: the brief, "
            "the persona's block and id, its beliefs and memories, and what its feed shows it, "
            "with the ids of those who wrote it"
        )
    if scenario.encoder.name == "openai":
        host = scenario.encoder.base_url or _ENCODER_HOST
        yield f"{host} gets every text that is embedded: persona blocks, stimuli, posts, memories"
    if not found and scenario.encoder.name != "openai":
        yield "nothing leaves this machine: the rule model takes all turns"


def _notes(
    scenario: Scenario,
    collector: _Collector,
    found: dict[Tier, Target],
    encoder: Encoder | None,
) -> Iterator[str]:
    if encoder is not None and found:
        yield (
            f"the encoder {scenario.encoder.name} was not used, so feeds and memories may stand "
            "in another order than in the run"
        )
    if scenario.affect.appraiser == "model" and found:
        yield "nobody was asked how texts feel, so moods may differ from those of the run"
    met = {purpose for purpose, _ in collector.shown}
    for purpose in _wanted(scenario, found) if found else ():
        if purpose not in met:
            yield f"no {purpose} came up in {scenario.horizon} ticks of the rule model"
