"""Fit the word weights of one field on labelled sentences (`simulation.extractors.weights`).

Logistic regressions with a ridge: for each aspect, whether a sentence speaks of it; and one with
three classes, how a sentence leans about a labelled aspect. Features that stand in few sentences
are left out, weights are rounded to thousandths, and rows without any weight to speak of dropped.
Settings were chosen by five-fold cross-validation within the training sentences.

    python -m simulation.studies.extraction.fit TRAIN.xml OUT.json
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy import optimize, sparse

from simulation.extractors import polarity, weights
from simulation.extractors.base import POLARITIES
from simulation.extractors.clauses import head, read
from simulation.extractors.lists import Lists, read_words
from simulation.studies.extraction.data import read_sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simulation.extractors.clauses import Reading
    from simulation.extractors.weights import Features, Row
    from simulation.studies.extraction.data import Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was chosen by cross-validation.

    ridge: penalty on squared weights.  list_ridge: on those of listed words.  least: sentences
    that a feature must stand in.  leaning: log odds that are added to every aspect, since a missed
    aspect costs more than a wrong one at even odds.  small: rows below this are dropped.
    """

    find_ridge: float = 6.0
    list_ridge: float = 0.6
    lean_ridge: float = 2.0
    find_least: int = 6
    lean_least: int = 10
    leaning: float = 0.5
    small: float = 0.1
    steps: int = 200


SETTINGS: Final = Settings()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Known:
    """A training sentence, read."""

    text: Reading
    listed: Mapping[str, list[int]]
    labels: Mapping[str, str]


def fit(
    sentences: Sequence[Sentence],
    words: Mapping[str, Sequence[str]],
    settings: Settings = SETTINGS,
) -> dict[str, Any]:
    """Return a table as its file holds it. words: lists by aspect; these are the aspects."""
    aspects = tuple(words)
    lists = Lists(words)
    known = [_read(sentence, lists) for sentence in sentences]
    find = _fit_find(known, aspects, settings)
    lean = _fit_lean(known, aspects, find, settings)
    counts = Counter(label for one in known for label in one.labels.items())
    return {
        "format": weights.FORMAT,
        "sentences": len(known),
        "aspects": list(aspects),
        "labels": {
            aspect: [counts[aspect, polarity] for polarity in POLARITIES] for aspect in aspects
        },
        "find": find,
        "lean": lean,
    }


def written(table: Mapping[str, Any]) -> str:
    """Return a table as the text of its file, a row a line."""
    parts = []
    for key, value in table.items():
        if isinstance(value, dict):
            rows = (f"{json.dumps(k)}: {json.dumps(list(v))}" for k, v in value.items())
            parts.append(f"{json.dumps(key)}: {{\n" + ",\n".join(rows) + "\n}")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _read(sentence: Sentence, lists: Lists) -> _Known:
    text = read(head(sentence.text), polarity.emoji())
    listed: dict[str, list[int]] = {}
    for word, aspect in lists.find(text.stems):
        listed.setdefault(aspect, []).append(word)
    return _Known(text=text, listed=listed, labels=sentence.labels)


def _fit_find(
    known: Sequence[_Known], aspects: Sequence[str], settings: Settings
) -> dict[str, Row]:
    """Return the weights by which aspects are found: one regression an aspect."""
    rows = [weights.text_features(one.text, one.listed) for one in known]
    names, matrix = _matrix(rows, settings.find_least)
    loose = np.array([name == "bias" or name.startswith("list:") for name in names])
    ridge = np.where(loose, settings.list_ridge, settings.find_ridge)
    columns = []
    for aspect in aspects:
        spoken = np.array([aspect in one.labels for one in known], dtype=np.float64)
        found = _regression(matrix, np.column_stack((spoken, 1.0 - spoken)), ridge, settings)
        columns.append(found[:, 0] - found[:, 1])
    table = np.column_stack(columns)
    table[names.index("bias")] += settings.leaning
    return _rows(names, table, settings)


def _fit_lean(
    known: Sequence[_Known],
    aspects: Sequence[str],
    find: Mapping[str, Row],
    settings: Settings,
) -> dict[str, Row]:
    """Return the weights by which a labelled aspect leans."""
    rows: list[Features] = []
    classes: list[int] = []
    for one in known:
        said = polarity.judgements(one.text)
        for aspect, label in one.labels.items():
            if aspect in aspects:
                listed = one.listed.get(aspect)
                anchors = listed or weights.heaviest(one.text, find, aspects.index(aspect))
                near = polarity.nearness(one.text, anchors)
                rows.append(weights.lean_features(one.text, aspect, said, near))
                classes.append(POLARITIES.index(label))
    names, matrix = _matrix(rows, settings.lean_least)
    ridge = np.full(len(names), settings.lean_ridge)
    found = _regression(matrix, np.eye(len(POLARITIES))[classes], ridge, settings)
    return _rows(names, found - found.mean(axis=1, keepdims=True), settings)


def _matrix(rows: Sequence[Features], least: int) -> tuple[list[str], Any]:
    """Return the features that stand in enough rows, and the rows as a sparse matrix."""
    counts = Counter(name for row in rows for name, value in row.items() if value)
    names = sorted(name for name, count in counts.items() if count >= least or name == "bias")
    place = {name: i for i, name in enumerate(names)}
    cells = [
        (i, place[name], value)
        for i, row in enumerate(rows)
        for name, value in row.items()
        if name in place
    ]
    row, column, value = (np.array(each) for each in zip(*cells, strict=True))
    return names, sparse.csr_matrix((value, (row, column)), shape=(len(rows), len(names)))


def _regression(
    matrix: Any, shares: NDArray[np.float64], ridge: NDArray[np.float64], settings: Settings
) -> NDArray[np.float64]:
    """Return the weights of a multinomial regression, (features, classes).

    shares: (rows, classes), each row the class that was seen.  ridge: (features,).
    """
    size = (matrix.shape[1], shares.shape[1])
    turned = matrix.T.tocsr()

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        table = flat.reshape(size)
        logits = matrix @ table
        logits -= logits.max(axis=1, keepdims=True)
        powers = np.exp(logits)
        sums = powers.sum(axis=1, keepdims=True)
        penalty = 0.5 * (ridge[:, None] * table * table).sum()
        value = penalty - (shares * (logits - np.log(sums))).sum()
        slope = turned @ (powers / sums - shares) + ridge[:, None] * table
        return float(value), slope.ravel()

    found = optimize.minimize(
        loss,
        np.zeros(size[0] * size[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": settings.steps},
    )
    table: NDArray[np.float64] = found.x.reshape(size)
    return table


def _rows(names: Sequence[str], table: NDArray[np.float64], settings: Settings) -> dict[str, Row]:
    """Return the rows that weigh something, in thousandths."""
    whole = np.rint(table * weights.UNIT).astype(int).tolist()
    return {
        name: tuple(row)
        for name, row, given in zip(names, whole, np.abs(table).max(axis=1), strict=True)
        if given >= settings.small
    }


def main(arguments: Sequence[str]) -> int:
    """Fit on the sentences of one file and write the table into another."""
    source, target = map(Path, arguments)
    table = fit(read_sentences(source), read_words())
    target.write_text(written(table), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
