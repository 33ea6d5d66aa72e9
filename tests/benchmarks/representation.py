"""How often int8 vectors recall another memory than float64 vectors would.

    python tests/benchmarks/representation.py [PERSONAS] [TICKS]     (default 1000 30)

Runs `protein_bar`, and at each recall asks again with the encoder's vectors as they came, cosines
in float64. Every slot is compared; the run goes on with what int8 recalls.
"""

from __future__ import annotations

import importlib
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation.encoders import EncoderSpec, load
from simulation.engine import Engine
from simulation.scenario import read_scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.encoders.base import Encoder
    from simulation.recall import Recalled

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "protein_bar.yaml"
BLOCK = 256  # turns at a time
log = logging.getLogger("benchmark")


class Kept:
    """An encoder that keeps what it gave, in the order of the ids of the run's texts."""

    def __init__(self, encoder: Encoder) -> None:
        """Keep nothing yet."""
        self.encoder = encoder
        self.name, self.width, self.sha256 = encoder.name, encoder.width, encoder.sha256
        self.rows: list[NDArray[np.float64]] = []
        self._unit = np.zeros((0, encoder.width))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode as the other does."""
        rows = self.encoder.encode(texts)
        self.rows.append(rows.astype(np.float64))
        return rows

    def cosine(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return cosines in float64, of ids (A, K) and (A, 1); 0 for -1."""
        if self.rows:
            rows = np.concatenate(self.rows)
            length = np.linalg.norm(rows, axis=1, keepdims=True)
            self._unit = np.concatenate([self._unit, rows / np.where(length > 0, length, 1.0)])
            self.rows = []
        found = np.zeros(left.shape)
        for start in range(0, len(left), BLOCK):
            part = slice(start, start + BLOCK)
            query = self._unit[np.maximum(right[part, 0], 0)]
            found[part] = np.einsum("akw,aw->ak", self._unit[np.maximum(left[part], 0)], query)
        return np.where((left >= 0) & (right >= 0), found, 0.0)


def main() -> None:
    """Compare, and say how many slots are the same."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    personas, ticks = (int(word) for word in (*sys.argv[1:], *("1000", "30")[len(sys.argv) - 1 :]))
    settings = [f"population.size={personas}", f"horizon={ticks}"]
    kept = Kept(load(EncoderSpec(name="static")))
    engine = Engine(read_scenario(SCENARIO, settings=settings), encoder=kept)
    counts = np.zeros(3, np.int64)

    def twice(store: Any, texts: Any, **how: Any) -> Recalled:
        found: Recalled = genuine(store, texts, **how)
        real: Recalled = genuine(store, kept, **how)
        used = found.memory_id >= 0
        same = found.memory_id == real.memory_id
        among = (found.memory_id[:, :, None] == real.memory_id[:, None, :]).any(axis=2)
        counts[:] += [used.sum(), same[used].sum(), among[used].sum()]
        return found

    room = importlib.import_module("simulation.turn.recollect")
    genuine = room.recall.recall
    room.recall.recall = twice
    while engine.world.tick < ticks:
        engine.advance()
    slots, same, among = counts.tolist()
    log.info("%d slots: the same memory in %.3f %%", slots, 100.0 * same / slots)
    log.info("recalled at all, in whatever slot: %.3f %%", 100.0 * among / slots)


if __name__ == "__main__":
    main()
