from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest
import run_rows
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simulation import records
from simulation.errors import RunFileError
from simulation.runlog import SCHEMA_VERSION, STATUSES, RunFile, RunWriter
from simulation.runlog.columns import arrow_table, storable, storable_json


def one(writer: RunWriter, sql: str) -> object:
    return writer.reader().query(sql).rows[0][0]


def all_rows(writer: RunWriter, sql: str) -> list[tuple[object, ...]]:
    return writer.reader().query(sql).rows


def test_every_table_and_column_of_a_new_run_has_a_comment() -> None:
    with RunWriter.create(None, run_rows.header()) as writer:
        tables = writer.reader().tables()
    bare = [
        f"{table.name}.{column.name}"
        for table in tables
        for column in table.columns
        if not column.comment
    ]
    assert bare == []
    assert [table.name for table in tables if not table.comment] == []
    assert {table.name for table in tables} >= {
        *(
            "run",
            "personas",
            "initial_beliefs",
            "edges",
            "claims",
            "stimuli",
            "posts",
            "exposures",
        ),
        *("turns", "belief_changes", "memories", "embedding_rows", "recalls", "gates", "affects"),
        *("reflections", "probes", "units", "unit_updates", "surveys", "model_calls", "ticks"),
        *("rejections", "beliefs", "embeddings", "persona_timeline", "belief_summary", "drift"),
        *("action_counts", "claim_flips", "spend", "failures", "memory_composition"),
        *("posts_reach", "exposures", "survey_summary"),
    }


def test_every_record_of_the_engine_has_its_table_and_columns() -> None:
    with RunWriter.create(None, run_rows.header()) as writer:
        stored = {t.name: {c.name for c in t.columns} for t in writer.reader().tables()}
    del stored["embeddings"]
    stored["embeddings"] = stored["embedding_rows"]
    stored["evictions"] = stored["memories"]
    stored["quarantines"] = stored["personas"]
    for kind in records.Rows.__subclasses__():
        names = {field for field in kind.__dataclass_fields__ if field in kind.__slots__}
        assert names <= stored[kind.table], kind


def test_the_header_is_stored_with_its_settings_as_json() -> None:
    run = run_rows.header(parent_run_id="r0", forked_at_tick=3, encoder_sha256=None)
    with RunWriter.create(None, run) as writer:
        info = writer.reader().run
    assert info.header == run
    assert (info.status, info.last_tick, info.schema_version) == ("running", -1, SCHEMA_VERSION)
    assert info.finished_at is None


def test_a_setting_that_json_cannot_say_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.duckdb"
    with pytest.raises(ValueError, match="Out of range"):
        RunWriter.create(path, run_rows.header(parameters={"x": float("nan")}))
    assert list(tmp_path.iterdir()) == []


def test_ticks_follow_each_other_from_zero() -> None:
    with RunWriter.create(None, run_rows.header()) as writer:
        with pytest.raises(ValueError, match="tick 1 cannot follow tick -1"):
            writer.write(run_rows.tick(1), wall_s=0)
        writer.write(run_rows.start(), wall_s=0)
        with pytest.raises(ValueError, match="tick 0 cannot follow tick 0"):
            writer.write(run_rows.start(), wall_s=0)
        assert one(writer, "SELECT last_tick FROM run") == 0


def test_a_tick_carries_its_wall_time_and_the_run_its_last_tick() -> None:
    writer = run_rows.write_run(None, [run_rows.start(), run_rows.tick(1)])
    assert all_rows(writer, "SELECT tick, wall_s, unit_entropy FROM ticks") == [(1, 0.25, None)]
    run = writer.reader().run
    assert (run.last_tick, run.status) == (1, "complete")
    assert run.finished_at is not None
    assert run.finished_at >= run.started_at


