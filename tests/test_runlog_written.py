"""Files that this process is writing: locked against others, and against itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import run_rows

from simulation.errors import RunFileError
from simulation.runlog import RunFile, RunWriter, open_database
from simulation.runlog.schema import CONNECTION
from simulation.runlog.written import attach, check_not_written, release

TAKE = "import duckdb, sys; duckdb.connect(sys.argv[1])"


def taken_by_another_process(path: Path) -> bool:
    tried = subprocess.run(
        [sys.executable, "-c", TAKE, str(path)], capture_output=True, check=False, text=True
    )
    return tried.returncode == 0


def test_looking_at_a_file_that_one_writes_is_refused_and_leaves_its_lock(tmp_path: Path) -> None:
    path, link, hard = (tmp_path / f"{name}.duckdb" for name in ("a", "link", "hard"))
    with RunWriter.create(path, run_rows.header()) as writer:
        link.symlink_to(path)
        hard.hardlink_to(path)
        writer.write(run_rows.start(), wall_s=0.0)
        for look in (RunFile, open_database, RunWriter.reopen):
            for name in (path, link, hard, tmp_path / "." / "a.duckdb"):
                with pytest.raises(RunFileError, match="being written by this very process"):
                    look(name)
        assert not taken_by_another_process(path)
        assert writer.reader().run.last_tick == 0
    with RunFile(link) as run:
        assert run.run.last_tick == 0
        with pytest.raises(RunFileError, match="is open in this very process"):
            RunWriter.reopen(path)


def test_names_with_quotes_and_blanks_are_attached_and_let_go(tmp_path: Path) -> None:
    path = tmp_path / """it's; "a" 50 % run.duckdb"""
    duckdb.connect(str(path)).close()
    connection = attach(path, CONNECTION)
    connection.execute("CREATE TABLE t AS SELECT range AS i FROM range(30000)")
    with pytest.raises(duckdb.PermissionException):
        connection.execute(f"ATTACH '{tmp_path / 'other.duckdb'}'")
    release(connection, path)
    release(connection, path)
    check_not_written(path)
    with duckdb.connect(str(path), read_only=True) as plain:
        assert plain.execute("SELECT count(*), sum(i) FROM t").fetchall() == [(30000, 449985000)]
        groups = plain.execute(
            "SELECT count(DISTINCT row_group_id) FROM pragma_storage_info('t')"
        ).fetchone()
    assert groups is not None
    assert groups[0] == 3


def test_a_file_that_is_none_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(duckdb.Error):
        attach(path, CONNECTION)
    check_not_written(path)


MAKE = """
import pathlib, resource, sys
sys.path.insert(0, sys.argv[2])
import run_rows
from simulation.runlog import RunWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
RunWriter.create(pathlib.Path(sys.argv[1]), run_rows.header())
"""


def test_a_disk_that_is_full_before_the_tables_are_there_leaves_nothing(tmp_path: Path) -> None:
    tests = str(Path(__file__).parent)
    made = subprocess.run(
        [sys.executable, "-c", MAKE, str(tmp_path / "new" / "a.duckdb"), tests],
        capture_output=True,
        check=False,
        text=True,
    )
    assert "RunFileError: a new run could not be written to" in made.stderr
    assert list(tmp_path.iterdir()) == []
