"""`simulation compare`: where two runs part, or whether groups of runs differ beyond chance."""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulation.cli.options import debug_option, examples, json_option
from simulation.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simulation.analysis.comparison import Comparison
    from simulation.analysis.group_comparison import GroupComparison

_GROUP = "--group"
_BETWEEN = "\0"  # stands in no path


class GroupsCommand(click.Command):
    """A command whose --group takes all words up to the next option, as a shell expands `a/*`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line with the words of each group put together."""
        return super().parse_args(ctx, _together(args))


def _together(args: Sequence[str]) -> list[str]:
    """Return arguments with the words behind each --group as one."""
    found: list[str] = []
    inside = False
    for arg in args:
        option = arg.startswith("-") and arg != "-"
        if inside and not option:
            found[-1] += _BETWEEN + arg if found[-1] else arg
            continue
        inside = arg.partition("=")[0] == _GROUP
        first = arg.partition("=")[2]
        found += [_GROUP, first] if inside else [arg]
    return found


@click.command(
    "compare",
    cls=GroupsCommand,
    epilog=examples(
        "simulation compare runs/protein_bar-seed7.duckdb runs/protein_bar-seed8.duckdb",
        "simulation compare --group a/*.duckdb --group b/*.duckdb",
        "simulation compare runs/sweep --by recall.mode",
        "simulation compare a.duckdb b.duckdb --json",
    ),
)
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="RUN…")
@click.option(
    _GROUP,
    "groups",
    multiple=True,
    metavar="RUN…",
    help="A group: run databases, folders or quoted patterns, up to the next option. Repeatable.",
)
@click.option("--by", metavar="SETTING", help="Group the runs of RUN… by the value of a setting.")
@json_option
@debug_option
@click.pass_context
def command(
    context: click.Context,
    *,
    runs: tuple[Path, ...],
    groups: tuple[str, ...],
    by: str | None,
    as_json: bool,
) -> None:
    """Say where two runs part, or whether groups of runs differ beyond chance.

    Two runs: same scenario, same seed? The first tick, persona and target where they part, and
    why; then the largest differences. Groups: per target and tick the mean difference with a 95 %
    interval, paired by seed where seeds match, effect sizes, permutation tests with Holm's
    correction, and what can be said from so many seeds.
    """
    from simulation.cli.text import print_json

    if not runs and not groups:
        raise click.UsageError("Missing argument 'RUN…'.", ctx=context)
    compared = _compared(runs, groups, by)
    if as_json:
        print_json(compared.to_dict())
    else:
        click.echo("\n".join(_fitted(compared.summary())))


def _compared(
    runs: tuple[Path, ...], groups: tuple[str, ...], by: str | None
) -> Comparison | GroupComparison:
    if groups:
        if runs or by is not None:
            raise UsageError("--group goes with neither --by nor runs of its own before it")
        from simulation.analysis.groups import compare_groups

        return compare_groups([group.split(_BETWEEN) for group in groups])
    if by is not None:
        from simulation.analysis.groups import compare_by

        return compare_by(runs, by)
    from simulation.analysis.compare import compare

    return compare(runs)


def _fitted(lines: Iterable[str]) -> Iterable[str]:
    """Yield lines fit for the terminal; sentences are wrapped, tables are not."""
    from simulation.cli.text import paragraph, plain, width

    for line in map(plain, lines):
        body = line.strip()
        if len(line) <= width() or "  " in body or '"' in body:  # a table; words that are quoted
            yield line
        else:
            indent = line[: len(line) - len(line.lstrip())]
            yield paragraph(body, indent=indent, hanging=f"{indent}  ")
