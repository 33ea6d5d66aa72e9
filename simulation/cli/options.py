"""Options that several verbs share."""

# ruff: noqa: PLC0415 - what only some command lines need is imported there: --help is instant

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simulation.cli.app import Session
from simulation.cli.calling import PROGRAM, program_call
from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_F = TypeVar("_F", bound="Callable[..., Any]")

LARGEST_SEED = 2**63 - 1


class Seed(click.ParamType[int]):
    """A whole number of 64 bits."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a seed; fails with what a seed can be."""
        try:
            seed = int(value)
        except ValueError:
            self.fail(f'"{value}" is no seed; a seed is a whole number', param, ctx)
        if not -LARGEST_SEED - 1 <= seed <= LARGEST_SEED:
            self.fail(f"{value} is no seed; a seed lies between -2^63 and 2^63 - 1", param, ctx)
        return seed


def together(*options: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """Return several options as one decorator; help lists them in this order."""

    def added(function: _F) -> _F:
        for option in reversed(options):
            function = option(function)
        return function

    return added


scenario_argument = click.argument("scenario", type=click.Path(path_type=Path))
run_argument = click.argument("run", type=click.Path(path_type=Path))

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")

seed_option = click.option(
    "--seed", type=Seed(), help="Seed of all chance; default, the scenario's."
)

set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change one value of the scenario, such as population.size=50. Repeatable.",
)


def _remember(context: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    session = context.find_object(Session)
    if session is not None and wanted:
        session.debug = True


debug_option = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_remember,
    help="On an error, show where in the program it comes from.",
)


_access_options = together(
    click.option(
        "--allow-path",
        "allow_paths",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="Let the scenario read this file or folder. Repeatable.",
    ),
    click.option(
        "--allow-host",
        "allow_hosts",
        multiple=True,
        metavar="HOST",
        help="Let the scenario name a server on this host. Repeatable.",
    ),
    click.option(
        "--key-for",
        "key_for",
        multiple=True,
        metavar="HOST",
        help="Send the provider's key to this host, too. Repeatable.",
    ),
    click.option(
        "--no-price",
        "no_price",
        is_flag=True,
        help="Let language models be asked whose price is not known, and count no money for them.",
    ),
)


def access_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what a scenario may reach beyond its own; the verb gets one `access`, an Access."""

    @functools.wraps(function)
    def with_access(
        *args: Any,
        allow_paths: tuple[Path, ...],
        allow_hosts: tuple[str, ...],
        key_for: tuple[str, ...],
        no_price: bool,
        **given: Any,
    ) -> Any:
        from simulation.scenario import Access

        access = Access(
            allow_paths=allow_paths, allow_hosts=allow_hosts, key_for=key_for, no_price=no_price
        )
        return function(*args, access=access, **given)

    return _access_options(with_access)


snapshot_options = together(
    click.option(
        "--snapshot",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Keep a copy of the run here, to be read while it goes on.",
    ),
    click.option(
        "--snapshot-every",
        type=click.IntRange(min=1),
        default=1,
        metavar="N",
        help="Ticks from one copy to the next; default 1.",
    ),
)

replay_options = together(
    click.option(
        "--replay",
        type=click.Path(path_type=Path),
        metavar="RUN",
        help="Let the language models of this run answer again: no key, no network, no cost.",
    ),
    click.option(
        "--replay-miss",
        type=click.Choice(["stop", "live"]),
        default="stop",
        show_default=True,
        help="What to do about a question that the replayed run does not answer.",
    ),
)

out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The run database to write; it must not exist. Default: a new file in runs/.",
)

version_option = click.option(
    "--any-version",
    is_flag=True,
    help="Go on although another version of the package made the run.",
)


def refuse_existing(path: Path) -> None:
    """Refuse to write over a file.

    Raises:
        UsageError: the path is taken, or can be none.
    """
    try:
        taken = path.exists()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{str(path)[:200]} cannot be the name of a file: {reason}") from error
    if taken:
        raise UsageError(
            f"{path} exists and is not written over; choose another name, or delete it"
        )


def examples(*lines: str) -> str:
    """Return the epilog of a verb's help, its lines kept, each as it is to be typed here."""
    typed = (line.replace(PROGRAM, program_call(), 1) for line in lines)
    return "\b\n" + "\n".join(("Examples:", *(f"  {line}" for line in typed)))
