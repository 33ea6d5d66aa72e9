"""Turns of Concordia's entities: `python -m benchmarks.peers.concordia_turns KIND PEOPLE TICKS`.

A turn: an entity observes what three others said, and acts, with the model that says nothing
(`NoLanguageModel`) and an embedder that answers at once. There is no game master: who observes
what is decided here. KIND is `minimal` or `basic`, prefabs as they ship, or `recalling`: the
minimal one with the three memories most similar to what it observed.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
from benchmarks.peers.saying import say, timed
from concordia.associative_memory.basic_associative_memory import (  # type: ignore[import-not-found] # a peer's own
    AssociativeMemoryBank,
)
from concordia.components import agent as components  # type: ignore[import-not-found] # likewise
from concordia.language_model.no_language_model import (  # type: ignore[import-not-found] # likewise
    NoLanguageModel,
)
from concordia.prefabs.entity import basic, minimal  # type: ignore[import-not-found] # likewise
from concordia.typing.entity import free_action_spec  # type: ignore[import-not-found] # likewise

SEEN, RECALLED, WIDTH = 3, 3, 256
GOAL = "find out whether the new protein bar is worth its price"


class Vectors:
    """Vectors without a model: one of a few at random, in turn."""

    def __init__(self) -> None:
        """Draw them."""
        self._next = itertools.cycle(np.random.default_rng(7).normal(size=(997, WIDTH)))

    def __call__(self, text: str) -> Any:
        """Return a vector, whatever the text."""
        del text
        return next(self._next)


def entity(kind: str, name: str, model: NoLanguageModel, vectors: Vectors) -> Any:
    """Return an entity with an empty memory."""
    params: dict[str, Any] = {"name": name, "goal": GOAL}
    if kind == "recalling":
        recall = components.all_similar_memories.AllSimilarMemories(
            model=model,
            components=[components.observation.DEFAULT_OBSERVATION_COMPONENT_KEY],
            num_memories_to_retrieve=RECALLED,
        )
        params |= {
            "extra_components": {"similar": recall},
            "extra_components_index": {"similar": -1},
        }
    prefab = basic.Entity if kind == "basic" else minimal.Entity
    return prefab(params=params).build(model, AssociativeMemoryBank(vectors))


class Town:
    """Entities that hear of one another."""

    def __init__(self, kind: str, people: int) -> None:
        """Build everyone."""
        model, vectors = NoLanguageModel(), Vectors()
        self.entities = [entity(kind, f"Person {i}", model, vectors) for i in range(people)]
        self.tick = 0

    def step(self) -> None:
        """Let a tick pass."""
        self.tick += 1
        for place, person in enumerate(self.entities):
            for other in range(place + 1, place + 1 + SEEN):
                name = f"Person {other % len(self.entities)}"
                person.observe(f"{name}, in week {self.tick}: this bar fills you until lunch.")
            person.act(free_action_spec(call_to_action="What does {name} do or say next?"))


def main() -> None:
    """Measure what the command line says."""
    kind, people, ticks = sys.argv[1], *(int(word) for word in sys.argv[2:])
    town = Town(kind, people)
    say(timed(town.step, ticks=ticks, turns=people), "gdm-concordia", "numpy", "pandas")


if __name__ == "__main__":
    main()
