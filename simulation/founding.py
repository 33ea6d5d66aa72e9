"""The world at tick 0: a scenario and a seed become personas, a network and events."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from simulation import graph, ontology, personality, population
from simulation.appraisal import Appraisals
from simulation.disposition import Disposition
from simulation.errors import EmptyPersonaBlockError, Problem, ScenarioError
from simulation.memory import MemoryStore
from simulation.mind import cadence
from simulation.models.base import Cast
from simulation.regards import Regards
from simulation.rng import Streams, stream_keys
from simulation.scenario import Access, DraftError, read_scenario, without_effect
from simulation.spelling import did_you_mean, listed
from simulation.texts import Texts
from simulation.units import Rules, UnitStore
from simulation.world import Event, Network, World
from simulation.yaml_reading import lies_in, parse_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from simulation.appraisers import Appraiser
    from simulation.encoders.base import Encoder
    from simulation.graph import Follows
    from simulation.ontology import Attribute, Ontology
    from simulation.personality import Personalities
    from simulation.population import People
    from simulation.records import BoolArray, IntArray
    from simulation.scenario import Loaded, Scenario
    from simulation.scenario.model import Stimulus
    from simulation.yaml_reading import KeyPath

_STANCES = {"correction": -1.0, "question": 0.0}  # where a stimulus says none; all others affirm


def read(
    path: str | Path, *, settings: Sequence[str] = (), access: Access | None = None
) -> Loaded:
    """Return the scenario of a file, as `read_scenario` does, or all that is wrong with it.

    A scenario with problems is founded as far as it goes, so that what its ontology, population
    and graph do not allow is told in the same report.

    Raises:
        ScenarioError: with every problem of the file, the settings and the files it names.
    """
    try:
        loaded = read_scenario(path, settings=settings, access=access or Access())
    except DraftError as error:
        if error.rest is not None:
            tell_all(error.rest, error.problems, told=error.told)
        raise
    return loaded


def tell_all(
    loaded: Loaded, before: Sequence[Problem], *, told: frozenset[KeyPath] = frozenset()
) -> None:
    """Raise problems that are known, and those of founding, together.

    told: places with a problem of reading, which founding has nothing to add to.

    Raises:
        ScenarioError: with all of them.
    """
    report = _Report(loaded, told)
    _parts(loaded, Streams(loaded.scenario.seed), report)
    report.stop_if_any(before)


class _Report:
    """What founding finds wrong, gathered before any of it is told."""

    def __init__(self, loaded: Loaded, told: Collection[KeyPath] = ()) -> None:
        self._loaded = loaded
        self._told = frozenset(told)
        self._name = str(loaded.path or loaded.name)
        self._own: list[Problem] = []
        self._files: list[ScenarioError] = []
        self._pointed: list[Problem] = []

    @property
    def is_empty(self) -> bool:
        return not self._own and not self._files

    def doubts(self, *keys: str) -> bool:
        """Return whether something under one of some keys was refused by reading."""
        return any(place[:1] == (key,) for place in self._told for key in keys)

    def add(self, problems: Iterable[Problem]) -> None:
        """Note problems with key paths of the scenario, each with its line there."""
        for each in problems:
            path = parse_path(each.where) or ()
            if not self._is_told(path):
                self._own.append(self._loaded.problem(each.where, each.message))

    def take(self, error: ScenarioError, *, key: str) -> None:
        """Note the problems of a part; those of a file are told of the key that names it."""
        if error.source != str(self._loaded.files.get(key)):
            self.add(error.problems)
            return
        self._files.append(error)
        for each in population.pointed(error, where=key):
            self._pointed.append(self._loaded.problem(each.where, each.message))

    def stop_if_any(self, before: Sequence[Problem] = ()) -> None:
        """Raise what was found; the problems of a single file keep its name and lines."""
        own = [*before, *self._own]
        if not own and len(self._files) == 1:
            raise self._files[0]
        if own or self._files:
            raise ScenarioError(self._name, [*own, *self._pointed])

    def _is_told(self, path: KeyPath) -> bool:
        return bool(path) and (
            lies_in(path, self._told) or any(told[: len(path)] == path for told in self._told)
        )


def found(
    loaded: Loaded, seed: int, encoder: Encoder, appraiser: Appraiser | None
) -> tuple[World, Ontology, People]:
    """Return the world at tick 0, with its ontology and people.

    appraiser: where personas have a personality.

    Raises:
        ScenarioError: the ontology, the population, its personality or the graph cannot be built;
            it carries every problem of all of them.
        EmptyPersonaBlockError: a persona has nothing to be conditioned on.
    """
    scenario, report = loaded.scenario, _Report(loaded)
    field, people, follows = _parts(loaded, Streams(seed), report)
    report.stop_if_any()
    if field is None or people is None or follows is None:  # pragma: no cover - was reported
        raise AssertionError
    reflection = scenario.reflection
    interval = [
        cadence.interval(
            seed, i, minimum=reflection.interval_min, spread=reflection.interval_spread
        )
        for i in people.ids
    ]
    world = world_of(
        scenario,
        field,
        people,
        personalities=_personalities(loaded, field, people, Streams(seed), report),
        interval=np.array(interval, dtype=np.int64),
        network=Network.of(follows, len(people.ids)),
        texts=Texts(encoder.encode, width=encoder.width),
        appraiser=appraiser,
        notes=_notes(scenario, people, follows),
    )
    return world, field, people


def world_of(
    scenario: Scenario,
    field: Ontology,
    people: People,
    *,
    personalities: Personalities,
    interval: IntArray,
    network: Network,
    texts: Texts,
    appraiser: Appraiser | None,
    notes: tuple[str, ...],
    blocks: Sequence[str] | None = None,
) -> World:
    """Return the world at tick 0 of people who are known, wherever they come from.

    interval: (P,) turns between reflections.  texts: may hold some already.  appraiser: where
    personas have a personality.  blocks: what they are told about themselves; default, as the
    ontology says it now.

    Raises:
        EmptyPersonaBlockError: a persona has nothing to be conditioned on.
    """
    disposition = (
        Disposition(
            personalities, scenario.persmem, Appraisals(appraiser, texts), tau=scenario.tau
        )
        if appraiser is not None
        else None
    )
    cast = _cast(scenario, field, people, blocks)
    return World.found(
        cast=cast,
        events=tuple(_events(scenario, field, people)),
        activity=people.activity,
        tier=people.tiers,
        interval=interval,
        beliefs=people.beliefs,
        network=network,
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
        regards=_regards(scenario, cast),
        notes=notes,
    )


def _regards(scenario: Scenario, cast: Cast) -> Regards | None:
    """Return the memory units of a run, none of them founded yet; None where they are off."""
    if not scenario.memory.units:
        return None
    given = scenario.units
    rules = Rules(
        similarity=given.merge_similarity,
        min_entropy=given.delete_entropy,
        max_weight=given.delete_weight,
        min_idle=given.delete_after,
    )
    return Regards(
        cast=cast,
        store=UnitStore(cap=given.weight_cap),
        rules=rules,
        read=given.read,
        act=given.act,
        shown=given.shown,
    )


def _parts(
    loaded: Loaded, streams: Streams, report: _Report
) -> tuple[Ontology | None, People | None, Follows | None]:
    """Return the parts of a world, None for what cannot be made; the report says why."""
    field = _ontology(loaded, report)
    people = _people(loaded, field, streams, report)
    if field is not None:
        report.add(graph.spec_problems(loaded.scenario.graph, ontology=field))
        report.add(_audience_problems(loaded.scenario.stimuli, field))
        traits = loaded.scenario.population.personality
        report.add(personality.spec_problems(traits, ontology=field))
    if report.doubts("population", "ontology"):  # other people would have other edges
        people = None
    return field, people, _follows(loaded, field, people, streams, report)


def _ontology(loaded: Loaded, report: _Report) -> Ontology | None:
    try:
        return ontology.load(loaded.scenario.ontology, path=loaded.files.get("ontology"))
    except ScenarioError as error:
        report.take(error, key="ontology")
        return None


def _people(
    loaded: Loaded, field: Ontology | None, streams: Streams, report: _Report
) -> People | None:
    scenario, file = loaded.scenario, loaded.files.get("population.source")
    if field is None:
        report.add(population.file_problems(scenario.population, file))
        return None
    try:
        return population.build(
            scenario.population,
            targets=scenario.targets,
            tier=scenario.tier,
            ontology=field,
            streams=streams,
            file=file,
            source=str(loaded.path or loaded.name),
        )
    except ScenarioError as error:
        report.take(error, key="population.source")
        return None


def _personalities(
    loaded: Loaded, field: Ontology, people: People, streams: Streams, report: _Report
) -> Personalities:
    """Return the personalities of people that could be made.

    Raises:
        ScenarioError: somebody has no profile.
    """
    source = str(loaded.path or loaded.name)
    try:
        return personality.build(
            loaded.scenario.population.personality,
            people=people,
            ontology=field,
            streams=streams,
            source=source,
        )
    except ScenarioError as error:
        report.take(error, key="population.source")
        report.stop_if_any()
        raise


def _follows(
    loaded: Loaded,
    field: Ontology | None,
    people: People | None,
    streams: Streams,
    report: _Report,
) -> Follows | None:
    """Return who follows whom; without people, an edge list is read for its own faults alone."""
    spec, file = loaded.scenario.graph, loaded.files.get("graph.file")
    try:
        if people is not None and (report.is_empty or spec.kind == "edges"):
            return graph.build(spec, people=people, streams=streams, file=file, ontology=field)
        if spec.kind == "edges" and file is not None:
            graph.read_edges(file)
    except ScenarioError as error:
        report.take(error, key="graph.file")
    return None


def _notes(scenario: Scenario, people: People, follows: Follows) -> tuple[str, ...]:
    """Return what of the input is left out or has no effect, each with its place."""
    return (
        *without_effect(scenario),
        *(f"population: {note}" for note in people.notes),
        *(f"graph: {note}" for note in follows.notes),
        *_cut_off(scenario),
    )


def _cut_off(scenario: Scenario) -> Iterator[str]:
    """Say what a shorter horizon leaves out; as the file stands these would be errors."""
    events = [
        _event_id(stimulus, i, tick)
        for i, stimulus in enumerate(scenario.stimuli)
        for tick in _ticks(stimulus)
        if tick > scenario.horizon
    ]
    questions = [
        f"{survey.id}-{tick}"
        for survey in scenario.surveys
        for tick in survey.ticks
        if tick > scenario.horizon
    ]
    for key, late in (("stimuli", events), ("surveys", questions)):
        if late:
            come = "1 comes" if len(late) == 1 else f"{len(late):,} come"
            left = "is left out" if len(late) == 1 else "are left out"
            yield f"{key}: {come} after the horizon of {scenario.horizon} and {left}: " + listed(
                late
            )


def _cast(
    scenario: Scenario, field: Ontology, people: People, blocks: Sequence[str] | None
) -> Cast:
    brief = scenario.brief
    portraits = field.portraits(people.attributes)
    blocks = portraits.blocks if blocks is None else tuple(blocks)
    for persona_id, block in zip(people.ids, blocks, strict=True):
        if not block.strip():
            raise EmptyPersonaBlockError(persona_id)
    weights = [[claim.weights.get(d, 0.0) for d in brief.dimensions] for claim in brief.claims]
    return Cast(
        ids=people.ids,
        keys=stream_keys(people.ids),
        blocks=blocks,
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


def _events(scenario: Scenario, field: Ontology, people: People) -> Iterator[Event]:
    """Yield one event per stimulus and tick up to the horizon, in order of the scenario."""
    claims = {claim.id: i for i, claim in enumerate(scenario.brief.claims)}
    credibility = scenario.rule.credibility.model_dump()
    index = itertools.count()
    for i, stimulus in enumerate(scenario.stimuli):
        audience = _audience(field, people, stimulus.audience)
        for tick in _ticks(stimulus):
            if tick > scenario.horizon:
                continue
            yield Event(
                id=_event_id(stimulus, i, tick),
                index=next(index),
                tick=tick,
                kind=stimulus.kind,
                source=stimulus.source,
                text=stimulus.text,
                claim=claims.get(stimulus.claim or "", -1),
                stance=_stance(stimulus),
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


def _ticks(stimulus: Stimulus) -> tuple[int, ...]:
    return stimulus.tick if isinstance(stimulus.tick, tuple) else (stimulus.tick,)


def _event_id(stimulus: Stimulus, index: int, tick: int) -> str:
    name = stimulus.id or f"s{index + 1}"
    return f"{name}-{tick}" if isinstance(stimulus.tick, tuple) else name


def _stance(stimulus: Stimulus) -> float:
    if stimulus.stance is not None:
        return stimulus.stance
    return _STANCES.get(stimulus.kind, 1.0)


def _audience_problems(stimuli: Sequence[Stimulus], field: Ontology) -> Iterator[Problem]:
    """Yield attributes and values of audiences that the ontology does not have."""
    names = [attribute.id for attribute in field.attributes]
    for i, stimulus in enumerate(stimuli):
        for name, values in stimulus.audience.items():
            where = f"stimuli[{i}].audience.{name}"
            if name not in field:
                what = f'"{name}" is not an attribute of {field.name}; there are {listed(names)}'
                yield Problem(where=where, message=what + did_you_mean(name, names))
                continue
            for value in values:
                if population.named_value(field[name], value) is None:
                    message = population.unknown_value(field[name], value)
                    yield Problem(where=where, message=message)


def _audience(field: Ontology, people: People, audience: Mapping[str, Sequence[str]]) -> BoolArray:
    """Return whom a stimulus is meant for, (P,)."""
    wanted = np.ones(len(people.ids), dtype=bool)
    for name, values in audience.items():
        attribute = field[name]
        allowed = {population.named_value(attribute, value) for value in values}
        held = {a[name] for a in people.attributes if name in a}
        fitting = {value for value in held if _is_among(attribute, value, allowed)}
        wanted &= np.array([a.get(name) in fitting for a in people.attributes], dtype=bool)
    return wanted


def _is_among(attribute: Attribute, value: str, allowed: Collection[str | None]) -> bool:
    """Return whether a persona's value is one of some values, or in one of some bands."""
    level = attribute.level(value)
    return value in allowed or (level is not None and level.id in allowed)
