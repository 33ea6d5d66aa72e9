"""The world at tick 0: a scenario and a seed become personas, a network and events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation import graph, ontology, personality, population
from simulation.appraisal import Appraisals
from simulation.disposition import Disposition
from simulation.errors import EmptyPersonaBlockError, Problem, ScenarioError
from simulation.memory import MemoryStore
from simulation.mind import cadence
from simulation.models.base import Cast
from simulation.rng import Streams, stream_keys
from simulation.spelling import did_you_mean
from simulation.texts import Texts
from simulation.world import Event, Network, World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.appraisers import Appraiser
    from simulation.encoders.base import Encoder
    from simulation.ontology import Ontology
    from simulation.population import People
    from simulation.records import BoolArray
    from simulation.scenario import Loaded, Scenario
    from simulation.scenario.model import Stimulus


def found(
    loaded: Loaded, seed: int, encoder: Encoder, appraiser: Appraiser | None
) -> tuple[World, Ontology, People]:
    """Return the world at tick 0, with its ontology and people.

    appraiser: where personas have a personality.

    Raises:
        ScenarioError: the ontology, the population, its personality or the graph cannot be built.
        EmptyPersonaBlockError: a persona has nothing to be conditioned on.
    """
    scenario, streams, source = loaded.scenario, Streams(seed), str(loaded.path or loaded.name)
    field = ontology.load(scenario.ontology, path=loaded.files.get("ontology"))
    traits = scenario.population.personality
    _refuse(
        loaded,
        [
            *graph.spec_problems(scenario.graph, ontology=field),
            *personality.spec_problems(traits, ontology=field),
        ],
    )
    try:
        people = population.build(
            scenario.population,
            targets=scenario.targets,
            tier=scenario.tier,
            ontology=field,
            streams=streams,
            file=loaded.files.get("population.source"),
            source=source,
        )
        personalities = personality.build(
            traits, people=people, ontology=field, streams=streams, source=source
        )
    except ScenarioError as error:
        if error.source == source:
            _refuse(loaded, error.problems)
        raise
    follows = graph.build(
        scenario.graph,
        people=people,
        streams=streams,
        file=loaded.files.get("graph.file"),
        ontology=field,
    )
    cast = _cast(scenario, field, people)
    reflection = scenario.reflection
    interval = [
        cadence.interval(
            seed, i, minimum=reflection.interval_min, spread=reflection.interval_spread
        )
        for i in people.ids
    ]
    texts = Texts(encoder.encode, width=encoder.width)
    disposition = (
        Disposition(
            personalities, scenario.persmem, Appraisals(appraiser, texts), tau=scenario.tau
        )
        if appraiser is not None
        else None
    )
    world = World.found(
        cast=cast,
        events=_events(loaded, field, people),
        activity=people.activity,
        tier=people.tiers,
        interval=np.array(interval, dtype=np.int64),
        beliefs=people.beliefs,
        network=Network.of(follows, len(people.ids)),
        memory=MemoryStore(
            len(people.ids),
            cap=scenario.memory.cap,
            reflection_cap=scenario.memory.reflection_cap,
            affect=disposition is not None,
        ),
        texts=texts,
        peer_credibility=scenario.rule.credibility.peer,
        personality=personalities,
        disposition=disposition,
        notes=follows.notes,
    )
    return world, field, people


def _cast(scenario: Scenario, field: Ontology, people: People) -> Cast:
    brief = scenario.brief
    portraits = field.portraits(people.attributes)
    for persona_id, block in zip(people.ids, portraits.blocks, strict=True):
        if not block.strip():
            raise EmptyPersonaBlockError(persona_id)
    weights = [[claim.weights.get(d, 0.0) for d in brief.dimensions] for claim in brief.claims]
    return Cast(
        ids=people.ids,
        keys=stream_keys(people.ids),
        blocks=portraits.blocks,
        voices=portraits.voices,
        receptivity=portraits.receptivity,
        voice=portraits.voice,
        scepticism=portraits.scepticism,
        brand=brief.brand,
        proposition=brief.proposition,
        dimensions=brief.dimensions,
        claims=tuple(claim.id for claim in brief.claims),
        claim_texts=tuple(claim.text for claim in brief.claims),
        weights=np.array(weights, dtype=np.float64).reshape(
            len(brief.claims), len(brief.dimensions)
        ),
    )


def _events(loaded: Loaded, field: Ontology, people: People) -> tuple[Event, ...]:
    """Return one event per stimulus and tick, in order of the scenario."""
    scenario, problems = loaded.scenario, list[Problem]()
    claims = {claim.id: i for i, claim in enumerate(scenario.brief.claims)}
    credibility = scenario.rule.credibility.model_dump()
    events: list[Event] = []
    for i, stimulus in enumerate(scenario.stimuli):
        audience = _audience(field, people, i, stimulus, problems)
        name = stimulus.id or f"s{i + 1}"
        several = isinstance(stimulus.tick, tuple)
        ticks = stimulus.tick if isinstance(stimulus.tick, tuple) else (stimulus.tick,)
        events += [
            Event(
                id=f"{name}-{tick}" if several else name,
                tick=tick,
                kind=stimulus.kind,
                source=stimulus.source,
                text=stimulus.text,
                claim=claims.get(stimulus.claim or "", -1),
                stance=stimulus.stance,
                credibility=(
                    credibility[stimulus.kind]
                    if stimulus.credibility is None
                    else stimulus.credibility
                ),
                sponsored=stimulus.kind == "ad"
                or stimulus.source in ("brand", scenario.brief.brand),
                reach=stimulus.reach,
                audience=audience,
            )
            for tick in ticks
        ]
    _refuse(loaded, problems)
    return tuple(events)


def _refuse(loaded: Loaded, problems: Sequence[Problem]) -> None:
    """Refuse the scenario when there are problems, each with its line."""
    if problems:
        located = [loaded.problem(problem.where, problem.message) for problem in problems]
        raise ScenarioError(str(loaded.path or loaded.name), located)


def _audience(
    field: Ontology,
    people: People,
    index: int,
    stimulus: Stimulus,
    problems: list[Problem],
) -> BoolArray:
    """Return whom a stimulus is meant for, (P,); note unknown attributes and values."""
    wanted = np.ones(len(people.ids), dtype=bool)
    names = [attribute.id for attribute in field.attributes]
    for name, values in stimulus.audience.items():
        where = f"stimuli[{index}].audience.{name}"
        if name not in field:
            message = f'"{name}" is not an attribute{did_you_mean(name, names)}'
            problems.append(Problem(where=where, message=message))
            continue
        allowed = set()
        for value in values:
            try:
                allowed.add(field[name].canonical(value))
            except ValueError as error:
                problems.append(Problem(where=where, message=f'"{value}" {error}'))
        wanted &= np.array([a.get(name) in allowed for a in people.attributes], dtype=bool)
    return wanted
