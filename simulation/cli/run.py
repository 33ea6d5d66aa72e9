"""`simulation run`: the main job."""

# ruff: noqa: PLC0415 - the engine is imported when it runs, so that --help answers at once

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulation.cli.executing import executor_of, executor_options
from simulation.cli.options import (
    access,
    access_options,
    debug_option,
    examples,
    json_option,
    scenario_argument,
    set_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.executors import ExecutorSpec
    from simulation.scenario import Loaded


_LARGEST = 2**63 - 1  # seed


class Seed(click.ParamType[int]):
    """A whole number of 64 bits."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a seed; fails with what a seed can be."""
        try:
            seed = int(value)
        except ValueError:
            self.fail(f'"{value}" is no seed; a seed is a whole number', param, ctx)
        if not -_LARGEST - 1 <= seed <= _LARGEST:
            self.fail(f"{value} is no seed; a seed lies between -2^63 and 2^63 - 1", param, ctx)
        return seed


@click.command(
    "run",
    epilog=examples(
        "simulation run scenarios/protein_bar.yaml",
        "simulation run scenarios/protein_bar.yaml --seed 8 --out runs/second.duckdb",
        "simulation run bar.yaml --set horizon=10 --set population.size=40",
    ),
)
@scenario_argument
@click.option("--seed", type=Seed(), help="Seed of all chance; default, the scenario's.")
@set_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The run database to write; it must not exist. Default: a new file in runs/.",
)
@access_options
@executor_options
@click.option("--quiet", is_flag=True, help="No progress; print only the path of the run.")
@json_option
@debug_option
def command(
    *,
    scenario: Path,
    seed: int | None,
    settings: tuple[str, ...],
    out: Path | None,
    allow_paths: tuple[Path, ...],
    allow_hosts: tuple[str, ...],
    key_for: tuple[str, ...],
    executor: ExecutorSpec,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run a scenario and write its run database.

    Prints what changed, what people did, what failed, and where the file is. The same scenario and
    seed give the same run. Progress goes to stderr.
    """
    from simulation.analysis.summary import summarise
    from simulation.founding import read
    from simulation.runlog import check_free

    if out is not None:
        check_free(out)
    allowed = access(allow_paths, allow_hosts, key_for)
    loaded = read(scenario, settings=settings, access=allowed)
    path = _simulate(loaded, executor, seed=seed, out=out, quiet=quiet or as_json)
    if quiet and not as_json:
        click.echo(str(path))
        return
    summary = summarise(path)
    if as_json:
        from simulation.cli.text import print_json

        print_json(summary.to_dict())
        return
    from simulation.cli.calling import program_words
    from simulation.cli.closing import closing
    from simulation.runs import free_path

    given = (
        ("--set", settings),
        ("--allow-path", tuple(map(str, allow_paths))),
        ("--allow-host", allow_hosts),
        ("--key-for", key_for),
    )
    other = summary.seed + 1 if summary.seed < _LARGEST else 0
    again = [*program_words(), "run", str(scenario), *_words(given), "--seed", str(other)]
    click.echo(closing(summary, again, str(free_path(summary.scenario, other))))


def _simulate(
    loaded: Loaded, executor: ExecutorSpec, *, seed: int | None, out: Path | None, quiet: bool
) -> Path:
    from simulation.cli.progress import progress
    from simulation.runs import simulate

    scenario = loaded.scenario
    with (
        executor_of(executor) as workers,
        progress(scenario.name, scenario.horizon, quiet=quiet) as shown,
    ):
        return simulate(loaded, seed=seed, out=out, on_tick=shown.tick, executor=workers)


def _words(given: Sequence[tuple[str, tuple[str, ...]]]) -> list[str]:
    """Return options that may be repeated as the words of a command line."""
    return [word for option, values in given for value in values for word in (option, value)]
