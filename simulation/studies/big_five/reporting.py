"""The tables and the pictures of the study."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.personality.figures import FIGURES
from simulation.studies.big_five import linking
from simulation.studies.big_five.profiles import KIND, TRAITS
from simulation.studies.big_five.protocol import CONDITIONS, FULL, MEASURES, NO_TRAIT, PROMPTS
from simulation.studies.big_five.replicates import EIGHTEEN, links
from simulation.studies.intervals import Interval, bootstrap
from simulation.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.rng import FloatArray
    from simulation.studies.big_five.replicates import Links, Replicate, Telling, Variant
    from simulation.studies.recalling import Bank

THEIRS: Final = {
    ("full", "valence", "N"): -0.703,
    ("full", "valence", "E"): 0.776,
    ("full", "valence", "A"): 0.607,
    ("full", "arousal", "N"): -0.518,
    ("random", "arousal", "N"): 0.072,
    ("full", "ogm", "C"): -0.710,
    ("full", "ogm", "N"): 0.683,
    ("no-trait", "ogm", "C"): -0.180,
}
"""Their correlations, PersMem Table 4 and F.4, by condition, measure and trait."""
THEIR_OGM: Final = {"full": 0.743, "no-trait": 0.513, "random": 0.519}
NOTED: Final = (("valence", "N"), ("valence", "E"), ("valence", "A"), ("ogm", "C"), ("ogm", "N"))
ENOUGH: Final = 5  # samples; of fewer no interval is worth many draws
MANY, FEW = 2000, 100
_LINKED: Final = (
    *("r", "low", "high", "least sample", "highest sample"),
    *("r, other traits held", "its samples"),
)
"""Columns of `_linked`."""
UNDEFINED: Final = Interval(value=np.nan, low=np.nan, high=np.nan)


def mean_of(values: FloatArray, purpose: str) -> Interval:
    """Return the mean over samples and its interval; NaN where a sample has none."""
    if np.isnan(values).any():
        return UNDEFINED
    return bootstrap(
        values, lambda some: float(some.mean()), purpose=purpose, draws=_draws(len(values))
    )


def told(values: FloatArray, purpose: str, digits: int = 3) -> str:
    """Return a mean over samples in words: its interval, and the range of the samples."""
    if np.isnan(values).any():
        return "undefined"
    least, most = (f"{x:.{digits}f}" for x in (values.min(), values.max()))
    return f"{mean_of(values, purpose).words(digits)}, samples {least} to {most}"


def correlation_table(found: Mapping[str, Links]) -> Table:
    """Return all correlations of the conditions."""
    rows: list[tuple[str | float, ...]] = []
    for condition in sorted(
        CONDITIONS, key=lambda one: one is NO_TRAIT
    ):  # it has the least to tell
        one = found[condition.name]
        for measure in MEASURES:
            for i, trait in enumerate(TRAITS):
                named = (condition.name, measure, trait)
                rows.append((*named, *_linked(one, measure, i, named), THEIRS.get(named, "")))
    return Table(
        name="correlations",
        title="Traits and what is recalled: mean Pearson correlation over samples of 50",
        columns=(
            "condition",
            "recalled",
            "trait",
            *_LINKED,
            "theirs",
        ),
        rows=tuple(rows),
    )


def _linked(
    links: Links, measure: str, trait: int, named: tuple[str, ...]
) -> tuple[str | float, ...]:
    """Return a correlation's mean, interval and range, and those with the other traits held."""
    alone, held = links.of(measure, trait), links.of(measure, trait, held=True)
    if np.isnan(alone).any():
        return ("undefined",) * len(_LINKED)
    mean = mean_of(alone, " ".join(named))
    others = " to ".join(map(_three, _range(held)))
    return mean.value, mean.low, mean.high, *_range(alone), float(held.mean()), others


