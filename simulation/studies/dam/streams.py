"""Streams of several people taken in, each into a memory of its own, and told together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation import units
from simulation.mind import attitude
from simulation.spelling import listed
from simulation.studies.dam import growth
from simulation.studies.dam.growth import LAST, Way
from simulation.studies.dam.own import shown
from simulation.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.encoders import Encoder
    from simulation.studies.dam.dialogues import IntArray
    from simulation.studies.dam.growth import Growth
    from simulation.studies.dam.own import Own
    from simulation.studies.tables import Cell

ASK = Way(by_name=True, said=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Taken:
    """What became of a user's own observations, N of them.

    grown: by persona.  units: (N,) living units of all after each observation, at the end of its
    dialogue.  recall: shares of questions answered, ours and without updates.
    """

    own: Own
    grown: dict[str, Growth]
    units: IntArray
    questions: int
    recall: tuple[float, float]

    @property
    def late(self) -> float:
        """Growth of the number of units over the last two fifths of the observations."""
        start = max(len(self.units) - round(LAST * len(self.units)), 1)
        return float(self.units[-1] / max(self.units[start - 1], 1)) - 1.0

    @property
    def compression(self) -> float:
        """Share of units that is saved at the end."""
        return 1.0 - float(self.units[-1] / len(self.units))


def take(own: Own, encoder: Encoder) -> Taken:
    """Return what becomes of a user's own observations."""
    count = sum(len(places) for places in own.places.values())
    moved = np.zeros(count, np.int64)
    grown, ours, facts, questions = {}, 0.0, 0.0, 0
    for who, stream in own.streams.items():
        found = growth.grow(stream, encoder)
        last = {d: own.places[who][row] for row, d in enumerate(stream.dialogue)}
        moved[list(last.values())] = np.diff(found.units, prepend=0)
        if stream.questions:
            (asked,) = growth.recalls(stream, found, encoder, ways=[ASK])
            ours, facts = (
                ours + asked.ours * asked.questions,
                facts + asked.any_fact * asked.questions,
            )
            questions += asked.questions
        grown[who] = found
    whole = max(questions, 1)
    return Taken(
        own=own,
        grown=grown,
        units=np.cumsum(moved),
        questions=questions,
        recall=(ours / whole, facts / whole),
    )


def summary_table(taken: Taken) -> Table:
    """Return what is to be said about all of it."""
    found = taken.grown.values()
    sides = {
        (who, piece.object_type, piece.object, piece.aspect)
        for who, stream in taken.own.streams.items()
        for piece in stream.evidence
    }
    rows: list[tuple[str, Cell]] = [
        ("observations", len(taken.units)),
        ("personas", len(taken.grown)),
        ("dialogues", sum(len(one.units) for one in found)),
        ("objects of personas", len({side[:3] for side in sides})),
        ("sides of these", len(sides)),
        ("units", int(taken.units[-1])),
        ("units without updates", len(taken.units)),
        ("compression", taken.compression),
        ("growth over the last two fifths of the observations", taken.late),
        ("merges", sum(one.count("merge") for one in found)),
        ("deleted", sum(one.count("delete") for one in found)),
        ("total belief entropy, bits", sum(float(one.entropy[-1]) for one in found)),
        ("changes of the leading polarity", sum(map(_turns, found))),
        ("questions", taken.questions),
        ("recall@5", taken.recall[0]),
        ("recall@5 without updates", taken.recall[1]),
        ("rows whose shares were divided by their sum", taken.own.rounded),
        ("columns ignored", listed(map(shown, taken.own.ignored)) or "none"),
    ]
    return Table(
        name="own",
        title="Your own observations",
        columns=("what", "value"),
        rows=tuple(rows),
    )


def unit_table(taken: Taken) -> Table:
    """Return all living units at the end."""
    columns = (
        *("persona", "unit_id", "object_type", "object", "aspects"),
        *("positive", "negative", "neutral", "weight", "entropy"),
        *("feels", "certainty", "observations", "created", "updated"),
    )
    return Table(
        name="own_units",
        title="What is settled at the end",
        columns=columns,
        rows=tuple(row for who, one in taken.grown.items() for row in _units(who, one)),
    )


def _units(who: str, grown: Growth) -> Iterator[tuple[Cell, ...]]:
    for one in grown.memory.units():
        lean = float(attitude.lean(np.array(one.confidence)))
        yield (
            *(who, one.unit_id, one.object_type, one.object, " + ".join(one.aspects)),
            *one.confidence,
            *(one.weight, one.entropy, units.tone(lean), units.certainty(one.entropy)),
            *(one.observations, one.created, one.updated),
        )


def update_table(taken: Taken) -> Table:
    """Return every change of a unit, in the order of the observations of each persona."""
    columns = (
        *("persona", "observation", "kind", "unit_id", "other_unit_id"),
        *("object_type", "object", "aspect"),
        *("positive", "negative", "neutral", "weight", "entropy"),
    )
    return Table(
        name="own_updates",
        title="How it came about",
        columns=columns,
        rows=tuple(row for who in taken.grown for row in _updates(taken, who)),
    )


def _updates(taken: Taken, who: str) -> Iterator[tuple[Cell, ...]]:
    stream = taken.own.streams[who]
    for row, change in taken.grown[who].changes:
        piece = stream.evidence[row]
        about = (piece.object_type, piece.object, piece.aspect)
        yield (
            *(who, change.clock, change.kind, change.unit_id),
            "" if change.other is None else change.other,
            *(about if change.kind == "evidence" else ("", "", "")),
            *(*change.confidence, change.weight, change.entropy),
        )


def growth_table(taken: Taken) -> Table:
    """Return the number of units after each observation."""
    return Table(
        name="own_growth",
        title="Units after each observation",
        columns=("observation", "units", "units without updates"),
        rows=tuple((i, n, i) for i, n in enumerate(taken.units.tolist(), 1)),
    )


def _turns(grown: Growth) -> int:
    """Return how often evidence changed the leading polarity of a unit."""
    leading: dict[int, int] = {}
    turns = 0
    for _, change in grown.changes:
        now = int(attitude.leading(np.array(change.confidence)))
        turns += change.kind == "evidence" and leading.get(change.unit_id, now) != now
        leading[change.unit_id] = now
    return turns
