"""Copies of run databases: the history that a fork shares, and a snapshot of a running run."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from typing import TYPE_CHECKING

from simulation.errors import RunFileError
from simulation.runlog import problems
from simulation.runlog.names import absolute

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

WHOLE = ("claims", "initial_beliefs", "personas", "sources")
"""Tables that a fork copies as they are."""

BY_TICK = {
    "affects": "tick",
    "appraisals": "tick",
    "belief_changes": "tick",
    "edges": "created_tick",
    "embedding_rows": "tick",
    "evidence": "tick",
    "exposures": "tick",
    "gates": "tick",
    "memories": "tick",
    "model_calls": "tick",
    "posts": "tick",
    "probes": "tick",
    "recalls": "tick",
    "reflections": "tick",
    "rejections": "tick",
    "stimuli": "tick",
    "surveys": "tick",
    "ticks": "tick",
    "turns": "tick",
    "unit_rows": "created_tick",
    "unit_updates": "tick",
}
"""Tables of which a fork copies the rows up to its tick, with the column that says which."""

OWN = ("run", "resumes")
"""Tables that a fork starts anew."""

_ENDS = {  # columns that say when something ended, perhaps after the fork
    "edges": "removed_tick",
    "memories": "evicted_tick",
    "personas": "quarantined_tick",
}

_COPY = "import shutil, sys; shutil.copyfile(sys.argv[1], sys.argv[2])"


def copy_history(connection: duckdb.DuckDBPyConnection, parent: Path, tick: int) -> None:
    """Copy the rows of another run up to a tick, its last, into the tables of a new one.

    connection: to the new run, its external access not yet switched off; it is afterwards.

    Raises:
        duckdb.Error: the other file cannot be read, or this one not written.
        RunFileError: the other file has something else in place of a table.
    """
    name = absolute(parent)
    connection.execute("SET allowed_paths = $1", [[name, f"{name}.wal"]])
    connection.execute("SET enable_external_access = false")
    quoted = name.replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS parent (READ_ONLY)")
    _check_tables(connection, parent)
    connection.begin()
    for table in WHOLE:
        _copy(connection, table, "", tick)
    for table, column in BY_TICK.items():
        _copy(connection, table, f"WHERE {column} <= $tick", tick)
    connection.execute("UPDATE run SET last_tick = ?", [tick])
    connection.commit()
    connection.execute("DETACH parent")  # after a failure the connection ends anyway


def _copy(connection: duckdb.DuckDBPyConnection, table: str, where: str, tick: int) -> None:
    end = _ENDS.get(table)
    kept = f"* REPLACE (CASE WHEN {end} <= $tick THEN {end} END AS {end})" if end else "*"
    values = {"tick": tick} if end or where else {}
    connection.execute(
        f"INSERT INTO {table} BY NAME SELECT {kept} FROM parent.{table} {where}",  # noqa: S608 - our own names
        values,
    )


def _check_tables(connection: duckdb.DuckDBPyConnection, parent: Path) -> None:
    """Refuse a file that has a view where a table belongs: reading one could do anything."""
    found = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'parent'"
    ).fetchall()
    missing = {*WHOLE, *BY_TICK} - {row[0] for row in found}
    if missing:
        raise problems.no_run(parent)


def copy_file(source: Path, target: Path) -> None:
    """Replace a file by a copy of a database, in one step.

    The copying is done by a process of its own: on POSIX, closing any handle of a file drops all
    locks that this process has on it, DuckDB's too, and then two could write it.

    Raises:
        RunFileError: the copy could not be made; the target is as it was.
    """
    # Always the same draft, so that one which a killed run left is not there for good.
    draft = target.with_name(f".{sha256(target.name.encode()).hexdigest()[:32]}.new")
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter, and two paths
            [sys.executable, "-I", "-S", "-c", _COPY, str(source), str(draft)],
            capture_output=True,
            check=False,
            text=True,
            start_new_session=True,  # Ctrl-C is for the run, not for its copy
        )
        if done.returncode:
            raise problems.cannot_write(target, "the snapshot", _last_line(done.stderr))
        draft.replace(target)
    except OSError as error:
        raise problems.cannot_write(target, "the snapshot", error) from error
    finally:
        draft.unlink(missing_ok=True)


def _last_line(said: str) -> RunFileError:
    lines = said.strip().splitlines()
    return RunFileError(lines[-1] if lines else "the copying process died")
