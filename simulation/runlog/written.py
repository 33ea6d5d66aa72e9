"""Files that this process is writing.

A file is attached to a database in memory, since only then DuckDB lets us say how many rows make
a group. It writes the last group of every column anew at each checkpoint, as long as it is not
full: groups of a twelfth of its default make checkpoints short, and so the ticks that have one.

While a file is attached no other connection of this process may even try it: opening and closing
it a second time would drop the lock that keeps other processes out (POSIX). So it is refused here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import duckdb

from simulation.runlog import problems
from simulation.runlog.names import absolute

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ATTACHED: Final = "run_file"
"""What an attached file is called in its connection."""

_GROUP: Final = 10_240  # rows
_written: dict[str, tuple[int, int]] = {}  # its path: what the file is, under any name


def attach(path: Path, config: Mapping[str, Any]) -> duckdb.DuckDBPyConnection:
    """Return a connection to an existing file for writing; `release` ends it.

    Raises:
        RunFileError: this process is writing it already.
        duckdb.Error: it cannot be opened.
    """
    check_not_written(path)
    inside = {key: value for key, value in config.items() if key != "enable_external_access"}
    connection = duckdb.connect(":memory:", config=inside)
    quoted = absolute(path).replace("'", "''")
    try:
        connection.execute(f"ATTACH '{quoted}' AS {ATTACHED} (ROW_GROUP_SIZE {_GROUP})")
        connection.execute(f"USE {ATTACHED}")
        connection.execute("SET enable_external_access = false")
    except BaseException:
        connection.close()
        raise
    _written[_real(path)] = _file(path)
    return connection


def release(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Close a connection that `attach` gave; closing twice does nothing.

    Raises:
        duckdb.Error: the write-ahead log could not be folded into the file.
    """
    try:
        connection.close()
    finally:
        _written.pop(_real(path), None)


def check_not_written(path: Path) -> None:
    """Check that this process is not writing a file.

    Raises:
        RunFileError: it is.
    """
    if _written and path.exists() and _file(path) in _written.values():
        raise problems.own(path)


def _real(path: Path) -> str:
    return os.path.realpath(absolute(path))


def _file(path: Path) -> tuple[int, int]:
    """Return what tells a file from all others, by whatever link it is named."""
    found = path.stat()
    return found.st_dev, found.st_ino
