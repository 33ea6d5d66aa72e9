"""The study `persmem-calibration`: fit the maps again and measure those that ship.

Source: PersMem, C.8, D.3, F.5; method.md 7.8.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from simulation.encoders import EncoderSpec, load
from simulation.mind import calibration, traits
from simulation.mind.affect import NEUTRAL_STATE
from simulation.personality import maps
from simulation.studies import plots
from simulation.studies.calibration import fitting, human, measuring, tables
from simulation.studies.calibration.measuring import BIG_FIVE, KINDS
from simulation.studies.calibration.store import digests, read_store
from simulation.studies.calibration.tables import Fitted, Measured, Variant
from simulation.studies.output import Findings, publish, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simulation.encoders import Encoder
    from simulation.mind.calibration import FloatArray, SearchSettings
    from simulation.studies.calibration.measuring import Kind
    from simulation.studies.calibration.store import Store

NAME: Final = "persmem-calibration"
QUICK_GENERATIONS: Final = 2
QUICK_PEOPLE: Final = 48
LONG_SEARCH: Final = calibration.SearchSettings(generations=60, population=30, elites=8)
OTHER_SEEDS: Final = tuple(range(1, 8))
MORE_DRAWS: Final = (60, 200)  # a cue for overgeneral recall, on the reference cue for departure


def calibrate(*, quick: bool = False, encoder: Encoder | None = None) -> Findings:
    """Return what the study finds.

    quick: two generations of each search and no variants; the shipped maps are measured in full.
    encoder: where similarities come from; default, the shipped static encoder, which the shipped
    maps were fitted with.
    """
    encoder = encoder or load(EncoderSpec(name="static"))
    store = read_store(encoder)
    measured = [measure(kind, store) for kind in KINDS]
    fitted = [*(_refit(kind, store, quick=quick) for kind in KINDS), _refit_human(store, quick)]
    summary = tables.summary_table(measured)
    found = [
        tables.target_table(measured),
        tables.measure_table(measured),
        tables.error_table(measured),
        summary,
        tables.gain_table(measured),
        tables.coefficient_table(),
        tables.people_table(_correlations(store)),
        tables.refit_table(fitted),
    ]
    if not quick:
        found.append(tables.variant_table(list(variants(store))))
    return Findings(
        name=NAME,
        title="maps from traits to gains",
        about="The maps are design choices, not a validated model of people.",
        verdicts=(),
        tables=tuple(found),
        pictures={"errors": error_bars(measured)},
        seeds=(measuring.SEED,),
        configuration=_configuration(store, quick=quick),
        data=digests(),
        encoders=(encoder,),
        # two generations make no map that anybody should use
        records={} if quick else {"maps.json": _maps(fitted, store)},
        notes=(shown(summary).rstrip(),),
    )


def run(folder: Path, *, quick: bool, data: None = None) -> str:  # noqa: ARG001 - as all studies
    """Make the study, write it into a new folder and return what to print."""
    return publish(calibrate(quick=quick), folder, quick=quick)


def error_bars(found: Sequence[Measured]) -> str:
    """Return the errors under the fixed gains and the shipped map as SVG, setting by setting."""
    labels = [
        f"{one.kind.name}: {name}{'' if s < one.kind.fitted else ' (not fitted)'}".replace(
            "_", " "
        )
        for one in found
        for s, name in enumerate(one.kind.settings)
    ]
    named = {"fixed gains": "reference", "fitted map": "paper"}
    series = {
        words: [error for one in found for error in one.errors[name].tolist()]
        for words, name in named.items()
    }
    title = "Calibration error by setting, in ranges of each measure"
    return plots.bars(title, labels=labels, series=series, y="error")


def measure(kind: Kind, store: Store) -> Measured:
    """Return targets, and measures and errors of the shipped map and the fixed reference."""
    draws = measuring.draw(store, overgeneral=kind.draws)
    aims = measuring.targets(kind, store, draws)
    found = {}
    for name in ("reference", "paper"):
        given = maps.gains(name, kind.name, kind.vectors)
        found[name] = measuring.measure(kind, store, draws, personality=kind.vectors, gains=given)
    errors = {name: measuring.errors(values, aims) for name, values in found.items()}
    return Measured(kind=kind, aims=aims, measures=found, errors=errors)


def _refit(kind: Kind, store: Store, *, quick: bool) -> Fitted:
    search = _search(kind.search, quick)
    draws = measuring.draw(store, overgeneral=kind.draws)
    found = fitting.fit(kind, store, draws, search=search)
    return Fitted(map="paper", kind=kind, search=search, found=found, vector=found.vector)


def _refit_human(store: Store, quick: bool) -> Fitted:  # noqa: FBT001 - passed on as it came
    search = _search(calibration.ATTACHMENT_SEARCH, quick)
    found = human.fit(store, search=search, count=QUICK_PEOPLE if quick else human.PEOPLE)
    whole = human.whole(found.vector)
    return Fitted(map="human", kind=BIG_FIVE, search=search, found=found, vector=whole)


def _search(search: SearchSettings, quick: bool) -> SearchSettings:  # noqa: FBT001 - see above
    return replace(search, generations=QUICK_GENERATIONS) if quick else search


def _correlations(store: Store) -> dict[str, FloatArray]:
    personality = human.people()
    return {
        name: human.correlations(store, personality, maps.gains(name, BIG_FIVE.name, personality))
        for name in ("reference", "paper", "human")
    }


def variants(store: Store) -> Iterator[Variant]:
    """Yield Big Five fits that differ from the shipped one in a single thing."""
    draws = measuring.draw(store, overgeneral=BIG_FIVE.draws)
    many = measuring.draw(store, overgeneral=MORE_DRAWS[0], departure=MORE_DRAWS[1])
    search = BIG_FIVE.search
    cases: list[tuple[str, measuring.Draws, dict[str, Any]]] = [
        ("as shipped", draws, {"search": search}),
        ("first start", draws, {"search": search, "first_start": True}),
        *((f"search seed {n}", draws, {"search": search, "seed": n}) for n in OTHER_SEEDS),
        (f"{MORE_DRAWS[0]} and {MORE_DRAWS[1]} draws", many, {"search": search}),
        ("longer search", draws, {"search": LONG_SEARCH}),
        ("longer search, first start", draws, {"search": LONG_SEARCH, "first_start": True}),
        ("longer search, more draws", many, {"search": LONG_SEARCH}),
    ]
    for name, numbers, settings in cases:
        found = fitting.fit(BIG_FIVE, store, numbers, **settings)
        aims = measuring.targets(BIG_FIVE, store, numbers)
        errors = {}
        for what, given in (
            ("map", fitting.gains(BIG_FIVE, found.vector, BIG_FIVE.vectors)),
            ("reference", traits.fixed_gains(BIG_FIVE.reference, personas=len(aims.aim))),
        ):
            measured = measuring.measure(
                BIG_FIVE, store, numbers, personality=BIG_FIVE.vectors, gains=given
            )
            errors[what] = measuring.errors(measured, aims)
        tries = settings["search"].generations * settings["search"].population
        yield Variant(name=name, tries=tries, map=errors["map"], reference=errors["reference"])


def _maps(fitted: list[Fitted], store: Store) -> str:
    """Return the refitted maps as `simulation.personality.maps` reads them."""
    found: dict[str, dict[str, Any]] = {}
    for fit in fitted:
        sizes = {"gains": len(fit.kind.gains), "traits": len(fit.kind.traits)}
        weights, bias = traits.unpack(fit.vector, **sizes)
        entry = {"weights": weights.tolist(), "bias": bias.tolist()}
        found.setdefault(fit.map, {})[fit.kind.name] = entry
    return _json(
        {
            "format": maps.FORMAT,
            "encoder": store.encoder,
            "encoder_sha256": store.encoder_sha256,
            "calibration_set": digests(),
            "maps": found,
        }
    )


def _configuration(store: Store, *, quick: bool) -> dict[str, Any]:
    return {
        "state": list(NEUTRAL_STATE),
        "passive": asdict(measuring.PARAMETERS),
        "search": {kind.name: asdict(_search(kind.search, quick)) for kind in KINDS},
        "search_human": asdict(_search(calibration.ATTACHMENT_SEARCH, quick)),
        "draws_a_cue": {kind.name: kind.draws for kind in KINDS},
        "departure_draws": measuring.DEPARTURE_DRAWS,
        "memories": len(store.memories),
        "cues": len(store.cues),
        "people": human.PEOPLE,
        "people_of_the_search": QUICK_PEOPLE if quick else human.PEOPLE,
        "figures_of_people": human.SOURCE,
        "shipped_maps": maps.sha256(),
    }


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
