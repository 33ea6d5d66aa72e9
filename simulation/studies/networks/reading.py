"""Reading the answers of people in networks: two files, checked row by row.

misinformation.csv: Guilbeault, Woolley & Becker (2021), "Probabilistic social learning improves
the public's judgments of news veracity", PLOS ONE 16(3), CC0.  clinicians.csv: Centola et al.
(2021), "The reduction of race and gender bias in clinical treatment recommendations using
clinician peer networks in an experimental setting", Nature Communications 12, MIT.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from simulation.errors import UsageError
from simulation.studies.dam.rows import SHOWN, Faults, read_rows
from simulation.studies.networks.panel import ROUNDS, Panel, halves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from simulation.studies.dam.rows import Row

NEWS: Final = "misinformation.csv"
CLINICIANS: Final = "clinicians.csv"
NEWS_COLUMNS: Final = (
    "playerID",
    "trialID",
    "question",
    "condition",
    "correctanswer",
    "response_1",
    "response_2",
    "response_3",
)
CLINICIAN_COLUMNS: Final = (
    "trial_id",
    "clinician_id",
    "round",
    "experimental_cond",
    "patient_demo",
    "numans",
    "numtruth",
)
NEEDED: Final = (
    "the study networks needs people's answers: --data PATH, a folder with misinformation.csv "
    "and clinicians.csv, or one of them. They are public: misinformation.csv is the data of "
    "Guilbeault, Woolley & Becker 2021 (CC0, doi:10.1371/journal.pone.0247487), clinicians.csv "
    "that of Centola et al. 2021 (MIT, doi:10.1038/s41467-021-26905-5); docs/networks.md says "
    "which columns are read"
)
LEAST_NETWORKS: Final = 2
RISK: Final = "risk"
"""What clinicians are asked."""
_T = TypeVar("_T")
_ROUND: Final = {"initial": 0, "second": 1, "final": 2}
_CONDITION: Final = {"network": True, "control": False}
_YES: Final = {"yes": 100.0, "no": 0.0}
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MISSING: Final = ("", "NA", "NaN")


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """What the files hold; None for a file that is not there.

    news: stated probabilities that a news item is true.  binary: the same by yes and no.
    clinicians: estimates of a patient's risk.  files: those that were read.
    """

    news: Panel | None
    binary: Panel | None
    clinicians: Panel | None
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One person's answers to one question; None where missing, in hundredths."""

    trial: str
    group: str
    claim: str
    person: str
    tied: bool
    truth: float
    answers: tuple[float | None, ...]


def read(data: Path | None) -> People:
    """Return what a folder or a file holds.

    Raises:
        UsageError: nothing is named, or there is no such file.
        InputError: a file cannot be used; it names the first ten problems, with their lines.
    """
    if data is None:
        raise UsageError(NEEDED)
    if not data.exists():
        raise UsageError(f"--data {data}: there is no such file or folder; {NEEDED}")
    files = (
        [data] if data.is_file() else [p for n in (NEWS, CLINICIANS) if (p := data / n).exists()]
    )
    if not files:
        raise UsageError(f"--data {data}: no {NEWS} and no {CLINICIANS} in this folder; {NEEDED}")
    news = binary = clinicians = None
    for path in files:
        if _is_clinicians(path):
            clinicians = read_clinicians(path)
        else:
            news, binary = read_news(path)
    return People(news=news, binary=binary, clinicians=clinicians, files=tuple(files))


def _is_clinicians(path: Path) -> bool:
    """Return whether a file is of the second kind, by a column that only it has."""
    try:
        with path.open("rb") as file:
            return b"clinician_id" in file.readline(10_000).lower()
    except OSError:
        return False  # reading it tells what is wrong


