"""The studies with a speaker and a judge: who recalls what, says what, and how it is judged."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from local_model import local_server
from model_server import Asked, Model, good, model, told

from simulation.errors import UsageError
from simulation.mind.affect import NEUTRAL_STATE
from simulation.mind.traits import BIG_FIVE_TRAITS
from simulation.studies import corpus, recalling
from simulation.studies.dialogue import (
    adversarial,
    direction,
    forced_choice,
    judging,
    lives,
    norms,
    profiles,
    response,
    rounds,
    rules,
    words,
)
from simulation.studies.dialogue.forced_choice import Repetition, Size
from simulation.studies.speaking import Models, Request, voices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from provider_server import Step

    from simulation.studies.recalling import Bank

SHARED = Path(__file__).resolve().parents[2] / "shared"
GLASGOW = SHARED / "data" / "affect" / "glasgow_norms.csv"
STUDIES = {
    "dialogue": forced_choice.run,
    "adversarial": adversarial.run,
    "attachment-response": response.run,
}


class Saying:
    """A speaker that says what a function says, and keeps what it was asked."""

    name = "test"

    def __init__(self, answer: Callable[[Request], str]) -> None:
        self.asked: list[Request] = []
        self._answer = answer

    def say(self, requests: Sequence[Request]) -> list[str]:
        self.asked += requests
        return [self._answer(request) for request in requests]


@pytest.fixture(scope="module")
def events() -> Bank:
    return recalling.bank(corpus.read("events"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, str]]:
    """Every study in its short form, by rule: its folder and what it printed."""
    folder = tmp_path_factory.mktemp("studies")
    return {
        name: (folder / name, run(folder / name, quick=True, data=None))
        for name, run in STUDIES.items()
    }


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# words


def test_no_trait_and_no_attachment_is_named_before_a_speaker_who_only_remembers() -> None:
    shown = f"{words.ROLE_CARD} {words.ORDINARY} {words.HEADING}".lower()
    telling = [*BIG_FIVE_TRAITS, *words.CATEGORIES, "personality", "trait", "persona "]
    telling += [d for text in words.DESCRIPTIONS.values() for d in text.split(", ")]
    assert not [word for word in telling if word in shown]


def test_a_persona_card_tells_every_trait_by_its_fifth() -> None:
    card = words.persona_card((0.0, 0.3, 0.5, 0.7, 1.0))
    assert card.startswith(words.ROLE_CARD)
    for degree, text in zip(words.DEGREES, words.DESCRIPTIONS.values(), strict=True):
        assert f"{degree} {text}" in card
    assert words.persona_sentences((0.5,) * 5)[-1].startswith("I am moderately anxious")


def test_a_missing_reply_is_told_to_the_judge() -> None:
    assert words.transcript(["Why?"], [""]) == "Question: Why?\nAnswer: (none)"


# profiles


def test_profiles_are_drawn_by_seed_and_lie_in_the_unit_cube() -> None:
    first, again, other = (profiles.sample(50, seed=seed) for seed in (0, 0, 1))
    assert first.shape == (50, 5)
    assert ((first >= 0) & (first <= 1)).all()
    assert (first == again).all()
    assert (first != other).any()
    assert (profiles.sample(8, seed=0) == first[:8]).all()  # nobody depends on the others


def test_pairs_join_the_highest_with_the_lowest_by_rank() -> None:
    vectors = np.zeros((6, 5))
    vectors[:, 4] = (0.3, 0.9, 0.1, 0.9, 0.5, 0.2)
    assert profiles.pairs(vectors, "neuroticism", size=3) == [(1, 2), (3, 5), (4, 0)]
    assert profiles.pairs(np.zeros((4, 5)), "openness", size=2) == [(0, 2), (1, 3)]
    with pytest.raises(ValueError, match="make no 3 pairs"):
        profiles.pairs(vectors[:5], "openness", size=3)


# rounds


def test_without_traits_everybody_recalls_the_same_and_with_them_not(events: Bank) -> None:
    vectors = profiles.sample(12, seed=0)
    plain = rounds.recalled(events, vectors, "no-trait", seed=0)
    full = rounds.recalled(events, vectors, "full", seed=0)
    assert plain.shape == full.shape == (12, 6, 3)
    assert (plain == plain[0]).all()
    assert (full != full[0]).any()
    assert rounds.recalled(events, vectors, "no-memory", seed=0).shape == (12, 6, 0)


def test_neurotic_profiles_recall_worse_things(events: Bank) -> None:
    vectors = np.full((2, 5), 0.5)
    vectors[:, 4] = (0.0, 1.0)
    vectors[:, 2:4] = [[1.0, 1.0], [0.0, 0.0]]
    found = rounds.recalled(events, vectors, "full", seed=0)
    valence = events.corpus.affect[found, 0].mean(axis=(1, 2))
    assert valence[1] < valence[0] - 0.3


def test_the_random_control_advances_over_rounds_and_differs_by_profile(events: Bank) -> None:
    found = rounds.recalled(events, profiles.sample(10, seed=0), "random", seed=0)
    assert found.shape == (10, 6, 3)
    assert all(len(set(row)) == 3 for row in found.reshape(-1, 3).tolist())
    assert len({tuple(row) for row in found.reshape(-1, 3).tolist()}) == 60
    again = rounds.recalled(events, profiles.sample(4, seed=9), "random", seed=0)
    assert (again == found[:4]).all()  # it knows no traits
    assert (rounds.recalled(events, profiles.sample(4, seed=0), "random", seed=1) != again).any()


def test_a_dialogue_shows_what_was_said_and_the_memories_of_this_round_alone() -> None:
    speaker = Saying(lambda request: f"reply {request.id}")
    talk = rounds.Talk(
        id="t", system="card", memories=(("m1",), ("m2", "m3")), questions=("q1", "q2")
    )
    assert rounds.converse(speaker, [talk]) == [("reply t|1", "reply t|2")]
    first, second = speaker.asked
    assert first.messages == (("user", "Memories that come to mind:\n- m1\n\nq1"),)
    assert second.messages[:2] == (("user", "q1"), ("assistant", "reply t|1"))
    assert second.messages[2] == ("user", "Memories that come to mind:\n- m2\n- m3\n\nq2")
    assert (second.system, second.temperature, second.max_tokens) == ("card", 0.75, 220)
    assert second.material == ("m2", "m3")


def test_without_memories_a_question_stands_alone() -> None:
    speaker = Saying(lambda _: "")
    talk = rounds.Talk(id="t", system="", memories=((), ()), questions=("q1", "q2"))
    assert rounds.converse(speaker, [talk]) == [("", "")]
    assert speaker.asked[1].messages == (("user", "q1"), ("assistant", ""), ("user", "q2"))


# the judge of the blind choice


@pytest.mark.parametrize("text", ["A", " A\n", '"A".', "(A)", "**A**"])
def test_exactly_one_letter_is_a_choice(text: str) -> None:
    assert judging.chosen(text) == "A"


@pytest.mark.parametrize("text", ["", "a", "C", "A or B", "A speaker", "AB", "Speaker A", "A B"])
def test_anything_else_is_no_choice(text: str) -> None:
    assert judging.chosen(text) == ""


def _repetition(answer: Callable[[Request], str]) -> tuple[Repetition, list[Request]]:
    """Return judged dialogues in which each profile says its own number."""
    vectors = profiles.sample(6, seed=3)
    replies = {c: [(f"I am {i}",) * 6 for i in range(6)] for c in ("full", "random")}
    judge = Saying(answer)
    choices = judging.compare(judge, replies, vectors, size=2, name="")
    found = Repetition(seed=0, vectors=vectors, recalled={}, replies=replies, choices=choices)
    return found, judge.asked


def _knowing(request: Request) -> str:
    """Return the right answer: who has more."""
    trait, first, second = request.material
    values = profiles.sample(6, seed=3)[:, BIG_FIVE_TRAITS.index(trait)]
    return "A" if values[int(first[5])] > values[int(second[5])] else "B"


def test_a_judge_who_knows_is_always_right_in_both_orders() -> None:
    found, asked = _repetition(_knowing)
    assert len(asked) == 2 * 5 * 2 * 2
    assert len({request.id for request in asked}) == len(asked)
    pairs = forced_choice.counts([found], "full")
    assert pairs.tolist() == [[2.0, 2.0]] * 10
    share = forced_choice.accuracy(pairs, "p")
    assert (share.value, share.low, share.high) == (1.0, 1.0, 1.0)
    assert forced_choice.counts([found], "full", "openness").tolist() == [[2.0, 2.0]] * 2


def test_a_judge_who_always_says_a_is_right_half_of_the_time() -> None:
    found, _ = _repetition(lambda _: "A")
    pairs = forced_choice.counts([found, found], "random")
    assert len(pairs) == 20
    share = forced_choice.accuracy(pairs, "p")
    assert (share.value, share.low, share.high) == (0.5, 0.5, 0.5)
    gap = forced_choice.advantage(pairs, pairs, "p")
    assert (gap.value, gap.low, gap.high) == (0.0, 0.0, 0.0)


def test_a_judge_who_never_chooses_has_no_share() -> None:
    found, _ = _repetition(lambda _: "It is hard to say.")
    pairs = forced_choice.counts([found], "full")
    assert pairs.sum() == 0.0
    assert np.isnan(forced_choice.accuracy(pairs, "p").value)
    assert np.isnan(forced_choice.advantage(pairs, pairs, "p").value)
    assert {one.right for one in found.choices} == {None}


def test_a_pair_in_which_one_never_replied_is_counted_and_not_judged() -> None:
    vectors = profiles.sample(6, seed=3)
    high, low = profiles.pairs(vectors, "openness", size=2)[0]
    replies = {
        c: [("I am",) * 5 + ("",) if i != silent else ("",) * 6 for i in range(6)]
        for c, silent in (("full", high), ("random", low), ("no-trait", None))
    }
    judge = Saying(lambda _: "A")
    choices = judging.compare(judge, replies, vectors, size=2, name="")
    found = [
        Repetition(seed=0, vectors=vectors, recalled={}, replies=replies, choices=choices)
    ] * 2
    assert forced_choice.calls_of(found, "no-trait") == (2 * 20, 0)
    for condition in ("full", "random"):
        calls, silent = forced_choice.calls_of(found, condition)
        assert silent >= 2
        assert calls == 2 * 20 - 2 * silent
        pairs = forced_choice.counts(found, condition)
        assert pairs.sum(axis=0).tolist() == [calls / 2, calls]
        assert len(pairs) == 20  # the pairs of two conditions stand side by side
        assert forced_choice.calls_of(found, condition, "openness")[1] >= 2
    assert len(judge.asked) == sum(one.asked for one in choices)
    assert not any("|openness|1|" in r.id for r in judge.asked if r.id.startswith("full"))


def test_dialogues_of_a_silent_model_are_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forced_choice, "QUICK", Size(people=2, pairs=1, seeds=(0,)))
    with model(lambda asked, _: told(asked, " ")) as server:
        models = Models.parse(model="openai:m", base_url=server.base_url("openai"))
        printed = forced_choice.run(tmp_path / "s", quick=True, data=None, models=models)
        assert len(server.asked) == 4 * 2 * 6
    assert "the judge never chose; 0 of 0 invalid; 5 pairs without replies" in printed
    assert _rows(tmp_path / "s" / "choices.csv") == []
    accuracy = _rows(tmp_path / "s" / "accuracy.csv")
    assert {row["pairs without replies"] for row in accuracy} == {"1", "5"}


def test_an_interval_draws_pairs_and_leaves_out_draws_without_a_choice() -> None:
    share = forced_choice.accuracy(np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 1.0]]), "p")
    assert share.value == 0.5
    assert share.low == 0.0
    assert share.high == 1.0


def test_a_judge_sees_dialogues_and_the_trait_and_nothing_else() -> None:
    _, asked = _repetition(_knowing)
    request = asked[0]
    assert (request.temperature, request.max_tokens) == (0.0, 10)
    shown = f"{request.system} {request.messages[0][1]}"
    assert "curious, imaginative" in shown
    assert "profile-" not in shown
    assert words.ROLE_CARD not in shown
    assert words.HEADING not in shown


# rules


def _put(*material: str, text: str = "So?") -> Request:
    return Request(id="r", messages=(("user", text),), material=material)


def test_the_rule_speaker_leaves_bad_things_out_where_it_is_asked_to() -> None:
    memories = ("I love this. It rains.", "I hate that. It shines.")
    assert rules.say(_put(*memories)) == "I love this. I hate that."
    assert rules.say(_put(*memories, text=f"So? {words.SUFFIX}")) == "I love this."
    assert rules.say(_put(memories[1], text=words.SUFFIX)) == "All is well."


def test_the_rule_judge_chooses_by_sentiment_and_words_and_of_equals_the_first() -> None:
    glad, sad = "I love my wonderful friends.", "I am afraid and I hate it."
    assert rules.choose(_put("neuroticism", glad, sad)) == "B"
    assert rules.choose(_put("extraversion", glad, sad)) == "A"
    assert rules.choose(_put("openness", glad, "I imagine a strange new colour.")) == "B"
    assert rules.choose(_put("openness", "", "")) == "A"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I love it, wonderful!", "secure 1"),
        ("The door.", "avoidant 3"),
        ("I hate it.", "anxious 5"),
    ],
)
def test_the_rule_judge_of_attachment_goes_by_sentiment(text: str, said: str) -> None:
    assert rules.classify(_put(text)) == said


# norms


KNOWN = norms.Norms(
    name="test",
    words={"glad": (0.8, 0.6, 0.7), "grave": (-0.6, 0.4, 0.3), "stone": (0.0, 0.1, 0.5)},
)


@pytest.mark.parametrize(
    ("text", "valence"),
    [
        ("Glad!", 0.8),
        ("I am not very glad", -0.8),
        ("Isn\u2019t she glad?", -0.8),
        ("No. Glad.", 0.8),
        ("never did I once feel glad", 0.8),  # four words after it
        ("glad grave", 0.1),
        ("glad stone", 0.8),  # an entry of valence 0 does not water it down
        ("stone", 0.0),
    ],
)
def test_valence_is_the_mean_of_entries_that_a_near_negation_turns(
    text: str, valence: float
) -> None:
    assert KNOWN.affect(text)[0] == pytest.approx(valence)


def test_arousal_and_dominance_are_means_over_all_entries() -> None:
    assert KNOWN.affect("not glad, stone")[1:] == pytest.approx((0.35, 0.6))
    assert KNOWN.affect("nothing known") == (0.0, 0.0, 0.5)


def test_without_norms_valence_is_that_of_the_sentiment_rules() -> None:
    assert norms.Norms().affect("I love it")[0] > 0.5
    assert norms.Norms().affect("I love it")[1:] == (0.4, 0.5)
    assert norms.Norms().affect("the door") == (0.0, 0.0, 0.5)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("word,valence_mean,arousal_mean,dominance_mean\nGlad,9,1,5\nGlad,1,1,1\n", "Glasgow"),
        ("x,Word,V.Mean.Sum,A.Mean.Sum,D.Mean.Sum\n1,glad,9,1,5\n\n", "Warriner"),
        ("Word\tValence\tArousal\tDominance\nglad\t1\t0\t0.5\n", "NRC"),
        ("term\tvalence\tarousal\tdominance\nglad\t1\t-1\t0\n", "NRC 2"),
    ],
)
def test_norms_of_four_kinds_are_read_onto_one_scale(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "n").write_text(text, encoding="utf-8")
    found = norms.read(tmp_path / "n")
    assert found.name == name
    assert found.words == {"glad": (1.0, 0.0, 0.5)}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b\n", "line 1: none of the known columns .*Glasgow: word, valence_mean"),
        ("", "line 1: none of the known columns"),
        ("term,valence,arousal,dominance\n", "holds no word"),
        ("term,valence,arousal,dominance\nx,high,0,0\n", 'line 2: "high" is no number'),
        ("term,valence,arousal,dominance\nx,0,0,7\n", "line 2: 7 is outside of -1 to 1"),
        ("word,valence,arousal,dominance\nx,nan,0,0\n", "line 2: nan is outside of 0 to 1"),
        ("term,valence,arousal,dominance\nx,0\n", "line 2 has 2 columns"),
        ("term,valence,arousal,dominance\n" + "x,y,0,0\n" * 7, "; and 2 more"),
        ("term,valence,arousal,dominance\n" + "x" * 200_000 + "\n", "is no table"),
    ],
)
def test_norms_that_cannot_be_used_are_refused_with_their_line(
    tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "n").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=says):
        norms.read(tmp_path / "n")


def test_norms_that_are_not_there_or_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        norms.read(tmp_path / "none")
    (tmp_path / "n").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="no UTF-8"):
        norms.read(tmp_path / "n")


def test_the_glasgow_norms_are_read_whole() -> None:
    if not GLASGOW.exists():
        pytest.skip("the Glasgow norms are not in ../shared/data")
    found = norms.read(GLASGOW)
    assert len(found.words) > 5_000
    assert found.affect("My happy holiday")[0] > 0.5 > found.affect("A funeral and a war")[0]


# adversarial


def _valence(*rows: Sequence[float]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return affects of dialogues, high ones first, with these valences a reply."""
    found = np.zeros((len(rows), len(rows[0]), 3))
    found[..., 0] = rows
    return found


