"""The study's samples: everything is measured again with each sampling seed.

A seed draws the people and all chance of their recall. Correlations are of each trait and each
measure, alone and with the other traits held.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.rng import Streams, stream_keys
from simulation.studies import corpus, recalling
from simulation.studies.big_five import linking, protocol
from simulation.studies.big_five.profiles import sampled
from simulation.studies.big_five.protocol import (
    CONDITIONS,
    FULL,
    HUMAN,
    MEASURES,
    OWN,
    PAIRED,
    REFERENCE,
    Group,
    Measured,
    Way,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulation.personality.questionnaires import Scored
    from simulation.rng import FloatArray
    from simulation.studies.big_five.profiles import Profiles
    from simulation.studies.big_five.protocol import Condition
    from simulation.studies.recalling import Bank

PROFILES: Final = 50
PEOPLE: Final = 384  # as many as the figures of people are about
TWO: Final = 2  # memories that each of them told


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replicate:
    """A sample. measured: by condition."""

    seed: int
    people: Profiles
    measured: Mapping[str, Measured]


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Correlations over S samples. alone, held: (S, measures, traits), NaN where undefined."""

    alone: FloatArray
    held: FloatArray

    def of(self, measure: str, trait: int, *, held: bool = False) -> FloatArray:
        """Return one of them in each sample, (S,)."""
        return (self.held if held else self.alone)[:, MEASURES.index(measure), trait]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variant:
    """The same samples measured in another way. levels: (S, measures) mean over people."""

    name: str
    links: Links
    levels: FloatArray


def replicates(bank: Bank, seeds: Sequence[int], scored: Scored | None) -> Iterator[Replicate]:
    """Yield the samples of the study, every condition measured."""
    for seed in seeds:
        people = sampled(PROFILES, seed=seed, scored=scored)
        group = Group(bank=bank, people=people, seed=seed)
        measured = {one.name: protocol.measure(group, one) for one in CONDITIONS}
        yield Replicate(seed=seed, people=people, measured=measured)


def links(samples: Sequence[tuple[Profiles, Measured]]) -> Links:
    """Return all correlations of some samples."""
    alone, held = [], []
    for people, measured in samples:
        values = measured.values().values()
        alone.append([linking.correlations(people.traits, y) for y in values])
        held.append([linking.partials(people.traits, y) for y in values])
    return Links(alone=np.array(alone), held=np.array(held))


ROBUST: Final = (
    ("as told", FULL, Way()),
    ("each person its own random numbers", FULL, Way(streams=OWN)),
    ("OGM with shared random numbers", FULL, Way(ogm_streams=PAIRED)),
    ("OGM from the twelve best", FULL, Way(ogm_candidates=12)),
    ("affect as the person feels it", FULL, Way(felt=True)),
    ("fixed gains (no map)", REFERENCE, Way()),
)
SENSITIVE: Final = (
    ("as told", FULL, Way()),
    *((f"from the {k} best", FULL, Way(candidates=k)) for k in (3, 6, 24, 48)),
    ("from all memories", FULL, Way(candidates=320)),
    *((f"temperature x {x:g}", FULL, Way(heat=x)) for x in (0.25, 0.5, 2.0, 4.0)),
    *((f"similarity x {x:g}", FULL, Way(alpha=x)) for x in (0.0, 0.5, 2.0)),
    ("N does not raise the weight of affect", FULL, Way(beta_x=0.0)),
)
FEW_SAMPLES: Final = 5
WIDTHS: Final = (6, 12, 24, 61, 320)  # 61 of 320 are 12 of the 63 that the map was fitted on
SECOND: Final = "labels of the second reader"


def variant(
    name: str, condition: Condition, way: Way, done: Sequence[Replicate], bank: Bank
) -> Variant:
    """Return the samples measured in another way."""
    samples = []
    for one in done:
        group = Group(bank=bank, people=one.people, seed=one.seed, way=way)
        samples.append((one.people, protocol.measure(group, condition)))
    levels = [[float(y.mean()) for y in m.values().values()] for _, m in samples]
    return Variant(name=name, links=links(samples), levels=np.array(levels))


