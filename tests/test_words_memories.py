"""Memory texts of turns and reflections: what was done, about what, and how it felt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rule_requests import (
    BRAND,
    CLAIMS,
    Town,
    codes,
    complete,
    make_cast,
    make_feed,
    make_reactions,
    make_reflections,
    make_requests,
    speaks_of_itself,
    subset,
)

from simulation.models.base import ACTIONS
from simulation.models.rule import RuleModel, RuleParameters, consolidate
from simulation.models.words import MEMORY_WORDS, memory_phrases, memory_texts
from simulation.rng import Streams

RULE = RuleModel(parameters=RuleParameters(), streams=Streams(11))


def one(action: str, words: str = "", **given_: Any) -> str:
    """Return the memory text of one turn about an ad of the brand."""
    named = {"names": {0: BRAND, 1: "Maria"}}
    feed = make_feed(
        1, 2, sponsored=np.array([[True, False]]), author=np.array([[-1, 3]]), **named
    )
    request = {k: given_.pop(k) for k in ("feed", "texts", "stimulus") if k in given_}
    requests = make_requests(1, cast=make_cast(5), **({"feed": feed} | request))
    return memory_texts(requests, make_reactions(requests, codes(action), [words], **given_))[0]


AD = 'Bolt Bar\'s ad "Bolt Bar has 20 g of protein, a test finds"'
POST = 'Maria\'s post "Bolt Bar has 20 g of protein, a test finds"'


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_leaves_a_memory_in_the_first_person(action: str) -> None:
    text = one(action, persona=np.array([3]))
    assert complete(text)
    assert speaks_of_itself(text)


@pytest.mark.parametrize("action", ["like", "upvote", "repost", "comment", "ignore"])
def test_a_memory_names_the_item(action: str) -> None:
    assert AD in one(action)


def test_a_memory_names_the_post_that_was_acted_on() -> None:
    assert POST in one("like", post=np.array([1]))


def test_a_shared_message_is_remembered_as_anothers_words() -> None:
    shared = make_feed(1, outside=np.array([[True]]), author=np.array([[3]]), names={0: "Maria"})
    told = 'the message "Bolt Bar has 20 g of protein, a test finds" shared by Maria'
    assert told in one("like", feed=shared)
    assert "the message shared by Maria" in one("like", feed=shared, texts=("",))
    original = make_feed(1, outside=np.array([[True]]), names={0: "Gazette"})
    assert "Gazette's post" in one("like", feed=original)


def test_a_memory_of_words_holds_them() -> None:
    text = one("comment", "Sounds great,\nbut is it  true?")
    assert text.endswith(": Sounds great, but is it true?")


def test_long_words_are_cut_in_a_memory() -> None:
    text = one("post", "wordy " * 200)
    assert text.endswith("wordy…")
    assert len(text.split(": ", 1)[1]) <= MEMORY_WORDS


def test_a_memory_of_a_post_names_the_claim_and_of_a_decision_the_brand() -> None:
    assert '"20 g protein with zero sugar"' in one("post", "I think so.")
    assert BRAND in one("post", "I think so.", claim=np.array([-1]))
    assert BRAND in one("buy", "I think so.")


def test_a_memory_of_a_person_names_it() -> None:
    assert "Maria" in one("follow", persona=np.array([3]))
    asked = one("ask_peer", "Is it true?", persona=np.array([3]))
    assert 'Maria about "20 g protein with zero sugar": Is it true?' in asked
    assert "p00004 about" in one("ask_peer", "Is it true?", persona=np.array([4]))


def test_a_question_is_remembered_as_one() -> None:
    feed = make_feed(1, question=np.array([[True]]), names={0: "Town hall"})
    assert "Town hall's question" in one("answer", "Yes.", feed=feed)


def test_one_post_may_be_a_question_to_one_and_a_post_to_another() -> None:
    feed = make_feed(
        3,
        post=np.zeros((3, 1), dtype=np.int64),
        question=np.array([[True], [False], [True]]),
        names={0: "Maria"},
    )
    requests = make_requests(3, feed=feed)
    texts = memory_texts(requests, make_reactions(requests, codes("like", "like", "like")))
    nouns = ["question" if "Maria's question" in text else "post" for text in texts]
    assert nouns == ["question", "post", "question"]
    assert "Maria's post" in texts[1]


def test_a_turn_about_nothing_seen_is_about_its_own_proposition() -> None:
    requests = make_requests(
        3,
        feed=make_feed(3, 0),
        texts=("One thing.", "Another.", ""),
        stimulus=np.array([1, 2, 0]),
    )
    texts = memory_texts(requests, make_reactions(requests, np.zeros(3, dtype=np.int64)))
    assert ['"Another"' in text for text in texts] == [True, False, False]
    assert BRAND in texts[1]
    assert '"One thing"' in texts[2]


def test_every_memory_starts_with_words_of_a_list() -> None:
    forms = (*memory_phrases.DEEDS.values(), memory_phrases.IDLE)
    assert all(before for pairs in forms for before, _ in pairs)


def test_words_of_white_space_alone_count_as_none() -> None:
    assert one("like", " \n ") == one("like")


def test_an_empty_feed_is_remembered_as_quiet() -> None:
    text = one("ignore", feed=make_feed(1, 0), claim=np.array([-1]), texts=("Buy Bolt Bar.",))
    assert any(before + '"Buy Bolt Bar"' + after in text for before, after in memory_phrases.IDLE)
    assert complete(text)
    unused = make_feed(1, 1, post=np.array([[-1]]))
    assert BRAND in one("ignore", feed=unused, texts=(" ",), claim=np.array([-1]))


def test_an_item_without_a_name_or_a_text_is_still_remembered() -> None:
    text = one("like", feed=make_feed(1, names={0: " "}), texts=("",))
    assert "somebody's post" in text


def thoughts(stance: float, claim: int, said: float) -> set[str]:
    """Return what is thought by those who scroll past an item on claim 0."""
    requests = make_requests(400, feed=make_feed(400, stance=np.full((400, 1), said)))
    felt: Any = {"stance": np.full(400, stance), "claim": np.full(400, claim)}
    texts = memory_texts(requests, make_reactions(requests, np.zeros(400, dtype=np.int64), **felt))
    return {text.rsplit("; ", 1)[1].rstrip(".") for text in texts}


def test_how_it_felt_is_remembered() -> None:
    for band, stance in enumerate((0.8, 0.3, 0.0, -0.3, -0.8)):
        assert thoughts(stance, 0, 1.0) == set(memory_phrases.PASSING[band])
    assert thoughts(0.0, -1, 1.0) == set(memory_phrases.PASSING[5])


def test_who_denies_a_claim_agrees_with_a_denial_and_is_cool_to_a_lukewarm_item() -> None:
    assert thoughts(-0.8, 0, -1.0) == set(memory_phrases.PASSING[0])
    assert thoughts(0.8, 0, -0.5) == set(memory_phrases.PASSING[4])
    assert thoughts(0.8, 0, 0.05) == set(memory_phrases.PASSING[2])
    assert thoughts(0.8, 1, -1.0) == set(memory_phrases.PASSING[0])  # it is about another claim


@pytest.mark.parametrize(
    ("action", "stance", "sign"),
    [("repost", -0.3, True), ("like", 0.3, False), ("downvote", 0.8, True),
     ("upvote", -0.9, True), ("downvote", -0.3, False), ("repost", 0.0, False)],
)  # fmt: skip
def test_a_deed_against_the_own_view_says_that_it_was_one(
    action: str,
    stance: float,
    sign: bool,  # noqa: FBT001 - a column of the table
) -> None:
    text = one(action, stance=np.array([stance]))
    assert (", though " in text) == sign
    assert ("; " in text) != sign


def test_a_turn_is_remembered_as_a_deed_and_not_as_a_reflection() -> None:
    assert not any("reflection" in moment for moment in memory_phrases.MOMENTS)


def test_who_is_followed_is_named_and_not_who_shared_the_words() -> None:
    text = one("follow", post=np.array([-1]), persona=np.array([2]))
    assert "p00002" in text
    assert "Maria" not in text
    assert "Maria" in one("follow", persona=np.array([3]))


def test_a_memory_text_depends_on_its_own_turn_only() -> None:
    requests = Town.build(80, seed=2).requests
    whole = memory_texts(requests, RULE.react(requests))
    part = subset(requests, [41, 7, 12])
    assert memory_texts(part, RULE.react(part)) == [whole[41], whole[7], whole[12]]


def test_streams_vary_the_form_of_a_memory() -> None:
    requests = Town.build(80, seed=2).requests
    answer = RULE.react(requests)
    first, again, other = (memory_texts(requests, answer, streams=Streams(s)) for s in (4, 4, 5))
    assert first == again
    assert first != other


# Reflections


def reflection(target: int, by: float, count: int = 200, **given_: Any) -> list[str]:
    before = np.full((count, 6), 0.5)
    beliefs = before.copy()
    if target >= 0:
        beliefs[:, target] += by
    replies = consolidate(make_reflections(beliefs, before, **given_))
    return [texts[0] for texts in replies.memories]


@pytest.mark.parametrize("by", [0.05, -0.2, 0.4])
@pytest.mark.parametrize("target", range(6))
def test_a_reflection_names_target_and_direction(target: int, by: float) -> None:
    name = ("value", "fit", "trust", *CLAIMS)[target].rstrip(".")
    texts = reflection(target, by)
    assert all(name in text and complete(text) for text in texts)
    assert all(speaks_of_itself(text) for text in texts)
    assert len(set(texts)) > 40
    assert not set(texts) & set(reflection(target, -by))
    assert all((", if only a little" in text) == (by == 0.05) for text in texts)
    assert all((", and by a lot" in text) == (by == 0.4) for text in texts)


def test_a_reflection_quotes_the_most_important_memory() -> None:
    texts = reflection(
        3, 0.2, texts=("A minor thing.", 'I said "no".'), memories=[[(1, 0.9, 2)]] * 200
    )
    assert all("\"I said 'no'\"" in text for text in texts)


def test_a_reflection_on_nothing_says_so() -> None:
    texts = reflection(-1, 0.0, memories=[[]] * 200)
    assert all(BRAND in text and complete(text) for text in texts)
    assert 10 < len(set(texts)) <= len(memory_phrases.LOOKING_BACK) * len(memory_phrases.UNMOVED)


def test_an_empty_memory_is_not_quoted() -> None:
    assert all(complete(text) for text in reflection(0, 0.2, texts=(" ",)))


def test_a_claim_without_words_goes_by_its_id() -> None:
    cast = make_cast(200, claim_texts=(" ",) * 3)
    assert all("C1" in text for text in reflection(3, 0.2, cast=cast))


def test_dimensions_are_read_without_underscores() -> None:
    cast = make_cast(200, dimensions=("public_trust", "fit", "value"))
    assert all("public trust" in text for text in reflection(0, 0.2, cast=cast))


def test_a_reflection_depends_on_itself_only() -> None:
    rng = np.random.default_rng(5)
    before = rng.random((60, 6))
    moved = before + rng.uniform(-0.4, 0.4, (60, 6)) * (rng.random((60, 1)) < 0.8)
    beliefs = np.clip(moved, 0.0, 1.0)
    texts = tuple(f"Memory {i}." for i in range(9))
    memories = [[(i % 9, 0.5, 1)] * (i % 3) for i in range(60)]

    def reflected(rows: list[int]) -> list[str]:
        requests = make_reflections(
            beliefs[rows],
            before[rows],
            cast=make_cast(60),
            texts=texts,
            memories=[memories[row] for row in rows],
        )
        replies = consolidate(replace(requests, row=np.array(rows)))
        return [text for (text,) in replies.memories]

    whole, rows = reflected(list(range(60))), [31, 4, 17, 50]
    assert reflected(rows) == [whole[row] for row in rows]
    assert len(set(whole)) > 30
