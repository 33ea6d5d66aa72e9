"""What a run database says beside what happened: its header, and files to go on with."""

from __future__ import annotations

import hashlib
import importlib.metadata
import uuid
from typing import TYPE_CHECKING

from simulation import ontology
from simulation.personality import maps
from simulation.records import Sources
from simulation.rng import sha256_hex
from simulation.runlog import RunHeader
from simulation.scenario import TIERS, flatten

if TYPE_CHECKING:
    from simulation.engine import Engine
    from simulation.scenario import Loaded

_RECORDED_PACKAGES = (
    "anthropic",
    "duckdb",
    "mesa",
    "networkx",
    "numpy",
    "openai",
    "pyarrow",
    "pydantic",
    "sentence-transformers",
    "tokenizers",
    "torch",
)


_CARRIED = ("affect.norms", "affect.coefficients")  # files that new texts will need


def header(loaded: Loaded, engine: Engine) -> RunHeader:
    """Return what a run database says about its run: enough to run it again."""
    scenario = engine.scenario
    return RunHeader(
        run_id=uuid.uuid4().hex,
        scenario_name=scenario.name,
        scenario_yaml=loaded.text,
        scenario_sha256=sha256_hex(loaded.text),
        settings=loaded.settings,
        seed=engine.seed,
        engine_version=engine_version(),
        horizon=scenario.horizon,
        tau=scenario.tau,
        parameters=flatten(scenario) | {"seed": engine.seed} | _personal(engine),
        encoder=engine.encoder.name,
        encoder_sha256=engine.encoder.sha256,
        models=models(engine),
        packages=packages(),
    )


def _personal(engine: Engine) -> dict[str, str]:
    """Return which appraiser told the affects of a run with personality, by which map of gains."""
    appraiser = engine.appraiser
    if appraiser is None:
        return {}
    found = {"affect.name": appraiser.name, "affect.sha256": appraiser.sha256}
    if engine.scenario.persmem.gains != "reference":  # which is no map
        found["persmem.gains_sha256"] = maps.sha256()
    return found


def models(engine: Engine) -> dict[str, str]:
    """Return the name of the model of each tier."""
    return {tier: model.name for tier, model in zip(TIERS, engine.tiers, strict=True)}


def sources(loaded: Loaded, engine: Engine) -> Sources:
    """Return the files that a run needs to go on without those of its scenario.

    The ontology, also one that ships; with personality the word norms and the coefficients that
    the scenario names. Not the population and the edges, whose rows say all that is needed and
    whose files may say more; and not the weights of an encoder.
    """
    files = {
        key: loaded.files[key] for key in _CARRIED if key in loaded.files and engine.appraiser
    }
    named = loaded.files.get("ontology")
    files["ontology"] = named or ontology.shipped_file(loaded.scenario.ontology)
    content = {key: path.read_bytes() for key, path in files.items()}
    return Sources(
        name=list(files),
        file=[path.name for path in files.values()],
        sha256=[hashlib.sha256(content[key]).hexdigest() for key in files],
        content=[content[key] for key in files],
    )


def engine_version() -> str:
    """Return the version of this package."""
    return _version("simulation")


def packages() -> dict[str, str]:
    """Return the versions of the packages that shape results, as far as they are installed."""
    return {name: version for name in _RECORDED_PACKAGES if (version := _version(name))}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
