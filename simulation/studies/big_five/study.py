"""The study: samples, controls, people, tables and verdicts, into one folder.

Source: PersMem, 4.2 (Experiment 2, recall), D.1 to D.3, F.1, F.2 (prompts) and F.4; method.md 7.
The figures of people are those of `simulation.studies.calibration.human`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from simulation.mind.affect import NEUTRAL_STATE
from simulation.personality import maps
from simulation.personality.questionnaires import Scored, population_csv
from simulation.studies import corpus, recalling
from simulation.studies.big_five import claims, protocol, replicates, reporting
from simulation.studies.big_five.profiles import KIND, TRAITS, answers
from simulation.studies.big_five.protocol import FULL, HUMAN, PROMPTS, Way
from simulation.studies.calibration import human
from simulation.studies.output import Findings, publish, sha256_of
from simulation.studies.plots import bars

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from simulation.studies.big_five.replicates import Links, Replicate, Telling
    from simulation.studies.recalling import Bank
    from simulation.studies.tables import Table

NAME: Final = "big-five"
SEEDS: Final = tuple(range(20))
QUICK_SEEDS: Final = (0, 1)
QUICK_PEOPLE: Final = 96
MANY_TIMES: Final = 10
"""Drawn from fewer times as many people, samples overlap so far that it must be told."""
ABOUT: Final = (
    "Fifty people with sampled Big Five profiles share 320 memories. Each recalls three memories "
    "for each of six prompts in a neutral state, and single memories under distress. Traits are "
    "then correlated with the valence and the overgenerality of what was recalled. All traits of "
    "a person go together, so a correlation is of people and not the effect of one trait; beside "
    "it stands the one with the other traits held. The `paper` map of gains was fitted to targets "
    "that ask for such links: to find them shows that the mechanism does what it was told, "
    "nothing about persons. The same is measured with the `human` map, as people were asked."
)


def run(folder: Path, *, quick: bool, data: Path | None) -> str:
    """Make the study, write it into a new folder and return what to print.

    data: raw answers to the IPIP-FFM (`simulation.personality.questionnaires`), whose people are
    then drawn; default, the joint structure of real people.

    Raises:
        InputError: the file cannot be used.
    """
    scored = None if data is None else answers(data, least=replicates.PROFILES)
    seeds = QUICK_SEEDS if quick else SEEDS
    bank = recalling.bank(corpus.read("events"))
    done = list(replicates.replicates(bank, seeds, scored))
    count = QUICK_PEOPLE if quick else replicates.PEOPLE
    many = replicates.tellings(bank, seeds, scored, count=count)
    links = reporting.of_conditions(done)
    tables = [
        reporting.correlation_table(links),
        reporting.level_table(done),
        reporting.people_table(
            "people",
            "Many people beside real ones: mean correlation over samples",
            many,
            claims.people_figures(),
        ),
        reporting.trait_table(done, sampled_from_file=scored is not None),
        reporting.sample_table(done),
        reporting.needed_table(done),
        reporting.prompt_table(bank),
    ]
    if not quick:
        others = replicates.other_tellings(bank, seeds, scored, count=count)
        tables += _other_ways(done, bank, others)
    findings = Findings(
        name=NAME,
        title="recalled memories and the Big Five",
        about=ABOUT if scored is None else f"{ABOUT} {_told(scored, count)}",
        verdicts=claims.verdicts(done, links, many),
        tables=tuple(tables),
        pictures={"links": _picture(links), "people": _picture_of_people(many)},
        seeds=seeds,
        configuration=_configuration(scored),
        data=_digests(data),
        encoders=(bank.encoder,),
        records={"profiles.csv": reporting.profile_csv(done), "population.csv": _population(done)},
    )
    return publish(findings, folder, quick=quick)


def _other_ways(done: list[Replicate], bank: Bank, others: list[Telling]) -> list[Table]:
    robust, sensitive = replicates.robust(done, bank), replicates.sensitive(done, bank)
    few = f"(first {replicates.FEW_SAMPLES} samples)"
    return [
        reporting.variant_table(
            "robustness", "Full condition, measured in other defensible ways", robust
        ),
        reporting.variant_table(
            "sensitivity",
            f"Full condition with other constants {few}; the map stays as it is",
            sensitive,
        ),
        reporting.people_table(
            "people_sensitivity",
            f"Many people with human gains and other constants {few}",
            others,
            claims.people_figures(),
        ),
    ]


def _population(done: list[Replicate]) -> str:
    """Return the people of the first sample as a population file."""
    people = done[0].people
    return population_csv(Scored(kind=KIND, ids=people.ids, traits=people.traits, dropped={}))


def _told(scored: Scored, count: int) -> str:
    """Return who is in a file. count: the people of the largest samples."""
    dropped = ", ".join(f"{times:,} {reason}" for reason, times in scored.dropped.items())
    there = len(scored.ids)
    told = f"Your file has {there:,} people who answered all items; {dropped}."
    sizes = [size for size in (replicates.PROFILES, count) if there < MANY_TIMES * size]
    if not sizes:
        return told
    return (
        f"{told} Each sample is drawn from them anew, so samples of "
        f"{' and of '.join(map(str, sizes))} overlap (of fewer people all are taken): they are "
        "not independent, and intervals over samples are too narrow."
    )


def _picture(links: dict[str, Links]) -> str:
    labels = [f"{trait}, {measure}" for measure, trait in reporting.NOTED]
    series, marks = {}, {}
    for name in (FULL.name, HUMAN.name):
        found = [links[name].of(m, TRAITS.index(t)) for m, t in reporting.NOTED]
        series[name] = [float(values.mean()) for values in found]
        marks[name] = [(float(values.min()), float(values.max())) for values in found]
    series["PersMem"] = [reporting.THEIRS[FULL.name, m, t] for m, t in reporting.NOTED]
    title = "Traits and recall: mean over samples of 50, with their range"
    return bars(title, labels=labels, series=series, intervals=marks, y="correlation")


def _picture_of_people(found: list[Telling]) -> str:
    traits = ("N", "E", "A")
    known = {one.trait[0].upper(): one for one in human.FIGURES_OF_PEOPLE if one.fitted}
    people = [known[trait] for trait in traits]
    series = {"people": [one.value for one in people]}
    marks = {"people": [(one.low, one.high) for one in people]}
    for one in found:
        if one.by == replicates.TOLD:
            values = [one.links.of("valence", TRAITS.index(trait)) for trait in traits]
            series[one.condition] = [float(some.mean()) for some in values]
            marks[one.condition] = [(float(some.min()), float(some.max())) for some in values]
    title = "Traits and the valence of two memories"
    return bars(title, labels=list(traits), series=series, intervals=marks, y="correlation")


def _configuration(scored: Scored | None) -> dict[str, Any]:
    return {
        "profiles": replicates.PROFILES,
        "people": "joint structure of real people" if scored is None else dict(scored.dropped),
        "prompts": list(PROMPTS),
        "state": list(NEUTRAL_STATE),
        "distress": list(recalling.DISTRESS),
        "recalled_a_prompt": protocol.RECALLED,
        "draws_a_prompt": protocol.DRAWS,
        "way": asdict(Way()),
        "conditions": {
            one.name: "even" if one.spec is None else one.spec.model_dump()
            for one in protocol.CONDITIONS
        },
        "maps_sha256": maps.sha256(),
        "figures_of_people": human.SOURCE,
    }


def _digests(data: Path | None) -> dict[str, str]:
    used = ("events.csv", "second.csv")
    found = {name: digest for name, digest in corpus.digests().items() if name in used}
    return found if data is None else found | {data.name: sha256_of(data)}
