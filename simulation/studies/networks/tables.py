"""The study's tables, and every answer with its predictions."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import asdict, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.mind.revision import RevisionParameters
from simulation.studies.networks import clinicians
from simulation.studies.networks.fitting import TOLERANCE
from simulation.studies.networks.found import MAIN, PULL, SHAPES, named
from simulation.studies.networks.measuring import calibration, rmse, shape_of
from simulation.studies.networks.panel import others_mean
from simulation.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulation.studies.networks.found import Arm, Clinic, News
    from simulation.studies.networks.panel import Panel
    from simulation.studies.tables import Cell

PERCENT: Final = 100.0
_ENDS: Final = (0.0, 0.005, 0.2, 0.4, 0.6, 0.8, 0.995, 1.01)


def tables(news: News | None, clinic: Clinic | None, binary: Panel | None) -> tuple[Table, ...]:
    """Return all tables."""
    found: list[Table] = []
    if news is not None:
        found += [
            _errors(news),
            _shapes(news),
            _seed_table(news),
            _calibration(news),
            _by_first(news),
            _network_table(news),
            _plausibilities(news),
        ]
    if clinic is not None:
        found.append(_clinicians(clinic))
    arms = {} if news is None else {f"news: {n}": a for n, a in news.arms.items()}
    arms |= {} if clinic is None else {f"clinicians: {n}": a for n, a in clinic.arms.items()}
    found.append(_parameters(arms))
    if binary is not None:
        found.append(_binary(binary))
    return tuple(found)


def _errors(news: News) -> Table:
    test = news.test
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            constants,
            PERCENT * rmse(predicted, test),
            *(one.words() for one in news.ratios[name]),
        )
        for name, constants, predicted in news.predictions()
    ]
    return Table(
        name="errors",
        title=f"Error of the last answers on {len(test.networks)} networks held back "
        f"({int(test.scored.sum())} answers): root mean square, points of 100; networks resampled",
        columns=("prediction", "set", "RMSE", "over no change", "over the linear pull"),
        rows=tuple(rows),
    )


def _shapes(news: News) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, title in SHAPES.items():
        for half, panel in (("fitting", news.fitted_on), ("test", news.test)):
            people = getattr(shape_of(panel, panel.answers.T[:, None, :]), name)
            rows.append((title, "people", half, people, people, people, ""))
        theirs = rows[-1][3]
        for arm_name, arm in news.arms.items():
            values = np.array([getattr(s, name) for s in arm.shapes(news.test)])
            within = int((np.abs(values - float(theirs)) <= TOLERANCE).sum())
            told = f"{within} of {len(values)}"
            low, high = float(values.min()), float(values.max())
            rows.append((title, named(arm_name), "test", float(values.mean()), low, high, told))
    return Table(
        name="shapes",
        title=f"Single seeds beside people; within: seeds within {TOLERANCE} of people",
        columns=("what", "who", "half", "mean", "least", "most", "within"),
        rows=tuple(rows),
    )


def _seed_table(news: News) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, arm in news.arms.items():
        for i, shape in enumerate(arm.shapes(news.test)):
            error = PERCENT * rmse(arm.rounds[-1, i], news.test)
            shares = (shape.unchanged, shape.variance, shape.toward, *shape.still)
            rows.append((name, i + 1, error, *shares))
    return Table(
        name="seeds",
        title="Every seed",
        columns=(
            "revision",
            "seed",
            "RMSE",
            *SHAPES,
            "unchanged 1 to 2",
            "unchanged 2 to 3",
        ),
        rows=tuple(rows),
    )


def _calibration(news: News) -> Table:
    rows = [
        (name, *bin_)
        for name, predicted in (
            (PULL, news.baseline(PULL)),
            *((named(name), arm.mean) for name, arm in news.arms.items()),
        )
        for bin_ in calibration(predicted, news.test)
    ]
    return Table(
        name="calibration",
        title="Last answers by what was predicted, in fifths of the range",
        columns=("prediction", "predicted", "people", "people's sd", "answers"),
        rows=tuple(rows),
    )


def _by_first(news: News) -> Table:
    test, arm = news.test, news.arms[MAIN]
    rows: list[tuple[Cell, ...]] = []
    for low, high in pairwise(_ENDS):
        kept = (test.first >= low) & (test.first < high) & test.scored
        part = test.where(kept)
        if len(part):
            said = f"{PERCENT * part.first.min():.0f} to {PERCENT * part.first.max():.0f}"
            moved, sd = part.last - part.first, float((part.last - part.first).std())
            ours = arm.rounds[-1][:, kept] - part.first
            rows.append(
                (
                    said,
                    len(part),
                    float((moved == 0.0).mean()),
                    float((ours == 0.0).mean()),
                    PERCENT * float(moved.mean()),
                    PERCENT * float(ours.mean()),
                    PERCENT * sd,
                    PERCENT * float(ours.std()),
                )
            )
    return Table(
        name="by_first_answer",
        title=f"What becomes of first answers, people beside personas ({MAIN}); in points of 100",
        columns=(
            "first answer",
            "answers",
            "people unchanged",
            "personas unchanged",
            "people's mean move",
            "personas' mean move",
            "people's sd of moves",
            "personas' sd of moves",
        ),
        rows=tuple(rows),
    )


def _network_table(news: News) -> Table:
    rows: list[tuple[Cell, ...]] = []
    predicted = {PULL: news.baseline(PULL), MAIN: news.arms[MAIN].mean}
    for half, panel in (("fitting", news.fitted_on), ("test", news.test)):
        for network in panel.networks.tolist():
            kept = panel.network == network
            part = panel.where(kept)
            least = rmse(part.first, part)
            told: list[Cell] = ["", ""]
            if half == "test":
                told = [rmse(p[kept], part) / max(least, 1e-12) for p in predicted.values()]
            rows.append((panel.labels[network], half, len(part), PERCENT * least, *told))
    return Table(
        name="networks",
        title="The networks; errors over no change",
        columns=("network", "half", "answers", "no change", PULL, named(MAIN)),
        rows=tuple(rows),
    )


def _plausibilities(news: News) -> Table:
    panel = news.fitted_on
    count = np.bincount(panel.claim, minlength=len(panel.claims))
    learned, truth = (news.arms[n].fitted.plausibility for n in (MAIN, "truth"))
    return Table(
        name="plausibility",
        title="How plausible each item is beyond what peers say, as set on the fitting half",
        columns=("item", "true", "answers", MAIN, "truth"),
        rows=tuple(
            (
                name,
                bool(panel.truth[i] > 0.5),  # noqa: PLR2004 - true or false
                int(count[i]),
                float(learned[i]),
                float(truth[i]),
            )
            for i, name in enumerate(panel.claims)
        ),
    )


def _parameters(arms: Mapping[str, Arm]) -> Table:
    names = [f.name for f in fields(RevisionParameters)]
    return Table(
        name="parameters",
        title="The law as it was set",
        columns=("arm", *names, "loss"),
        rows=tuple(
            (name, *asdict(arm.fitted.parameters).values(), arm.fitted.loss)
            for name, arm in arms.items()
        ),
    )


def _clinicians(clinic: Clinic) -> Table:
    rows: list[tuple[Cell, ...]] = []
    who = [("people, fitting half", clinic.fitted_on, [clinic.fitted_on.answers.T])]
    who.append(("people, test half", clinic.test, [clinic.test.answers.T]))
    if clinic.back is not None:
        who.append(
            ("personas, fitting half as set on the other", clinic.fitted_on, clinic.back.runs())
        )
    who += [(f"personas, {name}", clinic.test, arm.runs()) for name, arm in clinic.arms.items()]
    for name, panel, seeds in who:
        found = [clinicians.difference(panel, rounds) for rounds in seeds]
        shapes = np.array(
            [[getattr(s, n) for s in one.shapes for n in SHAPES] for one in found]
        ).mean(axis=0)
        network, control = (
            float(np.mean([getattr(one, n) for one in found])) for n in ("network", "control")
        )
        rows.append((name, network, control, network - control, *map(float, shapes)))
    both = [("people, all", clinicians.pooled([(clinic.whole, clinic.whole.last)]))]
    if crossed := clinic.crossed():
        network, control = np.mean(crossed, axis=0).tolist()
        both.append(("personas, all, each half as set on the other", (network, control)))
    nothing = (math.nan,) * (2 * len(SHAPES))
    rows += [(name, net, con, net - con, *nothing) for name, (net, con) in both]
    return Table(
        name="clinicians",
        title="Clinicians: change of the mean absolute error from first to last answer, in points",
        columns=(
            "who",
            "network",
            "control",
            "difference",
            *(f"{side} {name}" for side in ("network", "control") for name in SHAPES),
        ),
        rows=tuple(rows),
    )


def _binary(panel: Panel) -> Table:
    """Return what people do who may only say yes or no; no persona takes part."""
    peers = others_mean(panel.first, panel.group)
    kept = panel.scored
    changed = (panel.last != panel.first) & kept
    minority = kept & (np.abs(peers - panel.first) > 0.5)  # noqa: PLR2004 - most peers differ
    return Table(
        name="binary",
        title="Yes and no instead of probabilities: people only, all networks",
        columns=(
            "answers",
            "unchanged",
            "of those with most peers against them, changed",
            "of the others, changed",
        ),
        rows=(
            (
                int(kept.sum()),
                float(1.0 - changed.sum() / max(1, kept.sum())),
                float(changed[minority].sum() / max(1, minority.sum())),
                float(changed[kept & ~minority].sum() / max(1, (kept & ~minority).sum())),
            ),
        ),
    )


def records(news: News | None) -> dict[str, str]:
    """Return every answer of the test half with its predictions, as CSV."""
    if news is None:
        return {}
    test, out = news.test, io.StringIO()
    columns = {name: predicted for name, _, predicted in news.predictions()}
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["row", "network", "item", "first", "last", *columns])
    for i, name in enumerate(test.ids):
        cells = [float(predicted[i]) for predicted in columns.values()]
        place = (test.labels[test.network[i]], test.claims[test.claim[i]])
        writer.writerow([name, *place, float(test.first[i]), float(test.last[i]), *cells])
    return {"predictions.csv": out.getvalue()}
