"""`simulation study`: an experiment of the sources, repeated."""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulation.cli.options import debug_option, examples, refuse_existing
from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study: the module whose `run` makes it, what is said meanwhile, and whether it takes data.

    `run(folder, *, quick, data)` writes a new folder and returns what to print.
    """

    module: str
    working: str
    minutes: str
    data: bool


STUDIES = {
    "persmem-calibration": Study(
        module="simulation.studies.persmem_calibration",
        working="fitting and measuring",
        minutes="about two minutes",
        data=False,
    ),
    "dam": Study(
        module="simulation.studies.dam",
        working="remembering and asking",
        minutes="about three minutes",
        data=True,
    ),
    "extraction": Study(
        module="simulation.studies.extraction",
        working="reading labelled sentences",
        minutes="about a minute",
        data=True,
    ),
}


@click.command(
    "study",
    epilog=examples(
        "simulation study persmem-calibration --quick",
        "simulation study dam --data my_observations.csv",
        "",
        "Studies:",
        "  persmem-calibration    fit the maps from personality to gains, about two minutes",
        "  dam                    let attitudes settle in memory units, about three minutes",
        "  extraction             find labelled aspects in sentences, about a minute",
    ),
)
@click.argument("name", metavar="STUDY")
@click.option("--quick", is_flag=True, help="A short form that takes seconds.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Data of yours. dam: labelled sentences (.xml, or a folder of them) or your own "
    "observations (CSV or JSON Lines). extraction: labelled sentences.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="The folder to write; it must not exist. Default: a new folder in studies/.",
)
@debug_option
def command(*, name: str, quick: bool, data: Path | None, out: Path | None) -> None:
    """Repeat an experiment of the sources.

    Writes its tables, pictures and a manifest into a new folder and prints the main results. All
    chance is seeded: a study comes out the same every time.
    """
    study = STUDIES.get(name)
    if study is None:
        raise UsageError(_no_study(name))
    if data is not None and not study.data:
        raise UsageError(f"the study {name} takes no --data")
    folder = _free_folder(name) if out is None else out
    refuse_existing(folder)
    click.echo(f"{name}: {study.working}{'' if quick else f', {study.minutes}'} …", err=True)
    run = import_module(study.module).run
    with _whole(folder):
        click.echo(run(folder, quick=quick, data=data))


@contextmanager
def _whole(folder: Path) -> Iterator[None]:
    """Find out at once whether a folder can be written, and leave no half of it behind.

    Raises:
        UsageError: it cannot.
    """
    missing = [part for part in (folder, *folder.parents) if not part.exists()]
    try:
        folder.mkdir(parents=True)
        folder.rmdir()
        yield
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        for part in missing[1:]:
            with suppress(OSError):
                part.rmdir()
        if isinstance(error, OSError):
            why = error.strerror or str(error)
            raise UsageError(
                f"{folder} cannot be written: {why}; nothing is left of it"
            ) from error
        raise


def _free_folder(name: str) -> Path:
    """Return the first folder of studies/ that is not taken."""
    names = (name if i == 1 else f"{name}-{i}" for i in count(1))
    return next(path for path in (Path("studies") / n for n in names) if not path.exists())


def _no_study(name: str) -> str:
    from simulation.spelling import did_you_mean

    hint = did_you_mean(name, STUDIES) or "."
    return f'there is no study "{name}"{hint} Studies: {", ".join(STUDIES)}.'
