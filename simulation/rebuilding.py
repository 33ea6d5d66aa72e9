"""The world at the end of a tick from the rows of a run database alone; nothing is pickled.

People, follows, events, beliefs, memories, posts and counters are what the rows say. From the
scenario's text, which the file holds, come its constants; from the copy of the ontology in the
file, how people speak and what they can be asked. A run's own files (population, edges) are not
needed any more. Whether it all fits is told by the state digest of the tick (docs/adr/0012).
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simulation import ontology, turn, units
from simulation.engine import Engine
from simulation.errors import EncoderError, RunFileError, UsageError
from simulation.extractors import POLARITIES
from simulation.founding import world_of
from simulation.memory import KINDS as MEMORY_KINDS
from simulation.personality import Personalities
from simulation.population import People
from simulation.posts import ENGAGEMENT_OF_ACTION, KIND_CODE
from simulation.regards import BRAND, Pieces
from simulation.rng import Streams, sha256_hex
from simulation.runlog import SCHEMA_VERSION, History
from simulation.scenario import Access, load_text
from simulation.texts import Texts
from simulation.world import Network

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from simulation.appraisers import Appraiser
    from simulation.calls.budget import Spend
    from simulation.calls.recorded import Recorded
    from simulation.encoders.base import Encoder
    from simulation.executors import Executor
    from simulation.models.asking import Backend
    from simulation.models.base import Model
    from simulation.ontology import Ontology
    from simulation.regards import Regards
    from simulation.runlog import RunFile, RunInfo
    from simulation.scenario import Loaded, Scenario
    from simulation.world import Event, World

_DAMAGE = (AttributeError, LookupError, OverflowError, TypeError, ValueError)  # of odd rows
_IN_ROWS = ("ontology", "population.source", "graph.file")  # no file of the scenario's is needed


def rebuild(run: RunFile, tick: int | None = None) -> World:
    """Return the world at the end of a tick. It can be read, but embeds no new text.

    tick: from 0; default, the last whole one.

    Raises:
        UsageError: there is no such tick.
        RunFileError: the file is damaged, or of another layout or engine.
    """
    return engine_at(run, tick, encoder=_Recorded(run)).world


def engine_at(
    run: RunFile,
    tick: int | None = None,
    *,
    settings: Sequence[str] = (),
    access: Access | None = None,
    tiers: Sequence[Model | Backend] | None = None,
    encoder: Encoder | None = None,
    recorded: Recorded | None = None,
    spent_before: Spend | None = None,
    executor: Executor | None = None,
) -> Engine:
    """Return an engine that goes on from the end of a tick of a run.

    tick: from 0; default, the last whole one.  settings: `path=value`, on top of the run's own;
    for the time after the tick.  access, tiers, encoder: as for a new run.  recorded: answers that
    language models gave before.  spent_before: what of the budget is gone already.
    executor: works on large batches.

    Raises:
        UsageError: there is no such tick; a setting, the encoder or a model cannot be used.
        ScenarioError: a setting cannot be used.
        RunFileError: the file is damaged, or of another layout or engine.
    """
    history = History(run, whole_tick(run, tick))
    with _unpacked(history) as files:
        loaded = stored_scenario(run, settings, access=access, files=files)

        def found(
            loaded: Loaded, seed: int, encoder: Encoder, appraiser: Appraiser | None
        ) -> tuple[World, Ontology, People]:
            _check_tools(run, encoder, appraiser)
            try:
                return _world(history, loaded.scenario, Streams(seed), encoder, appraiser)
            except _DAMAGE as error:
                raise RunFileError(
                    f"{run.path} is damaged: its rows do not make a world ({error!r:.200})"
                ) from error

        return Engine(
            loaded,
            run.run.header.seed,
            tiers=tiers,
            encoder=encoder,
            recorded=recorded,
            spent_before=spent_before,
            executor=executor,
            found=found,
        )


def stored_scenario(
    run: RunFile,
    settings: Sequence[str] = (),
    *,
    access: Access | None = None,
    files: Mapping[str, Path] | None = None,
) -> Loaded:
    """Return the scenario that a run holds, with more settings on top of its own.

    files: those that the run carries, by key; without them nothing can be founded.

    Raises:
        ScenarioError: a setting cannot be used, or its package was another.
    """
    header = run.run.header
    return load_text(
        header.scenario_yaml,
        name=f"the scenario in {run.path}",
        settings=(*own_settings(run), *settings),
        access=access or Access(),
        given={
            **dict.fromkeys((*_IN_ROWS, "affect.norms", "affect.coefficients")),
            **(files or {}),
        },
    )


def own_settings(run: RunFile) -> tuple[str, ...]:
    """Return what --set changed of the scenario of a run, then when it was resumed, in order."""
    sql = "SELECT settings FROM resumes ORDER BY resume_no"
    later = (setting for row in run.query(sql).rows for setting in row[0])
    return (*run.run.header.settings, *later)


def whole_tick(run: RunFile, tick: int | None) -> int:
    """Return a tick that can be gone on from. tick: default, the last whole one.

    Raises:
        UsageError: there is no such tick.
        RunFileError: the file is of another layout, or holds no tick at all.
    """
    info = run.run
    if info.schema_version != SCHEMA_VERSION:
        raise RunFileError(
            f"{run.path} has layout {info.schema_version}, and this version goes on with layout "
            f"{SCHEMA_VERSION}: take the version of the package that made it, or run the scenario "
            "again"
        )
    if info.last_tick < 0:
        raise RunFileError(
            f"{run.path} stopped before tick 0 was finished, so there is nothing to go on from: "
            "delete it and run the scenario again"
        )
    if info.last_tick != run.query("SELECT max(tick) FROM ticks").rows[0][0]:
        raise RunFileError(
            f"{run.path} is damaged: it says that tick {info.last_tick} is its last, and its rows "
            "say another"
        )
    if sha256_hex(info.header.scenario_yaml) != info.header.scenario_sha256:
        raise RunFileError(f"{run.path} is damaged: the text of its scenario was changed")
    if tick is not None and not 0 <= tick <= info.last_tick:
        raise UsageError(
            f"{run.path} has no tick {tick}; it holds the ticks 0 to {info.last_tick}"
        )
    return info.last_tick if tick is None else tick


@contextlib.contextmanager
def _unpacked(history: History) -> Iterator[dict[str, Path]]:
    """Lay the files that a run carries into a folder for as long as they are read."""
    with tempfile.TemporaryDirectory(prefix="simulation-") as folder:
        files = {}
        for number, (name, (_, content)) in enumerate(history.sources().items()):
            files[name] = Path(folder, str(number))
            files[name].write_bytes(content)
        yield files


def _check_tools(run: RunFile, encoder: Encoder, appraiser: Appraiser | None) -> None:
    """Refuse an encoder or an appraiser that is not the run's own.

    Raises:
        UsageError: new texts would get vectors or affects that do not fit the old ones.
    """
    info: RunInfo = run.run
    header = info.header
    pairs = [("encoder", header.encoder, header.encoder_sha256, encoder.name, encoder.sha256)]
    if appraiser is not None:
        was = (header.parameters.get("affect.name"), header.parameters.get("affect.sha256"))
        pairs.append(("appraiser", str(was[0]), was[1], appraiser.name, appraiser.sha256))
    for what, name, sha256, now, sha256_now in pairs:
        if (name, sha256) != (now, sha256_now):
            raise UsageError(
                f"{run.path} was made with the {what} {name} (SHA-256 {_short(sha256)}), and here "
                f"it would be {now} ({_short(sha256_now)}): new texts would not fit the old ones"
            )


def _short(sha256: object) -> str:
    return f"{str(sha256)[:12]}…" if sha256 else "none"


class _Recorded:
    """Stands for the encoder of a run whose texts all have their vectors."""

    def __init__(self, run: RunFile) -> None:
        self.name = run.run.header.encoder
        self.sha256 = run.run.header.encoder_sha256 or ""
        self.width = History(run, run.run.last_tick).width()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Refuse.

        Raises:
            EncoderError: always; this world is only to be read.
        """
        raise EncoderError(
            f"{texts[0][:40]!r} has no vector in the run; load its encoder, {self.name}"
        )


