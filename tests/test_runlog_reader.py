from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
import run_rows

from simulation.errors import RunFileError, UsageError
from simulation.runlog import SCHEMA_VERSION, RunFile, RunWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)])}


@pytest.fixture(name="path", scope="module")
def story_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "story.duckdb"
    run_rows.write_run(path, run_rows.story())
    return path


@pytest.fixture(name="run", scope="module")
def story_run(path: Path) -> Iterator[RunFile]:
    with RunFile.open(path) as run:
        yield run


def test_a_run_says_who_it_is_and_how_far_it_got(run: RunFile) -> None:
    assert run.run.header == run_rows.header()
    assert (run.run.status, run.run.last_tick) == ("complete", 3)


def test_tables_come_with_types_comments_and_row_counts(run: RunFile) -> None:
    tables = {table.name: table for table in run.tables()}
    turns = tables["turns"]
    assert (turns.kind, turns.rows) == ("table", 5)
    assert turns.comment == "One row per persona turn."
    assert [(c.name, c.type) for c in turns.columns[:3]] == [
        ("tick", "INTEGER"),
        ("persona_id", "VARCHAR"),
        ("turn_no", "INTEGER"),
    ]
    assert turns.columns[2].comment == "number of the turn for this persona, from 1"
    assert (tables["beliefs"].kind, tables["beliefs"].rows) == ("view", None)
    assert tables["gates"].rows == 0


def test_a_query_gives_names_types_and_rows(run: RunFile) -> None:
    found = run.query("SELECT tick, action FROM turns WHERE action = ?", parameters=["like"])
    assert (found.columns, found.types) == (("tick", "action"), ("INTEGER", "VARCHAR"))
    assert found.rows == [(2, "like")]
    assert found.dicts() == [{"tick": 2, "action": "like"}]
    assert not found.truncated


def test_a_limit_cuts_and_says_so(run: RunFile) -> None:
    sql = "SELECT tick FROM ticks ORDER BY tick"
    assert run.query(sql, limit=2).rows == [(1,), (2,)]
    assert run.query(sql, limit=2).truncated
    assert not run.query(sql, limit=3).truncated


def test_an_answer_can_be_had_as_an_arrow_table(run: RunFile) -> None:
    table: pa.Table = run.arrow("SELECT tick FROM ticks ORDER BY tick")
    assert table.to_pydict() == {"tick": [1, 2, 3]}
    with pytest.raises(UsageError, match="only the answer to a SELECT"):
        run.arrow("EXPLAIN SELECT 1")
    with pytest.raises(UsageError, match='no table "tickz"; did you mean "ticks"'):
        run.arrow("SELECT * FROM tickz")


@pytest.mark.parametrize(
    "sql",
    [
        "FROM turns",
        "WITH t AS (SELECT 1 AS a) SELECT a FROM t;",
        "VALUES (1)",
        "DESCRIBE turns",
        "SHOW TABLES",
        "SUMMARIZE turns",
        "pragma table_info('turns')",
        "EXPLAIN SELECT * FROM turns",
        "explain analyze SELECT * FROM turns",
        "EXPLAIN (FORMAT json) SELECT 1",
        "SELECT * FROM (PIVOT turns ON action IN ('like') USING count(*))",
    ],
)
def test_reading_statements_get_through(run: RunFile, sql: str) -> None:
    assert run.query(sql).columns


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH ':memory:' AS other",
        "COPY turns TO 'turns.csv'",
        "COPY (SELECT 1) TO 'x.parquet'",
        "EXPORT DATABASE 'folder'",
        "INSTALL httpfs",
        "LOAD json",
        "CREATE TEMP TABLE t AS SELECT 1",
        "EXPLAIN ANALYZE CREATE TEMP TABLE t AS SELECT 1",
        "EXPLAIN INSERT INTO claims VALUES ('C9', 9, '')",
        "/* x */ EXPLAIN ANALYZE CREATE TEMP TABLE t AS SELECT 1",
        "INSERT INTO claims VALUES ('C9', 9, '')",
        "DELETE FROM turns",
        "UPDATE run SET seed = 1",
        "DROP TABLE turns",
        "SET threads = 1",
        "RESET threads",
        "PRAGMA database_list",
        "PRAGMA enable_profiling",
        "CHECKPOINT",
        "CALL duckdb_settings()",
        "BEGIN",
        "USE memory",
        "PREPARE p AS SELECT 1",
        "UPDATE EXTENSIONS",
        "SET VARIABLE a = 1",
        "IMPORT DATABASE 'folder'",
        "DETACH story",
        "VACUUM",
        "CREATE SECRET (TYPE s3)",
        "COMMENT ON TABLE turns IS 'x'",
        "MERGE INTO turns USING ticks ON false WHEN NOT MATCHED THEN INSERT DEFAULT VALUES",
    ],
)
def test_statements_that_do_more_than_read_are_refused(run: RunFile, sql: str) -> None:
    with pytest.raises(UsageError, match=r"a run database is only read: [A-Z]+ is refused"):
        run.query(sql)


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("INSTALL httpfs", "INSTALL"),
        ("-- all of it\n /* now */ analyze", "ANALYZE"),
        ("UPDATE EXTENSIONS", "UPDATE"),
        ("RESET threads", "RESET"),
    ],
)
def test_a_refusal_names_the_word_that_was_typed(run: RunFile, sql: str, word: str) -> None:
    with pytest.raises(UsageError, match=f"only read: {word} is refused"):
        run.query(sql)


