"""The study's picture: the error of each setting under the fixed gains and the shipped map."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.studies.calibration_tables import Measured

WIDTH, LEFT, RIGHT, TOP, ROW = 760, 220, 60, 56, 30
COLOURS = {"reference": "#999999", "paper": "#0072b2"}  # Okabe & Ito
TITLE = "Calibration error by setting, in ranges of each measure"


def error_bars(found: Sequence[Measured]) -> str:
    """Return a bar chart as SVG, one pair of bars a setting."""
    bars = [
        (f"{one.kind.name}: {name}{'' if s < one.kind.fitted else ' (not fitted)'}", one, s)
        for one in found
        for s, name in enumerate(one.kind.settings)
    ]
    height = TOP + ROW * len(bars) + 20
    most = max(float(errors.max()) for one in found for errors in one.errors.values())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{TITLE}</title>",
        '<g font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="16" y="22" font-size="14">{TITLE}</text>',
        f'<text x="{LEFT}" y="44" fill="{COLOURS["reference"]}">fixed gains</text>',
        f'<text x="{LEFT + 90}" y="44" fill="{COLOURS["paper"]}">fitted map</text>',
    ]
    for number, (label, one, setting) in enumerate(bars):
        y = TOP + ROW * number
        words = escape(label.replace("_", " "))
        parts.append(f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end">{words}</text>')
        for place, (name, colour) in enumerate(COLOURS.items()):
            error = float(one.errors[name][setting])
            wide = (WIDTH - LEFT - RIGHT) * error / most
            at = y + 2 + 11 * place
            parts.append(
                f'<rect x="{LEFT}" y="{at}" width="{wide:.1f}" height="10" fill="{colour}"/>'
                f'<text x="{LEFT + wide + 5:.1f}" y="{at + 9}" font-size="10">{error:.3f}</text>'
            )
    return "\n".join([*parts, "</g></svg>"]) + "\n"
