"""The study `attachment-trace`: instances, folds, the classifier, controls, the report."""

from __future__ import annotations

import csv
import filecmp
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.rng import Streams, stream_keys
from simulation.studies import attachment_trace, corpus, recalling
from simulation.studies.attachment_trace import measuring, protocol, traces
from simulation.studies.attachment_trace.centroid import Folds, shuffled
from simulation.studies.attachment_trace.measuring import Case, Size
from simulation.studies.attachment_trace.traces import FEATURES, Trial
from simulation.studies.output import publish

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.rng import FloatArray
    from simulation.studies.recalling import Bank

PAPER: protocol.Gains = "paper"


@pytest.fixture(scope="module")
def bank() -> Bank:
    return recalling.bank(corpus.read("development"))


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("trace") / "found"
    return folder, attachment_trace.run(folder, quick=True)


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _normal(shape: tuple[int, int], seed: int = 0) -> FloatArray:
    keys = stream_keys(str(i) for i in range(shape[0]))[:, None]
    return np.asarray(Streams(seed).normal("test", tick=0, keys=keys, index=np.arange(shape[1])))


def test_the_protocol_is_the_seeds() -> None:
    assert len(protocol.PROBES) == 8
    assert protocol.RECALLED * len(protocol.PROBES) == 24
    assert protocol.REPLICATES * len(protocol.PROFILES) == 120
    assert len(protocol.SEEDS) >= 5
    assert len(set(protocol.SPLITS.values())) == 2


def _by_hand(features: FloatArray, fold: list[int], labels: list[int]) -> list[int]:
    """Classify one instance at a time, as the protocol is written."""
    found = []
    for i, one in enumerate(features):
        rest = [j for j in range(len(features)) if fold[j] != fold[i]]
        train = features[rest]
        varies = np.ptp(train, axis=0) > 1e-9
        mean, deviation = train[:, varies].mean(axis=0), train[:, varies].std(axis=0)
        scaled, held = (train[:, varies] - mean) / deviation, (one[varies] - mean) / deviation
        kinds = sorted({labels[j] for j in rest})
        apart = [
            ((held - scaled[[labels[j] == kind for j in rest]].mean(axis=0)) ** 2).sum()
            for kind in kinds
        ]
        found.append(kinds[int(np.argmin(np.round(apart, 9)))])
    return found


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 6))
def test_folds_classify_as_one_instance_at_a_time_would(seed: int, replicates: int) -> None:
    labels = np.repeat(np.arange(4), replicates)
    features = _normal((len(labels), 5), seed) + 0.5 * labels[:, None]
    features[:, 3] = 2.0  # never varies
    features[:, 4] = 0.0
    features[seed % len(labels), 4] = 1.0  # constant only where that instance is held out
    for fold in (np.arange(len(labels)), np.tile(np.arange(replicates), 4)):
        predicted, _ = Folds.of(features, fold).predict(labels, 4)
        assert predicted.tolist() == _by_hand(features, fold.tolist(), labels.tolist())


def test_what_only_the_held_out_instance_has_does_not_count() -> None:
    features = np.array([[0.0, 0.0], [0.1, 0.0], [1.0, 0.0], [0.9, 99.0]])
    folds = Folds.of(features, np.arange(4))
    assert folds.scale[3, 1] == 0.0
    assert (folds.scale[:3, 1] > 0.0).all()
    assert folds.predict(np.array([0, 0, 1, 1]), 2)[0][3] == 1


def test_scales_are_of_training_instances_only() -> None:
    features = _normal((8, 2))
    folds = Folds.of(features, np.arange(8))
    changed = features.copy()
    changed[2] += 50.0
    again = Folds.of(changed, np.arange(8))
    np.testing.assert_array_equal(folds.scale[2], again.scale[2])
    assert (folds.scale[3] != again.scale[3]).all()


def test_equal_instances_of_all_classes_are_wrong_alone_and_tied_as_a_replicate() -> None:
    replicate = np.tile(np.arange(6), 4)
    labels = np.repeat(np.arange(4), 6)
    features = _normal((6, 3))[replicate]
    alone, ties = Folds.of(features, np.arange(24)).predict(labels, 4)
    assert not (alone == labels).any()
    assert ties.all()
    whole, ties = Folds.of(features, replicate).predict(labels, 4)
    assert (whole == 0).all()
    assert ties.all()