@pytest.mark.parametrize(("sql", "count"), [("", 0), ("-- nothing", 0), ("SELECT 1; SELECT 2", 2)])
def test_exactly_one_statement_is_asked_for(run: RunFile, sql: str, count: int) -> None:
    with pytest.raises(UsageError, match=f"give one SQL statement; this has {count}"):
        run.query(sql)


@pytest.mark.parametrize(
    "source",
    [
        "read_csv('{file}')",
        "read_text('{file}')",
        "read_blob('{file}')",
        "read_json('{file}')",
        "read_parquet('{file}')",
        "sniff_csv('{file}')",
        "glob('{folder}/*')",
        "'{file}'",
        "read_csv('http://127.0.0.1:9/x.csv')",
        "duckdb_secrets()",
        "query('SELECT * FROM read_text(''{file}'')')",
        "'/etc/passwd'",
        "'https://127.0.0.1:9/x.parquet'",
        "read_duckdb('{file}')",
        "parquet_metadata('{file}')",
        "duckdb_extensions()",
        "enable_logging()",
        "sqlite_scan('{file}', 't')",
        "st_read('{file}')",
    ],
)
def test_no_other_file_can_be_read(run: RunFile, path: Path, source: str) -> None:
    secret = path.parent / "secret.csv"
    secret.write_text("a\n1\n")
    with pytest.raises(UsageError, match="a query reads the tables of this file and nothing else"):
        run.query("SELECT * FROM " + source.format(file=secret, folder=path.parent))


def test_no_python_variable_can_be_read(run: RunFile) -> None:
    private = run.arrow("SELECT 1 AS a")
    assert private.num_rows == 1
    with pytest.raises(UsageError, match='no table "private"'):
        run.query("SELECT * FROM private")


def test_a_view_in_a_strangers_file_reads_no_file_either(tmp_path: Path) -> None:
    path = tmp_path / "run.duckdb"
    (tmp_path / "secret.csv").write_text("a\n1\n")
    run_rows.write_run(path, [run_rows.start()])
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE VIEW trap AS SELECT * FROM read_csv('{tmp_path}/secret.csv')")
    with (
        RunFile.open(path) as run,
        pytest.raises(UsageError, match="reads the tables of this file"),
    ):
        run.query("SELECT * FROM trap")


