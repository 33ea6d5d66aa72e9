"""One run, measured: its CPU time a tick, what of it encodes texts, its memory and its file.

`measured` runs in this process; use a fresh one for each (`python tests/benchmarks/one_run.py
SCENARIO [path=value …]` prints the measures as JSON), since memory and imports stay.
"""

from __future__ import annotations

import functools
import json
import logging
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from simulation import simulate
from simulation.appraisers.embedding import EmbeddingAppraiser
from simulation.encoders.static import StaticEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.records import TickRecords

BLOCK = 262_144  # bytes of a block of a DuckDB file
log = logging.getLogger("benchmark")


class Clock:
    """CPU seconds of this process, those inside `watched` functions apart."""

    def __init__(self) -> None:
        """Start at nothing."""
        self.apart = 0.0
        self.ticks: list[tuple[float, float, int]] = []

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, its time counted apart."""

        @functools.wraps(function)
        def timed(*arguments: Any) -> Any:
            start = time.process_time()
            result = function(*arguments)
            self.apart += time.process_time() - start
            return result

        return timed

    def tick(self, records: TickRecords) -> None:
        """Note the end of a tick: CPU seconds so far, those apart, and turns of the tick."""
        turns = sum(len(rows) for rows in records.rows if rows.table == "turns")
        self.ticks.append((time.process_time(), self.apart, turns))


def measured(scenario: str, settings: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return the measures of one run, written to a file in `folder`."""
    clock = Clock()
    StaticEncoder.encode = clock.watched(StaticEncoder.encode)  # type: ignore[method-assign]
    EmbeddingAppraiser.appraise = clock.watched(EmbeddingAppraiser.appraise)  # type: ignore[method-assign]
    started = time.perf_counter()
    path = simulate(scenario, settings=settings, out=folder / "run.duckdb", on_tick=clock.tick)
    wall, cpu, apart = time.perf_counter() - started, time.process_time(), clock.apart
    turns = sum(count for _, _, count in clock.ticks)
    first_cpu, first_apart, _ = clock.ticks[0]
    ends = [(total - inside, count) for total, inside, count in clock.ticks]
    return {
        "settings": list(settings),
        "turns": turns,
        "wall_s": wall,
        "start_cpu_s": first_cpu,
        "run_cpu_s": cpu - apart - (first_cpu - first_apart),
        "tick_cpu_us": [
            1e6 * (now - before) / max(1, count)
            for (before, _), (now, count) in zip(ends[:-1], ends[1:], strict=True)
        ],
        "tick_cpu_s": [
            now - before for (before, _), (now, _) in zip(ends[:-1], ends[1:], strict=True)
        ],
        "encoding_cpu_s": apart,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        **in_file(path),
    }


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
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    with tempfile.TemporaryDirectory() as folder:
        log.info(json.dumps(measured(sys.argv[1], sys.argv[2:], Path(folder))))


if __name__ == "__main__":
    main()
