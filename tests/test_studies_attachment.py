"""The studies attachment and attachment-factorial, piece by piece and in their short form."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.scenario.persmem import Gate, PersMem
from simulation.studies.attachment import (
    annotators,
    bench,
    choosing,
    classifier,
    controls,
    factorial,
    features,
    heldout,
    protocol,
    scoring,
    traces,
)
from simulation.studies.attachment.traces import Instances, Trace
from simulation.studies.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from simulation.studies.attachment.traces import Split

TINY = Corpus(
    name="tiny",
    ids=("a", "b", "c", "d"),
    texts=("A dog bit me.", "We won.", "I waited.", "It rained every year."),
    topics=("animals", "sport", "home", "nature"),
    affect=np.array([[-0.8, 0.8, 0.2], [0.6, 0.6, 0.8], [0.0, 0.2, 0.4], [-0.4, 0.4, 0.6]]),
    overgeneral=np.array([False, False, False, True]),
)


@pytest.fixture(scope="module")
def development() -> Split:
    return traces.read("development")


def one_of_each(found: list[int], fired: list[bool], passive: list[int]) -> Trace:
    """The same recall of one cue for all four profiles."""
    return Trace(
        found=np.tile(np.array(found), (4, 1, 1, 1)),
        redirected=np.tile(np.array(fired), (4, 1, 1, 1)),
        passive=np.tile(np.array(passive), (4, 1, 1, 1)),
    )


ONE = Instances(replicate=np.array([0]), cues=np.array([[0]]))


def test_features_are_statistics_of_raw_labels_and_redirections() -> None:
    trace = one_of_each([0, 1, 3, -1, -1], [True, False, True, False, False], [2, 1, 1])
    seen = features.features(trace, ONE, TINY, "search and passive")[0]
    told = dict(zip(features.names("search and passive"), seen.tolist(), strict=True))
    assert told["valence mean"] == pytest.approx(-0.2)
    assert told["valence sd"] == pytest.approx(np.std([-0.8, 0.6, -0.4]))
    assert told["negative share"] == pytest.approx(2 / 3)
    assert told["positive share"] == pytest.approx(1 / 3)
    assert told["overgeneral share"] == pytest.approx(1 / 3)
    assert told["found a cue"] == 3
    assert told["redirections a cue"] == 2
    assert told["redirected share"] == pytest.approx(2 / 3)
    assert told["valence mean of redirected"] == pytest.approx(-0.6)
    assert told["negative share of redirected"] == 1
    assert told["overgeneral share of redirected"] == 0.5
    assert [told[f"redirected at step {i}"] for i in range(1, 6)] == [1, 0, 1, 0, 0]
    assert told["passive valence mean"] == pytest.approx(0.4)


def test_nothing_found_is_told_by_zeros() -> None:
    trace = one_of_each([-1] * 5, [False] * 5, [-1] * 3)
    seen = features.features(trace, ONE, TINY, "search and passive")
    assert (seen == 0).all()


def test_what_the_search_found_is_read_without_what_came_unasked() -> None:
    one = one_of_each([0, 1, -1, -1, -1], [False] * 5, [2, 2, 2])
    other = replace(one, passive=one.passive * 0)
    seen = [features.features(t, ONE, TINY, "search") for t in (one, other)]
    assert (seen[0] == seen[1]).all()
    assert seen[0].shape[1] == len(features.names("search"))


def test_several_cues_are_pooled_into_one_instance() -> None:
    trace = Trace(
        found=np.tile(np.array([[0, -1], [1, 3]]), (4, 1, 1, 1)),
        redirected=np.tile(np.array([[True, False], [False, False]]), (4, 1, 1, 1)),
        passive=np.zeros((4, 1, 2, 1), np.int64),
    )
    both = Instances(replicate=np.array([0]), cues=np.array([[1, 0]]))
    seen = features.content(both.of(trace.found).reshape(4, -1), TINY)
    assert seen[0, 0] == pytest.approx(np.mean([-0.8, 0.6, -0.4]))


def test_embeddings_are_the_mean_vector_of_what_was_found() -> None:
    vectors = np.eye(4)
    trace = one_of_each([0, 1, -1, -1, -1], [False] * 5, [3, 3, 3])
    assert features.embeddings(trace, ONE, vectors, "search")[0].tolist() == [0.5, 0.5, 0, 0]
    wide = features.embeddings(trace, ONE, vectors, "search and passive")[0]
    assert wide.tolist() == pytest.approx([0.2, 0.2, 0, 0.6])


@pytest.mark.parametrize("ridge", [classifier.CENTROID, 1.0, 100.0])
def test_a_classifier_learns_what_can_be_told_apart_and_stays_frozen(ridge: float) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 30)
    centres = np.array([[0, 0], [5, 0], [0, 5], [5, 5]])
    seen = np.column_stack([centres[labels] + rng.normal(size=(120, 2)), np.ones(120)])
    fitted = classifier.fit(seen, labels, ridge=ridge)
    assert fitted.kept.tolist() == [True, True, False]  # a constant says nothing
    assert (fitted.predict(seen) == labels).mean() > 0.95
    alone = np.array([fitted.predict(row[None])[0] for row in seen])
    assert (alone == fitted.predict(seen)).all()  # instances do not influence each other


def test_the_nearest_centroid_is_the_nearest() -> None:
    rng = np.random.default_rng(1)
    seen, labels = rng.normal(size=(40, 3)), np.arange(40) % 4
    fitted = classifier.fit(seen, labels, ridge=classifier.CENTROID)
    standard = (seen - seen.mean(axis=0)) / seen.std(axis=0)
    centroids = np.stack([standard[labels == k].mean(axis=0) for k in range(4)])
    distance = ((standard[:, None] - centroids) ** 2).sum(axis=2)
    assert (fitted.predict(seen) == distance.argmin(axis=1)).all()


def test_the_logistic_regression_is_at_its_minimum() -> None:
    rng = np.random.default_rng(2)
    seen, labels = rng.normal(size=(60, 4)), np.arange(60) % 3
    fitted = classifier.fit(seen, labels, ridge=3.0)
    logits = fitted.scores(seen)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    standard = (seen - fitted.mean) / fitted.scale
    gradient = standard.T @ (shares - np.eye(3)[labels]) + 3.0 * fitted.weights
    assert np.abs(gradient).max() < 1e-3
    assert np.abs((shares - np.eye(3)[labels]).sum(axis=0)).max() < 1e-3


def test_labels_that_are_separated_without_a_ridge_end_all_the_same() -> None:
    seen, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    fitted = classifier.fit(seen, labels, ridge=1e-9)
    assert (fitted.predict(seen) == labels).all()
    assert np.isfinite(fitted.weights).all()


def test_without_any_feature_that_varies_everybody_is_the_first() -> None:
    fitted = classifier.fit(np.ones((8, 2)), np.arange(8) % 4, ridge=10.0)
    assert set(fitted.predict(np.ones((5, 2))).tolist()) == {0}


def test_replicates_deal_all_cues_out_once_and_anew(development: Split) -> None:
    dealt = traces.instances(development, seed=0, replicates=3, size=4)
    assert len(dealt) == 9
    for replicate in range(3):
        cues = dealt.cues[dealt.replicate == replicate]
        assert sorted(cues.ravel().tolist()) == list(range(12))
    assert (dealt.cues[:3] != dealt.cues[3:6]).any()
    assert dealt.profiles().tolist() == [p for p in range(4) for _ in range(9)]


def test_ages_are_spread_evenly_and_lie_in_no_order(development: Split) -> None:
    counts = np.bincount(development.ages)
    assert len(counts) == protocol.AGES
    assert set(counts.tolist()) <= {3, 4}
    assert (np.diff(development.ages) < 0).any()


def test_the_active_search_stands_first_one_memory_a_step(development: Split) -> None:
    trace = traces.remember(development, PersMem(), seed=3, replicates=2)
    assert trace.found.shape == (4, 2, 12, protocol.STEPS)
    used = trace.found >= 0
    assert (used[..., :-1] >= used[..., 1:]).all()  # no hole
    assert used[..., 0].all()
    assert not (trace.redirected & ~used).any()
    for row in trace.found.reshape(-1, protocol.STEPS):
        assert len(set(row[row >= 0].tolist())) == (row >= 0).sum()
    fired = trace.redirected.sum(axis=(1, 2, 3))
    assert fired[1] > fired[0]  # the anxious are redirected more than the secure
    assert fired[3] > fired[2]


def test_with_the_gate_off_a_search_does_not_depend_on_the_profile(development: Split) -> None:
    trace = traces.remember(development, PersMem(gate=Gate(mode="off")), seed=0, replicates=2)
    assert (trace.found == trace.found[:1]).all()
    assert not trace.redirected.any()
    assert (trace.passive != trace.passive[:1]).any()  # what comes unasked does


def test_the_reranker_is_nearest_to_the_passive_score(development: Split) -> None:
    young = replace(development, ages=development.ages * 0)  # retention is no part of labels
    made = controls.fitted(young, PersMem(), strength=1.0)
    score = traces.minds(young, PersMem(), seed=0).scores(traces.asked(young, replicates=1))
    wanted = (score.reshape(4, 12, -1) - controls.similarity(young)).mean(axis=1)
    added = made.added(young.corpus)
    alike = np.corrcoef(wanted, added)[:4, 4:]
    assert (np.diag(alike)[1:] > 0.7).all()  # the secure have little that could be fitted
    assert (alike[1:].argmax(axis=1) == [1, 2, 3]).all()  # each has its own
    # an anxious mind goes for the bad, an avoidant one for the overgeneral
    assert made.traits[0, 0] < 0
    assert made.traits[1, 3] > 0


def test_the_reranker_orders_the_most_similar_and_knows_the_profile(development: Split) -> None:
    made = controls.fitted(development, PersMem(), strength=8.0)
    trace = controls.rerank(development, made, replicates=2)
    assert (trace.found[:, 0] == trace.found[:, 1]).all()
    assert (trace.found[0] != trace.found[1]).any()
    near = np.argsort(-controls.similarity(development), axis=1, kind="stable")[:, :12]
    for cue in range(12):
        assert set(trace.found[:, 0, cue].ravel().tolist()) <= set(near[cue].tolist())
    idle = controls.rerank(development, replace(made, strength=0.0), replicates=1)
    assert (idle.found[0, 0] == near[:, : protocol.STEPS]).all()


@pytest.mark.parametrize("mode", list(heldout.BLIND))
def test_recall_without_personality_is_the_same_for_all(development: Split, mode: str) -> None:
    trace = controls.recall(development, mode, seed=0, replicates=1)
    assert (trace.found == trace.found[:1]).all()
    assert trace.found.shape[-1] == protocol.STEPS


def answers(predicted: NDArray[np.int64], name: str = "x") -> bench.Answers:
    seeds, _, count = predicted.shape
    cluster = np.tile(np.arange(count) % 5, (seeds, 1))
    return bench.Answers(name=name, predicted=predicted, cluster=cluster)


def always_right(seeds: int, count: int) -> NDArray[np.int64]:
    return np.broadcast_to(np.arange(4)[None, :, None], (seeds, 4, count)).copy()


def test_accuracies_are_counted_by_profile_seed_and_block() -> None:
    predicted = always_right(2, 10)
    predicted[1, 3] = 0  # in the second seed every fearful one is taken for secure
    found = answers(predicted)
    assert found.accuracy == 0.875
    assert found.by_seed.tolist() == [1.0, 0.75]
    assert found.confusion().tolist() == [
        [20, 0, 0, 0],
        [0, 20, 0, 0],
        [0, 0, 20, 0],
        [10, 0, 0, 10],
    ]
    assert found.blocks.tolist() == [1.0] * 10 + [0.75] * 10
    one = scoring.interval(found)
    assert one.low <= one.value == 0.875 <= one.high
    assert scoring.of_seed(found, 1).value == 0.75
    gap = scoring.difference(answers(always_right(2, 10)), found)
    assert gap.value == 0.125
    assert scoring.lower(gap)


def test_permuted_profiles_tell_knowledge_from_none() -> None:
    right = answers(always_right(1, 10))
    assert scoring.p_value(right, permutations=99) == 0.01
    same = answers(np.full((1, 4, 10), 2))  # everybody is avoidant: a quarter is right, always
    assert scoring.p_value(same, permutations=99) == 1.0


def test_intervals_resample_whole_clusters() -> None:
    predicted = always_right(1, 10)
    cluster = np.arange(10) % 2
    predicted[0, :, cluster == 1] = (predicted[0, :, cluster == 1] + 1) % 4
    found = bench.Answers(name="x", predicted=predicted, cluster=cluster[None])
    one = scoring.interval(found)
    assert (one.low, one.value, one.high) == (0.0, 0.5, 1.0)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=16, max_size=16))
def test_a_main_effect_is_the_mean_difference_of_matched_cells(right: list[int]) -> None:
    every = list(product((True, False), repeat=4))
    cells = {}
    for setting, count in zip(every, right, strict=True):
        predicted = always_right(1, 10)
        predicted[0].flat[count:] = -1
        cells[setting] = answers(predicted)
    effects = scoring.main_effects(cells)
    for switch, effect in enumerate(effects):
        pairs = [
            cells[s].accuracy - cells[(*s[:switch], False, *s[switch + 1 :])].accuracy
            for s in every
            if s[switch]
        ]
        assert effect.value == pytest.approx(np.mean(pairs))


def test_cells_of_the_grid_switch_one_part_each() -> None:
    spec = factorial._spec((True, False, True, False), special=False)
    assert spec.switches.model_dump() == {"A": True, "R": False, "P": True, "G": False, "S": False}
    assert factorial._cell((True, False, True, False)) == "A1R0P1G0"


def test_annotators_label_the_same_memories_differently() -> None:
    found = annotators.annotators()
    splits = {name: traces.read("test", annotate=by) for name, by in found.items()}
    first = splits[annotators.FIRST].corpus
    for name, split in splits.items():
        assert split.corpus.ids == first.ids
        assert (split.corpus.overgeneral == first.overgeneral).all()
        assert (name == annotators.FIRST) == np.array_equal(split.corpus.affect, first.affect)
    rules = splits["sentiment rules (lexicon)"].corpus.affect
    assert rules[:, 1:].std() < 0.1  # no norms: arousal and dominance are neutral


def test_halves_share_neither_memory_nor_cue(development: Split) -> None:
    (first, second), (again, _) = choosing._pairs(development, 0)
    assert not set(first.split.corpus.ids) & set(second.split.corpus.ids)
    assert not set(first.split.cues) & set(second.split.cues)
    assert len(first.split.corpus) + len(second.split.corpus) == 92
    assert again is second


def test_the_rule_takes_the_fewest_cues_that_suffice_and_the_best_classifier() -> None:
    def choice(system: str, reading: str, size: int, ridge: float, mean: float) -> choosing.Choice:
        strength = {"linear reranker": ridge}.get(system, 0.0)
        return choosing.Choice(
            system=system,
            reading=reading,
            size=size,
            ridge=ridge,
            strength=strength,
            accuracies=(mean - 0.1, mean + 0.1),
        )

    found = [
        choice(choosing.FULL, "search", 1, 0.0, 0.47),
        choice(choosing.FULL, "search", 2, 1.0, 0.49),
        choice(choosing.FULL, "search", 2, 10.0, 0.50),
        choice(choosing.FULL, "search", 3, 1.0, 0.90),
        choice(choosing.FULL, "search and passive", 2, 1.0, 0.60),
        choice(choosing.LINEAR, "search", 1, 1.0, 0.30),
        choice(choosing.LINEAR, "search", 1, 2.0, 0.40),
    ]
    assert choosing.by_rule(found) == {
        "SIZE": 2,
        "RIDGE": 10.0,
        "OTHER_RIDGE": 1.0,
        "MATCHED": (1.0, 1.0),
        "STRONGEST": (2.0, 2.0),
    }
    text = choice(choosing.TEXT, "search", 1, 100.0, 0.3)
    assert choosing.by_rule([*found, text])["TEXT_RIDGE"] == 100.0


def test_text_embeddings_are_validated_like_the_rest(
    development: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "REPLICATES", 1)
    monkeypatch.setattr(choosing, "TEXT_RIDGES", (classifier.CENTROID, 10000.0))
    found = list(choosing._text(list(choosing._pairs(development, 0))))
    assert [(c.system, c.ridge, len(c.accuracies)) for c in found] == [
        (choosing.TEXT, 0.0, 2),
        (choosing.TEXT, 10000.0, 2),
    ]
    assert choosing.table(found).rows[0][5] == found[0].mean


def test_settings_that_did_not_validate_best_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "by_rule", lambda _: {"SIZE": 1, "RIDGE": 3.0})
    assert heldout._chosen([]).reached is False
    monkeypatch.setattr(choosing, "by_rule", lambda _: {"SIZE": 1, "RIDGE": 100.0})
    assert heldout._chosen([]).reached is True


@pytest.mark.parametrize(("large", "reached"), [((2, 3), True), ((0, 3), False)])
def test_which_effects_are_largest_is_judged(large: tuple[int, int], reached: bool) -> None:  # noqa: FBT001 - a case
    cells = {}
    for setting in product((True, False), repeat=4):
        predicted = always_right(1, 10)
        predicted[0].flat[: 40 - 12 * sum(setting[switch] for switch in large)] = -1
        cells[setting] = answers(predicted)
    made = factorial.Grid(labels="x", reading="search", special=True, cells=cells)
    assert factorial._largest(made).reached is reached
    assert factorial._reported(made).reached is None
    assert len(factorial.effect_table([made]).rows) == 4


def test_a_method_is_fitted_on_development_and_measured_on_the_test_split() -> None:
    sizes = bench.Sizes(replicates=2, seeds=(5,), permutations=19)
    here = bench.bench(sizes)
    method = bench.persmem("full", PersMem())
    whole = here.measure(method)
    assert whole.predicted.shape == (1, 4, protocol.TEST_INSTANCES)
    assert np.bincount(whole.cluster[0]).tolist() == [2] * 20  # every cue twice
    assert here.measure(method, size=4).predicted.shape == whole.predicted.shape
    fitted = here.fit(method)
    off = bench.persmem("off", PersMem(gate=Gate(mode="off")))
    assert here.put(fitted, off, name="frozen").name == "frozen"
    assert here.put(fitted, off).accuracy == protocol.CHANCE
    part = bench.only(method, "part", slice(0, 3))
    assert here.fit(part).kept.shape == (3,)


RUNS: dict[str, Callable[..., str]] = {
    heldout.NAME: heldout.run,
    factorial.NAME: factorial.run,
}


@pytest.fixture(scope="module", params=list(RUNS))
def quick(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    name: str = request.param
    folder: Path = tmp_path_factory.mktemp("studies") / name
    said = RUNS[name](folder, quick=True)
    assert "reported" in said
    assert str(folder) in said
    return folder


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_quick_study_writes_tables_pictures_and_a_manifest(quick: Path) -> None:
    manifest = json.loads((quick / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["study"] == quick.name
    assert manifest["quick"] is True
    assert manifest["configuration"]["ridge"] == protocol.RIDGE
    assert set(manifest["files"]) == {p.name for p in quick.iterdir()} - {"manifest.json"}
    assert {"development.csv", "test.csv", "cues.csv", "second.csv"} <= set(manifest["data"])
    picture = {"attachment": "accuracy", "attachment-factorial": "effects"}[quick.name]
    assert (quick / f"{picture}.svg").read_text(encoding="utf-8").startswith("<svg")
    assert rows(quick, "verdicts")


def test_two_quick_studies_are_equal(quick: Path, tmp_path: Path) -> None:
    again = tmp_path / quick.name
    RUNS[quick.name](again, quick=True)
    for path in sorted(quick.iterdir()):
        assert path.read_bytes() == (again / path.name).read_bytes(), path.name


def test_predictions_stand_behind_every_accuracy(quick: Path) -> None:
    if quick.name == factorial.NAME:
        cells = [row for row in rows(quick, "cells") if row["S"] == "on"]
        at = {tuple(row[s] for s in factorial.SWITCHES): float(row["accuracy"]) for row in cells}
        on = [a for setting, a in at.items() if setting[3] == "on"]
        off = [a for setting, a in at.items() if setting[3] == "off"]
        assert off == [0.25] * 8
        effects = {row["switch"]: float(row["effect"]) for row in rows(quick, "effects")[:4]}
        assert effects["G"] == pytest.approx(np.mean(on) - 0.25)
        return
    predictions = rows(quick, "predictions")
    for row in rows(quick, "accuracy"):
        if row["classifier"] == heldout.OWN:
            right = [p[row["condition"]] == p["profile"] for p in predictions]
            assert np.mean(right) == pytest.approx(float(row["accuracy"])), row["condition"]
    confusion = rows(quick, "confusion")
    counted = sum(int(row[name]) for row in confusion for name in traces.PROFILES)
    assert counted == len(predictions) == 2 * 4 * protocol.TEST_INSTANCES
