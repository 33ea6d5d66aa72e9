"""The worlds of an estimate: one run, played with models that say little, much, or as the rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from simulation.planning.answers import Wordy, terse
from simulation.planning.stage import OneVector, StandIn, nothing, stage, unquarantined
from simulation.planning.tally import Tally
from simulation.scenario import TIERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simulation.calls.base import Call
    from simulation.engine import Engine
    from simulation.models.targets import Target
    from simulation.planning.measures import Sums
    from simulation.scenario import Loaded

    Measure = Callable[[Call[Any], Target], Sums]
    Write = Callable[[Call[Any]], Iterator[str]]
    Step = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A world that was played: its engine at the end, its turns, and a tally per model."""

    engine: Engine
    turns: int
    tallies: tuple[Tally, ...]


def quiet(
    loaded: Loaded, seed: int | None, found: Sequence[Target], step: Step, *measures: Measure
) -> World:
    """Play a world in which nobody says or does anything, and no two texts are alike."""
    return _play(loaded, seed, found, step, measures, terse, OneVector(0.0))


def worded(
    loaded: Loaded, seed: int | None, found: Sequence[Target], step: Step, *measures: Measure
) -> World:
    """Play a world in which everybody says as much as they can, and all texts are alike."""
    scenario = loaded.scenario
    wordy = Wordy(
        scenario.brief.proposition,
        max_tokens=max(target.spec.max_tokens for target in found),
        varied=scenario.affect.appraiser == "model",
    )
    return _play(_ungated(loaded), seed, found, step, measures, wordy, OneVector(1.0))


def _ungated(loaded: Loaded) -> Loaded:
    """Return a scenario in which no memory cuts in on a search, so that it takes every step."""
    persmem = loaded.scenario.persmem
    if persmem.controller == "rule":
        return loaded
    open_ = persmem.model_copy(update={"gate": persmem.gate.model_copy(update={"mode": "off"})})
    return replace(loaded, scenario=loaded.scenario.model_copy(update={"persmem": open_}))


def ordinary(
    loaded: Loaded, seed: int | None, found: Sequence[Target], step: Step, *measures: Measure
) -> World:
    """Play a world in which the rule model acts for the language models."""
    return _play(loaded, seed, found, step, measures, nothing, OneVector(1.0))


def _play(
    loaded: Loaded,
    seed: int | None,
    found: Sequence[Target],
    step: Step,
    measures: tuple[Measure, ...],
    write: Write,
    encoder: OneVector,
) -> World:
    """Play to the horizon; a tier of the rule model is as terse or as wordy as the others."""
    tallies = tuple(Tally(target=target, measures=measures) for target in found)
    actors = dict.fromkeys(TIERS, StandIn("rule", write))
    for tally in tallies:
        actor = StandIn(tally.target.name, write, tally.note)
        actors |= dict.fromkeys(tally.target.tiers, actor)
    engine = stage(unquarantined(loaded), seed, actors, encoder=encoder)
    turns = 0
    while engine.world.tick < loaded.scenario.horizon:
        rows = engine.advance().of("turns")
        turns += 0 if rows is None else len(rows)
        step()
    return World(engine=engine, turns=turns, tallies=tallies)
