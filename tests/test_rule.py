"""The rule model's turns: how messages move beliefs, and what an answer may depend on."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_requests import (
    Town,
    make_cast,
    make_feed,
    make_requests,
    no_memories,
    subset,
)

from simulation.models.base import SOURCES, Reactions, RecalledView, TurnRequests
from simulation.models.rule import RuleModel, RuleParameters
from simulation.rng import Streams
from simulation.scenario.model import Rule

if TYPE_CHECKING:
    from simulation.models.base import FloatArray

PEOPLE = 400
DEPTH = 3  # dimensions before the first claim
COLUMNS = (
    "action",
    "post",
    "persona",
    "change",
    "claim",
    "stance",
    "cause",
    "importance",
    "source",
)


def model(**given_: float) -> RuleModel:
    return RuleModel(parameters=RuleParameters(**given_), streams=Streams(1))


def moved(requests: TurnRequests, claim: int = 0, **given_: float) -> float:
    """Return the mean change of a claim's credence."""
    return float(model(**given_).react(requests).change[:, DEPTH + claim].mean())


def ad(**given_: Any) -> TurnRequests:
    feed = make_feed(PEOPLE, sponsored=np.ones((PEOPLE, 1), dtype=bool))
    return make_requests(PEOPLE, feed=feed, **given_)


def with_beliefs(target: int, value: float) -> FloatArray:
    beliefs = np.full((PEOPLE, 6), 0.5)
    beliefs[:, target] = value
    return beliefs


def column_of(value: float) -> Any:
    return np.full((PEOPLE, 1), value)


def test_the_parameters_are_those_of_a_scenario_with_their_defaults() -> None:
    scenario = Rule().model_dump(exclude={"credibility"})
    assert asdict(RuleParameters()) == scenario
    assert [f.name for f in fields(RuleParameters)] == list(scenario)


def test_a_favourable_trustworthy_message_raises_belief() -> None:
    requests = make_requests(PEOPLE)
    answer = model().react(requests)
    assert 0.05 < answer.change[:, DEPTH].mean() < 0.35
    assert (answer.change[:, DEPTH] >= 0.0).all()
    assert answer.change[:, :DEPTH].mean(axis=0).tolist() == sorted(
        answer.change[:, :DEPTH].mean(axis=0), reverse=True
    )  # weights .6, .3, .2
    assert not answer.change[:, DEPTH + 1 :].any()


def test_a_denial_lowers_belief_as_much_as_an_affirmation_raises_it_from_the_middle() -> None:
    denial = make_requests(PEOPLE, feed=make_feed(PEOPLE, stance=np.full((PEOPLE, 1), -1.0)))
    affirmation = moved(make_requests(PEOPLE), judgement=0.0)
    assert moved(denial, judgement=0.0) == pytest.approx(-affirmation, abs=1e-12)


def test_personas_judge_a_message_differently_and_stay_with_their_judgement() -> None:
    first = model(dispersion=0.0, judgement=0.8).react(make_requests(PEOPLE)).change[:, DEPTH]
    assert first.min() == 0.0 < first.max()
    later = make_requests(PEOPLE, tick=9)
    again = model(dispersion=0.0, judgement=0.8).react(later).change[:, DEPTH]
    assert np.array_equal(first, again)


@given(st.floats(0.0, 2.0), st.floats(-1.0, 1.0), st.floats(0.0, 1.0))
@settings(deadline=None, max_examples=60)
def test_a_lone_message_moves_towards_the_side_it_speaks_for_or_not_at_all(
    judgement: float, said: float, belief: float
) -> None:
    beliefs = with_beliefs(DEPTH, belief)
    requests = make_requests(PEOPLE, feed=make_feed(PEOPLE, stance=column_of(said)))
    change = model(judgement=judgement).react(replace(requests, beliefs=beliefs)).change
    side = np.sign(0.5 * (1.0 + said) - belief)
    assert np.isin(np.sign(change[:, DEPTH]), (side, 0.0)).all()


def by_a_peer(said: float, **given_: Any) -> TurnRequests:
    author = (np.arange(PEOPLE, dtype=np.int64)[:, None] + 1) % PEOPLE
    feed = make_feed(PEOPLE, author=author, stance=column_of(said))
    return make_requests(PEOPLE, feed=feed, **given_)