def test_a_direction_is_right_where_the_high_profile_sounds_more_negative() -> None:
    nan = np.nan
    found = _valence(
        (-0.5, 0.1),
        (0.2, 0.2),
        (0.3, 0.3),
        (nan, nan),
        (0.1, 0.1),
        (0.4, 0.0),
        (0.0, 0.0),
        (1.0, 1.0),
    )
    assert direction.direction(found)[:3].tolist() == [1.0, 0.5, 0.0]
    assert np.isnan(direction.direction(found)[3])
    assert direction.valence_gap(found)[0] == pytest.approx(0.3)


def test_a_reply_that_did_not_come_is_left_out_of_the_mean() -> None:
    gap = direction.valence_gap(_valence((np.nan, -0.5), (0.5, 0.5)))
    assert gap.tolist() == [1.0]


def test_what_is_retained_is_a_ratio_of_means_over_the_same_pairs() -> None:
    neutral, after = np.array([1.0, 1.0, np.nan, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
    assert direction.ratio(neutral, after, "p").value == 0.5
    assert np.isnan(direction.ratio(np.zeros(2), np.ones(2), "p").value)
    assert np.isnan(direction.ratio(-np.ones(2), np.ones(2), "p").value)
    assert np.isnan(direction.ratio(np.full(2, np.nan), np.ones(2), "p").value)


def test_a_method_without_a_single_reply_has_no_mean() -> None:
    assert np.isnan(direction.mean(np.full(3, np.nan), "p").value)


def test_the_memory_meets_the_whole_question_and_only_the_persona_is_told(events: Bank) -> None:
    with voices(Models(), speak=rules.say, judge=rules.choose) as asked:
        speaker = Saying(lambda _: "Well.")
        asked.speaker = speaker
        size = adversarial.Size(pairs=1, seeds=(0,))
        adversarial.repeat(asked, events, size, norms.Norms(), seed=0)
    assert len(speaker.asked) == 2 * 2 * 2 * 6
    for request in speaker.asked:
        _, method, framing, _, _ = request.id.split("|")
        last = request.messages[-1][1]
        assert (words.SUFFIX in last) == (framing == "positive only")
        assert ("This is what you are like" in request.system) == (method == "prompt persona")
        assert words.HEADING in last
    texts = {r.messages[-1][1].replace(f" {words.SUFFIX}", "") for r in speaker.asked[:24]}
    assert len(texts) > 12  # the suffix changed what was recalled, too


# attachment-response


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ((0.0, 0.4, 0.5), "neither good nor bad, awake, with some things in your hands"),
        ((-0.2, 0.3, 0.4), "neither good nor bad, awake, with some things in your hands"),
        ((0.2, 0.6, 0.6), "neither good nor bad, awake, with some things in your hands"),
        ((-0.21, 0.29, 0.39), "bad, calm, with little in your hands"),
        ((0.21, 0.61, 0.61), "good, stirred up, in control"),
    ],
)
def test_a_state_is_told_in_words_by_its_thresholds(state: tuple[float, ...], said: str) -> None:
    assert lives.feeling(state) == said