def sample_table(done: Sequence[Replicate]) -> Table:
    """Return the correlations that the source reports in each sample, with intervals."""
    rows: list[tuple[str | int | float, ...]] = []
    for one in done:
        values = one.measured[FULL.name].values()
        for measure, trait in (*NOTED, ("arousal", "N")):
            i = TRAITS.index(trait)
            pairs = np.column_stack([one.people.traits, values[measure]])
            purpose = f"{one.seed} {measure} {trait}"
            found = _of_pairs(pairs[:, [i, -1]], purpose, draws=_draws(len(done)))
            held = float(linking.partials(one.people.traits, values[measure])[i])
            rows.append((one.seed, measure, trait, found.value, found.low, found.high, held))
    return Table(
        name="samples",
        title="Full condition, sample by sample (intervals: bootstrap over the 50 people)",
        columns=("seed", "recalled", "trait", "r", "low", "high", "r, other traits held"),
        rows=tuple(rows),
    )


def needed_table(done: Sequence[Replicate]) -> Table:
    """Return how far the traits of each sample would have to settle what is recalled.

    That is what the source's three correlations with valence, or its two with overgenerality,
    imply together among people whose traits go together as theirs do.
    """
    rows: list[tuple[int | float, ...]] = []
    for one in done:
        values, cells = one.measured[FULL.name].values(), []
        for measure in ("valence", "ogm"):
            which = [trait for m, trait in NOTED if m == measure]
            traits = one.people.traits[:, [TRAITS.index(trait) for trait in which]]
            theirs = np.array([THEIRS[FULL.name, measure, trait] for trait in which])
            found = linking.correlations(traits, values[measure])
            cells += [linking.needed(traits, theirs), linking.needed(traits, found)]
        rows.append((one.seed, *cells))
    return Table(
        name="needed",
        title="Share of what is recalled that the traits named in the source explain",
        columns=(
            "seed",
            "valence: for theirs (N, E, A)",
            "valence: found",
            "ogm: for theirs (C, N)",
            "ogm: found",
        ),
        rows=tuple(rows),
    )


def prompt_table(bank: Bank) -> Table:
    """Return how alike the prompts are to overgeneral and to other memories."""
    query = bank.texts.intern(list(PROMPTS))
    items = np.tile(bank.items, (len(PROMPTS), 1))
    alike = np.clip(bank.texts.cosine(items, query[:, None]), 0.0, 1.0)
    vague, valence = bank.corpus.overgeneral, bank.corpus.affect[:, 0]
    rows = [
        (
            prompt,
            float(row[vague].mean()),
            float(row[~vague].mean()),
            linking.pearson(row, vague.astype(np.float64)),
            linking.pearson(row, valence),
        )
        for prompt, row in zip(PROMPTS, alike, strict=True)
    ]
    return Table(
        name="prompts",
        title="Mean similarity of the prompts to the memories, and its correlation with labels",
        columns=("prompt", "overgeneral", "specific", "r, overgeneral", "r, valence"),
        rows=tuple(rows),
    )


def level_table(done: Sequence[Replicate]) -> Table:
    """Return means and standard deviations over people of what is recalled."""
    rows = []
    for condition in CONDITIONS:
        for measure in MEASURES:
            values = [one.measured[condition.name].values()[measure] for one in done]
            means = np.array([float(y.mean()) for y in values])
            spread = float(np.mean([y.std() if np.ptp(y) else 0.0 for y in values]))
            theirs = THEIR_OGM.get(condition.name, "") if measure == "ogm" else ""
            row = (condition.name, measure, float(means.mean()), *_range(means), spread, theirs)
            rows.append(row)
    return Table(
        name="levels",
        title="What is recalled: mean over people and samples, and deviation over people",
        columns=(
            "condition",
            "recalled",
            "mean",
            "least sample",
            "highest sample",
            "sd",
            "theirs",
        ),
        rows=tuple(rows),
    )


