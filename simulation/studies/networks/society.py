"""People as personas of the engine: one scenario holds all networks, a round is a tick.

Each row of a panel is a persona that follows its peers. In every tick it is asked how likely its
claim is, by a stimulus, and says so in a post; its credence is the probability that it states, and
the post's stance says it exactly. What its peers said in one tick stands in its feed in the next.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulation.engine import Engine
from simulation.mind import opinion
from simulation.models.base import ACTION_CODE, SOURCES, Reactions
from simulation.models.rule import RuleModel, RuleParameters
from simulation.rng import Streams, stream_keys
from simulation.scenario import Scenario, load_scenario
from simulation.studies.networks.law import draw, revised
from simulation.studies.networks.panel import ROUNDS
from simulation.studies.networks.ties import DEGREE, neighbours

if TYPE_CHECKING:
    from simulation.encoders import Encoder
    from simulation.mind.revision import RevisionParameters
    from simulation.models.base import (
        ProbeReplies,
        ProbeRequests,
        ReflectionReplies,
        ReflectionRequests,
        TurnRequests,
    )
    from simulation.studies.networks.panel import FloatArray, IntArray, Panel

_TICKS: Final = tuple(range(1, ROUNDS + 1))
_ONTOLOGY: Final = """name: asked
description: People who are asked how likely something is.
attributes:
  - id: item
    kind: category
    say: "You were asked about {value}."
    values:
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reviser:
    """A model whose personas state probabilities and revise them; the rest is the rule model's.

    plausibility: (C,) by claim of the brief.
    """

    rule: RuleModel
    parameters: RevisionParameters
    plausibility: FloatArray

    @property
    def name(self) -> str:
        """Return what a run calls it."""
        return "revision"

    def react(self, requests: TurnRequests) -> Reactions:
        """State a probability; from the second turn on, what has become of it."""
        cast, feed = requests.cast, requests.feed
        rows = np.arange(len(requests))
        asked = feed.claim[rows, np.argmax(feed.question, axis=1)]
        target = len(cast.dimensions) + asked
        own = requests.beliefs[rows, target]
        peers = (feed.author >= 0) & (feed.claim == asked[:, None])
        after = revised(
            own,
            _mean(opinion.position(feed.stance), peers, own),
            self.plausibility[asked],
            draw(
                self.rule.streams,
                keys=cast.keys[requests.row],
                claim=asked,
                tick=requests.tick,
            ),
            times=max(0, requests.tick - 2),
            parameters=self.parameters,
        )
        after = np.where(requests.turn_no == 1, own, after)
        change = np.zeros_like(requests.beliefs)
        change[rows, target] = after - own
        return _posts(change, asked, after)

    def reflect(self, requests: ReflectionRequests) -> ReflectionReplies:
        """Reflect as the rule model does; three rounds are too few for it."""
        return self.rule.reflect(requests)

    def answer_probes(self, requests: ProbeRequests) -> ProbeReplies:
        """Answer as the rule model does; nobody is probed here."""
        return self.rule.answer_probes(requests)


