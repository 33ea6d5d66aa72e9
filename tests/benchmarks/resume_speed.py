"""What it costs to go on with a run or to branch it, against computing the same ticks.

Run by hand: `python tests/benchmarks/resume_speed.py [PERSONAS] [TICKS]` (default 500 30). Of each
tick t: the time to rebuild the world after it, and to write a fork that shares it and makes one
more tick, as shares of the time that the ticks 1..t took when they were run. The weights of the
encoder are loaded before.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
from pathlib import Path

from simulation.encoders import EncoderSpec, load
from simulation.rebuilding import engine_at
from simulation.runlog import RunFile
from simulation.runs import fork, simulate

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "protein_bar.yaml"
REPEATS = 3
log = logging.getLogger("benchmark")


def rebuilt(path: Path, tick: int) -> float:
    """Return the seconds that rebuilding takes, the best of some."""
    encoder, best = load(EncoderSpec(name="static")), float("inf")
    for _ in range(REPEATS):
        started = time.perf_counter()
        with RunFile.open(path) as run:
            engine_at(run, tick, encoder=encoder)
        best = min(best, time.perf_counter() - started)
    return best


def forked(path: Path, tick: int, folder: Path) -> float:
    """Return the seconds that a fork takes that makes one more tick."""
    started = time.perf_counter()
    fork(path, at=tick, settings=[f"horizon={tick + 1}"], out=folder / f"{tick}.duckdb")
    return time.perf_counter() - started


def main(personas: int, ticks: int) -> None:
    """Measure and tell."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.perf_counter()
        path = simulate(
            SCENARIO,
            settings=[f"population.size={personas}", f"horizon={ticks}"],
            out=folder / "run.duckdb",
        )
        whole = time.perf_counter() - started
        log.info("%d personas, %d ticks: %.2f s", personas, ticks, whole)
        with RunFile.open(path) as run:
            sql = "SELECT tick, sum(wall_s) OVER (ORDER BY tick) FROM ticks ORDER BY tick"
            took = dict(run.query(sql).rows)
        log.info("tick   run to it   rebuild   share   fork + 1 tick   share")
        for tick in sorted({1, ticks // 4, ticks // 2, 3 * ticks // 4, ticks - 1}):
            again, branch = rebuilt(path, tick), forked(path, tick, folder)
            shares = again / took[tick], branch / took[tick]
            log.info(
                "%4d %9.2f s %7.2f s %7.2f %13.2f s %7.2f",
                tick, took[tick], again, shares[0], branch, shares[1],
            )  # fmt: skip


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [500, 30][len(given) :]))
