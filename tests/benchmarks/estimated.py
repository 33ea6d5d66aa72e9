"""Tokens of a language-model turn, by the estimate: `python estimated.py SCENARIO [path=value …]`.

Prints JSON: tokens read and written over turns in the cheapest world that can be, all purposes
together, and the US dollars of a turn that are to be expected, low and high.
"""

from __future__ import annotations

import json
import logging
import sys

from simulation.founding import read
from simulation.planning import estimate

log = logging.getLogger("benchmark")


def main() -> None:
    """Estimate the scenario and settings of the command line."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    loaded = read(sys.argv[1], settings=tuple(sys.argv[2:]))
    found = estimate(loaded).to_dict()
    total, turns = found["total"], found["turns"]
    told = {key: total[key]["low"] / turns for key in ("input_tokens", "output_tokens")}
    log.info(json.dumps({"turns": turns, **told, "usd": _per_turn(total["expected"], turns)}))


def _per_turn(cost: dict[str, float], turns: int) -> list[float]:
    return [cost["low"] / turns, cost["high"] / turns]


if __name__ == "__main__":
    main()