def test_reading_leaves_the_file_as_it_was(path: Path) -> None:
    before = path.read_bytes()
    with RunFile.open(path) as run:
        run.query("SELECT * FROM persona_timeline")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM belief", 'there is no table "belief"; did you mean "beliefs"'),
        ("SELECT * FROM main.Turn", 'there is no table "Turn"; did you mean "turns"'),
        ("SELECT * FROM qqqqqq", 'there is no table "qqqqqq"\nTables and views: action_counts, '),
        ("SELECT persona FROM turns", 'no column "persona" here; did you mean "persona_id"'),
        (
            "SELECT turns.acton FROM turns",
            'no column "acton" here; did you mean "action"?\nColumns of "turns": tick, ',
        ),
        (
            "SELECT acton FROM turns JOIN posts ON true",
            'no column "acton" here; did you mean "action"',
        ),
        ("SELECT zzz FROM turns", 'there is no column "zzz" here'),
        ("SELECT t.acton FROM turns t", 'no column "acton" here; did you mean "action"'),
        ("SELEC 1", "the query cannot be run: Parser Error: syntax error"),
        ("SELECT agv(importance) FROM turns", 'no function "agv"; did you mean "avg"'),
        ("SELECT nosuch(1)", "the query cannot be run: Catalog Error"),
    ],
)
def test_a_wrong_query_is_told_what_is_there(run: RunFile, sql: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        run.query(sql)
    assert said in str(caught.value)


def test_a_missing_file_is_answered_with_the_nearest_name(path: Path) -> None:
    with pytest.raises(RunFileError, match=r'stroy\.duckdb does not exist; did you mean "story'):
        RunFile.open(path.with_name("stroy.duckdb"))
    with pytest.raises(RunFileError, match="is a folder; name a run database in it"):
        RunFile.open(path.parent)
    with pytest.raises(RunFileError, match="there is no folder"):
        RunFile.open(path.parent / "nowhere" / "x.duckdb")


@pytest.mark.parametrize("content", [b"", b"hello", b"x" * 100_000])
def test_a_file_of_something_else_is_named_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.duckdb"
    path.write_bytes(content)
    with pytest.raises(RunFileError, match="is no run database, or is damaged"):
        RunFile.open(path)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE claims (a INT)",
        "CREATE TABLE run (a INT)",
        "CREATE TABLE run (schema_version INT)",
        "CREATE TABLE run AS SELECT 1 AS schema_version",
        "CREATE TABLE run AS SELECT 'x' AS schema_version",
    ],
)
def test_another_database_is_no_run(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(sql)
    with pytest.raises(RunFileError, match="is a DuckDB database but no run"):
        RunFile.open(path)


def test_a_newer_layout_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "run.duckdb"
    run_rows.write_run(path, [run_rows.start()])
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE run SET schema_version = schema_version + 1")
    with pytest.raises(
        RunFileError, match=f"layout {SCHEMA_VERSION + 1}; .* up to {SCHEMA_VERSION}"
    ):
        RunFile.open(path)


_HOLDING = """
import sys
from simulation.runlog import RunWriter
import run_rows

with RunWriter.create(sys.argv[1], run_rows.header()):
    print("open", flush=True)
    sys.stdin.read()
"""


def test_a_run_being_written_by_another_process_names_it(tmp_path: Path) -> None:
    path = tmp_path / "run.duckdb"
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDING, str(path)],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(
            RunFileError, match=f"in use by process {holder.pid} .* wait until it ends"
        ):
            RunFile.open(path)


def test_a_run_being_written_by_this_process_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "run.duckdb"
    with RunWriter.create(path, run_rows.header()) as writer:
        writer.write(run_rows.start(), wall_s=0)
        with pytest.raises(RunFileError, match="being written by this very process"):
            RunFile.open(path)


_UNFINISHED = """
import os, signal, sys
import run_rows
from simulation.runlog import RunWriter

writer = RunWriter.create(sys.argv[1], run_rows.header())
for tick in run_rows.story():
    writer.write(tick, wall_s=0)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_damaged_log_says_what_to_do_and_doing_it_helps(tmp_path: Path) -> None:
    path, log = tmp_path / "run.duckdb", tmp_path / "run.duckdb.wal"
    subprocess.run([sys.executable, "-c", _UNFINISHED, str(path)], env=ENVIRONMENT, check=False)
    content = bytearray(log.read_bytes())
    third = len(content) // 3
    content[third : third + 512] = bytes(byte ^ 0xFF for byte in content[third : third + 512])
    log.write_bytes(content)
    with pytest.raises(RunFileError, match=r"run\.duckdb\.wal, is damaged.* move .* away"):
        RunFile.open(path)
    log.rename(tmp_path / "elsewhere")
    with RunFile.open(path) as run:
        assert run.run.last_tick == -1


def test_a_file_that_cannot_be_read_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise duckdb.IOException("Permission denied")

    path = tmp_path / "run.duckdb"
    path.write_text("")
    monkeypatch.setattr(duckdb, "connect", refuse)
    with pytest.raises(RunFileError, match=r"run\.duckdb cannot be opened: Permission denied"):
        RunFile.open(path)


def test_the_answer_of_a_query_can_be_written_as_json(run: RunFile) -> None:
    found = run.query("SELECT persona_id, attributes FROM personas ORDER BY persona_id LIMIT 1")
    assert json.dumps(found.dicts()) == '[{"persona_id": "p1", "attributes": "{\\"age\\": 40}"}]'
