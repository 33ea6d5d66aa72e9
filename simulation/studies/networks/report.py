"""The study's verdicts, tables and pictures, from what was found."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.mind.revision import RevisionParameters
from simulation.studies.intervals import spread
from simulation.studies.networks import clinicians
from simulation.studies.networks.fitting import TOLERANCE
from simulation.studies.networks.measuring import (
    Shape,
    calibration,
    ratio,
    rmse,
    shape_of,
)
from simulation.studies.networks.panel import others_mean
from simulation.studies.plots import Line, bars, lines
from simulation.studies.tables import Table
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulation.studies.intervals import Interval
    from simulation.studies.networks.baselines import Baseline
    from simulation.studies.networks.fitting import Fitted
    from simulation.studies.networks.panel import FloatArray, Panel
    from simulation.studies.tables import Cell

PERCENT: Final = 100.0
AIM: Final = 0.88
MAIN: Final = "plausibility"
PULL: Final = "linear pull"
SHAPES: Final = {
    "unchanged": "unchanged share, round 1 to 3",
    "variance": "variance ratio, round 3 to 1",
    "toward": "share of moves toward the peers' mean",
}
_ENDS: Final = (0.0, 0.005, 0.2, 0.4, 0.6, 0.8, 0.995, 1.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A way to use the law. claims: see `fitting.fit`.  told: what personas know beside peers."""

    claims: str
    told: str