def _world(
    history: History,
    scenario: Scenario,
    streams: Streams,
    encoder: Encoder,
    appraiser: Appraiser | None,
) -> tuple[World, Ontology, People]:
    """Return the world after the history's tick, checked against its digest."""
    file, content = history.sources()["ontology"]
    field = ontology.from_bytes(content, source=f"{file} in {history.run.path}")
    rows = history.personas()
    _check_blocks(history, rows)
    people = _people(history, rows, scenario.targets)
    texts = Texts(encoder.encode, width=encoder.width)
    for part in history.vectors():
        texts.restore(part.texts, part.quantised, part.scale)
    known = len(texts)
    world = world_of(
        scenario,
        field,
        people,
        personalities=_personalities(rows),
        interval=rows["reflection_interval"],
        network=_network(history, len(people)),
        texts=texts,
        appraiser=appraiser,
        notes=history.notes(),
        blocks=rows["persona_block"],
    )
    world.tick = history.tick
    world.events = events_of(world.events, history)
    _fill_minds(world, history)
    _fill_appraisals(world, history)
    _fill_memories(world, history)
    _fill_posts(world, history, streams)
    _fill_regards(world, history)
    if world.digest() != history.digest() or len(texts) != known:
        raise RunFileError(
            f"the state after tick {history.tick} of {history.run.path} does not have the digest "
            "that the file says it had: rows were changed, or another version of the package made "
            f"it (it was {history.run.run.header.engine_version})"
        )
    return world, field, people


