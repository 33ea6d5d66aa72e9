"""Which of a persona's voices fit a topic: nobody argues about a tram as a patient of diabetes.

A short list of stems says which matters a text touches. A voice is left out when it touches a
matter and the topic touches others only, and counts twice when they share one. A text in which no
stem is found touches nothing: then every voice fits, as in a field of which the list knows
nothing.
"""

from __future__ import annotations

from functools import lru_cache

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


def fitting(voices: tuple[str, ...], topic: str) -> list[str]:
    """Return the voices that fit a topic, in order, those on its matters twice.

    >>> fitting(("as a nurse", "with my car", "with my asthma"), "The tram will cut traffic")
    ['as a nurse', 'with my car', 'with my car']
    """
    about = matters(topic)
    chosen = []
    for voice in voices:
        own = matters(voice)
        if not own or not about or own & about:
            chosen += [voice] * (2 if own & about else 1)
    return chosen
