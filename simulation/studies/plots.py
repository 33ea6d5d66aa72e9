"""Pictures of the studies, by Vega-Lite: grouped bars and lines, with intervals, as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
"""Okabe & Ito: told apart by colour-blind readers, too."""
_SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
_VERSION: Final = "6.4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line through points (x, y), dashed if wanted, with a band from low to high if given."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def bars(
    title: str,
    *,
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    intervals: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    y: str = "",
) -> str:
    """Return grouped bars as SVG.

    labels: of the groups.  series: a value a group, by name.  intervals: (low, high) a group, of
    any of the series.  y: what the values are.
    """
    marks = intervals or {}
    values = [
        {"label": label, "series": name, "value": value, "order": place}
        | dict(zip(("low", "high"), marks[name][place], strict=True) if name in marks else ())
        for name, found in series.items()
        for place, (label, value) in enumerate(zip(labels, found, strict=True))
    ]
    x = {"field": "label", "type": "nominal", "sort": list(labels), "axis": _TURNED, "title": None}
    offset = {"field": "series", "sort": list(series)}
    shared = {"x": x, "xOffset": offset}
    bar = {
        "mark": "bar",
        "encoding": shared | {"y": _measure("value", y), "color": _colour(list(series))},
    }
    whisker = {
        "mark": {"type": "rule", "strokeWidth": 1.5},
        "transform": [{"filter": "isValid(datum.low)"}],
        "encoding": shared | {"y": _measure("low", y), "y2": {"field": "high"}},
    }
    layers: list[dict[str, Any]] = [bar, whisker] if marks else [bar]
    return _svg(title, values, layers, width=max(300, 28 * len(values)))


def lines(
    title: str, *, x: str, y: str, lines: Sequence[Line], domain: tuple[float, float] | None = None
) -> str:
    """Return lines as SVG. x, y: what the axes are.  domain: of the y axis; default, what fits."""
    values = []
    for line in lines:
        band = zip(line.low or line.y, line.high or line.y, strict=True)
        for a, b, (low, high) in zip(line.x, line.y, band, strict=True):
            point = {"series": line.name, "x": a, "value": b, "low": low, "high": high}
            values.append(point | {"dashed": line.dashed})
    across = {"field": "x", "type": "quantitative", "title": x}
    up = _measure("value", y)
    if domain is not None:
        up["scale"] = {"domain": list(domain)}
    names = [line.name for line in lines]
    dash = {"condition": {"test": "datum.dashed", "value": [6, 4]}, "value": [1, 0]}
    drawn = {
        "mark": "line",
        "encoding": {"x": across, "y": up, "color": _colour(names), "strokeDash": dash},
    }
    layers: list[dict[str, Any]] = [drawn]
    if any(line.low is not None for line in lines):
        edge = up | {"field": "low"}
        shade = {"x": across, "y": edge, "y2": {"field": "high"}, "color": _colour(names)}
        layers.insert(0, {"mark": {"type": "area", "opacity": 0.2}, "encoding": shade})
    return _svg(title, values, layers, width=520)


_TURNED: Final = {"labelAngle": -30, "labelLimit": 220}


def _measure(field: str, title: str) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title}


def _colour(names: Sequence[str]) -> dict[str, Any]:
    legend = {"orient": "top", "title": None, "labelLimit": 260} if len(names) > 1 else None
    scale = {"domain": list(names), "range": list(COLOURS[: len(names)])}
    return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}


def _svg(
    title: str,
    values: Sequence[Mapping[str, Any]],
    layers: Sequence[Mapping[str, Any]],
    *,
    width: int,
) -> str:
    import vl_convert  # noqa: PLC0415 - 30 MB that only a picture needs

    spec = {
        "$schema": _SCHEMA,
        "title": {"text": title, "anchor": "start"},
        "description": title,  # for those who hear the picture
        "background": "white",
        "width": width,
        "height": 280,
        "data": {"values": list(values)},
        "layer": list(layers),
    }
    svg: str = vl_convert.vegalite_to_svg(spec, vl_version=_VERSION)
    return f"{svg}\n"
