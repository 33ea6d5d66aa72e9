"""The verbs on a real small scenario and its run database."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml
from pyarrow import parquet
from small import SMALL

from simulation.analysis.summary import summarise
from simulation.cli.app import execute
from simulation.cli.progress import Bar, Lines, Silence, Tally, progress
from simulation.records import Tick, TickRecords
from simulation.runlog import RunFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Run = tuple[int, str, str]


def process(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the real program in a folder, as a person would."""
    return subprocess.run(
        [sys.executable, "-m", "simulation", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": "80"},
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("cli")
    text = yaml.safe_dump(SMALL, sort_keys=False)
    (made / "small.yaml").write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def ran(folder: Path) -> subprocess.CompletedProcess[str]:
    return process("run", "small.yaml", cwd=folder)


@pytest.fixture
def run(ran: subprocess.CompletedProcess[str], folder: Path) -> str:
    assert ran.returncode == 0, ran.stderr
    return str(folder / "runs" / "small-seed3.duckdb")


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> Callable[..., Run]:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")

    def run_it(*words: str) -> Run:
        code = execute(words)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run_it


def test_a_run_tells_what_changed_and_where_it_is(
    ran: subprocess.CompletedProcess[str], folder: Path
) -> None:
    assert ran.returncode == 0
    for part in ("What changed", "What people did", "Failures  none", "Drift     "):
        assert part in ran.stdout
    path = "runs/small-seed3.duckdb"
    assert f"File      {path}\n" in ran.stdout
    assert f"  simulation compare {path} runs/small-seed4.duckdb" in ran.stdout
    assert str(summarise(folder / path).digest) in ran.stdout


def test_progress_goes_to_stderr_a_line_a_tick_of_a_short_run(
    ran: subprocess.CompletedProcess[str],
) -> None:
    lines = ran.stderr.splitlines()
    assert lines[0] == "small: 12 personas, 8 ticks"
    assert [line.split(",")[0] for line in lines[1:]] == [f"tick {t}/8" for t in range(1, 9)]


def test_the_commands_that_a_run_suggests_work(
    ran: subprocess.CompletedProcess[str], folder: Path
) -> None:
    block = ran.stdout.partition("\nNext\n")[2].splitlines()
    program = f"{sys.executable} -m simulation"
    for line in block:
        command = line.strip().replace("simulation", program, 1)
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, check=False)  # noqa: S602 - commands of our own, as a person would paste them
        assert done.returncode == 0, (line, done.stderr)


def test_the_same_seed_gives_the_same_digest_and_another_gives_another(
    cli: Callable[..., Run], run: str, tmp_path: Path
) -> None:
    first = summarise(run).digest
    for seed, same in (("3", True), ("5", False)):
        out = tmp_path / f"{seed}.duckdb"
        code, said, err = cli("run", "small.yaml", "--seed", seed, "--out", str(out), "--quiet")
        assert (code, said, err) == (0, f"{out}\n", "")
        assert (summarise(out).digest == first) is same


def test_json_is_one_object_that_equals_the_summary(
    cli: Callable[..., Run], tmp_path: Path
) -> None:
    out = tmp_path / "a.duckdb"
    code, said, err = cli("run", "small.yaml", "--out", str(out), "--json", "--set", "horizon=5")
    assert (code, err) == (0, "")
    assert json.loads(said) == json.loads(json.dumps(summarise(out).to_dict()))
    assert json.loads(said)["last_tick"] == 5


def test_a_changed_setting_is_in_the_command_to_run_again(
    cli: Callable[..., Run], tmp_path: Path
) -> None:
    out = tmp_path / "b.duckdb"
    words = ("--set", "horizon=6", "--set", "population.size=6", "--allow-host", "lab.example")
    code, said, _ = cli("run", "small.yaml", "--out", str(out), *words)
    assert code == 0
    again = " ".join(("simulation run small.yaml", *words, "--seed 4"))
    assert again in said


def test_a_run_is_never_written_over(cli: Callable[..., Run], run: str) -> None:
    before = Path(run).read_bytes()
    code, out, err = cli("run", "small.yaml", "--out", run)
    assert (code, out) == (2, "")
    assert f"{run} exists, and a run is never written over" in err
    assert Path(run).read_bytes() == before


def test_a_misspelt_scenario_names_the_nearest_file(cli: Callable[..., Run]) -> None:
    code, out, err = cli("run", "smal.yaml")
    assert (code, out) == (2, "")
    assert 'did you mean "small.yaml"?' in err


def test_a_broken_scenario_is_all_its_problems_at_once(
    cli: Callable[..., Run], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.yaml"
    text = yaml.safe_dump(SMALL | {"horizon": 0, "sede": 1}, sort_keys=False)
    bad.write_text(text, encoding="utf-8")
    for verb in ("run", "validate"):
        code, out, err = cli(verb, str(bad))
        assert (code, out) == (2, "")
        assert "(2 problems):" in err
        assert 'did you mean "seed"?' in err


def test_an_interrupted_run_keeps_its_ticks_and_exits_with_one(folder: Path) -> None:
    words = ("run", "small.yaml", "--out", "stopped.duckdb", "--set", "horizon=100000")
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "simulation", *words, "--set", "probes.share=0"],
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        assert running.stderr.readline() == "small: 12 personas, 100,000 ticks\n"
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 1
    assert out == ""
    assert "stopped.duckdb holds every finished tick" in err
    assert "Traceback" not in err
    assert summarise(folder / "stopped.duckdb").status == "interrupted"


def test_validate_says_what_a_scenario_amounts_to(cli: Callable[..., Run]) -> None:
    code, out, err = cli("validate", "small.yaml")
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert words.startswith("small.yaml: ok small: 12 personas, 48 follows, 8 ticks, 3 dimensions")
    assert "2 claims, 4 stimuli; model rule, encoder static, seed 3" in words


def test_validate_as_json_counts_what_would_be_made(cli: Callable[..., Run]) -> None:
    code, out, _ = cli("validate", "small.yaml", "--json", "--set", "population.size=5")
    told = json.loads(out)
    assert code == 0
    assert (told["ok"], told["personas"], told["claims"]) == (True, 5, ["C1", "C2"])


LOSSY = "10 11\n11 10\n12 12\n" + "".join(f"{i} {i + 1}\n" for i in range(12, 30))


@pytest.fixture
def edges(folder: Path) -> tuple[str, ...]:
    (folder / "edges.txt").write_text(LOSSY, encoding="utf-8")
    graph = {"kind": "edges", "file": "edges.txt", "assign": "permutation"}
    return ("--set", f"graph={json.dumps(graph)}")


def test_what_an_edge_file_lost_is_told_by_validate(
    cli: Callable[..., Run], edges: tuple[str, ...]
) -> None:
    code, out, _ = cli("validate", "small.yaml", *edges)
    assert code == 0
    assert "graph: 9 of 21 nodes are unused;" in out
    assert "graph: 1 lines tie a node to itself and drop" in out
    _, out, _ = cli("validate", "small.yaml", *edges, "--json")
    assert len(json.loads(out)["notes"]) >= 2


def test_what_an_edge_file_lost_is_in_the_run_and_its_summary(
    cli: Callable[..., Run], edges: tuple[str, ...]
) -> None:
    code, out, _ = cli("run", "small.yaml", *edges, "--out", "lossy.duckdb", "--json")
    assert code == 0
    told = json.loads(out)
    _, checked, _ = cli("validate", "small.yaml", *edges, "--json")
    assert told["notes"] == json.loads(checked)["notes"]
    assert told["failures"] == []
    with RunFile.open(Path("lossy.duckdb")) as opened:
        found = opened.query("SELECT DISTINCT tick, persona_id, purpose, kind FROM rejections")
        assert found.rows == [(0, None, "graph", "edges")]
        assert not opened.query("SELECT * FROM persona_timeline WHERE persona_id IS NULL").rows


def test_validate_asks_no_server(cli: Callable[..., Run]) -> None:
    settings = ("--set", "encoder={name: openai, model: m, base_url: 'http://127.0.0.1:9'}")
    code, out, _ = cli("validate", "small.yaml", *settings)
    assert (code, "encoder openai" in " ".join(out.split())) == (0, True)


def test_validate_finds_what_only_making_the_population_shows(cli: Callable[..., Run]) -> None:
    code, _, err = cli("validate", "small.yaml", "--set", "stimuli[0].audience={planet: [x]}")
    assert code == 2
    assert "planet" in err


def test_tables_gives_every_table_with_its_meaning(cli: Callable[..., Run], run: str) -> None:
    code, out, _ = cli("tables", run)
    assert code == 0
    with RunFile.open(run) as opened:
        assert all(f"  {table.name} " in out for table in opened.tables())
    assert max(map(len, out.partition("\nNext")[0].splitlines())) <= 80


def test_tables_gives_every_column_of_one_table(cli: Callable[..., Run], run: str) -> None:
    code, out, _ = cli("tables", run, "claims")
    assert code == 0
    assert out.startswith("claims (table, 2 rows)\n")
    assert "  claim_index  INTEGER  place of the claim in the brief" in out
    code, out, _ = cli("tables", run, "beliefs", "--json")
    assert [column["name"] for column in json.loads(out)[0]["columns"]] == [
        "tick",
        "persona_id",
        "target",
        "belief",
    ]


def test_a_misspelt_table_names_the_nearest(cli: Callable[..., Run], run: str) -> None:
    code, out, err = cli("tables", run, "turn")
    assert (code, out) == (2, "")
    assert 'there is no table "turn"; did you mean "turns"?' in err


def test_a_misspelt_run_names_the_nearest(cli: Callable[..., Run], run: str) -> None:
    code, _, err = cli("sql", run.replace("seed3", "sed3"), "SELECT 1")
    assert (code, 'did you mean "small-seed3.duckdb"?' in err) == (2, True)


def test_a_query_answers_as_a_table(cli: Callable[..., Run], run: str) -> None:
    code, out, err = cli("sql", run, "SELECT claim_id, claim_index FROM claims ORDER BY 1")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "claim_id  claim_index",
        "--------  -----------",
        "C1                  0",
        "C2                  1",
        "(2 rows)",
    ]