def read_news(path: Path) -> tuple[Panel | None, Panel | None]:
    """Return the probabilistic and the binary answers of a file; None for no binary ones.

    Raises:
        InputError: it or any of its rows cannot be used, or none is probabilistic.
    """
    faults = Faults(str(path))
    rows, truths = _rows(path, NEWS_COLUMNS, faults), _Truths("correctanswer", faults)
    kinds: dict[bool, dict[tuple[str, ...], Entry]] = {False: {}, True: {}}
    for where, cells in rows:
        cell = _Cells(where, cells, faults)
        binary = cell.choice("condition", {"probabilistic": False, "binary": True})
        number = cell.yes_or_no if binary else cell.percent
        later = [cell.missing_or(f"response_{i}", number) for i in (2, 3)]
        trial, claim = cell.text("trialID"), cell.text("question")
        entry = Entry(
            trial=trial,
            group=f"{trial}\n{claim}",
            claim=claim,
            person=cell.text("playerID"),
            tied=True,
            truth=truths.take(where, claim, number("correctanswer")),
            answers=(number("response_1"), *later),
        )
        key = (entry.trial, entry.claim, entry.person)
        if key in kinds[bool(binary)]:
            faults.add(where, "this player answers this question a second time in this trial")
        kinds[bool(binary)][key] = entry
    if not kinds[False]:
        faults.add("", "no row is Probabilistic; answers by Yes and No alone are not enough")
    faults.stop_if_any()
    probabilistic = kinds[False].values()
    return _panel(probabilistic, path), _panel(kinds[True].values(), path, least=1)


def read_clinicians(path: Path) -> Panel | None:
    """Return the estimates of a file, of those with a first one.

    Raises:
        InputError: it or any of its rows cannot be used.
    """
    faults = Faults(str(path))
    found: dict[tuple[str, ...], Entry] = {}
    truths = _Truths("numtruth", faults)
    for where, cells in _rows(path, CLINICIAN_COLUMNS, faults):
        cell = _Cells(where, cells, faults)
        place = cell.choice("round", _ROUND)
        tied = cell.choice("experimental_cond", _CONDITION)
        names = tuple(
            cell.text(n) for n in ("trial_id", "experimental_cond", "patient_demo", "clinician_id")
        )
        answer = cell.missing_or("numans", cell.percent)
        before = found[names].answers if names in found else (None,) * ROUNDS
        if place is None:
            continue
        if before[place] is not None and answer is not None:
            faults.add(where, "this clinician answers a second time in this round")
        answers = (*before[:place], answer, *before[place + 1 :])
        found[names] = Entry(
            trial=names[0],
            group="\n".join(names[:3]),
            claim=RISK,
            person="\n".join(names[1:]),
            tied=bool(tied),
            truth=truths.take(where, RISK, cell.percent("numtruth")),
            answers=answers,
        )
    faults.stop_if_any()
    return _panel((e for e in found.values() if e.answers[0] is not None), path)


def _rows(path: Path, columns: Sequence[str], faults: Faults) -> list[Row]:
    folded = [name.casefold() for name in columns]
    rows, names = read_rows(path, folded, faults, whole=True)
    missing = [f'"{name}"' for name in columns if name.casefold() not in names]
    if names and missing:  # then no row can be right: this is all that is to tell
        faults = Faults(str(path))
        are = "is no column" if len(missing) == 1 else "are no columns"
        told = f"there {are} {', '.join(missing)}; needed are {', '.join(columns)}"
        faults.add("", told)
    faults.stop_if_any()
    return rows


class _Truths:
    """The right answer to each question, the same in all of its rows."""

    def __init__(self, column: str, faults: Faults) -> None:
        self._column, self._faults = column, faults
        self._known: dict[str, tuple[str, float]] = {}

    def take(self, where: str, claim: str, truth: float | None) -> float:
        """Return the right answer of a row, and note where it differs from an earlier one."""
        if truth is None:  # which is a problem already
            return 0.0
        before, known = self._known.setdefault(claim, (where, truth))
        if known != truth:
            told = f'"{claim}" is answered rightly by {truth:g} here and by {known:g} in {before}'
            self._faults.add(where, f"{self._column}: {told}")
        return truth


