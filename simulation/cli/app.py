"""The program: find the verb, and turn every error into one message and an exit code.

0 done; 1 the run stopped early, or something failed; 2 the input cannot be used; 130 interrupted.
"""

# ruff: noqa: PLC0415 - what only some command lines need is imported there: --help is instant

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from simulation.cli.calling import PROGRAM, program_call
from simulation.cli.process import stop_in
from simulation.cli.text import plain
from simulation.cli.verbs import Verbs
from simulation.errors import InputError, SimulationError

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


@dataclass(slots=True)
class Session:
    """What all verbs share. debug: show where in the program an error comes from."""

    debug: bool = False


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    if not wanted or context.resilient_parsing:
        return
    from importlib.metadata import version

    click.echo(f"{PROGRAM} {version(PROGRAM)}")
    context.exit()


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="VERB …",
    epilog="\b\n"  # noqa: S608 - a query to read in help, put to nothing
    "Examples:\n"
    f"  {program_call()} init my_product\n"
    f"  {program_call()} run my_product.yaml --seed 7\n"
    f'  {program_call()} sql runs/my_product-seed7.duckdb "SELECT * FROM belief_summary"\n'
    "\n"
    f"Each verb explains itself: {program_call()} run --help",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Print the version and exit.",
)
def program() -> None:
    """Simulate how a message travels through a population and what it does to beliefs.

    A scenario (YAML) and a seed become a run database (DuckDB), to be asked in SQL.
    """


def execute(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every error becomes a message on stderr."""
    session = Session()
    try:
        code = program.main(
            args=list(arguments), prog_name=PROGRAM, standalone_mode=False, obj=session
        )
    except SystemExit:  # click's, when nobody reads stdout any more (`| head`)
        return DONE
    except Exception as error:  # noqa: BLE001 - the last place: no traceback reaches a user
        code, message = _answer(error)
        with contextlib.suppress(OSError):  # nobody reads stderr: the exit code says it
            _trace(session)
            click.echo(message, err=True)
    return code if isinstance(code, int) else DONE


def _answer(error: Exception) -> tuple[int, str]:
    """Return the exit code and the message of an error."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return BAD_INPUT, error.format_message()
    if isinstance(error, click.ClickException):
        return BAD_INPUT, _usage(error)
    if isinstance(error, click.Abort):
        stopped = stop_in(error)  # a second Ctrl-C does not hide what the first one left
        return (FAILED, plain(str(stopped), "\n")) if stopped else (INTERRUPTED, "interrupted")
    if isinstance(error, SimulationError):
        return (BAD_INPUT if isinstance(error, InputError) else FAILED), plain(str(error), "\n")
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return FAILED, plain(f"{place}{error.strerror}")
    what = plain(f"{type(error).__name__}: {error}")
    return FAILED, f"internal error ({what}); run again with --debug to see where"


def _usage(error: click.ClickException) -> str:
    """Return a message about the command line itself, with the help that belongs to it."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else PROGRAM
    said = plain(_no_option(error) or error.format_message())
    return f"{path}: {said}\nTry: {program_call()}{path.removeprefix(PROGRAM)} --help"


def _no_option(error: click.ClickException) -> str | None:
    """Return the message for an option that does not exist, with the one nearest to it."""
    if not isinstance(error, click.NoSuchOption):
        return None
    near = error.possibilities or ()
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return f'there is no option "{error.option_name}"{hint}'


def _trace(session: Session) -> None:
    if session.debug:
        import traceback

        click.echo(traceback.format_exc(), err=True)
