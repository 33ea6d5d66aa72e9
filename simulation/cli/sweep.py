"""`simulation sweep`: a scenario with every combination of settings and every seed."""

# ruff: noqa: PLC0415 - the engine is imported when it runs, so that --help answers at once

from __future__ import annotations

import shlex
import shutil
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulation.cli.app import DONE, FAILED
from simulation.cli.calling import program_call
from simulation.cli.options import (
    access_options,
    debug_option,
    examples,
    json_option,
    scenario_argument,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.scenario import Access
    from simulation.sweeps import Plan, Result
    from simulation.sweeps.base import Executor

_LISTED = 10  # runs that failed
_MEGABYTE = 1e6


@click.command(
    "sweep",
    epilog=examples(
        "simulation sweep scenarios/protein_bar.yaml --seeds 1-20",
        "simulation sweep bar.yaml --seeds 1-10 --set recall.mode=product,random",
        "simulation sweep bar.yaml --seeds 1,4 --set population.size=40,80 --out sizes --jobs 4",
        "simulation sweep bar.yaml --seeds 1-10 --set horizon=10,20 --dry-run",
    ),
)
@scenario_argument
@click.option(
    "--seeds", metavar="SEEDS", help="Such as 1-20, 1,4,9 or 3; default, the scenario's seed."
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PATH=A,B,C",
    help="Values of a setting, parted by commas outside quotes and brackets. Repeatable.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="The folder of the runs. Default: one in runs/ that the same command finds again.",
)
@click.option("--jobs", type=click.IntRange(1), help="Processes; default, one per core.")
@click.option(
    "--executor",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where runs are made: in processes of this machine, or on Ray.",
)
@click.option(
    "--ray-address",
    metavar="HOST:PORT",
    help="Head of a Ray cluster. Default: a Ray of its own on this machine.",
)
@click.option("--dry-run", is_flag=True, help="Check and print the grid; write nothing.")
@access_options
@click.option("--quiet", is_flag=True, help="No progress; print only the folder.")
@json_option
@debug_option
def command(
    *,
    scenario: Path,
    seeds: str | None,
    settings: tuple[str, ...],
    out: Path | None,
    jobs: int | None,
    executor: str,
    ray_address: str | None,
    dry_run: bool,
    access: Access,
    quiet: bool,
    as_json: bool,
) -> int:
    """Run a scenario with every combination of settings and every seed.

    Makes a folder of run databases and `sweep.duckdb`, a table of all runs. Every combination is
    checked before any run starts. The same command again makes only what is missing. A run that
    fails does not stop the others: it is listed, and the exit code is 1.
    """
    from simulation.cli.text import print_json
    from simulation.sweeps import execute, plan

    planned = plan(scenario, seeds=seeds, settings=settings, out=out, access=access)
    if dry_run:
        print_json(_grid(planned)) if as_json else click.echo(_shown(planned))
        return DONE
    silent = quiet or as_json
    if not silent:
        click.echo(_announced(planned), err=True)
    from simulation.cli.watching import watching

    workers = _executor(executor, jobs, ray_address, most=len(planned.runs))
    with watching(quiet=silent) as watch:
        result = execute(planned, workers, watch)
    if as_json:
        print_json(result.to_dict())
    else:
        click.echo(result.folder if quiet else _closing(result, planned))
    return FAILED if result.failed else DONE


def _executor(name: str, jobs: int | None, address: str | None, *, most: int) -> Executor:
    """Return who makes the runs. most: runs there are to make."""
    if name == "ray":
        from simulation.executors import ExecutorSpec
        from simulation.executors.ray import connect
        from simulation.sweeps.ray import RayRuns

        return RayRuns(connect(ExecutorSpec(name="ray", workers=jobs, address=address)))
    from simulation.sweeps.local import Local, cores

    return Local(min(jobs or cores(), most))


def _announced(planned: Plan) -> str:
    from simulation.cli.text import many, paragraph, plain

    grid = many(len(planned.cells), "combination of settings", "combinations of settings")
    return paragraph(
        f"{plain(planned.name)}: {grid}, {many(len(planned.seeds), 'seed')}: "
        f"{many(len(planned.runs), 'run')} in {plain(str(planned.folder))}; {_disk(planned)}"
    )


def _disk(planned: Plan) -> str:
    """Return what the runs will take of the disk, and what is free."""
    folder = planned.folder.absolute()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    short = "; that is not enough" if planned.bytes > free else ""
    return f"about {_size(planned.bytes)} of {_size(free)} that are free{short}"


def _size(count: float) -> str:
    megabytes = count / _MEGABYTE
    return f"{megabytes / 1000:,.1f} GB" if megabytes >= 1000 else f"{megabytes:,.0f} MB"  # noqa: PLR2004 - MB in a GB


def _grid(planned: Plan) -> dict[str, Any]:
    return {
        "folder": str(planned.folder),
        "axes": {axis.path: list(axis.values) for axis in planned.axes},
        "seeds": list(planned.seeds),
        "bytes": planned.bytes,
        "runs": [
            {"path": run.path.name, "settings": list(run.cell.settings), "seed": run.seed}
            for run in planned.runs
        ],
    }


def _shown(planned: Plan) -> str:
    from simulation.cli.grid import grid
    from simulation.cli.text import width

    columns = ["run database", *(axis.path for axis in planned.axes), "seed"]
    rows = [[run.path.name, *run.cell.values, run.seed] for run in planned.runs]
    return "\n".join([_announced(planned), *grid(columns, rows, space=width()).lines])


def _closing(result: Result, planned: Plan) -> str:
    """Return what a sweep prints at its end, for 80 columns without colour."""
    blocks = (_head(result), _means(result, planned), _failed(result), _next(result))
    return "\n\n".join("\n".join(block) for block in map(list, blocks) if block)


def _head(result: Result) -> Iterator[str]:
    from simulation.cli.text import many, paragraph, plain

    before = result.complete - result.made
    earlier = f", {before:,} of them before" if before else ""
    yield paragraph(
        f"{plain(result.name)}: {result.complete:,} of {many(len(result.runs), 'run')} complete"
        f"{earlier}"
    )


def _means(result: Result, planned: Plan) -> Iterator[str]:
    """Yield the table of combinations: mean beliefs at the end, over the seeds."""
    from simulation.cli.grid import grid
    from simulation.cli.text import width

    axes = [axis for axis in planned.axes if len(axis.values) > 1]
    columns = [*(axis.path for axis in axes), "runs", *planned.targets]
    rows = []
    for cell in planned.cells:
        runs = [
            run
            for run in result.runs
            if run["cell"] == cell.number and run["status"] == "complete"
        ]
        values = [run[axis.path] for axis in axes for run in runs[:1]]
        if runs:
            means = [
                _mean([run.get(f"mean_{target}") for run in runs]) for target in planned.targets
            ]
            rows.append([*values, len(runs), *means])
    if rows:
        yield "Mean beliefs at the end, over the seeds"
        yield from (f"  {line}" for line in grid(columns, rows, space=width() - 2).lines)


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(statistics.fmean(known), 4) if known else None


def _failed(result: Result) -> Iterator[str]:
    from simulation.cli.text import cut, many, plain

    if not result.failed:
        return
    yield f"{many(len(result.failed), 'run')} not complete; the same command tries again"
    for run in result.failed[:_LISTED]:
        yield f"  {plain(run['path'])}: {run['status']}: {cut(run['error'] or '', 200)}"
    if len(result.failed) > _LISTED:
        yield f"  and {len(result.failed) - _LISTED:,} more: status and error in sweep.duckdb"


def _next(result: Result) -> Iterator[str]:
    folder, program = shlex.quote(result.folder), program_call()
    yield f"Folder    {result.folder}"
    yield "Next"
    first = next((path for path, values in result.axes.items() if len(values) > 1), None)
    if first is not None and result.complete > 1:
        yield f"  {program} compare {folder} --by {shlex.quote(first)}"
    done = next((run["path"] for run in result.runs if run["status"] == "complete"), None)
    if done is not None:
        yield f"  {program} tables {shlex.quote(str(Path(result.folder) / done))}"
