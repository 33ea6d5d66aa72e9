from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from small import SMALL, small

from simulation import founding, runs
from simulation.engine import Engine
from simulation.errors import ScenarioError
from simulation.scenario import load_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PEOPLE = "id,age,town\nann,34,Ulm\nbob,51,Bonn\ncy,29,Kiel\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "edges.txt").write_text("ann bob\nbob cy\n", encoding="utf-8")
    return tmp_path


def problems(folder: Path, *settings: str, run: bool = False, **changes: Any) -> list[str]:
    """Return what `read` and the making of a world (or of a run) say of a changed scenario."""
    file = folder / "small.yaml"
    text = yaml.safe_dump(SMALL | changes, allow_unicode=True, sort_keys=False)
    file.write_text(text, encoding="utf-8")
    fit: Callable[..., Any] = Engine if run else runs.check
    with pytest.raises(ScenarioError) as caught:
        fit(founding.read(file, settings=settings))
    return [str(problem) for problem in caught.value.problems]


def told(found: list[str], *parts: str) -> bool:
    """Return whether there is one problem for each text, and no other."""
    return len(found) == len(parts) and all(any(p in line for line in found) for p in parts)


def stimulus(**keys: Any) -> dict[str, Any]:
    return {"tick": 1, "text": "Bolt is here.", **keys}


def from_file(**keys: Any) -> dict[str, Any]:
    return {"source": "people.csv", **keys}


def test_a_late_tick_and_a_wrong_column_are_told_together(home: Path) -> None:
    found = problems(
        home, population=from_file(id_column="idd"), graph={}, stimuli=[stimulus(tick=99)]
    )
    assert told(found, "stimuli[0].tick  must be between", 'population.id_column  no column "idd"')
    assert all(line.startswith("line ") for line in found)


def test_an_unknown_ontology_hides_neither_a_late_tick_nor_a_wrong_column(home: Path) -> None:
    found = problems(
        home,
        ontology="consumer_product",
        population=from_file(id_column="idd"),
        stimuli=[stimulus(tick=99)],
    )
    assert told(found, "ontology  ", "stimuli[0].tick", "population.id_column")


def test_an_unknown_ontology_is_told_with_the_line_of_the_scenario(home: Path) -> None:
    (found,) = problems(home, ontology="consumer_product")
    text = (home / "small.yaml").read_text("utf-8").splitlines()
    line = 1 + text.index("ontology: consumer_product")
    assert found.startswith(f'line {line}  ontology  "consumer_product" does not ship')
    assert 'did you mean "consumer_products"?' in found


def test_a_wrong_name_hides_no_wrong_column(home: Path) -> None:
    found = problems(home, name="my study", population=from_file(id_column="idd"))
    assert told(found, "name  ", "population.id_column")


def test_every_wrong_column_is_told_with_every_wrong_cell_of_the_others(home: Path) -> None:
    population = from_file(
        id_column="idd", columns={"age": "town", "gender": "sex"}, activity={"column": "town"}
    )
    found = problems(home, population=population)
    assert sum('no column "' in line for line in found) == 2
    assert sum("is not a number from 0 to 1" in line for line in found) == 3
    assert sum("is not a number" in line for line in found) == 6
    assert all("population.source  " in line for line in found if "people.csv" in line)


