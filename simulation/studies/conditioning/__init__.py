"""`simulation study conditioning`: what the persona block does to the answers to one question.

`arms` asks the rule model, `model` a language model, `answers` says which answers are the same.

Source: Beliefs, memory and reflection, "Measured: conditioning is what makes a population".
"""

from __future__ import annotations

from simulation.studies.conditioning.study import run

__all__ = ["run"]
