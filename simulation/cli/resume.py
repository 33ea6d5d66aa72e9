"""`simulation resume`: go on with a run that stopped."""

# ruff: noqa: PLC0415 - the engine is imported when it runs, so that --help answers at once

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from simulation.cli.executing import executor_of, executor_options
from simulation.cli.options import (
    access,
    access_options,
    debug_option,
    examples,
    json_option,
    replay_options,
    run_argument,
    set_option,
    snapshot_options,
    version_option,
)
from simulation.cli.spent import told

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.executors import ExecutorSpec
    from simulation.runlog import RunInfo


@click.command(
    "resume",
    epilog=examples(
        "simulation resume runs/protein_bar-seed7.duckdb",
        "simulation resume runs/protein_bar-seed7.duckdb --set encoder.model=models/mine",
        "simulation resume runs/on_claude-seed7.duckdb --set budget.usd=10",
    ),
)
@run_argument
@set_option
@version_option
@snapshot_options
@replay_options
@access_options
@executor_options
@click.option("--quiet", is_flag=True, help="No progress; print only the path of the run.")
@json_option
@debug_option
def command(
    *,
    run: Path,
    settings: tuple[str, ...],
    any_version: bool,
    snapshot: Path | None,
    snapshot_every: int,
    replay: Path | None,
    replay_miss: str,
    allow_paths: tuple[Path, ...],
    allow_hosts: tuple[str, ...],
    key_for: tuple[str, ...],
    no_price: bool,
    executor: ExecutorSpec,
    quiet: bool,
    as_json: bool,
) -> None:
    """Go on with a run that stopped: interrupted, crashed, out of disk or of budget.

    It ends as if it had never stopped: the same state after every tick. Of a complete run nothing
    is changed. Only what does not change results can be set anew.
    """
    from simulation.cli.progress import progress
    from simulation.runs import Snapshot, resume

    info = _info(run)
    if info.status == "complete":
        _already(run, info, quiet=quiet, as_json=as_json)
        return
    name, horizon = info.header.scenario_name, info.header.horizon
    kept = Snapshot(path=snapshot, every=snapshot_every) if snapshot else None
    silent = quiet or as_json
    with (
        executor_of(executor) as workers,
        progress(name, horizon, quiet=silent, after=info.last_tick) as shown,
    ):
        path = resume(
            run,
            settings=settings,
            access=access(allow_paths, allow_hosts, key_for, no_price),
            any_version=any_version,
            replay=replay,
            ask_misses=replay_miss == "live",
            on_tick=shown.tick,
            snapshot=kept,
            executor=workers,
        )
    if quiet and not as_json:
        click.echo(str(path))
        return
    _tell(path, as_json=as_json)


def _info(run: Path) -> RunInfo:
    from simulation.runlog import RunFile

    with RunFile.open(run) as opened:
        return opened.run


def _already(run: Path, info: RunInfo, *, quiet: bool, as_json: bool) -> None:
    """Say that there is nothing to resume; this is no error, so that scripts can call it twice."""
    from simulation.cli.calling import program_call
    from simulation.cli.text import plain

    horizon = info.header.horizon
    click.echo(
        plain(
            f"{run} is complete: all {horizon:,} ticks are there, and nothing was changed. To go "
            f"further, fork it: {program_call()} fork {run} --at {horizon} --set "
            f"horizon={2 * horizon}"
        ),
        err=True,
    )
    if as_json:
        _tell(run, as_json=True)
    elif quiet:
        click.echo(str(run))


def _tell(path: Path, *, as_json: bool) -> None:
    from simulation.analysis.spending import spending
    from simulation.analysis.summary import summarise

    summary, spent = summarise(path), spending(path)
    if as_json:
        from simulation.cli.text import print_json

        print_json(summary.to_dict() | told(spent))
        return
    from simulation.cli.calling import program_words
    from simulation.cli.closing import closing
    from simulation.runs import free_path

    at = summary.last_tick // 2
    branch = [*program_words(), "fork", summary.path, "--at", str(at), "--set", "feed.size=3"]
    other = free_path(summary.scenario, summary.seed, fork=at)
    click.echo(closing(summary, branch, str(other), spent))