def test_codes_become_texts_and_negative_codes_null() -> None:
    turns = run_rows.rows(
        records.Turns, [{"tick": 1, "persona_id": p} for p in ("p1", "p2", "p3")]
    )
    values = {
        **turns.columns(),
        "target_id": run_rows.coded(["p3", None, "p1"]),
        "persona_id": records.Coded(
            codes=np.array([0, 2, 1]), names=[f"p{i}" for i in range(1, 4)]
        ),
    }
    ticks = [run_rows.start(), run_rows.tick(1, extra=[records.Turns(**values)])]
    writer = run_rows.write_run(None, ticks)
    rows = all_rows(writer, "SELECT persona_id, target_id FROM turns ORDER BY persona_id")
    assert rows == [("p1", "p3"), ("p2", "p1"), ("p3", None)]


def test_a_long_list_of_names_gives_the_same_texts_as_a_short_one() -> None:
    names = [f"p{i}" for i in range(1000)]
    posts = run_rows.rows(
        records.Posts, [{"post_id": i, "tick": 1, "author": ""} for i in range(3)]
    )
    values = {
        **posts.columns(),
        "author": records.Coded(codes=np.array([999, 0, 999]), names=names),
        "addressee": records.Coded(codes=np.array([-1, 7, -1]), names=names),
        "claim_id": records.Coded(codes=np.array([-1, -1, -1]), names=names),
    }
    ticks = [run_rows.start(), run_rows.tick(1, extra=[records.Posts(**values)])]
    writer = run_rows.write_run(None, ticks)
    rows = all_rows(writer, "SELECT author, addressee, claim_id, parent_id, valence FROM posts")
    assert sorted(rows, key=str) == [
        ("p0", "p7", None, None, None),
        ("p999", None, None, None, None),
        ("p999", None, None, None, None),
    ]


def test_evicted_memories_keep_their_row_and_get_the_tick() -> None:
    memories = [{"memory_id": i, "persona_id": "p1", "tick": 1} for i in range(4)]
    gone = records.Evictions(memory_id=np.array([2, 0]), evicted_tick=np.array([1, 1]))
    later = records.Evictions(memory_id=np.array([3]), evicted_tick=np.array([2]))
    writer = run_rows.write_run(
        None,
        [
            run_rows.start(),
            run_rows.tick(1, extra=[run_rows.rows(records.Memories, memories), gone]),
            run_rows.tick(2, extra=[later]),
        ],
    )
    rows = all_rows(writer, "SELECT memory_id, evicted_tick FROM memories ORDER BY memory_id")
    assert rows == [(0, 1), (1, None), (2, 1), (3, 2)]


def test_embeddings_are_quantised_rows_seen_as_vectors() -> None:
    quantised = np.array([[-128, 0, 127], [1, 2, 3]], dtype=np.int8)
    scale = np.array([0.5, 0.1], dtype=np.float32)
    stored = records.Embeddings(
        embedding_id=np.array([0, 1]),
        tick=np.array([0, 0]),
        text=["a", "b"],
        text_sha256=["a" * 64, "b" * 64],
        quantised=quantised,
        scale=scale,
    )
    writer = run_rows.write_run(None, [run_rows.start(extra=[stored])])
    rows = all_rows(writer, "SELECT vector FROM embeddings ORDER BY embedding_id")
    vectors = np.array([row[0] for row in rows], dtype=np.float32)
    np.testing.assert_array_equal(vectors, quantised.astype(np.float32) * scale[:, None])


def test_memory_ids_of_reflections_are_lists() -> None:
    thoughts = [
        {"tick": 1, "persona_id": "p1", "memory_ids": [4, 5]},
        {"tick": 1, "persona_id": "p2", "memory_ids": []},
    ]
    extra = [run_rows.rows(records.Reflections, thoughts)]
    writer = run_rows.write_run(None, [run_rows.start(), run_rows.tick(1, extra=extra)])
    rows = all_rows(writer, "SELECT memory_ids FROM reflections ORDER BY persona_id")
    assert rows == [([4, 5],), ([],)]


