"""The table of what a run costs, for the tree at hand.

    uv run python tests/benchmarks/table.py [--quick] [--only NAME …] [--json OUT]
        [--rounds N] [--against EARLIER.json | --tree PATH]

Prints a table in Markdown, and on stderr how far it is. Each measurement is made in a fresh
process, by CPU time, and repeated; the table says medians. The whole takes about half an hour,
most of it the 100,000 personas; --quick takes a minute or two, with sizes that the bounds are not
meant for.

--only: rows by name (--list prints them).  --rounds: how often all but the largest is measured,
default 3.  --json: all that was measured, for --against.
--against: beside each figure the one of an earlier run, and the ratio to it.
--tree: another checkout, measured in turn with this one, at least three times each; the ratio is
the median of ratios of pairs, so it stands where the figures themselves are noisy.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import measuring
from benchmarks.rows import QUICK, Sizes, jobs, rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.measuring import Job, Measured
    from benchmarks.rows import Found, Row

PAIRS = 3  # at least, of two trees


def main() -> None:
    """Measure, print, and keep what was measured."""
    given = _arguments()
    earlier = _earlier(given)
    sizes = QUICK if given.quick else Sizes()
    sizes = replace(sizes, rounds=given.rounds or sizes.rounds)
    chosen = _chosen(sizes, given.only)
    if given.list:
        sys.stdout.write("".join(f"{row.name}: {row.what}\n" for row in chosen))
        return
    trees = [measuring.TREE, *([given.tree.resolve()] if given.tree else [])]
    on = measuring.machine()
    needed = _needed(chosen, sizes, pairs=PAIRS if given.tree else 1)
    found = measuring.alternating(needed, trees, say=_say)
    report: Measured = {
        "made": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "quick": given.quick,
        "machine": on,
        "versions": measuring.versions(trees[0]),
        "rows": evaluated(chosen, found[0]),
        "jobs": found[0],
    }
    if given.tree:
        earlier = report["other"] = {
            "versions": measuring.versions(trees[1]),
            "rows": evaluated(chosen, found[1]),
            "jobs": found[1],
        }
    if earlier is not None:
        compared(report["rows"], earlier["rows"], paired=bool(given.tree))
        report["digests"] = digests(report, earlier)
    if given.json:
        given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(markdown(report, earlier))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--json", type=Path, metavar="OUT")
    beside = parser.add_mutually_exclusive_group()
    beside.add_argument("--against", type=Path, metavar="EARLIER")
    beside.add_argument("--tree", type=Path)
    return parser.parse_args()


def _earlier(given: argparse.Namespace) -> Measured | None:
    """Return what --against names, and check what --tree does, before anything is measured."""
    if given.tree and not (given.tree / "simulation").is_dir():
        raise SystemExit(f"--tree {given.tree}: there is no checkout of this project")
    if not given.against:
        return None
    try:
        earlier: Measured = json.loads(given.against.read_text(encoding="utf-8"))
        quick = bool(earlier["quick"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"--against {given.against}: no result of --json ({error})") from None
    if quick != given.quick:
        what = "is of --quick; add it" if quick else "is not of --quick; leave it out"
        raise SystemExit(f"--against {given.against} {what}: other sizes do not compare")
    return earlier


def _chosen(sizes: Sizes, names: Sequence[str]) -> list[Row]:
    """Return the rows of these names, or all."""
    every = list(rows(sizes))
    unknown = set(names).difference(row.name for row in every)
    if unknown:
        raise SystemExit(f"no such row: {', '.join(sorted(unknown))}; --list names all")
    return [row for row in every if not names or row.name in names]


def _needed(chosen: Sequence[Row], sizes: Sizes, *, pairs: int) -> list[Job]:
    """Return the jobs of some rows, each once, as often as needed."""
    names = {name for row in chosen for name in row.jobs}
    found = [job for name, job in jobs(sizes).items() if name in names]
    return [replace(job, repeats=max(job.repeats, pairs)) for job in found]


def evaluated(chosen: Sequence[Row], found: Mapping[str, Sequence[Measured]]) -> list[Measured]:
    """Return what each row comes to; rows that could not be measured without a value."""
    return [_evaluated(row, found) for row in chosen]


def _evaluated(row: Row, found: Mapping[str, Sequence[Measured]]) -> Measured:
    told: Measured = {
        "name": row.name,
        "what": row.what,
        "unit": row.unit,
        "must": row.must,
        "aim": row.aim,
        "more": row.more,
    }
    if not all(found.get(name) for name in row.jobs):
        return told | {"measured": None, "rounds": [], "met": "", "note": "not measured"}
    rounds = max(len(found[name]) for name in row.jobs)
    each = [_round(row, found, number) for number in range(rounds)]
    values = [row.value(one) for one in each]
    value = median(values)
    nearest = min(range(rounds), key=lambda number: abs(values[number] - value))
    note = row.note(each[nearest])
    return told | {"measured": value, "rounds": values, "met": row.met(value), "note": note}


def _round(row: Row, found: Mapping[str, Sequence[Measured]], number: int) -> Found:
    """Return what the jobs of a row measured in a round; of one with fewer, its last."""
    return {name: found[name][min(number, len(found[name]) - 1)] for name in row.jobs}


def compared(here: Sequence[Measured], there: Sequence[Measured], *, paired: bool) -> None:
    """Note in the rows what another report has, and the ratio to it.

    paired: both were measured in the same rounds, so that the median of their ratios counts.
    """
    others = {row["name"]: row for row in there}
    for row in here:
        other = others.get(row["name"], {})
        if row["measured"] is None or not other.get("measured"):
            continue
        row["other"] = other["measured"]
        row["ratio"] = row["measured"] / other["measured"]
        if paired:
            pairs = zip(row["rounds"], other["rounds"], strict=True)
            row["ratio"] = median(one / another for one, another in pairs)


def digests(report: Measured, earlier: Measured) -> str:
    """Return in words whether the same runs ended in the same state.

    Example:
        >>> one = {"jobs": {"small": [{"settings": [], "digest": "a"}], "model": [{}]}}
        >>> digests(one, one)
        'State digests are equal in 1 of 1 runs.'
    """
    here, there = _ends(report), _ends(earlier)
    both = here.keys() & there.keys()
    unlike = sorted(
        {name for name, settings in both if here[name, settings] != there[name, settings]}
    )
    equal = len(both) - len(unlike)
    told = f" **Not in {', '.join(unlike)}.**" if unlike else ""
    return f"State digests are equal in {equal} of {len(both)} runs.{told}"


def _ends(report: Measured) -> dict[tuple[str, str], str]:
    """Return the last digest of each job and its settings."""
    return {
        (name, str(found["settings"])): found["digest"]
        for name, each in report["jobs"].items()
        for found in each
        if "digest" in found
    }


def markdown(report: Measured, earlier: Measured | None = None) -> str:
    """Return a report as a table."""
    names = ["what", "measured", "must", "aim", "met", "beside it"]
    if earlier is not None:
        names[2:2] = [f"at {earlier['versions']['commit']}", "ratio"]
    lines = [names, ["---"] * len(names)]
    for row in report["rows"]:
        sign = "≥" if row["more"] else "≤"
        cells = [
            row["what"],
            f"{number(row['measured'])} {row['unit']}".strip(),
            f"{sign} {row['must']:g}" if row["must"] is not None else "",
            f"{sign} {row['aim']:g}" if row["aim"] is not None else "",
            "" if report["quick"] else row["met"],
            row["note"],
        ]
        if earlier is not None:
            ratio = f"{row['ratio']:.2f}" if "ratio" in row else ""
            cells[2:2] = [number(row.get("other")), ratio]
        lines.append(cells)
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    said = [_made(report), *([report["digests"]] if "digests" in report else [])]
    return f"{table}\n\n{' '.join(said)}\n"


def _made(report: Measured) -> str:
    """Return when, on what and with what a report was made."""
    quick = (
        " **Quick**: small sizes, which the bounds are not meant for." if report["quick"] else ""
    )
    told = measuring.told(report["machine"], report["versions"])
    return f"Made {report['made']} on {told}.{quick}"


def number(value: float | None) -> str:
    """Return a number with three digits that count.

    Example:
        >>> [number(value) for value in (None, 0.1234, 1.0996, 80.0, 1234.5)]
        ['', '0.123', '1.10', '80.0', '1,234']
    """
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:#.3g}"


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
