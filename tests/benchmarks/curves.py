"""Curves of how the cost of a run grows, with fitted exponents, as a picture.

    uv run python tests/benchmarks/curves.py [--quick] [--only NAME …] [--most PERSONAS]
        [--rounds N] [--json OUT] [--from EARLIER]

Grows one thing at a time: personas 1,000 … 100,000, ticks 10 … 100, mean degree 4 … 64, claims
1 … 20. Each point is a run in a fresh process, below 20,000 personas the median of three or of
--rounds. Draws docs/figures/scaling.svg. --quick goes less far and draws nothing; --most leaves
out the largest populations; --from draws again what was measured. The whole takes about half an
hour.

An exponent is the slope of the least-squares line through the logarithms: cost ∝ x^e.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import measuring
from benchmarks.measuring import TREE, Job

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.measuring import Measured

PICTURE = TREE / "docs" / "figures" / "scaling.svg"
SCENARIO = TREE / "scenarios" / "protein_bar.yaml"
COLOURS = ("#0072b2", "#d55e00")  # Okabe & Ito
SERIES = {"run_cpu_s": "turns", "with_encoding": "turns, and encoding new texts"}
ONCE = 20_000  # personas from which on a point is measured once


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One thing that grows.

    name: of what grows.  title: of its panel.  values, quick: what it takes.  path: of the
    setting; "" for claims, which are a file of their own.  settings: of the rest.
    """

    name: str
    title: str
    values: tuple[int, ...]
    quick: tuple[int, ...]
    path: str
    settings: tuple[str, ...]


CURVES = (
    Curve(
        name="personas",
        title="personas, 10 ticks",
        values=(1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000),
        quick=(100, 200, 400),
        path="population.size",
        settings=("horizon=10",),
    ),
    Curve(
        name="ticks",
        title="ticks, 1,000 personas",
        values=(10, 20, 30, 50, 70, 100),
        quick=(5, 10),
        path="horizon",
        settings=("population.size=1000",),
    ),
    Curve(
        name="degree",
        title="mean degree, 2,000 personas, 10 ticks",
        values=(4, 8, 16, 32, 64),
        quick=(4, 16),
        path="graph.degree",
        settings=("population.size=2000", "horizon=10"),
    ),
    Curve(
        name="claims",
        title="claims, 2,000 personas, 10 ticks",
        values=(1, 2, 4, 8, 12, 20),
        quick=(1, 20),
        path="",
        settings=("population.size=2000", "horizon=10"),
    ),
)


def main() -> None:
    """Measure what is not measured yet, draw and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=[curve.name for curve in CURVES])
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--from", type=Path, metavar="EARLIER", dest="earlier")
    given = parser.parse_args()
    if given.earlier:
        report = json.loads(given.earlier.read_text(encoding="utf-8"))
    else:
        names = given.only or [curve.name for curve in CURVES]
        rounds = 1 if given.quick else given.rounds
        report = measured(names, quick=given.quick, most=given.most, rounds=rounds)
    if given.json:
        given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if not report["quick"] and len(report["points"]) == len(CURVES):
        PICTURE.write_text(drawn(report), encoding="utf-8")
    sys.stdout.write(markdown(report))


def measured(names: Sequence[str], *, quick: bool, most: int, rounds: int) -> Measured:
    """Return the points of some curves. most: personas."""
    on = measuring.machine()
    with tempfile.TemporaryDirectory() as folder:
        jobs = [
            job
            for curve in CURVES
            if curve.name in names
            for job in _jobs(curve, Path(folder), quick=quick, rounds=rounds)
            if not (curve.name == "personas" and int(job.name.split()[1]) > most)
        ]
        found = measuring.alternating(jobs, [TREE], say=_say)[0]
    points: dict[str, list[Measured]] = {}
    for job, each in found.items():
        name, _, value = job.partition(" ")
        if each:
            points.setdefault(name, []).append({"at": int(value), **_point(each)})
    return {
        "quick": quick,
        "machine": on,
        "versions": measuring.versions(TREE),
        "points": points,
    }


def _jobs(curve: Curve, folder: Path, *, quick: bool, rounds: int) -> Iterator[Job]:
    for value in curve.quick if quick else curve.values:
        scenario = str(SCENARIO)
        grown = (f"{curve.path}={value}",) if curve.path else ()
        if not curve.path:
            file = folder / f"{value}.yaml"
            file.write_text(yaml.safe_dump(with_claims(value)), encoding="utf-8")
            scenario = str(file)
        once = curve.name == "personas" and value >= ONCE
        yield Job(
            name=f"{curve.name} {value}",
            program="one_run.py",
            words=(scenario, *curve.settings, *grown),
            repeats=1 if once else rounds,
        )


def with_claims(count: int) -> dict[str, Any]:
    """Return the scenario with as many claims; its stimuli speak of them in turn."""
    found: dict[str, Any] = yaml.safe_load(SCENARIO.read_text(encoding="utf-8"))
    before = found["brief"]["claims"]
    found["brief"]["claims"] = [
        before[i % len(before)]
        | {"id": f"C{i + 1}", "text": f"Reason {i + 1} to buy Bolt is good"}
        for i in range(count)
    ]
    beliefs = found["population"]["beliefs"]
    found["population"]["beliefs"] = {
        name: source for name, source in beliefs.items() if name in found["brief"]["dimensions"]
    }
    for place, stimulus in enumerate(found["stimuli"]):
        stimulus["claim"] = f"C{place % count + 1}"
    return found


def _point(each: Sequence[Measured]) -> Measured:
    """Return medians of CPU seconds after tick 0, and of turns."""
    return {
        "run_cpu_s": median(found["run_cpu_s"] for found in each),
        "with_encoding": median(found["run_cpu_s"] + found["encoding_cpu_s"] for found in each),
        "turns": each[0]["turns"],
        "peak_bytes": median(found["peak_bytes"] for found in each),
        "file_bytes": each[0]["file_bytes"],
    }


def exponent(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return e and a of the least-squares line y = a x^e through logarithms.

    Example:
        >>> e, a = exponent([(1, 3), (10, 30), (100, 300)])
        >>> round(e, 9), round(a, 9)
        (1.0, 3.0)
    """
    xs, ys = ([math.log(point[i]) for point in points] for i in (0, 1))
    x, y = mean(xs), mean(ys)
    slope = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
    slope /= sum((a - x) ** 2 for a in xs)
    return slope, math.exp(y - slope * x)


