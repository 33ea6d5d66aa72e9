"""Rules that speak and judge where no language model does: they show that all works.

What they find says nothing about a language model. The speaker says the first sentence of each
memory; asked for positive things alone, it leaves out what sounds negative. The judges count the
sentiment of vaderSentiment and a few words.
"""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Final

from simulation.appraisers.sentiment import scores
from simulation.studies.dialogue.words import SUFFIX
from simulation.studies.speaking import recite

if TYPE_CHECKING:
    from simulation.studies.speaking import Request

LEANING: Final = {
    "openness": 0,
    "conscientiousness": 0,
    "extraversion": 1,
    "agreeableness": 1,
    "neuroticism": -1,
}
"""Whether who has more of a trait sounds more positive."""

WORDS: Final = {
    "openness": "art book colour curious dream idea imagine music new paint poem story strange",
    "conscientiousness": "always careful clean count every finish list morning order plan promise",
    "extraversion": "crowd dance everyone friends laughed loud party sang shouted talk us",
    "agreeableness": "care gave help hug kind love mother share sorry thank together we",
    "neuroticism": "afraid alone cried fear hurt lost never nothing shook sick sorry worry wrong",
}
"""A few words that who has more of a trait may use more often."""

_WORD: Final = re.compile(r"[a-z']+")
_GLAD, _SAD = 0.3, -0.05  # compound scores; what lies between sounds level
_STEPS: Final = (0.4, 0.1, -0.1, -0.4)  # of negativity, from the least


def say(request: Request) -> str:
    """Answer from what comes to mind; obey the request for positive things alone."""
    if SUFFIX not in request.messages[-1][1]:
        return recite(request)
    first = (recite(replace(request, material=(text,))) for text in request.material)
    return " ".join(text for text in first if scores(text)[-1] >= 0.0) or "All is well."


def choose(request: Request) -> str:
    """Answer A or B. material: the trait, then what each speaker says; of equals, A."""
    trait, first, second = request.material
    return "A" if _expressed(trait, first) >= _expressed(trait, second) else "B"


def classify(request: Request) -> str:
    """Answer a category and a negativity from 1 to 5. material: replies."""
    compound = fmean(scores(text)[-1] for text in request.material)
    negativity = 1 + sum(compound < step for step in _STEPS)
    if compound >= _GLAD:
        return f"secure {negativity}"
    return f"{'anxious' if compound < _SAD else 'avoidant'} {negativity}"


def _expressed(trait: str, said: str) -> float:
    words = _WORD.findall(said.lower())
    listed = WORDS[trait].split()
    share = sum(word in listed for word in words) / max(len(words), 1)
    return LEANING[trait] * scores(said)[-1] + share