def test_a_long_answer_shows_fifty_rows_and_says_how_many_there_are(
    cli: Callable[..., Run], run: str
) -> None:
    query = "SELECT range AS n FROM range(1000) ORDER BY n -- a comment"
    lines = cli("sql", run, query)[1].splitlines()
    assert lines[-2:] == [" 49", "(50 of 1,000 rows; --page 2, --limit N or --all shows more)"]
    assert len(lines) == 53
    assert len(cli("sql", run, query, "--all")[1].splitlines()) == 1003
    assert len(cli("sql", run, query + "\n;", "--limit", "7")[1].splitlines()) == 10


def test_a_long_answer_that_cannot_be_counted_is_called_the_first_rows(
    cli: Callable[..., Run], run: str
) -> None:
    out = cli("sql", run, "PRAGMA table_info('turns')", "--limit", "2")[1]
    assert "(the first 2 rows; --page 2, --limit N or --all shows more" in out


def test_what_a_table_leaves_out_is_said(cli: Callable[..., Run], run: str) -> None:
    out = cli("sql", run, "SELECT * FROM turns")[1]
    note = " ".join(out.partition("\n(")[2].split())
    assert "text was cut to fit; columns left out: " in note
    assert "error; --csv or --json has all of it)" in note
    assert max(map(len, out.splitlines())) <= 80


