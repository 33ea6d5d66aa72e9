"""One question to many personas of the rule model: with and without what makes them persons.

A shipped scenario founds the population and puts one question to everybody in its first tick; the
requests that the engine makes of the model are caught, and asked again in eight ways:

- **block**: what the persona is told about itself, with all that the rule model takes from it
  (voices, dispositions, relevance of the question to it) and a friend to ask. Without it the model
  is called directly, since the engine refuses to.
- **opinions**: those that the scenario gives each persona at the start, by its attributes and by
  chance; without them 0.5 on everything.
- **streams**: each persona its own random numbers and the scenario's temperature, as in a run;
  without them one stream for all and temperature 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulation import ontology
from simulation.models.base import ACTIONS
from simulation.models.rule import RuleModel, RuleParameters
from simulation.rng import Streams, stream_keys
from simulation.scenario import read_scenario
from simulation.society import Society
from simulation.studies.conditioning.answers import Answer

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.models.base import Model, Reactions, TurnRequests
    from simulation.ontology import Ontology

SCENARIO: Final = "protein_bar"
QUESTION: Final = "Would you pay 2.49 for a Bolt bar, or is that too much for a snack?"
SOURCE: Final = "Consumer Weekly"
_STIMULI: Final = (
    f"stimuli=[{{id: price_question, tick: 1, kind: question, source: {SOURCE}, "
    f'text: "{QUESTION}", claim: C3, stance: 0.0, credibility: 0.25}}]'
)
_ONE_STREAM: Final = "everybody"
_COLD: Final = 1e-9  # stands for temperature 0, by which utilities cannot be divided


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way to ask: what of a persona is there."""

    block: bool
    opinions: bool
    streams: bool

    def __str__(self) -> str:
        """Return it in words."""
        block = "block" if self.block else "no block"
        opinions = "own opinions" if self.opinions else "opinions at 0.5"
        streams = "own streams" if self.streams else "one stream, temperature 0"
        return f"{block}, {opinions}, {streams}"


DIRECT: Final = Way(block=False, opinions=False, streams=False)
BLOCK_ALONE: Final = Way(block=True, opinions=False, streams=False)
PERSON_ALONE: Final = Way(block=True, opinions=True, streams=False)
AS_IN_A_RUN: Final = Way(block=True, opinions=True, streams=True)
NO_BLOCK_IN_A_RUN: Final = Way(block=False, opinions=True, streams=True)
CHANCE_ALONE: Final = Way(block=False, opinions=False, streams=True)
WAYS: Final = tuple(
    Way(block=block, opinions=opinions, streams=streams)
    for streams, opinions, block in product((False, True), repeat=3)
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asked:
    """The question as the engine puts it to a population of a seed.

    requests: a turn a persona, with one item in its feed.  parameters: of the scenario's rule.
    field: whose attributes the personas have.
    """

    seed: int
    requests: TurnRequests
    parameters: RuleParameters
    field: Ontology


def ask(seed: int, *, size: int) -> Asked:
    """Found the population of a seed, let one tick pass and return what the model was asked.

    size: personas, >= 1.
    """
    settings = ("horizon=1", "population.activity=1", f"population.size={size}", _STIMULI)
    loaded = read_scenario(_scenario(), settings=settings)
    given = loaded.scenario.rule.model_dump(exclude={"credibility"})
    rule = RuleModel(parameters=RuleParameters(**given), streams=Streams(seed))
    witness = _Witness(rule)
    society = Society(loaded, seed, tiers=(witness, witness))
    society.step()
    return Asked(
        seed=seed,
        requests=witness.seen[0],
        parameters=rule.parameters,
        field=society.engine.ontology,
    )


def answers(asked: Asked, way: Way) -> list[Answer]:
    """Return what each persona does and says, asked in a way."""
    parameters = asked.parameters
    if not way.streams:
        parameters = replace(parameters, choice_temperature=_COLD)
    model = RuleModel(parameters=parameters, streams=Streams(asked.seed))
    found = model.react(_as(asked.requests, way))
    return [
        Answer(choice=ACTIONS[action], reason=words)
        for action, words in zip(found.action.tolist(), found.words, strict=True)
    ]


def _as(requests: TurnRequests, way: Way) -> TurnRequests:
    """Return requests with only that of each persona which a way lets stand."""
    changed: dict[str, Any] = {}
    cast = requests.cast
    if not way.streams:
        cast = replace(cast, keys=np.full_like(cast.keys, stream_keys([_ONE_STREAM])[0]))
    if not way.opinions:
        even = np.full_like(requests.beliefs, 0.5)
        changed |= {"beliefs": even, "initial": even}
    if not way.block:
        people, nothing = len(cast.ids), np.zeros(len(cast.ids))
        cast = replace(
            cast,
            blocks=("",) * people,
            voices=((),) * people,
            receptivity=nothing,
            voice=nothing,
            scepticism=nothing,
        )
        feed = requests.feed
        changed["feed"] = replace(feed, relevance=np.zeros_like(feed.relevance))
        changed["friend"] = np.full_like(requests.friend, -1)
    return replace(requests, cast=cast, **changed)


class _Witness:
    """A model that keeps what it is asked for a turn and lets another answer."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.seen: list[TurnRequests] = []

    def react(self, requests: TurnRequests) -> Reactions:
        self.seen.append(requests)
        return self._model.react(requests)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def _scenario() -> Path:
    """Return the shipped scenario: its folder lies beside that of the ontologies."""
    shipped = ontology.shipped_file("consumer_products").parent.parent
    return shipped / "scenarios" / f"{SCENARIO}.yaml"
