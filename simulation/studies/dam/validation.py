"""All measurements of the study, over its seeds.

Source: DAM-LLM, "Experimental Conclusions"; method.md 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simulation.studies.dam import aspects, growth, hearing, separation, unit
from simulation.studies.dam.dialogues import (
    DIALOGUES,
    EXPONENT,
    PER_DIALOGUE,
    SEEDS,
    dialogues,
    sequences,
)
from simulation.studies.dam.growth import WAYS, Way

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.encoders import Encoder
    from simulation.rng import FloatArray
    from simulation.studies.dam.growth import Growth, Recall
    from simulation.studies.dam.hearing import Hearing
    from simulation.studies.dam.separation import Separation
    from simulation.studies.dam.unit import Flip, Stability

QUICK: Final = 40  # dialogues that are heard in the short form
QUICK_SENTENCES: Final = 400  # labelled ones that are read in it
BY_NAME: Final = (WAYS[0], WAYS[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A form of the simulated user. exponent: of Zipf's law."""

    name: str
    per_dialogue: int = PER_DIALOGUE
    exponent: float = EXPONENT


MAIN: Final = World(name="five observations a dialogue")
OTHERS: Final = (
    World(name="Zipf's exponent 1", exponent=1.0),
    World(name="one observation a dialogue", per_dialogue=1),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grown:
    """A stream taken in, with its recalls. seed: None for a real one."""

    world: str
    seed: int | None
    observations: int
    growth: Growth
    recalls: tuple[Recall, ...]

    @property
    def loss(self) -> float:
        """How much worse recall is than in the better memory without updates, by name."""
        return max(one.any_fact - one.ours for one in self.recalls if one.way in BY_NAME)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Validation:
    """What was measured. seeds: those used; the lists follow them."""

    seeds: tuple[int, ...]
    turn: unit.Turn
    accumulated: unit.Path
    intensity: FloatArray
    coffee: tuple[Stability, ...]
    sequences: tuple[Stability, ...]
    separations: tuple[tuple[Separation, ...], ...]
    flips: tuple[tuple[Flip, ...], ...]
    main: tuple[Grown, ...]
    others: tuple[Grown, ...]
    real: tuple[Grown, ...]
    heard: Hearing


def validate(encoder: Encoder, *, quick: bool, labelled: Path | None) -> Validation:
    """Measure everything.

    quick: the first seed alone, and only the main world.  labelled: sentences with labelled
    aspects, None for no real stream.
    """
    seeds = SEEDS[:1] if quick else SEEDS
    return Validation(
        seeds=seeds,
        turn=unit.contradiction(),
        accumulated=unit.accumulation(),
        intensity=unit.intensity(),
        coffee=tuple(unit.stability(unit.coffee(seed)) for seed in seeds),
        sequences=tuple(unit.stability(sequences(seed)) for seed in seeds),
        separations=tuple(
            tuple(
                separation.separate(seed, encoder, liked=liked, merging=merging)
                for liked, merging in ((False, False), (False, True), (True, True))
            )
            for seed in seeds
        ),
        flips=tuple(unit.flips(seed) for seed in seeds),
        main=tuple(seeded(MAIN, seed, encoder, ways=WAYS) for seed in seeds),
        others=tuple(
            seeded(world, seed, encoder, ways=BY_NAME)
            for world in (() if quick else OTHERS)
            for seed in seeds
        ),
        real=real(labelled, encoder, quick=quick) if labelled is not None else (),
        heard=hearing.hear(dialogues(seeds[0], count=QUICK if quick else DIALOGUES), encoder),
    )


def seeded(world: World, seed: int, encoder: Encoder, *, ways: Sequence[Way]) -> Grown:
    """Return the simulated user of a seed, taken in."""
    user = dialogues(seed, per_dialogue=world.per_dialogue, exponent=world.exponent)
    stream = growth.stream_of(user)
    grown = growth.grow(stream, encoder)
    return Grown(
        world=world.name,
        seed=seed,
        observations=len(stream.evidence),
        growth=grown,
        recalls=growth.recalls(stream, grown, encoder, ways=ways),
    )


def real(path: Path, encoder: Encoder, *, quick: bool = False) -> tuple[Grown, ...]:
    """Return labelled sentences, taken in: as of one restaurant, and dealt to sixty.

    quick: the first sentences only.
    """
    sentences = aspects.read(path)[: QUICK_SENTENCES if quick else None]
    found = []
    for world, names in (
        ("reviews, one restaurant", aspects.ONE),
        ("reviews, sixty restaurants", aspects.MANY),
    ):
        stream = aspects.stream(sentences, names)
        grown = growth.grow(stream, encoder)
        found.append(
            Grown(
                world=world,
                seed=None,
                observations=len(stream.evidence),
                growth=grown,
                recalls=growth.recalls(stream, grown, encoder, ways=BY_NAME),
            )
        )
    return tuple(found)
