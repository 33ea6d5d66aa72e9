"""The method note: what ran, with which seed and versions, and how to run it again."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from simulation.analysis.report.numbers import many
from simulation.analysis.report.parts import Figure, Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.analysis.report.source import Source

_RUN = """
SELECT run_id, scenario_name, scenario_sha256, seed, engine_version, schema_version, horizon,
    last_tick, status, started_at, finished_at, encoder, encoder_sha256, parent_run_id,
    forked_at_tick, settings, models, packages
FROM run
"""

_DIGEST = "SELECT tick, state_digest FROM ticks ORDER BY tick DESC LIMIT 1"


def method(source: Source, names: Sequence[str]) -> Section:
    """Return the section. names: of the files that the report was made of, the first one first."""
    run, digest = source.ask(_RUN), source.ask(_DIGEST)
    facts = run.dicts()[0]
    state = digest.rows[0][1] if digest.rows else None
    rows = [
        *((key, _told(value)) for key, value in facts.items() if value not in (None, [])),
        ("digest after the last tick", state),
    ]
    return Section(
        name="method",
        title="How this was made",
        sentence=(
            f"Scenario {facts['scenario_name']}, seed {facts['seed']}, engine "
            f"{facts['engine_version']}: the same three give the same digest, whoever runs them, "
            "where the rule model or recorded answers speak. A simulated population shows what "
            "follows from its assumptions; it is no poll of real people."
        ),
        figures=[
            _run(names, rows, (run.sql, digest.sql)),
            _again(source, names[0]),
            _parameters(source),
        ],
    )


def _told(value: Any) -> Any:
    if isinstance(value, list):
        return "; ".join(map(str, value))
    # A number here is a name, not an amount: no thousands are set apart.
    return str(value) if isinstance(value, int) else value


def _run(names: Sequence[str], rows: Sequence[Sequence[Any]], sql: Sequence[str]) -> Figure:
    table = Table(caption="What ran", columns=("what", "value"), rows=rows, whole=True)
    return Figure(
        title="The run",
        sentence=f"This page was made of {many(len(names), 'run')}: {', '.join(names)}.",
        tables=[table],
        sql=sql,
        open_table=True,
    )


def _again(source: Source, name: str) -> Figure:
    header = source.header
    changed = "".join(f" --set {shlex.quote(each)}" for each in header.settings)
    where = shlex.quote(name)
    opened = f"Run.open({json.dumps(name)})"  # double quotes, so that a shell's can be single
    read = f'from simulation import Run; print({opened}.run.header.scenario_yaml, end="")'
    scenario = f"python -c {shlex.quote(read)} > scenario.yaml"
    again = f"simulation run scenario.yaml --seed {header.seed}{changed} --out again.duckdb"
    steps = [
        ("1", scenario, "the scenario as it was read; files that it names must lie beside it"),
        ("2", again, "the same run"),
        ("3", f"simulation compare {where} again.duckdb", "says whether they are the same"),
    ]
    if header.parent_run_id is not None:
        at = f"simulation fork PARENT --at {header.forked_at_tick}{changed} --out again.duckdb"
        steps[1] = ("2", at, f"this run is a fork; PARENT is the file of {header.parent_run_id}")
    return Figure(
        title="Run it again",
        sentence="Three commands make the run again and check it.",
        lines=header.scenario_yaml.splitlines(),
        lines_title="The scenario as it was read",
        tables=[
            Table(caption="Commands", columns=("step", "type", "gives"), rows=steps, whole=True)
        ],
        sql=["SELECT scenario_yaml FROM run"],
        open_table=True,
    )


def _parameters(source: Source) -> Figure:
    parameters = source.header.parameters
    rows = [
        (key, json.dumps(value, ensure_ascii=False)) for key, value in sorted(parameters.items())
    ]
    return Figure(
        title="Every constant in force",
        sentence=f"{many(len(rows), 'value')} that the run used, defaults included.",
        tables=[Table(caption="Parameters", columns=("key", "value"), rows=rows, whole=True)],
        sql=["SELECT parameters FROM run"],
    )
