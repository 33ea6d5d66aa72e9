"""Raw answers to two questionnaires, scored into traits: IPIP-FFM and ECR.

    IPIP-FFM  50 items, 10 a trait (Goldberg 1992): columns EXT1 ... EXT10, EST, AGR, CSN, OPN, or
              E1 ... E10, N, A, C, O; key of https://ipip.ori.org/newBigFive5broadKey.htm
    ECR       36 items, 18 a dimension (Brennan, Clark & Shaver 1998): columns Q1 ... Q36; odd ones
              are of avoidance, even ones of anxiety

Those are the columns of the survey dumps of openpsychometrics.org. An answer is 1 to 5. A reversed
item counts 6 - x; a trait is the mean x of its items as (x - 1) / 4, in [0, 1] (PersMem, F.1).

The items called EST are those of emotional stability, but eight of the ten are worded towards its
opposite ("I get stressed out easily"). The trait here is neuroticism: the other two, "I am relaxed
most of the time" and "I seldom feel blue", are reversed.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.errors import InputError
from simulation.scenario.model import TRAITS
from simulation.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import TextIO

    from numpy.typing import NDArray

    from simulation.rng import FloatArray

SHOWN: Final = 10  # problems that are told
ALLOWED: Final = "1 to 5, or 0, NULL, NA or nothing where it was not answered"
UNANSWERED: Final = "answered nothing"
PARTLY: Final = "left items out"
ID: Final = "ID"
_HIGHEST: Final = 5
_SEPARATORS: Final = ("\t", ",", ";")
_CODES: Final = {
    **{form: n for n in range(1, _HIGHEST + 1) for form in (str(n), f"{n}.0")},
    **dict.fromkeys(("0", "0.0", "NULL", "NA", "NAN", ""), 0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The items of a trait: their columns, and the places of the reversed ones, from 1."""

    columns: tuple[str, ...]
    turned: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Questionnaire:
    """A questionnaire. kind: of personality.  scales: one a trait, in the order of `TRAITS`."""

    name: str
    kind: str
    scales: tuple[Scale, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, scale by scale."""
        return tuple(name for scale in self.scales for name in scale.columns)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """The P people of a file who answered every item.

    kind: `big_five` or `attachment`.  ids: from the column `id`, else "r" and the line.
    traits: (P, T) in [0, 1], in the order of a scenario.  dropped: how many others, by reason.
    """

    kind: str
    ids: tuple[str, ...]
    traits: FloatArray
    dropped: Mapping[str, int]


def _ipip(*letters: str) -> Questionnaire:
    """Return the IPIP-FFM. letters: how the columns of O, C, E, A and N begin."""
    turned = ((2, 4, 6), (2, 4, 6, 8), (2, 4, 6, 8, 10), (1, 3, 5, 7), (2, 4))
    scales = tuple(
        Scale(columns=tuple(f"{letter}{i}" for i in range(1, 11)), turned=frozenset(places))
        for letter, places in zip(letters, turned, strict=True)
    )
    name = f"IPIP-FFM, {letters[2]}1 to {letters[0]}10"
    return Questionnaire(name=name, kind="big_five", scales=scales)


def _ecr() -> Questionnaire:
    odd, even = range(1, 37, 2), range(2, 37, 2)
    turned = frozenset((3, 15, 19, 22, 25, 27, 29, 31, 33, 35))
    anxiety, avoidance = (
        Scale(
            columns=tuple(f"Q{i}" for i in items),
            turned=frozenset(place for place, i in enumerate(items, 1) if i in turned),
        )
        for items in (even, odd)
    )
    return Questionnaire(name="ECR, Q1 to Q36", kind="attachment", scales=(anxiety, avoidance))


QUESTIONNAIRES: Final = (
    _ipip("OPN", "CSN", "EXT", "AGR", "EST"),
    _ipip("O", "C", "E", "A", "N"),
    _ecr(),
)
TOO_MANY: Final = "Q37"  # a column that no ECR has: other tests number their items so, too


def read(path: Path) -> Scored:
    """Return the people of a file of raw answers, scored.

    The file is text in UTF-8, a row a person, separated by tabs, commas or semicolons (the header
    tells); columns are found by name, in any case and order, and others are ignored. Who left an
    item out is dropped.

    Raises:
        InputError: the file cannot be used; the first ten problems are told, by line and column.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return _read(file, str(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text; save it as UTF-8") from error


def population_csv(scored: Scored) -> str:
    """Return people as a population file: `id` and a column for each trait."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("id", *TRAITS[scored.kind]))
    writer.writerows(
        (name, *map(repr, row))
        for name, row in zip(scored.ids, scored.traits.tolist(), strict=True)
    )
    return out.getvalue()


def _read(file: TextIO, source: str) -> Scored:
    faults = _Faults(source)
    separator = max(_SEPARATORS, key=file.readline().count)
    file.seek(0)
    reader = csv.reader(file, delimiter=separator, strict=True)
    try:
        header = [name.strip().upper() for name in next(reader, [])]
        asked = _questionnaire(header, faults)
        answers, ids = _Rows(header, asked, faults).taken(reader)
    except csv.Error as error:
        raise InputError(f"{source}, line {reader.line_num}: {error}") from error
    faults.stop_if_any()
    complete = (answers > 0).all(axis=1)
    nothing = int((answers == 0).all(axis=1).sum())
    dropped = {UNANSWERED: nothing, PARTLY: int((~complete).sum()) - nothing}
    if not complete.any():
        told = f"of {len(answers):,} people nobody answered all {len(asked.columns)} items"
        raise InputError(f"{source} cannot be used: {told} ({asked.name})")
    return Scored(
        kind=asked.kind,
        ids=tuple(ids[i] for i in np.flatnonzero(complete).tolist()),
        traits=_traits(answers[complete], asked),
        dropped=dropped,
    )


def _traits(answers: NDArray[np.uint8], asked: Questionnaire) -> FloatArray:
    """Return (P, T) traits from (P, I) answers, 1 to 5, in the order of `asked.columns`."""
    traits, start = [], 0
    for scale in asked.scales:
        count = len(scale.columns)
        turned = np.array([place in scale.turned for place in range(1, count + 1)])
        given = answers[:, start : start + count].astype(np.int64)
        total = np.where(turned, _HIGHEST + 1 - given, given).sum(axis=1)
        traits.append((total - count) / (count * (_HIGHEST - 1.0)))
        start += count
    return np.stack(traits, axis=1)


class _Faults:
    """What is wrong with a file: the first problems, and that there are more."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: list[str] = []

    @property
    def full(self) -> bool:
        """Whether no more would be told."""
        return len(self._found) > SHOWN

    def add(self, problem: str) -> None:
        self._found.append(problem)

    def stop_if_any(self) -> None:
        if self._found:
            told = [f"  {problem}" for problem in self._found[:SHOWN]]
            more = [f"  and more after the first {SHOWN}"] if self.full else []
            raise InputError("\n".join([f"{self._source} cannot be used:", *told, *more]))


def _questionnaire(header: list[str], faults: _Faults) -> Questionnaire:
    """Return whose columns a file has.

    Raises:
        InputError: they are of none, or stand twice.
    """
    there = frozenset(header)
    whole = [one for one in QUESTIONNAIRES if there.issuperset(one.columns)]
    if len(whole) == 1 and not (whole[0].kind == "attachment" and TOO_MANY in there):
        for name in sorted(there.intersection(whole[0].columns)):
            if header.count(name) > 1:
                faults.add(f"line 1  the column {name} stands {header.count(name)} times")
        faults.stop_if_any()
        return whole[0]
    faults.add(f"line 1  {_which(there, whole)}")
    faults.stop_if_any()
    raise AssertionError("unreachable")  # pragma: no cover


def _which(there: frozenset[str], whole: list[Questionnaire]) -> str:
    """Return why the columns of a file are not those of one questionnaire."""
    known = "; ".join(one.name for one in QUESTIONNAIRES)
    if len(whole) > 1:
        return f"the columns are those of several: {'; '.join(one.name for one in whole)}"
    if whole:
        return f"the column {TOO_MANY} is none of the 36 items of ECR; known: {known}"
    near = max(QUESTIONNAIRES, key=lambda one: len(there.intersection(one.columns)))
    missing = [name for name in near.columns if name not in there]
    if len(missing) == len(near.columns):
        return f"no column of a questionnaire is there, by tabs, commas or semicolons: {known}"
    hint = did_you_mean(missing[0], sorted(there.difference(near.columns)))
    others = f" and {len(missing) - 1} others" if len(missing) > 1 else ""
    return f"there is no column {missing[0]}{others} of {near.name}{hint}"


class _Rows:
    """Takes the answers of the rows of a file."""

    def __init__(self, header: list[str], asked: Questionnaire, faults: _Faults) -> None:
        self._asked = asked
        self._faults = faults
        self._width = len(header)
        self._pick = itemgetter(*(header.index(name) for name in asked.columns))
        self._id = header.index(ID) if ID in header else None
        self._seen: dict[str, int] = {}

    def taken(self, reader: Iterator[list[str]]) -> tuple[NDArray[np.uint8], list[str]]:
        """Return (P, I) answers, 0 for none, and P ids."""
        answers, ids, items = bytearray(), [], len(self._asked.columns)
        for record in reader:
            if not record:
                continue
            line: int = reader.line_num  # type: ignore[attr-defined]  # of a csv.reader
            if len(record) != self._width:
                self._faults.add(f"line {line}  has {len(record)} cells, the header {self._width}")
            else:
                answers += self._answers(self._pick(record), line)
                ids.append(self._name(record, line))
            if self._faults.full:
                break
        return np.frombuffer(bytes(answers), np.uint8).reshape(-1, items), ids

    def _answers(self, cells: tuple[str, ...], line: int) -> bytes:
        try:
            return bytes(map(_CODES.__getitem__, cells))
        except KeyError:  # seldom: so the usual case takes a tenth of the time
            codes = [_CODES.get(cell.strip().upper()) for cell in cells]
        for name, cell, code in zip(self._asked.columns, cells, codes, strict=True):
            if code is None:
                self._faults.add(f"line {line}  column {name}: {cell[:40]!r} is not {ALLOWED}")
        return bytes(code or 0 for code in codes)

    def _name(self, record: list[str], line: int) -> str:
        if self._id is None:
            return f"r{line}"
        name = record[self._id].strip()
        if not name:
            self._faults.add(f"line {line}  column id is empty")
        elif name in self._seen:
            self._faults.add(f"line {line}  id {name[:40]!r} is that of line {self._seen[name]}")
        self._seen[name] = line
        return name
