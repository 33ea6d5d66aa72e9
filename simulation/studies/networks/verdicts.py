"""What was reached, a line a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.studies.intervals import spread
from simulation.studies.networks import clinicians
from simulation.studies.networks.baselines import PER_CLAIM
from simulation.studies.networks.fitting import TOLERANCE
from simulation.studies.networks.found import ARMS, MAIN, OWN, PULL, RULE, SHAPES, named
from simulation.studies.networks.measuring import rmse, shape_intervals
from simulation.studies.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.studies.intervals import Interval
    from simulation.studies.networks.found import Clinic, News
    from simulation.studies.networks.panel import FloatArray

PERCENT: Final = 100.0
AIM: Final = 0.88


def verdicts(news: News | None, clinic: Clinic | None) -> tuple[Verdict, ...]:
    """Return what was reached, a line a claim."""
    found: list[Verdict] = []
    if news is not None:
        found += [*_error_verdicts(news), *_beside(news), *_shape_verdicts(news)]
        found += _both_ways(news)
        found.append(_rule_verdict(news))
    if clinic is not None:
        found += _clinic_verdicts(clinic)
    return tuple(found)


def _error_verdicts(news: News) -> Iterator[Verdict]:
    test = news.test
    least = rmse(test.first, test)
    pull = rmse(news.baseline(PULL), test) / least
    for name, arm in news.arms.items():
        error, beside = news.ratios[named(name)]
        seeds = arm.rounds.shape[1]
        yield Verdict(
            claim=f"error of the mean of {seeds} seeds, personas know {ARMS[name].told}",
            found=f"{error.words()} x no change, {beside.words()} x linear pull",
            target=f"below the linear pull's {pull:.3f}, with certainty",
            reached=error.value < pull and beside.high < 1.0,
        )
    main = news.ratios[named(MAIN)][0].value
    yield Verdict(
        claim=f"the same, aim ({MAIN})",
        found=f"{main:.3f} x no change",
        target=f"at most {AIM}",
        reached=main <= AIM,
    )


def _beside(news: News) -> Iterator[Verdict]:
    """Yield what keeps the errors above in proportion."""
    least = rmse(news.test.first, news.test)
    alone = np.array([rmse(run[-1], news.test) for run in news.arms[MAIN].runs()]) / least
    yield Verdict(
        claim=f"error of a single seed ({MAIN}): a run is a draw and no forecast",
        found=f"{spread(alone)} x no change",
        target="",
        reached=None,
    )
    knowing = news.ratios[PER_CLAIM][0]
    yield Verdict(
        claim=f"{PER_CLAIM}, which knows as much as {MAIN}",
        found=f"{knowing.words()} x no change",
        target="",
        reached=None,
    )


def _shape_verdicts(news: News) -> Iterator[Verdict]:
    people = shape_intervals(news.test)
    shapes = news.arms[MAIN].shapes(news.test)
    for name, title in SHAPES.items():
        values = np.array([getattr(one, name) for one in shapes])
        theirs = people[name].value
        within = int((np.abs(values - theirs) <= TOLERANCE).sum())
        yield Verdict(
            claim=f"{title}, single seeds",
            found=f"{spread(values)}; {within} of {len(values)} seeds within {TOLERANCE}",
            target=f"their mean within {TOLERANCE} of people",
            reached=bool(abs(values.mean() - theirs) <= TOLERANCE),
            theirs=people[name].words(),
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
    found = news.ratios[RULE][0]
    return Verdict(
        claim="the rule model's own turn, with its defaults",
        found=f"{found.words()} x no change",
        target="",
        reached=None,
    )


def _clinic_verdicts(clinic: Clinic) -> Iterator[Verdict]:
    people = clinicians.interval(clinic.test)
    for name, arm in clinic.arms.items():
        found = [clinicians.difference(clinic.test, r).difference for r in arm.runs()]
        # over so few trials people's interval holds 0, and anything would pass
        judged = name == OWN and clinic.back is None
        yield _difference(f"held back, {name}", found, people, judged=judged)
    if clinic.back is not None:
        found = [network - control for network, control in clinic.crossed()]
        told = "all, each half as set on the other"
        yield _difference(told, found, clinicians.interval(clinic.whole), judged=True)


def _difference(who: str, found: list[float], people: Interval, *, judged: bool) -> Verdict:
    mean = float(np.mean(found))
    known = not np.isnan(people.low)
    inside = people.low <= mean <= people.high and mean * people.value > 0.0
    return Verdict(
        claim=f"clinicians {who}: change of the error with peers minus without",
        found=f"{spread(found, 2)} points",
        target="inside people's interval, of one sign" if judged else "",
        reached=inside if judged and known else None,
        theirs=people.words(2),
    )
