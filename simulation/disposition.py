"""What a persona's personality makes of a text, of a memory and of the gate (method.md 7).

The formulas stand in `simulation.mind`, one set for attachment and one for the Big Five; here the
rows of a population meet the constants and switches of its scenario. Nothing here ever reaches a
prompt.

Shapes: A turns, K memories of each; an affect is (valence, arousal, dominance).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simulation.mind import affect, gate, passive, retention, traits
from simulation.personality import maps

if TYPE_CHECKING:
    from simulation.appraisal import Appraisals
    from simulation.memory import Held
    from simulation.personality import Personalities
    from simulation.scenario.persmem import PersMem

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

ATTACHMENT = "attachment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What of the passive score does not depend on the query, (A, K).

    retention: in [0, 1].  match: how well the memory's affect fits the state, in [0, 1].
    relation: R, >= 0.
    """

    retention: FloatArray
    match: FloatArray
    relation: FloatArray

    def take(self, turn: IntArray) -> Weighed:
        """Return the rows of some turns, (N,)."""
        return Weighed(
            retention=self.retention[turn], match=self.match[turn], relation=self.relation[turn]
        )


class Disposition:
    """The personalities of a run, with the constants that say what they do.

    personalities: of the P personas.  gains: by which they weigh a memory's affect, (P, G),
    read-only.  appraisals: raw affects.  rate: lambda of the affective state.  mode: of the gate,
    "off" also where switch G is.  draws, candidates, max_steps: sizes of passive and active
    retrieval.
    """

    def __init__(
        self, personalities: Personalities, spec: PersMem, appraisals: Appraisals, *, tau: float
    ) -> None:
        """Take the constants of a scenario.

        personalities: of a kind.  appraisals: the raw affects of the run's texts.  tau: time
        constant of recency, ticks.

        Raises:
            UsageError: the map of gains does not exist for this kind of personality.
        """
        self.appraisals = appraisals
        self.personalities = personalities
        self.tau = tau
        self.rate = spec.rate
        self.max_steps = spec.max_steps
        self.mode = spec.gate.mode if spec.switches.G else "off"
        self.draws = spec.passive.draws
        self.candidates = spec.passive.candidates
        self._switches = spec.switches
        self._appraisal = affect.AppraisalParameters(**spec.appraisal.model_dump())
        self._retention = retention.RetentionParameters(**spec.retention.model_dump())
        self._passive = passive.PassiveParameters(**spec.passive.model_dump())
        self._gate = gate.GateParameters(**spec.gate.model_dump(exclude={"mode"}))
        self._attachment = personalities.kind == ATTACHMENT
        vectors = personalities.vectors
        place = traits.ATTACHMENT_REACTIVITY if self._attachment else traits.BIG_FIVE_REACTIVITY
        self._trait: FloatArray = vectors[:, place]
        self.gains: FloatArray = maps.gains(spec.gains, personalities.kind, vectors)
        self.gains.setflags(write=False)

    def appraise(self, text: IntArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the raw affects of texts, and how they feel to personas, (N, 3) each.

        text: (N,) ids.  rows: (N,) who.
        """
        raw = self.appraisals.raw(text)
        return raw, self.felt(raw, rows)

    def felt(self, raw: FloatArray, rows: IntArray) -> FloatArray:
        """Return raw affects as personas feel them, (N, 3).

        raw: (N, 3).  rows: (N,) who.
        """
        if not self._switches.A:
            return raw
        vectors = self.personalities.vectors[rows]
        if self._attachment:
            return affect.appraise_attachment(
                raw, vectors[:, 0], vectors[:, 1], parameters=self._appraisal
            )
        return affect.appraise_big_five(raw, vectors, parameters=self._appraisal)

    def weigh(self, held: Held, rows: IntArray, state: FloatArray, *, now: int) -> Weighed:
        """Return what of the passive scores does not depend on the query.

        held: memories of the personas, with affect.  rows: (A,).  state: (A, 3) s_in.
        now: the tick.
        """
        kept = retention.retention(
            np.where(held.used, now - held.tick.astype(np.int64), 0),
            held.arousal,
            held.valence,
            self._trait[rows],
            tau=self.tau,
            parameters=self._retention,
            personality=self._switches.R,
        )
        felt = np.stack([held.valence, held.arousal, held.dominance], axis=-1)
        return Weighed(
            retention=kept,
            match=passive.affect_match(felt, state),
            relation=self._relation(felt, held, rows, state),
        )

    def _relation(
        self, felt: FloatArray, held: Held, rows: IntArray, state: FloatArray
    ) -> FloatArray:
        vectors, gains = self.personalities.vectors[rows], self.gains[rows]
        if self._attachment:
            return passive.relation_attachment(
                felt,
                state,
                held.overgeneral,
                anxiety=vectors[:, 0],
                avoidance=vectors[:, 1],
                gains=gains,
                parameters=self._passive,
                personality=self._switches.P,
                specificity=self._switches.S,
            )
        return passive.relation_big_five(
            felt,
            state,
            held.overgeneral,
            traits=vectors,
            gains=gains,
            personality=self._switches.P,
            specificity=self._switches.S,
        )

    def score(self, weighed: Weighed, semantic: FloatArray, rows: IntArray) -> FloatArray:
        """Return the passive score S, (A, K). semantic: (A, K), cosines clipped to [0, 1]."""
        weight = passive.relation_weight(
            self._trait[rows], parameters=self._passive, personality=self._switches.P
        )
        return passive.score(
            semantic, weighed.relation, weighed.retention, weight=weight, parameters=self._passive
        )

    def temperature(self, rows: IntArray) -> FloatArray:
        """Return the temperature of the passive draw, (A,), > 0."""
        if self._attachment:
            return np.full(len(rows), self._passive.temperature)
        return passive.temperature_big_five(
            self.gains[rows], parameters=self._passive, personality=self._switches.P
        )

    def threshold(self, rows: IntArray) -> FloatArray:
        """Return the threshold of the gate, (A,)."""
        return gate.threshold(self._trait[rows], mode=self.mode, parameters=self._gate)

    def probability(
        self, score: FloatArray, threshold: FloatArray, arousal: FloatArray
    ) -> FloatArray:
        """Return how likely the gate fires, (A,). score: passive, of the memory proposed."""
        return gate.probability(score, threshold, arousal, mode=self.mode, parameters=self._gate)
