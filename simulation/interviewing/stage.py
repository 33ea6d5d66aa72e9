"""What an interview needs of a run: the persona, and its world with who answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.calls.record import spent_on
from simulation.calls.recorded import Recorded
from simulation.errors import ModelError, UsageError
from simulation.rebuilding import engine_at, stored_scenario
from simulation.runlog import call_records, recorded_calls
from simulation.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.engine import Engine
    from simulation.models.asking import Backend
    from simulation.models.base import Model
    from simulation.runlog import RunFile
    from simulation.scenario import Access

_SHOWN = 60  # code points of a wrong persona id in a message


class _Nobody:
    """Stands for the language models of a run when the rule model answers alone."""

    def __init__(self, name: str) -> None:
        self.name = name

    def complete(
        self,
        prompts: Sequence[str],
        *,
        schemas: Sequence[dict[str, Any]],  # noqa: ARG002 - the protocol's
    ) -> Sequence[ModelError]:
        """Answer nothing."""
        return [ModelError("the rule model answers alone; nobody was asked")] * len(prompts)


def engine_of(
    run: RunFile,
    tick: int,
    settings: Sequence[str],
    access: Access | None,
    tiers: Sequence[Model | Backend] | None,
    *,
    by_rule: bool,
    replay: str | Path | None,
) -> Engine:
    """Return the engine of a run as it stood after a tick, with who answers."""
    languages = stored_scenario(run, settings, access=access).scenario.languages
    recorded = spent = None
    if replay is not None:
        if not languages:
            raise UsageError(f"{run.path} asks no language model, so there is nothing to replay")
        recorded = Recorded(recorded_calls(replay), mode="replay", miss="stop")
    if by_rule and languages:
        names = run.run.header.models
        tiers = [_Nobody(str(names[tier])) for tier in ("cheap", "frontier")]
    elif languages:
        own = run.run.header.forked_at_tick  # what a fork shares was paid for by its parent
        spent = spent_on(call_records(run, after=-1 if own is None else own))
    return engine_at(
        run,
        tick,
        settings=settings,
        access=access,
        tiers=tiers,
        recorded=recorded,
        spent_before=spent,
    )


def check_persona(run: RunFile, persona: str) -> None:
    """Refuse an id that no persona has.

    Raises:
        UsageError: there is none, with the nearest and some that there are.
    """
    ids = [row[0] for row in run.query("SELECT persona_id FROM personas ORDER BY 1").rows]
    if persona in ids:
        return
    near = did_you_mean(persona, ids, most=10_000)
    some = f"{ids[0]} to {ids[-1]}" if ids else "none"
    raise UsageError(
        f'{run.path} has no persona "{persona[:_SHOWN]}"{near}\n'
        f"It has {len(ids):,}: {some}; table personas lists them"
    )
