"""`rule`, the embedded opinion model: deterministic, without a key, every formula documented.

It reads the structured part of a request and answers with the same reaction as a language model.
docs/rule-model.md explains it; how beliefs move is in `perception` and `mind.opinion`, the choice
of an action in `utilities`, reflection in `consolidation`, the words in `words`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulation.mind import elementary, opinion
from simulation.models import interviews, surveys
from simulation.models.base import (
    ACTION_CODE,
    ACTIONS,
    ON_A_POST,
    SOURCES,
    AttitudesView,
    ProbeReplies,
    Reactions,
)
from simulation.models.consolidation import consolidate
from simulation.models.perception import (
    Perception,
    agreement,
    appeal,
    contrary,
    disposition,
    felt,
    perceive,
    stances,
    topics,
    trust,
)
from simulation.models.utilities import (
    Slots,
    at,
    choose,
    first,
    in_character,
    largest,
    possible,
    utilities,
)
from simulation.models.words import speeches

if TYPE_CHECKING:
    from simulation.models.base import (
        FloatArray,
        IntArray,
        ProbeRequests,
        ReflectionReplies,
        ReflectionRequests,
        TurnRequests,
    )
    from simulation.models.interviews import InterviewReplies, InterviewRequests
    from simulation.models.surveys import SurveyReplies, SurveyRequests
    from simulation.rng import Streams

__all__ = ["RuleModel", "RuleParameters", "consolidate"]

_GLANCE = 0.15  # spread of what catches the eye, in units of attention times (0.5 + |stance|)
_APPEAL_WIDTH = 0.08  # appeal over which deciding goes from unlikely to likely
_FAINT = 0.05  # a recalled stance nearer to 0 neither agrees nor differs


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleParameters:
    """Parameters of the opinion model; `scenario.model.Rule` describes and bounds each.

    Credibility by kind of source is not among them: it is resolved before, item by item.
    """

    persuasion: float = 0.5
    judgement: float = 0.4
    influence: float = 0.15
    confidence: float = 0.45
    stubbornness: float = 0.0
    attention_floor: float = 0.25
    trust_floor: float = 0.2
    confirmation_bias: float = 0.5
    repetition: float = 0.6
    memory: float = 0.5
    spillover: float = 0.8
    consolidation: float = 0.15
    dispersion: float = 0.25
    choice_temperature: float = 0.35
    buy_threshold: float = 0.65
    reject_threshold: float = 0.35
    drift_rate: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleModel:
    """The opinion model as a `Model`."""

    parameters: RuleParameters
    streams: Streams

    @property
    def name(self) -> str:
        """Return "rule"."""
        return "rule"

    def react(self, requests: TurnRequests) -> Reactions:
        """Answer a batch of turns; each answer depends on its own row only."""
        seen = perceive(requests, self.parameters, self.streams)
        slots = self._slots(requests, seen)
        topic = topics(requests.cast, seen)
        utility = self._utilities(requests, seen, slots, topic)
        noise = self.streams.gumbel(
            "action",
            tick=requests.tick,
            keys=requests.cast.keys[requests.row][:, None],
            index=np.arange(len(ACTIONS)),
        )
        fitting = in_character(
            requests.allowed, slots, felt(requests, seen), contrary(requests, seen)
        )
        mask = possible(fitting, slots, requests.friend)
        action = choose(utility, mask, noise, self.parameters.choice_temperature)
        slot = _slot_taken(action, slots, requests)
        own = stances(requests.cast, seen)
        claim = np.where(slot >= 0, _taken(seen.claim, slot), _unasked(action, topic, own))
        stance = at(own, claim)
        count = len(requests)
        return Reactions(
            action=action,
            post=_post(requests, action, slot),
            persona=_persona(requests, action, slot),
            words=self._words(requests, seen, action, slot, claim, stance),
            change=seen.change,
            claim=claim,
            stance=stance,
            cause=seen.cause,
            importance=np.full(count, np.nan),
            source=np.full(count, SOURCES.index("rule"), dtype=np.int64),
        )

    def reflect(self, requests: ReflectionRequests) -> ReflectionReplies:
        """Consolidate by rule and sharpen what has moved."""
        return consolidate(
            requests,
            fallback=False,
            consolidation=self.parameters.consolidation,
            streams=self.streams,
        )

    def consolidate(self, requests: ReflectionRequests) -> ReflectionReplies:
        """Stand in for another model whose reflection failed: beliefs stay (method.md 4)."""
        return consolidate(requests, fallback=True, streams=self.streams)

    def answer_probes(self, requests: ProbeRequests) -> ProbeReplies:
        """Answer from the persona's attributes, but for `drift_rate` of the questions."""
        answers: list[str | None] = []
        for row, attribute, expected, other in zip(
            requests.row.tolist(),
            requests.attribute,
            requests.expected,
            requests.other,
            strict=True,
        ):
            key = requests.cast.keys[row]
            draw = self.streams.uniform(f"drift|{attribute}", tick=requests.tick, keys=key)
            drifts = bool(draw < self.parameters.drift_rate) and other != ""
            answers.append(other if drifts else expected)
        return ProbeReplies(answer=answers)

    def answer_surveys(self, requests: SurveyRequests) -> SurveyReplies:
        """Answer a survey question from the belief that it is about, in own words."""
        return surveys.answer_by_rule(requests, self.streams)

    def answer_interviews(self, requests: InterviewRequests) -> InterviewReplies:
        """Answer interview questions from attributes, beliefs and what comes to mind."""
        return interviews.answer_by_rule(requests)

    def _slots(self, requests: TurnRequests, seen: Perception) -> Slots:
        """Return which items this turn's actions would be about."""
        feed = requests.feed
        glance = self.streams.gumbel(
            "slot",
            tick=requests.tick,
            keys=requests.cast.keys[requests.row][:, None],
            index=np.arange(feed.post.shape[1]),
        )
        salience = seen.attention * (0.5 + np.abs(feed.stance)) + _GLANCE * glance
        chosen = largest(salience, seen.usable)
        peers = seen.usable & (feed.author >= 0)
        by_peer = at(peers.astype(np.float64), chosen) > 0.0
        return Slots(
            chosen=chosen,
            question=first(seen.usable & feed.question),
            disputed=largest(-seen.attention * agreement(requests, seen), seen.usable),
            followable=first(peers & (feed.followable | (feed.origin >= 0))),
            peer=np.where(by_peer, chosen, first(peers)),
        )

    def _utilities(
        self, requests: TurnRequests, seen: Perception, slots: Slots, topic: IntArray
    ) -> FloatArray:
        """Return the utility of every action after the change of beliefs, (A, 15)."""
        setting, cast = self.parameters, requests.cast
        pull = appeal(cast, seen.after)
        on_topic = at(stances(cast, seen), topic)
        doubt = np.maximum(1.0 - 2.0 * trust(cast, seen.after), -on_topic)
        personal = {
            "voice": disposition(requests, "voice", cast.voice, setting.dispersion, self.streams),
            "grievance": np.maximum(0.0, doubt),
            "buying": elementary.logistic((pull - setting.buy_threshold) / _APPEAL_WIDTH),
            "rejecting": elementary.logistic((setting.reject_threshold - pull) / _APPEAL_WIDTH),
            "standing": _attitudes(requests).brand,
        }
        return utilities(_item_features(requests, seen), personal, slots, np.abs(on_topic))

    def _words(
        self,
        requests: TurnRequests,
        seen: Perception,
        action: IntArray,
        slot: IntArray,
        claim: IntArray,
        stance: FloatArray,
    ) -> list[str]:
        """Return what is said; what is about no claim is about the brand and its appeal."""
        keys = requests.cast.keys[requests.row]
        recalled = at(seen.recalled, claim)
        echo = np.where(np.abs(recalled) < _FAINT, 0.0, np.sign(recalled * stance))
        return speeches(
            requests,
            action=action,
            slot=slot,
            claim=claim,
            feeling=np.where(
                claim >= 0, stance, opinion.stance(appeal(requests.cast, seen.after))
            ),
            echo=echo.astype(np.int64),
            bits=self.streams.bits("words", tick=requests.tick, keys=keys),
        )


