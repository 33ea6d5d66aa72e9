"""`simulation sql`: a query, answered as a table, CSV, JSON or a Parquet file, or by pages."""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simulation.cli.options import (
    debug_option,
    examples,
    json_option,
    refuse_existing,
    run_argument,
)
from simulation.cli.text import jsonable, many, paragraph, print_rows, width
from simulation.errors import RunFileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.runlog import Database, QueryResult

ROWS = 50  # of a table or a page, when neither --limit nor --all is given


class Count(click.ParamType[int]):
    """A whole number from 1, of rows or of a page."""

    name = "N"

    def __init__(self, what: str) -> None:
        """Say what it is, for the message: `number of rows`."""
        self._what = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a count; fails with what it can be."""
        try:
            count = int(value)
        except ValueError:
            count = 0
        if count < 1:
            self.fail(f'"{value}" is no {self._what}; it is a whole number from 1', param, ctx)
        return count


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Which rows of an answer are wanted. limit: None for all.  page: from 1; None for none."""

    limit: int | None
    page: int | None = None

    @property
    def skip(self) -> int:
        """Rows before the first one that is wanted."""
        return ((self.page or 1) - 1) * (self.limit or 0)

    def of(self, opened: Database, query: str) -> QueryResult:
        """Return the rows of a query that are wanted."""
        return opened.query(query, limit=self.limit, skip=self.skip)


