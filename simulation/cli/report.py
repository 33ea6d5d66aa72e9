"""`simulation report`: what happened, as one page that works offline."""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

from itertools import count
from pathlib import Path

import click

from simulation.cli.options import debug_option, examples, json_option, refuse_existing
from simulation.errors import UsageError

_MEGABYTE = 1e6


@click.command(
    "report",
    epilog=examples(
        "simulation report runs/protein_bar-seed7.duckdb",
        "simulation report runs/a.duckdb runs/b.duckdb -o comparison.html",
        "simulation report runs/sweep -o sweep.html",
    ),
)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN…")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The page to write; it must not exist. Default: the first run's name, with .html.",
)
@json_option
@debug_option
def command(*, runs: tuple[Path, ...], out: Path | None, as_json: bool) -> None:
    """Write what happened in a run as one page: pictures, sentences, tables and their SQL.

    The page needs no network and no program but a browser. Of several runs the first is shown
    whole; runs that differ from it in their seed alone show how sure it is, and others are
    compared with it. RUN may be a folder of runs or a quoted pattern.
    """
    from simulation.analysis.report import write_report
    from simulation.cli.text import many, plain, print_json

    path = _free(runs[0]) if out is None else out
    refuse_existing(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{path} is no name of a page; a page ends in .html")
    written = write_report(runs, path)
    if as_json:
        print_json({"path": str(path), "bytes": written.size, "runs": written.runs})
        return
    size = f"{written.size / _MEGABYTE:.1f} MB"
    click.echo(
        f"wrote {plain(str(path))}: {many(written.runs, 'run')}, {size}; open it in a browser"
    )


def _free(run: Path) -> Path:
    """Return the first name beside a run, or beside a folder of runs, that is not taken."""
    from simulation.analysis.gathering import gathered

    named = run if run.is_dir() else gathered([run])[0]
    if named.name in ("", ".."):  # `.` and the like have no name of their own
        named = named.resolve()
    stem = named.stem if named.suffix == ".duckdb" else named.name or "report"
    names = (f"{stem}{'' if i == 1 else f'-{i}'}.html" for i in count(1))
    return next(path for path in (named.parent / name for name in names) if not path.exists())
