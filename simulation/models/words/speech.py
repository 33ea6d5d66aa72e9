"""What a persona of the rule model says: a verdict on a topic, a start, a tail, at times an echo.

Each text takes one draw of 64 bits and uses it up digit by digit, in mixed radix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.mind import opinion
from simulation.models.base import ACTIONS, SPEAKING
from simulation.models.words import phrases
from simulation.models.words.matters import Fitting
from simulation.models.words.text import MIXED, NAME_LENGTH, bands, bare, capital, quoted

if TYPE_CHECKING:
    from simulation.models.base import Cast, FloatArray, IntArray, TurnRequests
    from simulation.rng import UIntArray

_DECISIONS = {
    "buy": (phrases.ACCEPTANCES, phrases.REASONS_TO_ACCEPT, True),
    "reject": (phrases.REFUSALS, phrases.REASONS_TO_REFUSE, False),
}
_HEARD = np.array([action in {*SPEAKING, *_DECISIONS} for action in ACTIONS])


def speeches(
    requests: TurnRequests,
    *,
    action: IntArray,
    slot: IntArray,
    claim: IntArray,
    feeling: FloatArray,
    echo: IntArray,
    bits: UIntArray,
) -> list[str]:
    """Return what is said in each turn, "" for nothing.

    action: (A,) index into `ACTIONS`.  slot: (A,) feed slot acted upon, or -1.  claim: (A,) what
    it is about, -1 for the brand.  feeling: (A,) [-1, 1], for or against it.  echo: (A,) 1 if
    recalled memories of the claim agree, -1 if they differ, 0 without any.  bits: (A,) draws.
    """
    cast = requests.cast
    subject = bare(cast.brand, NAME_LENGTH) or "this"
    topics = [*(quoted(text) or subject for text in cast.claim_texts), subject]  # -1: the brand
    fitting = [Fitting(topic + " " + subject) for topic in topics]
    favourable = _favourable(cast)
    speakers = np.flatnonzero(_HEARD[action])
    sides = _sides(requests, slot, claim, feeling)
    columns = (action, slot, claim, bands(feeling), sides, echo, bits, requests.row)
    texts = [""] * len(requests)
    for i, code, at, about, band, side, same, draw, row in zip(
        speakers.tolist(), *(column[speakers].tolist() for column in columns), strict=True
    ):
        name = ACTIONS[code]
        if name in _DECISIONS:
            reason = topics[about] if about >= 0 and band != MIXED else ""
            believed, speaks = band < MIXED, favourable[about]
            texts[i] = _decision(name, subject, reason, draw, believed=believed, favourable=speaks)
        else:
            source = _source(requests, i, at) if name in phrases.ADDRESSES else ""
            voices = fitting[about].of(cast.voices[row])
            pairs = _addresses(name, side)
            texts[i] = _statement(name, topics[about], source, pairs, voices, band, same, draw)
    return texts


def _favourable(cast: Cast) -> list[bool]:
    """Return of each claim whether belief in it speaks for the brand; the last is no claim."""
    return [*(np.sum(cast.weights, axis=1) >= 0.0).tolist(), True]


def _source(requests: TurnRequests, i: int, slot: int) -> str:
    post = int(requests.feed.post[i, slot]) if slot >= 0 else -1
    return bare(requests.feed.source_names(post), NAME_LENGTH) if post >= 0 else ""


def _sides(
    requests: TurnRequests, slot: IntArray, claim: IntArray, feeling: FloatArray
) -> IntArray:
    """Return whether each speaker agrees with the item it answers, (A,): 1, -1, or 0 if open."""
    feed, turn = requests.feed, np.arange(len(requests))
    if feed.post.shape[1] == 0:
        return np.zeros(len(requests), dtype=np.int64)
    same = (slot >= 0) & (claim >= 0) & (feed.claim[turn, slot] == claim)
    felt = bands(opinion.agreement(feeling, feed.stance[turn, slot]))
    return np.where(same, np.sign(MIXED - felt), 0)


def _addresses(action: str, side: int) -> tuple[phrases.Pair, ...]:
    """Return the ways to name who is answered: who contradicts does not sound like consent."""
    if side < 0:
        return phrases.OPPOSING.get(action, ())
    return phrases.ADDRESSES.get(action, ()) + (phrases.AGREEING.get(action, ()) if side else ())


def _statement(
    action: str,
    topic: str,
    source: str,
    addresses: tuple[phrases.Pair, ...],
    voices: list[str],
    band: int,
    echo: int,
    draw: int,
) -> str:
    """Return a start, a verdict or complaint on the topic, and a second sentence."""
    draw, place = divmod(draw, 8)
    draw, which = divmod(draw, max(1, len(voices)))
    voice = voices[which] if voices else ""
    draw, start = _start(addresses, source, voice if place % 2 else "", draw)
    back = ", " + voice if voice and place in (0, 4) else ""
    pairs = phrases.COMPLAINTS if action == "complain" else phrases.VERDICTS[band]
    draw, which = divmod(draw, len(pairs))
    before, after = pairs[which]
    second = _second(action, band, echo, draw)
    return capital(start + before + topic + after + back + ". ") + second


def _start(
    addresses: tuple[phrases.Pair, ...], source: str, voice: str, draw: int
) -> tuple[int, str]:
    """Return the rest of the draw and how the sentence begins: whom it answers, or a voice."""
    draw, which = divmod(draw, 2)
    if source and which:
        draw, which = divmod(draw, len(addresses))
        before, after = addresses[which]
        return draw, before + source + after
    if voice and voice[0].upper().isupper():  # else it could not start a sentence
        return draw, voice + ", "
    draw, which = divmod(draw, len(phrases.OPENERS))
    return draw, phrases.OPENERS[which]


def _second(action: str, band: int, echo: int, draw: int) -> str:
    draw, remember = divmod(draw, 3)
    if action == "ask_peer":
        forms = phrases.QUESTIONS
    elif action == "complain":
        forms = phrases.GRIEVANCES
    elif echo and not remember:
        forms = phrases.ECHOES[0 if echo > 0 else 1]
    else:
        forms = phrases.TAILS[band]
    return forms[draw % len(forms)]


def _decision(
    action: str, subject: str, reason: str, draw: int, *, believed: bool, favourable: bool
) -> str:
    """Return a decision about the brand, with a claim that speaks for or against it.

    believed: the claim is.  favourable: who believes it thinks better of the brand.
    """
    pairs, reasons, accepts = _DECISIONS[action]
    draw, which = divmod(draw, len(pairs))
    before, after = pairs[which]
    text = before + subject + after
    if reason:
        draw, opener = divmod(draw, len(phrases.OPENERS))
        speaks_for = (believed == favourable) == accepts
        forms = reasons[0 if speaks_for else 1][0 if believed else 1]
        why, end = forms[draw % len(forms)]
        text = phrases.OPENERS[opener] + text + why + reason + end
    return capital(text + ".")
