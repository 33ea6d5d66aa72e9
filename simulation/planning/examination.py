"""Whether the models and the encoder of a scenario can be used: free checks, then a tiny call."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from simulation import encoders
from simulation.errors import EncoderError, InputError
from simulation.models.languages import missing
from simulation.models.targets import provider_spec, targets
from simulation.providers import MODES, load
from simulation.providers.base import Prompt, ProviderError, Request, RequestError
from simulation.scenario.addresses import OWN_HOSTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.models.targets import Target
    from simulation.providers.base import Completion, Provider
    from simulation.scenario import Loaded

QUESTION: Final = Prompt(
    system="You check a connection. Answer with one JSON object and nothing else.",
    persona="",
    question='Answer with this JSON object: {"answer": "yes"}',
)
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["yes"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
"""What a model is asked, and how it has to answer."""

TAKEN, NOT_TAKEN, NOT_SET = "taken", "not taken", "not set"

_TEXTS: Final = ("A text.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinding:
    """What was found out about a language model.

    key: `set`, `not set`, or `not sent` where the host may have none.  price: USD per million
    tokens read and written, None where unknown.  What follows is None where no call was made:
    latency_s, tokens as the server told them (None where it did not), structured: the way of
    asking for JSON that it takes.  temperature, effort: `taken`, `not taken`, `not set`.
    usage: whether it tells the tokens.  notes: what else it said.  problem: why it cannot be
    used; None for nothing.
    """

    tiers: tuple[str, ...]
    model: str
    host: str
    key: str
    price: tuple[float, float] | None
    latency_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    structured: str | None = None
    temperature: str = NOT_SET
    effort: str = NOT_SET
    usage: bool | None = None
    notes: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderFinding:
    """What was found out about the encoder. width: None where it was not asked."""

    name: str
    host: str | None
    key: str
    width: int | None = None
    latency_s: float | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What was found out. models: none for a scenario that is all by rule."""

    models: tuple[ModelFinding, ...]
    encoder: EncoderFinding

    @property
    def ok(self) -> bool:
        """Whether all can be used."""
        return self.encoder.problem is None and all(m.problem is None for m in self.models)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, ready for JSON."""
        return {"ok": self.ok, **asdict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A tiny call that was answered."""

    mode: str
    completion: Completion
    seconds: float
    notes: tuple[str, ...]


def examine(loaded: Loaded, *, free: bool = False) -> Examination:
    """Ask every configured model, and the encoder, whether it can be used.

    free: leave out what may be billed: the call to each model, and to an encoder elsewhere.
    """
    found = targets(loaded)
    models = tuple(_model(loaded, target, free=free) for target in found)
    return Examination(models=models, encoder=_encoder(loaded, free=free))


def _model(loaded: Loaded, target: Target, *, free: bool) -> ModelFinding:
    price = None if target.price is None else (target.price.input, target.price.output)
    finding = ModelFinding(
        tiers=target.tiers,
        model=target.name,
        host=target.host,
        key=_key(loaded, target.spec.provider, target.spec.base_url),
        price=price,
    )
    places = [f"models.{tier}." for tier in target.tiers]
    lacking = [
        problem.message
        for problem in missing(loaded)
        if problem.where == "budget.usd" or problem.where.startswith(tuple(places))
    ]
    if lacking:
        return replace(finding, problem="; ".join(dict.fromkeys(lacking)))
    try:
        return asyncio.run(_asked(loaded, target, finding, free=free))
    except (ProviderError, InputError) as error:
        return replace(finding, problem=str(error))