class QueryCommand(click.Command):
    """A command whose last argument is SQL, which may begin with a comment: `-- like this`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line in which an argument such as `-- a comment` is no option."""
        return super().parse_args(ctx, self._queries_last(ctx, args))

    def _queries_last(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Return the arguments with queries that look like options behind a `--`."""
        if "--" in args:  # the user has told them apart
            return args
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        names = {name for each in options for name in each.opts}
        valued = {name for each in options if not each.is_flag for name in each.opts}
        before = ["", *args]
        queries = [
            arg
            for last, arg in zip(before, args, strict=False)
            if last not in valued and _is_query(arg, names)
        ]
        rest = [arg for arg in args if arg not in queries]
        return [*rest, "--", *queries] if queries else args


def _is_query(arg: str, options: set[str]) -> bool:
    """Return whether an argument that begins with a dash is SQL with a comment in front."""
    if not arg.startswith("--") or not any(mark.isspace() for mark in arg):
        return False
    return arg.partition("=")[0] not in options  # --parquet='my file.parquet'


@click.command(
    "sql",
    cls=QueryCommand,
    epilog=examples(
        'simulation sql runs/a.duckdb "SELECT * FROM belief_summary WHERE tick = 30"',
        'simulation sql runs/a.duckdb "SELECT action, count(*) FROM turns GROUP BY 1" --csv',
        'simulation sql runs/a.duckdb "SELECT * FROM turns" --page 2',
        'simulation sql runs/a.duckdb "SELECT * FROM beliefs" --parquet beliefs.parquet',
    ),
)
@run_argument
@click.argument("query")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV with a header; all rows.")
@json_option
@click.option(
    "--parquet",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a Parquet file, which must not exist; all rows.",
)
@click.option(
    "--limit",
    type=Count("number of rows"),
    help=f"At most so many rows; a table and a page have {ROWS}.",
)
@click.option("--page", type=Count("page"), help="The Nth page of so many rows.")
@click.option("--all", "everything", is_flag=True, help="All rows of a table.")
@debug_option
def command(
    *,
    run: Path,
    query: str,
    as_csv: bool,
    as_json: bool,
    parquet: Path | None,
    limit: int | None,
    page: int | None,
    everything: bool,
) -> None:
    """Put a SQL QUERY to a run database and print the answer.

    The file is only read; it can also be the sweep.duckdb of a sweep, or a transcript of
    interviews. A table is for reading: it shows 50 rows, cuts text and rounds to six digits;
    --csv, --json and --parquet give everything exactly. `simulation tables RUN` says what there is
    to ask.
    """
    from simulation.runlog import open_database

    _check_usage(as_csv, as_json, parquet)
    _check_part(parquet, limit, page, everything)
    table = not (as_csv or as_json or parquet) and not everything
    part = Part(limit=limit or (ROWS if table or page else None), page=page)
    with open_database(run) as opened:
        if parquet is not None:
            _write_parquet(opened, query, parquet)
        elif as_csv:
            _print_csv(part.of(opened, query))
        elif as_json:
            print_rows(_objects(part.of(opened, query)))
        else:
            _print_table(opened, query, part)


def _check_usage(
    as_csv: bool,  # noqa: FBT001 - the values of flags, in the order of the command line
    as_json: bool,  # noqa: FBT001 - as above
    parquet: Path | None,
) -> None:
    forms = {"--csv": as_csv, "--json": as_json, "--parquet": parquet is not None}
    chosen = [name for name, given in forms.items() if given]
    if len(chosen) > 1:
        raise UsageError(f"choose one of {' and '.join(chosen)}")


def _check_part(
    parquet: Path | None,
    limit: int | None,
    page: int | None,
    everything: bool,  # noqa: FBT001 - as above
) -> None:
    for name, given in (("--limit", limit), ("--page", page)):
        if given is not None and (everything or parquet is not None):
            raise UsageError(
                f"{name} does not go with --all or --parquet; write LIMIT in the query"
            )
    if parquet is not None:
        refuse_existing(parquet)


def _print_table(opened: Database, query: str, part: Part) -> None:
    from simulation.cli.grid import grid

    result = part.of(opened, query)
    table = grid(result.columns, result.rows, space=width())
    notes = [_count(opened, query, part, result)]
    if table.cut:
        notes.append("text was cut to fit")
    if table.hidden:
        notes.append(f"columns left out: {', '.join(table.hidden)}")
    if table.cut or table.hidden:
        notes.append("--csv or --json has all of it")
    _show([*table.lines, paragraph(f"({'; '.join(notes)})", hanging=" ")])


def _show(lines: list[str]) -> None:
    """Print lines; what is longer than a terminal goes through its pager."""
    text = "\n".join(lines)
    if sys.stdout.isatty() and text.count("\n") >= shutil.get_terminal_size().lines + ROWS:
        click.echo_via_pager(text)
    else:
        click.echo(text)


def _count(opened: Database, query: str, part: Part, result: QueryResult) -> str:
    shown = len(result.rows)
    if not result.truncated and not part.skip:
        return many(shown, "row")
    total = _total(opened, query)
    if part.page is None:
        more = "--page 2, --limit N or --all shows more"
        of = f"the first {many(shown, 'row')}" if total is None else f"{shown:,} of {total:,} rows"
        return f"{of}; {more}"
    of = "" if total is None else f" of {total:,}"
    if not shown:
        return f"no rows on page {part.page}{of and f'; the answer has {total:,}'}"
    rows = f"rows {part.skip + 1:,} to {part.skip + shown:,}{of}"
    return f"{rows}; --page {part.page + 1} shows the next" if result.truncated else rows


def _total(opened: Database, query: str) -> int | None:
    """Return how many rows a query has; None for a statement that cannot stand inside another."""
    try:
        counted = opened.query(f"SELECT count(*) FROM (\n{query.rstrip().rstrip(';')}\n)")  # noqa: S608 - the user's own query, on a file that is only read
    except UsageError:
        return None
    return int(counted.rows[0][0])


def _objects(result: QueryResult) -> list[dict[str, Any]]:
    names = list(_distinct(result.columns))
    return [dict(zip(names, row, strict=True)) for row in result.rows]


def _distinct(names: tuple[str, ...]) -> Iterator[str]:
    """Yield column names, a number added where one comes again, since JSON needs them distinct."""
    seen: set[str] = set()
    for name in names:
        number, distinct = 1, name
        while distinct in seen:
            number += 1
            distinct = f"{name}_{number}"
        seen.add(distinct)
        yield distinct


def _print_csv(result: QueryResult) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows([_csv_cell(value) for value in row] for row in result.rows)
    click.echo(buffer.getvalue(), nl=False)


def _csv_cell(value: Any) -> Any:
    """Return a value as CSV has it: NULL empty, booleans and lists as in JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict | tuple):
        return json.dumps(jsonable(value), ensure_ascii=False)
    return value if isinstance(value, str | int | float) else jsonable(value)


def _write_parquet(opened: Database, query: str, path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    table = opened.arrow(query)
    try:
        with path.open("xb") as file:
            parquet.write_table(table, file)
    except FileExistsError:
        refuse_existing(path)
        raise
    except (OSError, pa.ArrowException) as error:
        path.unlink(missing_ok=True)
        raise RunFileError(f"{path} could not be written: {error}") from error
    click.echo(f"wrote {many(table.num_rows, 'row')} to {path}")
