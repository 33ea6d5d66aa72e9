"""`simulation study coser`: a user's copy of CoSER's test set, acted out and judged.

`reading` takes the file, `casting` remembers and prompts, `acting` plays, `judging` scores,
`overlap` compares words.

Sources: PersMem, 4.3 and appendix I; X. Wang et al. (2025), "CoSER: Coordinating LLM-Based Persona
Simulation of Established Roles", ICML, and its code, github.com/Neph0s/CoSER (gca_evaluation).
Nothing of either ships here.
"""

from __future__ import annotations

from simulation.studies.coser.study import run

__all__ = ["run"]
