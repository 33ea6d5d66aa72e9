"""How long a turn of the rule model takes, words and memory texts included.

Run: python tests/benchmarks/rule_speed.py [turns]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rule_requests import Town

from simulation.models.rule import RuleModel, RuleParameters
from simulation.models.words import memory_texts
from simulation.rng import Streams

ROUNDS = 7


def main() -> None:
    """Time the best of some rounds, so that a busy machine counts less."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    model = RuleModel(parameters=RuleParameters(), streams=Streams(1))
    requests = Town.build(turns).requests
    react, remember = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        reactions = model.react(requests)
        middle = time.perf_counter()
        memory_texts(requests, reactions)
        react.append(middle - start)
        remember.append(time.perf_counter() - middle)
    for name, seconds in (("react", react), ("memory_texts", remember)):
        best = min(seconds) / turns * 1e6
        sys.stdout.write(f"{name}: {best:.1f} us per turn, best of {ROUNDS}, {turns} turns\n")


if __name__ == "__main__":
    main()