@settings(max_examples=8, deadline=None)
@given(st.lists(st.text(st.characters(), max_size=8), min_size=1, max_size=4))
@example(["half \ud800", "nul \0", ""])
def test_any_text_survives_and_half_characters_stay_visible(texts: list[str]) -> None:
    ids = [f"p{i}" for i in range(len(texts))]
    turns = [{"persona_id": p, "text": text} for p, text in zip(ids, texts, strict=True)]
    writer = run_rows.write_run(None, [run_rows.start(), run_rows.tick(1, turns=turns)])
    with writer:
        rows = all_rows(writer, "SELECT text FROM turns ORDER BY persona_id")
    assert [row[0] for row in rows] == [storable(text) for text in texts]


def test_surrogates_are_written_out_and_nul_is_kept() -> None:
    assert storable("a\ud800b\0c") == "a\\ud800b\0c"
    assert storable("naïve 😀") == "naïve 😀"


def test_json_with_half_characters_can_be_stored_and_other_json_is_untouched() -> None:
    people = [
        {"persona_id": "p1", "persona_index": 0, "attributes": '{"name": "\\uD800x"}'},
        {
            "persona_id": "p2",
            "persona_index": 1,
            "attributes": '{"name":  "\\u0000\\ud83d\\ude00"}',
        },
        {"persona_id": "p3", "persona_index": 2, "attributes": '{"name": "\udc00"}'},
    ]
    extra = [run_rows.rows(records.Personas, people)]
    run = run_rows.header(scenario_name="\ud800", parameters={"a": "\ud800", "b": "ü"})
    with run_rows.write_run(None, [run_rows.start(personas=(), extra=extra)], run=run) as writer:
        rows = all_rows(writer, "SELECT attributes->>'name' FROM personas ORDER BY persona_id")
        info = writer.reader().run.header
    assert rows == [("\\ud800x",), ("\0😀",), ("\\udc00",)]
    assert info.scenario_name == "\\ud800"
    assert info.parameters == {"a": "\\ud800", "b": "ü"}
    assert storable_json('{"a":  1}') == '{"a":  1}'


def test_rows_that_do_not_fit_are_refused_and_leave_no_trace() -> None:
    good = run_rows.rows(records.Turns, [{"tick": 1, "persona_id": "p1"}])
    uneven = records.Turns(**{**good.columns(), "action": ["like", "post"]})
    beyond = records.Turns(
        **{**good.columns(), "action": records.Coded(codes=np.array([1]), names=["like"])}
    )
    huge = records.Turns(**{**good.columns(), "turn_no": np.array([2**40])})
    with RunWriter.create(None, run_rows.header()) as writer:
        writer.write(run_rows.start(), wall_s=0)
        for bad in (uneven, beyond, huge):
            with pytest.raises((ValueError, IndexError)):
                writer.write(run_rows.tick(1, extra=[good, bad]), wall_s=0)
        missing = run_rows.rows(records.Turns, [{"tick": 1, "persona_id": None}])
        with pytest.raises(
            RunFileError, match=r"tick 1 could not be written to memory: .*NOT NULL"
        ):
            writer.write(run_rows.tick(1, extra=[good, missing]), wall_s=0)
        assert one(writer, "SELECT count(*) FROM turns") == 0
        writer.write(run_rows.tick(1, extra=[good]), wall_s=0)
        assert one(writer, "SELECT count(*) FROM turns") == 1


def test_a_column_that_no_table_has_is_named() -> None:
    claims = run_rows.rows(records.Claims, [{"claim_id": "C1", "claim_index": 0, "text": "x"}])
    with pytest.raises(ValueError, match='table "claims" has no column claim_index, text'):
        arrow_table(claims, {"claim_id": "VARCHAR"}, {})


