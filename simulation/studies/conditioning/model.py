"""The same question to a language model, with and without persona blocks, at temperature 0.

The prompt is as short as can be, so that a small model can follow it: the block, if any, as the
system prompt, then question, choices and form of the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulation.studies.conditioning.answers import Answer, words_of
from simulation.studies.conditioning.arms import QUESTION, SOURCE
from simulation.studies.speaking import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.studies.speaking import Speaker

CHOICES: Final = ("yes", "no", "maybe")
UNCLEAR: Final = "unclear"
TOKENS: Final = 40  # of an answer: a choice and a sentence
ASKED: Final = (
    f"{SOURCE} asks about Bolt, a new protein bar with 20 g of protein and no sugar: "
    f'"{QUESTION}"\n'
    f"Answer with one word, {', '.join(CHOICES[:-1])} or {CHOICES[-1]}, and then your reason in "
    "one short sentence."
)
_AS = "You are the following person. Speak as this person, in the first person.\n{}"


def say(speaker: Speaker, blocks: Sequence[str], *, arm: str) -> list[str]:
    """Return what is answered to each block; "" for nothing usable. An empty block is left out.

    arm: names the requests.
    """
    return speaker.say(
        [
            Request(
                id=f"{arm}-{i:03d}",
                system=_AS.format(block) if block else "",
                messages=(("user", ASKED),),
                temperature=0.0,
                max_tokens=TOKENS,
            )
            for i, block in enumerate(blocks)
        ]
    )


def read(text: str) -> Answer:
    """Return the choice that a text begins with, else the first it names, and the rest as reason.

    >>> read("No. It is too dear.")
    Answer(choice='no', reason='It is too dear.')
    >>> read("I would say maybe")
    Answer(choice='maybe', reason='I would say maybe')
    """
    words = words_of(text)
    choice = next((word for word in words if word in CHOICES), UNCLEAR)
    leads = bool(words) and words[0] == choice
    start = text.casefold().find(choice) + len(choice) if leads else 0
    return Answer(choice=choice, reason=text[start:].lstrip(" ,.:;!-\u2013\u2014\n"))