def _item_features(requests: TurnRequests, seen: Perception) -> dict[str, FloatArray]:
    """Return the features of each feed slot, (A, F); see `utilities`."""
    feed, felt = requests.feed, _attitudes(requests)
    agreed = agreement(requests, seen)
    times = np.where(
        feed.stance >= 0.0,
        opinion.of_claim(requests.heard[:, :, 0], seen.claim),
        opinion.of_claim(requests.heard[:, :, 1], seen.claim),
    )
    return {
        "interest": seen.attention,
        "support": np.maximum(0.0, agreed),
        "opposition": np.maximum(0.0, -agreed),
        "conviction": np.abs(opinion.of_claim(stances(requests.cast, seen), seen.claim)),
        "novelty": np.where(seen.claim >= 0, 1.0 / (1.0 + times), 0.0),
        "peer": (feed.author >= 0).astype(np.float64),
        "liking": felt.peer,
        "settled": felt.claim * feed.stance,
    }


def _attitudes(requests: TurnRequests) -> AttitudesView:
    """Return what is settled about what is before each persona; nothing without memory units."""
    if requests.attitudes is not None:
        return requests.attitudes
    nothing = np.zeros(requests.feed.post.shape)
    return AttitudesView(
        brand=np.zeros(len(requests)), claim=nothing, peer=nothing, words=lambda _: ()
    )


