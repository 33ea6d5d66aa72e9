"""What can be wrong with a run's file, said so that a person can mend it."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

import duckdb

from simulation.errors import RunFileError, UsageError
from simulation.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

_HOLDER = re.compile(r"lock is held in (?P<program>.*?) \(PID (?P<pid>\d+)\)")
_NO_TABLE = re.compile(r'Table with name "?(?P<name>.+?)"? does not exist')
_NO_COLUMN = re.compile(
    r'Referenced column "(?P<name>.+?)" not found'
    r'|Table "(?P<table>.+?)" does not have a column named "(?P<member>.+?)"'
)
_CANDIDATES = re.compile(r"Candidate bindings:(?P<names>.*)")
_NO_FUNCTION = re.compile(r"Function with name \"?(?P<name>.+?)\"? does not exist")
_REACHES_OUT = re.compile(
    "disabled by configuration|configuration has been locked|exists in the .* extension|"
    "installing and loading the .* extension"
)
_OUT_OF_REACH = (
    "a query reads the tables of this file and nothing else: no other file or folder, no address, "
    "no extension, no setting"
)
_PATH = re.compile(r"[/\\\\]|\.\w+$")
_FIRST_WORD = re.compile(r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*(?P<word>[A-Za-z]+)", re.DOTALL)
_FUNCTIONS = (  # what people ask with; of its thousand DuckDB names odd ones for a slip of the pen
    *("abs", "any_value", "arg_max", "arg_min", "avg", "ceil", "coalesce", "concat", "contains"),
    *("corr", "count", "first", "floor", "greatest", "histogram", "last", "least", "length"),
    *("list", "lower", "max", "median", "min", "mode", "quantile_cont", "quantile_disc", "rank"),
    *("regexp_matches", "replace", "round", "row_number", "stddev", "string_agg", "sum", "trim"),
    *("upper", "variance"),
)
_SHOWN = 200  # characters of a name that is no name
_VALUE = r"(?:[=<>]|\blike|\bin\s*\([^)]*)\s*[\"(]?$"  # what stands before a value
_LINE = re.compile(r"^LINE \d+: (?P<sql>.*)\n(?P<place> *)\^", re.MULTILINE)
_QUOTED = re.compile(r'"([^"]+)"')


def missing(path: Path) -> RunFileError:
    """Return the error for a path at which there is no file."""
    if path.is_dir():
        return RunFileError(f"{path} is a folder; name a run database in it")
    if path.exists():
        return RunFileError(f"{path} is a pipe or a device; a run database is a file")
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix == ".duckdb"]
    except OSError:
        return RunFileError(f"{path} does not exist: there is no folder {path.parent}")
    return RunFileError(f"{path} does not exist{did_you_mean(path.name, names)}")


def own(path: Path) -> RunFileError:
    """Return the error for a file that this process is writing."""
    return RunFileError(f"{path} is being written by this very process; close it first")


def cannot_open(path: Path, error: Exception) -> RunFileError:
    """Return the error for a file that DuckDB does not open."""
    said = str(error)
    holder = _HOLDER.search(said)
    if holder:
        return RunFileError(
            f"{path} is in use by process {holder['pid']} ({holder['program']}): one process at "
            "a time can use a run that is still being written; wait until it ends, stop it, or "
            "begin runs with --snapshot FILE to have a copy to look at"
        )
    if "already attached" in said:
        return RunFileError(f"{path} is open in this very process; close it first")
    if "WAL" in said:
        return RunFileError(_damaged_wal(path, said))
    if _DAMAGE.search(said):
        return damaged(path, error)
    return RunFileError(f"{path} cannot be opened: {said}")


def cannot_reopen(path: Path, error: Exception) -> RunFileError:
    """Return the error for a file that DuckDB does not open for writing."""
    if _READ_ONLY.search(str(error)):
        return RunFileError(
            f"{path} cannot be opened for writing: you may not write there, or the disk is read-"
            "only. It is as it was; copy it, with its .wal file if there is one, to where you may"
        )
    return cannot_open(path, error)


_READ_ONLY = re.compile("Permission denied|Read-only file system|read-only mode")
_CUT_SHORT = "Could not read enough bytes"
_DAMAGE = re.compile(rf"not a valid DuckDB database|[Cc]orrupt|{_CUT_SHORT}|deserializ", re.ASCII)


def is_damage(error: Exception) -> bool:
    """Return whether an error of DuckDB speaks of the bytes of the file, not of the query."""
    return isinstance(error, duckdb.IOException | duckdb.FatalException) or (
        isinstance(error, duckdb.Error) and _DAMAGE.search(str(error)) is not None
    )


def damaged(path: Path | None, error: Exception) -> RunFileError:
    """Return the error for a file whose bytes are not those of a run."""
    said = str(error)
    why = "it was cut short" if _CUT_SHORT in said else f"DuckDB cannot read it ({said})"
    if "not a valid DuckDB database" in said:
        why = "DuckDB cannot read it"
    return RunFileError(f"{path or 'the run'} is no run database, or is damaged: {why}")


def interrupted(error: Exception) -> bool:
    """Return whether an error is what DuckDB makes of Ctrl-C."""
    return isinstance(error, duckdb.InterruptException) or (
        type(error) is RuntimeError and str(error) == "Query interrupted"
    )


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Give DuckDB's answer to Ctrl-C its name back.

    Raises:
        KeyboardInterrupt: DuckDB was interrupted within the block.
    """
    try:
        yield
    except (RuntimeError, duckdb.Error) as error:
        if interrupted(error):
            raise KeyboardInterrupt from error
        raise


