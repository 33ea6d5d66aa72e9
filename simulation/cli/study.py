"""`simulation study`: an experiment of the sources, repeated."""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

from itertools import count
from pathlib import Path

import click

from simulation.cli.options import debug_option, examples, refuse_existing
from simulation.errors import UsageError

STUDIES = ("persmem-calibration",)


@click.command(
    "study",
    epilog=examples(
        "simulation study persmem-calibration --quick",
        "simulation study persmem-calibration --out calibration",
        "",
        "Studies:",
        "  persmem-calibration    fit the maps from personality to gains, about two minutes",
    ),
)
@click.argument("name", metavar="STUDY")
@click.option("--quick", is_flag=True, help="A short form that takes seconds.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="The folder to write; it must not exist. Default: a new folder in studies/.",
)
@debug_option
def command(*, name: str, quick: bool, out: Path | None) -> None:
    """Repeat an experiment of the sources.

    Writes its tables, a picture and a manifest into a new folder and prints the main table. All
    chance is seeded: a study comes out the same every time.
    """
    if name not in STUDIES:
        raise UsageError(_no_study(name))
    folder = _free_folder(name) if out is None else out
    refuse_existing(folder)
    from simulation.studies import persmem_calibration

    click.echo(
        f"{name}: fitting and measuring{'' if quick else ', about two minutes'} …", err=True
    )
    study = persmem_calibration.calibrate(quick=quick)
    persmem_calibration.write(study, folder)
    click.echo(f"{study.summary.title}\n\n{study.summary.markdown()}\nwrote {folder}")


def _free_folder(name: str) -> Path:
    """Return the first folder of studies/ that is not taken."""
    names = (name if i == 1 else f"{name}-{i}" for i in count(1))
    return next(path for path in (Path("studies") / n for n in names) if not path.exists())


def _no_study(name: str) -> str:
    from simulation.spelling import did_you_mean

    hint = did_you_mean(name, STUDIES) or "."
    return f'there is no study "{name}"{hint} Studies: {", ".join(STUDIES)}.'
