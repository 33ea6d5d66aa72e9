"""The engine: one tick. Nothing in it prints, times or stores."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from simulation import (
    appraisers,
    encoders,
    executors,
    extractors,
    founding,
    prompts,
    surveys,
    turn,
)
from simulation.active import RuleController
from simulation.errors import ScenarioError, UsageError
from simulation.models.asking import BackendAsker
from simulation.models.rule import RuleModel, RuleParameters
from simulation.models.written import WrittenModel
from simulation.opening import opening
from simulation.records import (
    Appraisals,
    Coded,
    Embeddings,
    Rejections,
    Tick,
    TickRecords,
)
from simulation.rng import Streams
from simulation.scenario import TIERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulation.active import Controller
    from simulation.appraisers import Appraiser
    from simulation.calls.base import Asker
    from simulation.calls.budget import Spend
    from simulation.calls.recorded import Recorded
    from simulation.encoders.base import Encoder
    from simulation.executors import Executor
    from simulation.executors.model import Embedded
    from simulation.extractors import Extractor
    from simulation.models.asking import Backend
    from simulation.models.base import Model
    from simulation.models.languages import Languages
    from simulation.ontology import Ontology
    from simulation.population import People
    from simulation.records import IntArray, ModelCalls, Rows
    from simulation.scenario import Loaded, Scenario
    from simulation.world import World

    Found = Callable[
        [Loaded, int, Encoder, Appraiser | None], tuple[World, Ontology, People]
    ]  # the signature of `founding.found`

_METHODS = ("react", "reflect", "answer_probes")


class Engine:
    """A world and all that moves it.

    scenario, seed, streams: what everything follows from.  world: the state after the last tick.
    ontology, people: who takes part.  rule: the embedded model, which also takes failed turns.
    tiers: the cheap and the frontier model.  appraiser: None without personality.
    records: what happened in the last tick.
    """

    def __init__(
        self,
        loaded: Loaded,
        seed: int | None = None,
        *,
        backend: Backend | None = None,
        tiers: Sequence[Model | Backend] | None = None,
        encoder: Encoder | None = None,
        appraiser: Appraiser | None = None,
        recorded: Recorded | None = None,
        spent_before: Spend | None = None,
        executor: Executor | None = None,
        found: Found = founding.found,
    ) -> None:
        """Found the world of a scenario; nothing is sent to a language model.

        seed: default, the scenario's.  backend: answers every prompt, on both tiers.
        tiers: the cheap and the frontier model, each a model or a backend.  What is left out is
        what the scenario names; without personality nothing is appraised.  recorded: answers that
        language models gave before.  spent_before: what of the budget is gone already.
        executor: works on large batches; default, this process.  found: makes the world, which may
        already have lived through some ticks.

        Raises:
            UsageError: both `backend` and `tiers` are given, or they are no models; the seed is no
                whole number of 64 bits; the appraiser cannot be used, for instance with this
                encoder.
            ScenarioError: something in the scenario or its files cannot be used.
            EmptyPersonaBlockError: a persona has nothing to be conditioned on.
        """
        self.scenario = loaded.scenario
        self.seed = self.scenario.seed if seed is None else _seed(seed)
        self.streams = Streams(self.seed)
        self.rule = executors.spread_model(_rule(self.scenario, self.streams), executor)
        chosen = _chosen(backend, tiers)
        self.languages: Languages | None = None
        if chosen is None and self.scenario.languages:
            self.languages = _connected(
                loaded, self.streams, recorded, spent_before, anew=found is founding.found
            )
        self.tiers = (
            _tiers(self.languages, self.rule) if chosen is None else _models(chosen, self.rule)
        )
        _can_be_surveyed(self.scenario, self.tiers[0])
        self.encoder = executors.spread_encoder(encoder or _encoder(loaded), executor)
        self.appraiser: Appraiser | None = None
        if self.scenario.population.personality != "none":
            self.appraiser = appraiser or self._appraiser(loaded)
        self.world, self.ontology, self.people = found(
            loaded, self.seed, self.encoder, self.appraiser
        )
        self.controller = self._controller()
        self._words = extractors.LexiconExtractor(self.ontology.aspects)
        self.extractor = self._extractor()
        self._embedded = 0
        self._noted: list[str] = []
        self.rater = surveys.Rater(self.encoder.encode, width=self.encoder.width)
        if found is founding.found:
            noted = turn.survey_notes(self.scenario, self.rater)
            self.records = self._tell(0, (*opening(self.world, self.people), noted))
        else:
            self._embedded = len(self.world.texts)
            self.records = TickRecords(tick=self.world.tick, state_digest=self.world.digest())

    def advance(self) -> TickRecords:
        """Let one tick pass and return what happened.

        Everyone perceives the world as it was; then each changes only itself.

        Raises:
            UsageError: the horizon has been reached.
        """
        world, scenario, streams = self.world, self.scenario, self.streams
        if world.tick >= scenario.horizon:
            raise UsageError(f"the horizon of {scenario.horizon} ticks has been reached")
        tick = world.tick + 1
        arrived = turn.arrive(world, streams, tick)
        heard = self._extract(tick, arrived)
        turns = turn.prepare(world, scenario, streams, tick, controller=self.controller)
        searched = turn.faults_of(world, tick, self.controller)
        reactions = turn.react(
            turns.requests, self.tiers, fallback=self.rule, quarantined=world.quarantined
        )
        failures = turn.note_failures(
            world, turns.rows, tick, reactions, after=scenario.calls.quarantine_after
        )
        settled = turn.settle(world, scenario, streams, turns, reactions)
        said = self._extract(tick, settled.published)
        attitudes = turn.settle_attitudes(world, scenario, turns, reactions, settled.published)
        reflections = turn.reflect(
            world, scenario, turns, settled.moved, self.tiers[1], fallback=self.rule
        )
        evictions = turn.evict(world, tick)
        probes = self._probe(turns.rows, tick)
        answers = turn.survey(
            world, scenario, streams, tick, model=self.tiers[0], rater=self.rater
        )
        posts = turn.post_rows(world, np.concatenate([arrived, settled.published]))
        world.tick = tick
        happened = (
            posts,
            *heard,
            *searched,
            *settled.rows,
            *said,
            *attitudes,
            *failures,
            *reflections,
            evictions,
            *probes,
            *answers,
        )
        self.records = self._tell(tick, happened, active=len(turns.rows))
        return self.records

    def check_models(self) -> None:
        """Ask, without paying, whether the language models can be asked; none is no problem.

        Raises:
            UsageError: a wrong key, an unknown model, no server; with every such problem.
        """
        if self.languages is not None:
            self.languages.switchboard.check()

    def log_calls(self, write: Callable[[ModelCalls], None]) -> None:
        """Have each request to a language model written as soon as it is answered."""
        if self.languages is None:
            return
        from simulation.calls.rows import rows_of  # noqa: PLC0415 - only a run that asks needs it

        whole = self.scenario.log.requests == "full"
        self.languages.switchboard.sink = lambda done: write(rows_of(done, requests=whole))

    def close(self) -> None:
        """Let go of connections to language models."""
        if self.languages is not None:
            self.languages.switchboard.close()

    def _appraiser(self, loaded: Loaded) -> Appraiser:
        affect = self.scenario.affect
        return appraisers.load(
            appraisers.AppraiserSpec(
                name=affect.appraiser,
                encoder=self.encoder if affect.appraiser == "embedding" else None,
                coefficients=loaded.files.get("affect.coefficients"),
                norms=loaded.files.get("affect.norms"),
                asker=self._asker("affect.appraiser") if affect.appraiser == "model" else None,
                now=lambda: self.world.tick + 1,
            )
        )

    def _controller(self) -> Controller:
        if self.scenario.persmem.controller == "rule":
            return RuleController()
        return turn.ModelController(self._asker("persmem.controller"), self.world.cast.ids)

    def _extractor(self) -> Extractor:
        """Return who reads what texts say; what a language model cannot, is read by words."""
        if self.scenario.units.extractor == "rule" or not self.scenario.memory.units:
            return self._words
        return extractors.ModelExtractor(
            self._asker("units.extractor"),
            prompt=prompts.extraction,
            repair=prompts.repair,
            fallback=self._words.evidence,
        )

    def _extract(self, tick: int, posts: IntArray) -> tuple[Rows, ...]:
        return turn.extract(
            self.world,
            tick,
            posts,
            extractor=self.extractor,
            by_model=self.extractor is not self._words,
        )

    def _asker(self, key: str) -> Asker:
        """Return who answers what the language model of the cheap tier is asked beside turns."""
        cheap = self.tiers[0]
        if not isinstance(cheap, WrittenModel):
            raise UsageError(f"{key}: model asks the cheap tier's, which is no language model")
        return cheap.asker

    def _probe(self, rows: IntArray, tick: int) -> tuple[Rows, ...]:
        return turn.probe(
            self.world,
            self.scenario,
            self.streams,
            rows,
            tick,
            ontology=self.ontology,
            attributes=self.people.attributes,
            model=self.tiers[0],
        )

    def _tell(self, tick: int, rows: tuple[Rows, ...], active: int = 0) -> TickRecords:
        """Close a tick: add the new texts' vectors, the digest and the tick's own row."""
        regards = self.world.regards
        if regards is not None and tick > 0:
            regards.said.chain()
        digest = self.world.digest()
        counts = {part.table: len(part) for part in rows}
        one = np.ones(1, dtype=np.int64)
        calls, read, written, cost = self._spent(tick)
        closing = Tick(
            tick=tick * one,
            active=active * one,
            turns=counts.get("turns", 0) * one,
            reflections=counts.get("reflections", 0) * one,
            probes=counts.get("probes", 0) * one,
            model_calls=calls * one,
            input_tokens=read * one,
            output_tokens=written * one,
            cost_usd=np.array([cost]),
            unit_entropy=np.array([np.nan if regards is None else regards.store.entropy()]),
            state_digest=[digest],
        )
        told = (
            *rows,
            self._new_vectors(tick),
            *self._new_appraisals(tick),
            self._new_notes(tick),
        )
        kept = tuple(part for part in told if len(part))
        return TickRecords(tick=tick, state_digest=digest, rows=(*kept, closing))

    def _spent(self, tick: int) -> tuple[int, int, int, float]:
        """Return requests to language models, tokens read and written, and US dollars."""
        if self.languages is None:
            return 0, 0, 0, 0.0
        spent = self.languages.switchboard.totals(tick)
        return spent.calls, spent.input_tokens, spent.output_tokens, spent.cost_usd

    def _new_notes(self, tick: int) -> Rejections:
        """Return what was found out about language models' servers in this tick."""
        notes = [] if self.languages is None else self.languages.switchboard.notes
        new = [note for note in notes if note not in self._noted]
        self._noted.extend(new)
        return Rejections(
            tick=np.full(len(new), tick, dtype=np.int64),
            persona_id=Coded(codes=np.full(len(new), -1, dtype=np.int64), names=()),
            purpose=["model"] * len(new),
            kind=["note"] * len(new),
            detail=new,
        )

    def _new_appraisals(self, tick: int) -> tuple[Rows, ...]:
        disposition = self.world.disposition
        if disposition is None:
            return ()
        ids, raw, errors = disposition.appraisals.take_new()
        told = Appraisals(
            embedding_id=ids,
            tick=np.full(len(ids), tick, dtype=np.int64),
            valence=raw[:, 0],
            arousal=raw[:, 1],
            dominance=raw[:, 2],
            error=errors,
        )
        return (told,)

    def _new_vectors(self, tick: int) -> Embeddings:
        texts, start = self.world.texts, self._embedded
        self._embedded = len(texts)
        ids = np.arange(start, len(texts), dtype=np.int64)
        return Embeddings(
            embedding_id=ids,
            tick=np.full(len(ids), tick, dtype=np.int64),
            text=[texts[i] for i in ids.tolist()],
            text_sha256=texts.sha256(ids),
            quantised=texts.quantised[start:],
            scale=texts.scale[start:],
        )


