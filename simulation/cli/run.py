"""`simulation run`: the main job."""

# ruff: noqa: PLC0415 - the engine is imported when it runs, so that --help answers at once

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simulation.cli.executing import executor_of, executor_options
from simulation.cli.options import (
    LARGEST_SEED,
    access_options,
    debug_option,
    examples,
    json_option,
    out_option,
    replay_options,
    scenario_argument,
    seed_option,
    set_option,
    snapshot_options,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from simulation.analysis.summary import Summary
    from simulation.executors import ExecutorSpec
    from simulation.scenario import Access, Loaded


@click.command(
    "run",
    epilog=examples(
        "simulation run scenarios/protein_bar.yaml",
        "simulation run scenarios/protein_bar.yaml --seed 8 --out runs/second.duckdb",
        "simulation run bar.yaml --set horizon=10 --set population.size=40",
        "simulation run on_claude.yaml --dry-run",
        "simulation run on_claude.yaml --replay runs/on_claude-seed7.duckdb",
    ),
)
@scenario_argument
@seed_option
@set_option
@out_option
@snapshot_options
@replay_options
@access_options
@executor_options
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the first prompts and what leaves this machine; send and write nothing.",
)
@click.option("--quiet", is_flag=True, help="No progress; print only the path of the run.")
@json_option
@debug_option
def command(
    *,
    scenario: Path,
    seed: int | None,
    settings: tuple[str, ...],
    out: Path | None,
    snapshot: Path | None,
    snapshot_every: int,
    replay: Path | None,
    replay_miss: str,
    access: Access,
    dry_run: bool,
    executor: ExecutorSpec,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run a scenario and write its run database.

    Prints what changed, what people did, what failed, and where the file is. The same scenario and
    seed give the same run. Progress goes to stderr.
    """
    from simulation.founding import read
    from simulation.runlog import check_free

    if out is not None:
        check_free(out)
    loaded = read(scenario, settings=settings, access=access)
    if dry_run:
        _show(loaded, seed=seed, as_json=as_json)
        return
    from simulation.cli.closing import tell
    from simulation.runs import Snapshot

    options: dict[str, Any] = {
        "seed": seed,
        "out": out,
        "snapshot": Snapshot(path=snapshot, every=snapshot_every) if snapshot else None,
        "replay": replay,
        "ask_misses": replay_miss == "live",
    }
    path = _simulate(loaded, executor, options, quiet=quiet or as_json)
    if quiet and not as_json:
        click.echo(str(path))
        return
    given = (
        ("--set", settings),
        ("--allow-path", tuple(map(str, access.allow_paths))),
        ("--allow-host", access.allow_hosts),
        ("--key-for", access.key_for),
    )  # another seed asks other questions, so nothing is replayed
    words = [*_words(given), *(("--no-price",) if access.no_price else ())]
    tell(
        path,
        as_json=as_json,
        following=lambda summary: _another(summary, [str(scenario), *words]),
    )


def _simulate(
    loaded: Loaded, executor: ExecutorSpec, options: Mapping[str, Any], *, quiet: bool
) -> Path:
    from simulation.cli.progress import progress
    from simulation.runs import simulate

    scenario = loaded.scenario
    budget = {
        name: limit for name, limit in scenario.budget.model_dump().items() if limit is not None
    }
    with (
        executor_of(executor) as workers,
        progress(scenario.name, scenario.horizon, quiet=quiet, budget=budget) as shown,
    ):
        return simulate(loaded, on_tick=shown.tick, executor=workers, **options)


def _show(loaded: Loaded, *, seed: int | None, as_json: bool) -> None:
    """Print what would be sent."""
    from simulation.cli.previewed import previewed
    from simulation.cli.text import print_json
    from simulation.planning import preview

    found = preview(loaded, seed=seed)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(previewed(found))


def _another(summary: Summary, words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return a run of the next seed. words: of the command line, without its seed."""
    from simulation.cli.calling import program_words
    from simulation.runs import free_path

    other = summary.seed + 1 if summary.seed < LARGEST_SEED else 0
    again = [*program_words(), "run", *words, "--seed", str(other)]
    return again, str(free_path(summary.scenario, other))


def _words(given: Sequence[tuple[str, tuple[str, ...]]]) -> list[str]:
    """Return options that may be repeated as the words of a command line."""
    return [word for option, values in given for value in values for word in (option, value)]