ODD = (
    "SELECT NULL AS nothing, true AS yes, [1, NULL] AS list, 'a\"b, c' AS text, "
    "'nan'::DOUBLE AS nan, 0.1::DOUBLE AS x, TIMESTAMP '2026-01-02 03:04:05' AS at, 1 AS x"
)


def test_csv_reads_back_as_it_is(cli: Callable[..., Run], run: str) -> None:
    code, out, _ = cli("sql", run, ODD, "--csv")
    assert code == 0
    assert list(csv.reader(io.StringIO(out))) == [
        ["nothing", "yes", "list", "text", "nan", "x", "at", "x"],
        ["", "true", "[1, null]", 'a"b, c', "nan", "0.1", "2026-01-02T03:04:05", "1"],
    ]


def test_json_keeps_both_of_two_columns_with_one_name(cli: Callable[..., Run], run: str) -> None:
    code, out, _ = cli("sql", run, ODD, "--json")
    assert code == 0
    assert json.loads(out) == [
        {
            "nothing": None,
            "yes": True,
            "list": [1, None],
            "text": 'a"b, c',
            "nan": None,
            "x": 0.1,
            "at": "2026-01-02T03:04:05",
            "x_2": 1,
        }
    ]


def test_csv_and_json_have_all_rows_unless_limited(cli: Callable[..., Run], run: str) -> None:
    query = "SELECT * FROM range(200)"
    assert len(cli("sql", run, query, "--csv")[1].splitlines()) == 201
    assert len(json.loads(cli("sql", run, query, "--json")[1])) == 200
    assert len(json.loads(cli("sql", run, query, "--json", "--limit", "3")[1])) == 3


