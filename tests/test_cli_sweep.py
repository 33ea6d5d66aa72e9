"""`simulation sweep` and the groups of `simulation compare`, as they are typed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from rich.console import Console
from small import SMALL
from test_groups import arm_of

from simulation import sweeps
from simulation.cli import watching
from simulation.cli.app import execute
from simulation.cli.compare import _together
from simulation.cli.sweep import _size
from simulation.sweeps.base import Event, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

Run = tuple[int, str, str]


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Run]:
    """Return a function that runs a command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str) -> Run:
        code = execute(words)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def scenario(**changes: Any) -> str:
    values = SMALL | {"horizon": 3, "stimuli": SMALL["stimuli"][:1]} | changes
    Path("small.yaml").write_text(yaml.safe_dump(values, sort_keys=False), "utf-8")
    return "small.yaml"


def test_a_sweep_makes_a_folder_and_tells_means_failures_and_what_to_do_next(
    cli: Callable[..., Run],
) -> None:
    words = ("sweep", scenario(), "--seeds", "1-2", "--set", "recall.mode=product,random",
             "--set", "horizon=2", "--out", "out")  # fmt: skip
    (Path("out")).mkdir()
    code, out, err = cli(*words)
    assert code == 0
    told = " ".join(err.split())
    assert "small: 2 combinations of settings, 2 seeds: 4 runs in out; about 21 MB of" in told
    assert "recall.mode=random-seed2: complete in " in told
    assert "(4 of 4 runs done)" in told
    assert out.startswith(
        "small: 4 of 4 runs complete\n\nMean beliefs at the end, over the seeds\n"
    )
    assert "  simulation compare out --by recall.mode\n" in out
    assert sorted(path.name for path in Path("out").iterdir())[-2:] == [
        "sweep.duckdb",
        "sweep.json",
    ]
    Path("out/recall.mode=random-seed2.duckdb").write_bytes(b"odd" * 9000)
    Path("out/sweep.duckdb").unlink()  # made again from the runs
    code, out, err = cli(*words)
    assert code == 1
    assert "3 of 4 runs complete" in out
    assert "1 run not complete; the same command tries again" in out
    assert "recall.mode=random-seed2.duckdb: failed: out/recall.mode" in out
    assert "(3 of 4 runs done, 1 failed)" in err
    Path("out/recall.mode=random-seed2.duckdb").unlink()
    code, out, err = cli(*words, "--json", "--jobs", "1")
    assert (code, err) == (0, "")
    told_json = json.loads(out)
    assert (told_json["complete"], told_json["made"], told_json["failed"]) == (4, 1, 0)
    assert {run["status"] for run in told_json["runs"]} == {"complete"}
    code, out, err = cli(*words, "--quiet")
    assert (code, out, err) == (0, "out\n", "")
    assert "4 of 4 runs complete, 4 of them before" in cli(*words)[1]
    code, out, _ = cli("compare", "out", "--by", "recall.mode", "--json")
    assert code == 0
    assert json.loads(out)["contrasts"][0]["seeds"] == [1, 2]


def test_a_dry_run_prints_the_grid_and_writes_nothing(cli: Callable[..., Run]) -> None:
    words = ("sweep", scenario(), "--seeds", "1,4", "--set", "population.size=6,8", "--dry-run")
    code, out, err = cli(*words)
    assert (code, err) == (0, "")
    assert "2 combinations of settings, 2 seeds: 4 runs in runs/small-sweep-" in " ".join(
        out.split()
    )
    assert out.splitlines()[-1].split() == ["population.size=8-seed4.duckdb", "8", "4"]
    told = json.loads(cli(*words, "--json")[1])
    assert told["axes"] == {"population.size": ["6", "8"]}
    assert told["runs"][2] == {
        "path": "population.size=8-seed1.duckdb", "settings": ["population.size=8"], "seed": 1,
    }  # fmt: skip
    assert sorted(path.name for path in Path().iterdir()) == ["small.yaml"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seeds", "x"), '"x" says no seeds; say 1-20, 1,4,9 or 3'),
        (("--set", "seed=1,2"), "seeds are no setting of a sweep"),
        (("--set", "population.size=8,x"), "1 of 2 combinations of settings cannot be run"),
        (("--jobs", "0"), "0 is not in the range x>=1"),
        (("--executor", "rya"), "'rya' is not"),
        (("--out", "small.yaml"), "small.yaml is a file; --out names a folder"),
    ],
)
def test_a_sweep_that_makes_no_sense_is_bad_input(
    words: tuple[str, ...], message: str, cli: Callable[..., Run]
) -> None:
    code, out, err = cli("sweep", scenario(), *words)
    assert (code, out) == (2, "")
    assert message in err


def test_sizes_are_told_in_megabytes_and_gigabytes() -> None:
    assert (_size(5_300_000), _size(2_345_000_000)) == ("5 MB", "2.3 GB")


# A real process: Ctrl-C, and a sudden death.


def started(*words: str) -> subprocess.Popen[str]:
    code = "from simulation.cli import main; import sys; main(sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(pattern: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not list(Path().glob(pattern)):
        assert time.monotonic() < end, pattern
        time.sleep(0.05)


def locked(path: Path) -> bool:
    code = "import sys; from simulation import Run; Run.open(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    return "in use by process" in done.stderr