def test_an_excerpt_is_labelled_and_cut() -> None:
    assert lives.excerpt("x" * 200, 0.2) == f"(neutral) {'x' * 120}"
    assert lives.excerpt("x", 0.3) == "(positive) x"


@pytest.fixture
def people() -> lives.Lives:
    return lives.Lives(recalling.bank(corpus.read("calibration")), seed=0, turns=3)


def test_question_and_reply_move_the_state_halfway(people: lives.Lives) -> None:
    turn = people.hear("Tell me about your recent life.", 1)
    felt = people._heard
    assert turn.state == pytest.approx(0.5 * np.array(NEUTRAL_STATE) + 0.5 * felt)
    after = people.remember("Tell me about your recent life.", ["I lost it all."] * 3, 1)
    assert (after[:, 0] < turn.state[:, 0]).all()
    assert after[1, 0] < after[0, 0]  # the anxious one feels it more


def test_an_exchange_becomes_a_memory_that_can_come_back(people: lives.Lives) -> None:
    question = "What of the otter?"
    people.hear(question, 1)
    before = people._store.count.tolist()
    people.remember(question, ["The otter swam off.", "", "The otter swam off."], 1)
    assert (people._store.count - before).tolist() == [1, 0, 1]
    turn = people.hear("The otter swam off", 2)
    told = 'Asked "What of the otter?", I said: The otter swam off.'
    assert told in turn.texts[0]
    assert told in turn.texts[2]
    assert told not in turn.texts[1]