def test_parquet_holds_the_rows_and_is_never_written_over(
    cli: Callable[..., Run], run: str, tmp_path: Path
) -> None:
    file = tmp_path / "beliefs.parquet"
    words = ("sql", run, "SELECT * FROM beliefs", "--parquet", str(file))
    code, out, _ = cli(*words)
    table = parquet.read_table(file)
    assert code == 0
    assert out == f"wrote {table.num_rows:,} rows to {file}\n"
    assert table.num_rows == 12 * 5 * 9
    before = file.read_bytes()
    code, _, err = cli(*words)
    assert (code, "is not written over" in err) == (2, True)
    assert file.read_bytes() == before


def test_a_parquet_file_that_cannot_be_written_is_said(
    cli: Callable[..., Run], run: str, tmp_path: Path
) -> None:
    file = tmp_path / "nowhere" / "x.parquet"
    code, _, err = cli("sql", run, "SELECT 1 AS a", "--parquet", str(file))
    assert (code, f"{file} could not be written" in err) == (2, True)


def test_a_bad_query_leaves_no_parquet_file(
    cli: Callable[..., Run], run: str, tmp_path: Path
) -> None:
    file = tmp_path / "x.parquet"
    assert cli("sql", run, "SELECT * FROM turn", "--parquet", str(file))[0] == 2
    assert not file.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--csv", "--json"), "choose one of --csv and --json"),
        (("--all", "--limit", "3"), "--limit does not go with --all"),
        (("--parquet", "x.parquet", "--limit", "3"), "write LIMIT in the query"),
    ],
)
def test_forms_that_exclude_each_other_are_refused(
    words: Sequence[str], message: str, cli: Callable[..., Run], run: str
) -> None:
    code, out, err = cli("sql", run, "SELECT 1", *words)
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    "query", ["DELETE FROM turns", "SELECT * FROM turn", "SELECT 1; SELECT 2", "SELEKT"]
)
def test_a_query_that_cannot_be_put_is_one_message(
    query: str, cli: Callable[..., Run], run: str
) -> None:
    code, out, err = cli("sql", run, query)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "query",
    [
        "-- how many?\nSELECT 1 AS n",
        "--all\nSELECT 1 AS n",
        "SELECT 1 AS n -- with a comment",
        "--\nSELECT 1 AS n",
        "/* one */ SELECT 1 AS n",
    ],
)
def test_a_query_may_begin_with_a_comment(query: str, cli: Callable[..., Run], run: str) -> None:
    assert cli("sql", run, query, "--csv") == (0, "n\n1\n", "")
    assert cli("sql", "--csv", "--limit", "3", run, query) == (0, "n\n1\n", "")
    assert cli("sql", run, "--csv", "--", query) == (0, "n\n1\n", "")


def test_an_option_with_a_blank_in_its_value_stays_an_option(
    cli: Callable[..., Run], run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = str(Path(run).resolve())
    monkeypatch.chdir(tmp_path)
    assert cli("sql", run, "-- a\nSELECT 1", "--parquet=my file.parquet")[0] == 0
    assert cli("sql", run, "-- a\nSELECT 1", "--parquet", "-- odd.parquet")[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"my file.parquet", "-- odd.parquet"}


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("target = C1", "text needs single quotes: 'C1'"),
        ('target = "C1"', "text needs single quotes: 'C1'"),
        ("target IN (trust, C1)", "text needs single quotes: 'trust'"),
        ("target LIKE Target_of", "text needs single quotes: 'Target_of'"),
        ('target = "it\'s"', "text needs single quotes: 'it''s'"),
        ("targt = 'C1'", 'did you mean "target"?\n'),
    ],
)
def test_a_text_without_its_quotes_is_told_so(
    where: str, message: str, cli: Callable[..., Run], run: str
) -> None:
    code, _, err = cli("sql", run, f"SELECT * FROM belief_changes WHERE {where}")
    assert code == 2
    assert message in err