def test_the_words_of_an_undecided_peer_persuade_nobody() -> None:
    undecided = by_a_peer(0.0, beliefs=with_beliefs(DEPTH, 0.7))
    assert moved(undecided, influence=0.0) == 0.0
    assert moved(undecided, persuasion=0.0) == pytest.approx(0.15 * -0.2)


def test_peers_persuade_in_proportion_to_how_firm_they_are() -> None:
    def pull(said: float) -> float:
        gap = 0.5 * (1.0 + said) - 0.4
        beliefs = with_beliefs(DEPTH, 0.4)
        return moved(by_a_peer(said, beliefs=beliefs), influence=0.0, memory=0.0) / gap

    assert pull(0.6) == pytest.approx(3.0 * pull(0.2))


def test_a_message_that_a_peer_shares_persuades_in_full_however_reserved_it_is() -> None:
    shared = replace(by_a_peer(0.2).feed, outside=column_of(1) > 0)
    source = replace(shared, author=column_of(-1).astype(np.int64))
    beliefs = with_beliefs(DEPTH, 0.4)
    some, other = (
        moved(make_requests(PEOPLE, feed=feed, beliefs=beliefs)) for feed in (shared, source)
    )
    assert some == other > 0.0


def test_a_shared_message_is_no_opinion_of_who_shares_it() -> None:
    shared = make_feed(PEOPLE, author=np.full((PEOPLE, 1), PEOPLE - 1), outside=column_of(1) > 0)
    requests = make_requests(PEOPLE, feed=shared)
    assert not moved(requests, persuasion=0.0, influence=1.0)
    assert moved(requests, influence=0.0) > 0.05


def test_repetition_saturates() -> None:
    beliefs = np.full((PEOPLE, 6), 0.5)
    heard = np.zeros((PEOPLE, 3, 2))
    gains = []
    for _ in range(12):
        answer = model().react(make_requests(PEOPLE, beliefs=beliefs, heard=heard))
        gains.append(answer.change[:, DEPTH].mean())
        beliefs = np.clip(beliefs + answer.change, 0.0, 1.0)
        heard = heard + np.array([1.0, 0.0])
    assert all(later < earlier for earlier, later in pairwise(gains))
    assert gains[-1] < gains[0] / 100.0
    assert sum(gains) < gains[0] / (1.0 - 0.6)
    assert beliefs[:, DEPTH].mean() < 0.95  # repetition alone does not convince everyone


def test_hearing_the_other_side_does_not_wear_a_message_out() -> None:
    heard = np.zeros((PEOPLE, 3, 2))
    heard[:, 0, 1] = 5.0
    assert moved(make_requests(PEOPLE, heard=heard)) == moved(make_requests(PEOPLE))


def test_the_distrustful_move_less() -> None:
    by_trust = [
        moved(ad(beliefs=with_beliefs(2, trust)), dispersion=0.0)
        for trust in (0.0, 0.2, 0.4, 0.5, 0.9)
    ]
    assert by_trust == sorted(by_trust)
    assert by_trust[0] == pytest.approx(0.2 * by_trust[-1])
    assert by_trust[-2] == by_trust[-1]


def test_sceptics_move_less_by_ads_and_not_by_news() -> None:
    sceptics = make_cast(PEOPLE, scepticism=np.ones(PEOPLE))
    doubted, believed = (moved(r, dispersion=0.0) for r in (ad(cast=sceptics), ad()))
    assert doubted == pytest.approx(0.5 * believed)
    assert moved(make_requests(PEOPLE, cast=sceptics)) == moved(make_requests(PEOPLE))


def test_without_a_dimension_of_trust_ads_are_heard_out() -> None:
    cast = make_cast(PEOPLE, dimensions=("value", "fit", "taste"))
    distrust = with_beliefs(2, 0.0)
    assert moved(ad(cast=cast, beliefs=distrust)) == pytest.approx(moved(ad()))