def trait_table(done: Sequence[Replicate], *, sampled_from_file: bool) -> Table:
    """Return the traits of the sampled people (the counterpart of Table 16)."""
    whole = np.concatenate([one.people.traits for one in done])
    figures = FIGURES[KIND]
    rows: list[tuple[str | float, ...]] = []
    for i, trait in enumerate(TRAITS):
        first, every = done[0].people.traits[:, i], whole[:, i]
        ends = (float(first.min()), float(first.max()))
        moments = [float(f) for y in (first, every) for f in (y.mean(), y.std())]
        rows.append((trait, *moments[:2], *ends, *moments[2:], figures.mean[i], figures.sd[i]))
    source = "your file" if sampled_from_file else "the joint structure of real people"
    return Table(
        name="traits",
        title=f"Traits of the sampled people, from {source}",
        columns=(
            "trait",
            "first sample: mean",
            "first sample: sd",
            "first sample: least",
            "first sample: most",
            "all samples: mean",
            "all samples: sd",
            "survey: mean",
            "survey: sd",
        ),
        rows=tuple(rows),
    )


def variant_table(name: str, title: str, found: Sequence[Variant]) -> Table:
    """Return the main correlations in several ways of measuring."""
    rows = []
    for one in found:
        cells: list[str | float] = []
        for measure, trait in NOTED:
            values = one.links.of(measure, TRAITS.index(trait))
            least, most = map(_three, _range(values))
            cells += [float(values.mean()), f"{least} to {most}"]
        rows.append((one.name, *cells, *(float(one.levels[:, i].mean()) for i in (0, -1))))
    heads = [c for m, t in NOTED for c in (f"{t}, {m}", f"samples ({t}, {m})")]
    return Table(
        name=name,
        title=title,
        columns=("way", *heads, "mean valence", "mean ogm"),
        rows=tuple(rows),
    )


def people_table(
    name: str,
    title: str,
    found: Sequence[Telling],
    figures: Mapping[tuple[str, str], str],
) -> Table:
    """Return the correlations of many people's recall beside those of real people."""
    rows = []
    for one in found:
        for measure in (
            "valence",
            "overgeneral",
            *(("ogm",) if one.by.startswith(EIGHTEEN) else ()),
        ):
            for i, trait in enumerate(TRAITS):
                named = (one.condition, one.by, measure, trait)
                spread = float(one.spreads[:, MEASURES.index(measure)].mean())
                known = figures.get((measure, trait), "")
                rows.append((*named, *_linked(one.links, measure, i, named), spread, known))
    return Table(
        name=name,
        title=title,
        columns=(
            "condition",
            "recall",
            "recalled",
            "trait",
            *_LINKED,
            "sd of the recalled",
            "real people",
        ),
        rows=tuple(rows),
    )


def profile_csv(done: Sequence[Replicate]) -> str:
    """Return every sampled person with what it recalled in each condition, as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = [f"{condition.name}: {m}" for condition in CONDITIONS for m in MEASURES]
    writer.writerow(("seed", "profile", *TRAITS, *heads))
    for one in done:
        measured = [one.measured[condition.name].values() for condition in CONDITIONS]
        columns = [values[m] for values in measured for m in MEASURES]
        table = np.column_stack([one.people.traits, *columns]).tolist()
        for name, row in zip(one.people.ids, table, strict=True):
            writer.writerow((one.seed, name, *map(repr, row)))
    return out.getvalue()


def of_conditions(done: Sequence[Replicate]) -> dict[str, Links]:
    """Return the correlations of each condition."""
    return {
        condition.name: links([(one.people, one.measured[condition.name]) for one in done])
        for condition in CONDITIONS
    }


def _of_pairs(pairs: FloatArray, purpose: str, *, draws: int) -> Interval:
    """Return the correlation of pairs (P, 2) and its interval over people."""

    def r(some: FloatArray) -> float:
        return linking.pearson(some[:, 0], some[:, 1])

    if np.isnan(r(pairs)):
        return UNDEFINED
    return bootstrap(pairs, r, purpose=purpose, draws=draws)


def _draws(samples: int) -> int:
    return MANY if samples >= ENOUGH else FEW


def _range(values: FloatArray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _three(value: float) -> str:
    return f"{value:.3f}"
