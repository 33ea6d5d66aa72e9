"""The study of the Big Five: who takes part, how they recall, what is made of it, and the run."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simulation.errors import InputError, UsageError
from simulation.personality.questionnaires import QUESTIONNAIRES, Scored
from simulation.rng import Streams, stream_keys
from simulation.scenario.persmem import PersMem
from simulation.studies import corpus, recalling
from simulation.studies.big_five import claims, linking, protocol, replicates, study
from simulation.studies.big_five.profiles import TRAITS, Profiles, answers, sampled
from simulation.studies.big_five.protocol import (
    DRAWS,
    EVEN,
    FULL,
    HUMAN,
    MEASURES,
    NO_TRAIT,
    OWN,
    PAIRED,
    PROMPTS,
    Group,
    Way,
)
from simulation.studies.big_five.replicates import Links
from simulation.studies.big_five.reporting import THEIRS

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.rng import FloatArray
    from simulation.studies.recalling import Bank

CALM = (0.5, 0.9, 0.9, 0.9, 0.05)
GLOOMY = (0.5, 0.1, 0.1, 0.1, 0.95)


@pytest.fixture(scope="module")
def bank() -> Bank:
    return recalling.bank(corpus.read("events"))


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("studies") / "quick"
    return folder, study.run(folder, quick=True, data=None)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a study have ten people, one seed and twelve tellers."""
    for name in ("SEEDS", "QUICK_SEEDS"):
        monkeypatch.setattr(study, name, (3,))
    monkeypatch.setattr(study, "QUICK_PEOPLE", 12)
    monkeypatch.setattr(replicates, "PROFILES", 10)
    monkeypatch.setattr(replicates, "PEOPLE", 12)


def _group(bank: Bank, *traits: tuple[float, ...], way: Way | None = None) -> Group:
    people = Profiles(ids=tuple(f"p{i}" for i in range(len(traits))), traits=np.array(traits))
    return Group(bank=bank, people=people, seed=0, way=way or Way())


def _normal(*shape: int) -> FloatArray:
    """Return numbers that look drawn."""
    count = int(np.prod(shape))
    drawn = Streams(1).normal("test", tick=0, keys=stream_keys(["x"]), index=np.arange(count))
    return drawn.reshape(shape)


def _answers(path: Path, people: int, *, kind: int = 0) -> Path:
    """Write a file of made-up answers."""
    columns = QUESTIONNAIRES[kind].columns
    drawn = Streams(0).uniform(
        "answers",
        tick=0,
        keys=stream_keys(str(i) for i in range(people))[:, None],
        index=np.arange(len(columns)),
    )
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t")
        writer.writerow(columns)
        writer.writerows((1 + drawn * 5).astype(int).tolist())
    return path


# who takes part


def test_a_seed_draws_the_same_people_and_another_seed_others() -> None:
    first, again, other = (sampled(50, seed=s, scored=None) for s in (0, 0, 1))
    assert np.array_equal(first.traits, again.traits)
    assert not np.array_equal(first.traits, other.traits)
    assert first.traits.shape == (50, len(TRAITS))


def test_people_of_a_file_are_drawn_once_each_with_all_their_traits() -> None:
    traits = np.arange(300).reshape(60, 5) / 300
    scored = Scored(
        kind="big_five", ids=tuple(f"r{i}" for i in range(60)), traits=traits, dropped={}
    )
    found = sampled(50, seed=0, scored=scored)
    assert len(set(found.ids)) == 50
    assert found.traits.tolist() == [traits[int(name[1:])].tolist() for name in found.ids]
    assert sampled(50, seed=1, scored=scored).ids != found.ids
    assert len(sampled(384, seed=0, scored=scored).ids) == 60


def test_answers_to_another_questionnaire_or_of_too_few_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"ecr.csv holds answers to the ECR .* IPIP-FFM"):
        answers(_answers(tmp_path / "ecr.csv", 60, kind=2), least=50)
    with pytest.raises(UsageError, match=r"few.csv holds 7 people .* needs at least 50"):
        answers(_answers(tmp_path / "few.csv", 7), least=50)


# how they recall


