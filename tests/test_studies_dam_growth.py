"""The study dam: how memories grow, what they hold, and what is found in them."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from simulation.attitudes import AttitudeMemory, Change
from simulation.encoders import EncoderSpec, load
from simulation.studies.dam import growth, hearing
from simulation.studies.dam.dialogues import dialogues
from simulation.units import summary

ENCODER = load(EncoderSpec(name="static"))
SHORT = growth.stream_of(dialogues(0, count=60))
GROWN = growth.grow(SHORT, ENCODER)


def test_a_memory_grows_less_than_one_without_updates_and_holds_every_observation() -> None:
    assert GROWN.facts[-1] == 300
    assert GROWN.compression > 0.5
    assert len(GROWN.held) == 300
    assert set(GROWN.held[GROWN.held >= 0].tolist()) <= set(GROWN.memory.store.unit_id.tolist())
    assert int(GROWN.memory.store.observations.sum()) == int((GROWN.held >= 0).sum())
    assert GROWN.units[-1] == len(GROWN.memory)
    assert GROWN.count("evidence") == 300
    assert GROWN.entropy[-1] == pytest.approx(GROWN.memory.store.entropy())


def test_what_was_said_is_found_as_well_as_without_updates() -> None:
    found = growth.recalls(SHORT, GROWN, ENCODER)
    assert [str(one.way) for one in found] == [str(way) for way in growth.WAYS]
    for one in found[:2]:
        assert one.questions == 60
        assert one.ours >= one.any_fact - 0.02
        assert one.any_fact >= one.that_fact


def test_without_updates_there_is_a_unit_per_observation() -> None:
    facts = growth.facts_of(SHORT, ENCODER)
    assert len(facts) == 300
    assert facts.store.observations.tolist() == [1] * 300


class Plain:
    """Units as a plain program without arrays has them (method.md 10)."""

    def __init__(self) -> None:
        self.texts = AttitudeMemory(encoder=ENCODER).texts
        self.live: dict[int, dict[str, Any]] = {}
        self.known: dict[str, list[str]] = {}
        self.count = 0

    def learn(self, clock: int, piece: Any) -> None:
        sides = self.known.setdefault(piece.object, [])
        sides += [piece.aspect] if piece.aspect not in sides else []
        for held in self.live.values():
            if held["object"] == piece.object and piece.aspect in held["aspects"]:
                w, s = held["w"], piece.strength
                both = zip(held["c"], piece.polarity, strict=True)
                held["c"] = [(c * w + s * p) / (w + s) for c, p in both]
                held |= {"w": min(w + s, 12.0), "last": clock, "n": held["n"] + 1}
                return
        held = {"object": piece.object, "aspects": {piece.aspect}, "n": 1, "last": clock}
        self.live[self.count] = held | {"c": list(piece.polarity), "w": piece.strength}
        self.count += 1

    def merge(self) -> None:
        while True:
            best, kept, gone = -1.0, -1, -1
            for a, b in combinations(sorted(self.live), 2):
                if self.live[a]["object"] == self.live[b]["object"]:
                    drop = self.drop(self.live[a], self.live[b])
                    best, kept, gone = (drop, a, b) if drop > best else (best, kept, gone)
            if best < 0:
                return
            if self.live[gone]["w"] > self.live[kept]["w"]:
                kept, gone = gone, kept
            one, other = self.live[kept], self.live.pop(gone)
            one |= {"c": joined(one, other), "w": min(one["w"] + other["w"], 12.0)}
            one |= {"aspects": one["aspects"] | other["aspects"], "n": one["n"] + other["n"]}
            one["last"] = max(one["last"], other["last"])

    def drop(self, one: dict[str, Any], other: dict[str, Any]) -> float:
        first, second, both = bits(one["c"]), bits(other["c"]), bits(joined(one, other))
        ids = [np.array([self.told(held)]) for held in (one, other)]
        near = self.texts.cosine(*ids)[0] >= 0.8
        alike = one["c"].index(max(one["c"])) == other["c"].index(max(other["c"]))
        return first + second - both if near and alike and both <= max(first, second) else -1.0

    def told(self, held: dict[str, Any]) -> int:
        c = held["c"]
        aspects = [a for a in self.known[held["object"]] if a in held["aspects"]]
        words = summary(held["object"], aspects, (c[0] - c[1]) / sum(c), bits(c))
        return int(self.texts.intern([words])[0])

    def forget(self, clock: int) -> None:
        self.live = {
            n: held
            for n, held in self.live.items()
            if bits(held["c"]) < 1.4 or held["w"] > 0.75 or clock - held["last"] < 5
        }


def bits(c: list[float]) -> float:
    return -sum(x / sum(c) * math.log2(x / sum(c)) for x in c if x > 0)


def joined(one: dict[str, Any], other: dict[str, Any]) -> list[float]:
    w, v = one["w"], other["w"]
    return [(x * w + y * v) / (w + v) for x, y in zip(one["c"], other["c"], strict=True)]


def test_a_plain_program_settles_the_same_units() -> None:
    plain = Plain()
    for clock, piece in enumerate(SHORT.evidence, 1):
        plain.learn(clock, piece)
        if clock == len(SHORT.turn) or SHORT.turn[clock] != SHORT.turn[clock - 1]:
            plain.merge()
            plain.forget(clock)
    found = {one.unit_id: one for one in GROWN.memory.units()}
    assert list(found) == sorted(plain.live)
    for n, held in plain.live.items():
        one = found[n]
        assert (one.object, set(one.aspects)) == (held["object"], held["aspects"])
        assert (one.observations, one.updated) == (held["n"], held["last"])
        assert one.confidence == pytest.approx(held["c"], abs=1e-9)
        assert one.weight == pytest.approx(held["w"], abs=1e-9)
    assert GROWN.count("merge") > 10


def change(kind: str, unit_id: int, other: int | None = None) -> Change:
    return Change(
        kind=kind,  # type: ignore[arg-type] # a test's literal
        clock=0,
        unit_id=unit_id,
        confidence=(1.0, 0.0, 0.0),
        weight=1.0,
        entropy=0.0,
        other=other,
    )


def test_an_observation_is_held_by_what_its_unit_merged_into_and_by_none_if_that_was_deleted() -> (
    None
):
    ended = [change("merge", 1, 0), change("merge", 2, 1), change("delete", 3)]
    assert growth._held([0, 1, 2, 3, 4], ended).tolist() == [2, 2, 2, -1, 4]


def test_late_growth_is_that_of_the_last_two_fifths() -> None:
    units = np.array([1, 2, 3, 4, 5, 10, 10, 10, 11, 12])
    some = growth.Growth(
        units=units,
        facts=2 * units,
        entropy=np.zeros(10),
        changes=(),
        held=np.zeros(0, np.int64),
        memory=AttitudeMemory(encoder=ENCODER),
    )
    assert some.late == pytest.approx(0.2)
    assert some.compression == 0.5


def test_sentences_are_heard_by_rule_and_questions_answered() -> None:
    found = hearing.hear(dialogues(0, count=12), ENCODER)
    assert (found.sentences, found.questions) == (60, 12)
    assert found.found > 0.5
    assert found.leaning > 0.5
    assert found.answered > 0.7
    assert 0 < found.units < 60
