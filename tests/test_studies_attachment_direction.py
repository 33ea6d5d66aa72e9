"""The study `attachment-direction`: cues, sampling, claims, crossed labels and redirections."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simulation.mind.traits import ATTACHMENT_PROFILES
from simulation.scenario.persmem import Switches
from simulation.studies import attachment_direction, corpus, recalling
from simulation.studies.attachment_direction import (
    protocol,
    recall,
    redirections,
    report,
    specificity,
)
from simulation.studies.attachment_direction.claims import Difference, Flips
from simulation.studies.attachment_direction.directions import Directions, Size, measure
from simulation.studies.attachment_direction.recall import VECTORS, Measures
from simulation.studies.attachment_direction.redirections import Redirected
from simulation.studies.attachment_direction.sampling import Setting, rate
from simulation.studies.attachment_direction.specificity import Crossed
from simulation.studies.intervals import Interval

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.studies.recalling import Bank

SMALL = Size(seeds=(0, 1), draws=4, runs=3, flips=99, others=0)


@pytest.fixture(scope="module")
def bank() -> Bank:
    return recalling.bank(corpus.read("development"))


@pytest.fixture(scope="module")
def small(bank: Bank) -> Directions:
    return measure(bank, "paper", SMALL)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("direction") / "found"
    return folder, attachment_direction.run(folder, quick=True)


def _setting(bank: Bank) -> Setting:
    return Setting(bank=bank, vectors=VECTORS, seeds=SMALL.seeds, draws=SMALL.draws)


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_cues_are_those_of_the_corpora_and_one_a_mood_and_topic() -> None:
    memories = corpus.read(protocol.STORE)
    texts, moods = protocol.cues(memories)
    assert len(texts) == len(set(texts)) == len(moods) == 92
    assert {mood: moods.count(mood) for mood in protocol.MOODS} == {
        "negative": 20,
        "neutral": 52,
        "positive": 20,
    }
    assert texts[:12] == corpus.cues("development")
    assert not set(texts) & set(memories.texts)


def test_the_protocol_is_the_seeds() -> None:
    assert protocol.STATES["distress"] == (-0.6, 0.75, 0.3)
    assert protocol.LEVELS == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert (protocol.HELD, protocol.NEGATIVE, protocol.DRAWS) == (0.15, -0.2, 60)
    assert len(protocol.GOALS) == 4
    assert len(protocol.POSITIVE_PROBES) == len(protocol.NEUTRAL_PROBES) == 8
    assert len(protocol.SEEDS) >= 5


def test_goals_and_neutral_probes_are_without_a_mood() -> None:
    loaded = ("happy", "joy", "painful", "sad", "pleasant", "good", "bad", "wonderful", "cheerful")
    for text in (*protocol.GOALS, *protocol.NEUTRAL_PROBES):
        assert not any(word in text.lower() for word in loaded)
    for text in protocol.POSITIVE_PROBES:
        assert any(word in text.lower() for word in loaded)


def test_a_draw_does_not_depend_on_who_else_draws_or_on_how_many_follow(bank: Bank) -> None:
    cues = protocol.cues(bank.corpus)[0][:5]
    state = protocol.STATES["neutral"]
    everyone = _setting(bank).sampled(cues, state)
    assert everyone.shape == (2, 4, 5, 4)
    anxious = replace(_setting(bank), vectors=VECTORS[1:2], draws=2).sampled(cues, state)
    np.testing.assert_array_equal(anxious[:, 0], everyone[:, 1, :, :2])
    alone = _setting(bank).sampled(cues[2:3], state)
    np.testing.assert_array_equal(alone[:, :, 0], everyone[:, :, 2])


def test_draws_of_equal_personalities_are_paired(bank: Bank) -> None:
    twins = replace(_setting(bank), vectors=np.array([[0.3, 0.3], [0.3, 0.3]]))
    found = twins.sampled(protocol.NEUTRAL_PROBES, protocol.STATES["neutral"])
    np.testing.assert_array_equal(found[:, 0], found[:, 1])


def test_measures_are_of_the_labels() -> None:
    memories = corpus.read("calibration")
    sampled = np.arange(24).reshape(1, 2, 3, 4)
    found = Measures.of(memories, sampled)
    np.testing.assert_allclose(found.valence[0, 0, 1], memories.affect[4:8, 0].mean())
    np.testing.assert_allclose(found.dominance[0, 1, 0], memories.affect[12:16, 2].mean())
    np.testing.assert_allclose(found.negative[0, 0, 0], (memories.affect[:4, 0] < -0.2).mean())
    np.testing.assert_allclose(found.overgeneral[0, 1, 2], memories.overgeneral[20:24].mean())
    np.testing.assert_allclose(found.first[0, 0, 2], memories.affect[8, 0])
    np.testing.assert_allclose(rate(np.ones(len(memories)), sampled), 1.0)


def test_bias_is_of_the_three_best_scores(bank: Bank) -> None:
    setting, state = _setting(bank), protocol.STATES["neutral"]
    asked = setting.asked(protocol.NEUTRAL_PROBES, state)
    score = setting.minds(0).scores(asked)
    best = sorted(range(score.shape[1]), key=lambda k: -score[9, k])[:3]
    bad = [max(-bank.corpus.affect[k, 0], 0.0) for k in best]
    np.testing.assert_allclose(
        setting.bias(protocol.NEUTRAL_PROBES, state)[1, 1], sum(bad) / 3, atol=1e-12
    )


def test_sweeps_move_one_trait_and_hold_the_other() -> None:
    np.testing.assert_array_equal(recall.sweep_vectors(0)[:, 0], protocol.LEVELS)
    np.testing.assert_array_equal(recall.sweep_vectors(0)[:, 1], 0.15)
    np.testing.assert_array_equal(recall.sweep_vectors(1)[:, 0], 0.15)


def test_a_difference_holds_only_for_sure_and_with_the_right_sign() -> None:
    flips = Flips(40, draws=999)
    far = flips.difference(np.full((2, 40), 0.3), purpose="far")
    assert far.claim("E.5", "x").holds
    assert not far.claim("E.5", "x", sign=-1).holds
    assert far.p == pytest.approx(1e-3)
    even = flips.difference(np.tile([0.3, -0.3], (2, 20)), purpose="even")
    assert not even.claim("E.5", "x").holds
    assert not even.claim("E.5", "x", sign=-1).holds
    assert 0.3 < even.p < 0.8
    below = flips.difference(np.full((2, 40), -0.3), purpose="below", sign=-1)
    assert below.claim("E.5", "x", sign=-1).holds
    assert below.p == pytest.approx(1e-3)
    assert flips.difference(np.full((2, 40), -0.3), purpose="wrong").p == pytest.approx(1.0)


def test_a_difference_of_nothing_is_no_evidence() -> None:
    nothing = Flips(10, draws=99).difference(np.zeros((2, 10)), purpose="nothing")
    assert nothing.p == 1.0
    assert not nothing.claim("E.5", "x").holds


def test_sign_flips_count_patterns_that_reach_the_same_mean() -> None:
    found = Flips(3, draws=20_000).difference(np.array([[0.1, 0.2, 0.4]]), purpose="exact")
    assert found.p == pytest.approx(1 / 8, abs=0.01)


def test_claims_say_value_interval_and_seeds() -> None:
    one = Difference(mean=Interval(value=0.1, low=0.05, high=0.2), seeds=(0.08, 0.12), p=1e-5)
    claim = one.claim("E.6", "x", theirs="+.0422")
    assert claim.found == "0.100 [0.050, 0.200]; seeds 0.080 to 0.120; p = 1e-05"
    assert (claim.target, claim.theirs) == ("above 0", "+.0422")


def test_points_are_judged_as_points() -> None:
    first = np.array([0.1, -0.5, 0.2, -0.4])[None, :, None] * np.ones((1, 4, 3))
    measured = Measures(
        valence=first, dominance=first, negative=first, overgeneral=first, first=first
    )
    least, most, congruence = recall._as_the_source("calm", measured, ("negative", "neutral", "x"))
    assert (least.holds, most.holds, congruence.holds) == (True, True, None)
    assert congruence.found == "secure 0.000, anxious 1.000, avoidant 0.000, fearful 1.000"
    turned = replace(measured, first=-first)
    least, most, _ = recall._as_the_source("calm", turned, ("negative", "neutral", "x"))
    assert (least.holds, most.holds) == (False, False)


def test_profiles_are_held_against_the_nearest_other() -> None:
    cues = np.array([0.0, 0.01, -0.01, 0.02])
    valence = np.array([0.1, -0.5, 0.2, -0.6])[None, :, None] + cues
    measured = Measures(
        valence=valence, dominance=valence, negative=valence, overgeneral=valence, first=valence
    )
    least, most = recall._valence("calm", measured, Flips(4, draws=99))
    assert least.holds
    assert least.found.startswith("avoidant less secure: 0.100")
    assert not most.holds
    assert most.found.startswith("anxious less fearful: 0.100")


def test_the_first_reader_retrieves_and_the_second_counts(bank: Bank) -> None:
    cues = protocol.cues(bank.corpus)[0][:6]
    crossed = Crossed.of(_setting(bank), cues)
    second = corpus.second(bank.corpus).overgeneral
    np.testing.assert_array_equal(crossed.second, second)
    state = protocol.STATES["distress"]
    off = replace(_setting(bank), switches=Switches(S=False)).sampled(cues, state)
    np.testing.assert_array_equal(crossed.off["distress"], off)
    expected = second[crossed.on["distress"][:, 3]].mean(-1) - second[off[:, 3]].mean(-1)
    np.testing.assert_allclose(crossed.term("fearful", "distress"), expected)
    np.testing.assert_allclose(crossed.term("fearful", "distress", ~second), -expected, atol=1e-12)
    assert (crossed.above_secure("secure") == 0.0).all()


def test_a_share_of_labels_is_turned_round_and_more_leaves_those_turned() -> None:
    memories = corpus.read("development")
    labels = memories.overgeneral
    turned = [specificity.mistaken(labels, memories.ids, share) for share in protocol.MISTAKES]
    assert [int((one != labels).sum()) for one in turned] == [0, 5, 9, 18]
    assert ((turned[1] != labels) <= (turned[2] != labels)).all()


def test_redirections_count_what_took_over(bank: Bank) -> None:
    active = VECTORS[[0, 1, 2]]
    setting = replace(_setting(bank), vectors=active)
    state = protocol.STATES["neutral"]
    found = redirections.redirect(setting, 3, state)
    assert found.count.shape == found.bad.shape == (2, 3, 12)
    assert (found.bad <= found.count).all()
    goals = [goal for goal in protocol.GOALS for _ in range(3)]
    streams = [f"{goal}:{run}" for goal in protocol.GOALS for run in range(3)]
    asked = recalling.ask(bank, personas=[1] * 12, cues=goals, streams=streams, state=state)
    _, decided = setting.minds(1).retrieve(asked)
    fired = np.bincount(decided.turn[decided.fired], minlength=12)
    np.testing.assert_array_equal(found.count[1, 1], fired)


def test_shares_are_pooled_by_memory_and_by_run() -> None:
    count = np.array([[[4.0, 1.0, 0.0], [2.0, 2.0, 2.0], [1.0, 1.0, 0.0]]])
    bad = np.array([[[0.0, 1.0, 0.0], [2.0, 1.0, 2.0], [0.0, 0.0, 0.0]]])
    found = Redirected(count=count, bad=bad)
    np.testing.assert_allclose(found.pooled, [[0.2, 5 / 6, 0.0]])
    np.testing.assert_array_equal(found.totals, [[5, 6, 2]])
    np.testing.assert_allclose(found.share("secure"), [[0.0, 1.0, np.nan]])
    apart = found.difference("anxious", "secure")
    assert apart is not None
    assert apart.value == pytest.approx((1.0 - 0.5) / 2)
    pooled, counts, *by_run, distressed = redirections.claims(
        {"neutral": found, "distress": found}
    )
    assert (pooled.holds, counts.holds, distressed.holds) == (True, False, None)
    assert len(by_run) == 3


def test_no_run_with_a_redirection_holds_nothing() -> None:
    nothing = Redirected(count=np.zeros((1, 3, 2)), bad=np.zeros((1, 3, 2)))
    assert nothing.difference("anxious", "secure") is None
    found = list(redirections.claims({"neutral": nothing, "distress": nothing}))
    assert found[2].found == "no run"
    assert not any(claim.holds for claim in found)


def test_claims_are_the_same_ones_whatever_the_memories_and_gains(small: Directions) -> None:
    other = measure(recalling.bank(corpus.read("calibration")), "reference", SMALL)
    assert [(one.part, one.text) for one in small.claims] == [
        (one.part, one.text) for one in other.claims
    ]
    assert {one.part for one in small.claims} == {"E.5", "E.6", "E.7"}
    ((name, held, judged),) = report.summary({"calibration, reference": other})
    assert name == "calibration, reference"
    assert 0 < held <= judged < len(other.claims)


def test_the_great_directions_hold_even_in_a_few_draws(small: Directions) -> None:
    held = {one.text for one in small.claims if one.holds}
    assert "recalled valence along anxiety, neutral, 1 less 0" in held
    assert "overgeneral recall along avoidance, neutral, 1 less 0" in held
    assert "overgeneral recall, term on less off, fearful, distress" in held
    assert "number of redirections, a seed" in held


def test_a_study_comes_out_the_same_again(bank: Bank, small: Directions) -> None:
    again = measure(bank, "paper", SMALL)
    assert again.claims == small.claims
    assert report.tables(again, {}, bank) == report.tables(small, {}, bank)
    assert report.records(again, {}, SMALL) == report.records(small, {}, SMALL)


def test_a_short_form_writes_all_tables_pictures_and_a_manifest(short: tuple[Path, str]) -> None:
    folder, told = short
    assert "E.6 overgeneral recall, term on less off, fearful, neutral" in told
    tables = ["verdicts", "profiles", "sweeps", "probes", "specificity", "mistakes"]
    tables += ["redirections", "settings", "cues", "claims", "rates", "runs"]
    pictures = ("sweep_anxiety", "sweep_avoidance", "redirected", "specificity")
    names = {path.name for path in folder.iterdir()}
    assert names == {
        *(f"{name}.csv" for name in tables),
        *(f"{name}.svg" for name in pictures),
        "report.md",
        "manifest.json",
    }
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["configuration"]["cues"] == 92
    assert manifest["seeds"] == list(protocol.QUICK_SEEDS)


def test_tables_follow_from_the_long_records(short: tuple[Path, str]) -> None:
    folder, _ = short
    rates = _rows(folder, "rates")
    assert len(rates) == 2 * len(protocol.QUICK_SEEDS) * len(ATTACHMENT_PROFILES) * 92
    rows = [r for r in rates if (r["state"], r["profile"]) == ("distress", "fearful")]
    term = np.mean([float(row["term_on_less_off"]) for row in rows])
    (shown,) = [
        row
        for row in _rows(folder, "specificity")
        if row["difference"] == "term on less off, fearful, distress"
    ]
    assert float(shown["found"]) == pytest.approx(term)
    calm = ("neutral", "secure")
    runs = [row for row in _rows(folder, "runs") if (row["state"], row["profile"]) == calm]
    total = sum(int(row["redirections"]) for row in runs) / len(protocol.QUICK_SEEDS)
    (shown,) = [
        row for row in _rows(folder, "redirections") if (row["state"], row["profile"]) == calm
    ]
    assert round(float(shown["redirections a seed"].split()[0])) == round(total)
