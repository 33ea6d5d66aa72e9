"""Draw the gate's curve as an SVG: `python docs/figures/gate_curve.py OUT.svg`.

The chance that a memory which came unasked takes over the search, against its passive score, at
the calibration state (arousal 0.4), for an anxious and a secure persona and in the neutral mode.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from simulation.mind import gate
from simulation.mind.affect import NEUTRAL_STATE
from simulation.mind.traits import ATTACHMENT_PROFILES

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 340, 52, 44, 190, 50
LOWEST, HIGHEST, POINTS = 0.4, 2.6, 111
TITLE = "The gate: chance that a memory redirects the search"
ANXIOUS, SECURE = ATTACHMENT_PROFILES["anxious"][0], ATTACHMENT_PROFILES["secure"][0]
CURVES = (  # name, anxiety, mode, colour (Okabe & Ito), dashes
    (f"anxious (anxiety {ANXIOUS:g})", ANXIOUS, "personality", "#d55e00", "none"),
    (f"secure (anxiety {SECURE:g})", SECURE, "personality", "#0072b2", "none"),
    ("neutral mode (no trait)", SECURE, "neutral", "#555555", "6 4"),
)


def place(score: float, chance: float) -> tuple[float, float]:
    """Return a point of the plot."""
    x = LEFT + (WIDTH - LEFT - RIGHT) * (score - LOWEST) / (HIGHEST - LOWEST)
    return x, TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - chance)


def axes() -> list[str]:
    """Return the grid with its numbers and names."""
    left, bottom = place(LOWEST, 0.0)
    right, _ = place(HIGHEST, 0.0)
    parts = []
    for chance in (0.0, 0.25, 0.5, 0.75, 1.0):
        _, y = place(LOWEST, chance)
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        words = f'text-anchor="end">{chance:g}</text>'
        parts.append(f'<text x="{left - 6}" y="{y:.1f}" dy="4" {words}')
    for score in (0.5, 1.0, 1.5, 2.0, 2.5):
        x, _ = place(score, 0.0)
        words = f'text-anchor="middle">{score:g}</text>'
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" {words}')
    middle = (left + right) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">passive score S</text>'
    )
    return parts


def curve(number: int) -> list[str]:
    """Return one curve, a mark where its threshold lies, and its name."""
    name, trait, mode, colour, dashes = CURVES[number]
    parameters = gate.GateParameters()
    threshold = gate.threshold(np.array([trait]), mode=mode, parameters=parameters)
    score = np.linspace(LOWEST, HIGHEST, POINTS)
    arousal = np.full(POINTS, NEUTRAL_STATE[1])
    chance = gate.probability(
        score, np.repeat(threshold, POINTS), arousal, mode=mode, parameters=parameters
    )
    path = " ".join("{:.1f},{:.1f}".format(*place(*at)) for at in zip(score, chance, strict=True))
    line = f'fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dashes}"'
    x, bottom = place(float(threshold[0]), 0.0)
    _, y = place(LOWEST, 1.0 - 0.16 * number)
    right = WIDTH - RIGHT + 12
    return [
        f'<polyline points="{path}" {line}/>',
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{bottom - 9}" y2="{bottom}" stroke="{colour}"/>',
        f'<text x="{right}" y="{y + 10:.1f}" fill="{colour}">{name}</text>',
        f'<text x="{right}" y="{y + 25:.1f}" fill="{colour}">threshold {threshold[0]:.2f}</text>',
    ]


def draw() -> str:
    """Return the SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{TITLE}</title>",
        '<g font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="14">{TITLE}</text>',
        *axes(),
        *(part for number in range(len(CURVES)) for part in curve(number)),
    ]
    return "\n".join([*parts, "</g></svg>"]) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(), encoding="utf-8")