def test_a_missing_horizon_hides_nothing_that_can_be_checked_without_it(home: Path) -> None:
    scenario = {key: value for key, value in SMALL.items() if key != "horizon"}
    scenario |= {
        "horizn": 8,
        "stimuli": [stimulus(tick=99, audience={"age_grup": ["x"]})],
        "graph": {"kind": "homophily", "by": ["gendr"]},
    }
    (home / "a.yaml").write_text(yaml.safe_dump(scenario), encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        founding.read(home / "a.yaml")
    found = [str(problem) for problem in caught.value.problems]
    assert told(found, "horizn  unknown key", "horizon  is required", "age_grup", "graph.by[0]")


def test_a_broken_part_brings_no_complaint_about_what_depends_on_it(home: Path) -> None:
    brief = SMALL["brief"] | {"claims": [{"id": "C 1", "text": "x"}]}
    population = from_file(id_column=7, beliefs={"C1": 0.3, "trust": "high"})
    edges = {"kind": "edges", "file": "edges.txt"}
    found = problems(home, brief=brief, population=population, graph=edges, stimuli=[{"tick": 1}])
    assert told(
        found,
        "brief.claims[0].id",
        "population.id_column",
        "population.beliefs.trust",
        "population.beliefs.C1",
        "stimuli[0].text",
    )


def test_too_little_left_is_told_as_it_is(home: Path) -> None:
    assert told(problems(home, brief=3, population=4), "brief  ", "population  ")


def test_ontology_population_and_graph_files_are_told_in_one_report(home: Path) -> None:
    (home / "own.yaml").write_text("name: own\nattributes: [{id: a, kind: txt}]\n", "utf-8")
    (home / "people.csv").write_text("id,id\n1,2\n", encoding="utf-8")
    (home / "edges.txt").write_text("ann\n", encoding="utf-8")
    found = problems(
        home,
        ontology="own.yaml",
        population=from_file(),
        graph={"kind": "edges", "file": "edges.txt"},
    )
    assert told(found, "own.yaml: line 2", "people.csv: line 1", "edges.txt: line 1")
    assert [line.split("  ")[1] for line in found] == [
        "ontology",
        "population.source",
        "graph.file",
    ]


def test_the_problems_of_one_file_keep_its_name_and_lines(home: Path) -> None:
    (home / "edges.txt").write_text("ann\nbob zoe\n", encoding="utf-8")
    edges = {"kind": "edges", "file": "edges.txt"}
    found = problems(home, population=from_file(id_column="id"), graph=edges)
    assert told(found, "line 1  `source target`", "line 2  'zoe' is not a persona id")


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_what_a_language_model_lacks_is_told_with_the_rest(
    home: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(f"{provider.upper()}_API_KEY", raising=False)
    models = {"cheap": {"provider": provider, "model": "m"}}
    graph = {"kind": "homophily", "by": ["gendr"]}
    found = problems(home, run=True, models=models, graph=graph)
    assert told(found, "models.cheap.provider  ", "models.cheap.model  ", "graph.by[0]")
    said = "\n".join(found)
    assert f"{provider} needs a key; set the environment's {provider.upper()}_API_KEY" in said
    assert f"no price is known for m at api.{provider}.com" in said
    assert all(line.startswith("line ") for line in found)


def test_an_audience_is_checked_like_means(home: Path) -> None:
    ages = {"age": ["teens"]}
    found = problems(home, stimuli=[stimulus(audience={"gender": ["womam"]} | ages)])
    gender, age = (next(line for line in found if key in line) for key in ("gender", "age  "))
    assert "there are " in gender
    assert 'did you mean "woman"?' in gender
    assert "is not a number; bands are " in age


def test_an_audience_names_bands_and_single_numbers() -> None:
    world, field, people = founded(stimuli=[])
    band = field["age"].levels[0]
    ages = [int(a["age"]) for a in people.attributes]
    single = max(ages)
    events = founded(
        stimuli=[
            stimulus(audience={"age": [band.id]}),
            stimulus(audience={"age": [band.id, str(single)]}),
        ]
    )[0].events
    inside = [band.low <= age <= band.high for age in ages]
    assert events[0].audience.tolist() == inside
    assert events[1].audience.tolist() == [
        there or age == single for there, age in zip(inside, ages, strict=True)
    ]
    assert world.notes == ()


def founded(*settings: str, **changes: Any) -> Any:
    from simulation.engine import Engine  # noqa: PLC0415 - only for its world

    engine = Engine(small(settings=settings, **changes), encoder=runs._NoVectors())
    return engine.world, engine.ontology, engine.people


@pytest.mark.parametrize(
    ("kind", "stance"),
    [("correction", -1.0), ("question", 0.0), ("ad", 1.0), ("news", 1.0), ("review", 1.0)],
)
def test_a_stance_follows_from_the_kind_unless_it_is_given(kind: str, stance: float) -> None:
    given = [stimulus(kind=kind), stimulus(kind=kind, stance=0.25)]
    assert [event.stance for event in founded(stimuli=given)[0].events] == [stance, 0.25]


def test_a_horizon_set_shorter_leaves_later_stimuli_out_and_says_so() -> None:
    world, *_ = founded("horizon=3")
    assert [event.id for event in world.events] == ["s1", "s2-2", "ask"]
    assert world.notes == ("stimuli: 1 comes after the horizon of 3 and is left out: s2-5",)
    world, *_ = founded("horizon=1")
    assert world.notes == (
        "stimuli: 3 come after the horizon of 1 and are left out: s2-2, s2-5, ask",
    )


@pytest.mark.parametrize(
    ("settings", "tick"),
    [(["horizon=3"], 9), (["horizon=3", "stimuli[0].tick=5"], 1), ([], 9), (["seed=3"], 9)],
)
def test_a_tick_that_no_horizon_of_the_file_allows_stays_an_error(
    settings: list[str], tick: int
) -> None:
    with pytest.raises(ScenarioError, match=r"stimuli\[0\]\.tick"):
        small(settings=settings, stimuli=[stimulus(tick=tick)])


def test_without_a_horizon_in_the_file_the_one_that_is_set_cuts_it_off() -> None:
    scenario = {key: value for key, value in SMALL.items() if key != "horizon"}
    text = yaml.safe_dump(scenario)
    assert load_text(text, settings=["horizon=2"]).scenario.horizon == 2


def test_settings_without_effect_are_noted() -> None:
    world, *_ = founded(
        graph={"kind": "none", "degree": 4, "assign": "permutation"},
        recall={"mode": "none", "tau": 3.0},
        encoder={"base_url": "http://127.0.0.1:9"},
        models={"cheap": {"temperature": 1.0}},
    )
    assert [note.partition(":")[0] for note in world.notes] == [
        "graph.degree",
        "graph.assign",
        "recall.tau",
        "encoder.base_url",
        "models.cheap.temperature",
    ]


def test_an_id_column_that_is_not_read_and_a_lottery_of_ids_are_noted(home: Path) -> None:
    edges = {"kind": "edges", "file": "edges.txt", "assign": "permutation"}
    by_lot, *_ = founded_in(home, population=from_file(id_column="id"), graph=edges)
    assert any("every node of the file is the id of a persona" in n for n in by_lot.notes)
    numbered, *_ = founded_in(home, population=from_file(), graph={"kind": "none"})
    (note,) = numbered.notes
    assert note.startswith('population: the column "id" is not read')


def founded_in(folder: Path, **changes: Any) -> Any:
    return (runs.check(small(folder, **changes)),)


def test_what_cannot_be_mended_is_told_as_far_as_it_was_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.scenario.mending._ROUNDS", 1)
    found = problems(home, brief=3, population={"sise": 3}, stimuli=[{"tick": 1}])
    assert told(found, "brief  ", "population.sise", "population.size", "stimuli[0].text")


def test_a_node_that_depends_on_a_doubtful_id_column_is_not_complained_about(home: Path) -> None:
    edges = {"kind": "edges", "file": "edges.txt"}
    found = problems(home, population=from_file(id_colum="id"), graph=edges)
    assert told(found, "population.id_colum  unknown key")


def test_a_run_tells_what_validate_tells(home: Path) -> None:
    population = from_file(id_column="idd")
    found = problems(home, population=population, stimuli=[stimulus(tick=99)])
    with pytest.raises(ScenarioError) as caught:
        runs.simulate(home / "small.yaml", out=home / "a.duckdb")
    assert [str(problem) for problem in caught.value.problems] == found
    assert len(found) == 2
    assert not (home / "a.duckdb").exists()
