"""A run that stopped, however it stopped, ends as if it never had."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import yaml
from small import SMALL, small

from simulation import branching, runs
from simulation.cli.app import execute
from simulation.engine import Engine
from simulation.errors import RunFileError, RunStoppedError, ScenarioError, UsageError
from simulation.models.rule import RuleModel
from simulation.rng import Streams, stream_keys
from simulation.runlog import RunFile, RunWriter, copying
from simulation.runs import Snapshot, fork, resume, simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.records import TickRecords

HORIZON = 8
MASTER = Streams(20261130)  # moments at which processes are killed


def digests(path: Path) -> list[str]:
    with RunFile.open(path) as run:
        return [row[0] for row in run.query("SELECT state_digest FROM ticks ORDER BY tick").rows]


def one(path: Path, sql: str) -> Any:
    with RunFile.open(path) as run:
        return run.query(sql).rows[0][0]


def stop_after(tick: int) -> Callable[[TickRecords], None]:
    def stop(records: TickRecords) -> None:
        if records.tick == tick:
            raise KeyboardInterrupt

    return stop


def stopped(path: Path, *, after: int = 3, **changes: Any) -> Path:
    """Return a run that was interrupted after a tick."""
    with pytest.raises(RunStoppedError, match=f"after tick {after} of"):
        simulate(small(**changes), out=path, on_tick=stop_after(after))
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return digests(simulate(small(), out=tmp_path_factory.mktemp("whole") / "a.duckdb"))


@pytest.mark.parametrize("after", [0, 3, 7])
def test_a_resumed_run_ends_as_if_it_had_never_stopped(
    after: int, whole: list[str], tmp_path: Path
) -> None:
    path = stopped(tmp_path / "a.duckdb", after=after)
    assert one(path, "SELECT status FROM run") == "interrupted"
    seen: list[int] = []
    assert resume(path, on_tick=lambda records: seen.append(records.tick)) == path
    assert seen == list(range(after + 1, HORIZON + 1))
    assert digests(path) == whole
    with RunFile.open(path) as run:
        assert (run.run.status, run.run.last_tick) == ("complete", HORIZON)
        assert run.run.finished_at is not None
        found = run.query("SELECT resume_no, after_tick, settings FROM resumes").rows
    assert found == [(1, after, [])]


def test_every_row_of_a_resumed_run_is_that_of_an_uninterrupted_one(tmp_path: Path) -> None:
    plain = simulate(small(), out=tmp_path / "plain.duckdb")
    path = stopped(tmp_path / "a.duckdb", after=4)
    resume(path)
    with RunFile.open(plain) as first, RunFile.open(path) as second:
        for table in first.tables():
            if table.kind == "view" or table.name in ("run", "resumes"):
                continue
            without = " EXCLUDE wall_s" if table.name == "ticks" else ""
            sql = f"SELECT *{without} FROM {table.name} ORDER BY ALL"
            assert first.query(sql).rows == second.query(sql).rows, table.name


def test_a_run_can_be_resumed_again_and_again(whole: list[str], tmp_path: Path) -> None:
    path = stopped(tmp_path / "a.duckdb", after=1)
    for after in (2, 5, 6):
        with pytest.raises(
            RunStoppedError, match=f"interrupted after tick {after} of 8; .* To go"
        ):
            resume(path, on_tick=stop_after(after))
    resume(path)
    assert digests(path) == whole
    with RunFile.open(path) as run:
        found = run.query("SELECT resume_no, after_tick FROM resumes ORDER BY 1").rows
    assert found == [(1, 1), (2, 2), (3, 5), (4, 6)]


def test_a_complete_run_is_left_as_it_is(tmp_path: Path) -> None:
    path = simulate(small(), out=tmp_path / "a.duckdb")
    before = path.read_bytes()
    assert resume(path) == path
    assert path.read_bytes() == before


def test_models_given_from_outside_go_on(whole: list[str], tmp_path: Path) -> None:
    rule = Engine(small()).rule
    path = tmp_path / "a.duckdb"
    with pytest.raises(RunStoppedError):
        simulate(small(), out=path, tiers=(rule, rule), on_tick=stop_after(3))
    resume(path, tiers=(rule, rule))
    assert digests(path) == whole


class Mine(RuleModel):
    """The rule model under another name."""

    @property
    def name(self) -> str:
        return "mine"


def test_a_run_of_other_models_is_not_gone_on_with_by_rule(tmp_path: Path) -> None:
    own = Engine(small()).rule
    assert isinstance(own, RuleModel)
    rule = Mine(parameters=own.parameters, streams=own.streams)
    path = tmp_path / "a.duckdb"
    with pytest.raises(RunStoppedError):
        simulate(small(), out=path, tiers=(rule, rule), on_tick=stop_after(3))
    with pytest.raises(UsageError, match=r"with the models mine, mine, .* would be rule, rule"):
        resume(path)
    with pytest.raises(UsageError, match="with the models mine, mine"):
        fork(path, at=2, out=tmp_path / "b.duckdb")
    fork(path, at=2, tiers=(rule, rule), out=tmp_path / "b.duckdb")


def test_a_setting_that_changes_results_is_refused_and_the_file_is_as_it_was(
    tmp_path: Path,
) -> None:
    path = stopped(tmp_path / "a.duckdb")
    with pytest.raises(UsageError, match=r"feed\.size, horizon, recall\.tau cannot change .*fork"):
        resume(path, settings=["horizon=9", "feed.size=2"])
    with pytest.raises(ScenarioError, match="unknown key"):
        resume(path, settings=["horizont=9"])
    assert one(path, "SELECT status FROM run") == "interrupted"
    assert one(path, "SELECT count(*) FROM resumes") == 0


def test_a_setting_that_changes_none_holds_for_later_resumptions(tmp_path: Path) -> None:
    path = stopped(tmp_path / "a.duckdb")
    set_one = "models.cheap.base_url=http://127.0.0.1:9/v1"
    with pytest.raises(RunStoppedError):
        resume(path, settings=[set_one], on_tick=stop_after(5))
    resume(path)
    with RunFile.open(path) as run:
        found = run.query("SELECT settings FROM resumes ORDER BY resume_no").rows
    assert found == [([set_one],), ([],)]


def test_a_run_of_another_version_needs_a_word(
    whole: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stopped(tmp_path / "a.duckdb")
    for module in (branching, runs):
        monkeypatch.setattr(module, "engine_version", lambda: "99.1")
    with pytest.raises(
        UsageError, match=r"made by version .*, and this is 99\.1: .*--any-version"
    ):
        resume(path)
    with pytest.raises(RunStoppedError):
        resume(path, any_version=True, on_tick=stop_after(5))
    resume(path)  # since 99.1 made the latest ticks
    assert digests(path) == whole


def test_a_run_that_stopped_before_tick_0_is_to_be_begun_again(tmp_path: Path) -> None:
    path = stopped(tmp_path / "a.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE run SET last_tick = -1, status = 'running'")
    with pytest.raises(RunFileError, match="stopped before tick 0 was finished"):
        resume(path)


def test_a_run_whose_rows_were_changed_is_not_gone_on_with(tmp_path: Path) -> None:
    path = stopped(tmp_path / "a.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE memories SET importance = 0.5")
    with pytest.raises(RunFileError, match="does not have the digest"):
        resume(path)
    assert one(path, "SELECT status FROM run") == "interrupted"


def test_a_newer_layout_is_refused(tmp_path: Path) -> None:
    path = stopped(tmp_path / "a.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE run SET schema_version = 99")
    with pytest.raises(RunFileError, match=r"has layout 99; .*upgrade the package"):
        resume(path)


@pytest.mark.parametrize("content", [b"", b"no database at all" * 999])
def test_what_is_no_run_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    path.write_bytes(content)
    with pytest.raises(RunFileError, match=r"no run|no usable table"):
        resume(path)
    assert path.read_bytes()[: len(content)] == content
    with pytest.raises(RunFileError, match="does not exist"):
        resume(tmp_path / "none.duckdb")


def test_ctrl_c_while_the_world_is_rebuilt_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stopped(tmp_path / "a.duckdb")

    def struck(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(branching, "engine_at", struck)
    with pytest.raises(RunStoppedError, match=r"interrupted; .*a\.duckdb is as it was"):
        resume(path)
    assert one(path, "SELECT status FROM run") == "interrupted"


class Full(RunWriter):
    """A writer on a disk that is full from a tick on."""

    at: int = 0

    def _put(self, rows: Any, wall_s: float) -> None:
        if self.last_tick + 1 == self.at:
            raise duckdb.IOException("IO Error: No space left on device")
        super()._put(rows, wall_s)


def test_a_run_goes_on_when_there_is_room_again(
    whole: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stopped(tmp_path / "a.duckdb")
    monkeypatch.setattr(runs, "RunWriter", Full)
    for at in (4, 6):
        monkeypatch.setattr(Full, "at", at)
        with pytest.raises(
            RunStoppedError, match=r"(?s)no space is left.*To go on: simulation re"
        ):
            resume(path)
    monkeypatch.setattr(Full, "at", 99)
    resume(path)
    assert digests(path) == whole


def test_a_disk_too_full_to_note_the_resumption_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stopped(tmp_path / "a.duckdb")

    def full(_: RunWriter) -> None:
        raise duckdb.IOException("IO Error: No space left on device")

    monkeypatch.setattr(RunWriter, "_transaction", full)
    with pytest.raises(
        RunFileError, match=r"the resumption could not be written .*no space is le"
    ):
        resume(path)
    monkeypatch.undo()
    assert one(path, "SELECT status FROM run") == "interrupted"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_run_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    path = stopped(tmp_path / "a.duckdb")
    path.chmod(0o400)
    with pytest.raises(RunFileError, match="cannot be opened for writing"):
        resume(path)


def test_what_duckdb_says_of_a_file_that_may_not_be_written_becomes_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stopped(tmp_path / "a.duckdb")

    def refuse(*_: object, **__: object) -> None:
        raise duckdb.IOException(f'IO Error: Cannot open file "{path}": Permission denied')

    monkeypatch.setattr(duckdb, "connect", refuse)
    with pytest.raises(RunFileError, match="cannot be opened for writing: you may not write"):
        resume(path)


# Processes that are killed


def process(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "simulation", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


LONG: dict[str, Any] = {**SMALL, "horizon": 80}


@pytest.fixture(scope="module", name="long")
def _long(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Return a scenario file of a run that takes a while, and its digests."""
    folder = tmp_path_factory.mktemp("long")
    text = yaml.safe_dump(LONG, sort_keys=False)
    (folder / "long.yaml").write_text(text, encoding="utf-8")
    path = simulate(folder / "long.yaml", out=folder / "whole.duckdb")
    return folder / "long.yaml", digests(path)


