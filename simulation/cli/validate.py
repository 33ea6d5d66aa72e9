"""`simulation validate`: is a scenario fit to run?"""

# ruff: noqa: PLC0415 - what only the work needs is imported there, so that --help answers at once

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simulation.cli.options import (
    access_options,
    debug_option,
    examples,
    json_option,
    scenario_argument,
    set_option,
)
from simulation.cli.text import many, paragraph, plain, print_json

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.scenario import Access, Loaded
    from simulation.scenario.models import ModelSpec


@click.command(
    "validate",
    epilog=examples(
        "simulation validate scenarios/protein_bar.yaml",
        "simulation validate bar.yaml --set population.size=1000",
    ),
)
@scenario_argument
@set_option
@access_options
@json_option
@debug_option
def command(
    *,
    scenario: Path,
    settings: tuple[str, ...],
    access: Access,
    as_json: bool,
) -> None:
    """Check a scenario without running it.

    Reads the file and all that it names, and makes the population and the graph. All problems are
    told at once, each with line, key path and what is allowed; nothing is written. What language
    models still need before a run, such as a key, is a note.
    """
    from simulation.founding import read

    loaded = read(scenario, settings=settings, access=access)
    found = _found(loaded)
    if as_json:
        print_json({"ok": True, "path": str(scenario), "sha256": loaded.sha256, **found})
        return
    click.echo(f"{plain(str(scenario))}: ok")
    click.echo(_described(found))


def _found(loaded: Loaded) -> dict[str, Any]:
    """Return what the scenario amounts to, with population and graph really made."""
    from simulation.runs import check

    scenario = loaded.scenario
    world = check(loaded)
    return {
        "name": scenario.name,
        "seed": scenario.seed,
        "horizon": scenario.horizon,
        "personas": world.personas,
        "follows": len(world.network.source),
        "notes": [*world.notes, *_needed(loaded)],
        "dimensions": list(scenario.brief.dimensions),
        "claims": [claim.id for claim in scenario.brief.claims],
        "stimuli": len(world.events),
        "models": [_name(scenario.models.cheap), _name(scenario.models.frontier)],
        "encoder": scenario.encoder.name,
    }


def _needed(loaded: Loaded) -> list[str]:
    """Return what a run needs beside the scenario: the keys and prices of language models."""
    if not loaded.scenario.languages:
        return []
    from simulation.models.languages import missing

    return [f"a run needs more: {problem.where}: {problem.message}" for problem in missing(loaded)]


def _name(model: ModelSpec) -> str:
    return model.provider if model.model is None else f"{model.provider}:{model.model}"


def _described(found: dict[str, Any]) -> str:
    claims = f" and {many(len(found['claims']), 'claim')}" if found["claims"] else ""
    models = " and ".join(dict.fromkeys(found["models"]))
    words = (
        f"{found['name']}: {many(found['personas'], 'persona')}, "
        f"{many(found['follows'], 'follow')}, {many(found['horizon'], 'tick')}, "
        f"{many(len(found['dimensions']), 'dimension')}{claims}, "
        f"{many(found['stimuli'], 'stimulus', 'stimuli')}; "
        f"model {models}, encoder {found['encoder']}, seed {found['seed']}"
    )
    notes = [plain(note) for note in found["notes"]]
    return "\n".join(paragraph(text, indent="  ") for text in (words, *notes))
