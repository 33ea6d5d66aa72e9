"""The study `networks`: personas that revise a stated probability, beside people who did.

What is set is set on half of the networks, every other one in order; the rest is the test.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulation.encoders import EncoderSpec, load
from simulation.studies.networks import clinicians, fitting, society
from simulation.studies.networks.baselines import baselines
from simulation.studies.networks.found import (
    ARMS,
    ELSEWHERE,
    MAIN,
    OWN,
    Arm,
    Clinic,
    News,
    ratios_of,
)
from simulation.studies.networks.measuring import SEEDS_AVERAGED
from simulation.studies.networks.panel import halves
from simulation.studies.networks.pictures import pictures
from simulation.studies.networks.reading import read
from simulation.studies.networks.tables import records, tables
from simulation.studies.networks.verdicts import verdicts
from simulation.studies.output import Findings, publish, sha256_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.encoders import Encoder
    from simulation.studies.networks.fitting import Effort, Fitted
    from simulation.studies.networks.panel import FloatArray, Panel

NAME: Final = "networks"
SEEDS: Final = tuple(range(1, SEEDS_AVERAGED + 1))
RULE_SEEDS: Final = SEEDS[:5]
QUICK_SEEDS: Final = SEEDS[:2]
QUICK_NETWORKS: Final = 6
ABOUT: Final = (
    "People stated in three rounds how likely a news item is to be true (Guilbeault, Woolley & "
    "Becker 2021) or how large a patient's risk is (Centola et al. 2021) and saw in between what "
    "their peers stated. Personas of the engine begin with people's first answers, post what they "
    "believe, read their peers' posts and revise. All that can be set is set on every other "
    "network; the figures are of the others, and of last answers, unless they say otherwise."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is done: seeds, the search, and how many networks at most (0 for all)."""

    seeds: Sequence[int]
    rule_seeds: Sequence[int]
    effort: Effort
    networks: int
    both_ways: bool


FULL: Final = Plan(
    seeds=SEEDS, rule_seeds=RULE_SEEDS, effort=fitting.Effort(), networks=0, both_ways=True
)
SHORT: Final = Plan(
    seeds=QUICK_SEEDS,
    rule_seeds=QUICK_SEEDS[:1],
    effort=fitting.QUICK,
    networks=QUICK_NETWORKS,
    both_ways=False,
)


def run(folder: Path, *, quick: bool, data: Path | None) -> str:
    """Make the study, write it into a new folder and return what to print.

    quick: few seeds, networks and trials of the search.  data: a folder with misinformation.csv
    and clinicians.csv, or one of the two files.

    Raises:
        UsageError: no data are named, or they are not there.
        InputError: a file cannot be used. Nothing is written.
    """
    return publish(make(quick=quick, data=data), folder, quick=quick)


def make(*, quick: bool, data: Path | None) -> Findings:
    """Return what the study finds.

    Raises:
        UsageError: no data are named, or they are not there.
        InputError: a file cannot be used.
    """
    people = read(data)
    plan = SHORT if quick else FULL
    encoder = load(EncoderSpec(name="static"))
    news = None if people.news is None else judge(people.news, plan, encoder)
    clinic = None
    if people.clinicians is not None:
        moved = None if news is None else news.arms["peers"].fitted
        clinic = judge_clinicians(people.clinicians, plan, encoder, elsewhere=moved)
    return Findings(
        name=NAME,
        title="belief revision in networks of people",
        about=ABOUT,
        verdicts=verdicts(news, clinic),
        tables=tables(news, clinic, people.binary),
        pictures=pictures(news),
        seeds=tuple(plan.seeds),
        configuration=_configuration(plan),
        data={path.name: sha256_of(path) for path in people.files},
        encoders=(encoder,),
        records=records(news),
    )


def judge(panel: Panel, plan: Plan, encoder: Encoder) -> News:
    """Return what is found about stated probabilities: fitted on one half, run on the other."""
    panel = _cut(panel, plan)
    fitted_on, test = halves(panel)
    arms = {name: _arm(name, fitted_on, test, plan, encoder) for name in ARMS}
    rule = np.stack([society.by_rule(test, seed=s, encoder=encoder) for s in plan.rule_seeds])
    back = _arm(MAIN, test, fitted_on, plan, encoder) if plan.both_ways else None
    found = News(
        fitted_on=fitted_on,
        test=test,
        arms=arms,
        rule=np.moveaxis(rule, -1, 0),
        baselines=baselines(fitted_on, ridge=fitting.RIDGE),
        back=back,
        baselines_back=baselines(test, ridge=fitting.RIDGE) if plan.both_ways else (),
    )
    return replace(found, ratios=ratios_of(found))


def judge_clinicians(
    panel: Panel, plan: Plan, encoder: Encoder, *, elsewhere: Fitted | None
) -> Clinic | None:
    """Return what is found about the clinicians; None where a half lacks a condition.

    elsewhere: what was set on the news items, to be tried here as it is.
    """
    fitted_on, test = halves(panel)
    if not clinicians.both_conditions(panel, (fitted_on, test)):
        return None
    arms = {OWN: fitting.fit(fitted_on, claims="none", effort=plan.effort)}
    if elsewhere is not None:
        arms[ELSEWHERE] = replace(elsewhere, plausibility=np.zeros(len(panel.claims)))
    back = None
    if plan.both_ways:
        turned = fitting.fit(test, claims="none", effort=plan.effort)
        back = Arm(fitted=turned, rounds=_runs(fitted_on, turned, plan, encoder))
    return Clinic(
        whole=panel,
        fitted_on=fitted_on,
        test=test,
        arms={
            name: Arm(fitted=fitted, rounds=_runs(test, fitted, plan, encoder))
            for name, fitted in arms.items()
        },
        back=back,
    )


def _cut(panel: Panel, plan: Plan) -> Panel:
    return panel.of(panel.networks[: plan.networks]) if plan.networks else panel


def _arm(name: str, fitted_on: Panel, test: Panel, plan: Plan, encoder: Encoder) -> Arm:
    fitted = fitting.fit(fitted_on, claims=ARMS[name].claims, effort=plan.effort)
    return Arm(fitted=fitted, rounds=_runs(test, fitted, plan, encoder))


def _runs(panel: Panel, fitted: Fitted, plan: Plan, encoder: Encoder) -> FloatArray:
    """Return the answers of runs of the engine, (3, S, N)."""
    found = [
        society.revise(panel, fitted.parameters, fitted.plausibility, seed=seed, encoder=encoder)
        for seed in plan.seeds
    ]
    return np.moveaxis(np.stack(found), -1, 0)


def _configuration(plan: Plan) -> dict[str, Any]:
    return {
        "seeds": list(plan.seeds),
        "rule_seeds": list(plan.rule_seeds),
        "search": asdict(plan.effort) | {"seeds": list(plan.effort.seeds)},
        "networks_at_most": plan.networks,
        "start": asdict(fitting.START),
        "bounds": {name: list(pair) for name, pair in fitting.BOUNDS.items()},
        "ridge": fitting.RIDGE,
        "shape_weight": fitting.SHAPE_WEIGHT,
        "step_weight": fitting.STEP_WEIGHT,
        "arms": {name: asdict(kind) for name, kind in ARMS.items()},
    }
