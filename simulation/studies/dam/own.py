"""A file of the user's own observations, checked row by row and made into streams.

Columns: `object`, `aspect`, `strength`, and either `positive`, `negative`, `neutral` or a word in
`polarity`; and if wanted `persona`, `object_type`, `text`, and `dialogue` or `tick`. Others are
ignored, their order is free, and so is the case of their names. docs/dam.md describes the format.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simulation.extractors import POLARITIES, Evidence
from simulation.spelling import did_you_mean, nearest
from simulation.studies.dam.growth import Stream
from simulation.studies.dam.rows import Faults, read_rows
from simulation.units.store import ASPECTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.studies.dam.rows import Row

NEEDED: Final = ("object", "aspect", "strength")
OPTIONAL: Final = ("persona", "object_type", "text", "dialogue", "tick", "polarity")
COLUMNS: Final = (*NEEDED, *POLARITIES, *OPTIONAL)
WORDS: Final = {
    **dict.fromkeys(("positive", "pos", "+"), (1.0, 0.0, 0.0)),
    **dict.fromkeys(("negative", "neg", "-"), (0.0, 1.0, 0.0)),
    **dict.fromkeys(("neutral", "neu", "0"), (0.0, 0.0, 1.0)),
}
ROUNDED: Final = 0.02  # how far shares may sum to something else than 1: they are then divided
LONGEST: Final = 500  # code points of a name
QUESTIONS: Final = 500
_EXACT: Final = 1e-6
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONG_TEXT: Final = 2000

Polarity = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A valid row. dialogue: its label, "" for none.  tick: None for none."""

    persona: str
    evidence: Evidence
    dialogue: str
    tick: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A file as streams: one a persona, in the order of first appearance.

    places: the place of each one's observations among all, rising.  rounded: rows whose shares
    were divided by their sum.  ignored: columns that were not used.
    """

    streams: dict[str, Stream]
    places: dict[str, tuple[int, ...]]
    rounded: int
    ignored: tuple[str, ...] = ()


def read(path: Path) -> Own:
    """Return a file of observations as streams.

    Rows are taken in the order of `tick`, of equals in that of the file. Rows of a persona that
    follow each other with one `dialogue` (without that column, one `tick`) are a dialogue.

    Raises:
        InputError: the file or any of its rows cannot be used; it names the first ten problems.
    """
    faults = Faults(str(path))
    rows, names = read_rows(path, COLUMNS, faults)
    if rows:
        _check_columns(names, faults)
    faults.stop_if_any()
    timed = "tick" in names
    checked, rounded = [], 0
    for row in rows:
        found = _Checker(row, faults, timed=timed).observation()
        if found is not None:
            checked.append(found[0])
            rounded += found[1]
    _check_aspects(checked, faults)
    faults.stop_if_any()
    checked.sort(key=lambda one: one.tick or 0)
    people: dict[str, list[int]] = {}
    for place, one in enumerate(checked):
        people.setdefault(one.persona, []).append(place)
    asked = sorted({i * len(checked) // QUESTIONS for i in range(QUESTIONS)})
    return Own(
        streams={
            who: _stream([checked[i] for i in places], _within(places, asked))
            for who, places in people.items()
        },
        places={who: tuple(places) for who, places in people.items()},
        rounded=rounded,
        ignored=tuple(name for name in names if name and name not in COLUMNS),
    )


def _within(places: Sequence[int], asked: Sequence[int]) -> list[int]:
    """Return where in `places` those that are asked about stand; both rise."""
    wanted = frozenset(asked)
    return [i for i, place in enumerate(places) if place in wanted]


def _check_columns(names: Sequence[str], faults: Faults) -> None:
    """Note columns that are missing."""
    others = [name for name in names if name not in COLUMNS]
    for name in NEEDED:
        if name not in names:
            faults.add("", f'there is no column "{name}"{_meant(name, others)}')
    missing = [name for name in POLARITIES if name not in names]
    if missing and "polarity" not in names:
        told = ", ".join(f'"{name}"{_meant(name, others)}' for name in missing)
        faults.add("", f'there is no column {told}, nor a column "polarity" with a word instead')


def _meant(name: str, others: Sequence[str]) -> str:
    near = nearest(name, others)
    return f" (is it {shown(near)}?)" if near is not None else ""


class _Checker:
    """Checks one row; what is wrong with it becomes one problem."""

    def __init__(self, row: Row, faults: Faults, *, timed: bool) -> None:
        self._timed = timed
        self._where, self._cells = row
        self._faults = faults
        self._wrong: list[str] = []

    def observation(self) -> tuple[Observation, bool] | None:
        """Return the row, and whether its shares were divided; None with the problem noted."""
        persona = self._name("persona", default="-")
        kind = self._name("object_type", default="-")
        obj, aspect = self._name("object"), self._name("aspect")
        polarity, rounded = self._polarity()
        strength = self._strength()
        tick = self._tick()
        text = self._text("text")[:_LONG_TEXT]
        dialogue = self._text("dialogue")
        if self._wrong:
            self._faults.add(self._where, "; ".join(self._wrong))
            return None
        evidence = Evidence(
            object_type=kind,
            object=obj,
            aspect=aspect,
            polarity=polarity,
            strength=strength,
            summary=text,
        )
        found = Observation(persona=persona, evidence=evidence, dialogue=dialogue, tick=tick)
        return found, rounded

    def _text(self, column: str) -> str:
        return unicodedata.normalize("NFC", self._cells.get(column, ""))

    def _name(self, column: str, default: str = "") -> str:
        value = self._text(column) or default
        if not value:
            self._wrong.append(f"{column} is empty")
        elif len(value) > LONGEST:
            self._wrong.append(f"{column} has {len(value):,} characters; at most {LONGEST}")
        return value

    def _number(self, column: str) -> float | None:
        value = self._cells.get(column, "")
        if not value:
            self._wrong.append(f"{column} is empty")
        elif not _NUMBER.fullmatch(value):
            comma = " (write a decimal point)" if re.fullmatch(r"\d+,\d+", value) else ""
            self._wrong.append(f"{column} is {shown(value)}, not a number{comma}")
        else:
            return float(value)
        return None

    def _strength(self) -> float:
        value = self._number("strength")
        if value is not None and not 0.0 < value <= 1.0:
            told = shown(self._cells["strength"])
            self._wrong.append(f"strength is {told}; it must be above 0 and at most 1")
        return value or 0.0

    def _polarity(self) -> tuple[Polarity, bool]:
        given_in_words = not any(self._cells.get(name) for name in POLARITIES)
        if given_in_words and "polarity" in self._cells:
            return self._word(self._cells["polarity"]), False
        shares = [self._number(name) for name in POLARITIES]
        if any(share is None for share in shares):
            return (0.0, 0.0, 1.0), False
        given = [share for share in shares if share is not None]
        for name, share in zip(POLARITIES, given, strict=True):
            if not 0.0 <= share <= 1.0:
                self._wrong.append(f"{name} is {shown(self._cells[name])}, not in [0, 1]")
        total = sum(given)
        if not self._wrong and abs(total - 1.0) > ROUNDED + _EXACT:
            self._wrong.append(f"{', '.join(POLARITIES)} sum to {total:.6g}, not to 1")
        whole = total if total > 0.0 else 1.0
        rounded = abs(total - 1.0) > _EXACT
        positive, negative, neutral = (s / whole if rounded else s for s in given)
        return (positive, negative, neutral), rounded

    def _word(self, word: str) -> Polarity:
        found = WORDS.get(word.casefold())
        if found is None:
            hint = did_you_mean(word.casefold(), POLARITIES)
            self._wrong.append(
                f"polarity is {shown(word)}, not one of {'/'.join(POLARITIES)}{hint}"
            )
        return found or (0.0, 0.0, 1.0)

    def _tick(self) -> int | None:
        if not self._timed:
            return None
        value = self._cells.get("tick", "")
        if not re.fullmatch(r"\+?\d{1,18}(\.0*)?", value, re.ASCII):
            told = f"is {shown(value)}, not a whole number from 0" if value else "is empty"
            self._wrong.append(f"tick {told}")
            return None
        return int(value.split(".")[0])


def _check_aspects(found: Sequence[Observation], faults: Faults) -> None:
    """Note objects with more aspects than a memory can tell apart."""
    sides: dict[tuple[str, str, str], dict[str, None]] = {}
    for one in found:
        piece = one.evidence
        whole = (one.persona, piece.object_type, piece.object)
        sides.setdefault(whole, {})[piece.aspect] = None
    for (_, _, obj), aspects in sides.items():
        if len(aspects) > ASPECTS:
            told = f"has {len(aspects)} aspects; at most {ASPECTS} can be told apart"
            faults.add("", f"object {shown(obj)} {told}")


def _stream(found: Sequence[Observation], asked: Sequence[int]) -> Stream:
    """Return the observations of one persona as a stream. asked: places to be asked about."""
    dialogue: list[int] = []
    labels = [_label(i, one) for i, one in enumerate(found)]
    for i, label in enumerate(labels):
        dialogue.append(dialogue[-1] + (label != labels[i - 1]) if i else 0)
    return Stream(
        evidence=[one.evidence for one in found],
        turn=dialogue,
        dialogue=dialogue,
        asked=asked,
        questions=[_question(found[i].evidence) for i in asked],
    )


def _label(place: int, one: Observation) -> tuple[str, str | int]:
    """Return what a row has in common with the others of its dialogue."""
    if one.dialogue:
        return "dialogue", one.dialogue
    return ("row", place) if one.tick is None else ("tick", one.tick)


def _question(piece: Evidence) -> str:
    return f"How do I feel about the {piece.aspect} of {piece.object}?"


def shown(value: str, most: int = 60) -> str:
    """Return a value in quotes, cut, with control characters escaped."""
    cut = value if len(value) <= most else value[:most] + "…"
    escaped = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
    return f'"{"".join(escaped)}"'