def wait_for(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not ready():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.002)


def killed(folder: Path, scenario: Path, moment: float, *, log: int = 0) -> Path:
    """Return the file of a run that was killed some seconds after its file was there.

    log: bytes that its log has first.
    """
    path, wal = folder / "a.duckdb", folder / "a.duckdb.wal"
    running = process(folder, "run", str(scenario), "--out", path.name, "--quiet")
    wait_for(path.exists if not log else lambda: wal.exists() and wal.stat().st_size > log)
    time.sleep(moment)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=60)
    return path


def assert_survives(folder: Path, long: tuple[Path, list[str]], moments: list[float]) -> int:
    """Kill a run, then its resumption, …; then let it end. Return how often ticks were there."""
    scenario, whole = long
    path = killed(folder, scenario, moments[0])
    held = -1
    for moment in [*moments[1:], None]:
        with RunFile.open(path) as run:  # it always opens
            last = run.run.last_tick
        assert last >= held
        held = last
        assert digests(path) == whole[: held + 1]
        if held < 0:
            return held
        again = process(folder, "resume", path.name, "--quiet")
        if moment is not None:
            time.sleep(moment)
            again.send_signal(signal.SIGKILL)
        _, said = again.communicate(timeout=120)
        assert moment is not None or again.returncode == 0, said
    assert digests(path) == whole
    left = [entry.name for entry in folder.iterdir() if entry.name.endswith((".wal", ".new"))]
    assert left == []
    return held


