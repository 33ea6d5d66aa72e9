"""One run, measured: its CPU time a tick, what of it encodes texts, its memory and its file.

    python tests/benchmarks/one_run.py [--full N] SCENARIO [path=value …]

prints the measures as JSON. `measured` runs in this process; use a fresh one for each, since
memory and imports stay. With --full every store holds N memories before the first tick, each of
its own text and with a made-up vector (see `fill`).
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import logging
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from simulation import engine, runs, simulate, turn
from simulation.appraisers.embedding import EmbeddingAppraiser
from simulation.encoders.static import StaticEncoder
from simulation.memory import KINDS
from simulation.runlog import RunWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simulation.records import TickRecords
    from simulation.world import World

BLOCK = 262_144  # bytes of a block of a DuckDB file
STAGES = (  # of a tick, in its order: where a function stands, its name, what it does
    (turn, "prepare", "who is active, feeds, recall"),
    (turn, "react", "what the model does and says"),
    (turn, "settle", "applying it; memories put in words"),
    (turn, "settle_attitudes", "attitudes"),
    (turn, "reflect", "reflections"),
    (turn, "evict", "forgetting"),
    (engine.Engine, "_tell", "state digest, rows of the tick"),
    (RunWriter, "write", "writing the run database"),
    (RunWriter, "finish", "closing the file"),
)
WORDS = (  # about as long as what people remember of a turn
    "I read what somebody I follow said in week {0} about price number {1}, and it made me think "
    "again of what I had told the others at home, though I said nothing to it at all."
)
CHUNK = 2_000  # personas filled at a time
log = logging.getLogger("benchmark")


class Clock:
    """CPU seconds of this process, those inside `watched` functions apart."""

    def __init__(self) -> None:
        """Start at nothing."""
        self.apart = 0.0
        self.ticks: list[tuple[float, float, int]] = []
        self.stages: dict[str, float] = {}

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, its time counted apart."""

        @functools.wraps(function)
        def timed(*arguments: Any) -> Any:
            start = time.process_time()
            result = function(*arguments)
            self.apart += time.process_time() - start
            return result

        return timed

    def staged(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        """Return the function, its time after tick 0 counted as a stage's, less what is apart."""

        @functools.wraps(function)
        def timed(*arguments: Any, **more: Any) -> Any:
            start, apart = time.process_time(), self.apart
            result = function(*arguments, **more)
            if self.ticks:
                took = time.process_time() - start - (self.apart - apart)
                self.stages[stage] = self.stages.get(stage, 0.0) + took
            return result

        return timed

    def tick(self, records: TickRecords) -> None:
        """Note the end of a tick: CPU seconds so far, those apart, and turns of the tick."""
        turns = sum(len(rows) for rows in records.rows if rows.table == "turns")
        self.ticks.append((time.process_time(), self.apart, turns))


def measured(
    scenario: str, settings: Sequence[str], folder: Path, *, full: int = 0
) -> dict[str, Any]:
    """Return the measures of one run, written to a file in `folder`.

    full: memories that every persona has before the first tick.

    CPU seconds: `import_cpu_s` before anything is read, `start_cpu_s` up to and with tick 0,
    `run_cpu_s` after it without what encodes and appraises texts, `encoding_cpu_s` that,
    `total_cpu_s` all but the imports and the filling, `stages` parts of `run_cpu_s`.
    """
    clock = Clock()
    StaticEncoder.encode = clock.watched(StaticEncoder.encode)  # type: ignore[method-assign]
    EmbeddingAppraiser.appraise = clock.watched(EmbeddingAppraiser.appraise)  # type: ignore[method-assign]
    for place, name, stage in STAGES:
        if hasattr(place, name):  # another version may have no such function
            setattr(place, name, clock.staged(getattr(place, name), stage))
    filling: list[float] = []
    runs.Engine = functools.partial(filled, full=full, took=filling)  # type: ignore[assignment, attr-defined]
    imported, started = time.process_time(), time.perf_counter()
    path = simulate(scenario, settings=settings, out=folder / "run.duckdb", on_tick=clock.tick)
    wall, cpu, apart = time.perf_counter() - started, time.process_time(), clock.apart
    turns = sum(count for _, _, count in clock.ticks)
    first_cpu, first_apart, _ = clock.ticks[0]
    ends = [(total - inside, count) for total, inside, count in clock.ticks]
    return {
        "settings": list(settings),
        "turns": turns,
        "wall_s": wall,
        "import_cpu_s": imported,
        "start_cpu_s": first_cpu,
        "run_cpu_s": cpu - apart - (first_cpu - first_apart),
        "total_cpu_s": cpu - imported - sum(filling),
        "tick_cpu_us": [
            1e6 * (now - before) / max(1, count)
            for (before, _), (now, count) in itertools.pairwise(ends)
        ],
        "tick_cpu_s": [now - before for (before, _), (now, _) in itertools.pairwise(ends)],
        "encoding_cpu_s": apart,
        "stages": clock.stages,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        **in_file(path),
    }


def filled(*given: Any, full: int, took: list[float], **more: Any) -> engine.Engine:
    """Return an engine whose personas have `full` memories already; note what that took."""
    made = engine.Engine(*given, **more)
    start = time.process_time()
    if full:
        fill(made.world, full)
        made._embedded = len(made.world.texts)  # not this run's to write
    took.append(time.process_time() - start)
    return made


def fill(world: World, each: int) -> None:
    """Give every persona `each` memories with texts of their own.

    The vectors are noise, so nothing is encoded; importance (most of it low, as in a run), claim
    and stance are drawn as well. Attitudes are left as they are.
    """
    rng = np.random.default_rng(0)
    store, texts = world.memory, world.texts
    for rows in _chunks(world.personas):
        owners = np.repeat(rows, each)
        count, mark = len(owners), len(texts)
        texts.restore(
            [WORDS.format(i % each, mark + i) for i in range(count)],
            rng.integers(-127, 128, (count, texts.width), dtype=np.int8),
            rng.random(count).astype(np.float32),
        )
        store.write(
            owners,
            tick=0,
            kind=KINDS.index("seed"),
            importance=0.05 + 0.8 * rng.random(count) ** 5,
            text=np.arange(mark, mark + count),
            claim=rng.integers(0, max(1, len(world.cast.claims)), count),
            stance=rng.uniform(-1, 1, count),
            affect=rng.random((count, 3)) if store.affect else None,
        )


def _chunks(personas: int) -> Iterator[np.ndarray[Any, Any]]:
    """Return persona rows in chunks, so that what fills them stays small."""
    return (np.arange(start, min(personas, start + CHUNK)) for start in range(0, personas, CHUNK))


def in_file(path: Path) -> dict[str, Any]:
    """Return what a run's file says: its bytes without vectors, and how texts differ."""
    with duckdb.connect(str(path), read_only=True) as connection:

        def one(query: str) -> Any:
            found = connection.execute(query).fetchone()
            return found[0] if found else None

        vectors = one(
            "SELECT count(DISTINCT block_id) FROM pragma_storage_info('embedding_rows') "
            "WHERE block_id >= 0"
        )
        return {
            "digest": one("SELECT state_digest FROM ticks ORDER BY tick DESC LIMIT 1"),
            "texts": one("SELECT count(*) FROM embedding_rows"),
            "memories": one("SELECT count(*) FROM memories"),
            "distinct_memories": one("SELECT count(DISTINCT text) FROM memories"),
            "file_bytes": path.stat().st_size,
            "file_bytes_without_vectors": path.stat().st_size - BLOCK * vectors,
        }


def main() -> None:
    """Measure the scenario and settings of the command line."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", type=int, default=0)
    parser.add_argument("scenario")
    parser.add_argument("settings", nargs="*")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(given.scenario, given.settings, Path(folder), full=given.full)
    log.info(json.dumps(found))


if __name__ == "__main__":
    main()
