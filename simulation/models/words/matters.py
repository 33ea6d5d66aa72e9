"""Which of a persona's voices fit a topic: nobody argues about a tram as a patient of diabetes.

A short list of stems says which matters a text touches. A voice is left out when it touches a
matter and the topic touches others only, and counts twice when they share one. A text in which no
stem is found touches nothing: then every voice fits, as in a field of which the list knows
nothing.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

from simulation.models.words.text import VOICE_LENGTH, bare

# Beginnings of words; an entry that ends in "." is a whole word.
STEMS: tuple[tuple[str, ...], ...] = (
    # health
    (
        "vaccin", "flu.", "jab", "doctor", "hospital", "pharmac", "ill.", "health", "asthma",
        "diabet", "heart", "back.", "medic", "disease", "virus", "patient",
    ),
    # the town and its politics
    (
        "tram", "traffic", "road", "levy", "council", "tax", "referendum", "vote", "voter",
        "politic", "party", "left.", "conservative", "town.", "meeting", "bus.", "car.",
        "bicycle", "foot.", "rail", "street", "school", "park",
    ),
    # money
    (
        "levy", "tax", "money", "budget", "month.", "mortgage", "cost", "price", "worth.", "offer",
        "coin", "cheap", "dear.", "pay", "fee.", "wage", "income",
    ),
    # food and the body
    (
        "protein", "sugar", "chocolate", "snack", "lunch", "breakfast", "tast", "eat", "vegan",
        "vegetarian", "meat", "gym.", "train", "sport", "tooth", "apple", "cook", "fridge", "food",
        "label", "moving",
    ),
)  # fmt: skip


@lru_cache(maxsize=4096)
def matters(text: str) -> int:
    """Return the matters that a text touches, one bit each; 0 for none."""
    words = [word.strip(".,;:!?\"'()").lower() + "." for word in text.split()]
    found = 0
    for number, stems in enumerate(STEMS):
        if any(word.startswith(stem) for word in words for stem in stems):
            found |= 1 << number
    return found


class Fitting(dict[str, tuple[str, ...]]):
    """How a voice is heard on a topic: not at all, once, or twice if it is on its matters.

    Personas share their voices, so each is looked at once for all that speak of the topic.

    Example:
        >>> fitting = Fitting("The tram will cut traffic")
        >>> fitting.of(("as a nurse", "with my car", "with my asthma"))
        ['as a nurse', 'with my car', 'with my car']
    """

    def __init__(self, topic: str) -> None:
        """Start with no voices."""
        self._about = matters(topic)

    def __missing__(self, voice: str) -> tuple[str, ...]:
        """Return and keep how a new voice is heard; one without words is not."""
        own, part = matters(voice), bare(voice, VOICE_LENGTH)
        shared = own & self._about
        silent = not part or (own and self._about and not shared)
        self[voice] = heard = () if silent else (part, part) if shared else (part,)
        return heard

    def of(self, voices: tuple[str, ...]) -> list[str]:
        """Return a persona's voices that fit, bare and in order."""
        return [*chain.from_iterable(map(self.__getitem__, voices))]
