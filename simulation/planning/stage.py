"""Worlds in which nobody is asked: the engine runs, and somebody stands in for each model.

The engine itself renders every prompt, so what is measured or shown here is what would be sent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simulation import appraisers, prompts
from simulation.calls.base import MODEL_ERROR, Answer
from simulation.engine import Engine
from simulation.errors import InvalidAnswerError
from simulation.models.rule import RuleModel, RuleParameters
from simulation.models.written import WrittenModel
from simulation.rng import Streams
from simulation.scenario import TIERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from simulation.appraisers import Appraiser
    from simulation.calls.base import Call
    from simulation.encoders.base import Encoder
    from simulation.models.base import Model
    from simulation.scenario import Loaded, Tier

P = TypeVar("P")


class StandIn:
    """An `Asker` that is handed every call, and writes the answers itself."""

    def __init__(
        self,
        name: str,
        write: Callable[[Call[Any]], Iterator[str]],
        note: Callable[[Sequence[Call[Any]]], None] | None = None,
    ) -> None:
        """Prepare.

        Args:
            name: Provider and model.
            write: Yields answers to a call; the first that can be read is given. When none can,
                the rule model acts.
            note: Takes each batch of calls.
        """
        self.name = name
        self._write = write
        self._note = note

    def ask(self, calls: Sequence[Call[P]]) -> Sequence[Answer[P]]:
        """Return one answer per call, in their order."""
        if self._note is not None and calls:
            self._note(calls)
        return [self._answer(call) for call in calls]

    def _answer(self, call: Call[P]) -> Answer[P]:
        for text in self._write(call):
            try:
                return Answer(value=call.read(text))
            except InvalidAnswerError:
                continue
        return Answer(value=None, faults=((MODEL_ERROR, "nobody was asked"),))


class OneVector:
    """Stands in for an encoder where no text is to be embedded: all texts are alike, or none is.

    Such texts are told apart by recency and importance alone.
    """

    name = "none"
    width = 1
    sha256 = ""

    def __init__(self, value: float) -> None:
        """Keep the one component, 0 or 1."""
        self._value = value

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 1) of the same value."""
        return np.full((len(texts), self.width), self._value, dtype=np.float32)


def nothing(_: Call[Any]) -> Iterator[str]:
    """Write no answer, so that the rule model acts."""
    yield from ()


def unquarantined(loaded: Loaded) -> Loaded:
    """Return a scenario in which nobody is given up for getting no answers: nobody is asked."""
    calls = loaded.scenario.calls.model_copy(update={"quarantine_after": None})
    return replace(loaded, scenario=loaded.scenario.model_copy(update={"calls": calls}))


def stage(
    loaded: Loaded,
    seed: int | None,
    actors: Mapping[Tier, StandIn],
    *,
    encoder: Encoder | None = None,
) -> Engine:
    """Return an engine whose tiers are played by stand-ins; without one, by the rule model.

    encoder: default, the scenario's.  With another one the embedding appraiser, which is fitted
    to its own, gives way to the lexicon.
    """
    scenario = loaded.scenario
    rule = RuleModel(
        parameters=RuleParameters(**scenario.rule.model_dump(exclude={"credibility"})),
        streams=Streams(scenario.seed if seed is None else seed),
    )
    made: dict[int, Model] = {}
    tiers: list[Model] = []
    for tier in TIERS:
        actor = actors.get(tier)
        if actor is None:
            tiers.append(rule)
            continue
        model = WrittenModel(asker=actor, fallback=rule, repair=prompts.repair)
        tiers.append(made.setdefault(id(actor), model))
    return Engine(
        loaded, seed, tiers=tiers, encoder=encoder, appraiser=_appraiser(loaded, encoder)
    )


def _appraiser(loaded: Loaded, encoder: Encoder | None) -> Appraiser | None:
    if encoder is None or loaded.scenario.affect.appraiser != "embedding":
        return None
    return appraisers.load(appraisers.AppraiserSpec(name="lexicon"))