def _slot_taken(action: IntArray, slots: Slots, requests: TurnRequests) -> IntArray:
    """Return the feed slot that each action is about, (A,); -1 for none.

    What is ignored is what the persona was looking at, the first item. A post, a complaint, a
    purchase or a refusal is about no item.
    """
    taken = np.full(len(requests), -1, dtype=np.int64)
    for name in (*ON_A_POST, "follow", "ask_peer"):
        taken = np.where(action == ACTION_CODE[name], slots.of(name), taken)
    looked_at = first(requests.feed.post[:, :1] >= 0)
    return np.where(action == ACTION_CODE["ignore"], looked_at, taken)


def _unasked(action: IntArray, topic: IntArray, own: FloatArray) -> IntArray:
    """Return the claim that an action about no item is about, (A,); -1 for the brand alone.

    It is the topic; but nobody complains about what it believes, and who ignores an empty feed
    has no topic.
    """
    believed = (action == ACTION_CODE["complain"]) & (at(own, topic) >= 0.0)
    return np.where(believed | (action == ACTION_CODE["ignore"]), -1, topic)


def _post(requests: TurnRequests, action: IntArray, slot: IntArray) -> IntArray:
    """Return the post that is acted upon, (A,); -1 for none."""
    on_post = np.isin(action, [ACTION_CODE[name] for name in ON_A_POST])
    return np.where(on_post, _taken(requests.feed.post, slot), -1)


def _persona(requests: TurnRequests, action: IntArray, slot: IntArray) -> IntArray:
    """Return the persona that is acted upon, (A,); -1 for none.

    Who is followed is the author or, if that is done already, who wrote what the author shares.
    """
    author = _taken(requests.feed.author, slot)
    asked = np.where(slot >= 0, author, requests.friend)
    near = np.where(requests.feed.followable, requests.feed.author, requests.feed.origin)
    followed = np.where(action == ACTION_CODE["follow"], _taken(near, slot), -1)
    return np.where(action == ACTION_CODE["ask_peer"], asked, followed)


def _taken(values: IntArray, slot: IntArray) -> IntArray:
    """Return each row's value at its slot, (A,); -1 where the slot is -1."""
    padded = np.concatenate([values, np.full((len(values), 1), -1, dtype=np.int64)], axis=1)
    return np.asarray(padded[np.arange(len(slot)), slot])