def draw(case: int, count: int) -> list[float]:
    """Return some moments of one case: after the file was there, after each resumption began."""
    keys = stream_keys(str(i) for i in range(count))
    first, *rest = MASTER.uniform("kill", tick=case, keys=keys).tolist()
    return [1.5 * first, *(0.5 + 1.5 * u for u in rest)]


def test_a_killed_run_keeps_whole_ticks_and_resumes(
    long: tuple[Path, list[str]], tmp_path: Path
) -> None:
    assert_survives(tmp_path, long, [0.3, 1.2])


KILLS = int(os.environ.get("KILLS", "8"))  # 50 take ten minutes; two in each case


@pytest.mark.slow
@pytest.mark.parametrize("case", range(KILLS // 2))
def test_kills_at_random_moments_change_nothing(
    case: int, long: tuple[Path, list[str]], tmp_path: Path
) -> None:
    assert_survives(tmp_path, long, draw(case, 2))


def test_a_file_in_use_names_the_process_and_stays_as_it_is(
    long: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path = tmp_path / "a.duckdb"
    running = process(tmp_path, "run", str(long[0]), "--set", "horizon=5000", "--out", path.name)
    try:
        wait_for((tmp_path / "a.duckdb.wal").exists)  # made by the first tick
        for use in (resume, RunFile.open):
            with pytest.raises(RunFileError, match=f"is in use by process {running.pid} "):
                use(path)
        again = process(tmp_path, "resume", path.name)
        _, said = again.communicate(timeout=60)
        assert again.returncode == 2
        assert f"is in use by process {running.pid}" in said
    finally:
        running.kill()
        running.communicate(timeout=60)


def test_a_killed_run_can_be_forked_as_it_lies(
    long: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path = killed(tmp_path, long[0], 0.0, log=150_000)
    kept = (path.read_bytes(), (tmp_path / "a.duckdb.wal").read_bytes())
    with RunFile.open(path) as run:
        last = run.run.last_tick
    assert last > 0
    settings = [f"horizon={last + 2}"]
    other = fork(path, at=last, settings=settings, out=tmp_path / "b.duckdb")
    assert digests(other)[: last + 1] == long[1][: last + 1]
    assert (path.read_bytes(), (tmp_path / "a.duckdb.wal").read_bytes()) == kept


def test_a_damaged_log_of_the_latest_ticks_is_told_and_nothing_is_lost(
    long: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path = killed(tmp_path, long[0], 0.0, log=100_000)
    log = tmp_path / "a.duckdb.wal"
    whole = log.read_bytes()
    assert len(whole) > 100_000
    middle = len(whole) // 2
    log.write_bytes(whole[:middle] + bytes(b ^ 255 for b in whole[middle : middle + 64])
                    + whole[middle + 64 :])  # fmt: skip
    kept = (path.read_bytes(), log.read_bytes())
    with pytest.raises(RunFileError, match=r"the log of its latest ticks, .*\.wal, is damaged"):
        resume(path)
    assert (path.read_bytes(), log.read_bytes()) == kept
    log.write_bytes(whole)
    resume(path)
    assert digests(path) == long[1]


# Snapshots


def test_a_snapshot_can_be_read_while_the_run_goes_on(tmp_path: Path) -> None:
    copy = tmp_path / "look" / "at.duckdb"
    copy.parent.mkdir()
    seen: list[int] = []

    def look(records: TickRecords) -> None:
        with RunFile.open(copy) as run:
            seen.append(run.run.last_tick)
            assert run.run.status == "running"
            last = run.query("SELECT max(tick) FROM turns").rows[0][0]
        assert last == (seen[-1] or None)
        assert records.tick - seen[-1] in (0, 1, 2)

    path = simulate(
        small(), out=tmp_path / "a.duckdb", on_tick=look, snapshot=Snapshot(path=copy, every=3)
    )
    assert seen == [0, 0, 0, 3, 3, 3, 6, 6, 6]
    assert digests(copy) == digests(path)
    assert one(copy, "SELECT status FROM run") == "complete"
    assert [entry.name for entry in copy.parent.iterdir()] == ["at.duckdb"]


def test_a_snapshot_does_not_let_go_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    said: list[str] = []

    def other(_: TickRecords) -> None:
        if not said:
            words = process(tmp_path, "tables", path.name)
            said.append(words.communicate(timeout=60)[1])

    simulate(small(), out=path, on_tick=other, snapshot=Snapshot(path=tmp_path / "b.duckdb"))
    assert f"is in use by process {os.getpid()}" in said[0]


def test_a_snapshot_never_replaces_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = stopped(tmp_path / "a.duckdb")
    other = simulate(small(), out=tmp_path / "b.duckdb")
    with pytest.raises(RunFileError, match="exists"):
        simulate(small(), out=tmp_path / "c.duckdb", snapshot=Snapshot(path=other))
    with pytest.raises(RunFileError, match="is another run"):
        resume(path, snapshot=Snapshot(path=other))
    with pytest.raises(RunFileError, match="cannot be its own snapshot"):
        simulate(small(), out=tmp_path / "c.duckdb", snapshot=Snapshot(path=tmp_path / "c.duckdb"))
    with pytest.raises(RunFileError, match="cannot be its own snapshot"):
        resume(path, snapshot=Snapshot(path=path))
    with pytest.raises(RunFileError, match="cannot be its own snapshot"):
        simulate(small(), snapshot=Snapshot(path=Path("runs", "small-seed3.duckdb")))
    with pytest.raises(UsageError, match="every 0 ticks"):
        resume(path, snapshot=Snapshot(path=tmp_path / "d.duckdb", every=0))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.duckdb", "b.duckdb"]


def test_the_snapshot_of_a_run_is_replaced_when_it_is_resumed(tmp_path: Path) -> None:
    copy = Snapshot(path=tmp_path / "copy.duckdb")
    with pytest.raises(RunStoppedError):
        simulate(small(), out=tmp_path / "a.duckdb", on_tick=stop_after(2), snapshot=copy)
    assert len(digests(copy.path)) == 3
    path = resume(tmp_path / "a.duckdb", snapshot=copy)
    assert digests(copy.path) == digests(path)


def test_a_snapshot_that_cannot_be_written_stops_the_run_which_can_be_resumed(
    whole: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()

    def remove(records: TickRecords) -> None:
        if records.tick == 2:
            shutil.rmtree(folder)

    with pytest.raises(RunStoppedError, match=r"(?s)the snapshot could not be written.*tick 3 of"):
        simulate(
            small(),
            out=tmp_path / "a.duckdb",
            on_tick=remove,
            snapshot=Snapshot(path=folder / "copy.duckdb"),
        )
    assert digests(resume(tmp_path / "a.duckdb")) == whole


def test_a_copy_that_nobody_could_make_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = simulate(small(), out=tmp_path / "a.duckdb")
    target = tmp_path / "copy.duckdb"
    target.write_text("the one before", encoding="utf-8")
    monkeypatch.setattr(copying, "_COPY", "raise OSError('[Errno 28] No space left on device')")
    with pytest.raises(
        RunFileError, match=r"the snapshot could not be written .*no space is left"
    ):
        copying.copy_file(path, target)
    monkeypatch.setattr(copying, "_COPY", "import os; os._exit(3)")
    with pytest.raises(RunFileError, match="the copying process died"):
        copying.copy_file(path, target)
    monkeypatch.setattr(copying, "_COPY", "pass")  # and nothing is there to take its place
    with pytest.raises(RunFileError, match="No such file"):
        copying.copy_file(path, target)
    assert target.read_text("utf-8") == "the one before"
    assert len(list(tmp_path.iterdir())) == 2


# The command line


def test_the_verb_goes_on_and_says_what_came_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stopped(tmp_path / "a.duckdb")
    copy = tmp_path / "copy.duckdb"
    assert execute(["resume", str(path), "--snapshot", str(copy), "--snapshot-every", "4"]) == 0
    said = capsys.readouterr()
    assert "small: on from tick 3 of 8" in said.err
    assert "12 personas, 8 ticks" in said.out
    assert f"fork {path} --at 4 --set feed.size=3" in said.out
    assert copy.exists()
    assert execute(["resume", str(path)]) == 0
    said = capsys.readouterr()
    assert "is complete: all 8 ticks are there" in said.err
    assert f"fork {path} --at 8 --set horizon=16" in said.err
    assert said.out == ""
    assert execute(["resume", str(path), "--quiet"]) == 0
    assert capsys.readouterr().out == f"{path}\n"
    assert execute(["resume", str(path), "--json"]) == 0
    assert '"status": "complete"' in capsys.readouterr().out


def test_the_verb_is_quiet_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stopped(tmp_path / "a.duckdb")
    assert execute(["resume", str(path), "--quiet"]) == 0
    assert capsys.readouterr() == (f"{path}\n", "")
    other = stopped(tmp_path / "b.duckdb")
    assert execute(["resume", str(other), "--json"]) == 0
    assert '"last_tick": 8' in capsys.readouterr().out
