"""What a program that measures a turn does around it, with nothing but the standard library."""

from __future__ import annotations

import json
import platform
import sys
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def timed(step: Callable[[], object], *, ticks: int, turns: int) -> list[float]:
    """Return µs of this process's CPU time a turn, tick by tick, after one tick that warms up.

    step: one tick, in which `turns` turns are taken; all threads of the process count.
    """
    step()
    found = []
    for _ in range(ticks):
        start = time.process_time()
        step()
        found.append((time.process_time() - start) / turns * 1e6)
    return found


def say(ticks: list[float], *packages: str, **more: Any) -> None:
    """Print what was measured as one line of JSON, with versions.

    ticks: µs a turn of each tick, all of equally many turns.
    """
    told = {
        "us_per_turn": sum(ticks) / len(ticks),
        "tick_us": ticks,
        "versions": {"python": platform.python_version()} | {p: version(p) for p in packages},
        **more,
    }
    sys.stdout.write(f"{json.dumps(told)}\n")