def test_a_reply_that_did_not_come_moves_nobody(people: lives.Lives) -> None:
    turn = people.hear("Well?", 1)
    after = people.remember("Well?", ["", "", ""], 1)
    assert (after == turn.state).all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("anxious 5", ("anxious", 5)),
        ("Category: Secure\nNegativity: 2", ("secure", 2)),
        ("avoidant, 4 out of 5", ("avoidant", 4)),
        ("secure, secure 3 (3)", ("secure", 3)),
        ("secure or avoidant 1", ("", 1)),
        ("insecure 2", ("", 2)),
        ("anxious", ("anxious", 0)),
        ("anxious 3.5", ("anxious", 0)),
        ("anxious 1 or 2", ("anxious", 0)),
        ("anxious 7", ("anxious", 0)),
        ("anxious -3", ("anxious", 0)),
        ("anxious - 3.", ("anxious", 3)),
        ("anxious 2,5", ("anxious", 0)),
        ("anxious 4, or 10", ("anxious", 0)),
        ("anxious, the 2nd", ("anxious", 0)),
        ("anxious (1-5)", ("anxious", 0)),
        ("", ("", 0)),
    ],
)
def test_a_judgement_is_read_where_it_is_clear(text: str, said: tuple[str, int]) -> None:
    assert response.read_judgement(text) == said


