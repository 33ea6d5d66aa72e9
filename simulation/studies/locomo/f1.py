"""LoCoMo's score of an answer: token F1 after normalisation.

Source: Maharana et al. 2024 and the evaluation of its code: case, punctuation and the words a, an,
the, and are dropped, words are stemmed; the answer to a multi-hop question is split at its commas
and each part is scored by its best; of an open-domain answer counts what stands before a
semicolon; an adversarial question is answered rightly by saying that it was not mentioned.
"""

from __future__ import annotations

import string
from collections import Counter
from typing import TYPE_CHECKING, Final

from simulation.studies.locomo.conversations import ADVERSARIAL
from simulation.words import stem

if TYPE_CHECKING:
    from simulation.studies.locomo.conversations import Question

NOT_MENTIONED: Final = "Not mentioned in the conversation"

_MULTI_HOP: Final = 1
_OPEN_DOMAIN: Final = 3
_DROPPED: Final = frozenset(("a", "an", "the", "and"))
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_DECLINES: Final = ("no information available", "not mentioned")


def score(question: Question, said: str) -> float:
    """Return what an answer is worth, in [0, 1]."""
    if question.category == ADVERSARIAL:
        return float(any(words in said.lower() for words in _DECLINES))
    if question.category == _MULTI_HOP:
        return parts(said, question.answer)
    right = question.answer
    if question.category == _OPEN_DOMAIN:
        right = right.split(";")[0].strip()
    return f1(said, right)


def f1(said: str, right: str) -> float:
    """Return the F1 of the tokens of an answer, 0 where they share none.

    >>> f1("The 7th of May", "7 May")
    0.4
    """
    one, other = Counter(tokens(said)), Counter(tokens(right))
    same = (one & other).total()
    return 2.0 * same / (one.total() + other.total()) if same else 0.0


def parts(said: str, right: str) -> float:
    """Return the mean over the parts of the right answer of their best F1 with a part of one."""
    given = said.split(",")
    wanted = right.split(",")
    return sum(max(f1(part, want) for part in given) for want in wanted) / len(wanted)


def tokens(text: str) -> list[str]:
    """Return the stems of a text's normalised words."""
    words = text.lower().translate(_PUNCTUATION).split()
    return [stem(word) for word in words if word not in _DROPPED]
