"""A fork shares its parent's history, repeats it with nothing set, and differs only afterwards."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import yaml
from small import SMALL, small
from worlds import assert_equal_worlds

from simulation import branching
from simulation.cli.app import execute
from simulation.engine import Engine
from simulation.errors import RunFileError, RunStoppedError, UsageError
from simulation.rebuilding import engine_at
from simulation.runlog import RunFile, RunWriter
from simulation.runlog.copying import BY_TICK, OWN, WHOLE
from simulation.runs import Snapshot, fork, resume, simulate
from simulation.scenario import flatten, load_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.records import TickRecords
    from simulation.scenario import Scenario


def digests(path: Path) -> list[str]:
    with RunFile.open(path) as run:
        return [row[0] for row in run.query("SELECT state_digest FROM ticks ORDER BY tick").rows]


def rows(path: Path, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with RunFile.open(path) as run:
        return run.query(sql, parameters=parameters).rows


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(small(memory={"cap": 4}), out=tmp_path_factory.mktemp("fork") / "a.duckdb")


@pytest.mark.parametrize("at", [0, 3, 7])
def test_with_nothing_set_a_fork_repeats_its_parent(at: int, parent: Path, tmp_path: Path) -> None:
    before = parent.read_bytes()
    seen: list[int] = []
    path = fork(
        parent, at=at, out=tmp_path / "b.duckdb", on_tick=lambda each: seen.append(each.tick)
    )
    assert seen == list(range(at + 1, 9))
    assert digests(path) == digests(parent)
    assert parent.read_bytes() == before
    with RunFile.open(parent) as first, RunFile.open(path) as second:
        assert second.run.header.parent_run_id == first.run.header.run_id
        assert second.run.header.forked_at_tick == at
        assert (second.run.status, second.run.last_tick) == ("complete", 8)
        assert second.run.header.parameters == first.run.header.parameters
        for table in first.tables():
            if table.kind == "view" or table.name in OWN:
                continue
            without = " EXCLUDE wall_s" if table.name == "ticks" else ""
            sql = f"SELECT *{without} FROM {table.name} ORDER BY ALL"
            assert first.query(sql).rows == second.query(sql).rows, table.name


def test_a_fork_of_a_run_with_personality_repeats_it(tmp_path: Path) -> None:
    loaded = small(population={"size": 8, "personality": {"kind": "attachment", "sample": True}})
    path = simulate(loaded, out=tmp_path / "a.duckdb")
    assert digests(fork(path, at=5, out=tmp_path / "b.duckdb")) == digests(path)


def test_every_table_is_copied_in_one_of_three_ways(parent: Path) -> None:
    with RunFile.open(parent) as run:
        tables = {table.name for table in run.tables() if table.kind == "table"}
    parts = [set(WHOLE), set(BY_TICK), set(OWN)]
    assert set.union(*parts) == tables
    assert sum(map(len, parts)) == len(tables)


def test_the_history_of_a_fork_is_that_of_its_parent_up_to_its_tick(
    parent: Path, tmp_path: Path
) -> None:
    path = fork(parent, at=4, settings=["rule.persuasion=1.0"], out=tmp_path / "b.duckdb")
    assert digests(path)[:5] == digests(parent)[:5]
    assert digests(path)[5] != digests(parent)[5]
    with RunFile.open(parent) as first, RunFile.open(path) as second:
        one, other = engine_at(first, 4), engine_at(second, 4)
        assert_equal_worlds(one.world, other.world)
    evicted = "SELECT memory_id, evicted_tick FROM memories WHERE evicted_tick <= 4 ORDER BY 1"
    assert rows(path, evicted) == rows(parent, evicted) != []


def test_a_fork_can_be_forked_stopped_and_resumed(parent: Path, tmp_path: Path) -> None:
    settings = ["rule.influence=0.8", "rule.credibility.peer=0.9", "rule.credibility.ad=0.9"]
    whole = digests(fork(parent, at=2, settings=settings, out=tmp_path / "b.duckdb"))

    def stop(records: TickRecords) -> None:
        if records.tick == 5:
            raise KeyboardInterrupt

    with pytest.raises(RunStoppedError, match="interrupted after tick 5 of 8"):
        fork(parent, at=2, settings=settings, out=tmp_path / "c.duckdb", on_tick=stop)
    assert digests(resume(tmp_path / "c.duckdb")) == whole
    again = fork(tmp_path / "b.duckdb", at=6, out=tmp_path / "d.duckdb")
    assert digests(again) == whole
    assert rows(again, "SELECT settings FROM run")[0][0][-3:] == settings


def test_a_fork_of_a_run_that_stopped_goes_on_from_there(parent: Path, tmp_path: Path) -> None:
    def stop(records: TickRecords) -> None:
        if records.tick == 3:
            raise KeyboardInterrupt

    with pytest.raises(RunStoppedError):
        simulate(small(memory={"cap": 4}), out=tmp_path / "a.duckdb", on_tick=stop)
    path = fork(tmp_path / "a.duckdb", at=3, out=tmp_path / "b.duckdb")
    assert digests(path) == digests(parent)
    assert rows(tmp_path / "a.duckdb", "SELECT status FROM run") == [("interrupted",)]


# Events


def as_setting(stimuli: Sequence[dict[str, Any]]) -> str:
    return "stimuli=" + yaml.safe_dump(list(stimuli), default_flow_style=True, width=10**6).strip()


NEW: dict[str, Any] = {
    "id": "fresh", "tick": 6, "kind": "news", "source": "Daily", "text": "Bolt is a fraud.",
    "claim": "C1", "stance": -1.0, "reach": 0.5,
}  # fmt: skip


def test_a_fork_may_have_new_events_and_leaves_the_chance_of_the_others_alone(
    parent: Path, tmp_path: Path
) -> None:
    changed = [*SMALL["stimuli"][:2], NEW, SMALL["stimuli"][2]]
    path = fork(parent, at=4, settings=[as_setting(changed)], out=tmp_path / "b.duckdb")
    old = rows(parent, "SELECT stimulus_id, stream_index FROM stimuli ORDER BY 1")
    new = dict(rows(path, "SELECT stimulus_id, stream_index FROM stimuli"))
    assert new.pop("fresh") == max(index for _, index in old) + 1
    assert sorted(new.items()) == old
    assert digests(path)[:6] == digests(parent)[:6]
    assert digests(path)[6] != digests(parent)[6]
    seen = rows(path, "SELECT count(*) FROM exposures WHERE stimulus_id = 'fresh' AND tick = 6")
    assert 0 < seen[0][0] < 12
    with RunFile.open(path) as run:
        assert engine_at(run, 7).advance().state_digest == digests(path)[8]


def test_an_event_to_come_can_be_taken_out(parent: Path, tmp_path: Path) -> None:
    changed = [SMALL["stimuli"][0], {**SMALL["stimuli"][1], "tick": [2]}, SMALL["stimuli"][2]]
    path = fork(parent, at=4, settings=[as_setting(changed)], out=tmp_path / "b.duckdb")
    ids = [row[0] for row in rows(path, "SELECT stimulus_id FROM stimuli ORDER BY stream_index")]
    assert ids == ["s1", "s2-2", "ask"]
    assert rows(path, "SELECT count(*) FROM posts WHERE stimulus_id = 's2-5'") == [(0,)]


def test_an_event_that_was_seen_stays_as_it_was(parent: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"(?s)at tick 3 cannot change .*stimuli: up to tick 3"):
        fork(parent, at=3, settings=["stimuli[2].text=Would you?"], out=tmp_path / "b.duckdb")
    path = fork(parent, at=2, settings=["stimuli[2].text=Would you?"], out=tmp_path / "b.duckdb")
    assert digests(path)[3] != digests(parent)[3]


# Settings


def refused(parent: Path, folder: Path, *settings: str, at: int = 4) -> str:
    with pytest.raises(UsageError) as caught:
        fork(parent, at=at, settings=settings, out=folder / "refused.duckdb")
    assert not (folder / "refused.duckdb").exists()
    return str(caught.value)


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("population.size=5", "population.size: the same people go on living"),
        ("population.activity=0.1", "population.activity: the same people go on living"),
        ("graph.degree=2", "graph.degree: the posts so far went along the old follows"),
        ("brief.brand=Nut", "brief.brand: the beliefs so far are about it"),
        ("encoder.name=ngram", "encoder.name: the texts so far have the vectors"),
        ("ontology=civic_life", "ontology: the personas are made of it"),
        ("seed=9", "seed: a fork has the random streams of its parent"),
        ("tier=frontier", "tier: the tier is part of who a persona is; set models.cheap"),
        ("name=other", "name: it is the name of the scenario"),
        ("affect.appraiser=lexicon", "affect.appraiser: the texts so far were felt"),
        ("persmem.gains=reference", "persmem.gains: a persona's gains are part of who it is"),
        ("reflection.interval_min=5", "reflection.interval_min: the rhythm of reflection"),
    ],
)
def test_what_made_the_ticks_so_far_cannot_change(
    setting: str, why: str, parent: Path, tmp_path: Path
) -> None:
    assert why in refused(parent, tmp_path, setting)


def test_all_that_cannot_change_is_told_at_once(parent: Path, tmp_path: Path) -> None:
    said = refused(parent, tmp_path, "population.size=5", "seed=9", "feed.size=2")
    assert said.count("\n  ") == 2
    assert "feed" not in said


@pytest.mark.parametrize(
    "setting",
    [
        "actions=[ignore, like]",
        "recall.mode=random",
        "recall.tau=1.5",
        "memory.cap=2",
        "reflection.sharp_move=0.01",
        "rule.spillover=0.0",
    ],
)
def test_what_acts_from_a_tick_on_can_change(setting: str, parent: Path, tmp_path: Path) -> None:
    path = fork(parent, at=4, settings=[setting], out=tmp_path / "b.duckdb")
    assert digests(path)[:5] == digests(parent)[:5]
    assert digests(path)[-1] != digests(parent)[-1]


def test_probes_and_words_about_it_change_nothing(parent: Path, tmp_path: Path) -> None:
    settings = ["probes.every=1", "probes.share=0.5", "description=another"]
    path = fork(parent, at=4, settings=settings, out=tmp_path / "b.duckdb")
    assert digests(path) == digests(parent)
    assert rows(path, "SELECT count(DISTINCT tick) FROM probes WHERE tick > 4") == [(4,)]


def test_every_parameter_is_either_fixed_or_free() -> None:
    for key in flatten(small().scenario):
        free, fixed = (
            any(key == each or key.startswith(f"{each}.") for each in group)
            for group in (branching.FORKABLE, branching._FIXED)
        )
        assert free or fixed, key


def test_a_longer_horizon_lets_the_parent_live_on(parent: Path, tmp_path: Path) -> None:
    path = fork(parent, at=8, settings=["horizon=11"], out=tmp_path / "b.duckdb")
    assert digests(path)[:9] == digests(parent)
    with RunFile.open(path) as run:
        assert (run.run.last_tick, run.run.header.horizon, run.run.header.tau) == (11, 11, 2.0)
        assert run.run.header.settings == ("horizon=11", "recall.tau=2.0")
    earlier = fork(parent, at=3, settings=["horizon=11"], out=tmp_path / "c.duckdb")
    assert digests(earlier) == digests(path)
    other = fork(
        parent, at=3, settings=["horizon=11", "recall.tau=2.75"], out=tmp_path / "d.duckdb"
    )
    assert digests(other)[4:] != digests(path)[4:]


def test_a_horizon_that_leaves_nothing_to_run_is_refused(parent: Path, tmp_path: Path) -> None:
    assert "nothing is left to run" in refused(parent, tmp_path, at=8)
    assert "--set horizon=14" in refused(parent, tmp_path, "horizon=4")
    assert "has no tick 9; it holds the ticks 0 to 8" in refused(parent, tmp_path, at=9)


def test_a_setting_without_effect_is_noted(parent: Path, tmp_path: Path) -> None:
    settings = ["recall.mode=random", "recall.tau=2"]
    path = fork(parent, at=4, settings=settings, out=tmp_path / "b.duckdb")
    notes = rows(path, "SELECT tick, detail FROM rejections WHERE kind = 'setting'")
    assert notes == [(0, "recall.tau: has no effect with mode random")]


# Files


def test_the_file_of_a_fork_must_be_free(parent: Path, tmp_path: Path) -> None:
    taken = tmp_path / "b.duckdb"
    taken.write_text("mine", encoding="utf-8")
    with pytest.raises(RunFileError, match="exists"):
        fork(parent, at=4, out=taken)
    with pytest.raises(RunFileError, match="exists"):
        fork(parent, at=4, out=parent)
    assert taken.read_text("utf-8") == "mine"


def test_a_fork_without_a_name_lies_in_runs(
    parent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert fork(parent, at=7).name == "small-seed3-fork7.duckdb"
    assert str(fork(parent, at=7)) == os.path.join("runs", "small-seed3-fork7-2.duckdb")  # noqa: PTH118 - as it is printed


def test_a_parent_with_quotes_in_its_name_can_be_forked(parent: Path, tmp_path: Path) -> None:
    odd = tmp_path / "it's; --.duckdb"
    shutil.copy(parent, odd)
    assert digests(fork(odd, at=6, out=tmp_path / "b.duckdb")) == digests(parent)


def test_a_view_in_place_of_a_table_is_never_read(parent: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("tick\n1\n", encoding="utf-8")
    wrong = tmp_path / "wrong.duckdb"
    shutil.copy(parent, wrong)
    with duckdb.connect(str(wrong)) as connection:
        connection.execute("ALTER TABLE surveys RENAME TO hidden")
        connection.execute(f"CREATE VIEW surveys AS SELECT * FROM read_csv('{secret}')")
    with pytest.raises(RunFileError, match="no usable table"):
        fork(wrong, at=4, out=tmp_path / "new" / "b.duckdb")
    assert not (tmp_path / "new").exists()


def test_a_full_disk_while_history_is_copied_leaves_nothing(
    parent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise duckdb.IOException("IO Error: No space left on device")

    monkeypatch.setattr("simulation.runlog.writer.copy_history", full)
    with pytest.raises(RunFileError, match="no space is left on the disk"):
        fork(parent, at=4, out=tmp_path / "new" / "b.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_before_the_fork_has_a_file_leaves_none(
    parent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branching, "branch", lambda *_, **__: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(RunStoppedError, match="nothing was written"):
        fork(parent, at=4, out=tmp_path / "b.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_a_fork_of_another_version_needs_a_word(
    parent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branching, "engine_version", lambda: "99.1")
    assert "--any-version" in refused(parent, tmp_path)
    fork(parent, at=7, any_version=True, out=tmp_path / "b.duckdb")


def test_a_fork_can_have_other_models(parent: Path, tmp_path: Path) -> None:
    rule = Engine(small()).rule
    path = fork(parent, at=4, tiers=(rule, rule), out=tmp_path / "b.duckdb")
    assert digests(path) == digests(parent)


def test_a_fork_may_have_a_snapshot(parent: Path, tmp_path: Path) -> None:
    copy = Snapshot(path=tmp_path / "copy.duckdb", every=2)
    path = fork(parent, at=4, out=tmp_path / "b.duckdb", snapshot=copy)
    assert digests(copy.path) == digests(path)


def test_a_run_in_memory_has_no_snapshot(tmp_path: Path) -> None:
    with RunFile.open(simulate(small(), out=tmp_path / "a.duckdb")) as run:
        header = run.run.header
    with RunWriter.create(None, header) as writer, pytest.raises(ValueError, match="no file"):
        writer.snapshot(tmp_path / "copy.duckdb")


# The command line


def test_the_verb_branches_and_says_how_to_compare(
    parent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "b.duckdb"
    words = ["fork", str(parent), "--at", "4", "--set", "feed.size=2", "--out", str(out)]
    assert execute(words) == 0
    said = capsys.readouterr()
    assert "small: on from tick 4 of 8" in said.err
    assert f"compare {shlex.quote(str(parent))} {shlex.quote(str(out))}" in said.out
    assert execute(words) == 2
    assert "exists" in capsys.readouterr().err
    assert execute([*words[:-1], str(tmp_path / "c.duckdb"), "--quiet"]) == 0
    assert capsys.readouterr() == (f"{tmp_path / 'c.duckdb'}\n", "")
    snapshot = ["--snapshot", str(tmp_path / "copy.duckdb"), "--snapshot-every", "2"]
    assert execute([*words[:-1], str(tmp_path / "d.duckdb"), "--json", *snapshot]) == 0
    assert '"last_tick": 8' in capsys.readouterr().out
    assert (tmp_path / "copy.duckdb").exists()


def test_a_fork_without_a_tick_is_refused(
    parent: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["fork", str(parent)]) == 2
    assert "--at" in capsys.readouterr().err


# The rules by themselves


def scenario(**changes: Any) -> Scenario:
    return load_text(yaml.safe_dump(SMALL | changes, sort_keys=False)).scenario


def test_an_event_that_appears_once_is_not_one_that_appears_at_one_of_some_ticks() -> None:
    once = [{"id": "a", "tick": 2, "text": "Hm."}]
    listed = [{"id": "a", "tick": [2], "text": "Hm."}]
    assert branching.past(scenario(stimuli=once), 2) != branching.past(scenario(stimuli=listed), 2)
    assert branching.past(scenario(stimuli=once), 1) == branching.past(scenario(stimuli=[]), 1)


def test_tau_is_kept_only_when_it_would_change_by_itself() -> None:
    short, long = scenario(), scenario(horizon=40)
    assert branching.kept_tau(short, short) == ()
    assert branching.kept_tau(short, long) == ("recall.tau=2.0",)
    assert branching.kept_tau(short, scenario(horizon=40, recall={"tau": 3.0})) == ()
    assert branching.kept_tau(scenario(recall={"tau": 2.5}), long) == ("recall.tau=2.5",)


def test_the_page_names_all_that_a_fork_may_have_anew() -> None:
    page = (Path(__file__).resolve().parents[1] / "docs" / "resume.md").read_text("utf-8")
    free, fixed = next(line for line in page.splitlines() if "`feed.*`" in line).split("|")[1:3]
    for key in branching.FORKABLE:
        if not key.startswith("encoder."):  # where it lies, not which it is
            assert f"`{key}" in free, key
    for key in branching._FIXED:
        assert f"`{key.split('_min')[0].split('_spread')[0]}" in fixed, key


def test_the_python_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).resolve().parents[1]
    page = (root / "docs" / "resume.md").read_text("utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(code.replace("scenarios/", f"{root}/scenarios/"), {})  # noqa: S102 - our own page
    assert "set anew: rule.influence: 0.15 -> 0.3" in capsys.readouterr().out
