"""Society, a mesa model: one step is one tick; Persona, a mesa agent: a view on one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mesa
import numpy as np

from simulation import encoders, models, turn
from simulation.errors import UsageError
from simulation.founding import found
from simulation.models.rule import RuleModel, RuleParameters
from simulation.opening import opening
from simulation.records import Embeddings, Tick, TickRecords
from simulation.rng import Streams
from simulation.scenario import Loaded, Scenario, load_scenario, read_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mesa.agent import AgentSet

    from simulation.encoders.base import Encoder
    from simulation.models.base import Model
    from simulation.records import IntArray, Rows
    from simulation.world import World


class Society(mesa.Model):
    """A population under one scenario and seed; `step()` is a tick.

    >>> society = Society("scenarios/protein_bar.yaml", seed=7)  # doctest: +SKIP
    >>> society.step()  # doctest: +SKIP
    >>> society.persona("p0003").beliefs["C1"]  # doctest: +SKIP

    All randomness comes from named streams of `seed`; mesa's own generators are not used.
    """

    def __init__(
        self,
        scenario: Scenario | Loaded | str | Path,
        seed: int | None = None,
        *,
        tiers: Sequence[Model] | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        """Found the society.

        scenario: a file, or what was read from one.  seed: default, the scenario's.
        tiers: the cheap and the frontier model; default, those the scenario names.
        encoder: default, the one that the scenario names.

        Raises:
            ScenarioError: something in the scenario or its files cannot be used.
        """
        loaded = _loaded(scenario)
        self.scenario = loaded.scenario
        self.seed = self.scenario.seed if seed is None else seed
        super().__init__(seed=self.seed % 2**32)
        self.streams = Streams(self.seed)
        self.encoder = encoder or _encoder(loaded)
        self.world, self.ontology, self.people = found(loaded, self.seed, self.encoder)
        self.rule = _rule(self.scenario, self.streams)
        self.tiers = tuple(tiers or _tiers(self.scenario, self.rule))
        self._embedded = 0
        self._views: dict[int, Persona] = {}
        rows = opening(self.world, self.people)
        self.records = self._tell(0, rows)

    @property
    def tick(self) -> int:
        """The last finished tick; 0 before the first."""
        return self.world.tick

    def step(self) -> None:
        """Let one tick pass; what happened is in `records`."""
        self.advance()

    def advance(self) -> TickRecords:
        """Let one tick pass and return what happened.

        Everyone perceives the world as it was; then each changes only itself.

        Raises:
            UsageError: the horizon has been reached.
        """
        world, scenario, streams = self.world, self.scenario, self.streams
        if world.tick >= scenario.horizon:
            raise UsageError(f"the horizon of {scenario.horizon} ticks has been reached")
        tick = world.tick + 1
        arrived = turn.arrive(world, streams, tick)
        turns = turn.prepare(world, scenario, streams, tick)
        reactions = turn.react(turns.requests, self.tiers, fallback=self.rule)
        settled = turn.settle(world, scenario, streams, turns, reactions)
        reflections = turn.reflect(world, scenario, turns, settled.moved, self.tiers[1])
        evictions = turn.evict(world, tick)
        probes = self._probe(turns.rows, tick)
        posts = turn.post_rows(world, np.concatenate([arrived, settled.published]))
        world.tick = tick
        self.running = tick < scenario.horizon
        happened = (posts, *settled.rows, *reflections, evictions, *probes)
        self.records = self._tell(tick, happened, active=len(turns.rows))
        return self.records

    @property
    def agents(self) -> AgentSet[Persona]:
        """Every persona as a mesa agent; made when first asked for."""
        for row in range(self.world.personas):
            self._view(row)
        return super().agents

    def persona(self, persona_id: str) -> Persona:
        """Return one persona.

        Raises:
            KeyError: there is none of that id.
        """
        try:
            return self._view(self.world.cast.ids.index(persona_id))
        except ValueError:
            raise KeyError(persona_id) from None

    def _view(self, row: int) -> Persona:
        if row not in self._views:
            self._views[row] = Persona(self, row)
        return self._views[row]

    def _probe(self, rows: IntArray, tick: int) -> tuple[Rows, ...]:
        return turn.probe(
            self.world,
            self.scenario,
            self.streams,
            rows,
            tick,
            ontology=self.ontology,
            attributes=self.people.attributes,
            model=self.tiers[0],
        )

    def _tell(self, tick: int, rows: tuple[Rows, ...], active: int = 0) -> TickRecords:
        """Close a tick: add the new texts' vectors, the digest and the tick's own row."""
        digest = self.world.digest()
        counts = {part.table: len(part) for part in rows}
        one = np.ones(1, dtype=np.int64)
        closing = Tick(
            tick=tick * one,
            active=active * one,
            turns=counts.get("turns", 0) * one,
            reflections=counts.get("reflections", 0) * one,
            probes=counts.get("probes", 0) * one,
            model_calls=0 * one,
            input_tokens=0 * one,
            output_tokens=0 * one,
            cost_usd=np.zeros(1),
            unit_entropy=np.zeros(1),
            state_digest=[digest],
        )
        vectors = self._new_vectors()
        kept = tuple(part for part in (*rows, vectors) if len(part))
        return TickRecords(tick=tick, state_digest=digest, rows=(*kept, closing))

    def _new_vectors(self) -> Embeddings:
        texts, start = self.world.texts, self._embedded
        self._embedded = len(texts)
        ids = np.arange(start, len(texts), dtype=np.int64)
        return Embeddings(
            embedding_id=ids,
            text_sha256=[texts.sha256(i) for i in ids.tolist()],
            quantised=texts.quantised[start:],
            scale=texts.scale[start:],
        )


class Persona(mesa.Agent):
    """A view on one persona of a society; it holds no state of its own."""

    def __init__(self, model: Society, row: int) -> None:
        """Look at a row of the world."""
        super().__init__(model)
        self.row = row

    @property
    def persona_id(self) -> str:
        """The persona's id."""
        return self._world.cast.ids[self.row]

    @property
    def attributes(self) -> Mapping[str, str]:
        """The persona's attributes, by name."""
        society: Society = self.model
        return society.people.attributes[self.row]

    @property
    def block(self) -> str:
        """What the persona is told about itself."""
        return self._world.cast.blocks[self.row]

    @property
    def beliefs(self) -> dict[str, float]:
        """Belief per dimension and claim, [0, 1]."""
        world = self._world
        return dict(zip(world.cast.targets, world.beliefs[self.row].tolist(), strict=True))

    @property
    def memories(self) -> list[tuple[int, float, str]]:
        """Held memories, oldest first: tick, importance, text."""
        store, texts = self._world.memory, self._world.texts
        return [
            (
                int(store.tick[self.row, slot]),
                float(store.importance[self.row, slot]),
                texts[int(store.text[self.row, slot])],
            )
            for slot in range(int(store.count[self.row]))
        ]

    @property
    def follows(self) -> tuple[str, ...]:
        """Ids of the personas it follows."""
        network = self._world.network
        start, stop = network.offsets[self.row], network.offsets[self.row + 1]
        return tuple(self._world.cast.ids[i] for i in network.target[start:stop].tolist())

    @property
    def turns(self) -> int:
        """Turns taken so far."""
        return int(self._world.turns[self.row])

    @property
    def _world(self) -> World:
        society: Society = self.model
        return society.world


def _loaded(scenario: Scenario | Loaded | str | Path) -> Loaded:
    if isinstance(scenario, Loaded):
        return scenario
    if isinstance(scenario, Scenario):
        return load_scenario(scenario)
    return read_scenario(scenario)


def _encoder(loaded: Loaded) -> Encoder:
    spec = loaded.scenario.encoder
    folder = loaded.files.get("encoder.model")
    key = loaded.key(provider="openai", base_url=spec.base_url) if spec.name == "openai" else None
    return encoders.load(
        encoders.EncoderSpec(
            name=spec.name,
            model=str(folder) if folder else spec.model,
            base_url=spec.base_url,
            api_key=key,
            batch_size=spec.batch_size,
        )
    )


def _rule(scenario: Scenario, streams: Streams) -> RuleModel:
    parameters = scenario.rule.model_dump(exclude={"credibility"})
    return RuleModel(parameters=RuleParameters(**parameters), streams=streams)


def _tiers(scenario: Scenario, rule: RuleModel) -> tuple[Model, Model]:
    cheap, frontier = scenario.models.cheap, scenario.models.frontier
    return (
        models.load(cheap.provider, rule=rule),
        models.load(frontier.provider, rule=rule),
    )
