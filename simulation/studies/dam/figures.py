"""Pictures of the study: line charts as SVG, drawn by the few lines here."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 64, 50
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe & Ito
STEPS: Final = 5  # marks on an axis
_KEY: Final = 100  # pixels of an entry of the key, at least
_LETTER: Final = 6  # pixels, about


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a chart through points (x, y), dashed if wanted."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart; x starts at 0. low, high: of the y axis; high None: what the lines need."""

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    low: float = 0.0
    high: float | None = 1.0

    def svg(self) -> str:
        """Return the chart as SVG."""
        high = self.high if self.high is not None else max(max(line.y) for line in self.lines)
        stop = max(max(line.x) for line in self.lines)
        scale = _Scale(left=0.0, right=max(stop, 1.0), low=self.low, high=high)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
            f"<title>{escape(self.title)}</title>",
            '<g font-family="sans-serif" font-size="12">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="16" y="22" font-size="14">{escape(self.title)}</text>',
            *self._axes(scale),
            *self._key(),
        ]
        for number, line in enumerate(self.lines):
            points = " ".join(
                f"{scale.x(a):.1f},{scale.y(b):.1f}" for a, b in zip(line.x, line.y, strict=True)
            )
            parts.append(f'<polyline points="{points}" fill="none" {_stroke(number, line)}/>')
        return "\n".join([*parts, "</g></svg>"]) + "\n"

    def _axes(self, scale: _Scale) -> list[str]:
        base, end = HEIGHT - BOTTOM, WIDTH - RIGHT
        across, up, middle = (LEFT + end) // 2, (TOP + base) // 2, 'text-anchor="middle"'
        turned = f'transform="rotate(-90 16 {up})"'
        parts = [
            f'<text x="{across}" y="{HEIGHT - 12}" {middle}>{escape(self.x)}</text>',
            f'<text x="16" y="{up}" {middle} {turned}>{escape(self.y)}</text>',
        ]
        for step in range(STEPS + 1):
            share = step / STEPS
            value = scale.low + share * (scale.high - scale.low)
            at = scale.y(value)
            parts.append(
                f'<line x1="{LEFT}" y1="{at:.1f}" x2="{end}" y2="{at:.1f}" stroke="#dddddd"/>'
                f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{value:.4g}</text>'
            )
            value = scale.left + share * (scale.right - scale.left)
            parts.append(
                f'<text x="{scale.x(value):.1f}" y="{base + 18}" text-anchor="middle">'
                f"{value:.4g}</text>"
            )
        return parts

    def _key(self) -> list[str]:
        parts, at = [], LEFT
        for number, line in enumerate(self.lines):
            parts.append(
                f'<line x1="{at}" y1="44" x2="{at + 18}" y2="44" {_stroke(number, line)}/>'
                f'<text x="{at + 24}" y="48">{escape(line.name)}</text>'
            )
            at += max(_KEY, 40 + _LETTER * len(line.name))
        return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scale:
    """From values to pixels."""

    left: float
    right: float
    low: float
    high: float

    def x(self, value: float) -> float:
        share = (value - self.left) / (self.right - self.left)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _stroke(number: int, line: Line) -> str:
    dash = ' stroke-dasharray="6 4"' if line.dashed else ""
    return f'stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="2"{dash}'