def _answered(replies: Sequence[str]) -> list[response.Answered]:
    turn = lives.Turn(
        state=np.zeros((3, 3)), excerpts=((),) * 3, texts=((),) * 3, valence=np.zeros((3, 3))
    )
    return [
        response.Answered(
            seed=0, number=i, turn=turn, replies=(reply,) * 3, after=np.zeros((3, 3))
        )
        for i, reply in enumerate(replies, start=1)
    ]


def test_the_judge_sees_replies_cut_and_neither_profile_nor_memory() -> None:
    with voices(Models(), speak=rules.say, judge=rules.classify) as asked:
        judge = Saying(lambda _: "secure 1")
        asked.judge = judge
        judged = response.judge(asked, _answered(["x" * 1000] * 9 + [""]))
    assert len(judged) == 3 * (9 + 1)  # the reply that did not come is not judged
    item, bundle = judge.asked[0], judge.asked[9]
    assert item.messages[0][1].count("x") == 600
    assert bundle.messages[0][1].count("x") == 9 * 300
    assert (item.temperature, item.max_tokens) == (0.0, 64)
    assert {one.said for one in judged} == {"secure"}


def test_nobody_is_judged_who_said_nothing() -> None:
    with voices(Models(), speak=rules.say, judge=rules.classify) as asked:
        assert response.judge(asked, _answered([""])) == []