def test_without_traits_all_recall_the_same_and_with_them_they_do_not(bank: Bank) -> None:
    group = _group(bank, CALM, GLOOMY)
    places = protocol.recalled(group, NO_TRAIT)
    assert places.shape == (2, 18)
    assert np.array_equal(places[0], places[1])
    full = protocol.measure(group, FULL)
    assert full.affect[0, 0] > full.affect[1, 0] + 0.3
    assert full.ogm[1] > full.ogm[0]


def test_a_prompt_brings_no_memory_twice(bank: Bank) -> None:
    group = _group(bank, CALM, GLOOMY)
    for condition in (FULL, EVEN):
        for person in protocol.recalled(group, condition):
            for three in person.reshape(len(PROMPTS), 3):
                assert len(set(three.tolist())) == 3


def test_random_recall_knows_nothing_of_traits_and_goes_on_from_prompt_to_prompt(
    bank: Bank,
) -> None:
    there = protocol.recalled(_group(bank, CALM, GLOOMY), EVEN)
    swapped = protocol.recalled(_group(bank, GLOOMY, CALM), EVEN)
    assert np.array_equal(there, swapped)
    assert not np.array_equal(there[0], there[1])
    assert not np.array_equal(there[0, :3], there[0, 3:6])


def test_overgenerality_is_drawn_from_the_complete_store_by_everyone_alone(bank: Bank) -> None:
    group = _group(bank, CALM, CALM)
    places = protocol.distressed(group, NO_TRAIT)
    assert places.shape == (2, DRAWS * len(PROMPTS))
    assert not np.array_equal(places[0], places[1])
    each = places[0].reshape(len(PROMPTS), DRAWS)
    assert max(len(set(row.tolist())) for row in each) > 12
    narrow = replace(group, way=Way(ogm_candidates=12, ogm_streams=PAIRED))
    best = protocol.distressed(narrow, NO_TRAIT)
    assert np.array_equal(best[0], best[1])
    rows = best[0].reshape(len(PROMPTS), DRAWS)
    assert max(len(set(row.tolist())) for row in rows) <= 12


def test_nobody_recalls_otherwise_because_of_who_else_takes_part(bank: Bank) -> None:
    for way in (Way(), Way(streams=OWN)):
        alone, both = (_group(bank, *who, way=way) for who in ((CALM,), (CALM, GLOOMY)))
        for condition in (FULL, EVEN):
            first, other = (protocol.measure(g, condition) for g in (alone, both))
            for name, values in first.values().items():
                assert values[0] == other.values()[name][0]


def test_affect_can_be_that_which_a_person_feels(bank: Bank) -> None:
    stored, felt = (
        protocol.measure(_group(bank, GLOOMY, way=way), FULL) for way in (Way(), Way(felt=True))
    )
    assert felt.affect[0, 0] < stored.affect[0, 0]
    assert felt.overgeneral == stored.overgeneral


def test_the_temperature_alone_is_changed_by_a_factor(bank: Bank) -> None:
    cold, plain = (
        _group(bank, CALM, way=Way(heat=heat)).minds(PersMem(), 12) for heat in (0.5, 1.0)
    )
    assert cold.disposition.gains[0, -1] == 0.5 * plain.disposition.gains[0, -1]
    assert np.array_equal(cold.disposition.gains[:, :-1], plain.disposition.gains[:, :-1])


def test_two_memories_come_to_two_different_prompts(bank: Bank) -> None:
    group = _group(bank, *([CALM] * 40), way=Way(streams=OWN))
    found = replicates.two_memories(group, HUMAN)
    assert set(found.overgeneral.tolist()) <= {0.0, 0.5, 1.0}
    assert len(set(found.affect[:, 0].tolist())) > 10
    assert found.ogm is found.overgeneral
    with pytest.raises(ValueError, match="without a mind"):
        replicates.two_memories(group, EVEN)


# correlations


def test_pearsons_r_is_that_of_numpy_and_undefined_without_variance() -> None:
    x, y = _normal(2, 30)
    assert linking.pearson(x, y) == pytest.approx(float(np.corrcoef(x, y)[0, 1]))
    assert np.isnan(linking.pearson(x, np.full(30, 0.1)))


