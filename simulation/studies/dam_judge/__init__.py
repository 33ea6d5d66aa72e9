"""`simulation study dam-judge`: answers from settled attitudes, and from all that was said.

`worlds` makes both memories and asks them, `judging` has the answers rated.

Source: DAM-LLM (arXiv:2510.27418), "System Performance Evaluation".
"""

from __future__ import annotations

from simulation.studies.dam_judge.study import run

__all__ = ["run"]
