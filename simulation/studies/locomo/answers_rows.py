"""Tables of the study `locomo-answers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulation.studies.intervals import bootstrap
from simulation.studies.locomo.comparing import AGENTS, OURS, PERSMEM, mean
from simulation.studies.locomo.conversations import ADVERSARIAL, CATEGORIES
from simulation.studies.tables import Table

if TYPE_CHECKING:
    from simulation.rng import FloatArray
    from simulation.studies.locomo.answers import Answered
    from simulation.studies.tables import Cell

K: Final = 5
"""Memories that are put with a question."""
ORACLE: Final = "the evidence itself"
PAIRS: Final = ((PERSMEM, AGENTS), (OURS, AGENTS), (OURS, PERSMEM))


def tables(answered: Answered) -> tuple[Table, ...]:
    """Return all tables."""
    return (_summary(answered), _both(answered), _categories(answered), _questions(answered))


def _summary(answered: Answered) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for method, values in answered.f1.items():
        interval = bootstrap(
            values, mean, clusters=answered.conversation, purpose=f"F1 of {method}"
        )
        whole = answered.recall[method] == 1.0
        answerable = answered.category != ADVERSARIAL
        rows.append(
            (
                method,
                len(values),
                float(answered.recall[method].mean()),
                interval.value,
                interval.low,
                interval.high,
                _mean(values[answerable]),
                int(whole.sum()),
                _mean(values[whole]),
                _mean(values[~whole]),
            )
        )
    return Table(
        name="answers",
        title="Answer F1",
        columns=(
            "method",
            "questions",
            f"recall@{K}",
            "F1",
            "low",
            "high",
            "F1, all but adversarial",
            "all evidence found",
            "F1 of these",
            "F1 of the others",
        ),
        rows=tuple(rows),
    )


def _both(answered: Answered) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for method, other in PAIRS:
        both = (answered.recall[method] == 1.0) & (answered.recall[other] == 1.0)
        values = [answered.f1[name] for name in (method, other)]
        change = values[0] - values[1]
        rows.append(
            (
                method,
                other,
                float(change.mean()),
                int(both.sum()),
                *(_mean(each[both]) for each in values),
            )
        )
    return Table(
        name="pairs",
        title="Pairs of methods, and questions where both found all evidence",
        columns=("method", "other", "F1 above", "both found all", "F1 then", "the other's then"),
        rows=tuple(rows),
    )


def _categories(answered: Answered) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for number, name in CATEGORIES.items():
        part = answered.category == number
        if part.any():
            rows += [
                (name, method, int(part.sum()), float(values[part].mean()))
                for method, values in answered.f1.items()
            ]
    return Table(
        name="categories",
        title="Answer F1 by category",
        columns=("category", "method", "questions", "F1"),
        rows=tuple(rows),
    )


def _questions(answered: Answered) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            int(answered.category[i]),
            method,
            float(answered.recall[method][i]),
            said,
            float(f1[i]),
        )
        for method, f1 in answered.f1.items()
        for i, (name, said) in enumerate(zip(answered.names, answered.said[method], strict=True))
    ]
    return Table(
        name="questions",
        title="Every answer",
        columns=("question", "category", "method", f"recall@{K}", "answer", "F1"),
        rows=tuple(rows),
    )


def _mean(values: FloatArray) -> float:
    """Return the mean, NaN of nothing."""
    return float(values.mean()) if len(values) else float("nan")