def test_a_partial_correlation_drops_what_another_trait_brings() -> None:
    drawn = _normal(3, 4000)
    traits = np.stack([drawn[0], 0.8 * drawn[0] + 0.6 * drawn[1]], axis=1)
    y = drawn[0] + 0.1 * drawn[2]
    alone, held = linking.correlations(traits, y), linking.partials(traits, y)
    assert alone[1] > 0.7
    assert abs(held[1]) < 0.05
    precision = np.linalg.inv(np.corrcoef(np.column_stack([traits, y]), rowvar=False))
    expected = -precision[0, 2] / np.sqrt(precision[0, 0] * precision[2, 2])
    assert held[0] == pytest.approx(expected)


def test_the_share_needed_is_the_r_squared_of_the_regression() -> None:
    drawn = _normal(3, 200)
    traits, y = drawn[:2].T, drawn[0] - drawn[1] + drawn[2]
    r = linking.correlations(traits, y)
    design = np.column_stack([np.ones(200), traits])
    rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert linking.needed(traits, r) == pytest.approx(1.0 - rest.var() / y.var())
    assert linking.needed(traits, np.array([0.9, 0.9])) > 1.0
    assert np.isnan(linking.needed(np.column_stack([drawn[0], np.ones(200)]), r))


# verdicts


def _links(**r: list[float]) -> Links:
    """Return correlations with valence and OGM by trait, over two samples; 0 where not given."""
    alone = np.zeros((2, len(MEASURES), len(TRAITS)))
    for name, values in r.items():
        measure, trait = name.split("_")
        alone[:, MEASURES.index(measure), TRAITS.index(trait)] = values
    return Links(alone=alone, held=alone)


def test_a_size_is_reached_on_average_with_the_sign_in_every_sample() -> None:
    links = _links(
        valence_N=[-0.8, -0.7], valence_E=[0.9, 0.6], valence_A=[1.5, -0.1], ogm_C=[-0.7, -0.7]
    )
    said = {v.claim: v for v in claims._sizes(links)}
    assert [v.reached for v in said.values()] == [True, False, False, False, False]
    first = said["neuroticism and recalled valence"]
    assert "1 of 2 samples reach it" in first.found
    assert first.theirs == f"{THEIRS['full', 'valence', 'N']:.3f}"


# the run


def test_the_quick_study_says_what_it_found(quick: tuple[Path, str]) -> None:
    folder, said = quick
    for piece in (
        "neuroticism and recalled valence",
        "theirs: -0.703",
        "human gains, two memories",
    ):
        assert piece in said
    assert "reported     without traits all people recall the same valence" in said
    names = {path.name for path in folder.iterdir()}
    tables = [
        "verdicts",
        "correlations",
        "levels",
        "people",
        "traits",
        "samples",
        "needed",
        "prompts",
    ]
    assert names == {f"{name}.csv" for name in (*tables, "profiles", "population")} | {
        "report.md",
        "manifest.json",
        "links.svg",
        "people.svg",
    }


def test_every_number_can_be_traced_to_the_people_of_a_sample(quick: tuple[Path, str]) -> None:
    folder, _ = quick
    with (folder / "profiles.csv").open(encoding="utf-8") as file:
        people = list(csv.DictReader(file))
    with (folder / "samples.csv").open(encoding="utf-8") as file:
        (row,) = (
            row
            for row in csv.DictReader(file)
            if (row["seed"], row["recalled"], row["trait"]) == ("1", "ogm", "C")
        )
    mine = [p for p in people if p["seed"] == "1"]
    x, y = (np.array([float(p[name]) for p in mine]) for name in ("C", "full: ogm"))
    assert len(mine) == 50
    assert float(row["r"]) == pytest.approx(float(np.corrcoef(x, y)[0, 1]))
    assert float(row["low"]) < float(row["r"]) < float(row["high"])


def test_the_manifest_names_corpus_maps_encoder_and_seeds(quick: tuple[Path, str]) -> None:
    folder, _ = quick
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert manifest["seeds"] == list(study.QUICK_SEEDS)
    assert set(manifest["data"]) == {"events.csv", "second.csv"}
    assert manifest["configuration"]["conditions"]["no-trait"]["switches"]["P"] is False
    assert manifest["encoders"][0]["name"] == "static"


