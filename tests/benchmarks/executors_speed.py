"""What executors cost and bring, as ratios to this process within one run of this program.

Run: python tests/benchmarks/executors_speed.py [personas] [ticks] [workers]

Per executor, best of some rounds in turn: seconds per 1,000 turns by the clock, and the
processor's time of the driver alone. The first says what you gain on this machine as busy as it
is; the second what is left to one process however many workers there are, so its inverse is the
most that workers can ever bring. `sent empty` is the price of a trip: parts of the size of a
batch of turns that nobody works on.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import time
from pathlib import Path

from simulation.engine import Engine
from simulation.executors import Executor, ExecutorSpec, load
from simulation.founding import read
from simulation.scenario import Access, Loaded

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from executing import hand_back
from rule_requests import Town

from simulation.executors import portable

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "protein_bar.yaml"
ROUNDS = 3
TRIPS = 20


def main() -> None:
    """Time all executors that there are."""
    os.environ["PYTHONPATH"] = sys.path[0]  # of workers
    personas, ticks, workers = (
        int(word) for word in (*sys.argv[1:], *("5000", "5", "2")[len(sys.argv) - 1 :])
    )
    settings = (f"population.size={personas}", f"horizon={ticks}")
    loaded = read(SCENARIO, settings=settings, access=Access())
    specs = [ExecutorSpec(), ExecutorSpec(workers=workers)]
    if importlib.util.find_spec("ray") is not None:
        specs.append(ExecutorSpec(name="ray", workers=workers))
    with contextlib.ExitStack() as stack:
        crews: dict[str, Executor] = {}
        for spec in specs:
            started = time.perf_counter()
            crew = stack.enter_context(contextlib.closing(load(spec)))
            name = f"{crew.name} {crew.workers}"
            crew.map(divmod, crew.share(7), range(1, 3))
            say(f"{name}: ready after {time.perf_counter() - started:.1f} s")
            crews[name] = crew
        compare(loaded, crews)


def compare(loaded: Loaded, crews: dict[str, Executor]) -> None:
    """Run on each executor in turn, and tell ratios to the first."""
    clock: dict[str, list[float]] = {name: [] for name in crews}
    driver: dict[str, list[float]] = {name: [] for name in crews}
    digests = set()
    turns = 0
    for _ in range(ROUNDS):
        for name, crew in crews.items():
            engine = Engine(loaded, executor=crew)
            wall, own = time.perf_counter(), time.process_time()
            while engine.world.tick < loaded.scenario.horizon:
                engine.advance()
            clock[name].append(time.perf_counter() - wall)
            driver[name].append(time.process_time() - own)
            digests.add(engine.world.digest())
            turns = int(engine.world.turns.sum())
    if len(digests) != 1:
        raise AssertionError(digests)
    say(f"{turns} turns, equal digests; best of {ROUNDS} rounds")
    first = next(iter(crews))
    for name, crew in crews.items():
        own, wall = min(driver[name]), min(clock[name])
        trip = empty(crew) * 1e3
        say(
            f"{name}: {wall / turns * 1e6:.0f} ms per 1,000 turns, {wall / min(clock[first]):.2f} "
            f"of {first}; driver {own / turns * 1e6:.0f} ms, {own / min(driver[first]):.2f};"
            f" sent empty {trip:.1f} ms, {trip / (min(clock[first]) / turns * 1e6):.3f} of {first}"
        )


def empty(crew: Executor) -> float:
    """Return seconds to send 1,000 turns there and as many bytes of answers back, unworked."""
    town = Town.build(1_000).requests
    shared = crew.share(None)
    crew.map(hand_back, shared, [None] * 4)
    started = time.perf_counter()
    crew.map(hand_back, shared, (portable.cut_turns(town, range(1_000)) for _ in range(TRIPS)))
    return (time.perf_counter() - started) / TRIPS


def say(line: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
