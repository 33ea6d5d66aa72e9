"""The study's pictures: the seed's figures a, b and strength, settling, growth and flips."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simulation.studies import plots
from simulation.studies.dam import unit
from simulation.studies.plots import Line

if TYPE_CHECKING:
    from simulation.rng import FloatArray
    from simulation.studies.dam.streams import Taken
    from simulation.studies.dam.unit import Path
    from simulation.studies.dam.validation import Validation

SIDES = ("positive", "negative", "neutral")
UNIT = (0.0, 1.0)  # a confidence


def charts(found: Validation) -> dict[str, str]:
    """Return SVG by name."""
    return {
        "accumulation": _confidences(
            "Accumulation: vague at first, then praised", found.accumulated
        ),
        "contradiction": _confidences("Contradiction: praised, blamed, praised", found.turn.path),
        "intensity": _intensity(found),
        "settling": _settling(found),
        "growth": _growth(found),
        "flips": _flips(),
    }


def own_chart(taken: Taken) -> str:
    """Return the growth over a user's own observations as SVG."""
    return plots.lines(
        "Your own observations",
        x="observations",
        y="units",
        lines=(_line("ours", taken.units), _line("without updates", _upto(len(taken.units)))),
    )


def _confidences(title: str, path: Path) -> str:
    drawn = tuple(_line(name, path.confidence[0, :, i]) for i, name in enumerate(SIDES))
    return plots.lines(title, x="observations", y="confidence", lines=drawn, domain=UNIT)


def _intensity(found: Validation) -> str:
    drawn = tuple(
        _line(f"strength {strength:g}", row)
        for strength, row in zip(unit.INTENSITIES, found.intensity, strict=True)
    )
    return plots.lines(
        "Strength: praise of a unit that was blamed five times",
        x="praises",
        y="positive confidence",
        lines=drawn,
        domain=UNIT,
    )


def _settling(found: Validation) -> str:
    low, middle, high = np.quantile(found.coffee[0].confidence, (0.1, 0.5, 0.9), axis=0)
    packaging = found.separations[0][0].packaging[:, 0]
    return plots.lines(
        "Thirty observations of coffee: taste, and packaging beside it",
        x="observations",
        y="positive confidence",
        lines=(
            replace(
                _line("taste: median, 10 % and 90 %", middle), low=low.tolist(), high=high.tolist()
            ),
            _line("packaging, mean", packaging),
        ),
        domain=UNIT,
    )


def _growth(found: Validation) -> str:
    facts = found.main[0].growth.facts
    mean = np.mean([one.growth.units for one in found.main], axis=0)
    return plots.lines(
        "Memory growth over the dialogues",
        x="dialogues",
        y="units",
        lines=(_line("without updates", facts), _line("ours", mean)),
    )


def _flips() -> str:
    drawn = []
    for held in (unit.HELD[0], unit.HELD[-1]):
        for cap, name in ((unit.CAP, "cap 12"), (unit.UNCAPPED, "no cap")):
            block = np.repeat(np.array([unit.GOOD, unit.BAD]), (held, 60), axis=0)[None]
            path = unit.path(block, np.full((1, held + 60), unit.MIDDLE), cap=cap)
            after = path.lean[0, held - 1 :]
            drawn.append(
                Line(
                    name=f"after {held}, {name}",
                    x=range(len(after)),
                    y=after.tolist(),
                    dashed=cap > unit.CAP,
                )
            )
    return plots.lines(
        "A change of mind after n consistent observations",
        x="opposing observations",
        y="leaning",
        lines=drawn,
        domain=(-1.0, 1.0),
    )


def _line(name: str, values: FloatArray | unit.IntArray, *, dashed: bool = False) -> Line:
    return Line(name=name, x=range(1, len(values) + 1), y=values.tolist(), dashed=dashed)


def _upto(count: int) -> unit.IntArray:
    return np.arange(1, count + 1)