def _seed(seed: Any) -> int:
    """Return a seed as the integer that it is; its digits go into every random stream."""
    try:
        number = None if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = None
    if number is None or not -(2**63) <= number < 2**63:
        raise UsageError(
            f"{seed!r} is no seed; a seed is a whole number between -2^63 and 2^63 - 1"
        )
    return number


def _encoder(loaded: Loaded) -> Encoder:
    spec = loaded.scenario.encoder
    folder = loaded.files.get("encoder.model")
    key = loaded.key(provider="openai", base_url=spec.base_url) if spec.name == "openai" else None
    return encoders.load(
        encoders.EncoderSpec(
            name=spec.name,
            model=str(folder) if folder else spec.model,
            base_url=spec.base_url,
            api_key=key,
            batch_size=spec.batch_size,
        )
    )


def _rule(scenario: Scenario, streams: Streams) -> RuleModel:
    parameters = scenario.rule.model_dump(exclude={"credibility"})
    return RuleModel(parameters=RuleParameters(**parameters), streams=streams)


def _connected(
    loaded: Loaded,
    streams: Streams,
    recorded: Recorded | None,
    spent: Spend | None,
    *,
    anew: bool,
) -> Languages:
    """Return the language models of a scenario.

    anew: the world is to be founded, so what is wrong with that is told as well.
    """
    from simulation.models.languages import connect, missing  # noqa: PLC0415 - for runs that ask

    problems = list(missing(loaded, recorded=recorded))
    if problems and anew:
        founding.tell_all(loaded, problems)
    if problems:
        raise ScenarioError(str(loaded.path or loaded.name), problems)
    return connect(loaded, streams, recorded=recorded, spent_before=spent)


