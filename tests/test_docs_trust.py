"""The page on trust is true: its queries, its commands, its citation, the bytes of a digest."""

from __future__ import annotations

import hashlib
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml
from model_runs import described, digests, loaded, one, ran, rows
from model_server import good, model, told
from small import small
from worlds import running

from simulation import Run, simulate
from simulation.cli.app import execute
from simulation.rebuilding import rebuild
from simulation.runs import fork

if TYPE_CHECKING:
    from model_server import Asked, Model
    from provider_server import Step

    from simulation.world import World

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = (DOCS / "trust.md").read_text("utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
CITATION = PAGE.partition("<!-- citation -->")[2].partition("```sql\n")[2].partition("```")[0]
COMMANDS = re.findall(r"^simulation (.*)$", PAGE, re.MULTILINE)


@pytest.fixture(name="parent", scope="module")
def by_rule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(small(), out=tmp_path_factory.mktemp("trust") / "a.duckdb")


@pytest.mark.parametrize("sql", QUERIES)
def test_every_query_has_an_answer(sql: str, parent: Path) -> None:
    assert rows(parent, sql)


def test_the_citation_names_what_is_needed_to_check_a_run(parent: Path, tmp_path: Path) -> None:
    text = one(parent, "SELECT scenario_yaml FROM run")
    said = one(parent, CITATION)
    with Run.open(parent) as run:
        head = run.run.header
    for part in (
        "small, seed 3, 8 of 8 ticks",
        f"simulation {head.engine_version}",
        "models rule and rule, encoder static",
        f"scenario sha256 {hashlib.sha256(text.encode()).hexdigest()}",
        f"state digest {digests(parent)[-1]}",
        f"run {head.run_id}",
    ):
        assert part in said
    assert "fork" not in said
    other = fork(parent, at=2, settings=["rule.influence=0.3"], out=tmp_path / "b.duckdb")
    assert f"set rule.influence=0.3, forked at tick 2 from run {head.run_id}" in one(
        other, CITATION
    )


def test_the_commands_of_the_page_do_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    replay, resumption = (shlex.split(line) for line in COMMANDS)
    assert (replay[:3], replay[3]) == (["run", "study.yaml", "--replay"], resumption[1])
    with model() as served:
        study = described(served, "openai", seed=7, budget={"usd": 0.01}) | {"name": "study"}
        text = yaml.safe_dump(study, sort_keys=False)
        Path("study.yaml").write_text(text, "utf-8")
        assert execute(["run", "study.yaml", "--quiet"]) == 1
        assert "--set budget.usd=0.02" in capsys.readouterr().err  # twice the old one
        assert execute(resumption) == 0
    capsys.readouterr()
    assert execute(replay) == 0
    said = capsys.readouterr().out
    again = next(Path("runs").glob("*-2.duckdb"))
    assert digests(again) == digests(Path(resumption[1]))
    assert re.search(r"\d+ calls an earlier run had answered and paid \(0\.0\d+ USD\)", said)
    assert "replayed, and not paid again" in " ".join(said.split())
    assert one(again, "SELECT count(*) FROM turns WHERE source = 'replay'") > 0
    assert one(again, "SELECT count(*) FROM model_calls WHERE attempts > 0") == 0
    assert f"state digest {digests(again)[-1]}" in one(again, CITATION)


# The digest


def documented(world: World, journal: bytes) -> str:
    """Return the digest as docs/run-database.md lists its bytes, item by item."""
    held = [[(i, k) for k in range(count)] for i, count in enumerate(world.memory.count.tolist())]
    slots = [slot for persona in held for slot in persona]

    def whole(*values: Any) -> bytes:
        return b"".join(np.asarray(each).astype("<i8").tobytes() for each in values)

    def real(*values: Any) -> bytes:
        return b"".join(np.asarray(each).astype("<f8").tobytes() for each in values)

    def of(name: str) -> list[Any]:
        return [getattr(world.memory, name)[slot] for slot in slots]

    parts = [
        b"simulation state 1\n" + whole([world.tick]),
        hashlib.sha256("\n".join(world.cast.ids).encode()).digest(),
        real(world.beliefs),
        whole(
            world.heard,
            world.turns,
            world.since_reflection,
            world.last_turn,
            world.last_reflection,
            world.decided,
        ),
        real(world.reflected),
        whole(world.memory.count, of("memory_id"), of("tick"), of("kind"), of("claim")),
        real(of("importance"), of("stance")),
        *(hashlib.sha256(world.texts[int(t)].encode()).digest()[:8] for t in of("text")),
        whole(world.network.source, world.network.target, world.network.created),
        real(world.network.weight),
        journal,
    ]
    if world.disposition is not None:
        parts += [real(world.state), real(of("valence"), of("arousal"), of("dominance"))]
        parts += [whole(of("overgeneral"))]
    if world.failing.any() or world.quarantined.any():
        parts += [whole(world.failing, world.quarantined)]
    if world.regards is not None:
        units = world.regards.store
        keys = [
            (int(key), int(unit))
            for key, unit in zip(*units.keys, strict=True)
            if int(unit) in units.unit_id
        ]
        sides = [
            units.persona[units.unit_id == unit][0] * 2**35
            + units.object[units.unit_id == unit][0] * 2**8
            + key % 2**8
            for key, unit in keys
        ]
        parts += [
            whole([len(units.unit_id), units.next_id]),
            whole(units.unit_id, units.persona, units.object, units.aspect),
            whole(units.observations, units.created, units.updated),
            real(units.confidence, units.weight),
            *(hashlib.sha256(world.texts[int(t)].encode()).digest()[:8] for t in units.summary),
            whole(sides, [unit for _, unit in keys]),
            evidence(world),
        ]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def evidence(world: World) -> bytes:
    """Return the journal of evidence as the page lists its bytes."""
    assert world.regards is not None
    said, journal = world.regards.said.pieces, b"\0" * 32
    tick = world.posts.integers("tick")[said.owner]
    for now in range(1, world.tick + 1):
        at = np.flatnonzero(tick == now)
        state = hashlib.sha256(journal)
        for whole in (said.owner, said.object, said.aspect):
            state.update(whole[at].astype("<i8").tobytes())
        for real in (said.polarity, said.strength):
            state.update(real[at].astype("<f8").tobytes())
        journal = state.digest()
    return journal


def lost(asked: Asked, _: Model) -> list[Step]:
    return told(asked, "I am lost.") if 'id="p0003"' in asked.text else good(asked)


PEOPLE = {"kind": "attachment", "shares": {"anxious": 1}}
ATTACHMENT = {"population": {"size": 6, "personality": PEOPLE}}


@pytest.mark.parametrize("changes", [{}, ATTACHMENT], ids=["plain", "personality"])
def test_a_digest_is_made_of_the_documented_bytes(changes: dict[str, Any]) -> None:
    for engine, writer in running(small(horizon=5, **changes)):
        world = rebuild(writer.reader())
        assert documented(world, world.journal) == engine.records.state_digest


def test_failures_in_a_row_and_quarantine_are_part_of_a_digest_while_there_are_some() -> None:
    with model(lost) as served:
        given = loaded(served, "openai", calls={"quarantine_after": 2})
        for engine, writer in running(given):
            world = rebuild(writer.reader())
            assert documented(world, world.journal) == engine.records.state_digest
        engine.close()
    assert engine.world.quarantined.any()


def test_who_answered_and_what_it_cost_is_no_part_of_a_digest(tmp_path: Path) -> None:
    with model() as served:
        path = ran(served, "openai", tmp_path / "a.duckdb")
    given = loaded("http://127.0.0.1:9/v1", "openai")
    again = simulate(given, out=tmp_path / "b.duckdb", replay=path)
    assert digests(again) == digests(path)
    assert rows(again, "SELECT DISTINCT source FROM turns") == [("replay",)]
