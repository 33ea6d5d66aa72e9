"""Settings that have no effect where they stand: no error, but surely not what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.scenario.model import Scenario
    from simulation.scenario.parts import Part

_GENERATED = ("watts_strogatz", "barabasi_albert", "stochastic_block", "homophily")
_GROUPED = ("stochastic_block", "homophily")
_GRAPH = {  # the kinds of graph that look at a key
    "degree": _GENERATED,
    "rewire": ("watts_strogatz",),
    "by": _GROUPED,
    "within": _GROUPED,
    "file": ("edges",),
    "directed": ("edges",),
    "assign": ("edges",),
}
_SERVED = (
    "model",
    "base_url",
    "temperature",
    "max_tokens",
    "price",
    "structured",
    "effort",
    "stream",
)
_CALLS = ("concurrency", "requests_per_minute", "tries", "timeout", "quarantine_after")


def without_effect(scenario: Scenario) -> tuple[str, ...]:
    """Return a sentence for each value that was given and changes nothing, with its key path."""
    parts = (_graph, _recall, _encoder, _models, _calls)
    return tuple(sentence for part in parts for sentence in part(scenario))


def _given(part: Part, key: str) -> bool:
    return key in part.model_fields_set and getattr(part, key) not in (None, ())


def _graph(scenario: Scenario) -> Iterator[str]:
    graph = scenario.graph
    for key, kinds in _GRAPH.items():
        if graph.kind not in kinds and _given(graph, key):
            yield f"graph.{key}: has no effect with kind {graph.kind}"


def _recall(scenario: Scenario) -> Iterator[str]:
    recall, mode = scenario.recall, scenario.recall_mode
    unused = {"none": ("k", "tau"), "persmem": ("k",)}
    unused |= dict.fromkeys(("random", "semantic", "hybrid"), ("tau",))
    for key in unused.get(mode, ()):
        if _given(recall, key):
            yield f"recall.{key}: has no effect with mode {mode}"


def _encoder(scenario: Scenario) -> Iterator[str]:
    encoder = scenario.encoder
    unused = {"static": ("base_url", "batch_size"), "sentence_transformers": ("base_url",)}
    unused["ngram"] = ("model", "base_url", "batch_size")
    for key in unused.get(encoder.name, ()):
        if _given(encoder, key):
            yield f"encoder.{key}: has no effect with the encoder {encoder.name}"


def _models(scenario: Scenario) -> Iterator[str]:
    for tier, spec in (("cheap", scenario.models.cheap), ("frontier", scenario.models.frontier)):
        for key in _SERVED if spec.provider == "rule" else ():
            if _given(spec, key):
                yield f"models.{tier}.{key}: has no effect with the provider rule"


def _calls(scenario: Scenario) -> Iterator[str]:
    if scenario.languages:
        return
    for part, keys in (("budget", ("usd", "calls", "tokens")), ("calls", _CALLS)):
        for key in keys:
            if _given(getattr(scenario, part), key):
                yield f"{part}.{key}: has no effect with the provider rule"
    if _given(scenario, "temperature"):
        yield "temperature: has no effect with the provider rule"