ARMS: Final = {
    "peers": Kind(claims="none", told="their peers' answers alone"),
    MAIN: Kind(
        claims="learned",
        told="those and how plausible each item was to people of the fitting networks",
    ),
    "truth": Kind(claims="truth", told="all that and whether the item is true"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arm:
    """The law as it was set, and the answers of its runs, (3, S, N)."""

    fitted: Fitted
    rounds: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The mean last answer of the seeds, (N,)."""
        return np.asarray(self.rounds[-1].mean(axis=0))

    def shapes(self, panel: Panel) -> list[Shape]:
        """Return what each single seed looks like."""
        return [shape_of(panel, self.rounds[:, i : i + 1]) for i in range(self.rounds.shape[1])]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class News:
    """What was found about stated probabilities.

    rule: of the rule model with its defaults, (3, S, N).  back, baselines_back: set on the test
    half and run on the fitting half.
    """

    fitted_on: Panel
    test: Panel
    arms: Mapping[str, Arm]
    rule: FloatArray
    baselines: Sequence[Baseline]
    back: Arm | None
    baselines_back: Sequence[Baseline]

    def baseline(self, name: str) -> FloatArray:
        """Return the predictions of a baseline on the test half."""
        return next(b for b in self.baselines if b.name == name).predict(self.test)

    def predictions(self) -> Iterator[tuple[str, str, FloatArray]]:
        """Yield each way to predict, what was set in it, and its last answers."""
        for one in self.baselines:
            yield one.name, one.constants, one.predict(self.test)
        yield "rule model, defaults", "", self.rule[-1].mean(axis=0)
        for name, arm in self.arms.items():
            yield f"revision: {name}", "", arm.mean


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clinic:
    """What was found about the clinicians."""

    fitted_on: Panel
    test: Panel
    arms: Mapping[str, Arm]


def verdicts(news: News | None, clinic: Clinic | None) -> tuple[Verdict, ...]:
    """Return what was reached, a line a claim."""
    found: list[Verdict] = []
    if news is not None:
        found += [*_error_verdicts(news), *_shape_verdicts(news), *_both_ways(news)]
        found.append(_rule_verdict(news))
    if clinic is not None:
        found += _clinic_verdicts(clinic)
    return tuple(found)


def _error_verdicts(news: News) -> Iterator[Verdict]:
    test = news.test
    least = rmse(test.first, test)
    pull = rmse(news.baseline(PULL), test) / least
    for name, arm in news.arms.items():
        error = _to_no_change(arm.mean, test)
        seeds = arm.rounds.shape[1]
        yield Verdict(
            claim=f"error of the mean of {seeds} seeds, personas know {ARMS[name].told}",
            found=f"{error.words()} x no change",
            target=f"below the linear pull's {pull:.3f}",
            reached=error.value < pull,
            theirs=f"no change {PERCENT * least:.2f} points",
        )
    main = _to_no_change(news.arms[MAIN].mean, test).value
    yield Verdict(
        claim=f"the same, aim ({MAIN})",
        found=f"{main:.3f} x no change",
        target=f"at most {AIM}",
        reached=main <= AIM,
    )


def _shape_verdicts(news: News) -> Iterator[Verdict]:
    people = shape_of(news.test, news.test.answers.T[:, None, :])
    shapes = news.arms[MAIN].shapes(news.test)
    for name, title in SHAPES.items():
        values = np.array([getattr(one, name) for one in shapes])
        theirs = getattr(people, name)
        within = int((np.abs(values - theirs) <= TOLERANCE).sum())
        yield Verdict(
            claim=f"{title}, single seeds",
            found=f"{spread(values)}; {within} of {len(values)} seeds within {TOLERANCE}",
            target=f"their mean within {TOLERANCE} of people",
            reached=bool(abs(values.mean() - theirs) <= TOLERANCE),
            theirs=f"{theirs:.3f}",
        )


def _both_ways(news: News) -> Iterator[Verdict]:
    """Yield the error over all networks, each predicted by what was set on the other half."""
    if news.back is None:
        return
    ours, pull = (
        _pooled(news, mean, back)
        for mean, back in (
            (news.arms[MAIN].mean, news.back.mean),
            (
                news.baseline(PULL),
                next(b for b in news.baselines_back if b.name == PULL).predict(news.fitted_on),
            ),
        )
    )
    yield Verdict(
        claim=f"the error over all networks, each by what was set on the other half ({MAIN})",
        found=f"{ours:.3f} x no change",
        target=f"below the linear pull's {pull:.3f}",
        reached=ours < pull,
    )


def _pooled(news: News, test: FloatArray, back: FloatArray) -> float:
    """Return the error of both halves over that of no change."""
    squares = []
    for panel, predicted in ((news.test, test), (news.fitted_on, back)):
        kept = panel.scored
        pair = np.stack([predicted - panel.last, panel.first - panel.last])[:, kept]
        squares.append((pair**2).sum(axis=1))
    ours, least = np.sum(squares, axis=0)
    return float(np.sqrt(ours / least))


def _rule_verdict(news: News) -> Verdict:
    found = _to_no_change(news.rule[-1].mean(axis=0), news.test)
    return Verdict(
        claim="the rule model's own turn, with its defaults",
        found=f"{found.words()} x no change",
        target="",
        reached=None,
    )


def _clinic_verdicts(clinic: Clinic) -> Iterator[Verdict]:
    people = clinicians.interval(clinic.test)
    for name, arm in clinic.arms.items():
        found = [clinicians.difference(clinic.test, r).difference for r in _seeds(arm)]
        mean = float(np.mean(found))
        own = name != "set on news items"
        yield Verdict(
            claim=f"clinicians, change of the error with peers minus without, {name}",
            found=f"{spread(found, 2)} points",
            target="inside people's interval, of one sign" if own else "",
            reached=(people.low <= mean <= people.high and mean * people.value > 0)
            if own
            else None,
            theirs=people.words(2),
        )


def _seeds(arm: Arm) -> list[FloatArray]:
    """Return the answers of each seed, (3, N)."""
    return [arm.rounds[:, i] for i in range(arm.rounds.shape[1])]


def _to_no_change(predicted: FloatArray, panel: Panel) -> Interval:
    return ratio(predicted, panel.first, panel, purpose="no change")


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
    test, rows = news.test, []
    pull = news.baseline(PULL)
    for name, constants, predicted in news.predictions():
        to_pull = ratio(predicted, pull, test, purpose=PULL)
        rows.append(
            (
                name,
                constants,
                PERCENT * rmse(predicted, test),
                _to_no_change(predicted, test).words(),
                to_pull.words(),
            )
        )
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
            rows.append(
                (title, f"revision: {arm_name}", "test", float(values.mean()), low, high, told)
            )
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
            *((f"revision: {name}", arm.mean) for name, arm in news.arms.items()),
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
        columns=("network", "half", "answers", "no change", PULL, f"revision: {MAIN}"),
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
    who += [(f"personas, {name}", clinic.test, _seeds(arm)) for name, arm in clinic.arms.items()]
    for name, panel, seeds in who:
        found = [clinicians.difference(panel, rounds) for rounds in seeds]
        shapes = np.array(
            [[getattr(s, n) for s in one.shapes for n in SHAPES] for one in found]
        ).mean(axis=0)
        network, control = (
            float(np.mean([getattr(one, n) for one in found])) for n in ("network", "control")
        )
        rows.append((name, network, control, network - control, *map(float, shapes)))
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
                float(1.0 - changed.sum() / kept.sum()),
                float(changed[minority].mean()),
                float(changed[kept & ~minority].mean()),
            ),
        ),
    )


def pictures(news: News | None) -> dict[str, str]:
    """Return the pictures by name."""
    if news is None:
        return {}
    found = [(n, _to_no_change(p, news.test)) for n, _, p in news.predictions()]
    error = bars(
        "Error of last answers, over that of no change, networks held back",
        labels=[name for name, _ in found],
        series={"error": [one.value for _, one in found]},
        intervals={"error": [(one.low, one.high) for _, one in found]},
        y="RMSE over no change",
    )
    shown = [(PULL, news.baseline(PULL)), (f"revision: {MAIN}", news.arms[MAIN].mean)]
    drawn = [Line(name="as predicted", x=(0.0, 1.0), y=(0.0, 1.0), dashed=True)]
    for name, predicted in shown:
        points = calibration(predicted, news.test)
        drawn.append(Line(name=name, x=[p[0] for p in points], y=[p[1] for p in points]))
    return {
        "errors": error,
        "calibration": lines(
            "People's last answers by what was predicted",
            x="predicted",
            y="people's mean",
            lines=drawn,
            domain=(0.0, 1.0),
        ),
    }


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
