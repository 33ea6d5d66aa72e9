"""`simulation study`: an experiment of the sources, repeated."""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulation.cli.options import debug_option, examples, refuse_existing, together
from simulation.cli.studies import STUDIES
from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulation.cli.studies import Study
    from simulation.studies.speaking import Models

_model_options = together(
    click.option(
        "--model",
        metavar="MODEL",
        help="Who speaks: openai:NAME or anthropic:NAME; default, a rule. The key comes from the "
        "environment.",
    ),
    click.option("--base-url", metavar="URL", help="Where it is asked: a server of your own."),
    click.option("--judge", metavar="MODEL", help="Who judges; default, who speaks."),
    click.option("--judge-base-url", metavar="URL", help="Where the judge is asked."),
    click.option(
        "--budget", type=float, metavar="USD", help="Ask nothing more once this much is spent."
    ),
    click.option(
        "--max-tokens", type=int, metavar="N", help="Longest reply, where a study allows more."
    ),
    click.option(
        "--key-for",
        multiple=True,
        metavar="HOST",
        help="Send the provider's key to this host, too. Repeatable.",
    ),
    click.option(
        "--form",
        type=click.Choice(["fixed", "free"]),
        help="Whether the server holds answers such as A or B to their form, where it can. "
        "Default: fixed; with --replay, as recorded.",
    ),
    click.option(
        "--replay",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Let the models answer from the calls.jsonl of an earlier study again.",
    ),
)


@click.command(
    "study",
    epilog=examples(
        "simulation study attachment --quick",
        "simulation study locomo --data locomo10.json",
        "simulation study dialogue --model openai:qwen3:8b --base-url http://localhost:11434/v1",
        "",
        "Studies:",
        *(f"  {name:<21}{study.about}" for name, study in STUDIES.items()),
        "",
        "What --data is:",
        *(
            f"  {name:<21}{study.data}{', needed' if study.needed else ''}"
            for name, study in STUDIES.items()
            if study.data
        ),
    ),
)
@click.argument("name", metavar="STUDY", default="")
@click.option("--quick", is_flag=True, help="A short form that takes less than a minute.")
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="PATH", help="Data of yours, see below."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="The folder to write; it must not exist. Default: a new folder in studies/.",
)
@_model_options
@debug_option
def command(*, name: str, quick: bool, data: Path | None, out: Path | None, **asked: Any) -> None:
    """Repeat an experiment of the sources, or hold the model against people.

    Writes its tables, pictures and a manifest into a new folder and prints the main results. All
    chance is seeded: a study comes out the same every time. Studies that ask language models do so
    where --model names one; else rules speak and judge, which shows only that all works.
    """
    study = STUDIES.get(name)
    if study is None:
        raise UsageError(_no_study(name))
    given: dict[str, Any] = {"quick": quick, "data": _data(name, study, data)}
    if study.models:
        given["models"] = _models(asked)
    else:
        _refuse(name, asked)
    work = "short form" if quick else study.minutes
    run = import_module(study.module).run
    with _reserved(name, out) as folder:
        click.echo(f"{name}: {study.about} ({work}) …", err=True)
        click.echo(run(folder, **given))


def _data(name: str, study: Study, data: Path | None) -> Path | None:
    """Return the data of a study.

    Raises:
        UsageError: it takes none, or needs some.
    """
    if data is not None and not study.data:
        raise UsageError(f"the study {name} takes no --data")
    if data is None and study.needed:
        raise UsageError(f"the study {name} needs --data PATH: {study.data}")
    if data is not None and not data.exists():
        raise UsageError(f"{data} does not exist; --data is: {study.data}")
    return data


def _models(asked: Mapping[str, Any]) -> Models:
    from simulation.studies.speaking import Models

    return Models.parse(**asked)


def _refuse(name: str, asked: Mapping[str, Any]) -> None:
    """Refuse options of language models where none is asked.

    Raises:
        UsageError: one is given.
    """
    idle = [f"--{option.replace('_', '-')}" for option, value in asked.items() if value]
    if idle:
        able = ", ".join(other for other, study in STUDIES.items() if study.models)
        raise UsageError(
            f"the study {name} asks no language model and takes no {idle[0]}; "
            f"those that do: {able}"
        )


@contextmanager
def _reserved(name: str, out: Path | None) -> Iterator[Path]:
    """Yield an empty folder that nobody else will write to; take it away where nothing came.

    Raises:
        UsageError: it cannot be made or written.
    """
    folder, made = _made(name, out)
    try:
        yield folder
    except BaseException as error:
        with suppress(OSError):  # nobody reads stderr
            for note in getattr(error, "__notes__", ()):  # where answers of models are kept
                click.echo(note, err=True)
        for part in made:  # only what is empty goes: nothing of somebody else
            with suppress(OSError):
                part.rmdir()
        if isinstance(error, OSError):
            raise _unwritable(folder, error) from error
        raise


def _made(name: str, out: Path | None) -> tuple[Path, list[Path]]:
    """Make a new folder; return it, and all that was made for it, innermost first.

    By default it is the first of studies/NAME, studies/NAME-2 … that is not taken.
    """
    names = (name if i == 1 else f"{name}-{i}" for i in count(1))
    for folder in [out] if out is not None else (Path("studies") / each for each in names):
        if out is not None:
            refuse_existing(folder)
        made = [part for part in (folder, *folder.parents) if not part.exists()]
        try:
            folder.mkdir(parents=True)
        except FileExistsError as error:
            if out is not None or not folder.exists():
                raise _unwritable(folder, error) from error
            continue
        except OSError as error:
            raise _unwritable(folder, error) from error
        return folder, made
    raise AssertionError  # pragma: no cover - names do not end


def _unwritable(folder: Path, error: OSError) -> UsageError:
    why = error.strerror or str(error)
    return UsageError(f"{folder} cannot be written: {why}; nothing is left of the study")


def _no_study(name: str) -> str:
    from simulation.spelling import did_you_mean

    known = f"Studies: {', '.join(STUDIES)}."
    if not name:
        return f"name a study. {known}"
    return f'there is no study "{name}"{did_you_mean(name, STUDIES) or "."} {known}'
