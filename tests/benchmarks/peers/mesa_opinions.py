"""Opinions in Mesa: `python -m benchmarks.peers.mesa_opinions PEOPLE TICKS`.

A turn: the mean of the beliefs of eight neighbours on a network, a step of one's own seven beliefs
toward it, a line in a memory of fifty, and one's first belief in the data collector. In a tick
everyone first looks and then moves.
"""

from __future__ import annotations

import sys
from collections import deque
from typing import Any

import networkx as nx
import numpy as np
from benchmarks.peers.saying import say, timed
from mesa import Model
from mesa.datacollection import DataCollector
from mesa.discrete_space import FixedAgent, Network

TARGETS, NEIGHBOURS, MEMORIES = 7, 8, 50
PULL = 0.3


class Person(FixedAgent):  # type: ignore[misc] # mesa's classes carry no types
    """Somebody with beliefs and memories, in a cell of the network."""

    def __init__(self, model: Model, cell: Any) -> None:
        """Start with beliefs at random."""
        super().__init__(model)
        self.cell = cell
        self.beliefs = model.rng.random(TARGETS)
        self.seen = self.beliefs
        self.memories: deque[tuple[int, float]] = deque(maxlen=MEMORIES)

    def look(self) -> None:
        """See what the neighbours believe."""
        self.seen = np.mean([other.beliefs for other in self.cell.neighborhood.agents], axis=0)

    def move(self) -> None:
        """Move toward it, and remember."""
        self.beliefs = self.beliefs + PULL * (self.seen - self.beliefs)
        self.memories.append((self.model.steps, float(self.seen[0])))

    @property
    def first(self) -> float:
        """The belief that is collected."""
        return float(self.beliefs[0])


class Town(Model):  # type: ignore[misc] # as above
    """People on a regular network."""

    def __init__(self, people: int) -> None:
        """Place everyone."""
        super().__init__(seed=7)
        graph = nx.random_regular_graph(NEIGHBOURS, people, seed=7)
        for cell in Network(graph, capacity=1, random=self.random).all_cells:
            Person(self, cell)
        self.datacollector = DataCollector(
            model_reporters={"mean": lambda town: town.agents.agg("first", np.mean)},
            agent_reporters={"first": "first"},
        )

    def step(self) -> None:
        """Let a tick pass."""
        self.agents.do("look")
        self.agents.do("move")
        self.datacollector.collect(self)


def main() -> None:
    """Measure what the command line says."""
    people, ticks = (int(word) for word in sys.argv[1:])
    town = Town(people)
    say(timed(town.step, ticks=ticks, turns=people), "mesa", "networkx", "numpy")


if __name__ == "__main__":
    main()
