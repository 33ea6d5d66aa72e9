"""What the people of a sample recall, in each condition.

Recall as in F.4: three memories for each of the six prompts of F.2, at the state (0, .4, .5), from
the twelve best passive scores; the stored affect of the eighteen is averaged. Everybody meets the
same random numbers, so that without traits all recall the same.

Overgenerality (OGM) as in F.4: 40 single draws for each of the same prompts under distress. It is
the measure of Equation 12, which draws from the complete store (C.8, D.2), and so does this; each
person has random numbers of its own, since the seed's no-trait control varies between people.

Shapes: P people, K memories, 6 prompts.

Source: PersMem, 4.2, F.2, F.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.mind.affect import NEUTRAL_STATE
from simulation.rng import Streams, stream_keys
from simulation.scenario.persmem import Passive, PersMem
from simulation.studies import recalling
from simulation.studies.big_five.profiles import KIND
from simulation.studies.corpus import QUESTIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulation.rng import FloatArray
    from simulation.studies.big_five.profiles import Profiles
    from simulation.studies.recalling import Asked, Bank, Minds

    IntArray = NDArray[np.int64]

PROMPTS: Final = QUESTIONS
RECALLED: Final = 3  # memories a prompt
DRAWS: Final = 40  # a prompt, for OGM
FIRST_RANDOM: Final = 42  # the random control of profile s is named 42 + s (F.2)
PAIRED, OWN = "paired", "own"
RANDOM: Final = "random"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A way to recall. name: of it.  spec: None where memories are drawn evenly."""

    name: str
    spec: PersMem | None


FULL: Final = Condition(name="full", spec=PersMem(gains="paper"))
HUMAN: Final = Condition(name="human gains", spec=PersMem(gains="human"))
REFERENCE: Final = Condition(name="fixed gains", spec=PersMem(gains="reference"))
NO_TRAIT: Final = Condition(name="no-trait", spec=PersMem(switches=recalling.TRAITLESS))
EVEN: Final = Condition(name=RANDOM, spec=None)
CONDITIONS: Final = (FULL, NO_TRAIT, EVEN, HUMAN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How it is measured, where that may differ.

    streams, ogm_streams: `PAIRED` or `OWN`.  felt: average the affect as each person feels it.
    ogm_candidates: how many best scores OGM draws from; None for the complete store.
    candidates: how many the recall draws from.  heat: factor of the temperature.
    alpha: weight of the similarity to the prompt.  beta_x: how far N raises the weight of affect.
    """

    streams: str = PAIRED
    ogm_streams: str = OWN
    felt: bool = False
    ogm_candidates: int | None = None
    candidates: int = 12
    heat: float = 1.0
    alpha: float = 1.0
    beta_x: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What P people recalled.

    affect: (P, 3) mean valence, arousal and dominance of the eighteen memories.
    overgeneral: (P,) their share of overgeneral ones.  ogm: (P,) share of overgeneral draws.
    """

    affect: FloatArray
    overgeneral: FloatArray
    ogm: FloatArray

    def values(self) -> dict[str, FloatArray]:
        """Return the measures by name, (P,) each."""
        names = ("valence", "arousal", "dominance")
        found = {name: self.affect[:, i] for i, name in enumerate(names)}
        return found | {"overgeneral": self.overgeneral, "ogm": self.ogm}


MEASURES: Final = ("valence", "arousal", "dominance", "overgeneral", "ogm")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group:
    """People who share a corpus, and the seed of all their chance."""

    bank: Bank
    people: Profiles
    seed: int
    way: Way = field(default_factory=Way)

    @property
    def rows(self) -> IntArray:
        """Who answers, prompt by prompt: (6 P,)."""
        return np.repeat(np.arange(len(self.people.ids)), len(PROMPTS))

    def minds(self, spec: PersMem, candidates: int | None) -> Minds:
        """Return their minds. candidates: None for the complete store."""
        count = len(self.bank.items) if candidates is None else candidates
        passive = Passive(alpha=self.way.alpha, beta_x=self.way.beta_x, candidates=count)
        spec = spec.model_copy(update={"passive": passive})
        minds = recalling.Minds(self.bank, KIND, self.people.traits, spec, seed=self.seed)
        if self.way.heat != 1.0:
            minds.disposition.gains = _heated(minds.disposition.gains, self.way.heat)
        return minds

    def ask(self, purpose: str, kind: str, state: tuple[float, ...] = NEUTRAL_STATE) -> Asked:
        """Return the six prompts to everybody. kind: of the streams, `PAIRED` or `OWN`."""
        who = self.people.ids if kind == OWN else ("all",) * len(self.people.ids)
        return recalling.ask(
            self.bank,
            personas=self.rows,
            cues=PROMPTS * len(who),
            streams=[f"{purpose} {name} {i}" for name in who for i in range(len(PROMPTS))],
            state=state,
        )

    def folded(self, places: IntArray) -> IntArray:
        """Return (6 P, N) places person by person, (P, 6 N)."""
        return places.reshape(len(self.people.ids), -1)


def measure(group: Group, condition: Condition) -> Measured:
    """Return what people recall in a condition."""
    corpus = group.bank.corpus
    places = recalled(group, condition)
    affect = corpus.affect[places]
    if group.way.felt and condition.spec is not None:
        minds = group.minds(condition.spec, group.way.candidates)
        rows = np.repeat(np.arange(len(places)), places.shape[1])
        affect = minds.disposition.felt(affect.reshape(-1, 3), rows).reshape(affect.shape)
    return Measured(
        affect=affect.mean(axis=1),
        overgeneral=corpus.overgeneral[places].mean(axis=1),
        ogm=corpus.overgeneral[distressed(group, condition)].mean(axis=1),
    )


def recalled(group: Group, condition: Condition) -> IntArray:
    """Return the places of the eighteen memories of each, (P, 18)."""
    if condition.spec is None:
        return group.folded(_evenly(group))
    minds = group.minds(condition.spec, group.way.candidates)
    return group.folded(minds.passive(group.ask("recall", group.way.streams), count=RECALLED))


def distressed(group: Group, condition: Condition) -> IntArray:
    """Return the places of the draws under distress of each, (P, 240)."""
    if condition.spec is None:
        return _even_draws(group)
    minds = group.minds(condition.spec, group.way.ogm_candidates)
    asked = group.ask("ogm", group.way.ogm_streams, recalling.DISTRESS)
    return group.folded(minds.samples(asked, draws=DRAWS))


def _evenly(group: Group) -> IntArray:
    """Return three memories a prompt, each as likely as any, (6 P, 3)."""
    minds = group.minds(PersMem(), None)
    count = len(group.people.ids)
    asked = recalling.ask(
        group.bank,
        personas=group.rows,
        cues=PROMPTS * count,
        streams=[f"{RANDOM} {FIRST_RANDOM + s} {i}" for s in range(count) for i in range(6)],
    )
    return minds.control(asked, RANDOM, count=RECALLED).position


def _even_draws(group: Group) -> IntArray:
    keys = stream_keys(f"{RANDOM} {FIRST_RANDOM + s}" for s in range(len(group.people.ids)))
    index = np.arange(DRAWS * len(PROMPTS))
    lots = Streams(group.seed).uniform("ogm-random", tick=0, keys=keys[:, None], index=index)
    return (lots * len(group.bank.items)).astype(np.int64)


def _heated(gains: FloatArray, factor: float) -> FloatArray:
    """Return gains with another temperature; it is the last of them."""
    changed = gains.copy()
    changed[:, -1] *= factor
    return changed
