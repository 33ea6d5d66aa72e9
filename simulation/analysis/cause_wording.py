"""Why two runs part, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulation.analysis.causes import Cause

_FEW = 5
_LONG = 70
_LISTS = {  # kinds that are told together: one, several
    "setting": ("the setting", "settings"),
    "model": ("the model of tier", "the models of tiers"),
    "package": ("the version of", "the versions of"),
}


def why(causes: Sequence[Cause]) -> list[str]:
    """Return what can be the reason, as lines; of several reasons nobody can say which."""
    told = [*_lists(causes), *_single(causes)]
    if len(told) == 1:
        return [f"Why: {told[0]}."]
    return ["Why: any of these can be the reason.", *(f"  {each}" for each in told)]


def _lists(causes: Sequence[Cause]) -> Iterable[str]:
    for kind, (one, several) in _LISTS.items():
        names = [cause.name for cause in causes if cause.kind == kind]
        if names:
            more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
            verb = "differs" if len(names) == 1 else "differ"
            noun = one if len(names) == 1 else several
            yield f"{noun} {', '.join(names[:_FEW])}{more} {verb}"


def _single(causes: Sequence[Cause]) -> Iterable[str]:
    for cause in causes:
        if cause.kind not in _LISTS:
            yield _SAID[cause.kind](cause)


def _seed(cause: Cause) -> str:
    return f"the seed differs ({_both(cause.values)}), and with it all chance"


def _engine(cause: Cause) -> str:
    return f"the engine's version differs ({_both(cause.values)})"


def _encoder(cause: Cause) -> str:
    return f"the encoder differs ({_both(cause.values)})"


def _reply(cause: Cause) -> str:
    first, second = (_cut(str(value)) for value in cause.values)
    return (
        f"a language model answered the same request in two ways, first in {_place(cause)}: "
        f"{first} and {second}"
    )


def _request(cause: Cause) -> str:
    alone = "only one run asked" if None in cause.values else "each run asked something else"
    return f"requests to a language model differ, first in {_place(cause)}: {alone}"


def _personas(_: Cause) -> str:
    return "a file of the population or the ontology has changed: personas are not the same"


def _graph(_: Cause) -> str:
    return "a file of the graph has changed: the follows are not the same"


def _unknown(_: Cause) -> str:
    return (
        "unknown: scenario, seed, engine, encoder, packages and model calls agree. Another "
        "processor may round in another way"
    )


_SAID = {
    "seed": _seed,
    "engine": _engine,
    "encoder": _encoder,
    "model_reply": _reply,
    "model_request": _request,
    "personas": _personas,
    "graph": _graph,
    "unknown": _unknown,
}


def _place(cause: Cause) -> str:
    who = f", persona {cause.persona_id}" if cause.persona_id else ""
    return f"tick {cause.tick}{who}, {cause.name}"


def _both(values: tuple[Any, Any]) -> str:
    return f"{values[0]} and {values[1]}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
