"""The studies `locomo` and `locomo-answers`: what they read, rank, choose and score."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from local_model import local_server

from simulation import recall
from simulation.encoders import EncoderSpec, load
from simulation.errors import UsageError
from simulation.memory import KINDS, MemoryStore
from simulation.mind.lexical import HybridParameters, LexicalParameters
from simulation.rng import Streams, stream_keys
from simulation.studies.locomo import answers, comparing, methods, run, study, tuning
from simulation.studies.locomo.answers_rows import ORACLE
from simulation.studies.locomo.asking import NO_CHOICE, Answerer, Asked, asked_of, nearest
from simulation.studies.locomo.conversations import Conversation, Question, read_conversations
from simulation.studies.locomo.f1 import NOT_MENTIONED, f1, parts, score, tokens
from simulation.studies.locomo.measuring import recall_at
from simulation.studies.locomo.memories import Memories, Reader, capped, importance, sampled
from simulation.studies.speaking import Models, Request
from simulation.texts import Texts
from simulation.words import Vocabulary, content, stem

if TYPE_CHECKING:
    from collections.abc import Callable

SHARED = Path(__file__).resolve().parents[2] / "shared"
DATA = SHARED / "data" / "locomo" / "locomo_5.json"
needs_data = pytest.mark.skipif(
    not DATA.is_file(), reason="LoCoMo's conversations are not beside the repository"
)

SAID = (
    ("Ann", "Hi Ben! How was your weekend?"),
    ("Ben", "Great. I drove to the lighthouse with my cousin."),
    ("Ann", "What did you see there?"),
    ("Ben", "Two grey seals asleep on the rocks."),
    ("Ann", "I finally sold my violin, after nine years."),
    ("Ben", "That must feel strange."),
    ("Ann", "It does. The buyer teaches children in Ghent."),
    ("Ben", "My sister moved her bakery to the harbour last Friday."),
)
ASKED: tuple[dict[str, Any], ...] = (
    {
        "question": "Which animals did Ben see?",
        "answer": "seals",
        "category": 4,
        "evidence": ["D1:4"],
    },
    {
        "question": "When did Ann sell the violin?",
        "answer": 2023,
        "category": 2,
        "evidence": ["D2:01"],
    },
    {
        "question": "Where have people of the two gone?",
        "answer": "lighthouse, harbour",
        "category": 1,
        "evidence": ["D1:2; D2:4"],
    },
    {
        "question": "Who bought Ben's bakery?",
        "adversarial_answer": "a teacher",
        "category": 5,
        "evidence": ["D2:3"],
    },
    {
        "question": "Is Ann musical?",
        "answer": "Yes; she played",
        "category": 3,
        "evidence": ["D9:9", "D"],
    },
)


def told(name: str = "one", **changes: Any) -> dict[str, Any]:
    """Return a conversation as it stands in LoCoMo's file."""
    turns = [
        {"speaker": who, "dia_id": f"D{1 + i // 4}:{1 + i % 4}", "text": text}
        for i, (who, text) in enumerate(SAID)
    ]
    turns[3] |= {"blip_caption": "a photo of seals"}
    said = {
        "speaker_a": "Ann",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": turns[:4],
        "session_2_date_time": "9:05 am on 25 May, 2023",
        "session_2": turns[4:],
        "session_3_date_time": "9:05 am on 26 May, 2023",
    }
    return {"sample_id": name, "conversation": said, "qa": list(ASKED)} | changes


def write(path: Path, *conversations: Any) -> Path:
    path.write_text(json.dumps(list(conversations)), encoding="utf-8")
    return path


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return write(tmp_path / "two.json", told("one"), told("two"))


@pytest.fixture
def one(two: Path) -> Conversation:
    return read_conversations(two)[0]


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader((load(EncoderSpec(name="static")),))


@pytest.fixture
def memories(one: Conversation, reader: Reader) -> Memories:
    return reader.prepare(one, sampled(one, most=None, seed=0))


# What is read.


def test_conversations_are_read_with_their_questions(one: Conversation) -> None:
    assert [turn.speaker for turn in one.turns] == [who for who, _ in SAID]
    assert {turn.session for turn in one.turns} == {1, 2}
    assert one.turns[3].memory == (
        "Ben: Two grey seals asleep on the rocks. [shares a photo of seals]"
    )
    assert (one.turns[4].when.day, one.turns[0].when.hour) == (25, 13)
    assert [question.evidence for question in one.questions] == [(3,), (4,), (1, 7), (6,), ()]
    assert [question.answer for question in one.questions][1:4:2] == ["2023", "a teacher"]
    assert one.unknown == ("D", "D9:9")


