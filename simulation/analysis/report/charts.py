"""Pieces of Vega-Lite specifications, so that all charts of the page speak one language.

Colours are CSS variables where no number is turned into them: then the style sheet decides for
light, dark and print, and nothing is drawn anew. Beliefs are coloured by a fixed scale from
orange (0) over grey (one half) to blue (1), which reads on white and on black and without red or
green.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Spec = dict[str, Any]

BELIEF_COLOURS = ["#c2570c", "#e59a58", "#a8a29e", "#6aa5d8", "#1d6fb8"]
SERIES = [f"var(--series-{number})" for number in range(1, 9)]
"""Colours for up to eight names, after Okabe & Ito (2008), lighter in the dark."""

_SPEC: Spec = {"width": "container"}
_LEAST = 0.1  # of a belief, that an axis spans


def chart(rows: Sequence[Mapping[str, Any]], *, height: int | Spec = 220, **parts: Any) -> Spec:
    """Return a specification over rows. parts: mark, encoding, layer, transform, params, …."""
    return {**_SPEC, "height": height, "data": {"values": list(rows)}, **parts}


def field(name: str, kind: str, title: str | None, **more: Any) -> Spec:
    """Return the encoding of a field. kind: `quantitative`, `nominal` or `ordinal`."""
    return {"field": name, "type": kind, "title": title, **more}


def number(name: str, title: str | None, **more: Any) -> Spec:
    """Return the encoding of a number."""
    return field(name, "quantitative", title, **more)


def tick_axis(last: int, name: str = "tick") -> Spec:
    """Return the x axis of ticks, whole numbers only."""
    count = min(8, max(1, last))
    axis = {"tickMinStep": 1, "tickCount": count, "format": "d", "grid": False}
    return number(name, "tick", axis=axis, scale={"nice": False, "domain": [0, max(1, last)]})


def belief_axis(name: str, title: str | None = "belief", **more: Any) -> Spec:
    """Return the y axis of a belief, 0 to 1."""
    axis = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2~f"}
    return number(name, title, scale={"domain": [0, 1]}, axis=axis, **more)


def near_axis(name: str, title: str | None, values: Sequence[float]) -> Spec:
    """Return the y axis of means that lie close together: as far as they go, and a little more.

    values: all that is drawn, in [0, 1].  The axis spans at least a tenth, so that what is next
    to nothing does not look like much.
    """
    low, high = min(values, default=0.0), max(values, default=1.0)
    spare = max(0.05 * (high - low), (_LEAST - (high - low)) / 2)
    domain = [max(0.0, low - spare), min(1.0, high + spare)]
    scale = {"domain": domain, "nice": True, "zero": False}
    return number(name, title, scale=scale, axis={"format": ".3~f", "tickCount": 5})


def share_axis(name: str, title: str | None, **more: Any) -> Spec:
    """Return the y axis of a share, in percent."""
    return number(name, title, axis={"format": ".0%", "tickCount": 5}, **more)


def change_axis(name: str, title: str | None) -> Spec:
    """Return the x axis of a change or a difference, with its sign."""
    label = "abs(datum.value) < 1e-9 ? '0' : format(datum.value, '+.3~f')"  # zero has no sign
    return number(name, title, axis={"labelExpr": label, "tickCount": 5})


def colour(name: str, names: Sequence[str], title: str | None = None) -> Spec:
    """Return the colours of up to eight names, in their order."""
    legend = {"labelLimit": 160, "symbolOpacity": 1}
    scale = {"domain": list(names), "range": SERIES[: max(1, len(names))]}
    return field(name, "nominal", title, scale=scale, legend=legend, sort=list(names))


def belief_colour(name: str, title: str, *, low: float = 0.0, high: float = 1.0) -> Spec:
    """Return the colours of a belief, or of a change with low = -high."""
    scale = {"domain": [low, high], "range": BELIEF_COLOURS, "clamp": True,
             "interpolate": "rgb"}  # fmt: skip
    return number(name, title, scale=scale, legend={"gradientLength": 140, "format": ".2~f"})


def tip(name: str, title: str, form: str | None = None) -> Spec:
    """Return a line of what is shown where the pointer rests."""
    kind = "nominal" if form is None else "quantitative"
    told: Spec = {"field": name, "type": kind, "title": title}
    return told if form is None else {**told, "format": form}


def signal(name: str, value: Any) -> Spec:
    """Return a parameter that the page's own controls set."""
    return {"name": name, "value": value}


def bars_by_tick(
    rows: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    *,
    last: int,
    series: str,
    value: str,
    title: str,
) -> Spec:
    """Return stacked bars over the ticks. rows: with tick, `series` and `value`."""
    axis = tick_axis(last)
    axis["scale"] = {"nice": False, "domain": [0.4, max(1, last) + 0.6]}
    return chart(
        rows,
        mark={"type": "bar", "binSpacing": 0},
        transform=[
            {"calculate": "datum.tick - 0.42", "as": "from"},
            {"calculate": "datum.tick + 0.42", "as": "to"},
        ],
        encoding={
            "x": {**axis, "field": "from", "bin": {"binned": True}},
            "x2": {"field": "to"},
            "y": number(value, title, stack="zero"),
            "color": colour(series, names),
            "order": {"field": "place", "type": "quantitative"},
            "tooltip": [tip("tick", "tick", "d"), tip(series, series), tip(value, title, ",")],
        },
    )