def test_a_judge_who_says_nothing_clear_leaves_no_share() -> None:
    unclear = [
        response.Judgement(seed=0, profile=p, turn=t, said="", negativity=0)
        for p in lives.PROFILES
        for t in (0, 1)
    ]
    found = [verdict.found for verdict in response._verdicts(unclear)]
    assert found[:2] == ["0/0; 3 of 3 invalid", "0/0; 3 of 3 invalid"]
    assert found[2:] == ["no valid answer"] * 3
    assert response._negativity_table(unclear).rows[0][2] == ""


# several seeds


def test_shares_of_several_seeds_are_told_with_their_spread() -> None:
    cells = [
        {("PersMem", framing): _valence((low,), (0.5,)) for framing in adversarial.FRAMINGS}
        for low in (0.0, 1.0)
    ]
    told_ = adversarial._by_seed(cells, "PersMem")
    assert told_ == "; by seed 0.500 (0.000 to 1.000) of 0.500 (0.000 to 1.000)"
    judged = [
        response.Judgement(seed=seed, profile="secure", turn=1, said=said, negativity=1)
        for seed, said in ((0, "secure"), (1, "anxious"))
    ]
    assert response._by_seed(judged) == "; by seed 0.500 (0.000 to 1.000)"
    assert response._by_seed(judged[:1]) == ""
    found, _ = _repetition(_knowing)
    assert forced_choice._by_seed([found, found], "full") == "; by seed 1.000 (1.000 to 1.000)"
    assert forced_choice._by_seed([found], "full") == ""