def test_ctrl_c_ends_a_sweep_with_exit_code_one_and_the_same_command_goes_on(
    cli: Callable[..., Run],
) -> None:
    words = ("sweep", scenario(horizon=25), "--seeds", "1-2", "--out", "out")
    with started(*words) as process:
        wait_for("out/small-seed*.duckdb")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[-1] == (
        "interrupted: 0 of 2 runs are complete in out; the same command makes the others"
    )
    code, out, _ = cli(*words, "--json")
    assert (code, json.loads(out)["complete"]) == (0, 2)


def test_a_sweep_that_is_killed_leaves_no_workers_and_goes_on(cli: Callable[..., Run]) -> None:
    words = ("sweep", scenario(horizon=25), "--seeds", "1-2", "--out", "out", "--jobs", "1")
    with started(*words) as process:
        wait_for("out/small-seed1.duckdb")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    end = time.monotonic() + 30
    while locked(Path("out/small-seed1.duckdb")):  # until its worker has seen that it is alone
        assert time.monotonic() < end
    code, out, _ = cli(*words, "--json")
    assert (code, json.loads(out)["complete"]) == (0, 2)


# Progress.


def planned() -> sweeps.Plan:
    return sweeps.plan(scenario(), seeds="1-2", settings=["horizon=2,3"], out="out")


def test_the_table_shows_what_is_under_way_first(cli: Callable[..., Run]) -> None:
    assert cli is not None
    plan = planned()
    watch = watching.Watching()
    watch.begin(plan, 0)
    first, _, third, fourth = plan.runs
    watch.event(third, Event(kind="tick", number=third.number, tick=2))
    watch.event(first, Event(kind="ended", number=1, outcome=Outcome(status="failed", error="x")))
    watch.event(fourth, Event(kind="ended", number=4, outcome=Outcome(status="complete")))
    console = Console(width=80, record=True, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - nobody reads it
    console.print(watching.table(watch.tally))
    console.file.close()
    text = console.export_text()
    assert "1 of 4 runs done, 1 failed" in text
    assert "left" in text
    lines = [line.split() for line in text.splitlines() if "horizon=" in line]
    assert lines == [
        ["horizon=3", "1/2", "seed", "1", "tick", "2/3"],
        ["horizon=2", "0/2", "1"],
    ]


def test_a_long_grid_shows_its_first_rows_and_counts_the_rest(cli: Callable[..., Run]) -> None:
    assert cli is not None
    ages = ",".join(str(n) for n in range(2, 20))
    plan = sweeps.plan(scenario(stimuli=[]), settings=[f"horizon={ages}"], out="out")
    watch = watching.Watching()
    watch.begin(plan, 0)
    drawn = watching.table(watch.tally)
    assert len(drawn.rows) == 12
    assert str(drawn.caption) == "and 6 more combinations of settings"


def test_a_terminal_gets_a_table_a_file_gets_lines_and_quiet_gets_nothing(
    cli: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli is not None
    assert type(watching.watching(quiet=True)) is watching.Watching
    assert isinstance(watching.watching(quiet=False), watching.LinesOfRuns)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    watch = watching.watching(quiet=False)
    assert isinstance(watch, watching.LiveTable)
    with watch:
        watch.begin(planned(), 1)
        watch.look()
    assert "1 of 4 runs done" in capsys.readouterr().err


# Groups of compare.


@pytest.mark.parametrize(
    ("typed", "parsed"),
    [
        (["--group", "a", "b", "--group", "c"], ["--group", "a\0b", "--group", "c"]),
        (["--group=a", "b", "--json"], ["--group", "a\0b", "--json"]),
        (["x", "--group", "a", "--by", "m"], ["x", "--group", "a", "--by", "m"]),
        (["--group", "--json"], ["--group", "", "--json"]),
        (["a", "b"], ["a", "b"]),
    ],
)
def test_a_group_takes_all_words_up_to_the_next_option(
    typed: list[str], parsed: list[str]
) -> None:
    assert _together(typed) == parsed


def test_groups_are_compared_as_a_shell_expands_them_and_as_they_are_quoted(
    cli: Callable[..., Run], tmp_path: Path
) -> None:
    for name, beliefs in (("a", (0.6, 0.7, 0.65)), ("b", (0.72, 0.8, 0.79))):
        arm_of(tmp_path / name, name, beliefs)
    expanded = [sorted(str(path) for path in Path(name).glob("*.duckdb")) for name in ("a", "b")]
    code, out, err = cli("compare", "--group", *expanded[0], "--group", *expanded[1], "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    quoted = json.loads(cli("compare", "--group", "a/*.duckdb", "--group=b", "--json")[1])
    assert quoted["contrasts"] == told["contrasts"]
    code, out, _ = cli("compare", "--group", "a", "--group", "b")
    assert code == 0
    assert out.startswith("A: a  3 runs, seeds 1-3\nB: b  3 runs, seeds 1-3\n\nB against A\n")
    assert "3 pairs of runs with the same seed; paired t intervals.\n" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Missing argument 'RUN…'"),
        (("a", "--group", "b"), "--group goes with neither --by nor runs"),
        (("--group", "b", "--by", "x"), "--group goes with neither"),
        (("--group", ".", "--group", "b"), "holds no run"),
        (("a", "b", "c"), "compare takes two runs; 3 given. Groups of runs: --group, or --by"),
    ],
)
def test_groups_that_make_no_sense_are_bad_input(
    words: tuple[str, ...], message: str, cli: Callable[..., Run]
) -> None:
    code, out, err = cli("compare", *words)
    assert (code, out) == (2, "")
    assert message in err