def _check_blocks(history: History, rows: Mapping[str, Any]) -> None:
    for who, block, sha256 in zip(
        rows["persona_id"], rows["persona_block"], rows["block_sha256"], strict=True
    ):
        if sha256_hex(block) != sha256:
            raise RunFileError(f"{history.run.path} is damaged: the block of {who} was changed")


def _people(history: History, rows: Mapping[str, Any], targets: tuple[str, ...]) -> People:
    beliefs = np.full((len(rows["persona_id"]), len(targets)), np.nan)
    initial = history.initial_beliefs(targets)
    beliefs[initial["persona_index"], initial["target"]] = initial["belief"]
    return People(
        ids=tuple(rows["persona_id"]),
        attributes=tuple(json.loads(text) for text in rows["attributes"]),
        activity=rows["activity"],
        tiers=rows["tier"],
        beliefs=beliefs,
    )


def _personalities(rows: Mapping[str, Any]) -> Personalities:
    kind = next(iter(rows["personality_kind"]), "none")  # one for all
    if kind == "none":
        return Personalities.none(len(rows["persona_id"]))
    return Personalities.of(kind, np.array(rows["personality"], dtype=np.float64))


def _network(history: History, personas: int) -> Network:
    rows = history.edges()
    return Network(
        personas=personas,
        source=rows["source"],
        target=rows["target"],
        weight=rows["weight"],
        created=rows["created_tick"],
    )


def events_of(events: tuple[Event, ...], history: History) -> tuple[Event, ...]:
    """Return the events of a scenario as far as they have happened as they were.

    One that the run knows keeps the index of its draws; a new one gets the next.
    """
    rows = history.stimuli()
    place = {name: i for i, name in enumerate(rows["stimulus_id"])}
    free = int(rows["stream_index"].max(initial=-1)) + 1
    found = []
    for event in events:
        i = place.get(event.id)
        if i is None:
            found.append(replace(event, index=free))
            free += 1
        elif event.tick > history.tick:
            found.append(replace(event, index=int(rows["stream_index"][i])))
        else:
            found.append(
                replace(
                    event,
                    index=int(rows["stream_index"][i]),
                    stance=float(rows["stance"][i]),
                    credibility=float(rows["credibility"][i]),
                )
            )
    return tuple(found)


def _fill_minds(world: World, history: History) -> None:
    """Set beliefs, counters and affective states."""
    now = history.beliefs(world.cast.targets)
    place = (now["persona_index"], now["target"])
    world.beliefs[place] = now["belief"]
    since = ~np.isnan(now["reflected"])
    world.reflected[place[0][since], place[1][since]] = now["reflected"][since]
    heard = history.heard()
    world.heard[heard["persona_index"], heard["claim_index"], heard["side"]] = heard["times"]
    turns = history.turns()
    for name in ("turns", "since_reflection", "last_turn", "last_reflection", "decided"):
        getattr(world, name)[turns["persona_index"]] = turns[name]
    failing = history.failing()
    world.failing[failing["persona_index"]] = failing["failing"]
    world.quarantined[failing["persona_index"]] = failing["quarantined"]
    states = history.states()
    felt = np.stack([states[name] for name in ("valence", "arousal", "dominance")], axis=1)
    world.state[states["persona_index"]] = felt


def _fill_appraisals(world: World, history: History) -> None:
    """Take over the raw affects, so that no text is appraised twice."""
    if world.disposition is not None:
        rows = history.appraisals()
        raw = np.stack([rows[name] for name in ("valence", "arousal", "dominance")], axis=1)
        world.disposition.appraisals.restore(rows["embedding_id"], raw, rows["error"])


def _fill_memories(world: World, history: History) -> None:
    rows, store = history.memories(), world.memory
    felt = np.stack([rows[name] for name in ("valence", "arousal", "dominance")], axis=1)
    store.write(
        rows["persona_index"],
        tick=rows["tick"],
        kind=np.array([MEMORY_KINDS.index(kind) for kind in rows["kind"]], dtype=np.int64),
        importance=rows["importance"],
        text=rows["embedding_id"],
        claim=rows["claim"],
        stance=rows["stance"],
        affect=felt if store.affect else None,
        overgeneral=rows["overgeneral"].astype(np.bool_),
        ids=rows["memory_id"],
    )
    store.next_id = history.next_memory()