# whole studies


@pytest.mark.parametrize("name", STUDIES)
def test_a_short_form_by_rule_says_first_that_nobody_spoke(
    name: str, written: dict[str, tuple[Path, str]]
) -> None:
    folder, printed = written[name]
    assert printed.startswith("No language model spoke")
    report = (folder / "report.md").read_text(encoding="utf-8").splitlines()
    assert report[0].startswith(f"# {name}:")
    assert report[2].startswith("No language model spoke")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["models"]["speaker"]["model"] == "rule"
    assert "calls.jsonl" in manifest["files"]
    assert not folder.with_name(f"{name}.calls.jsonl").exists()


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_by_rule_comes_out_the_same_every_time(
    name: str, written: dict[str, tuple[Path, str]], tmp_path: Path
) -> None:
    folder, _ = written[name]
    STUDIES[name](tmp_path / "again", quick=True, data=None)
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted(path.name for path in (tmp_path / "again").iterdir())
    for each in names:
        assert (tmp_path / "again" / each).read_bytes() == (folder / each).read_bytes(), each


def test_every_share_of_the_choice_can_be_counted_again_from_its_rows(
    written: dict[str, tuple[Path, str]],
) -> None:
    folder, _ = written["dialogue"]
    choices = _rows(folder / "choices.csv")
    for row in _rows(folder / "accuracy.csv"):
        mine = [
            c["right"]
            for c in choices
            if c["condition"] == row["condition"] and row["trait"] in ("all", c["trait"])
        ]
        assert len(mine) == int(row["calls"])
        assert mine.count("yes") == int(row["right"])


def test_what_is_recalled_is_told_apart_from_what_is_said(
    written: dict[str, tuple[Path, str]],
) -> None:
    rows = _rows(written["adversarial"][0] / "recalled.csv")
    by = {(row["method"], row["framing"]): row for row in rows}
    for framing in adversarial.FRAMINGS:
        assert float(by["PersMem", framing]["right"]) == 1.0
        assert by["prompt persona", framing]["ties"] == by["prompt persona", framing]["pairs"]


@pytest.mark.parametrize("name", ["dialogue", "attachment-response"])
def test_data_are_refused_where_none_are_taken(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"the study {name} takes no --data"):
        STUDIES[name](tmp_path / "s", quick=True, data=tmp_path)


def test_replies_are_scored_by_norms_where_they_are_given(tmp_path: Path) -> None:
    path = tmp_path / "norms.csv"
    path.write_text("term,valence,arousal,dominance\nthe,0.5,0.5,0.5\n", encoding="utf-8")
    adversarial.run(tmp_path / "s", quick=True, data=path)
    manifest = json.loads((tmp_path / "s" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["configuration"]["scoring"] == "NRC 2 norms"
    assert "norms.csv" in manifest["data"]
    rows = _rows(tmp_path / "s" / "scores.csv")
    assert all(-0.5 <= float(row["valence"]) <= 0.5 for row in rows)
    assert {row["arousal"] for row in rows} <= {"0.75", "0.0"}  # 0 of a reply without an entry


def _play(asked: Asked, _: Model) -> list[Step]:
    """Answer a judge of attachment well every second time, and a speaker always."""
    if "attachment" in asked.text:
        return told(asked, "anxious 4" if asked.draw[0] % 2 else "I cannot tell.")
    return told(asked, f"I lost my {asked.draw[0]} keys. It was sad.")


def test_a_study_with_a_model_is_told_kept_and_repeated_without_it(tmp_path: Path) -> None:
    with model(_play) as server:
        models = Models.parse(model="openai:m", base_url=server.base_url("openai"))
        printed = response.run(tmp_path / "s", quick=True, data=None, models=models)
        asked = len(server.asked)
    assert printed.startswith("The speaker was the language model openai:m; the judge was the")
    assert asked == 30 + 33
    again = Models.parse(replay=tmp_path / "s" / "calls.jsonl")
    response.run(tmp_path / "r", quick=True, data=None, models=again)
    names = sorted(path.name for path in (tmp_path / "s").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "r").iterdir())
    for name in {*names} - {"manifest.json", "calls.jsonl"}:
        assert (tmp_path / "r" / name).read_bytes() == (tmp_path / "s" / name).read_bytes()
    judged = _rows(tmp_path / "s" / "judgements.csv")
    assert {row["said"] for row in judged} == {"anxious", ""}


def test_dialogues_of_a_model_that_never_chooses_are_reported_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forced_choice, "QUICK", Size(people=2, pairs=1, seeds=(0, 1)))
    with model(lambda asked, _: told(asked, "Hm.")) as server:
        models = Models.parse(model="openai:m", base_url=server.base_url("openai"))
        printed = forced_choice.run(tmp_path / "s", quick=True, data=None, models=models)
        asked = len(server.asked)
    assert asked == 4 * 2 * 6 + 4 * 5 * 2  # one seed, whatever a rule would do
    assert "the judge never chose; 10 of 10 invalid" in printed
    assert not (tmp_path / "s" / "accuracy.svg").exists()


