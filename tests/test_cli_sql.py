"""The verbs `sql` and `tables`: pages, other files than runs, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import run_rows
import yaml
from small import SMALL, small

from simulation import interview, simulate
from simulation.cli.app import execute

if TYPE_CHECKING:
    from collections.abc import Callable

Said = tuple[int, str, str]
RANGE = "SELECT range AS n FROM range({})"


@pytest.fixture(name="path", scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("runs") / "story.duckdb"
    run_rows.write_run(path, run_rows.story())
    return str(path)


@pytest.fixture(name="cli")
def command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Said]:
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str) -> Said:
        code = execute(words)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture(name="sweep", scope="module")
def small_sweep(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("sweep")
    scenario = folder / "small.yaml"
    scenario.write_text(yaml.safe_dump(SMALL, sort_keys=False), "utf-8")
    words = ["sweep", str(scenario), "--seeds", "1-2", "--out", str(folder / "s"), "--jobs", "1"]
    assert execute([*words, "--quiet"]) == 0
    return str(folder / "s" / "sweep.duckdb")


# Pages


def test_a_page_shows_its_rows_and_the_next_one(cli: Callable[..., Said], path: str) -> None:
    code, out, _ = cli("sql", path, RANGE.format(120), "--page", "2")
    lines = out.splitlines()
    assert code == 0
    assert (lines[2], lines[-2]) == (" 50", " 99")
    assert lines[-1] == "(rows 51 to 100 of 120; --page 3 shows the next)"
    _, out, _ = cli("sql", path, RANGE.format(120), "--page", "3")
    assert out.splitlines()[-1] == "(rows 101 to 120 of 120)"
    _, out, _ = cli("sql", path, RANGE.format(120), "--page", "4")
    assert out.splitlines()[-1] == "(no rows on page 4; the answer has 120)"
    _, out, _ = cli("sql", path, RANGE.format(3), "--page", "1")
    assert out.splitlines()[-1] == "(3 rows)"


def test_a_page_has_the_size_of_the_limit_in_every_form(
    cli: Callable[..., Said], path: str
) -> None:
    words = ("sql", path, RANGE.format(10), "--limit", "4", "--page", "3")
    assert "(rows 9 to 10 of 10)" in cli(*words)[1]
    assert [row["n"] for row in json.loads(cli(*words, "--json")[1])] == [8, 9]
    assert list(csv.reader(io.StringIO(cli(*words, "--csv")[1]))) == [["n"], ["8"], ["9"]]
    whole = cli("sql", path, RANGE.format(60), "--csv", "--page", "1")[1]
    assert len(whole.splitlines()) == 51


def test_pages_of_what_cannot_be_counted_say_only_where_they_are(
    cli: Callable[..., Said], path: str
) -> None:
    words = ("sql", path, "PRAGMA table_info('turns')", "--limit", "2", "--page")
    assert "(rows 3 to 4; --page 3 shows the next" in cli(*words, "2")[1]
    assert "(no rows on page 99)" in cli(*words, "99")[1]


def test_pages_together_are_the_whole_table(cli: Callable[..., Said], path: str) -> None:
    sql = "SELECT memory_id FROM memories"
    pages = [
        json.loads(cli("sql", path, sql, "--json", "--limit", "2", "--page", str(page))[1])
        for page in (1, 2, 3)
    ]
    assert [row for page in pages for row in page] == json.loads(
        cli("sql", path, sql, "--json")[1]
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--page", "0"), '"0" is no page; it is a whole number from 1'),
        (("--limit", "x"), '"x" is no number of rows; it is a whole number from 1'),
        (("--page", "2", "--all"), "--page does not go with --all or --parquet"),
        (("--page", "2", "--parquet", "x.parquet"), "--page does not go with --all or --parquet"),
        (("--limit", "2", "--all"), "--limit does not go with --all"),
    ],
)
def test_a_page_that_makes_no_sense_is_refused(
    cli: Callable[..., Said], path: str, words: tuple[str, ...], said: str
) -> None:
    code, out, err = cli("sql", path, "SELECT 1", *words)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_on_a_terminal_a_long_table_goes_through_the_pager(path: str, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text(f"#!/bin/sh\nwc -l > {tmp_path}/lines\n")
    pager.chmod(0o755)
    for rows, paged in (("500", True), ("20", False)):
        (tmp_path / "lines").unlink(missing_ok=True)
        ours, theirs = pty.openpty()
        words = ["sql", path, RANGE.format(rows), "--all"]
        subprocess.run(
            [sys.executable, "-m", "simulation", *words],
            stdin=theirs,
            stdout=theirs,
            check=True,
            env=os.environ | {"PAGER": str(pager), "TERM": "xterm"},
        )
        os.close(theirs)
        os.close(ours)
        assert (tmp_path / "lines").exists() == paged


# Other files than runs


def test_the_summary_of_a_sweep_can_be_asked(cli: Callable[..., Said], sweep: str) -> None:
    code, out, err = cli("sql", sweep, "SELECT seed, status FROM runs ORDER BY seed", "--csv")
    assert (code, err) == (0, "")
    assert out == "seed,status\n1,complete\n2,complete\n"
    code, _, err = cli("sql", sweep, "SELECT * FROM turns")
    assert code == 2
    assert "Tables and views: runs, sweep" in err
    code, _, err = cli("sql", sweep, "DROP TABLE runs")
    assert (code, err.partition(":")[0]) == (2, "the summary of a sweep is only read")


def test_the_tables_of_a_sweep_say_what_they_mean(cli: Callable[..., Said], sweep: str) -> None:
    code, out, _ = cli("tables", sweep)
    assert code == 0
    assert "One row per run of the sweep" in out
    assert "Views" not in out
    assert f'sql {sweep} "SELECT * FROM runs"' in out
    _, out, _ = cli("tables", sweep, "runs")
    assert "state digest of the last tick" in out


def test_a_transcript_can_be_asked(cli: Callable[..., Said], tmp_path: Path) -> None:
    path = simulate(small(horizon=5), out=tmp_path / "a.duckdb")
    out = str(tmp_path / "talk.duckdb")
    interview(path, "p0003", "Would you buy it?", out=out)
    _, said, _ = cli("sql", out, "SELECT persona_id, tick FROM interviews", "--csv")
    assert said == "persona_id,tick\np0003,5\n"
    assert "One row per question" in cli("tables", out)[1]


def test_every_table_and_view_of_a_run_and_each_of_its_columns_is_explained(
    cli: Callable[..., Said], path: str
) -> None:
    tables = json.loads(cli("tables", path, "--json")[1])
    assert {table["kind"] for table in tables} == {"table", "view"}
    for table in tables:
        assert len(table["comment"]) > 10, table["name"]
        assert [c["name"] for c in table["columns"] if not c["comment"].strip()] == []


# What is refused


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("ATTACH 'x.duckdb'", "is only read: ATTACH is refused"),
        ("COPY turns TO 'x.csv'", "is only read: COPY is refused"),
        ("INSTALL httpfs", "is only read: INSTALL is refused"),
        ("LOAD httpfs", "is only read: LOAD is refused"),
        ("PRAGMA database_list", "is only read: PRAGMA is refused"),
        ("SET enable_external_access = true", "is only read: SET is refused"),
        ("SELECT * FROM read_csv('/etc/hostname')", "reads the tables of this file and nothing"),
        ("SELECT * FROM glob('/*')", "reads the tables of this file and nothing else"),
        ("SELECT * FROM 'https://127.0.0.1:9/x.csv'", "reads the tables of this file and nothing"),
        ("SELECT * FROM '/etc/hostname'", 'there is no table "/etc/hostname": a query reads'),
        ("SELECT * FROM turnz", 'did you mean "turns"'),
        ("SELECT tik FROM turns", 'did you mean "tick"'),
    ],
)
def test_what_does_more_than_read_the_file_is_one_clear_message(
    cli: Callable[..., Said], path: str, sql: str, said: str
) -> None:
    before = Path(path).read_bytes()
    code, out, err = cli("sql", path, sql)
    assert (code, out) == (2, "")
    assert said in err
    assert Path(path).read_bytes() == before
    assert not Path("x.csv").exists()
