"""What the study `attachment-trace` does, fixed before any of it was measured.

Source: PersMem, E.1. Nothing is tuned: every number is the seed's, an engine's default, or chosen
here without a look at a result.
"""

from __future__ import annotations

from typing import Final, Literal

from simulation.mind.affect import NEUTRAL_STATE
from simulation.mind.traits import ATTACHMENT_PROFILES

Gains = Literal["paper", "reference"]

PROFILES: Final = tuple(ATTACHMENT_PROFILES)
PROBES: Final = (
    "Recall a past journey",
    "Describe an image that comes to mind",
    "Recall something that happened recently",
    "Recall an experience that affected you",
    "Think of a moment from the past",
    "Recall a fragment of memory",
    "Recall an unforgettable experience",
    "Describe something that suddenly comes to mind",
)
"""The eight neutral probes of E.1."""
RECALLED: Final = 3  # memories a probe
REPLICATES: Final = 30  # instances a profile
SEEDS: Final = (0, 1, 2, 3, 4)
QUICK_SEEDS: Final = (0, 1)
QUICK_REPLICATES: Final = 8
STATE: Final = NEUTRAL_STATE  # the seed names none for neutral probes
SPLITS: Final = {"complete trace": "test", "matched split": "events"}
"""Corpora: the complete trace on one set of memories, the comparison of methods on another."""
AGES: Final = 30  # memories are 0 to 29 ticks old, drawn once by their ids: a run of 30 ticks
TEMPERATURE: Final = 0.12  # of the draws of every method; method.md 7.4
CANDIDATES: Final = 12  # of every method; method.md 7.4
PERMUTATIONS: Final = 999  # of labels within a replicate
QUICK_PERMUTATIONS: Final = 99
MAPS: Final[tuple[Gains, ...]] = (
    "paper",
    "reference",
)  # the calibrated map counts; fixed gains stand beside

PERSMEM: Final = "PersMem"
SEMANTIC: Final = "semantic"
GENERATIVE_AGENTS: Final = "Generative-Agents scoring"
NO_TRAIT: Final = "no-trait"
METHODS: Final = (PERSMEM, SEMANTIC, GENERATIVE_AGENTS, NO_TRAIT)

COMPLETE_TARGET: Final = 0.75
MATCHED_TARGET: Final = 0.725
CONTROL_LIMIT: Final = 0.283
THEIRS: Final = {PERSMEM: 0.725, SEMANTIC: 0.283, GENERATIVE_AGENTS: 0.258, NO_TRAIT: 0.267}
"""On the seed's matched split."""

CONTRASTS: Final = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35)
"""How far the traits of the profiles lie from 0.5, for a curve; theirs is the last. Added when the
first measurement had shown that at full contrast nothing is left to tell apart."""