def _tiers(languages: Languages | None, rule: Embedded) -> tuple[Model, Model]:
    """Return a model per tier; one asker for both is one model, asked in one batch."""
    askers = {} if languages is None else languages.askers
    cheap, frontier = (_written(askers[tier], rule) if tier in askers else rule for tier in TIERS)
    same = len(askers) == len(TIERS) and askers["cheap"] is askers["frontier"]
    return cheap, cheap if same else frontier


def _written(asker: Asker, rule: Embedded) -> WrittenModel:
    return WrittenModel(asker=asker, fallback=rule, repair=prompts.repair)


def _chosen(
    backend: Backend | None, tiers: Sequence[Model | Backend] | None
) -> tuple[Model | Backend, Model | Backend] | None:
    """Return who was given for the cheap and the frontier tier; None for nobody."""
    if backend is not None and tiers is not None:
        raise UsageError("give backend, for both tiers, or tiers, for each its own; not both")
    if backend is not None:
        return backend, backend
    if tiers is None:
        return None
    if len(tiers) != len(TIERS):
        raise UsageError(f"tiers are two, the cheap and the frontier model; {len(tiers)} given")
    return tiers[0], tiers[1]


def _models(chosen: tuple[Model | Backend, Model | Backend], rule: Embedded) -> tuple[Model, ...]:
    """Return a model per tier; one object for both is one model, asked in one batch."""
    cheap, frontier = chosen
    first = _model(cheap, rule)
    return first, first if frontier is cheap else _model(frontier, rule)


def _model(given: Model | Backend, rule: Embedded) -> Model:
    """Return a model as it is, a backend as a model whose failures are taken by rule."""
    if not isinstance(getattr(given, "name", None), str):
        raise UsageError(f"{_shown(given)} is no language model: it has no text `name`")
    if all(callable(getattr(given, name, None)) for name in _METHODS):
        return cast("Model", given)
    if callable(getattr(given, "complete", None)):
        return _written(BackendAsker(cast("Backend", given)), rule)
    raise UsageError(
        f"{_shown(given)} is no language model: it has neither `complete(prompts, *, schemas)` "
        f"nor all of {', '.join(_METHODS)}"
    )


def _can_be_surveyed(scenario: Scenario, model: Model) -> None:
    """Refuse a model of somebody's own that cannot answer the surveys there are."""
    if scenario.surveys and not callable(getattr(model, "answer_surveys", None)):
        raise UsageError(
            f"{_shown(model)} cannot answer the surveys of the scenario: it has no method "
            "`answer_surveys(requests)`"
        )


def _shown(given: object) -> str:
    return f"an object of type {type(given).__name__}"