def test_a_missing_belief_is_refused_rather_than_stored() -> None:
    nowhere = run_rows.change("p1", "C1", 0.5, float("nan"))
    with RunWriter.create(None, run_rows.header()) as writer:
        writer.write(run_rows.start(), wall_s=0)
        with pytest.raises(RunFileError, match="NOT NULL"):
            writer.write(run_rows.tick(1, changes=[nowhere]), wall_s=0)


def test_only_the_five_words_are_a_status() -> None:
    with RunWriter.create(None, run_rows.header()) as writer:
        with pytest.raises(ValueError, match='"done" is no status'):
            writer.finish("done")
        for status in STATUSES:
            writer.finish(status)
            assert writer.reader().run.status == status


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt(), "interrupted"), (KeyError("x"), "failed")]
)
def test_a_run_that_an_exception_ends_says_so(
    tmp_path: Path, error: BaseException, status: str
) -> None:
    path = tmp_path / "run.duckdb"
    writer = RunWriter.create(path, run_rows.header())
    writer.write(run_rows.start(), wall_s=0)
    with pytest.raises(type(error)), writer:
        raise error
    with RunFile.open(path) as run:
        assert (run.run.status, run.run.last_tick) == (status, 0)


def test_a_finished_run_keeps_its_status_when_something_else_fails(tmp_path: Path) -> None:
    path = tmp_path / "run.duckdb"
    writer = RunWriter.create(path, run_rows.header())
    writer.finish("complete")
    with pytest.raises(KeyError), writer:
        raise KeyError
    with RunFile.open(path) as run:
        assert run.run.status == "complete"


def test_a_finished_file_stands_alone_without_its_log(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "run.duckdb"
    run_rows.write_run(path, [run_rows.start(), run_rows.tick(1)])
    assert [entry.name for entry in path.parent.iterdir()] == ["run.duckdb"]


def test_a_renamed_file_still_has_its_views(tmp_path: Path) -> None:
    run_rows.write_run(tmp_path / "a.duckdb", [run_rows.start(), run_rows.tick(1)])
    (tmp_path / "a.duckdb").rename(tmp_path / "b c.duckdb")
    with RunFile.open(tmp_path / "b c.duckdb") as run:
        assert run.query("SELECT count(*) FROM beliefs").rows == [(24,)]


def test_an_existing_file_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "run.duckdb"
    path.write_text("mine")
    with pytest.raises(RunFileError, match="exists, and a run is never written over"):
        RunWriter.create(path, run_rows.header())
    assert path.read_text() == "mine"


def test_a_file_made_in_the_meantime_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.duckdb"
    path.write_text("mine")
    monkeypatch.setattr(Path, "exists", lambda _: False)
    with pytest.raises(RunFileError, match="exists, and a run is never written over"):
        RunWriter.create(path, run_rows.header())
    monkeypatch.undo()
    assert path.read_text() == "mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.duckdb"]


def test_a_leftover_log_is_not_replayed_into_a_new_run(tmp_path: Path) -> None:
    (tmp_path / "run.duckdb.wal").write_bytes(b"old")
    with pytest.raises(RunFileError, match=r"run\.duckdb\.wal is left over"):
        RunWriter.create(tmp_path / "run.duckdb", run_rows.header())


def test_a_file_system_without_hard_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    run_rows.write_run(tmp_path / "run.duckdb", [run_rows.start()])
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.duckdb"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFileError, match=r"a new run could not be written to .*Not a directory"):
        RunWriter.create(tmp_path / "file" / "sub" / "run.duckdb", run_rows.header())


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_folder_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(RunFileError, match="Permission denied"):
        RunWriter.create(tmp_path / "run.duckdb", run_rows.header())


def test_a_failure_while_creating_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.runlog.writer.layout", lambda: "CREATE TABLE run (x INT)")
    with pytest.raises(RunFileError, match="a new run could not be written"):
        RunWriter.create(tmp_path / "run.duckdb", run_rows.header())
    assert list(tmp_path.iterdir()) == []


