"""How people revise a stated probability: many not at all, most a little, some all the way.

A turn that reconsiders a claim does two things. It closes a share of the gap to what others say,
as in DeGroot (1974), here a larger one where they stand on the other side of "as likely as not";
and it takes in what the persona finds out or thinks of by itself, as a step of a martingale:
towards certainty that the claim is true with the probability that it believes so, else towards
certainty that it is false. That step is 0 on average (so are the changes of beliefs of who learns
as Bayes would: Kamenica & Gentzkow 2011), so all drift comes from others and from the claim.

Shapes: any, all arrays of one shape; credences and draws lie in [0, 1]. The forms are readings of
this project [r], made on the answers of people in networks (docs/networks.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulation.mind import elementary

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

UNMOVING = 1e-9  # chances to reconsider are not taken for smaller than this


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionParameters:
    """How a population revises what it has said.

    The defaults are round figures near what people's answers about news give: docs/networks.md.

    pull: share of the gap to others that a first reconsideration closes on average, [0, 1].
    assent: what is left of it towards those on one's own side of 1/2, [0, 1].
    fade: what each further reconsideration of a claim keeps of the one before, [0, 1].
    settled: share of personas that stay with what they say, whoever speaks, [0, 1].
    firm: how much larger that share is among the certain, [0, 1].
    steepness: how fast it grows towards certainty, > 0.
    idle: chance to leave a claim alone in one turn, [0, 1).
    caution: how rare large steps on one's own are, >= 0; 0 is full certainty at once.
    """

    pull: float = 0.3
    assent: float = 0.6
    fade: float = 0.6
    settled: float = 0.03
    firm: float = 0.6
    steepness: float = 12.0
    idle: float = 0.06
    caution: float = 1.0


def settled_share(credence: FloatArray, parameters: RevisionParameters) -> FloatArray:
    """Return the share of personas with this credence that stay with it for good, in [0, 1].

    settled + firm |2 b - 1| ** steepness, at most 1: whoever is certain rarely reconsiders.
    """
    certainty = np.abs(2.0 * credence - 1.0)
    grown = elementary.exp(parameters.steepness * elementary.log(certainty))  # 0 at certainty 0
    return np.minimum(1.0, parameters.settled + parameters.firm * grown)


def reconsiders(
    credence: FloatArray,
    lasting: FloatArray,
    passing: FloatArray,
    parameters: RevisionParameters,
) -> BoolArray:
    """Return who reconsiders a claim in this turn.

    lasting: a draw per persona and claim, the same all run; passing: one per turn.  Who stays with
    a credence for good stays in every turn, so that unchanged answers go together, as people's do.
    """
    stays = lasting < settled_share(credence, parameters)
    return np.asarray(~stays & (passing >= parameters.idle))


def openness(
    credence: FloatArray, place: FloatArray, parameters: RevisionParameters
) -> FloatArray:
    """Return what is left of the pull of others, in [assent, 1].

    place: where others stand.  Who hears that others think it likely, too, has less reason to
    move than who hears the opposite; with one of them at 1/2 nobody is of one side.
    """
    together = (place - 0.5) * (credence - 0.5) > 0.0
    return np.where(together, parameters.assent, 1.0)


def share(
    credence: FloatArray, place: FloatArray, times: FloatArray, parameters: RevisionParameters
) -> FloatArray:
    """Return the share of the gap that who reconsiders closes, in [0, 1].

    times: how often the claim was reconsidered before, >= 0.  Divided by the chance to reconsider
    at all, so that `pull` is the mean over all personas however many of them stay.
    """
    moving = (1.0 - settled_share(credence, parameters)) * (1.0 - parameters.idle)
    closed = parameters.pull * openness(credence, place, parameters)
    closed = closed * elementary.power(parameters.fade, times)
    return np.minimum(1.0, closed / np.maximum(moving, UNMOVING))


def own_step(
    credence: FloatArray,
    side: FloatArray,
    size: FloatArray,
    times: FloatArray,
    parameters: RevisionParameters,
) -> FloatArray:
    """Return the signed step that a persona takes by itself, within [-credence, 1 - credence].

    side, size: draws.  The step goes to 1 if side < credence, else to 0, over a share
    size ** caution * fade ** times of the way: zero on average, none for the certain.
    """
    goal = (side < credence).astype(np.float64)
    way = elementary.exp(parameters.caution * elementary.log(size))
    way = way * elementary.power(parameters.fade, times)
    return way * (goal - credence)


def stated(credence: FloatArray, *, steps: int = 100) -> FloatArray:
    """Return a credence as people state it: in whole hundredths, or `steps` of another size."""
    return np.asarray(np.rint(credence * steps) / steps)
