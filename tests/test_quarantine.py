"""A persona whose turns keep failing is left to the rule model, and only such a one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from small import small

from simulation import simulate
from simulation.engine import Engine
from simulation.models.base import SOURCES
from simulation.runlog import RunFile
from simulation.society import Society

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pytest

    from simulation.records import TickRecords

IGNORE = json.dumps({"action": "ignore", "words": "I wait.", "changes": {}})
MEMORY = json.dumps({"beliefs": {}, "memories": ["I looked back."]})


class Mute:
    """A backend that has nothing to say for some personas, from one tick to another."""

    name = "mute"

    def __init__(self, mute: Callable[[str, int], bool]) -> None:
        self._mute = mute
        self.asked: list[tuple[str, int, bool]] = []

    def complete(self, prompts: Sequence[str], *, schemas: Sequence[dict[str, Any]]) -> list[str]:
        return [self._answer(*each) for each in zip(prompts, schemas, strict=True)]

    def _answer(self, prompt: str, schema: dict[str, Any]) -> str:
        who = re.findall(r'<persona id="(\w+)">', prompt)[0]
        tick = int(re.findall(r"# Now: tick (\d+)", prompt)[0]) if "# Now" in prompt else 0
        turn = "action" in schema["properties"]
        self.asked.append((who, tick, turn))
        if turn:
            return "" if self._mute(who, tick) else IGNORE
        return MEMORY if "memories" in schema["properties"] else '{"answer": "yes"}'


def society(mute: Callable[[str, int], bool], *settings: str) -> tuple[Society, Mute]:
    backend = Mute(mute)
    everyone = ("population.activity=1.0", "probes.share=1.0", "probes.every=2", *settings)
    return Society(small(settings=everyone), backend=backend), backend


def column(records: TickRecords, table: str, name: str) -> Any:
    rows = records.of(table)
    assert rows is not None
    return rows.columns()[name]


def test_after_three_failed_turns_in_a_row_nobody_is_asked_for_a_persona() -> None:
    people, backend = society(lambda who, _: who == "p0001")
    world = people.world
    for tick in range(1, 9):
        people.step()
        assert world.failing[1] == min(tick, 3)
        assert world.quarantined[1] == (0 if tick < 3 else 3)
    assert {tick for who, tick, _ in backend.asked if who == "p0001"} <= {0, 1, 2, 3}
    assert {tick for who, tick, turn in backend.asked if who == "p0002" and turn} == set(
        range(1, 9)
    )
    assert np.flatnonzero(world.quarantined).tolist() == [1]
    assert np.flatnonzero(world.failing).tolist() == [1]


def test_a_turn_that_works_in_between_starts_the_count_anew() -> None:
    people, _ = society(lambda who, tick: who == "p0001" and tick % 3 != 0)
    for _ in range(8):
        people.step()
    assert not people.world.quarantined.any()
    assert people.world.failing[1] == 2


def test_null_means_that_nobody_goes_into_quarantine() -> None:
    people, _ = society(lambda who, _: who == "p0001", "calls.quarantine_after=null")
    for _ in range(8):
        people.step()
    assert not people.world.quarantined.any()
    assert people.world.failing[1] == 8


def test_turns_reflections_and_probes_in_quarantine_say_so() -> None:
    people, _ = society(lambda who, _: who == "p0001", "calls.quarantine_after=1")
    reflected, probed = [], []
    for tick in range(1, 9):
        people.step()
        records = people.records
        if tick == 1:
            continue
        source = column(records, "turns", "source")
        who = column(records, "turns", "persona_id")
        assert [SOURCES[c] for c in source.codes[who.codes == 1]] == ["fallback"]
        assert column(records, "turns", "error")[1] == (
            "in quarantine since tick 1: nobody was asked"
        )
        if records.of("reflections") is not None:
            who = column(records, "reflections", "persona_id").codes.tolist()
            errors = column(records, "reflections", "error")
            reflected += [error for row, error in zip(who, errors, strict=True) if row == 1]
        if records.of("probes") is not None:
            who = column(records, "probes", "persona_id").codes.tolist()
            answers = column(records, "probes", "answer")
            probed += [said for row, said in zip(who, answers, strict=True) if row == 1]
            others = [said for row, said in zip(who, answers, strict=True) if row != 1]
            assert set(others) == {"yes"}
    assert set(reflected) == {"in quarantine since tick 1: nobody was asked"}
    assert probed
    assert set(probed) == {None}


def test_everybody_in_quarantine_asks_nobody() -> None:
    people, backend = society(lambda *_: True, "calls.quarantine_after=1")
    people.step()
    before = len(backend.asked)
    for _ in range(7):
        people.step()
    assert len(backend.asked) == before


def test_failures_are_a_part_of_the_state_and_their_absence_is_none() -> None:
    silent, _ = society(lambda who, tick: who == "p0001" and tick == 1)
    fine, _ = society(lambda *_: False)
    silent.step()
    fine.step()
    before = silent.world.digest()
    silent.world.failing[1] = 2
    assert silent.world.digest() != before
    calm = fine.world.digest()
    fine.world.quarantined[0] = 1
    assert fine.world.digest() != calm
    fine.world.quarantined[0] = 0
    assert fine.world.digest() == calm


def test_the_file_says_who_is_in_quarantine_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Muted(Engine):
        def __init__(self, loaded: Any, seed: int | None = None, **_: Any) -> None:
            super().__init__(
                loaded, seed, backend=Mute(lambda who, tick: who == "p0001" and tick > 1)
            )

    monkeypatch.setattr("simulation.runs.Engine", Muted)
    path = simulate(small(settings=["population.activity=1.0"]), out=tmp_path / "a.duckdb")
    with RunFile.open(path) as run:
        found = run.query("SELECT persona_id, quarantined_tick FROM personas ORDER BY 1").rows
        assert [row for row in found if row[1] is not None] == [("p0001", 4)]
        assert len(found) > 1
        why = "SELECT tick, persona_id, purpose, detail FROM rejections WHERE kind = 'quarantine'"
        told = "3 turns in a row failed; from here on the rule model acts for it"
        assert run.query(why).rows == [(4, "p0001", "turn", told)]
        failed = "SELECT tick, fallback FROM failures WHERE purpose = 'turn' ORDER BY tick"
        assert run.query(failed).rows == [(1, 0), *((tick, 1) for tick in range(2, 9))]