async def _asked(
    loaded: Loaded, target: Target, finding: ModelFinding, *, free: bool
) -> ModelFinding:
    """Return a finding with what the free check, and the call, add.

    Raises:
        ProviderError: the model cannot be used.
        UsageError: a setting cannot be.
    """
    provider = load(provider_spec(loaded, target, target.spec.structured))
    try:
        await provider.check()
    finally:
        await provider.close()
    if free:
        return finding
    call = await _first_that_fits(loaded, target)
    said = call.completion
    told = said.input_tokens is not None and said.output_tokens is not None
    return replace(
        finding,
        latency_s=round(call.seconds, 3),
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
        structured=call.mode,
        temperature=_taken("temperature", target.temperature, call.notes),
        effort=_taken("effort", target.spec.effort, call.notes),
        usage=told,
        notes=call.notes,
        problem=_invalid(said),
    )


async def _first_that_fits(loaded: Loaded, target: Target) -> _Call:
    """Return the call in the best way of asking for JSON that works, or else the last.

    Raises:
        ProviderError: there is no answer.
    """
    wanted = target.spec.structured
    modes = MODES[target.spec.provider] if wanted == "auto" else (wanted,)
    refused: list[str] = []
    for mode in modes:
        provider = load(provider_spec(loaded, target, mode))
        try:
            call = await _tiny(provider, target, mode, refused)
        except RequestError as error:  # such as a server that takes no JSON Schema
            if mode == modes[-1]:
                raise
            refused.append(f"{mode}: {error}")
            continue
        finally:
            await provider.close()
        if mode == modes[-1] or _invalid(call.completion) is None:
            return call
        refused.append(f"{mode}: the server takes it, but the answer does not keep to it")
    raise AssertionError("there is at least one way")  # pragma: no cover


async def _tiny(provider: Provider, target: Target, mode: str, refused: Sequence[str]) -> _Call:
    request = Request(
        prompt=QUESTION,
        schema=SCHEMA,
        max_tokens=target.spec.max_tokens,
        temperature=target.temperature,
    )
    started = time.monotonic()
    completion = await provider.complete(request)
    return _Call(
        mode=mode,
        completion=completion,
        seconds=time.monotonic() - started,
        notes=(*refused, *provider.notes),
    )


def _invalid(said: Completion) -> str | None:
    """Return why an answer cannot be used, or None."""
    if said.finish == "length":
        return "the answer was cut off at max_tokens; a model that thinks needs more"
    try:
        given = json.loads(said.text)
    except ValueError:
        given = None
    if isinstance(given, dict) and isinstance(given.get("answer"), str):
        return None
    return "it answers, but not with the JSON object that it is asked for"


def _taken(feature: str, value: object, notes: Sequence[str]) -> str:
    if value is None:
        return NOT_SET
    refused = any(f" {feature}" in note and "does not take" in note for note in notes)
    return NOT_TAKEN if refused else TAKEN


def _key(loaded: Loaded, provider: str, base_url: str | None) -> str:
    """Return whether there is a key for an address; the key itself is never told."""
    if loaded.key(provider=provider, base_url=base_url) is not None:
        return "set"
    own = base_url is None or OWN_HOSTS[provider] in base_url
    return "not set" if own else "not sent"


def _encoder(loaded: Loaded, *, free: bool) -> EncoderFinding:
    spec = loaded.scenario.encoder
    remote = spec.name == "openai"
    finding = EncoderFinding(
        name=spec.name if spec.model is None else f"{spec.name}:{spec.model}",
        host=(spec.base_url or OWN_HOSTS["openai"]) if remote else None,
        key=_key(loaded, "openai", spec.base_url) if remote else "not needed",
    )
    folder = loaded.files.get("encoder.model")
    try:
        encoder = encoders.load(
            encoders.EncoderSpec(
                name=spec.name,
                model=str(folder) if folder else spec.model,
                base_url=spec.base_url,
                api_key=loaded.key(provider="openai", base_url=spec.base_url) if remote else None,
                batch_size=spec.batch_size,
            )
        )
        if remote and free:
            return finding
        started = time.monotonic()
        width = encoder.encode(_TEXTS).shape[1]
    except (EncoderError, InputError) as error:
        return replace(finding, problem=str(error))
    return replace(finding, width=width, latency_s=round(time.monotonic() - started, 3))
