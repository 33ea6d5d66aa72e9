"""Draw the belief paths of a run as an SVG: `python docs/figures/belief_paths.py RUN OUT.svg`.

Mean credence per claim over the ticks, with the range from the tenth to the ninetieth percentile.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

from simulation import Run

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 820, 300, 44, 40, 16, 36
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # Okabe & Ito
TITLE = "Credence per claim: mean, and the middle 80 % of personas"
Path_ = list[tuple[float, float, float]]


def read(run: Run) -> tuple[str, dict[str, Path_]]:
    """Return the run's name and, per claim, (p10, mean, p90) at every tick from 0."""
    name = run.query("SELECT scenario_name || ', seed ' || seed FROM run").rows[0][0]
    rows = run.query(
        "SELECT c.claim_id || ': ' || c.text, b.p10, b.mean, b.p90 FROM belief_summary b "
        "JOIN claims c ON c.claim_id = b.target ORDER BY c.claim_index, b.tick"
    ).rows
    paths: dict[str, Path_] = {}
    for claim, low, mean, high in rows:
        paths.setdefault(claim, []).append((low, mean, high))
    return name, paths


def place(tick: int, last: int, belief: float) -> str:
    """Return a point of the plot."""
    x = LEFT + (WIDTH - LEFT - RIGHT - 300) * tick / max(1, last)
    y = TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - belief)
    return f"{x:.1f},{y:.1f}"


def draw(name: str, paths: dict[str, Path_]) -> str:
    """Return the SVG."""
    last = max(len(path) for path in paths.values()) - 1
    right = float(place(last, last, 0.0).split(",")[0])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        '<g font-family="sans-serif" font-size="12">',
        f"<title>Credence per claim over the ticks of {escape(name)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="14">{TITLE}, {escape(name)}</text>',
    ]
    for belief in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = place(0, last, belief).split(",")[1]
        parts.append(f'<line x1="{LEFT}" x2="{right}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y}" dy="4" text-anchor="end">{belief:g}</text>')
    for tick in range(0, last + 1, max(1, last // 6)):
        x = place(tick, last, 0.0).split(",")[0]
        parts.append(f'<text x="{x}" y="{HEIGHT - 16}" text-anchor="middle">{tick}</text>')
    for number, (claim, path) in enumerate(paths.items()):
        colour = COLOURS[number % len(COLOURS)]
        lows = [place(t, last, p[0]) for t, p in enumerate(path)]
        highs = [place(t, last, p[2]) for t, p in enumerate(path)]
        means = [place(t, last, p[1]) for t, p in enumerate(path)]
        band = " ".join([*highs, *reversed(lows)])
        parts.append(f'<polygon points="{band}" fill="{colour}" opacity="0.12"/>')
        parts.append(
            f'<polyline points="{" ".join(means)}" fill="none" stroke="{colour}" '
            'stroke-width="2.5"/>'
        )
        y = TOP + 16 + 20 * number
        parts.append(f'<text x="{right + 14}" y="{y}" fill="{colour}">{escape(claim)}</text>')
    return "\n".join([*parts, "</g></svg>"]) + "\n"


if __name__ == "__main__":
    with Run.open(sys.argv[1]) as opened:
        Path(sys.argv[2]).write_text(draw(*read(opened)), encoding="utf-8")
