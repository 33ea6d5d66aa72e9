"""`simulation resume`: go on with a run that stopped."""

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
    replay_options,
    run_argument,
    set_option,
    snapshot_options,
    version_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.analysis.summary import Summary
    from simulation.executors import ExecutorSpec
    from simulation.runlog import RunInfo
    from simulation.scenario import Access


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
    access: Access,
    executor: ExecutorSpec,
    quiet: bool,
    as_json: bool,
) -> None:
    """Go on with a run that stopped: interrupted, crashed, out of disk or of budget.

    It ends as if it had never stopped: the same state after every tick. Of a complete run nothing
    is changed. Only what does not change results can be set anew.
    """
    from simulation.cli.closing import tell
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
            access=access,
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
    tell(path, as_json=as_json, following=_branch)


def _info(run: Path) -> RunInfo:
    from simulation.runlog import RunFile

    with RunFile.open(run) as opened:
        return opened.run


def _already(run: Path, info: RunInfo, *, quiet: bool, as_json: bool) -> None:
    """Say that there is nothing to resume; this is no error, so that scripts can call it twice."""
    from simulation.cli.calling import program_call
    from simulation.cli.closing import tell
    from simulation.cli.text import plain
    from simulation.runlog import SCHEMA_VERSION

    horizon = info.header.horizon
    told = f"{run} is complete: all {horizon:,} ticks are there, and nothing was changed."
    if info.schema_version == SCHEMA_VERSION:  # older files cannot be forked
        told += (
            f" To go further, fork it: {program_call()} fork {run} --at {horizon} --set "
            f"horizon={2 * horizon}"
        )
    click.echo(plain(told), err=True)
    if as_json:
        tell(run, as_json=True)
    elif quiet:
        click.echo(str(run))


def _branch(summary: Summary) -> tuple[Sequence[str], str]:
    """Return a fork of the run, as something to compare it with."""
    from simulation.cli.calling import program_words
    from simulation.runs import free_path

    at = summary.last_tick // 2
    branch = [*program_words(), "fork", summary.path, "--at", str(at), "--set", "feed.size=3"]
    return branch, str(free_path(summary.scenario, summary.seed, fork=at))
