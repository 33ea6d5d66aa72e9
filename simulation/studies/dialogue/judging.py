"""The blind choice: which of two speakers expresses more of a trait.

Source: PersMem, F.3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from simulation.mind.traits import BIG_FIVE_TRAITS
from simulation.studies.dialogue.profiles import pairs
from simulation.studies.dialogue.words import CHOOSE, QUESTIONS, choice, transcript
from simulation.studies.speaking import Request, one_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulation.rng import FloatArray
    from simulation.studies.speaking import Speaker

LONGEST: Final = 10
FORM: Final = one_of("A", "B")
_LETTER: Final = re.compile(r"\W*([AB])\W*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One call of the judge, or one that was not made.

    pair: trait and rank; both orders share it.  first: the row shown as A.  said: "A" or "B"; ""
    where the answer was neither.  asked: False where one of the two dialogues has no reply at all,
    so that there is nothing to compare.
    """

    condition: str
    trait: str
    rank: int
    high: int
    low: int
    first: int
    said: str = ""
    asked: bool = True

    @property
    def right(self) -> bool | None:
        """Whether the high profile was chosen; None where nobody was."""
        if not self.said:
            return None
        return (self.said == "A") == (self.first == self.high)


def chosen(text: str) -> str:
    """Return the letter that an answer is, "" where it is not exactly A or B.

    >>> chosen(" B."), chosen("A speaker"), chosen("a")
    ('B', '', '')
    """
    found = _LETTER.fullmatch(text)
    return found[1] if found else ""


def compare(
    judge: Speaker,
    replies: Mapping[str, Sequence[Sequence[str]]],
    vectors: FloatArray,
    *,
    size: int,
    name: str,
) -> list[Choice]:
    """Return what the judge says of every pair, in both orders, in every condition.

    replies: by condition, of each profile, a text a round.  vectors: (P, 5).  size: pairs a trait.
    name: begins the ids of the requests.
    """
    calls = list(_open(replies, vectors, size))
    requests = [_request(one, replies[one.condition], name) for one in calls if one.asked]
    answers = iter(judge.say(requests))
    return [replace(one, said=chosen(next(answers))) if one.asked else one for one in calls]


def _open(
    replies: Mapping[str, Sequence[Sequence[str]]], vectors: FloatArray, size: int
) -> Iterator[Choice]:
    """Yield the calls to make, and those that have nothing to show."""
    for condition, said in replies.items():
        for trait in BIG_FIVE_TRAITS:
            for rank, (high, low) in enumerate(pairs(vectors, trait, size=size), start=1):
                for first in (high, low):
                    yield Choice(
                        condition=condition,
                        trait=trait,
                        rank=rank,
                        high=high,
                        low=low,
                        first=first,
                        asked=any(said[high]) and any(said[low]),
                    )


def _request(one: Choice, replies: Sequence[Sequence[str]], name: str) -> Request:
    second = one.low if one.first == one.high else one.high
    shown = [replies[one.first], replies[second]]
    order = "high first" if one.first == one.high else "low first"
    return Request(
        id=f"{name}{one.condition}|{one.trait}|{one.rank}|{order}",
        system=CHOOSE,
        messages=(("user", choice(one.trait, *(transcript(QUESTIONS, r) for r in shown))),),
        temperature=0.0,
        max_tokens=LONGEST,
        material=(one.trait, *("\n".join(r) for r in shown)),
        form=FORM,
    )
