"""Our recall: `python -m benchmarks.peers.our_recall PERSONAS TICKS AT_ONCE`.

The best three of everyone's fifty memories for a text, by recency, importance and relevance.
AT_ONCE personas are asked for in one call: the engine asks for all that take a turn.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.peers.saying import say, timed

from simulation.memory import MemoryStore
from simulation.recall import recall
from simulation.rng import Streams, stream_keys
from simulation.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

HELD, FOUND, WIDTH = 50, 3, 256


def full(personas: int) -> tuple[MemoryStore, Texts]:
    """Return stores that are full, each memory of a text of its own, its vector made up."""
    rng = np.random.default_rng(7)

    def vectors(texts: Sequence[str]) -> Any:
        return 1 + rng.normal(size=(len(texts), WIDTH)).astype(np.float32)

    texts, store = Texts(vectors, width=WIDTH), MemoryStore(personas, cap=HELD)
    everyone = np.arange(personas)
    for place in range(HELD):
        words = [f"in week {place} neighbour {row} said that it fills me" for row in everyone]
        ids = texts.intern(words)
        weight = rng.random(personas)
        store.write(everyone, tick=place, kind=0, importance=weight, text=ids)
    return store, texts


def main() -> None:
    """Measure what the command line says."""
    personas, ticks, at_once = (int(word) for word in sys.argv[1:])
    store, texts = full(personas)
    asked = iter(texts.intern([f"would you pay 2.49, question {i}" for i in range(ticks + 1)]))
    keys = stream_keys([f"p{row}" for row in range(personas)])
    groups = [np.arange(personas)[i : i + at_once] for i in range(0, personas, at_once)]
    slots, streams = np.full(at_once, FOUND), Streams(7)

    def search() -> None:
        question = next(asked)
        for rows in groups:
            recall(
                store,
                texts,
                rows=rows,
                query=np.full(len(rows), question),
                now=HELD,
                tau=10.0,
                k=slots[: len(rows)],
                mode="product",
                streams=streams,
                keys=keys[rows],
            )

    say(timed(search, ticks=ticks, turns=personas), "simulation", "numpy")


if __name__ == "__main__":
    main()