def test_a_class_without_training_instances_is_never_near() -> None:
    features = np.array([[0.0], [5.0], [5.1]])
    predicted, _ = Folds.of(features, np.arange(3)).predict(np.array([0, 1, 1]), 2)
    assert predicted.tolist() == [1, 1, 1]


def test_labels_are_permuted_within_replicates_only() -> None:
    labels = np.repeat(np.arange(4), 5)
    blocks = np.tile(np.arange(5), 4)
    found = shuffled(labels, blocks, draws=50, seed=1)
    for block in range(5):
        assert (np.sort(found[:, blocks == block], axis=1) == np.arange(4)).all()
    assert len(np.unique(found, axis=0)) == 50
    np.testing.assert_array_equal(found[:10], shuffled(labels, blocks, draws=10, seed=1))


@pytest.mark.parametrize("method", protocol.METHODS[1:])
def test_controls_recall_the_same_for_every_profile_unless_streams_are_their_own(
    bank: Bank, method: str
) -> None:
    trial = Trial(bank=bank, method=method)
    paired, own = (trial.instances(3, own=own) for own in (False, True))
    assert (paired.features.reshape(4, 3, -1) == paired.features[:3]).all()
    assert (own.recalled.reshape(4, 3, -1)[0] != own.recalled.reshape(4, 3, -1)[1]).any()
    assert (trial.bias() == trial.bias()[0]).all()


def test_persmem_recalls_three_different_memories_a_probe(bank: Bank) -> None:
    found = Trial(bank=bank, method=protocol.PERSMEM).instances(4)
    assert found.recalled.shape == (16, 24)
    assert found.features.shape == (16, len(FEATURES))
    by_probe = np.sort(found.recalled.reshape(16, 8, 3), axis=2)
    assert (np.diff(by_probe, axis=2) > 0).all()
    assert (found.recalled >= 0).all()
    assert (found.recalled[found.profile == 0] != found.recalled[found.profile == 1]).any()