_FULL_DISK = """
import resource, sys
import run_rows
from simulation.errors import RunFileError
from simulation import records
from simulation.runlog import RunWriter

def big(tick):
    texts = [{"persona_id": f"p{i}", "text": f"{i * 7919 % 104729:x}" * 99} for i in range(2000)]
    return run_rows.tick(tick, turns=texts)

with RunWriter.create(sys.argv[1], run_rows.header()) as writer:
    writer.write(run_rows.start(), wall_s=0)
    writer.write(run_rows.tick(1), wall_s=0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
    try:
        writer.write(big(2), wall_s=0)
    except RunFileError as error:
        print(error)
        raise SystemExit(3)
"""


def python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    here = str(Path(__file__).parent)
    root = str(Path(__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={"PYTHONPATH": os.pathsep.join([root, here]), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file size are POSIX")
def test_a_disk_that_fills_up_loses_only_the_tick_in_hand(tmp_path: Path) -> None:
    path = tmp_path / "run.duckdb"
    done = python(_FULL_DISK, str(path))
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("tick 2 could not be written to")
    with RunFile.open(path) as run:
        assert run.run.last_tick == 1
        assert run.query("SELECT count(*) FROM turns").rows == [(0,)]


_KILLED = """
import os, signal, sys
import run_rows
from simulation import records
from simulation.runlog import RunWriter
from simulation.runlog import writer as module

writer = RunWriter.create(sys.argv[1], run_rows.header())
writer.write(run_rows.start(), wall_s=0)
for tick in (1, 2):
    writer.write(run_rows.tick(tick, turns=[{"persona_id": "p1"}]), wall_s=0)
put = RunWriter._put

def put_and_die(self, rows, wall_s):
    put(self, rows, wall_s)
    if rows.table == "turns":
        os.kill(os.getpid(), signal.SIGKILL)

RunWriter._put = put_and_die
writer.write(run_rows.tick(3, turns=[{"persona_id": "p1"}]), wall_s=0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_process_killed_within_a_tick_leaves_whole_ticks(tmp_path: Path) -> None:
    path = tmp_path / "run.duckdb"
    done = python(_KILLED, str(path))
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert path.with_name("run.duckdb.wal").exists()
    with RunFile.open(path) as run:
        assert (run.run.last_tick, run.run.status) == (2, "running")
        assert run.query("SELECT max(tick) FROM turns").rows == [(2,)]
        assert run.query("SELECT count(*) FROM ticks").rows == [(2,)]


def test_a_close_that_fails_is_told(tmp_path: Path) -> None:
    class Stuck:
        def close(self) -> None:
            raise duckdb.IOException("No space left on device")

    writer = RunWriter.create(tmp_path / "run.duckdb", run_rows.header())
    connection = writer._connection
    writer._connection = Stuck()  # type: ignore[assignment]
    with pytest.raises(RunFileError, match=r"last ticks could not be written .* no space is left"):
        writer.close()
    connection.close()


def test_an_end_that_cannot_be_written_is_told_but_does_not_hide_another_error() -> None:
    writer = RunWriter.create(None, run_rows.header())
    writer.close()
    writer.close()
    with pytest.raises(RunFileError, match="the end of the run could not be written"):
        writer.finish("complete")
    with pytest.raises(KeyError), writer:
        raise KeyError


def test_the_memory_of_duckdb_is_bounded_by_the_number_of_personas(tmp_path: Path) -> None:
    def limit(writer: RunWriter) -> int:
        setting = "SELECT parse_formatted_bytes(current_setting('memory_limit'))"
        (found,) = writer.reader().query(setting).rows[0]
        return int(found)

    with RunWriter.create(tmp_path / "a.duckdb", run_rows.header()) as writer:
        free = limit(writer)
        writer.write(run_rows.start(), wall_s=0.0)
        bounded = limit(writer)
    assert 10**9 * 0.9 < bounded < 10**9 * 1.1 < free
    with RunWriter.reopen(tmp_path / "a.duckdb") as writer:
        assert limit(writer) == bounded
