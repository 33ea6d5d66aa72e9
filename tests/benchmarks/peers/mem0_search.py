"""Searches of mem0: `python -m benchmarks.peers.mem0_search PEOPLE SEARCHES`.

A search, here called a turn: the best three of one user's fifty memories for a text, in a store
that holds PEOPLE users in this process's memory, with an embedder that answers at once. Everyone
searches once a tick.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.saying import say, timed

HELD, FOUND, WIDTH = 50, 3, 256


class Vectors:
    """Vectors without a model: made up at random, and the same for the same text."""

    def __init__(self) -> None:
        """Start with no text."""
        self._known: dict[str, list[float]] = {}
        self._rng = np.random.default_rng(7)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Return the vector of a text; they are alike, so that all pass the least score."""
        del memory_action
        if text not in self._known:
            self._known[text] = (1 + self._rng.normal(size=WIDTH)).tolist()
        return self._known[text]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        """Return the vectors of texts."""
        return [self.embed(text, memory_action) for text in texts]


def store(people: int, folder: Path) -> Any:
    """Return a memory in which everyone's store is full."""
    from mem0 import Memory  # type: ignore[import-not-found] # noqa: PLC0415 - reads variables first
    from qdrant_client import QdrantClient  # type: ignore[import-not-found] # noqa: PLC0415 - likewise

    where = {"client": QdrantClient(":memory:"), "embedding_model_dims": WIDTH}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": where},
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "embedder": {"provider": "openai", "config": {"api_key": "none"}},
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = Vectors()
    for user in range(people):
        for place in range(HELD):
            words = f"in week {place} neighbour {user} said that the bar fills you until lunch"
            memory.add(words, user_id=f"p{user}", infer=False)
    return memory


def main() -> None:
    """Measure what the command line says."""
    people, ticks = (int(word) for word in sys.argv[1:])
    logging.disable(logging.WARNING)  # of what else could be installed
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=folder)
        memory = store(people, Path(folder))
        asked = iter(f"would you pay 2.49 for it, question {i}" for i in range(ticks + 1))
        found: list[int] = []

        def search() -> None:
            question = next(asked)
            for user in range(people):
                said = memory.search(question, top_k=FOUND, filters={"user_id": f"p{user}"})
                found.append(len(said["results"]))

        ticks_us = timed(search, ticks=ticks, turns=people)
        say(ticks_us, "mem0ai", "qdrant-client", "numpy", found=min(found))


if __name__ == "__main__":
    main()