def broken(change: Callable[[dict[str, Any]], Any]) -> Any:
    given = told()
    return change(given) or given


def asked_with(place: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of a question."""
    return lambda g: g["qa"].__setitem__(place, {**g["qa"][place], **changes})


def asked_without(place: int, key: str) -> Callable[[dict[str, Any]], None]:
    """Return a change that leaves a key of a question out."""
    return lambda g: g["qa"].__setitem__(
        place, {name: value for name, value in g["qa"][place].items() if name != key}
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: g.pop("qa") and None, r'\[0\] has no "qa"'),
        (lambda g: g.update(sample_id=3), r"\[0\].sample_id is a whole number; a text is"),
        (lambda g: g["conversation"].pop("session_1_date_time") and None, "session_1_date_time"),
        (
            lambda g: g["conversation"].update(session_1_date_time="yesterday"),
            r'is "yesterday"; such as "1:56 pm on 8 May, 2023"',
        ),
        (lambda g: g["conversation"]["session_2"][0].pop("text") and None, r"session_2\[0\] has"),
        (lambda g: g["conversation"].update(session_2="x"), "session_2 is a text; a list is"),
        (
            lambda g: g["conversation"]["session_2"][0].update(dia_id="D01:1"),
            r"\[0\].conversation has the dia_id \"D01:1\" twice",
        ),
        (lambda g: g.update(qa=[{**ASKED[0], "category": 6}]), r"qa\[0\].category is 6"),
        (lambda g: g.update(qa=[{**ASKED[0], "category": True}]), "category is true or false"),
        (lambda g: g.update(qa=[]), r"\[0\].qa is empty"),
        (asked_with(0, answer=None), r"\[0\].qa\[0\].answer is null; a text is expected"),
        (asked_with(1, answer=["2023"]), r"qa\[1\].answer is a list; a text is expected"),
        (asked_with(1, answer=True), r"qa\[1\].answer is true or false; a text is expected"),
        (asked_without(2, "answer"), r'qa\[2\] has no "answer"'),
        (asked_without(3, "adversarial_answer"), r'qa\[3\] has no "adversarial_answer"'),
        (asked_with(3, adversarial_answer=None), r"qa\[3\].adversarial_answer is null"),
        (asked_with(0, evidence=["D1:1", 3]), r"qa\[0\].evidence\[1\] is a whole number; a text"),
        (lambda g: g.update(conversation={}), "has no session with turns"),
        (lambda _: "x", r"\[0\] is a text; an object is expected"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read_conversations(write(tmp_path / "x.json", broken(change)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1,\n2", "line 2, column 2"),
        ("{}", "it is not a list"),
        ("[]", "holds no conversation"),
        ("\udcff", "is no UTF-8 at byte 0"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=message):
        read_conversations(path)


def test_a_missing_file_and_a_name_that_stands_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_conversations(tmp_path / "none.json")
    with pytest.raises(UsageError, match='"one" stands in it twice'):
        read_conversations(write(tmp_path / "x.json", told(), told()))


def test_numbers_may_answer_and_an_id_of_many_digits_names_no_turn(tmp_path: Path) -> None:
    long = "D1:" + "1" * 5000
    given = told(qa=[{**ASKED[1], "answer": 2022, "evidence": [long, "D1:1"]}])
    found = read_conversations(write(tmp_path / "x.json", given))[0]
    assert found.questions[0].answer == "2022"
    assert found.questions[0].evidence == (0,)
    assert found.unknown == (long,)


def test_an_adversarial_question_may_have_its_answer_under_answer(tmp_path: Path) -> None:
    asked = {key: value for key, value in ASKED[3].items() if key != "adversarial_answer"}
    given = told(qa=[{**asked, "answer": "a baker"}])
    found = read_conversations(write(tmp_path / "x.json", given))[0]
    assert found.questions[0].answer == "a baker"


def test_a_file_beyond_all_measure_is_refused(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulation.studies.locomo.conversations.MAX_BYTES", 10)
    with pytest.raises(UsageError, match="larger than 10 bytes"):
        read_conversations(two)


# Words.


@pytest.mark.parametrize(
    ("word", "expected"),
    [  # examples of Porter's paper, step by step
        *(("caresses", "caress"), ("ponies", "poni"), ("ties", "ti"), ("cats", "cat")),
        *(("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"), ("bled", "bled")),
        *(("motoring", "motor"), ("sing", "sing"), ("conflated", "conflat"), ("hopping", "hop")),
        *(("falling", "fall"), ("hissing", "hiss"), ("filing", "file"), ("happy", "happi")),
        *(("relational", "relat"), ("conditional", "condit"), ("vietnamization", "vietnam")),
        *(("triplicate", "triplic"), ("hopefulness", "hope"), ("electrical", "electr")),
        *(("revival", "reviv"), ("adoption", "adopt"), ("adjustable", "adjust"), ("rate", "rate")),
        *(("controll", "control"), ("roll", "roll"), ("cease", "ceas"), ("sky", "sky")),
        *(("is", "is"), ("café", "café"), ("onion", "onion"), ("formality", "formal")),
    ],
)
def test_words_have_the_stems_of_porter(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_words_become_numbers_once_each() -> None:
    words = Vocabulary(stem=True, stop=True)
    found = words.ids(["The seals slept.", "A seal, sleeping!"])
    assert found.tolist() == [[0, 1], [0, 2]]
    assert words.ids(["seal seal"], once=True).tolist() == [[0]]
    assert words.ids([]).shape == (0, 0)
    plain = Vocabulary(stem=False, stop=False)
    assert plain.ids(["It is, it IS"]).tolist() == [[0, 1, 0, 1]]
    assert content("Ann's friend isn't here") == ["ann", "friend", "isn"]


# Memories.


def test_a_session_is_a_tick_and_questions_come_in_the_next(memories: Memories) -> None:
    assert memories.tick.tolist() == [0] * 4 + [1] * 4
    assert memories.age.tolist() == [2] * 4 + [1] * 4
    assert memories.tau == 1.0
    assert memories.ageless().recency.tolist() == [1.0] * 8
    assert len(memories.questions) == 4  # one has no evidence
    assert memories.capped.all()


def test_importance_is_the_share_of_distinct_content_words() -> None:
    assert importance(
        ["the seal and the seals", "of it", " ".join(f"w{i}" for i in range(99))]
    ) == (pytest.approx([1 / 40, 0.0, 1.0]))


def test_the_store_forgets_the_least_important_at_the_end_of_a_tick() -> None:
    tick, weight = np.array([0, 0, 0, 1]), np.array([0.2, 0.1, 0.3, 0.2])
    assert capped(tick, weight, cap=2).tolist() == [False, False, True, True]
    assert capped(tick, weight, cap=3).tolist() == [True, False, True, True]


def test_a_sample_is_by_chance_and_the_same_every_time(one: Conversation) -> None:
    drawn = [sampled(one, most=2, seed=seed) for seed in range(8)]
    assert all(len(each) == 2 for each in drawn)
    assert drawn[0] == sampled(one, most=2, seed=0)
    assert len(set(drawn)) > 1


# Methods.


def test_the_best_come_first_and_of_equals_the_newer_tick_then_the_earlier_turn(
    memories: Memories,
) -> None:
    level = np.zeros((4, 8))
    level[:, 2] = 1.0
    assert methods.best(memories, memories.all(), level)[0].tolist() == [
        *(2, 4, 5, 6, 7, 0, 1, 3),
        *(-1, -1),
    ]
    used = memories.all()
    used[[2, 5]] = False
    assert methods.best(memories, used, level)[0, :4].tolist() == [4, 6, 7, 0]


@pytest.mark.parametrize("mode", ["generative_agents", "semantic"])
def test_controls_rank_as_those_of_the_engine(memories: Memories, mode: str) -> None:
    encoder = load(EncoderSpec(name="static"))
    texts = Texts(encoder.encode, width=encoder.width)
    store = MemoryStore(1)
    items = texts.intern([turn.memory for turn in memories.conversation.turns])
    rows = np.zeros(len(items), np.int64)
    store.write(
        rows,
        tick=memories.tick,
        kind=KINDS.index("seed"),
        importance=memories.importance,
        text=items,
    )
    query = texts.intern([question.text for question in memories.questions])
    found = recall.recall(
        store,
        texts,
        rows=np.zeros(len(query), np.int64),
        query=query,
        now=2,
        tau=memories.tau,
        k=np.full(len(query), 8),
        mode=mode,
        streams=Streams(0),
        keys=stream_keys("abcd"),
    )
    ours = getattr(methods, mode)(memories, memories.all(), "static")
    top = methods.best(memories, memories.all(), ours)
    np.testing.assert_array_equal(top[:, :8], found.position)


def test_our_mode_is_that_of_the_engine(memories: Memories) -> None:
    used = memories.all()
    words = methods.bm25(memories, used, methods.LEXICON)
    score = methods.hybrid(memories, used, "static", words, methods.HYBRID)
    found = methods.shipped(memories, "static")
    np.testing.assert_array_equal(found, methods.best(memories, used, score))


@pytest.mark.parametrize("dense", [methods.HYBRID.dense, 0.0])
def test_the_engine_itself_is_measured_where_our_mode_is_as_it_ships(
    memories: Memories, monkeypatch: pytest.MonkeyPatch, dense: float
) -> None:
    nothing = np.full((len(memories.questions), methods.TOP), -1)
    monkeypatch.setattr(methods, "shipped", lambda *_: nothing)
    chosen = tuning.Chosen(
        bm25=methods.LEXICON,
        weights=methods.PUBLISHED,
        hybrid=replace(methods.HYBRID, dense=dense),
    )
    compared = comparing.Compared([memories], {"static": chosen}, draws=10)
    found = [
        compared.found[comparing.Key(encoder="static", method=comparing.OURS, store=store)][0]
        for store in comparing.STORES
    ]
    assert chosen.ships == (not found[0].any()) == (dense > 0)
    assert found[1].any()  # where turns are forgotten, the formula


def test_persmem_is_similarity_match_and_retention(memories: Memories) -> None:
    found = methods.persmem(memories, memories.all(), "static")
    affect, state = memories.affect[3], memories.state[0]
    match = 1 - np.sqrt(((affect - state) ** 2).sum()) / np.sqrt(6)
    kept = np.exp(-2 * (1 - 0.5 * affect[1]) / 1.0)
    cosine = max(memories.cosine["static"][0, 3], 0)
    assert found[0, 3] == pytest.approx(cosine + 0.6 * match + 0.3 * kept)


def test_an_answer_is_found_beside_what_sounds_like_the_question(memories: Memories) -> None:
    used = memories.all()
    words = methods.bm25(memories, used, methods.Bm25(stems=True, k_1=0.6, b=0.2))
    parameters = HybridParameters(dense=0.0, before=0.6, after=0.0, reach=1)
    found = methods.hybrid(memories, used, "static", words, parameters)
    assert (
        found[0, 3]
        > methods.hybrid(memories, used, "static", words, replace(parameters, before=0.0))[0, 3]
    )
    assert not methods.hybrid(memories, ~used, "static", words * 0, parameters).any()


@pytest.mark.parametrize("stems", [False, True])
def test_forgotten_turns_are_never_found(memories: Memories, *, stems: bool) -> None:
    used = memories.all()
    used[3] = False
    scores = (
        methods.bm25(memories, used, methods.Bm25(stems=stems, k_1=1.0, b=0.5)),
        methods.semantic(memories, used, "static"),
        methods.generative_agents(memories, used, "static"),
        methods.persmem(memories, used, "static"),
    )
    for found in scores:
        assert 3 not in methods.best(memories, used, found)


def test_recall_is_the_share_of_evidence_among_the_best(one: Conversation) -> None:
    top = np.array([[3, 0, 0], [0, 1, 2], [7, 0, 1], [-1, -1, -1]])
    found = recall_at(one.questions[:4], top, ks=(1, 3))
    assert found.tolist() == [[1.0, 1.0], [0.0, 0.0], [0.5, 1.0], [0.0, 0.0]]


# Choosing.


def test_grids_choose_by_the_conversations_they_may_see(memories: Memories) -> None:
    settings = (-1.0, 1.0)

    def by_place(given: Memories, sign: float) -> Any:
        turned = -sign if given is memories else sign
        places = np.arange(8.0)
        return np.broadcast_to(turned * np.where(places == 3, 9, places), (4, 8))

    grid = tuning.Grid(settings, by_place, (memories, replace(memories)))
    choices = [grid.choose([0]), grid.choose([1])]
    assert choices[0] != choices[1]
    assert grid.means([0]).tolist() == grid.means([1]).tolist()[::-1]


def test_of_equal_settings_the_first_is_chosen(memories: Memories) -> None:
    grid = tuning.Grid((3, 1, 2), lambda _, __: np.zeros((4, 8)), (memories,))
    assert grid.choose([0]) == 3


def test_what_ships_stands_in_the_grids() -> None:
    assert HybridParameters() == methods.HYBRID
    assert HybridParameters() in tuning.HYBRID_GRID
    assert methods.LEXICON in tuning.BM25_GRID
    assert (methods.LEXICON.k_1, methods.LEXICON.b) == (
        LexicalParameters().k_1,
        LexicalParameters().b,
    )
    assert methods.TEXTBOOK in tuning.BM25_GRID
    assert methods.PUBLISHED in tuning.WEIGHTS_GRID


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (("conv-26", "conv-30", "conv-41", "conv-42"), (0, 1)),
        (("conv-41", "conv-30"), (1,)),
        (("a", "b", "c"), (0, 1)),
        (("a", "b"), (0,)),
        (("conv-26", "conv-30"), (0,)),
    ],
)
def test_the_split_is_fixed_by_name_and_always_leaves_a_test(
    ids: tuple[str, ...], expected: tuple[int, ...]
) -> None:
    found = study.split_of(ids)
    assert found.tuning == expected
    assert found.test
    assert sorted((*found.tuning, *found.test)) == list(range(len(ids)))


def test_a_difference_over_conversations_keeps_their_questions_together(
    memories: Memories,
) -> None:
    chosen = tuning.Chosen(
        bm25=methods.TEXTBOOK, weights=methods.PUBLISHED, hybrid=HybridParameters()
    )
    compared = comparing.Compared((memories, memories), {"static": chosen})
    keys = [
        comparing.Key(encoder="static", method=name, store=comparing.ALL)
        for name in (comparing.OURS, comparing.AGENTS)
    ]
    found, questions = compared.difference(keys[0], keys[1], (0, 1))
    assert found.low == found.high == found.value  # both conversations are one
    assert questions.low <= questions.value <= questions.high
    assert compared.clusters((0, 1)).tolist() == [0] * 4 + [1] * 4
    assert compared.categories((1,)).tolist() == [4, 2, 1, 5]


# Answers.


def test_f1_is_over_stems_without_articles_case_and_punctuation() -> None:
    assert tokens("The Seals, and a rock's edge!") == ["seal", "rock", "edg"]
    assert f1("two sleeping seals", "Seals") == 0.5
    assert f1("nothing", "seals") == 0.0
    assert f1("", "seals") == 0.0
    assert f1("seal seal", "seal") == pytest.approx(2 / 3)
    assert parts("harbour, Ghent", "lighthouse, harbour") == 0.5


def question(category: int, answer: str) -> Question:
    return Question(text="?", category=category, answer=answer, evidence=(0,))


@pytest.mark.parametrize(
    ("category", "answer", "said", "expected"),
    [
        (1, "lighthouse, harbour", "lighthouse", 0.5),
        (4, "lighthouse, harbour", "lighthouse", 2 / 3),
        (3, "Yes; she played", "yes", 1.0),
        (2, "8 May 2023", "8 May, 2023", 1.0),
        (5, "a teacher", "That is not mentioned.", 1.0),
        (5, "a teacher", "No information available", 1.0),
        (5, "a teacher", "a teacher", 0.0),
    ],
)
def test_each_category_is_scored_as_locomo_does(
    category: int, answer: str, said: str, expected: float
) -> None:
    assert score(question(category, answer), said) == pytest.approx(expected)


@pytest.fixture
def asked(one: Conversation) -> list[Asked]:
    places = [[3, 1, -1], [4], [], [6, 7]]
    return asked_of(one, one.questions[:4], places, "method", seed=0)


def test_a_question_is_put_with_what_was_found_in_order_and_dated(asked: list[Asked]) -> None:
    ((_, text),) = asked[0].request.messages
    lines = text.splitlines()
    assert lines[:3] == ["Some of what Ann and Ben said to each other:", "", "8 May 2023"]
    assert lines[3].startswith("Ben: Great.")
    assert lines[4].startswith("Ben: Two grey seals")
    assert "Question: Which animals did Ben see?" in lines
    assert asked[0].request.id == "one|0|method"
    assert "approximate date" in asked[1].request.messages[0][1]
    assert "Choose (a) or (b): (a) " in asked[3].request.messages[0][1]


def test_the_right_answer_is_never_put_to_the_model(asked: list[Asked]) -> None:
    assert "lighthouse, harbour" not in asked[2].request.messages[0][1]


def test_a_letter_stands_for_its_choice(asked: list[Asked]) -> None:
    doubtful = replace(asked[3], first=True)
    assert doubtful.choices == ("a teacher", NOT_MENTIONED)
    assert [doubtful.read(said) for said in ("(a) a teacher", "b", "(B)", "A.")] == [
        "a teacher",
        NOT_MENTIONED,
        NOT_MENTIONED,
        "a teacher",
    ]
    assert replace(doubtful, first=False).read("a bird of prey") == "a bird of prey"
    assert replace(doubtful, first=False).read("a") == NOT_MENTIONED
    assert doubtful.read("because") == "because"
    assert asked[0].read("a") == "a"
    assert asked[0].read("(a) or (b)") == "(a) or (b)"


@pytest.mark.parametrize(
    "said",
    ["(a) or (b)", "(A)/(B)", "a or b", "a, b", "A and B.", "Either (a) or (b).", "b/a",
     "(a) a teacher (b) Not mentioned in the conversation", "(b), not (a)", "It is a or b."],
)  # fmt: skip
def test_two_letters_are_no_choice(asked: list[Asked], said: str) -> None:
    doubtful = replace(asked[3], first=True)
    assert doubtful.read(said) == NO_CHOICE
    assert score(doubtful.question, NO_CHOICE) == 0.0


@pytest.mark.parametrize(
    ("said", "place"),
    [("b, a teacher", 1), ("(b) a", 1), ("(a) Plan B", 0), ("a. A or so", 0), ("(b), (b)", 1)],
)
def test_one_letter_is_a_choice_whatever_else_is_said(
    asked: list[Asked], said: str, place: int
) -> None:
    doubtful = replace(asked[3], first=True)
    assert doubtful.read(said) == doubtful.choices[place]


def test_the_rule_answers_with_the_nearest_sentence_a_date_or_not_at_all(
    asked: list[Asked],
) -> None:
    rule = Answerer(asked)
    assert rule(asked[0].request) == "Great."  # it shares "Ben", as the other two do
    assert rule(asked[1].request) == "25 May 2023"
    assert rule(asked[2].request) == NOT_MENTIONED
    assert rule(asked[3].request) == NOT_MENTIONED  # no word of "a teacher" is among the turns
    believed = replace(asked[3], question=replace(asked[3].question, answer="children"))
    assert Answerer([believed])(believed.request) == "children"


def test_a_turn_without_a_sentence_is_its_own(one: Conversation) -> None:
    bare = replace(one.turns[0], text="")
    assert nearest("anything", [bare]) == (bare, "")


class Quiet:
    """Says nothing, as a model whose answers cannot be used."""

    name = "quiet"

    def say(self, requests: list[Request]) -> list[str]:
        return [""] * len(requests)


def test_no_answer_is_worth_nothing(memories: Memories) -> None:
    put = answers.questions_of([memories], "static")
    found = answers.answer([memories], put, Quiet())  # type: ignore[arg-type]
    assert all(not values.any() for values in found.f1.values())
    assert found.recall[ORACLE].tolist() == [1.0] * 4
    assert list(put) == [comparing.AGENTS, comparing.PERSMEM, comparing.OURS, ORACLE]


# The whole.


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / f"{name}.csv").read_text("utf-8"))))


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in sorted(folder.iterdir())}


def test_nothing_is_done_without_data_or_with_too_little(tmp_path: Path) -> None:
    single = write(tmp_path / "x.json", told())
    silent = write(tmp_path / "y.json", told("a"), told("b", qa=[ASKED[4]]))
    for make, name in ((run, "locomo"), (answers.run, "locomo-answers")):
        with pytest.raises(UsageError, match=f"the study {name} needs conversations.*--data"):
            make(tmp_path / "out", quick=True, data=None)
        with pytest.raises(UsageError, match="holds one conversation"):
            make(tmp_path / "out", quick=True, data=single)
        with pytest.raises(UsageError, match='no question of "b" has evidence'):
            make(tmp_path / "out", quick=True, data=silent)
    assert not (tmp_path / "out").exists()


def test_a_small_file_is_studied_twice_alike(two: Path, tmp_path: Path) -> None:
    said = [run(tmp_path / name, quick=True, data=two) for name in ("a", "b")]
    assert said[0].replace("/a", "/b") == said[1]
    assert files(tmp_path / "a") == files(tmp_path / "b")
    found = rows(tmp_path / "a", "questions")
    assert len(found) == 2 * 4 * len(comparing.MAIN)
    assert not (tmp_path / "a" / "leave_one_out.csv").exists()
    # one conversation is left for the test: drawn again, it is always the same
    assert "(one group: no interval)" in said[0]
    assert {row["@5 low"] for row in rows(tmp_path / "a", "recall")} == {"nan"}
    assert "undefined | undefined |" in (tmp_path / "a" / "report.md").read_text("utf-8")


def test_leave_one_out_stands_beside_with_three_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "HYBRID_GRID", tuning.HYBRID_GRID[::30])
    monkeypatch.setattr(study, "DRAWS", 50)
    data = write(tmp_path / "x.json", *(told(name) for name in "abc"))
    found = study.findings(data, quick=False)
    table = next(table for table in found.tables if table.name == "leave_one_out")
    assert [row[0] for row in table.rows] == ["a", "b", "c", "mean"]
    assert {"static", "ngram"} <= {encoder.name for encoder in found.encoders}
    assert found.configuration["tuning"] == ["a", "b"]
    assert any("settings chosen on all others" in verdict.claim for verdict in found.verdicts)


def test_answers_of_a_small_file_come_twice_alike(two: Path, tmp_path: Path) -> None:
    said = [answers.run(tmp_path / name, quick=True, data=two) for name in ("a", "b")]
    assert said[0].replace("/a", "/b") == said[1]
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert len(rows(tmp_path / "a", "questions")) == 4 * 4
    assert "No language model spoke" in (tmp_path / "a" / "report.md").read_text("utf-8")


def test_a_language_model_is_asked_a_sample_only() -> None:
    assert answers._most(Models(), quick=False) is None
    asked = Models.parse(model="openai:any", base_url="http://127.0.0.1:1/v1")
    assert answers._most(asked, quick=False) == answers.HERE_SAMPLE
    far = Models.parse(model="openai:any")
    assert answers._most(far, quick=False) == answers.SAMPLE
    assert answers._most(asked, quick=True) == answers.QUICK_SAMPLE


def test_a_replay_is_about_the_questions_of_the_earlier_study(two: Path, tmp_path: Path) -> None:
    answers.run(tmp_path / "a", quick=True, data=two)
    again = Models(replay=tmp_path / "a" / "calls.jsonl", ask=False)
    answers.run(tmp_path / "b", quick=False, data=two, models=again)
    assert rows(tmp_path / "a", "questions") == rows(tmp_path / "b", "questions")
    other = write(tmp_path / "x.json", told("three"), told("four"))
    with pytest.raises(UsageError, match='holds no answer about "four"'):
        answers.run(tmp_path / "c", quick=False, data=other, models=again)


@pytest.mark.local_model
def test_a_real_model_is_heard(tmp_path: Path) -> None:
    data = write(tmp_path / "x.json", *(told(name, qa=[ASKED[0]]) for name in ("one", "two")))
    with local_server() as url:
        models = Models.parse(model="openai:smollm2", base_url=f"{url}/v1")
        answers.run(tmp_path / "a", quick=True, data=data, models=models)
    assert all(row["answer"] for row in rows(tmp_path / "a", "questions"))
    assert "openai:smollm2" in (tmp_path / "a" / "report.md").read_text("utf-8")


@needs_data
def test_the_shared_conversations_are_read_whole() -> None:
    found = read_conversations(DATA)
    assert [len(each.turns) for each in found] == [419, 369, 663, 629, 680]
    kinds = Counter(q.category for each in found for q in each.questions)
    assert kinds == {1: 142, 2: 156, 3: 46, 4: 418, 5: 237}
    assert [len(each.unknown) for each in found] == [0, 0, 0, 2, 0]


@needs_data
def test_the_short_form_runs_on_the_shared_conversations(tmp_path: Path) -> None:
    said = run(tmp_path / "out", quick=True, data=DATA)
    assert "recall@5 of PersMem above Generative Agents" in said
    names = {row["conversation"]: row["part"] for row in rows(tmp_path / "out", "conversations")}
    assert names == {"conv-26": "tuning", "conv-30": "test"}
    found = {
        row["method"]: float(row["recall@5"])
        for row in rows(tmp_path / "out", "recall")
        if row["memories"] == comparing.ALL
    }
    assert found[comparing.OURS] > found[comparing.SEMANTIC]