def _fill_posts(world: World, history: History, streams: Streams) -> None:
    """Publish everything again, tick by tick, and chain the journal as it was chained."""
    rows = _post_columns(world, history.posts())
    engaged = history.engaged(tuple(ENGAGEMENT_OF_ACTION))
    amount = np.array([ENGAGEMENT_OF_ACTION[action] for action in engaged["action"]])
    ticks = np.arange(1, history.tick + 2)
    posts = np.searchsorted(rows["tick"], ticks)
    acts = np.searchsorted(engaged["tick"], ticks)
    for i in range(history.tick):
        arrived = _publish(world, rows, posts[i], posts[i + 1], of_personas=False)
        for post, event in zip(arrived, rows["stimulus"][arrived].tolist(), strict=True):
            world.shown[int(post)] = turn.shown_to(world.cast, streams, world.events[event])
        published = _publish(world, rows, posts[i], posts[i + 1], of_personas=True)
        on = engaged["post"][acts[i] : acts[i + 1]]
        world.posts.engage(on, amount[acts[i] : acts[i + 1]])
        world.record(published, on, amount[acts[i] : acts[i + 1]])


def _fill_regards(world: World, history: History) -> None:
    """Take over what posts say and what is settled; what ended is left out."""
    regards, sides = world.regards, world.cast.dimensions
    if regards is None:
        return
    _fill_said(world, regards, history)
    rows, states = history.units(sides), history.unit_states()
    ids = rows["unit_id"]
    heir = _heirs(ids, history.merges())
    alive = (heir == np.arange(len(ids))) & (states["deleted"] == 0)
    updated = np.zeros(len(ids), np.int64)
    np.maximum.at(updated, heir, states["updated"])
    obj = np.where(
        rows["peer_index"] >= 0,
        regards.peer(rows["peer_index"]),
        np.where(rows["claim_index"] >= 0, regards.claim(rows["claim_index"]), BRAND),
    )
    columns = {
        "unit_id": ids,
        "persona": rows["persona_index"],
        "object": obj,
        "aspect": rows["aspect"],
        "weight": states["weight"],
        "summary": world.texts.intern(states["summary"]),
        "observations": states["observations"],
        "width": np.bincount(heir, minlength=len(ids)),
        "created": rows["created_tick"],
        "updated": updated,
        "confidence": np.stack([states[name] for name in POLARITIES], axis=1),
    }
    held = alive[heir]
    regards.store.restore(
        {name: values[alive] for name, values in columns.items()},
        units.key(columns["persona"], obj, columns["aspect"])[held],
        ids[heir[held]],
        int(ids.max(initial=-1)) + 1,
    )


def _heirs(ids: NDArray[np.int64], merges: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return where the unit stands that each unit ended in, itself if it was never merged."""
    heir = np.arange(len(ids))
    heir[np.searchsorted(ids, merges["unit_id"])] = np.searchsorted(ids, merges["heir"])
    while (heir != heir[heir]).any():
        heir = heir[heir]
    return heir


def _fill_said(world: World, regards: Regards, history: History) -> None:
    """Add what posts say tick by tick, and chain it as it was chained."""
    rows = history.evidence(world.cast.dimensions)
    claim = rows["claim_index"]
    pieces = Pieces(
        owner=rows["post_id"],
        object=np.where(claim >= 0, regards.claim(claim), BRAND),
        aspect=rows["aspect"],
        polarity=np.stack([rows[name] for name in POLARITIES], axis=1),
        strength=rows["strength"],
        cause=rows["post_id"],
        summary=regards.said.word(rows["summary"]),
    )
    for tick in range(1, history.tick + 1):
        regards.said.add(pieces.take(np.flatnonzero(rows["tick"] == tick)))
        regards.said.chain()


def _post_columns(world: World, rows: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return posts as columns of the post log, by id."""
    event = {event.id: i for i, event in enumerate(world.events)}
    names = ("tick", "author", "parent", "claim", "addressee", "credibility")
    return {
        **{name: rows[name] for name in names},
        "kind": np.array([KIND_CODE[kind] for kind in rows["kind"]], dtype=np.int64),
        "text": rows["embedding_id"],
        "stance": rows["valence"],
        "stimulus": np.array([event.get(name, -1) for name in rows["stimulus"]], dtype=np.int64),
    }


def _publish(
    world: World, rows: Mapping[str, NDArray[Any]], start: int, stop: int, *, of_personas: bool
) -> NDArray[np.int64]:
    """Publish what came from outside in a tick, or what personas wrote; return its ids."""
    inside = rows["author"][start:stop] >= 0
    which = start + np.flatnonzero(inside if of_personas else ~inside)
    part = {name: values[which] for name, values in rows.items()}
    reals = {name: part.pop(name) for name in ("stance", "credibility")}
    return world.posts.publish(part, reals)
