"""The documented run on real input: respondents of a survey on a friendship graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simulation import graph, ontology, population
from simulation.errors import ScenarioError
from simulation.rng import Streams
from simulation.scenario.reading import read_scenario

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = ROOT / "scenarios" / "gss_facebook.yaml"
DATA = ROOT.parent / "shared" / "data"
PEOPLE = DATA / "populations" / "gss_personas.csv"
FRIENDS = DATA / "graphs" / "ego_facebook.txt"

needs_data = pytest.mark.skipif(
    not (PEOPLE.exists() and FRIENDS.exists()),
    reason="the survey and the edge list are not beside the repository",
)


def test_without_the_files_the_scenario_says_which_ones_it_needs() -> None:
    with pytest.raises(ScenarioError) as caught:
        read_scenario(SCENARIO)
    assert {problem.where for problem in caught.value.problems} == {
        "population.source",
        "graph.file",
    }


@needs_data
def test_the_scenario_builds_its_people_and_their_ties_from_the_files() -> None:
    loaded = read_scenario(
        SCENARIO, settings=[f"population.source={PEOPLE}", f"graph.file={FRIENDS}"]
    )
    scenario, streams = loaded.scenario, Streams(7)
    field = ontology.load(scenario.ontology)
    people = population.build(
        scenario.population,
        targets=scenario.targets,
        tier=scenario.tier,
        ontology=field,
        streams=streams,
        file=loaded.files["population.source"],
        source=str(SCENARIO),
    )
    follows = graph.build(
        scenario.graph, people=people, streams=streams, file=loaded.files["graph.file"]
    )
    assert scenario.horizon == 20
    assert len(people) == 3505
    assert len(follows) > 100_000
    views = np.array([values["political_views"] for values in people.attributes])
    fit = people.beliefs[:, scenario.targets.index("fit")]
    assert fit[views == "Liberal"].mean() == pytest.approx(0.66, abs=0.03)
    assert fit[views == "Conservative"].mean() == pytest.approx(0.36, abs=0.03)
