"""A real stream: review sentences whose aspects are labelled with a polarity.

Each sentence is a dialogue of its own; a label is evidence about its aspect: all of the share on
its polarity, and a middle strength. Every sixth sentence is not told but asked: its words are the
question, and what is settled about each of its aspects is the answer.

The data do not tell which restaurant a sentence is about. So they are read twice: as if all were
about one; and dealt to sixty, seeded, by the law by which the objects of `dialogues` are drawn.
Then sentences and polarities are people's and who is talked of is not.

The layout is that of MAMS-ACSA (Jiang et al. 2019): see `simulation.studies.extraction`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulation.errors import UsageError
from simulation.extractors import POLARITIES, Evidence
from simulation.studies.dam import vocabulary as words
from simulation.studies.dam.dialogues import EXPONENT, popular
from simulation.studies.dam.growth import Stream
from simulation.studies.dam.unit import MIDDLE
from simulation.studies.extraction.data import read_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.studies.extraction.data import Sentence

KIND: Final = "restaurant"
ONE: Final = ("the restaurant",)
MANY: Final = tuple(
    f"{brand} {house}"
    for house in ("Diner", "Grill", "Bistro", "Tavern", "Kitchen", "Canteen")
    for brand in words.BRANDS
)
ASKED: Final = 6  # every sixth sentence is a question
QUESTIONS: Final = 500


def files(path: Path) -> tuple[Path, ...]:
    """Return the XML files that a path means: itself, or those in a folder, by name.

    Raises:
        UsageError: the folder holds none.
    """
    if not path.is_dir():
        return (path,)
    found = tuple(sorted(path.glob("*.xml")))
    if not found:
        raise UsageError(f"{path} holds no .xml file with labelled sentences")
    return found


def read(path: Path) -> tuple[Sentence, ...]:
    """Return the labelled sentences of a file, or of a folder's files.

    Raises:
        UsageError: a file cannot be used, or there are too few sentences.
    """
    sentences = tuple(one for file in files(path) for one in read_sentences(file))
    if len(sentences) < ASKED:
        raise UsageError(f"{path} holds {len(sentences)} sentences; at least {ASKED} are needed")
    return sentences


def stream(sentences: Sequence[Sentence], names: Sequence[str]) -> Stream:
    """Return sentences as a stream about some restaurants."""
    dealt = popular(0, EXPONENT, len(sentences), names)
    whole = [(one, names[who]) for one, who in zip(sentences, dealt.tolist(), strict=True)]
    told = [pair for i, pair in enumerate(whole, 1) if i % ASKED]
    asked = [pair for i, pair in enumerate(whole, 1) if not i % ASKED]
    evidence = [piece for one, name in told for piece in _evidence(one, name)]
    turn = [i for i, (one, _) in enumerate(told) for _ in one.labels]
    last = {(piece.object, piece.aspect): row for row, piece in enumerate(evidence)}
    pairs = [
        (f"{name}: {one.text}", last[name, side])
        for one, name in asked
        for side in one.labels
        if (name, side) in last
    ][:QUESTIONS]
    return Stream(
        evidence=evidence,
        turn=turn,
        dialogue=turn,
        asked=[row for _, row in pairs],
        questions=[text for text, _ in pairs],
    )


def _evidence(sentence: Sentence, name: str) -> Sequence[Evidence]:
    return [
        Evidence(
            object_type=KIND,
            object=name,
            aspect=aspect,
            polarity=_certain(polarity),
            strength=MIDDLE,
            summary=sentence.text,
        )
        for aspect, polarity in sentence.labels.items()
    ]


def _certain(polarity: str) -> tuple[float, float, float]:
    positive, negative, neutral = (float(polarity == name) for name in POLARITIES)
    return positive, negative, neutral
