"""Opinions in NDlib: `python -m benchmarks.peers.ndlib_opinions PEOPLE TICKS`.

A turn: one of the PEOPLE interactions of an iteration of the model `AlgorithmicBias`. Somebody is
drawn, then one of its eight neighbours, rather one of a like mind; when they are near enough, both
take the mean of their one opinion. The iteration returns everyone's opinion.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import networkx as nx
import numpy as np
from benchmarks.peers.saying import say, timed
from ndlib.models.ModelConfig import Configuration  # type: ignore[import-not-found] # a peer's own
from ndlib.models.opinions import AlgorithmicBiasModel  # type: ignore[import-not-found] # likewise

NEIGHBOURS = 8
SETTINGS = {"epsilon": 0.32, "gamma": 0.5}


def model(people: int) -> Any:
    """Return the model with everyone's opinion drawn."""
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002 - the generator that NDlib draws from
    made = AlgorithmicBiasModel(nx.random_regular_graph(NEIGHBOURS, people, seed=7))
    config = Configuration()
    for name, value in SETTINGS.items():
        config.add_model_parameter(name, value)
    made.set_initial_status(config)
    return made


def main() -> None:
    """Measure what the command line says."""
    people, ticks = (int(word) for word in sys.argv[1:])
    made = model(people)
    made.iteration()  # the first only returns the start
    say(timed(made.iteration, ticks=ticks, turns=people), "ndlib", "networkx", "numpy")


if __name__ == "__main__":
    main()
