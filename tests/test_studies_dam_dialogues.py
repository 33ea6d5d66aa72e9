"""The seeded user of the study dam: sizes, chances and words of what it says."""

from __future__ import annotations

import numpy as np
import pytest

from simulation.mind import attitude
from simulation.studies.dam import vocabulary
from simulation.studies.dam.dialogues import (
    OBJECTS,
    SEEDS,
    Dialogues,
    dialogues,
    sequences,
)

USER = dialogues(0)


def test_the_sizes_are_those_of_the_seed() -> None:
    assert len(SEEDS) == 5
    assert (len(OBJECTS), len(vocabulary.ASPECTS)) == (60, 6)
    assert len(USER.texts) == len(USER.object) == 2500
    assert [len(np.unique(c)) for c in (USER.session, USER.turn, USER.dialogue)] == [
        100,
        1000,
        500,
    ]
    assert (np.bincount(USER.session[np.unique(USER.turn, return_index=True)[1]]) == 10).all()
    assert set(np.bincount(USER.turn).tolist()) == {2, 3}
    assert len(USER.questions) == len(USER.asked) == 500
    assert sequences(0).strength.shape == (2500, 30)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fifth_of_the_evidence_contradicts_and_every_piece_can_be(seed: int) -> None:
    user = dialogues(seed)
    given = user.evidence
    assert given.contradicts.mean() == pytest.approx(0.2, abs=0.03)
    np.testing.assert_allclose(given.polarity.sum(axis=1), 1.0)
    assert (given.polarity >= 0.0).all()
    assert 0.2 <= given.strength.min() < 0.22
    assert 0.58 < given.strength.max() <= 0.6
    held = user.attitude[user.object, user.aspect]
    leading = attitude.leading(given.polarity)
    assert ((leading == held) == ~given.contradicts).all()
    assert (leading[given.contradicts] != 2).all()


def test_objects_follow_zipfs_law_and_aspects_are_even() -> None:
    seen = np.zeros(60)
    sides = np.zeros(6)
    for seed in range(20):
        user = dialogues(seed)
        seen += np.sort(np.bincount(user.object, minlength=60))[::-1]
        sides += np.bincount(user.aspect, minlength=6)
    expected = np.arange(1, 61) ** -0.8
    head = slice(30)  # sorting counts by size pulls the tail down
    np.testing.assert_allclose(
        (seen / seen.sum())[head], (expected / expected.sum())[head], rtol=0.1
    )
    np.testing.assert_allclose(sides / sides.sum(), 1 / 6, rtol=0.03)
    top = np.bincount(dialogues(0, exponent=1.0).object).max()
    assert top > np.bincount(USER.object).max()


def test_sentences_name_their_object_and_are_varied() -> None:
    assert len(set(USER.texts)) > 2300
    for text, obj in zip(USER.texts, USER.object.tolist(), strict=True):
        assert OBJECTS[obj][1] in text
    for question, one in zip(USER.questions, USER.asked.tolist(), strict=True):
        assert OBJECTS[int(USER.object[one])][1] in question


def test_each_question_is_about_an_observation_of_its_dialogue() -> None:
    assert (USER.dialogue[USER.asked] == np.arange(500)).all()
    sparse = dialogues(0, per_dialogue=1)
    assert (sparse.asked == np.arange(500)).all()


def same(one: Dialogues, other: Dialogues) -> bool:
    return one.texts == other.texts and (one.evidence.polarity == other.evidence.polarity).all()


def test_a_user_is_a_function_of_its_seed_and_shorter_forms_are_parts_of_it() -> None:
    assert same(USER, dialogues(0))
    assert not same(USER, dialogues(1))
    sparse, short = dialogues(0, per_dialogue=1), dialogues(0, count=40)
    assert sparse.texts == USER.texts[::5]
    assert short.texts == USER.texts[:200]
    assert len(short.questions) == 40


def test_phrases_belong_to_one_side_each_and_there_is_a_stock_of_every_polarity() -> None:
    stock = [p for side in vocabulary.PHRASES.values() for kind in side for p in kind]
    assert len(set(stock)) == len(stock) == 6 * 16
    assert tuple(vocabulary.PHRASES) == tuple(vocabulary.AROUND) == vocabulary.ASPECTS


def test_sequences_of_one_leaning_contradict_it_in_a_fifth() -> None:
    given = sequences(3, purpose="coffee", count=200, leading=0)
    assert given.strength.shape == (200, 30)
    leading = attitude.leading(given.polarity)
    assert ((leading == 1) == given.contradicts).all()
    assert (leading == 0).mean() == pytest.approx(0.8, abs=0.02)
