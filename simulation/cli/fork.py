"""`simulation fork`: branch a run at a tick."""

# ruff: noqa: PLC0415 - the engine is imported when it runs, so that --help answers at once

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from simulation.cli.executing import executor_of, executor_options
from simulation.cli.options import (
    access_options,
    debug_option,
    examples,
    json_option,
    out_option,
    run_argument,
    set_option,
    snapshot_options,
    version_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.executors import ExecutorSpec
    from simulation.scenario import Access


@click.command(
    "fork",
    epilog=examples(
        "simulation fork runs/protein_bar-seed7.duckdb --at 10 --set feed.size=2",
        "simulation fork runs/protein_bar-seed7.duckdb --at 30 --set horizon=60",
        "simulation fork a.duckdb --at 10 --out b.duckdb --set stimuli[2].credibility=0.1",
    ),
)
@run_argument
@click.option(
    "--at", type=click.IntRange(min=0), required=True, metavar="T", help="The last tick shared."
)
@set_option
@out_option
@version_option
@snapshot_options
@access_options
@executor_options
@click.option("--quiet", is_flag=True, help="No progress; print only the path of the run.")
@json_option
@debug_option
def command(
    *,
    run: Path,
    at: int,
    settings: tuple[str, ...],
    out: Path | None,
    any_version: bool,
    snapshot: Path | None,
    snapshot_every: int,
    access: Access,
    executor: ExecutorSpec,
    quiet: bool,
    as_json: bool,
) -> None:
    """Branch a run: share its history up to tick T, and go on from there with the same chance.

    With nothing set it repeats the run. What is set acts after T; what made the ticks up to T
    cannot be set. The run itself is only read.
    """
    from simulation.cli.closing import tell
    from simulation.cli.progress import progress
    from simulation.runlog import check_free
    from simulation.runs import Snapshot, fork

    if out is not None:
        check_free(out)
    name, horizon = _plan(run, settings, access)
    kept = Snapshot(path=snapshot, every=snapshot_every) if snapshot else None
    with (
        executor_of(executor) as workers,
        progress(name, horizon, quiet=quiet or as_json, after=at) as shown,
    ):
        path = fork(
            run,
            at=at,
            settings=settings,
            out=out,
            access=access,
            any_version=any_version,
            on_tick=shown.tick,
            snapshot=kept,
            executor=workers,
        )
    if quiet and not as_json:
        click.echo(str(path))
        return
    tell(path, as_json=as_json, parent=str(run))


def _plan(run: Path, settings: Sequence[str], access: Access) -> tuple[str, int]:
    """Return the name and the horizon of the fork, for the progress."""
    from simulation.rebuilding import stored_scenario
    from simulation.runlog import RunFile

    with RunFile.open(run) as opened:
        scenario = stored_scenario(opened, settings, access=access).scenario
    return scenario.name, scenario.horizon
