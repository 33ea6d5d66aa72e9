"""One turn: a stated probability, what peers stated, and the next one.

The step towards peers is `mind.opinion.move`, the engine's own; who moves, how far, and what it
finds out by itself is `mind.revision`. `society` calls `revised` from inside the engine, and
`rehearse` calls it alone, many seeds at once, for fitting. A test holds the two to each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation.mind import opinion, revision
from simulation.rng import Streams, stream_keys
from simulation.studies.networks.panel import ROUNDS
from simulation.studies.networks.ties import neighbours, neighbours_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.mind.revision import RevisionParameters
    from simulation.rng import UIntArray
    from simulation.studies.networks.panel import FloatArray, IntArray, Panel


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chance:
    """The draws of one turn, each (N,): see `mind.revision`."""

    lasting: FloatArray
    passing: FloatArray
    side: FloatArray
    size: FloatArray


def draw(streams: Streams, *, keys: UIntArray, claim: IntArray, tick: int) -> Chance:
    """Return the draws of a turn; `lasting` is the same in every tick.

    keys: (N,) of the personas.  claim: (N,) which claim is asked about, >= 0.
    """
    return Chance(
        lasting=streams.uniform("revision:settled", tick=0, keys=keys, index=claim),
        passing=streams.uniform("revision:idle", tick=tick, keys=keys, index=claim),
        side=streams.uniform("revision:side", tick=tick, keys=keys, index=claim),
        size=streams.uniform("revision:size", tick=tick, keys=keys, index=claim),
    )


def revised(
    credence: FloatArray,
    place: FloatArray,
    plausible: FloatArray,
    chance: Chance,
    *,
    times: int,
    parameters: RevisionParameters,
) -> FloatArray:
    """Return what is stated next, (N,), whole hundredths.

    credence: stated before.  place: mean of what peers stated.  plausible: how much more likely
    the claim is to everybody than peers say, in units of credence.  times: reconsidered before.
    """
    often = np.full(len(credence), float(times))
    moves = revision.reconsiders(credence, chance.lasting, chance.passing, parameters)
    share = revision.share(credence, place, often, parameters)
    toward = np.clip(place + plausible, 0.0, 1.0)
    moved = opinion.move(
        credence=credence[:, None],
        initial=credence[:, None],
        claim=np.zeros((len(credence), 1), dtype=np.int64),
        place=place[:, None],
        judged=toward[:, None],
        share=np.where(moves, share, 0.0)[:, None],
        peer=np.zeros((len(credence), 1), dtype=bool),
        influence=0.0,
        stubbornness=0.0,
    )
    after = np.clip(credence + moved.change[:, 0], 0.0, 1.0)
    after = after + revision.own_step(after, chance.side, chance.size, often, parameters)
    return np.where(moves, revision.stated(np.clip(after, 0.0, 1.0)), credence)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """A panel S times over, with the ties and the draws of S seeds, as one long batch.

    panel: once.  first, claim: (S N,).  seen: (S N, 4) rows of the batch.  chances: of rounds 2
    and 3.
    """

    panel: Panel
    seeds: int
    first: FloatArray
    claim: IntArray
    seen: IntArray
    chances: tuple[Chance, ...]


def stage(panel: Panel, seeds: Sequence[int]) -> Stage:
    """Return a panel ready to be rehearsed many times: all that does not depend on parameters."""
    keys, size = stream_keys(panel.ids), len(panel)
    seen, drawn = [], []
    for place, seed in enumerate(seeds):
        streams = Streams(seed)
        own = neighbours(panel, keys, streams)
        seen.append(np.where(own >= 0, own + place * size, -1))
        ticks = range(2, ROUNDS + 1)
        drawn.append([draw(streams, keys=keys, claim=panel.claim, tick=t) for t in ticks])
    names = ("lasting", "passing", "side", "size")
    chances = tuple(
        Chance(**{n: np.concatenate([getattr(one, n) for one in turn]) for n in names})
        for turn in zip(*drawn, strict=True)
    )
    return Stage(
        panel=panel,
        seeds=len(seeds),
        first=np.tile(panel.first, len(seeds)),
        claim=np.tile(panel.claim, len(seeds)),
        seen=np.concatenate(seen),
        chances=chances,
    )


def rehearse(
    on: Stage, parameters: RevisionParameters, plausibility: FloatArray
) -> tuple[FloatArray, ...]:
    """Return the answers of all rounds, each (S, N), without the engine.

    plausibility: (C,) by claim.
    """
    rounds = [on.first]
    for times, chance in enumerate(on.chances):
        now = rounds[-1]
        place = neighbours_mean(now, on.seen)
        rounds.append(
            revised(
                now,
                place,
                plausibility[on.claim],
                chance,
                times=times,
                parameters=parameters,
            )
        )
    return tuple(r.reshape(on.seeds, len(on.panel)) for r in rounds)