def test_a_run_under_uv_suggests_commands_for_uv(
    cli: Callable[..., Run], run: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    out = cli("run", "small.yaml", "--out", str(tmp_path / "uv.duckdb"))[1]
    _, _, commands = out.partition("\nNext\n")
    assert all(line.startswith("  uv run simulation ") for line in commands.splitlines())
    assert len(commands.splitlines()) == 5
    assert "\n  uv run simulation tables " in cli("tables", run)[1]


def test_compare_tells_two_runs_apart(cli: Callable[..., Run], run: str, tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    assert cli("run", "small.yaml", "--seed", "9", "--out", str(other), "--quiet")[0] == 0
    code, out, err = cli("compare", run, str(other))
    assert (code, err) == (0, "")
    assert "seed 3" in out
    assert "seed 9" in out
    assert json.loads(cli("compare", run, str(other), "--json")[1])["identical"] is False
    assert json.loads(cli("compare", run, run, "--json")[1])["identical"] is True


def test_compare_of_one_run_says_that_it_takes_two(cli: Callable[..., Run], run: str) -> None:
    code, _, err = cli("compare", run)
    assert (code, "two runs" in err) == (2, True)


def finished(number: int, *, turns: int = 10, tokens: int = 0) -> TickRecords:
    one = np.ones(1, dtype=np.int64)
    row = Tick(
        tick=number * one,
        active=one,
        turns=turns * one,
        reflections=0 * one,
        probes=0 * one,
        model_calls=0 * one,
        input_tokens=tokens * one,
        output_tokens=0 * one,
        cost_usd=np.full(1, 0.25 if tokens else 0.0),
        unit_entropy=np.zeros(1),
        state_digest=["0" * 64],
    )
    return TickRecords(tick=number, state_digest="0" * 64, rows=(row,))


def test_a_long_run_prints_a_line_for_every_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines("bar", 95) as shown:
        for number in range(96):
            shown.tick(finished(number))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "bar: 0 personas, 95 ticks"
    ticks = [int(line.split()[1].split("/")[0]) for line in lines[1:]]
    assert ticks == [10, 19, 29, 38, 48, 57, 67, 76, 86, 95]


def test_a_pace_counts_turns_from_the_moment_the_population_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0, 100.0, 102.0])
    monkeypatch.setattr("simulation.cli.progress.time.monotonic", lambda: next(clock))
    tally = Tally(4)
    tally.add(finished(0, turns=0))
    tally.add(finished(1, turns=10, tokens=50))
    assert tally.words() == "5 turns/s, 50 tokens, 0.25 USD, 6.0 s left"


def test_before_the_first_tick_there_is_no_pace_and_after_the_last_no_time_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0, 0.0, 1.0, 2.0])
    monkeypatch.setattr("simulation.cli.progress.time.monotonic", lambda: next(clock))
    tally = Tally(1)
    tally.add(finished(0, turns=0))
    assert tally.words() == ""
    tally.add(finished(1, turns=10))
    assert tally.words() == "5 turns/s"


def test_a_bar_follows_the_ticks_and_is_gone_at_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bar = Bar("[bold]bar", 3)
    with bar as shown:
        for number in range(3):
            shown.tick(finished(number))
        task: Any = bar._bar.tasks[0]
        assert (task.completed, task.total) == (2, 3)
        assert "turns/s" in task.fields["words"]
    assert bar._bar.live.is_started is False
    assert capsys.readouterr().out == ""


def test_the_terminal_decides_between_bar_and_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert isinstance(progress("bar", 3, quiet=False), Bar)
    assert isinstance(progress("bar", 3, quiet=True), Silence)
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    assert isinstance(progress("bar", 3, quiet=False), Lines)


def test_silence_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Silence() as shown:
        shown.tick(finished(0))
    assert capsys.readouterr() == ("", "")