def _mean(values: FloatArray, kept: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Return the mean of the kept slots of each row, (A,)."""
    total = np.zeros(len(values))
    for slot in range(values.shape[1]):
        total += np.where(kept[:, slot], values[:, slot], 0.0)
    count = kept.sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), otherwise)


def _posts(change: FloatArray, claim: IntArray, after: FloatArray) -> Reactions:
    """Return posts that state a credence."""
    size = len(claim)
    none = np.full(size, -1, dtype=np.int64)
    return Reactions(
        action=np.full(size, ACTION_CODE["post"], dtype=np.int64),
        post=none,
        persona=none,
        words=[f"I would put it at {100.0 * b:.0f} out of 100." for b in after.tolist()],
        change=change,
        claim=claim,
        stance=opinion.stance(after),
        cause=np.full(change.shape, -1, dtype=np.int64),
        importance=np.full(size, np.nan),
        source=np.full(size, SOURCES.index("model"), dtype=np.int64),
    )


def revise(
    panel: Panel,
    parameters: RevisionParameters,
    plausibility: FloatArray,
    *,
    seed: int,
    encoder: Encoder,
) -> FloatArray:
    """Return the answers of three rounds, (N, 3), from a run of the engine."""
    rule = RuleModel(parameters=RuleParameters(), streams=Streams(seed))
    model = Reviser(rule=rule, parameters=parameters, plausibility=plausibility)
    return _run(panel, seed, encoder, tiers=(model, model))


def by_rule(panel: Panel, *, seed: int, encoder: Encoder) -> FloatArray:
    """Return what the engine's rule model with its defaults makes of a panel, (N, 3)."""
    return _run(panel, seed, encoder, tiers=None)


def _run(panel: Panel, seed: int, encoder: Encoder, tiers: Any) -> FloatArray:
    with TemporaryDirectory() as folder:
        place = Path(folder)
        _write(panel, seed, place)
        loaded = load_scenario(_scenario(panel), folder=place)
        engine = Engine(loaded, seed, tiers=tiers, encoder=encoder)
    column = len(engine.world.cast.dimensions) + panel.claim
    rows, answers = np.arange(len(panel)), []
    for _ in _TICKS:
        engine.advance()
        answers.append(engine.world.beliefs[rows, column])
    return np.stack(answers, axis=1)


def _names(panel: Panel) -> list[str]:
    return [f"C{i + 1}" for i in range(len(panel.claims))]


def _scenario(panel: Panel) -> Scenario:
    """Return a scenario that asks everybody its own question in every tick."""
    names = _names(panel)
    there = np.unique(panel.claim).tolist()
    return Scenario.model_validate(
        {
            "name": "networks",
            "horizon": ROUNDS,
            "ontology": "asked.yaml",
            "brief": {
                "brand": "the survey",
                "proposition": "How likely is it, from 0 to 100?",
                "dimensions": ("value",),
                "claims": tuple({"id": n, "text": f"Item {n} is true."} for n in names),
            },
            "population": {
                "source": "people.csv",
                "id_column": "id",
                "beliefs": {name: {"column": name} for name in names},
            },
            "graph": {"kind": "edges", "file": "edges.csv"},
            "feed": {"size": 2 * DEGREE},
            "actions": ("post",),
            "stimuli": tuple(
                {
                    "id": f"ask{i + 1}",
                    "tick": _TICKS,
                    "kind": "question",
                    "source": "the survey",
                    "text": f"How likely is item {names[i]}?",
                    "claim": names[i],
                    "stance": 0.0,
                    "credibility": 0.0,
                    "audience": {"item": (names[i],)},
                }
                for i in there
            ),
            "memory": {"units": False},
            "reflection": {"sharp_move": 1.0, "interval_min": 2 * ROUNDS},
            "probes": {"share": 0.0},
        }
    )


def _write(panel: Panel, seed: int, folder: Path) -> None:
    """Write the population, its ties and its ontology."""
    names = _names(panel)
    people = [["id", "item", *names]]
    for i, name in enumerate(panel.ids):
        row = ["0.5"] * len(names)
        row[panel.claim[i]] = repr(float(panel.first[i]))
        people.append([name, names[panel.claim[i]], *row])
    seen = neighbours(panel, stream_keys(panel.ids), Streams(seed))
    source, slot = np.nonzero(seen >= 0)
    target = seen[source, slot]
    once = source < target
    edges = [["source", "target"]]
    edges += [
        [panel.ids[a], panel.ids[b]]
        for a, b in zip(source[once].tolist(), target[once].tolist(), strict=True)
    ]
    values = "".join(f"      - {{id: {name}, label: item {name}}}\n" for name in names)
    for file, text in (
        ("people.csv", _csv(people)),
        ("edges.csv", _csv(edges)),
        ("asked.yaml", _ONTOLOGY + values),
    ):
        (folder / file).write_text(text, encoding="utf-8", newline="\n")


def _csv(rows: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
