"""Answers of a choice and a reason: which of them are the same, and how varied many are.

Two answers are the same when choice and reason are, without case, punctuation, digits and every
word by which the ontology calls or voices a value of an attribute: who says "as a nurse, I am
undecided" and who says "as a cook, I am undecided" have answered alike.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from math import lgamma
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.ontology import Ontology

_WORD: Final = re.compile(r"[^\W\d_]+")
_APOSTROPHES: Final = str.maketrans("", "", "'\u2019")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer: one of the choices, and why, in free words."""

    choice: str
    reason: str


Normal = tuple[str, str]
"""A choice and a reason, normalised."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, in lower case, without apostrophes and digits.

    >>> words_of("I'm 34: it's TOO dear!")
    ['im', 'its', 'too', 'dear']
    """
    return _WORD.findall(text.translate(_APOSTROPHES).casefold())


def attribute_words(field: Ontology) -> frozenset[str]:
    """Return every word of the name, label, voice or a synonym of any value of any attribute.

    Function words such as "at" are among them: reasons lose more than they must.
    """
    found: set[str] = set()
    for attribute in field.attributes:
        for level in attribute.levels:
            name = level.id.replace("_", " ")
            for text in (name, level.label, level.voice, *level.synonyms):
                found.update(words_of(text))
    return frozenset(found)


def normalise(answer: Answer, dropped: frozenset[str]) -> Normal:
    """Return what makes an answer distinct. dropped: words that do not."""
    kept = (word for word in words_of(answer.reason) if word not in dropped)
    return " ".join(words_of(answer.choice)), " ".join(kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variety:
    """How varied N answers are.

    distinct: different ones.  choices: different choices.  reasons: different reasons.
    entropy: of answers, bits.  commonest: share of the commonest, [0, 1].  example: that answer.
    """

    count: int
    distinct: int
    choices: int
    reasons: int
    entropy: float
    commonest: float
    example: Normal


def variety(answers: Sequence[Normal]) -> Variety:
    """Return how varied at least one answer is."""
    counts = Counter(answers)
    example, most = counts.most_common(1)[0]
    share = np.array(sorted(counts.values()), np.float64) / len(answers)
    return Variety(
        count=len(answers),
        distinct=len(counts),
        choices=len({choice for choice, _ in answers}),
        reasons=len({reason for _, reason in answers}),
        entropy=max(0.0, float(-(share * np.log2(share)).sum())),
        commonest=most / len(answers),
        example=example,
    )


def expected_distinct(answers: Sequence[Normal], size: int) -> float:
    """Return how many different answers `size` of the N give on average, drawn without returning.

    size: [0, N].

    Source: rarefaction, S. H. Hurlbert (1971), "The nonconcept of species diversity", Ecology 52.
    """
    total = len(answers)
    return float(sum(1.0 - _missed(total, n, size) for n in Counter(answers).values()))


def _missed(total: int, held: int, size: int) -> float:
    """Return the chance that none of `held` is among `size` drawn of `total`."""
    if total - held < size:
        return 0.0
    return float(np.exp(_choose(total - held, size) - _choose(total, size)))


def _choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
