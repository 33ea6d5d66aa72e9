"""What may change when a run goes on: nothing that matters in `resume`, nothing past in `fork`.

A resumed run must end as if it had never stopped. A fork shares every tick up to its own with the
parent run, so what made those ticks cannot change: who takes part, what they are asked about, who
follows whom, what was embedded and how it was felt. What only acts from a tick on can.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simulation.calls.record import spent_on
from simulation.calls.recorded import Recorded
from simulation.errors import UsageError
from simulation.headers import engine_version, header, models
from simulation.opening import notes, stimuli
from simulation.rebuilding import engine_at, stored_scenario, whole_tick
from simulation.runlog import call_records
from simulation.scenario import flatten, without_effect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.engine import Engine
    from simulation.executors import Executor
    from simulation.models.asking import Backend
    from simulation.models.base import Model
    from simulation.records import Rows
    from simulation.runlog import RunFile, RunHeader
    from simulation.scenario import Access, Scenario

RESUMABLE = (
    "budget",
    "calls.concurrency",
    "calls.requests_per_minute",
    "calls.timeout",
    "calls.tries",
    "encoder.base_url",
    "encoder.model",
    "log",
    "models.cheap.base_url",
    "models.cheap.price",
    "models.cheap.stream",
    "models.frontier.base_url",
    "models.frontier.price",
    "models.frontier.stream",
)
"""What a resumed run may have anew: where things are and what may be spent, not what comes out."""

FORKABLE = (
    "actions",
    "budget",
    "calls",
    "description",
    "encoder.base_url",
    "encoder.model",
    "feed",
    "final_actions",
    "horizon",
    "log",
    "memory",
    "models",
    "persmem",
    "probes",
    "recall",
    "reflection",
    "rule",
    "stimuli",
    "surveys",
    "temperature",
    "units",
)
"""What a fork may have anew."""

_FIXED = {  # key or what it lies in: why a fork cannot have it anew
    "affect": "the texts so far were felt as the old appraiser tells it",
    "brief": "the beliefs so far are about it",
    "encoder": "the texts so far have the vectors of the old encoder",
    "graph": "the posts so far went along the old follows",
    "memory.units": "what has been settled so far is a part of who the personas are",
    "name": "it is the name of the scenario that both runs come from",
    "ontology": "the personas are made of it",
    "persmem.gains": "a persona's gains are part of who it is",
    "population": "the same people go on living",
    "reflection.interval_min": "the rhythm of reflection is part of who a persona is",
    "reflection.interval_spread": "the rhythm of reflection is part of who a persona is",
    "seed": "a fork has the random streams of its parent, so that the two can be paired",
    "tier": "the tier is part of who a persona is; set models.cheap or models.frontier instead",
}


def again(
    run: RunFile,
    settings: Sequence[str],
    access: Access | None,
    tiers: Sequence[Model | Backend] | None,
    *,
    any_version: bool,
    executor: Executor | None = None,
    recorded: Recorded | None = None,
) -> Engine:
    """Return the engine of a run that stopped, as it stood after its last tick.

    recorded: answers of another run, for what is not in this one's file.

    Raises:
        UsageError, ScenarioError: it may not go on so.
        RunFileError: it cannot go on.
    """
    _check_version(run, any_version=any_version)
    before = stored_scenario(run, access=access).scenario
    after = stored_scenario(run, settings, access=access).scenario
    check_resume(before, after, path=run.path, tick=run.run.last_tick)
    spent = None
    if recorded is not None and not after.languages:
        raise UsageError(f"{run.path} asks no language model, so nothing to replay")
    if after.languages:
        info = run.run
        kept = call_records(run, after=info.last_tick)
        recorded = Recorded(kept, mode="resume", then=recorded)
        own = info.header.forked_at_tick  # what a fork shares was paid for by its parent
        spent = spent_on(call_records(run, after=-1 if own is None else own))
    engine = engine_at(
        run,
        settings=settings,
        access=access,
        tiers=tiers,
        recorded=recorded,
        spent_before=spent,
        executor=executor,
    )
    _check_models(run, engine)
    return engine


def branch(
    run: RunFile,
    at: int,
    settings: Sequence[str],
    access: Access | None,
    tiers: Sequence[Model | Backend] | None,
    *,
    any_version: bool,
    executor: Executor | None = None,
) -> tuple[Engine, RunHeader, tuple[Rows, ...]]:
    """Return the engine of a fork at its tick, its header, and what it knows of the future.

    Raises:
        UsageError, ScenarioError: it may not go on so, or there is no such tick.
        RunFileError: the run cannot be gone on with.
    """
    _check_version(run, any_version=any_version)
    whole_tick(run, at)
    own = run.run.header.forked_at_tick
    if own is not None and at < own:
        raise UsageError(
            f"{run.path} is itself a fork at tick {own}; what was set there did not hold before. "
            f"Fork its parent at tick {at}, or this run at tick {own} or later"
        )
    before = stored_scenario(run, access=access).scenario
    after = stored_scenario(run, settings, access=access).scenario
    settings = (*settings, *kept_tau(before, after))
    loaded = stored_scenario(run, settings, access=access)
    check_fork(before, loaded.scenario, at)
    recorded = None
    if loaded.scenario.languages:  # the same question gets the parent's answer, for nothing
        whole = run.run.status == "complete" and all(
            _within(key, RESUMABLE) for key in changed(before, loaded.scenario)
        )  # then nothing new is asked, so nobody has to be there
        recorded = Recorded(call_records(run, after=at), mode="replay", miss="ask", expected=whole)
    engine = engine_at(
        run,
        at,
        settings=settings,
        access=access,
        tiers=tiers,
        recorded=recorded,
        executor=executor,
    )
    if tiers is None and before.models == loaded.scenario.models:
        _check_models(run, engine)
    head = replace(header(loaded, engine), parent_run_id=run.run.header.run_id, forked_at_tick=at)
    world = engine.world
    events = tuple(event for event in world.events if event.tick > at)
    said = [note for note in without_effect(loaded.scenario) if note not in world.notes]
    return engine, head, (stimuli(events, world.cast.claims), notes(tuple(said)))


def _check_version(run: RunFile, *, any_version: bool) -> None:
    """Refuse a run of another version of the package: its future may not fit its past.

    Raises:
        UsageError: it is one, and not any version will do.
    """
    sql = "SELECT engine_version FROM resumes ORDER BY resume_no DESC LIMIT 1"
    later = run.query(sql).rows
    before = str(later[0][0]) if later else run.run.header.engine_version
    if before != engine_version() and not any_version:
        raise UsageError(
            f"{run.path} was made by version {before} of the package, and this is "
            f"{engine_version()}: the ticks to come could follow other rules than those so far. "
            f"Install simulation=={before}, or accept the break with --any-version"
        )


def _check_models(run: RunFile, engine: Engine) -> None:
    """Refuse to go on with other models than those that made the ticks so far.

    Raises:
        UsageError: they were given from outside, and now are not, or the other way round.
    """
    were, are = dict(run.run.header.models), models(engine)
    if were != are:
        raise UsageError(
            f"{run.path} was made with the models {', '.join(map(str, were.values()))}, and here "
            f"they would be {', '.join(are.values())}: give the same ones as `tiers`"
        )


def check_resume(before: Scenario, after: Scenario, *, path: object, tick: int) -> None:
    """Check that a run which is resumed stays the run that was begun.

    path: of the run, for the message.  tick: the last that it holds.

    Raises:
        UsageError: a setting changes what the run would have become.
    """
    wrong = [key for key in changed(before, after) if not _within(key, RESUMABLE)]
    if wrong:
        raise UsageError(
            f"{', '.join(wrong)} cannot change when a run is resumed: it would not be the run "
            f"that was begun. To branch it from where it is: simulation fork {path} --at {tick} "
            f"--set {wrong[0]}=…"
        )


def check_fork(before: Scenario, after: Scenario, tick: int) -> None:
    """Check that nothing which a fork changes lies before it.

    tick: the last that is shared.

    Raises:
        UsageError: something does, with the reason; or no tick would be left to run.
    """
    wrong = [f"{key}: {why}" for key, why in _refused(before, after, tick)]
    if wrong:
        raise UsageError(
            f"a fork at tick {tick} cannot change what made the ticks up to it:\n  "
            + "\n  ".join(wrong)
        )
    if after.horizon <= tick:
        raise UsageError(
            f"the horizon is {after.horizon}, so after tick {tick} nothing is left to run; fork "
            f"at an earlier tick, or set a later horizon: --set horizon={tick + 10}"
        )


def kept_tau(before: Scenario, after: Scenario) -> tuple[str, ...]:
    """Return the setting that keeps the time constant of memory when only the horizon changes.

    By default tau is a quarter of the horizon, at least 1 tick: how fast the past fades belongs to
    the people, and they do not know that the run became longer. Who wants another sets recall.tau.
    """
    if before.tau == after.tau or after.recall.tau is not None:
        return ()
    return (f"recall.tau={before.tau!r}",)


def changed(before: Scenario, after: Scenario) -> list[str]:
    """Return the dotted keys of the parameters that differ, sorted."""
    old, new = flatten(before), flatten(after)
    return sorted(key for key in {*old, *new} if _of(old, key) != _of(new, key))


_NOTHING = object()


def _of(flat: dict[str, Any], key: str) -> Any:
    return flat.get(key, _NOTHING)


def _refused(before: Scenario, after: Scenario, tick: int) -> Iterator[tuple[str, str]]:
    for key in changed(before, after):
        if key == "stimuli":
            if past(before, tick) != past(after, tick):
                yield key, f"up to tick {tick} they have been seen; later ones can change"
        elif key in _FIXED:
            yield key, _FIXED[key]
        elif not _within(key, FORKABLE):
            yield key, next(why for fixed, why in _FIXED.items() if _within(key, (fixed,)))


def past(scenario: Scenario, tick: int) -> list[tuple[str, int, dict[str, Any]]]:
    """Return what appeared up to a tick: the name, the tick and the rest of each event."""
    found = []
    for i, stimulus in enumerate(scenario.stimuli):
        ticks = stimulus.tick if isinstance(stimulus.tick, tuple) else (stimulus.tick,)
        rest = stimulus.model_dump(mode="json", exclude={"tick", "id"})
        rest["repeats"] = isinstance(stimulus.tick, tuple)  # decides how an appearance is called
        name = stimulus.id or f"s{i + 1}"
        found += [(name, each, rest) for each in ticks if each <= tick]
    return sorted(found, key=lambda event: event[:2])


def _within(key: str, prefixes: Sequence[str]) -> bool:
    return any(key == prefix or key.startswith(f"{prefix}.") for prefix in prefixes)