def unusable_name(path: Path, why: str) -> RunFileError:
    """Return the error for a name that no file can have."""
    shown = str(path)
    if len(shown) > _SHOWN:
        shown = f"{shown[:_SHOWN]}…"
    return RunFileError(f"{shown} cannot be the name of a run database: {why}")


def _damaged_wal(path: Path, said: str) -> str:
    return (
        f"{path} cannot be opened: the log of its latest ticks, {path}.wal, is damaged. Restore "
        f"both files from a copy; or move {path}.wal away, and the run opens as it stood at its "
        f"last checkpoint, without the ticks in the log. ({said})"
    )


def no_run(path: Path) -> RunFileError:
    """Return the error for a DuckDB database that is no run database."""
    return RunFileError(f'{path} is a DuckDB database but no run: it has no usable table "run"')


def newer(path: Path, found: int, known: int) -> RunFileError:
    """Return the error for a file of a later layout."""
    return RunFileError(
        f"{path} has layout {found}; this version of the package reads layouts up to {known}: "
        "upgrade the package to read it"
    )


def exists(path: Path) -> RunFileError:
    """Return the error for a path that is taken."""
    return RunFileError(
        f"{path} exists, and a run is never written over: choose another name, or delete it"
    )


def leftover_wal(path: Path) -> RunFileError:
    """Return the error for a write-ahead log without its database."""
    return RunFileError(
        f"{path}.wal is left over from a run that is gone: delete it, or choose another name"
    )


def cannot_write(path: Path | None, what: str, error: Exception) -> RunFileError:
    """Return the error for something that could not be written."""
    said = str(error)
    if "No space left" in said:
        said = "no space is left on the disk"
    return RunFileError(f"{what} could not be written to {path or 'memory'}: {said}")


def nothing_known(path: Path) -> RunFileError:
    """Return the error for a DuckDB database that this package did not make."""
    return RunFileError(
        f"{path} is a DuckDB database but no run; nor is it the summary of a sweep or a "
        "transcript of interviews"
    )


def bad_query(error: Exception, columns: Mapping[str, tuple[str, ...]]) -> UsageError:
    """Return the error for SQL that DuckDB refuses.

    columns: table or view name: its columns.
    """
    said = str(error)
    if _REACHES_OUT.search(said):
        return UsageError(_OUT_OF_REACH)
    table = _NO_TABLE.search(said)
    if table:
        return no_table(table["name"], columns)
    function = _NO_FUNCTION.search(said)
    if function and (hint := did_you_mean(function["name"], _FUNCTIONS)):
        return UsageError(f'there is no function "{function["name"]}"{hint}')
    column = _NO_COLUMN.search(said)
    if column:
        return UsageError(_no_column(column, columns.get(column["table"] or "", ()), said))
    return UsageError(f"the query cannot be run: {said}")


def no_table(name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a table that does not exist; a path is told that it is none."""
    if _PATH.search(name):
        return UsageError(f'there is no table "{name}": {_OUT_OF_REACH}')
    names = sorted(known)
    hint = did_you_mean(name, names)
    return UsageError(f'there is no table "{name}"{hint}\nTables and views: {", ".join(names)}')


def no_column(name: str, known: Sequence[str], *, table: str) -> UsageError:
    """Return the error for a column that a table does not have."""
    hint = did_you_mean(name, known)
    return UsageError(
        f'there is no column "{name}" in "{table}"{hint}\nColumns: {", ".join(known)}'
    )


def first_word(sql: str) -> str:
    r"""Return the first word of a statement in capitals, behind comments.

    >>> first_word("/* x */ -- y\n install httpfs")
    'INSTALL'
    """
    word = _FIRST_WORD.match(sql)
    return word["word"].upper() if word else ""


def _no_column(found: re.Match[str], known: tuple[str, ...], said: str) -> str:
    name = found["name"] or found["member"]
    # DuckDB names the nearest columns of the tables in FROM, with their table where it must.
    near = _CANDIDATES.search(said)
    candidates = [each.split(".")[-1] for each in _QUOTED.findall(near["names"] if near else "")]
    of = f'\nColumns of "{found["table"]}": {", ".join(known)}' if known else ""
    hint = did_you_mean(name, (*known, *candidates))
    if found["name"] and (not hint or _stands_for_a_value(said)):
        quoted = name.replace("'", "''")
        hint += f"{'' if hint else ';'} text needs single quotes: '{quoted}'"
    return f'there is no column "{name}" here{hint}{of}'


def _stands_for_a_value(said: str) -> bool:
    """Return whether the unknown name stands where a value does, such as behind `=`."""
    line = _LINE.search(said)
    if line is None:
        return False
    # The mark stands under the statement, which DuckDB shows behind "LINE 1: ".
    before = line[0].partition("\n")[0][: len(line["place"])]
    return re.search(_VALUE, before, re.IGNORECASE) is not None