def robust(done: Sequence[Replicate], bank: Bank) -> list[Variant]:
    """Return the main condition, measured in other defensible ways."""
    found = [variant(*case, done, bank) for case in ROBUST]
    other = recalling.bank(corpus.second(bank.corpus), bank.encoder)
    return [*found, variant(SECOND, FULL, Way(), done, other)]


def sensitive(done: Sequence[Replicate], bank: Bank) -> list[Variant]:
    """Return the main condition with other constants; the map stays as it is.

    Of the first few samples only: it is no claim, and takes half a minute.
    """
    return [variant(*case, done[:FEW_SAMPLES], bank) for case in SENSITIVE]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Telling:
    """Samples of many people with random numbers of their own. by: what they recalled."""

    condition: str
    by: str
    links: Links
    levels: FloatArray
    spreads: FloatArray


TOLD, EIGHTEEN = "two memories", "eighteen memories"
UNWEIGHTED: Final = f"{EIGHTEEN}, N does not raise the weight of affect"


def tellings(
    bank: Bank, seeds: Sequence[int], scored: Scored | None, *, count: int = PEOPLE
) -> list[Telling]:
    """Return what many people recall: two memories each, as people were asked, and eighteen."""
    groups = _tellers(bank, seeds, scored, count)
    found = []
    for condition in (HUMAN, FULL, REFERENCE):
        told = [(group.people, two_memories(group, condition)) for group in groups]
        found.append(_telling(condition.name, TOLD, told))
    many = [(group.people, protocol.measure(group, HUMAN)) for group in groups]
    return [*found, _telling(HUMAN.name, EIGHTEEN, many)]


def other_tellings(
    bank: Bank, seeds: Sequence[int], scored: Scored | None, *, count: int
) -> list[Telling]:
    """Return what many people with human gains recall with other constants.

    Eighteen memories, as told and where N does not raise the weight of affect; and two memories
    from more or fewer of the best scores.
    """
    groups = _tellers(bank, seeds[:FEW_SAMPLES], scored, count)
    found = []
    for name, weight in ((EIGHTEEN, 0.5), (UNWEIGHTED, 0.0)):
        ways = [replace(group, way=replace(group.way, beta_x=weight)) for group in groups]
        many = [(group.people, protocol.measure(group, HUMAN)) for group in ways]
        found.append(_telling(HUMAN.name, name, many))
    for k in WIDTHS:
        ways = [replace(group, way=replace(group.way, candidates=k)) for group in groups]
        told = [(group.people, two_memories(group, HUMAN)) for group in ways]
        found.append(_telling(HUMAN.name, f"{TOLD}, from the {k} best", told))
    return found


def _tellers(bank: Bank, seeds: Sequence[int], scored: Scored | None, count: int) -> list[Group]:
    return [
        Group(
            bank=bank,
            people=sampled(count, seed=seed, scored=scored),
            seed=seed,
            way=Way(streams=OWN),
        )
        for seed in seeds
    ]


def two_memories(group: Group, condition: Condition) -> Measured:
    """Return what people recall to two of the six prompts, one memory each.

    The prompts are drawn evenly. There is no other measure of overgenerality than the share of
    overgeneral ones among the two, so it stands for OGM, too.
    """
    if condition.spec is None:
        raise ValueError(f"{condition.name} recalls without a mind")
    minds = group.minds(condition.spec, group.way.candidates)
    every = group.folded(minds.passive(group.ask("two", OWN), count=1))
    keys = stream_keys(group.people.ids)
    lots = Streams(group.seed).uniform(
        "prompts", tick=0, keys=keys[:, None], index=np.arange(len(protocol.PROMPTS))
    )
    asked = np.argsort(lots, axis=1, kind="stable")[:, :TWO]
    places = np.take_along_axis(every, asked, axis=1)
    corpus = group.bank.corpus
    share = corpus.overgeneral[places].mean(axis=1)
    affect = corpus.affect[places].mean(axis=1)
    return Measured(affect=affect, overgeneral=share, ogm=share)


def _telling(condition: str, by: str, samples: Sequence[tuple[Profiles, Measured]]) -> Telling:
    values = [list(m.values().values()) for _, m in samples]
    return Telling(
        condition=condition,
        by=by,
        links=links(samples),
        levels=np.array([[float(y.mean()) for y in row] for row in values]),
        spreads=np.array([[float(y.std()) for y in row] for row in values]),
    )
