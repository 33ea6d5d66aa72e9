"""`simulation study dam`: attitudes that settle (method.md 10; DAM-LLM).

`dialogues` is the simulated user, written down before anything was measured; `unit`, `separation`
and `growth` are the experiments, `validation` makes all of them, `verdicts` judges; `own` and
`aspects` read streams from files.
"""

from __future__ import annotations

from simulation.studies.dam.study import run

__all__ = ["run"]