def test_semantic_draws_meet_the_random_numbers_of_the_engines_own(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_engine = Trial(bank=bank, method=protocol.NO_TRAIT).instances(3)
    scores = recalling.Minds.scores
    semantic = Trial(bank=bank, method=protocol.SEMANTIC)
    monkeypatch.setattr(Trial, "_scores", lambda _, minds, asked: scores(minds, asked))
    np.testing.assert_array_equal(semantic.instances(3).recalled, of_engine.recalled)


def test_a_control_ranks_by_its_own_scores(bank: Bank) -> None:
    asked = recalling.ask(bank, personas=[0], cues=protocol.PROBES[:1], streams=["x"])
    trial = Trial(bank=bank, method=protocol.SEMANTIC)
    minds = trial._minds()
    expected = np.maximum(bank.texts.cosine(bank.items, asked.query), 0.0)
    np.testing.assert_allclose(trial._scores(minds, asked)[0], expected, atol=1e-6)
    other = Trial(bank=bank, method=protocol.GENERATIVE_AGENTS)
    assert other._scores(minds, asked).max() > 1.0


def test_features_are_of_the_labels() -> None:
    of_bank = recalling.bank(corpus.read("calibration"))
    affect = of_bank.corpus.affect
    recalled = np.array([[0, 1, 2]])
    inner = np.array([[0.5, 0.5, 0.8]])
    found = dict(zip(FEATURES, traces._features(of_bank, recalled, inner, inner)[0], strict=True))
    assert found["valence mean"] == pytest.approx(affect[:3, 0].mean())
    assert found["dominance sd"] == pytest.approx(affect[:3, 2].std())
    assert found["share negative"] == pytest.approx((affect[:3, 0] < -0.2).mean())
    assert found["share overgeneral"] == pytest.approx(of_bank.corpus.overgeneral[:3].mean())
    assert found["relation mean"] == pytest.approx(0.6)
    assert found["retention sd"] == pytest.approx(np.std([0.5, 0.5, 0.8]))


def test_ages_are_fixed_and_spread_over_a_run(bank: Bank) -> None:
    found = traces.ages(bank)
    np.testing.assert_array_equal(found, traces.ages(bank))
    assert found.min() >= 0
    assert found.max() < protocol.AGES
    assert len(np.unique(found)) > 20


def test_contrast_sets_the_profiles_apart(bank: Bank) -> None:
    near, far = (Trial(bank=bank, method=protocol.PERSMEM, contrast=c) for c in (0.0, 0.35))
    np.testing.assert_allclose(far._minds().disposition.personalities.vectors[1], [0.85, 0.15])
    np.testing.assert_allclose(near._minds().disposition.personalities.vectors, 0.5)
    case = Case(split="", method=protocol.PERSMEM, gains=PAPER)
    at_one_point = measuring.score(case, near.instances(4), seed=0)
    assert at_one_point.right == (0, 0, 0, 0)


def test_a_score_counts_by_profile_and_knows_its_null(bank: Bank) -> None:
    found = Trial(bank=bank, method=protocol.PERSMEM).instances(6)
    case = Case(split="", method=protocol.PERSMEM, gains=PAPER)
    score = measuring.score(case, found, seed=0, permutations=39)
    assert score.trials == 24
    assert score.accuracy == sum(score.right) / 24
    assert score.p == pytest.approx(1 / 40)
    assert 0.0 < score.null < 0.5
    assert np.isnan(measuring.score(case, found, seed=0).p)


def test_the_paired_null_of_a_control_is_the_control() -> None:
    of_bank = recalling.bank(corpus.read("calibration"))
    found = Trial(bank=of_bank, method=protocol.NO_TRAIT).instances(4)
    case = Case(split="", method=protocol.NO_TRAIT, gains=PAPER)
    score = measuring.score(case, found, seed=0, permutations=19)
    assert (score.p, score.accuracy) == (1.0, 0.0)


def test_a_short_form_writes_all_tables_and_a_manifest(short: tuple[Path, str]) -> None:
    folder, told = short
    assert "complete trace, accuracy" in told
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "verdicts.csv",
        "methods.csv",
        "profiles.csv",
        "contrast.csv",
        "accuracies.csv",
        "instances.csv",
        "methods.svg",
        "contrast.svg",
        "report.md",
        "manifest.json",
    }
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["seeds"] == list(protocol.QUICK_SEEDS)
    assert manifest["data"] == corpus.digests()


def test_controls_are_shown_beside_what_the_pairing_does_to_them(short: tuple[Path, str]) -> None:
    rows = [row for row in _rows(short[0], "methods") if row["split"] == "matched split"]
    assert [row["method"] for row in rows] == [protocol.PERSMEM, *protocol.METHODS]
    for row in rows[2:]:
        assert row["one instance held out"].startswith("0.000")
        assert row["whole replicates held out"].startswith("0.250")
        assert row["bias, anxious less secure"].startswith("0.000")


def test_every_accuracy_follows_from_its_row(short: tuple[Path, str]) -> None:
    rows = _rows(short[0], "accuracies")
    methods = len(measuring.methods())
    assert len(rows) == 2 * methods * len(protocol.QUICK_SEEDS) * 8
    for row in rows:
        right = [int(row[name]) for name in protocol.PROFILES]
        assert sum(right) == int(row["right"])
        assert max(right) * len(right) <= int(row["instances"])
    instances = _rows(short[0], "instances")
    each = protocol.QUICK_REPLICATES * len(protocol.PROFILES)
    assert len(instances) == 2 * methods * len(protocol.QUICK_SEEDS) * each


def test_the_study_comes_out_the_same_again(tmp_path: Path) -> None:
    size = Size(seeds=(3,), replicates=3, permutations=9)
    first, second = (attachment_trace.study.make(size) for _ in range(2))
    assert first.tables == second.tables
    assert first.records == second.records
    assert first.pictures == second.pictures
    folders = [tmp_path / name for name in ("a", "b")]
    for folder, found in zip(folders, (first, second), strict=True):
        publish(found, folder, quick=True)
    names = sorted(path.name for path in folders[0].iterdir())
    same, different, odd = filecmp.cmpfiles(folders[0], folders[1], names, shallow=False)
    assert (different, odd) == ([], [])
    assert len(same) == 10
