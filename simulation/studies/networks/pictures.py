"""The study's pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.studies.networks.found import MAIN, PULL, named
from simulation.studies.networks.measuring import calibration
from simulation.studies.plots import Line, bars, lines

if TYPE_CHECKING:
    from simulation.studies.networks.found import News


def pictures(news: News | None) -> dict[str, str]:
    """Return the pictures by name."""
    if news is None:
        return {}
    found = [(name, pair[0]) for name, pair in news.ratios.items()]
    error = bars(
        "Error of last answers, over that of no change, networks held back",
        labels=[name for name, _ in found],
        series={"error": [one.value for _, one in found]},
        intervals={"error": [(one.low, one.high) for _, one in found]},
        y="RMSE over no change",
    )
    shown = [(PULL, news.baseline(PULL)), (named(MAIN), news.arms[MAIN].mean)]
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
