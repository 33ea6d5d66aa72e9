"""What the rule model does: possible, sensible and as often as people do it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rule_requests import Town, allow, codes, make_cast, make_feed, make_requests

from simulation.mind import opinion
from simulation.models.base import ACTION_CODE, ACTIONS, ON_A_PERSONA, ON_A_POST, SPEAKING
from simulation.models.rule import RuleModel, RuleParameters
from simulation.models.utilities import ITEM_FEATURES, PERSONA_FEATURES, UTILITIES
from simulation.rng import Streams

if TYPE_CHECKING:
    from simulation.models.base import BoolArray, FeedView, Reactions, TurnRequests

DOC = Path(__file__).resolve().parents[1] / "docs" / "rule-model.md"
N = 3000
ROWS = np.arange(N) + 1


def model(**given_: float) -> RuleModel:
    return RuleModel(parameters=RuleParameters(**given_), streams=Streams(1))


def shares(reactions: Reactions) -> dict[str, float]:
    counts = Counter(ACTIONS[code] for code in reactions.action.tolist())
    return {name: counts[name] / len(reactions.action) for name in ACTIONS}


def actions(requests: TurnRequests, **given_: float) -> dict[str, float]:
    return shares(model(**given_).react(requests))


@given(arrays(np.bool_, (40, len(ACTIONS))), st.integers(0, 5), st.integers(0, 10_000))
@settings(deadline=None, max_examples=60)
def test_an_action_is_always_allowed_and_its_target_can_be_seen(
    allowed: BoolArray, slots: int, seed: int
) -> None:
    requests = replace(Town.build(40, seed=seed, slots=slots).requests, allowed=allowed)
    answer = model().react(requests)
    feed = requests.feed
    for i, code in enumerate(answer.action.tolist()):
        name = ACTIONS[code]
        post, persona = answer.post[i], answer.persona[i]
        at = (feed.post[i] == post) & (feed.post[i] >= 0) & (feed.author[i] != requests.row[i])
        by = (feed.author[i] == persona) & (feed.post[i] >= 0) & (persona != requests.row[i])
        assert allowed[i, code] or name == "ignore"
        assert (post >= 0) == (name in ON_A_POST)
        assert (persona >= 0) == (name in ON_A_PERSONA)
        assert name not in ON_A_POST or at.any()
        assert name != "answer" or feed.question[i, at].any()
        shared = (feed.origin[i] == persona) & (persona != requests.row[i])
        assert name != "follow" or ((by & feed.followable[i]) | shared).any()
        assert name != "ask_peer" or by.any() or persona == requests.friend[i]
        assert bool(answer.words[i]) == (name in {*SPEAKING, "buy", "reject"})
        assert -1 <= answer.claim[i] < 3


def test_who_can_do_nothing_that_is_allowed_ignores() -> None:
    requests = make_requests(9, feed=make_feed(9, 0), allowed=allow(9, "like", "ask_peer"))
    assert (model().react(requests).action == ACTION_CODE["ignore"]).all()


def test_people_mostly_scroll_past_and_rarely_speak() -> None:
    for seed in (0, 1):
        often = actions(Town.build(N, seed=seed).requests, choice_temperature=0.35)
        spoken = sum(often[name] for name in ("post", "comment", "reply", "quote", "repost"))
        approving = often["like"] + often["upvote"]
        assert 0.40 <= often["ignore"] <= 0.60
        assert often["ignore"] > approving > spoken
        assert 0.10 <= spoken <= 0.20
        assert all(0.0 < often[name] < 0.03 for name in ("follow", "ask_peer", "complain"))
        assert all(often[name] < 0.01 for name in ("buy", "reject"))
        assert often["downvote"] < 0.06


def test_questions_are_usually_answered() -> None:
    asked = make_feed(N, question=np.ones((N, 1), dtype=bool))
    assert 0.6 < actions(make_requests(N, feed=asked))["answer"] < 0.95


def test_the_first_question_is_answered() -> None:
    question = np.tile([False, True, True], (50, 1))
    requests = make_requests(
        50, feed=make_feed(50, 3, question=question), allowed=allow(50, "answer")
    )
    assert model().react(requests).post.tolist() == requests.feed.post[:, 1].tolist()


def test_buying_needs_appeal_above_its_threshold_and_rejecting_below() -> None:
    def decided(appeal: float) -> tuple[float, float]:
        beliefs = np.full((N, 6), appeal)
        beliefs[:, 3:] = 0.5
        often = actions(make_requests(N, beliefs=beliefs, feed=make_feed(N, 0)))
        return often["buy"], often["reject"]

    (buys_low, refuses_low), middle, (buys_high, refuses_high) = map(decided, (0.2, 0.5, 0.85))
    assert max(middle) < 0.01
    assert buys_low < 0.005 < refuses_low
    assert refuses_high < 0.005 < buys_high
    assert refuses_low > 5.0 * middle[1]
    assert buys_high > 5.0 * middle[0]


def test_complaints_need_lost_trust_or_denial() -> None:
    often = []
    for target, value in ((2, 0.5), (2, 0.05), (3, 0.02)):
        beliefs = np.full((N, 6), 0.5)
        beliefs[:, target] = value
        often.append(actions(make_requests(N, beliefs=beliefs))["complain"])
    content, distrustful, denying = often
    assert content < 0.01
    assert distrustful > 3.0 * content + 0.01
    assert denying > 3.0 * content


def test_nobody_complains_about_a_claim_that_it_believes() -> None:
    beliefs = np.tile([0.5, 0.5, 0.1, 0.9, 0.5, 0.5], (N, 1))
    requests = make_requests(N, beliefs=beliefs, allowed=allow(N, "complain"))
    answer = model().react(requests)
    assert (answer.claim == -1).all()
    assert all("Bolt Bar" in words for words in answer.words)
    denial = make_requests(N, beliefs=1.0 - beliefs, allowed=allow(N, "complain"))
    assert (model(persuasion=0.0).react(denial).claim == 0).all()


def test_the_outspoken_speak_more() -> None:
    quiet, loud = (
        actions(make_requests(N, cast=make_cast(N, voice=np.full(N, voice))))
        for voice in (-1.0, 1.0)
    )
    speaking = ("post", "comment", "quote", "reply")
    assert sum(loud[a] for a in speaking) > 4.0 * sum(quiet[a] for a in speaking)


def test_people_like_what_they_agree_with_and_vote_down_what_they_deny() -> None:
    believers, deniers = (
        actions(make_requests(N, beliefs=np.full((N, 6), belief), feed=make_feed(N)))
        for belief in (0.95, 0.03)
    )
    assert believers["like"] > 3.0 * deniers["like"]
    assert deniers["downvote"] > 5.0 * believers["downvote"]


def test_a_downvote_goes_to_what_is_denied_most() -> None:
    beliefs = np.tile([0.5, 0.5, 0.5, 0.9, 0.1, 0.5], (50, 1))
    feed = make_feed(50, 3, claim=np.tile([0, 1, 2], (50, 1)))
    requests = make_requests(
        50, feed=feed, beliefs=beliefs, allowed=allow(50, "downvote"), cast=make_cast(50)
    )
    answer = model(persuasion=0.0).react(requests)
    assert answer.post.tolist() == feed.post[:, 1].tolist()
    assert (answer.claim == 1).all()
    assert (answer.stance < 0.0).all()


def test_a_peer_in_the_feed_is_asked_before_a_friend() -> None:
    author = np.tile([-1, 7], (5, 1))
    requests = make_requests(
        5,
        cast=make_cast(9),
        feed=make_feed(5, 2, author=author),
        friend=np.full(5, 8),
        allowed=allow(5, "ask_peer"),
    )
    assert model().react(requests).persona.tolist() == [7] * 5
    alone = replace(requests, feed=make_feed(5, 1))
    answer = model().react(alone)
    assert answer.persona.tolist() == [8] * 5
    assert (answer.claim == 0).all()  # what moved most


def test_an_own_post_offers_nobody_to_follow_and_no_question_to_answer() -> None:
    flags = np.ones((5, 2), dtype=bool)
    author = np.column_stack([np.arange(5), np.full(5, 8)])
    feed = make_feed(5, 2, author=author, followable=flags, question=flags)
    requests = make_requests(5, cast=make_cast(9), feed=feed, allowed=allow(5, "follow"))
    assert model().react(requests).persona.tolist() == [8] * 5
    asked = replace(requests, allowed=allow(5, "answer"))
    assert model().react(asked).post.tolist() == feed.post[:, 1].tolist()


def test_what_says_most_holds_the_attention() -> None:
    author = np.tile([3, 7], (300, 1))
    feed = make_feed(300, 2, author=author, stance=np.tile([0.0, 1.0], (300, 1)))
    requests = make_requests(300, cast=make_cast(400), row=np.arange(300) + 50, feed=feed)
    for name in ("comment", "ask_peer"):
        answer = model().react(replace(requests, allowed=allow(300, name)))
        told = answer.post == feed.post[:, 1] if name == "comment" else answer.persona == 7
        assert told.mean() > 0.95


def test_the_firm_post_more_and_ask_less_even_about_nothing_they_were_shown() -> None:
    def often(belief: float, feed: FeedView) -> dict[str, float]:
        given_ = {"beliefs": np.full((N, 6), belief), "friend": np.full(N, 0)}
        given_["heard"] = np.ones((N, 3, 2))
        return actions(make_requests(N, feed=feed, cast=make_cast(N + 1), row=ROWS, **given_))

    empty, claimless = make_feed(N, 0), make_feed(N, claim=np.full((N, 1), -1))
    for feed in (empty, claimless):
        assert often(0.95, feed)["post"] > 2.0 * often(0.5, feed)["post"]
    assert often(0.95, empty)["ask_peer"] < 0.7 * often(0.5, empty)["ask_peer"]


@pytest.mark.parametrize("said", [-1.0, 1.0])
def test_news_of_a_side_is_passed_on_until_that_side_was_heard_often(said: float) -> None:
    def reposts(affirmed: float, denied: float) -> float:
        heard = np.tile([affirmed, denied], (N, 3, 1))
        feed = make_feed(N, stance=np.full((N, 1), said))
        requests = make_requests(N, heard=heard, feed=feed, allowed=allow(N, "repost", "ignore"))
        return actions(requests, persuasion=0.0)["repost"]

    same, other = (9.0, 0.0), (0.0, 9.0)
    if said < 0.0:
        same, other = other, same
    assert reposts(*other) == reposts(0.0, 0.0) > reposts(*same)


def test_who_speaks_unasked_speaks_of_what_moved_it_most() -> None:
    feed = make_feed(40, claim=np.full((40, 1), 2))
    firm = np.tile([0.5, 0.5, 0.5, 0.95, 0.5, 0.5], (40, 1))
    post = make_requests(40, feed=feed, beliefs=firm, allowed=allow(40, "post"))
    assert (model().react(post).claim == 2).all()
    beliefs = np.tile([0.5, 0.5, 0.5, 0.625, 0.25, 0.75], (40, 1))
    still = replace(post, beliefs=beliefs, feed=make_feed(40, 0), heard=np.ones((40, 3, 2)))
    assert (model().react(still).claim == 1).all()  # firmest, the first of equals


def test_nobody_speaks_unasked_of_a_claim_that_it_has_never_met() -> None:
    firm = np.tile([0.5, 0.5, 0.5, 0.625, 0.95, 0.75], (40, 1))
    requests = make_requests(40, beliefs=firm, feed=make_feed(40, 0))
    for name in ("post", "complain", "buy", "reject"):
        answer = model().react(replace(requests, allowed=allow(40, name)))
        assert (answer.claim == -1).all()
        assert all("Bolt Bar" in words for words in answer.words)
    met = np.zeros((40, 3, 2))
    met[:, 0, 0] = met[:, 2, 1] = 1.0
    allowed = allow(40, "post")
    assert (model().react(replace(requests, heard=met, allowed=allowed)).claim == 2).all()


def test_a_claim_that_pulls_back_unheard_is_no_topic_and_one_of_this_feed_is() -> None:
    first = np.tile([0.5, 0.5, 0.5, 0.9, 0.5, 0.5], (40, 1))
    now = np.full((40, 6), 0.5)
    feed = make_feed(40, claim=np.full((40, 1), 2), stance=np.zeros((40, 1)))
    requests = make_requests(40, beliefs=now, initial=first, feed=feed, allowed=allow(40, "post"))
    answer = model(stubbornness=0.3, judgement=0.0).react(requests)
    assert (answer.change[:, 3] > 0.0).all()
    assert (answer.claim == 2).all()


def test_nobody_approves_of_what_it_denies_or_votes_down_what_it_believes() -> None:
    for seed in range(3):
        town = Town.build(N, seed=seed).requests
        requests = replace(town, decided=np.zeros(N, dtype=np.int64))
        answer = model(choice_temperature=3.0).react(requests)
        at = (requests.feed.post == answer.post[:, None]) & (answer.post[:, None] >= 0)
        turn, slot = np.nonzero(at & (at.sum(axis=1, keepdims=True) == 1))
        felt = opinion.agreement(answer.stance[turn], requests.feed.stance[turn, slot])
        action = answer.action[turn]
        approving = np.isin(action, codes("like", "upvote", "repost"))
        assert approving.sum() > 100
        assert (felt[approving] > -0.15).all()
        assert (felt[action == ACTION_CODE["downvote"]] < 0.15).all()


APPROVING = ("like", "upvote", "repost", "follow")


@pytest.mark.parametrize("weight", [0.5, -0.5])
@pytest.mark.parametrize("said", [0.9, -0.9])
@pytest.mark.parametrize("decided", [-1, 0, 1])
def test_after_a_decision_nobody_approves_of_what_speaks_against_it(
    weight: float, said: float, decided: int
) -> None:
    """Who believes both the claim and its denial a little could else approve of either."""
    feed = make_feed(N, stance=np.full((N, 1), said), author=np.full((N, 1), 0))
    requests = make_requests(
        N,
        cast=make_cast(N + 1, weights=np.full((3, 3), weight)),
        row=ROWS,
        feed=replace(feed, followable=np.ones((N, 1), dtype=bool)),
        beliefs=np.full((N, 6), 0.5),
        decided=np.full(N, decided),
    )
    often = actions(requests, persuasion=0.0, influence=0.0, choice_temperature=2.0)
    against = decided * weight * said < 0.0
    assert all((often[name] == 0.0) == against for name in APPROVING)


def test_who_may_only_approve_does_so_whatever_it_thinks() -> None:
    requests = make_requests(50, decided=np.full(50, -1), allowed=allow(50, "like"))
    assert (model().react(requests).action == ACTION_CODE["like"]).all()


def test_the_author_of_shared_words_can_be_followed() -> None:
    author, origin = np.tile([-1, 7], (50, 1)), np.tile([-1, 4], (50, 1))
    feed = make_feed(50, 2, author=author, origin=origin)
    requests = make_requests(
        50, cast=make_cast(99), row=np.arange(50) + 9, feed=feed, allowed=allow(50, "follow")
    )
    answer = model().react(requests)
    assert answer.persona.tolist() == [4] * 50
    assert (answer.claim == 0).all()
    near = replace(feed, followable=np.tile([False, True], (50, 1)))
    assert model().react(replace(requests, feed=near)).persona.tolist() == [7] * 50


def test_what_is_ignored_is_the_first_item() -> None:
    feed = make_feed(40, 2, claim=np.tile([2, 0], (40, 1)))
    requests = make_requests(40, feed=feed, allowed=allow(40, "ignore"))
    assert (model().react(requests).claim == 2).all()
    empty = replace(requests, feed=make_feed(40, 0))
    assert (model().react(empty).claim == -1).all()


def test_a_colder_choice_is_more_alike() -> None:
    town = Town.build(N).requests
    cold, hot = (max(actions(town, choice_temperature=t).values()) for t in (0.05, 2.0))
    assert cold > 0.85
    assert hot < 0.2


def test_every_action_has_utilities_over_known_features() -> None:
    assert tuple(UTILITIES) == ACTIONS
    known = {"constant", *ITEM_FEATURES, *PERSONA_FEATURES}
    assert all(set(weights) <= known for weights in UTILITIES.values())
    assert {"constant"} <= set.intersection(*(set(w) for w in UTILITIES.values()))


def test_the_documented_table_of_utilities_is_the_one_in_force() -> None:
    columns = ("constant", *ITEM_FEATURES, *PERSONA_FEATURES)
    text = DOC.read_text(encoding="utf-8")
    assert "| action | " + " | ".join(columns) + " |" in text
    for action, weights in UTILITIES.items():
        cells = (f"{weights[c]:g}" if c in weights else "" for c in columns)
        assert f"| {action} | " + " | ".join(cells) + " |" in text, action


def test_all_fifteen_actions_happen() -> None:
    seen = set(model().react(Town.build(20_000).requests).action.tolist())
    assert seen == set(codes(*ACTIONS).tolist())