def fit(points: Sequence[Mapping[str, float]], series: str) -> tuple[float, float]:
    """Return the exponent and the factor of a curve."""
    return exponent([(point["at"], point[series]) for point in points])


def markdown(report: Measured) -> str:
    """Return the exponents, and the cost of a turn at both ends, as a table."""
    lines = ["| grown | from | to | exponent, turns | with encoding | µs a turn, from | to |"]
    lines.append("|---|---|---|---|---|---|---|")
    for name, points in report["points"].items():
        first, last = points[0], points[-1]
        cells = [
            name,
            *(f"{point['at']:,}" for point in (first, last)),
            *(f"{fit(points, series)[0]:.2f}" for series in SERIES),
            *(f"{1e6 * point['run_cpu_s'] / point['turns']:.0f}" for point in (first, last)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    made = measuring.told(report["machine"], report["versions"])
    return "\n".join(lines) + f"\n\nMade on {made}.\n"


def drawn(report: Measured) -> str:
    """Return the picture of all curves as SVG."""
    import vl_convert  # noqa: PLC0415 - 30 MB that only drawing needs

    titles = {curve.name: curve.title for curve in CURVES}
    panels = [_panel(titles[name], points) for name, points in report["points"].items()]
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "title": "CPU time of a run against what grows; lines: fitted powers",
        "columns": 2,
        "concat": panels,
        "resolve": {"scale": {"y": "independent"}},
        "config": {"font": "sans-serif", "legend": {"orient": "bottom", "title": None}},
    }
    return str(vl_convert.vegalite_to_svg(spec)) + "\n"


def _panel(title: str, points: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    rows = []
    told = []
    for series, name in SERIES.items():
        e, a = fit(points, series)
        told.append(f"{e:.2f}")
        rows += [
            {"x": point["at"], "y": point[series], "fit": a * point["at"] ** e, "series": name}
            for point in points
        ]
    x = {
        "field": "x",
        "type": "quantitative",
        "title": title,
        "scale": {"type": "log", "nice": False},
        "axis": {
            "values": [point["at"] for point in points],
            "labelOverlap": True,
            "format": "~s",
        },
    }
    y = {
        "type": "quantitative",
        "title": "CPU seconds",
        "scale": {"type": "log"},
        "axis": {"format": "~s", "tickCount": 5},
    }
    colour = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": list(SERIES.values()), "range": list(COLOURS)},
    }
    return {
        "title": {"text": f"e = {' and '.join(told)}", "fontWeight": "normal"},
        "width": 300,
        "height": 200,
        "data": {"values": rows},
        "encoding": {"x": x, "color": colour},
        "layer": [
            {
                "mark": {"type": "point", "filled": True, "size": 50},
                "encoding": {"y": {"field": "y", **y}},
            },
            {"mark": {"type": "line"}, "encoding": {"y": {"field": "fit", **y}}},
        ],
    }


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