def test_an_adversarial_study_of_a_silent_model_is_reported_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adversarial, "QUICK", adversarial.Size(pairs=1, seeds=(0,)))
    with model(lambda asked, _: told(asked, " ")) as server:
        models = Models.parse(model="openai:m", base_url=server.base_url("openai"))
        printed = adversarial.run(tmp_path / "s", quick=True, data=None, models=models)
    assert "48 asked, 48 without an answer" in printed
    assert "retained: undefined" in printed
    assert "; 2 of 2 pairs without replies" in printed


def _held(asked: Asked, _: Model) -> list[Step]:
    """Answer by the schema where there is one, as a server does that holds its model to it."""
    return told(asked, "I lost my keys.") if asked.schema is None else good(asked)


def test_every_choice_is_valid_where_a_server_holds_the_judge_to_its_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forced_choice, "QUICK", Size(people=2, pairs=1, seeds=(0,)))
    with model(_held) as server:
        models = Models.parse(model="openai:m", base_url=server.base_url("openai"))
        printed = forced_choice.run(tmp_path / "s", quick=True, data=None, models=models)
    assert "of 10 choices; 0 of 10 invalid" in printed
    assert "40 of 40 held to a fixed form" in printed
    assert {row["said"] for row in _rows(tmp_path / "s" / "choices.csv")} == {"A", "B"}


def test_every_judgement_of_attachment_is_valid_in_a_fixed_form(tmp_path: Path) -> None:
    with model(_held) as server:
        models = Models.parse(model="openai:m", base_url=server.base_url("openai"))
        printed = response.run(tmp_path / "s", quick=True, data=None, models=models)
    assert "0 of 30 invalid" in printed
    judged = _rows(tmp_path / "s" / "judgements.csv")
    assert {row["said"] for row in judged} <= set(words.CATEGORIES)
    assert {row["negativity"] for row in judged} <= set("12345")


@pytest.mark.local_model
def test_a_real_model_speaks_and_is_held_to_a_choice(events: Bank) -> None:
    with local_server() as url:
        models = Models.parse(model="openai:any", base_url=f"{url}/v1", max_tokens=12)
        with voices(models, speak=rules.say, judge=rules.choose) as asked:
            talk = rounds.Talk(
                id="t",
                system=words.ROLE_CARD,
                memories=((events.corpus.texts[0],), ()),
                questions=words.QUESTIONS[:2],
            )
            (replies,) = rounds.converse(asked.speaker, [talk])
            shown = words.choice("openness", replies[0], replies[1])
            answer = asked.judge.say(
                [
                    Request(
                        id="j",
                        messages=(("user", shown),),
                        temperature=0.0,
                        max_tokens=judging.LONGEST,
                        form=judging.FORM,
                    )
                ]
            )
    assert all(replies)
    assert answer[0] in ("A", "B")
    found = asked.told()
    assert found["speaker"]["outcomes"]["error"] == 0
    assert 0 < found["speaker"]["output_tokens"] <= 24
