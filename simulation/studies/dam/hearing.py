"""The whole loop on sentences: routed, extracted, settled and asked for, without a label.

The simulated user's sentences and questions are heard one by one by a memory that knows what
there is to talk about and a few words for each side: by rule, without a language model. The word
lists were written by whoever wrote the sentences; so this shows that the steps fit together, and
not how well they read what people write (which is the study `extraction`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.attitudes import AttitudeMemory
from simulation.extractors import Topic
from simulation.extractors.lexicon import LexiconExtractor
from simulation.extractors.routing import RuleRouter
from simulation.studies.dam import vocabulary as words
from simulation.studies.dam.dialogues import OBJECTS
from simulation.studies.dam.growth import TOP

if TYPE_CHECKING:
    from simulation.attitudes import Heard
    from simulation.encoders import Encoder
    from simulation.studies.dam.dialogues import Dialogues

LISTS: Final = {
    "taste": ("taste", "flavour", "delicious", "bitter", "aftertaste", "palate"),
    "price": ("price", "cost", "cheap", "expensive", "money", "bargain", "rip-off", "penny"),
    "packaging": ("packaging", "box", "wrapper", "wrapped", "pack", "packed", "label", "plastic"),
    "freshness": ("fresh", "stale", "off", "date", "mould", "sour", "keep", "morning"),
    "smell": ("smell", "aroma", "scent", "fragrance", "odour", "stink"),
    "size": ("size", "portion", "small", "large", "big", "shrunk", "bites", "grams"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """Shares of sentences and questions, [0, 1], and the units in the end.

    stored: sentences that were stored.  found: of all, those in which the side was found.
    leaning: of the found ones, those whose leading polarity is right.  asked: questions that were
    looked up.  answered: of all questions, those with a unit of the side among the best five.
    """

    sentences: int
    questions: int
    stored: float
    found: float
    leaning: float
    asked: float
    answered: float
    units: int


def hear(user: Dialogues, encoder: Encoder) -> Hearing:
    """Return how a user is heard by rule."""
    topics = [
        Topic(object_type=kind, object=name, aspects=words.ASPECTS) for kind, name in OBJECTS
    ]
    memory = AttitudeMemory(
        encoder=encoder,
        topics=topics,
        extractor=LexiconExtractor(LISTS),
        router=RuleRouter(LISTS),
    )
    side = [
        (OBJECTS[obj][1], words.ASPECTS[aspect])
        for obj, aspect in zip(user.object.tolist(), user.aspect.tolist(), strict=True)
    ]
    heard = [memory.hear(text) for text in user.texts]
    given = user.evidence.polarity.argmax(axis=1).tolist()
    leaning = [lean == given[i] for i, one in enumerate(heard) for lean in _leanings(one, side[i])]
    replies = [memory.hear(question, k=TOP) for question in user.questions]
    answered = [
        any(unit.object == obj and aspect in unit.aspects for unit in one.recalled)
        for one, (obj, aspect) in zip(replies, (side[i] for i in user.asked.tolist()), strict=True)
    ]
    return Hearing(
        sentences=len(heard),
        questions=len(replies),
        stored=float(np.mean([one.route == "store" for one in heard])),
        found=len(leaning) / len(heard),
        leaning=float(np.mean(leaning)) if leaning else 0.0,
        asked=float(np.mean([one.route == "retrieve" for one in replies])),
        answered=float(np.mean(answered)),
        units=len(memory),
    )


def _leanings(heard: Heard, side: tuple[str, str]) -> list[int]:
    """Return the leading polarity of the evidence about a side, at most one."""
    return [
        int(np.argmax(piece.polarity))
        for piece in heard.evidence
        if (piece.object, piece.aspect) == side
    ][:1]
