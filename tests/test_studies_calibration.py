"""The study persmem-calibration, its calibration set, and the maps that it ships."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simulation.cli.app import execute
from simulation.errors import UsageError
from simulation.mind import traits
from simulation.personality import maps
from simulation.studies.calibration import fitting, human, measuring, store
from simulation.studies.calibration import study as persmem_calibration
from simulation.studies.calibration import tables as calibration_tables
from simulation.studies.calibration.measuring import ATTACHMENT, BIG_FIVE, KINDS, Kind
from simulation.studies.calibration.tables import Variant

if TYPE_CHECKING:
    from types import ModuleType

    from simulation.studies.tables import Table

STORE = store.read_store()
ROOT = Path(__file__).resolve().parents[1]
DOC = ROOT / "docs" / "persmem-calibration.md"
RESULTS = Path(persmem_calibration.__file__).parent / "results"
MEASURED = {kind.name: persmem_calibration.measure(kind, STORE) for kind in KINDS}


def assert_close(found: object, expected: object) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=0.0, atol=1e-9)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def assert_same_table(table: Table, path: Path) -> None:
    """Compare a table with a file of it: words exactly, numbers to 1e-9."""
    shipped = rows(path)
    assert tuple(shipped[0]) == table.columns
    for row, cells in zip(shipped, table.rows, strict=True):
        for name, cell in zip(table.columns, cells, strict=True):
            if isinstance(cell, float):
                assert float(row[name]) == pytest.approx(cell, rel=0.0, abs=1e-9), (row, name)
            else:
                assert row[name] == (("no", "yes")[cell] if isinstance(cell, bool) else str(cell))


def draws(kind: Kind) -> measuring.Draws:
    return measuring.draw(STORE, overgeneral=kind.draws)


# The set


def test_the_set_has_63_memories_and_30_cues_each_said_once() -> None:
    memories, cues = rows(store.FOLDER / "memories.csv"), rows(store.FOLDER / "cues.csv")
    assert (len(memories), len(cues)) == (63, 30)
    for items in (memories, cues):
        assert len({row["id"] for row in items}) == len({row["text"] for row in items})
        assert len({row["text"] for row in items}) == len(items)
    assert STORE.semantic.shape == (30, 63)
    assert ((STORE.semantic >= 0.0) & (STORE.semantic <= 1.0)).all()


def test_specific_and_overgeneral_memories_are_alike_in_affect() -> None:
    vague = STORE.overgeneral
    assert abs(int(vague.sum()) - int((~vague).sum())) == 1
    apart = STORE.affect[vague].mean(axis=0) - STORE.affect[~vague].mean(axis=0)
    assert (np.abs(apart) < 0.02).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",specific,", ",general,", 'specificity "general" is not one of specific, overgeneral'),
        ("-0.85", "-1.85", "the affect of memory 1 is no affect"),
        ("-0.85", "nan", "the affect of memory 1 is no affect"),
    ],
)
def test_a_damaged_set_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (store.FOLDER / "memories.csv").read_text(encoding="utf-8")
    (tmp_path / "memories.csv").write_text(text.replace(old, new, 1), encoding="utf-8")
    (tmp_path / "cues.csv").write_bytes((store.FOLDER / "cues.csv").read_bytes())
    with pytest.raises(ValueError, match=message):
        store.read_store(folder=tmp_path)


def test_the_committed_targets_are_those_of_the_set() -> None:
    table = calibration_tables.target_table(list(MEASURED.values()))
    assert_same_table(table, store.FOLDER / "targets.csv")


def test_every_measure_moves_with_the_gains_in_every_setting() -> None:
    for one in MEASURED.values():
        assert (one.aims.high - one.aims.low > 0.02).all()  # wider than the two margins


# Measuring


def test_the_same_draws_give_the_same_measures_and_settings_do_not_mix() -> None:
    for kind in KINDS:
        given_gains = maps.gains("paper", kind.name, kind.vectors)
        whole = measuring.measure(
            kind, STORE, draws(kind), personality=kind.vectors, gains=given_gains
        )
        alone = measuring.measure(
            kind, STORE, draws(kind), personality=kind.vectors[1:2], gains=given_gains[1:2]
        )
        np.testing.assert_array_equal(whole[1:2], alone)


def test_more_draws_leave_the_earlier_ones_as_they_were() -> None:
    few, many = (measuring.draw(STORE, overgeneral=n, departure=n) for n in (3, 5))
    np.testing.assert_array_equal(few.overgeneral, many.overgeneral[:, :3])
    np.testing.assert_array_equal(few.departure, many.departure[:, :3])
    assert few.overgeneral.shape == (30, 3, 63)
    assert few.departure.shape == (1, 3, 63)


def test_without_temperature_the_best_memory_is_drawn() -> None:
    cold = np.array([BIG_FIVE.low])
    cold[0, -1] = 1e-9
    person = np.full((1, 5), 0.5)
    found = measuring.measure(BIG_FIVE, STORE, draws(BIG_FIVE), personality=person, gains=cold)
    score = measuring.scores(BIG_FIVE, STORE, personality=person, gains=cold)
    assert found[0, 1] == STORE.overgeneral[score[0].argmax(axis=-1)].mean()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_search_starts_with_every_gain_in_the_middle_of_its_range(kind: Kind) -> None:
    middle = np.full((1, len(kind.traits)), 0.5)
    for first in (False, True):
        found = fitting.gains(kind, fitting.start(kind, first=first), middle)
        assert_close(found, [(np.array(kind.low) + kind.high) / 2])


def test_the_first_start_differs_only_in_what_openness_does_to_the_overgeneral_gain() -> None:
    now, before = (
        traits.unpack(fitting.start(BIG_FIVE, first=first), gains=5, traits=5)[0]
        for first in (False, True)
    )
    place = (BIG_FIVE.gains.index("kappa_fa"), BIG_FIVE.traits.index("openness"))
    assert before[place] == 0.0
    assert now[place] == pytest.approx(4 * (0.6 / 1.2) * (0.48 / 0.26))
    np.testing.assert_array_equal(np.delete(now.ravel(), 15), np.delete(before.ravel(), 15))


# What ships


def test_the_shipped_maps_reproduce_the_shipped_errors_and_measures() -> None:
    found = list(MEASURED.values())
    assert_same_table(calibration_tables.error_table(found), RESULTS / "errors.csv")
    assert_same_table(calibration_tables.measure_table(found), RESULTS / "measures.csv")


def test_the_big_five_map_is_as_near_its_targets_as_the_paper_says() -> None:
    errors = MEASURED["big_five"].errors
    assert len(errors["paper"]) == 8
    assert errors["paper"].mean() <= 0.084
    assert errors["reference"].mean() > 5 * errors["paper"].mean()


def test_the_attachment_map_is_nearer_its_targets_than_fixed_gains() -> None:
    errors = MEASURED["attachment"].errors
    assert errors["paper"].mean() < 0.5 * errors["reference"].mean()


def test_fitting_big_five_again_gives_the_shipped_map() -> None:
    found = fitting.fit(BIG_FIVE, STORE, draws(BIG_FIVE), search=BIG_FIVE.search)
    shipped = maps.gain_map("paper", "big_five")
    vector = traits.pack(shipped.weights, shipped.bias)
    assert_close(found.vector, vector)


@pytest.mark.slow
def test_fitting_attachment_and_the_human_map_again_gives_the_shipped_maps() -> None:
    attachment = maps.gain_map("paper", "attachment")
    found = fitting.fit(ATTACHMENT, STORE, draws(ATTACHMENT), search=ATTACHMENT.search)
    assert_close(found.vector, traits.pack(attachment.weights, attachment.bias))
    people = maps.gain_map("human", "big_five")
    again = human.whole(human.fit(STORE).vector)
    assert_close(again, traits.pack(people.weights, people.bias))


# The human map


def test_the_human_map_has_effects_of_the_size_found_in_people() -> None:
    personality = human.people()
    found = {
        name: human.correlations(STORE, personality, maps.gains(name, "big_five", personality))
        for name in ("reference", "paper", "human")
    }
    for figure, value in zip(human.FIGURES_OF_PEOPLE, found["human"], strict=True):
        assert figure.low <= value <= figure.high, figure
    assert abs(found["paper"][0]) > 2 * abs(found["human"][0])
    assert_same_table(calibration_tables.people_table(found), RESULTS / "people.csv")


def test_the_human_map_has_no_weights_and_no_overgeneral_term() -> None:
    assert (maps.gain_map("human", "big_five").weights == 0.0).all()
    anybody = maps.gains("human", "big_five", np.array([[0.0] * 5, [1.0] * 5]))
    np.testing.assert_array_equal(anybody[0], anybody[1])
    assert_close(anybody[:, 2:], [[0.0, 0.0, 0.12]] * 2)


def test_the_correlation_is_that_of_many_simulated_pairs_of_recalls() -> None:
    personality = human.people(60)
    given_gains = traits.fixed_gains(BIG_FIVE.reference, personas=60)
    chance, place = human.probabilities(STORE, personality, given_gains)
    valence, cues = STORE.affect[:, 0], len(STORE.cues)
    draw = np.random.default_rng(0)
    pairs = np.zeros((4000, 60))
    for person in range(60):
        cue = draw.integers(cues, size=(4000, 2))
        below = draw.random((4000, 2, 1)) > chance[person].cumsum(axis=-1)[cue]
        memory = place[person][cue, np.minimum(below.sum(axis=-1), chance.shape[-1] - 1)]
        pairs[:, person] = valence[memory].mean(axis=1)
    trait = np.broadcast_to(personality[:, 4], pairs.shape)
    simulated = np.corrcoef(trait.ravel(), pairs.ravel())[0, 1]
    expected = human.correlations(STORE, personality, given_gains)[0]
    assert simulated == pytest.approx(expected, abs=0.01)


def test_candidates_are_the_best_scores_and_their_chances_sum_to_one() -> None:
    personality = human.people(3)
    given_gains = traits.fixed_gains(BIG_FIVE.reference, personas=3)
    chance, place = human.probabilities(STORE, personality, given_gains)
    assert chance.shape == place.shape == (3, 30, 12)
    assert_close(chance.sum(axis=-1), 1.0)
    assert (np.diff(chance, axis=-1) <= 0.0).all()


# The maps by name


@given(hnp.arrays(np.float64, (4, 5), elements=st.floats(0.0, 1.0)), st.sampled_from(maps.NAMES))
def test_gains_stay_within_their_ranges(vectors: np.ndarray, name: str) -> None:
    for kind in ("attachment", "big_five"):
        if name not in maps.available(kind):
            continue
        span = maps.RANGES[kind]
        found = maps.gains(name, kind, vectors[:, : 2 if kind == "attachment" else 5])
        assert found.shape == (4, len(span.gains))
        assert ((found >= span.low) & (found <= span.high)).all()


def test_the_reference_gives_everybody_the_gains_of_an_uncalibrated_run() -> None:
    found = maps.gains("reference", "attachment", np.array([[0.1, 0.9], [0.8, 0.3]]))
    assert found.tolist() == [[0.6, 0.6, 0.6]] * 2


def test_the_paper_map_moves_each_gain_the_way_its_target_asks() -> None:
    low, high = np.full((5, 5), 0.5), np.full((5, 5), 0.5)
    np.fill_diagonal(low, 0.15)
    np.fill_diagonal(high, 0.85)
    rise = maps.gains("paper", "big_five", high) - maps.gains("paper", "big_five", low)
    o, c, e, a, n = range(5)
    assert rise[n, 0] > 0.0 > max(rise[e, 0], rise[a, 0])
    assert min(rise[e, 1], rise[a, 1]) > 0.0 > rise[n, 1]
    assert rise[n, 3] > 0.0 > rise[c, 3]
    assert rise[o, 4] > 0.1


@pytest.mark.parametrize(
    ("name", "kind", "known"),
    [
        ("human", "attachment", "paper, reference"),
        ("papers", "big_five", "paper, human, reference"),
        ("paper", "none", "none"),
    ],
)
def test_a_map_that_does_not_exist_is_refused_with_those_that_do(
    name: str, kind: str, known: str
) -> None:
    with pytest.raises(UsageError, match=f'"{name}" .* "{kind}"; there are: {known}'):
        maps.gains(name, kind, np.zeros((1, 2)))


def test_the_reference_has_no_coefficients() -> None:
    with pytest.raises(UsageError, match='no map of gains "reference"'):
        maps.gain_map("reference", "big_five")


def test_the_file_of_maps_says_what_it_was_fitted_with() -> None:
    shipped = json.loads(maps.FILE.read_text(encoding="utf-8"))
    assert shipped["encoder_sha256"] == STORE.encoder_sha256
    assert shipped["calibration_set"] == store.digests()
    assert shipped["format"] == maps.FORMAT


# The study


def test_the_quick_study_writes_its_tables_a_picture_and_a_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("studies/persmem-calibration", "studies/persmem-calibration-2"):
        assert execute(["study", "persmem-calibration", "--quick"]) == 0
        said = capsys.readouterr()
        assert "big_five | paper | 0.077" in said.out
        assert said.out.endswith(f"wrote {folder}\n")
    one, two = tmp_path / "studies/persmem-calibration", tmp_path / folder
    names = sorted(path.name for path in one.iterdir())
    assert "maps.json" not in names
    for name in names:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
    manifest = json.loads((one / "manifest.json").read_text(encoding="utf-8"))
    assert sorted([*manifest["files"], "manifest.json"]) == names
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((one / name).read_bytes()).hexdigest() == digest
    assert manifest["encoders"][0]["sha256"] == STORE.encoder_sha256
    assert manifest["packages"]["numpy"] == np.__version__
    assert (
        manifest["configuration"]["shipped_maps"]
        == hashlib.sha256(maps.FILE.read_bytes()).hexdigest()
    )
    for table in ("errors", "measures", "people"):
        shipped = (RESULTS / f"{table}.csv").read_text(encoding="utf-8")
        assert len((one / f"{table}.csv").read_text().splitlines()) == len(shipped.splitlines())


def test_a_folder_that_exists_and_a_study_that_does_not_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["study", "persmem-calibration", "--out", str(tmp_path)]) == 2
    assert "is not written over" in capsys.readouterr().err
    assert execute(["study", "persmem-calibraton"]) == 2
    said = capsys.readouterr().err
    assert 'there is no study "persmem-calibraton"; did you mean "persmem-calibration"?' in said


def test_the_whole_study_also_writes_maps_that_can_be_shipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        persmem_calibration, "_search", lambda search, _: replace(search, generations=1)
    )
    monkeypatch.setattr(human, "PEOPLE", 20)
    errors = np.full(8, 0.25)
    one = Variant(name="another", tries=3, map=errors, reference=2 * errors)
    monkeypatch.setattr(persmem_calibration, "variants", lambda _: [one])
    study = persmem_calibration.calibrate()
    written = json.loads(study.records["maps.json"])
    shipped = json.loads(maps.FILE.read_text(encoding="utf-8"))
    assert {name: list(kinds) for name, kinds in written["maps"].items()} == {
        name: list(kinds) for name, kinds in shipped["maps"].items()
    }
    assert np.shape(written["maps"]["human"]["big_five"]["weights"]) == (5, 5)
    variants = next(table for table in study.tables if table.name == "variants")
    assert variants.csv().splitlines()[1] == "another,3,0.5,0.25,0.25,0.25"
    refit = next(table for table in study.tables if table.name == "refit")
    assert refit.rows[0][:4] == ("paper", "attachment", 1, 12)
    assert all(float(row[-1]) > 0.0 for row in refit.rows)


def test_a_variant_is_a_fit_with_one_thing_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    short = replace(BIG_FIVE.search, generations=1)
    monkeypatch.setattr(persmem_calibration, "OTHER_SEEDS", (1,))
    monkeypatch.setattr(persmem_calibration, "LONG_SEARCH", short)
    found = {one.name: one for one in persmem_calibration.variants(STORE)}
    assert_close(found["as shipped"].map, MEASURED["big_five"].errors["paper"])
    assert_close(found["as shipped"].reference, MEASURED["big_five"].errors["reference"])
    assert found["first start"].map.mean() > 0.1
    assert found["search seed 1"].map.mean() != found["as shipped"].map.mean()
    assert found["longer search"].tries == 10


def test_the_picture_has_two_bars_a_setting_and_marks_the_one_that_is_not_fitted() -> None:
    drawn = persmem_calibration.error_bars(list(MEASURED.values()))
    assert drawn.count('aria-roledescription="bar"') == 2 * 12
    assert drawn.count("(not fitted)</text>") == 1
    assert drawn == (ROOT / "docs/figures/calibration_errors.svg").read_text(encoding="utf-8")


# What the documentation says


def test_the_documented_tables_are_those_of_the_study() -> None:
    said = DOC.read_text(encoding="utf-8")
    found = list(MEASURED.values())
    for table in (
        calibration_tables.summary_table(found),
        calibration_tables.error_table(found),
    ):
        assert table.markdown() in said, table.name
    for name in ("people", "variants"):
        for row in rows(RESULTS / f"{name}.csv"):
            cells = [_short(cell) for cell in row.values()]
            assert f"| {' | '.join(cells)} |\n" in said, cells


def _short(cell: str) -> str:
    try:
        return f"{float(cell):.3f}" if "." in cell else cell
    except ValueError:
        return cell


def test_the_gate_curve_is_drawn_by_its_script() -> None:
    drawn = _script(ROOT / "docs/figures/gate_curve.py").draw()
    assert drawn == (ROOT / "docs/figures/gate_curve.svg").read_text(encoding="utf-8")


def _script(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