def test_firm_opponents_move_less_than_the_gap_alone_would_have_it() -> None:
    opposed = make_requests(PEOPLE, beliefs=with_beliefs(DEPTH, 0.1))
    biased, unbiased = (
        moved(opposed, confirmation_bias=bias, dispersion=0.0, judgement=0.0)
        for bias in (0.5, 0.0)
    )
    assert biased == pytest.approx((1.0 - 0.5 * 0.8) * unbiased)


@pytest.mark.parametrize("column", ["credibility", "relevance"])
def test_credible_and_relevant_items_move_more(column: str) -> None:
    gains = [
        moved(make_requests(PEOPLE, feed=replace(make_feed(PEOPLE), **{column: column_of(x)})))
        for x in (0.1, 0.2, 0.4)
    ]
    assert gains == sorted(gains)
    assert gains[0] < gains[-1]


def test_the_receptive_move_more_and_nobody_past_the_persuasive_share() -> None:
    gains = []
    for receptivity in (-9.0, -0.5, 0.0, 0.5, 9.0):
        cast = make_cast(PEOPLE, receptivity=np.full(PEOPLE, receptivity))
        gains.append(moved(make_requests(PEOPLE, cast=cast)))
    assert gains == sorted(gains)
    assert gains[0] == 0.0
    assert gains[-1] <= 0.5 * 0.5 + 1e-12


def test_recalled_memories_strengthen_what_they_agree_with() -> None:
    shape = (PEOPLE, 3)
    gains = []
    for felt in (-0.8, 0.0, 0.8):
        recalled = RecalledView(
            text=np.zeros(shape, dtype=np.int64),
            score=np.ones(shape),
            claim=np.zeros(shape, dtype=np.int64),
            stance=np.full(shape, felt),
            tick=np.zeros(shape, dtype=np.int64),
        )
        gains.append(moved(make_requests(PEOPLE, recalled=recalled)))
    assert gains == sorted(gains)
    assert gains[0] < gains[1] < gains[2]


def test_an_item_without_a_claim_moves_no_belief() -> None:
    feed = make_feed(PEOPLE, claim=np.full((PEOPLE, 1), -1))
    answer = model().react(make_requests(PEOPLE, feed=feed))
    assert not answer.change.any()
    assert (answer.claim[answer.post >= 0] == -1).all()


def test_nobody_is_moved_by_its_own_post() -> None:
    own = make_feed(PEOPLE, author=np.arange(PEOPLE, dtype=np.int64)[:, None])
    answer = model(confidence=1.0).react(make_requests(PEOPLE, feed=own))
    assert not answer.change.any()
    assert (answer.post == -1).all()


def test_a_peer_beyond_the_bound_of_confidence_neither_persuades_nor_pulls() -> None:
    author = (np.arange(PEOPLE, dtype=np.int64)[:, None] + 1) % PEOPLE
    requests = make_requests(
        PEOPLE, feed=make_feed(PEOPLE, author=author), beliefs=with_beliefs(DEPTH, 0.3)
    )
    assert moved(requests, confidence=0.69) == 0.0
    assert moved(requests, confidence=0.7) > 0.2 * 0.7


def test_each_change_names_the_slot_that_caused_it() -> None:
    feed = make_feed(
        2,
        3,
        claim=np.array([[-1, 0, 0], [1, 0, -1]]),
        credibility=np.array([[0.9, 0.2, 0.6], [0.6, 0.6, 0.9]]),
        stance=np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]]),
    )
    answer = model().react(make_requests(2, feed=feed))
    assert answer.cause.tolist() == [[2, 2, 2, 2, -1, -1], [1, 0, 1, 1, 0, -1]]
    assert ((answer.cause >= 0) == (answer.change != 0.0)).all()


def test_a_dimension_at_its_end_has_no_cause() -> None:
    requests = make_requests(PEOPLE, beliefs=with_beliefs(0, 1.0))
    assert (model(judgement=0.0).react(requests).cause[:, 0] == -1).all()


def equal(some: Reactions, other: Reactions) -> bool:
    arrays = all(
        np.array_equal(getattr(some, name), getattr(other, name), equal_nan=name == "importance")
        for name in COLUMNS
    )
    return arrays and list(some.words) == list(other.words)


