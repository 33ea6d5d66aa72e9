"""A blind reader's labels: how they are read, and how far they agree with others.

The rubric is that of docs/corpora.md.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.spelling import did_you_mean
from simulation.studies import corpus
from simulation.studies.dam.rows import Faults, read_rows
from simulation.studies.json_file import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.dam.rows import Row

    IntArray = NDArray[np.int64]

KINDS: Final = ("specific", corpus.OVERGENERAL)
RANGES: Final = {"valence": (-1.0, 1.0), "arousal": (0.0, 1.0), "dominance": (0.0, 1.0)}
LABELS: Final = (*RANGES, "specificity")
MIDDLE: Final = 0.2  # a valence nearer to 0 is mixed (docs/corpora.md)
STEP: Final = 0.05  # of a number, as a reader is told
HALF: Final = 0.5  # arousal and dominance below it are low
_ROUNDING: Final = 1e-9
_NUMBER: Final = re.compile(r"[+-]?(\d{1,20}(\.\d*)?|\.\d+)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """Labels of N memories. affect: (N, 3).  overgeneral: (N,)."""

    affect: FloatArray
    overgeneral: NDArray[np.bool_]

    def take(self, places: IntArray) -> Labels:
        """Return the labels of some."""
        return Labels(affect=self.affect[places], overgeneral=self.overgeneral[places])

    def sides(self) -> dict[str, IntArray]:
        """Return what kappa compares: kinds, by the label, (N,) each."""
        valence, arousal, dominance = self.affect.T
        return {
            "specificity": self.overgeneral.astype(np.int64),
            "valence": np.digitize(valence, (-MIDDLE, np.nextafter(MIDDLE, 1.0))),
            "arousal": (arousal >= HALF).astype(np.int64),
            "dominance": (dominance >= HALF).astype(np.int64),
        }


def read_labels(path: Path, known: Sequence[str]) -> tuple[tuple[str, ...], Labels]:
    """Return a reader's labels with the names of their items; rows without any are left out.

    path: CSV or JSON Lines with `item` and the four labels.  known: names of items, in order.

    Raises:
        InputError: the file or any of its rows cannot be used.
    """
    faults = Faults(str(path))
    rows, names = read_rows(path, ("item", *LABELS), faults)
    faults.stop_if_any()
    for name in ("item", *LABELS):
        if name not in names:
            others = [other for other in names if other not in ("item", "text", *LABELS)]
            faults.add("", f'there is no column "{name}"{did_you_mean(name, others)}')
    faults.stop_if_any()
    found: dict[str, tuple[float, float, float, bool]] = {}
    for row in rows:
        _take(row, known, found, faults)
    if not found and not faults.count:
        faults.add("", f"no row has labels; the columns are {', '.join(LABELS)}")
    faults.stop_if_any()
    labels = Labels(
        affect=np.array([values[:3] for values in found.values()]),
        overgeneral=np.array([values[3] for values in found.values()]),
    )
    return tuple(found), labels


def _take(
    row: Row,
    known: Sequence[str],
    found: dict[str, tuple[float, float, float, bool]],
    faults: Faults,
) -> None:
    """Check a row and put its labels to the others, or note what is wrong with it."""
    where, cells = row
    name = cells.get("item", "")
    wrong = []
    if name not in known:
        wrong.append(
            f'"{printable(name)}" is not an item; they run from {known[0]} to {known[-1]}'
        )
    elif name in found:
        wrong.append(f"{name} stands here a second time")
    given = {label: cells.get(label, "") for label in LABELS}
    missing = [label for label, cell in given.items() if not cell]
    if not missing:
        numbers = [_number(given[label], label, wrong) for label in RANGES]
        kind = given["specificity"].casefold()
        if kind not in KINDS:
            told = f'specificity is "{printable(kind)}"; allowed are {" and ".join(KINDS)}'
            wrong.append(told)
        if not wrong:
            found[name] = (numbers[0], numbers[1], numbers[2], kind == corpus.OVERGENERAL)
    elif len(missing) < len(LABELS):
        wrong.append(f"there is no {' and no '.join(missing)}; a row has all four labels or none")
    if wrong:
        faults.add(where, "; ".join(wrong))


def _number(cell: str, label: str, wrong: list[str]) -> float:
    low, high = RANGES[label]
    value = float(cell) if _NUMBER.fullmatch(cell) else math.nan
    steps = value / STEP
    if not low <= value <= high or abs(steps - round(steps)) > _ROUNDING:
        allowed = f"a number from {low:g} to {high:g} in steps of {STEP}"
        wrong.append(f'{label} is "{printable(cell)}"; allowed is {allowed}')
    return value


def kappa(one: IntArray, other: IntArray) -> float:
    """Return Cohen's kappa of two lists of kinds from 0 (Cohen 1960); NaN where there is one."""
    kinds = int(max(one.max(), other.max())) + 1
    shares = [np.bincount(side, minlength=kinds) / len(side) for side in (one, other)]
    chance = float(shares[0] @ shares[1])
    if chance >= 1.0:
        return math.nan
    return (float((one == other).mean()) - chance) / (1.0 - chance)


def correlation(one: FloatArray, other: FloatArray) -> float:
    """Return Pearson's r; NaN where either does not vary."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return math.nan
    return float(np.corrcoef(one, other)[0, 1])
