"""Society, a mesa model: one step is one tick; Persona, a mesa agent: a view on one row."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import mesa

from simulation.engine import Engine
from simulation.scenario import Loaded, Scenario, load_scenario, read_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mesa.agent import AgentSet

    from simulation.encoders.base import Encoder
    from simulation.models.asking import Backend
    from simulation.models.base import Model
    from simulation.records import TickRecords
    from simulation.world import World


class Society(mesa.Model):
    """A population under one scenario and seed; `step()` is a tick.

    >>> society = Society("scenarios/protein_bar.yaml", seed=7)
    >>> society.step()
    >>> society.tick
    1
    >>> 0 <= society.persona("p0003").beliefs["C1"] <= 1
    True

    engine: what runs it; `engine.records` holds what happened in the last tick. All randomness
    comes from named streams of the seed; mesa's own generators are not used.
    """

    def __init__(
        self,
        scenario: Scenario | Loaded | str | Path,
        seed: int | None = None,
        *,
        backend: Backend | None = None,
        tiers: Sequence[Model | Backend] | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        """Found the society.

        scenario: a file, or what was read from one.  seed: default, the scenario's.
        backend: a language model of your own, for both tiers: an object with a `name` and
            `complete(prompts, *, schemas)`. What it cannot answer is taken by rule.
        tiers: instead, the cheap and the frontier model, each such a backend or a whole `Model`;
            default, those the scenario names.
        encoder: default, the one that the scenario names.

        Raises:
            UsageError: both `backend` and `tiers` are given, or they are no models.
            ScenarioError: something in the scenario or its files cannot be used.
        """
        self.engine = Engine(loaded(scenario), seed, backend=backend, tiers=tiers, encoder=encoder)
        super().__init__(seed=self.engine.seed % 2**32)
        self._views: dict[int, Persona] = {}

    @property
    def world(self) -> World:
        """The state after the last tick, as arrays."""
        return self.engine.world

    @property
    def records(self) -> TickRecords:
        """What happened in the last tick, as columns."""
        return self.engine.records

    @property
    def tick(self) -> int:
        """The last finished tick; 0 before the first."""
        return self.world.tick

    def step(self) -> None:
        """Let one tick pass; what happened is in `records`.

        Raises:
            UsageError: the horizon has been reached.
        """
        self.engine.advance()
        self.running = self.tick < self.engine.scenario.horizon

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
        """The persona's attributes, by name; to be read, not set."""
        society: Society = self.model
        return MappingProxyType(dict(society.engine.people.attributes[self.row]))

    @property
    def block(self) -> str:
        """What the persona is told about itself."""
        return self._world.cast.blocks[self.row]

    @property
    def beliefs(self) -> Mapping[str, float]:
        """Belief per dimension and claim, [0, 1]; to be read, not set."""
        world = self._world
        values = world.beliefs[self.row].tolist()
        return MappingProxyType(dict(zip(world.cast.targets, values, strict=True)))

    @property
    def memories(self) -> tuple[tuple[int, float, str], ...]:
        """Held memories, oldest first: tick, importance, text."""
        store, texts = self._world.memory, self._world.texts
        return tuple(
            (
                int(store.tick[self.row, slot]),
                float(store.importance[self.row, slot]),
                texts[int(store.text[self.row, slot])],
            )
            for slot in range(int(store.count[self.row]))
        )

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


def loaded(scenario: Scenario | Loaded | str | Path) -> Loaded:
    """Return a scenario as read and checked, whatever form it comes in."""
    if isinstance(scenario, Loaded):
        return scenario
    if isinstance(scenario, Scenario):
        return load_scenario(scenario)
    return read_scenario(scenario)
