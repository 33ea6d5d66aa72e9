"""The study's pictures: the seed's figures a, b and strength, settling, growth and flips."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.studies.dam import unit
from simulation.studies.dam.figures import Chart, Line

if TYPE_CHECKING:
    from simulation.rng import FloatArray
    from simulation.studies.dam.streams import Taken
    from simulation.studies.dam.unit import Path
    from simulation.studies.dam.validation import Validation

SIDES = ("positive", "negative", "neutral")


def charts(found: Validation) -> dict[str, str]:
    """Return SVG by file name."""
    drawn = {
        "accumulation": _confidences(
            "Accumulation: vague at first, then praised", found.accumulated
        ),
        "contradiction": _confidences("Contradiction: praised, blamed, praised", found.turn.path),
        "intensity": _intensity(found),
        "settling": _settling(found),
        "growth": _growth(found),
        "flips": _flips(),
    }
    return {f"{name}.svg": chart.svg() for name, chart in drawn.items()}


def own_chart(taken: Taken) -> str:
    """Return the growth over a user's own observations as SVG."""
    return Chart(
        title="Your own observations",
        x="observations",
        y="units",
        lines=(_line("ours", taken.units), _line("without updates", _upto(len(taken.units)))),
        high=None,
    ).svg()


def _confidences(title: str, path: Path) -> Chart:
    lines = tuple(_line(name, path.confidence[0, :, i]) for i, name in enumerate(SIDES))
    return Chart(title=title, x="observations", y="confidence", lines=lines)


def _intensity(found: Validation) -> Chart:
    lines = tuple(
        _line(f"strength {strength:g}", row)
        for strength, row in zip(unit.INTENSITIES, found.intensity, strict=True)
    )
    return Chart(
        title="Strength: praise of a unit that was blamed five times",
        x="praises",
        y="positive confidence",
        lines=lines,
    )


def _settling(found: Validation) -> Chart:
    low, middle, high = np.quantile(found.coffee[0].confidence, (0.1, 0.5, 0.9), axis=0)
    packaging = found.separations[0][0].packaging[:, 0]
    return Chart(
        title="Thirty observations of coffee: taste, and packaging beside it",
        x="observations",
        y="positive confidence",
        lines=(
            _line("taste, median", middle),
            _line("10 %", low, dashed=True),
            _line("90 %", high, dashed=True),
            _line("packaging, mean", packaging),
        ),
    )


def _growth(found: Validation) -> Chart:
    facts = found.main[0].growth.facts
    mean = np.mean([one.growth.units for one in found.main], axis=0)
    lines = [_line("without updates", facts), _line("ours", mean)]
    return Chart(
        title="Memory growth over the dialogues",
        x="dialogues",
        y="units",
        lines=tuple(lines),
        high=None,
    )


def _flips() -> Chart:
    lines = []
    for held in (unit.HELD[0], unit.HELD[-1]):
        for cap, name in ((unit.CAP, "cap 12"), (unit.UNCAPPED, "no cap")):
            block = np.repeat(np.array([unit.GOOD, unit.BAD]), (held, 60), axis=0)[None]
            path = unit.path(block, np.full((1, held + 60), unit.MIDDLE), cap=cap)
            after = path.lean[0, held - 1 :]
            lines.append(
                Line(
                    name=f"after {held}, {name}",
                    x=range(len(after)),
                    y=after.tolist(),
                    dashed=cap > unit.CAP,
                )
            )
    return Chart(
        title="A change of mind after n consistent observations",
        x="opposing observations",
        y="leaning",
        lines=tuple(lines),
        low=-1.0,
    )


def _line(name: str, values: FloatArray | unit.IntArray, *, dashed: bool = False) -> Line:
    return Line(name=name, x=range(1, len(values) + 1), y=values.tolist(), dashed=dashed)


def _upto(count: int) -> unit.IntArray:
    return np.arange(1, count + 1)