@pytest.mark.usefixtures("few")
def test_the_full_study_adds_other_ways_and_comes_out_the_same_twice(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        study.run(folder, quick=False, data=None)
    first, second = ({p.name: p.read_bytes() for p in f.iterdir()} for f in folders)
    assert first == second
    with (folders[0] / "robustness.csv").open(encoding="utf-8") as file:
        rows = {row["way"]: row for row in csv.DictReader(file)}
    assert replicates.SECOND in rows
    with (folders[0] / "samples.csv").open(encoding="utf-8") as file:
        told = {row["recalled"] + row["trait"]: row["r"] for row in csv.DictReader(file)}
    assert float(rows["as told"]["N, valence"]) == pytest.approx(float(told["valenceN"]))
    with (folders[0] / "sensitivity.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(replicates.SENSITIVE)


@pytest.mark.usefixtures("few")
def test_people_of_a_file_can_take_part(tmp_path: Path) -> None:
    data = _answers(tmp_path / "data.csv", 30)
    study.run(tmp_path / "out", quick=True, data=data)
    report = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "Your file has 30 people who answered all items; 0 answered nothing" in report
    assert "from your file" in report
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert "data.csv" in manifest["data"]
    population = (tmp_path / "out" / "population.csv").read_text("utf-8").splitlines()
    assert population[0] == "id,O,C,E,A,N"
    assert len(population) == 11


def _alike(data: Path, names: str, *, but_last: bool = False) -> Path:
    """Let all people of a file answer some questions alike, or all but the last one."""
    with data.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file, delimiter="\t")
    last = [rows.pop()] if but_last else []
    alike = [
        ["3" if name.startswith(names) else x for name, x in zip(head, row, strict=True)]
        for row in rows
    ]
    with data.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t").writerows([head, *alike, *last])
    return data


def test_people_who_do_not_differ_in_a_trait_are_refused(tmp_path: Path) -> None:
    data = _alike(_answers(tmp_path / "e.csv", 60), "EXT")
    with pytest.raises(UsageError, match=r"e\.csv: all 60 people .* have the same E; a trait in"):
        study.run(tmp_path / "out", quick=True, data=data)
    data = _alike(_answers(tmp_path / "all.csv", 60), "")
    with pytest.raises(UsageError, match=r"have the same O, C, E, A, N;"):
        study.run(tmp_path / "out", quick=True, data=data)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("few")
def test_a_trait_that_all_people_of_a_sample_have_alike_is_linked_to_nothing(
    tmp_path: Path,
) -> None:
    data = _alike(_answers(tmp_path / "data.csv", 200), "EXT", but_last=True)
    study.run(tmp_path / "out", quick=True, data=data)
    with (tmp_path / "out" / "verdicts.csv").open(encoding="utf-8") as file:
        said = {row["claim"]: row for row in csv.DictReader(file)}
    assert said["extraversion and recalled valence"]["found"].startswith("r = undefined")
    assert said["extraversion and recalled valence"]["verdict"] == "reported"
    assert said["neuroticism and recalled valence"]["verdict"] != "reported"
    with (tmp_path / "out" / "correlations.csv").open(encoding="utf-8") as file:
        cells = [row["r"] for row in csv.DictReader(file) if row["trait"] == "E"]
    assert set(cells) == {"undefined"}


@pytest.mark.usefixtures("few")
def test_samples_of_few_people_are_said_to_overlap() -> None:
    def told(people: int) -> str:
        ids = tuple(f"r{i}" for i in range(people))
        return study._told(
            Scored(kind="big_five", ids=ids, traits=np.zeros((people, 5)), dropped={}), 12
        )

    assert "samples of 10 and of 12 overlap" in told(99)
    assert "samples of 12 overlap" in told(119)
    assert "overlap" not in told(120)


def test_a_wrong_file_writes_nothing(tmp_path: Path) -> None:
    data = _answers(tmp_path / "data.csv", 60)
    data.write_text(data.read_text("utf-8").replace("\n", "\nx", 1), "utf-8")
    with pytest.raises(InputError, match=r"line 2  column OPN1: 'x\d' is not 1 to 5"):
        study.run(tmp_path / "out", quick=True, data=data)
    assert not (tmp_path / "out").exists()