class _Cells:
    """One row; what is wrong with a cell becomes a problem with line and column."""

    def __init__(self, where: str, cells: Mapping[str, str], faults: Faults) -> None:
        self._where, self._cells, self._faults = where, cells, faults

    def text(self, name: str) -> str:
        """Return a cell that must not be empty."""
        value = self._cells.get(name.casefold(), "")
        if not value:
            self._wrong(name, "is empty")
        return value

    def choice(self, name: str, allowed: Mapping[str, _T]) -> _T | None:
        """Return what one of a few words stands for."""
        value = self._cells.get(name.casefold(), "")
        if value.casefold() not in allowed:
            words = " or ".join(word.capitalize() for word in allowed)
            self._wrong(name, f'"{value[:40]}" is not {words}')
        return allowed.get(value.casefold())

    def percent(self, name: str) -> float | None:
        """Return a number from 0 to 100."""
        value = self._cells.get(name.casefold(), "")
        number = float(value) if _NUMBER.fullmatch(value) else np.nan
        if 0.0 <= number <= 100.0:  # noqa: PLR2004 - per cent
            return number
        self._wrong(name, f'"{value[:40]}" is not a number from 0 to 100')
        return None

    def yes_or_no(self, name: str) -> float | None:
        """Return 100 for yes, 0 for no."""
        return self.choice(name, _YES)

    def missing_or(self, name: str, read: Callable[[str], float | None]) -> float | None:
        """Return a cell that may be missing."""
        return None if self._cells.get(name.casefold(), "") in _MISSING else read(name)

    def _wrong(self, name: str, what: str) -> None:
        self._faults.add(self._where, f"{name}: {what}")


def _panel(entries: Iterable[Entry], path: Path, *, least: int = LEAST_NETWORKS) -> Panel | None:
    """Return entries as a panel, whatever their order in the file; None for no entries.

    Raises:
        InputError: there are too few networks to hold some back.
    """
    order = sorted(entries, key=lambda e: (_natural(e.trial), e.claim, e.person))
    if not order:
        return None
    trials = sorted({e.trial for e in order}, key=_natural)
    if len(trials) < least:
        faults = Faults(str(path))
        faults.add("", f"one trial only: {trials[0]}; some must be held back for the test")
        faults.stop_if_any()
    groups = sorted({e.group for e in order})
    claims = sorted({e.claim for e in order})
    truth = {e.claim: e.truth for e in order}
    hundredths = np.array([[np.nan if a is None else a for a in e.answers] for e in order])
    panel = Panel(
        ids=tuple(f"a{i:06d}" for i in range(len(order))),
        network=np.array([trials.index(e.trial) for e in order], dtype=np.int64),
        group=np.array([groups.index(e.group) for e in order], dtype=np.int64),
        tied=np.array([e.tied for e in order]),
        claim=np.array([claims.index(e.claim) for e in order], dtype=np.int64),
        claims=tuple(claims),
        answers=hundredths / 100.0,
        truth=np.array([truth[c] for c in claims]) / 100.0,
        labels=tuple(trials),
    )
    if least > 1:
        _check_halves(panel, path)
    return panel


def _check_halves(panel: Panel, path: Path) -> None:
    """Refuse answers from which nothing about change can be learned or tested.

    Raises:
        InputError: in one of the halves nobody's last answer differs from the first.
    """
    for name, half in zip(("fitting", "test"), halves(panel), strict=True):
        if not (half.scored & (half.last != half.first)).any():
            trials = ", ".join(panel.labels[i] for i in half.networks.tolist()[:SHOWN])
            faults = Faults(str(path))
            faults.add("", f"no last answer differs from its first in the {name} half: {trials}")
            faults.stop_if_any()


def _natural(name: str) -> tuple[int, int, str]:
    """Return a key that sorts numbers by value, before words."""
    return (0, int(name), name) if re.fullmatch(r"\d{1,18}", name) else (1, 0, name)
