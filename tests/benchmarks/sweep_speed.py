"""How much faster a sweep is than one process, as ratios within one run of this script.

Run by hand: `python tests/benchmarks/sweep_speed.py [SEEDS] [PERSONAS] [TICKS]` (default 12 150
30).
"""

from __future__ import annotations

import logging
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from simulation import simulate, sweep
from simulation.sweeps.local import cores

if TYPE_CHECKING:
    from collections.abc import Callable

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "protein_bar.yaml"
log = logging.getLogger("benchmark")


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that some work takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main(seeds: int, personas: int, ticks: int) -> None:
    """Make the same runs in a loop, and by sweeps of one and of all cores."""
    settings = [f"population.size={personas}", f"horizon={ticks}"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def loop() -> None:
            for seed in range(1, seeds + 1):
                simulate(SCENARIO, seed=seed, settings=settings, out=folder / f"{seed}.duckdb")

        def swept(jobs: int) -> Callable[[], object]:
            return lambda: sweep(
                SCENARIO, seeds=f"1-{seeds}", settings=settings, out=folder / f"{jobs}", jobs=jobs
            )

        simulate(SCENARIO, settings=[*settings, "horizon=1"], out=folder / "warm.duckdb")
        alone = timed(loop)
        log.info("a loop in this process: %d runs in %.1f s", seeds, alone)
        for jobs in dict.fromkeys((1, cores())):
            took = timed(swept(jobs))
            log.info("sweep of %d: %.1f s, %.2f times the loop's speed", jobs, took, alone / took)
        again = timed(swept(cores()))
        log.info("started again with nothing to do: %.1f s", again)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    log.info("largest worker: %.0f MB", peak)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(*(int(each) for each in [*sys.argv[1:], "12", "150", "30"][:3]))
