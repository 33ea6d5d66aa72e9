"""What the study `attachment-direction` does, fixed before any of it was measured.

Source: PersMem, E.5 to E.7. The seed's positive-only probes, emotional cues and four goals are
lost; those here were written for this project. Nothing is tuned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from simulation.mind.affect import NEUTRAL_STATE
from simulation.mind.traits import ATTACHMENT_PROFILES
from simulation.studies import corpus, recalling
from simulation.studies.attachment_trace.protocol import PROBES as NEUTRAL_PROBES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.studies.corpus import Corpus

__all__ = ["NEUTRAL_PROBES"]

Gains = Literal["paper", "reference"]

PROFILES: Final = tuple(ATTACHMENT_PROFILES)
SEEDS: Final = (0, 1, 2, 3, 4)
QUICK_SEEDS: Final = (0, 1)
STATES: Final = {"neutral": NEUTRAL_STATE, "distress": recalling.DISTRESS}
DRAWS: Final = 60  # single draws a cue (E.5)
QUICK_DRAWS: Final = 6
STORE: Final = "events"  # E.6 names 320 memories; all of one age
OTHER_STORE: Final = "test"  # every direction is looked at again over these 165
MAPS: Final[tuple[Gains, ...]] = ("paper", "reference")
"""The calibrated map counts; fixed gains stand beside."""
LEVELS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the trait that a sweep moves
HELD: Final = 0.15  # the other trait (E.5)
NEGATIVE: Final = corpus.NEGATIVE  # a valence below this is negative (E.5)

POSITIVE_PROBES: Final = (
    "Recall a happy journey",
    "Describe a pleasant image that comes to mind",
    "Recall something good that happened recently",
    "Recall an experience that made you happy",
    "Think of a joyful moment from the past",
    "Recall a fragment of a pleasant memory",
    "Recall a wonderful experience",
    "Describe something cheerful that suddenly comes to mind",
)
"""The neutral probes, asking for the good only."""
MOODS: Final = {
    "negative": "Something painful about {}",
    "neutral": "Something about {}",
    "positive": "Something joyful about {}",
}
"""Emotional cues: one a mood and topic of the corpora."""

GOALS: Final = (
    "Recall how an ordinary week of yours went",
    "Recall a place where you spent some time",
    "Recall someone you have worked or lived with",
    "Recall a day when you were on the move",
)
"""Four neutral goals of an active search (E.7)."""
ACTIVE_PROFILES: Final = ("secure", "anxious", "avoidant")
RUNS: Final = 25
"""A goal and profile. A first look at other cues had shown that so many make about as many
redirections as the seed counts."""
QUICK_RUNS: Final = 5

FLIPS: Final = 99_999  # of signs, a cue at a time: the seed's least p is 1e-5
QUICK_FLIPS: Final = 999
MISTAKES: Final = (0.0, 0.05, 0.1, 0.2)
"""Shares of the second reader's labels that are turned round by chance: that the two readers agree
on all of them would else make the crossing of labels empty."""


def cues(memories: Corpus) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the cues, and the mood of each: those of the corpora have none and are neutral."""
    topics: Sequence[str] = sorted(set(memories.topics))
    plain = (*corpus.cues("development"), *corpus.cues("test"))
    made = [(mood, form.format(topic)) for mood, form in MOODS.items() for topic in topics]
    texts = (*plain, *(text for _, text in made))
    return texts, (*("neutral" for _ in plain), *(mood for mood, _ in made))