def rows_of(reactions: Reactions, rows: list[int]) -> Reactions:
    return replace(
        reactions,
        words=[reactions.words[i] for i in rows],
        **{name: getattr(reactions, name)[rows] for name in COLUMNS},
    )


TOWN = Town.build(60, seed=5).requests
WHOLE = model().react(TOWN)


@given(st.permutations(range(60)), st.integers(0, 60))
@settings(deadline=None)
def test_an_answer_depends_neither_on_the_order_nor_on_the_company_of_its_row(
    order: list[int], cut: int
) -> None:
    for rows in (order[:cut], order[cut:]):
        assert equal(model().react(subset(TOWN, rows)), rows_of(WHOLE, rows))


def test_empty_slots_behind_a_feed_change_nothing() -> None:
    empty: dict[str, Any] = {"sponsored": False, "question": False, "followable": False}
    empty["outside"] = False
    empty |= dict.fromkeys(("post", "author", "text", "claim", "origin"), -1)
    empty |= dict.fromkeys(("stance", "credibility", "relevance"), 0.0)
    wider: Any = {
        name: np.pad(getattr(TOWN.feed, name), ((0, 0), (0, 6)), constant_values=value)
        for name, value in empty.items()
    }
    assert equal(model().react(replace(TOWN, feed=replace(TOWN.feed, **wider))), WHOLE)


def test_a_seed_gives_the_same_answers_and_another_seed_others() -> None:
    assert equal(model().react(TOWN), WHOLE)
    other = RuleModel(parameters=RuleParameters(), streams=Streams(2)).react(TOWN)
    assert (other.action != WHOLE.action).any()
    assert not np.array_equal(other.change, WHOLE.change)


def test_personas_with_different_blocks_and_voices_answer_differently() -> None:
    answer = model().react(make_requests(PEOPLE))
    assert len(np.unique(answer.change[:, DEPTH])) > 0.8 * PEOPLE  # to some it is implausible
    assert len(np.unique(answer.action)) > 5
    said = [text for text in answer.words if text]
    assert len(set(said)) > 0.9 * len(said)
    relevant = make_feed(PEOPLE, relevance=np.linspace(0.05, 0.45, PEOPLE)[:, None])
    other = model(dispersion=0.0, judgement=0.0).react(make_requests(PEOPLE, feed=relevant))
    assert (np.diff(other.change[:, DEPTH]) > 0.0).all()


def test_the_same_persona_with_another_voice_says_it_in_another_way() -> None:
    nurses = make_cast(PEOPLE, voices=(("as a nurse",),) * PEOPLE)
    pilots = make_cast(PEOPLE, voices=(("as a pilot",),) * PEOPLE)
    some, other = (model().react(make_requests(PEOPLE, cast=c)).words for c in (nurses, pilots))
    assert any("s a nurse" in text for text in some)
    assert [text.replace("a nurse", "a pilot") for text in some] == list(other)


def test_an_empty_batch_has_an_empty_answer() -> None:
    answer = model().react(subset(TOWN, []))
    assert answer.change.shape == (0, 6)
    assert list(answer.words) == []


def test_a_brief_without_claims_and_an_empty_feed_work() -> None:
    cast = make_cast(5, claims=(), claim_texts=(), weights=np.zeros((0, 3)))
    answer = model().react(
        make_requests(
            5,
            cast=cast,
            feed=make_feed(5, 0),
            recalled=no_memories(5, 0),
            heard=np.zeros((5, 0, 2)),
        )
    )
    assert not answer.change.any()
    assert (answer.claim == -1).all()
    assert not answer.stance.any()


def test_a_turn_is_by_rule_and_rates_no_importance() -> None:
    assert (WHOLE.source == SOURCES.index("rule")).all()
    assert np.isnan(WHOLE.importance).all()
    assert model().name == "rule"


def test_a_stance_is_what_the_credence_says_after_the_change() -> None:
    after = np.clip(TOWN.beliefs + WHOLE.change, 0.0, 1.0)[:, DEPTH:]
    about = WHOLE.claim >= 0
    assert about.any()
    own = after[np.flatnonzero(about), WHOLE.claim[about]]
    assert WHOLE.stance[about].tolist() == (2.0 * own - 1.0).tolist()
    assert not WHOLE.stance[~about].any()
