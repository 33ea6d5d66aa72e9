"""How a memory grows over dialogues, and whether it still finds what was said.

Ours against a memory without updates, which keeps one unit per observation. Shapes: D dialogues,
N observations, Q questions.

Source: DAM-LLM, "Compression Algorithm Validation"; method.md 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from simulation.attitudes import AttitudeMemory, as_said, as_settled
from simulation.extractors import Evidence
from simulation.studies.dam import vocabulary as words
from simulation.studies.dam.dialogues import DIALOGUES, OBJECTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.attitudes import Change, Told, Unit
    from simulation.encoders import Encoder
    from simulation.studies.dam.dialogues import Dialogues

IntArray = NDArray[np.int64]

TOP: Final = 5  # of recall@5
LAST: Final = 200 / DIALOGUES  # the end of the stream over which growth is judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """What one person says, in order, and what is asked afterwards.

    evidence: (N,).  turn: (N,) rising; observations of one turn are taken in together.
    dialogue: (N,) rising, from 0.  asked: (Q,) the observation that each question is about.
    """

    evidence: Sequence[Evidence]
    turn: Sequence[int]
    dialogue: Sequence[int]
    asked: Sequence[int]
    questions: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to ask. by_name: in two stages, else by meaning alone.

    said: the memory without updates keeps facts in the words in which they were said, else in
    those of our summaries.  top: units that are looked at.
    """

    by_name: bool
    said: bool
    top: int = TOP

    def __str__(self) -> str:
        """Return it in words."""
        how = "by name" if self.by_name else "by meaning"
        return f"{how}, facts as {'said' if self.said else 'summaries'}, top {self.top}"


WAYS: Final = tuple(
    Way(by_name=by_name, said=said) for by_name in (True, False) for said in (False, True)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Shares of questions whose answer is among the best units.

    ours: the unit that took in the observation asked about, or into which that one merged; a
    deleted one cannot be found.  any_fact: in the memory without updates, any observation of
    that side.  that_fact: in it, the very observation.
    """

    way: Way
    questions: int
    ours: float
    any_fact: float
    that_fact: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Growth:
    """A stream taken in by both memories.

    units, facts: (D,) units after each dialogue, in ours and without updates.  entropy: (D,) total
    belief entropy of ours, bits.  changes: all that happened to units, with the observation that
    it followed.  held: (N,) the living unit that holds each observation, -1 if it was deleted.
    """

    units: IntArray
    facts: IntArray
    entropy: NDArray[np.float64]
    changes: tuple[tuple[int, Change], ...]
    held: IntArray
    memory: AttitudeMemory

    @property
    def compression(self) -> float:
        """Share of units that is saved at the end."""
        return 1.0 - float(self.units[-1] / self.facts[-1])

    @property
    def late(self) -> float:
        """Growth of the number of units over the last 200 of 500 dialogues, or as large a part."""
        start = max(len(self.units) - round(LAST * len(self.units)), 1)
        return float(self.units[-1] / max(self.units[start - 1], 1)) - 1.0

    def count(self, kind: str) -> int:
        """Return how many changes were of a kind."""
        return sum(change.kind == kind for _, change in self.changes)


def stream_of(user: Dialogues) -> Stream:
    """Return what a seeded user says as evidence."""
    polarity, strength = user.evidence.polarity.tolist(), user.evidence.strength.tolist()
    sides = zip(user.object.tolist(), user.aspect.tolist(), strict=True)
    return Stream(
        evidence=[
            Evidence(
                object_type=OBJECTS[obj][0],
                object=OBJECTS[obj][1],
                aspect=words.ASPECTS[side],
                polarity=(p[0], p[1], p[2]),
                strength=s,
                summary=text,
            )
            for (obj, side), p, s, text in zip(sides, polarity, strength, user.texts, strict=True)
        ],
        turn=user.turn.tolist(),
        dialogue=user.dialogue.tolist(),
        asked=user.asked.tolist(),
        questions=user.questions,
    )


def grow(stream: Stream, encoder: Encoder) -> Growth:
    """Return how both memories take in a stream of at least one observation."""
    memory = AttitudeMemory(encoder=encoder)
    changes: list[tuple[int, Change]] = []
    first: list[int] = []
    dialogues = int(stream.dialogue[-1]) + 1
    units, entropy = np.zeros(dialogues, np.int64), np.zeros(dialogues)
    for _, group in groupby(range(len(stream.evidence)), key=stream.turn.__getitem__):
        rows = list(group)
        done = memory.take([stream.evidence[row] for row in rows])
        first += [change.unit_id for change in done[: len(rows)]]
        changes += [(rows[min(i, len(rows) - 1)], change) for i, change in enumerate(done)]
        units[stream.dialogue[rows[-1]]] = len(memory)
        entropy[stream.dialogue[rows[-1]]] = memory.store.entropy()
    return Growth(
        units=units,
        facts=np.cumsum(np.bincount(np.asarray(stream.dialogue), minlength=dialogues)),
        entropy=entropy,
        changes=tuple(changes),
        held=_held(first, [change for _, change in changes]),
        memory=memory,
    )


def facts_of(stream: Stream, encoder: Encoder, *, told: Told = as_settled) -> AttitudeMemory:
    """Return the memory without updates: a unit per observation, in their order."""
    memory = AttitudeMemory(encoder=encoder, updating=False, told=told)
    memory.keep(stream.evidence)
    return memory


def recalls(
    stream: Stream, grown: Growth, encoder: Encoder, *, ways: Sequence[Way] = WAYS
) -> tuple[Recall, ...]:
    """Return how well both memories answer, in several ways."""
    facts = {
        told: facts_of(stream, encoder, told=told)
        for told in dict.fromkeys(as_said if way.said else as_settled for way in ways)
    }
    return tuple(
        _recall(way, stream, grown, facts[as_said if way.said else as_settled]) for way in ways
    )


def _recall(way: Way, stream: Stream, grown: Growth, facts: AttitudeMemory) -> Recall:
    ours, side, very = 0, 0, 0
    for question, row in zip(stream.questions, stream.asked, strict=True):
        found = grown.memory.recall(question, way.top, by_name=way.by_name)
        ours += any(unit.unit_id == grown.held[row] for unit in found)
        found = facts.recall(question, way.top, by_name=way.by_name)
        side += any(_about(unit, stream.evidence[row]) for unit in found)
        very += any(unit.unit_id == row for unit in found)
    count = max(len(stream.questions), 1)
    return Recall(
        way=way,
        questions=len(stream.questions),
        ours=ours / count,
        any_fact=side / count,
        that_fact=very / count,
    )


def _about(unit: Unit, piece: Evidence) -> bool:
    same = (unit.object_type, unit.object) == (piece.object_type, piece.object)
    return same and piece.aspect in unit.aspects


def _held(first: Sequence[int], changes: Sequence[Change]) -> IntArray:
    """Return the living unit that holds each observation, (N,), -1 if it was deleted.

    first: the unit that each went to.  A unit that ended can never take in anything again.
    """
    into = {c.other: c.unit_id for c in changes if c.other is not None}
    gone = {c.unit_id for c in changes if c.kind == "delete"}
    held = np.zeros(len(first), np.int64)
    for row, start in enumerate(first):
        unit = start
        while unit in into:
            unit = into[unit]
        held[row] = -1 if unit in gone else unit
    return held
