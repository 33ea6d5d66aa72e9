"""Extraction by rule: what is found about which thing, how it leans, and hostile texts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation import ontology
from simulation.encoders import EncoderSpec, load
from simulation.extractors import LexiconExtractor, Topic
from simulation.extractors.lexicon import MAX_SUMMARY, PLANS
from simulation.extractors.lists import read_words
from simulation.extractors.weights import read_weights

if TYPE_CHECKING:
    from simulation.extractors import Evidence

WORDS = {
    "taste": ("taste", "tasty", "flavour"),
    "price": ("price", "cheap", "overpriced", "expensive"),
    "packaging": ("wrapper", "packaging"),
    "unused": ("unused",),
}
BOLT = Topic(object_type="brand", object="Bolt", aspects=("value", "taste", "price", "packaging"))
NUT = Topic(object_type="brand", object="Nut", aspects=("taste", "price"))
EXTRACTOR = LexiconExtractor(WORDS)
FIELD = ("food", "staff", "service", "price", "ambience", "menu", "place", "miscellaneous")
PLACE = Topic(object_type="place", object="Mario's", aspects=(*FIELD, "parking"))

hostile = st.one_of(
    st.text(max_size=200),
    st.lists(
        st.sampled_from(
            [
                *("Bolt", "nut", "taste", "TASTY", "overpriced", "great", "awful", "not", "but"),
                *(
                    "love",
                    "!",
                    "?",
                    ".",
                    ",",
                    "(",
                    ")",
                    "and",
                    "maybe",
                    "kind of",
                    "no",
                    "the shit",
                ),
                *("\ud83d", "\ude0d", "\U0001f60d", "\u202e", "\u0627\u0644", "\x00", "\u0130"),
                *("'; DROP TABLE units; --", "(.*)+$", "least", "never so", "at least"),
            ]
        ),
        max_size=40,
    ).map(" ".join),
)


def found(text: str, *topics: Topic) -> dict[tuple[str, str], Evidence]:
    pieces = EXTRACTOR.evidence(text, topics or (BOLT, NUT))
    by_place = {(piece.object, piece.aspect): piece for piece in pieces}
    assert len(by_place) == len(pieces)
    return by_place


def lean(text: str, *topics: Topic) -> float:
    (piece,) = found(text, *topics).values()
    return piece.polarity[0] - piece.polarity[1]


def test_a_text_says_different_things_about_two_objects() -> None:
    pieces = found("Bolt tastes great, but Nut is overpriced!")
    assert list(pieces) == [("Bolt", "taste"), ("Nut", "price")]
    good, bad = pieces.values()
    assert good.polarity[0] > 0.6 > good.polarity[2] > good.polarity[1]
    assert bad.polarity[1] > 0.6 > bad.polarity[2] > bad.polarity[0]
    assert (good.object_type, good.summary) == ("brand", "Bolt tastes great")


def test_one_object_may_be_praised_for_one_side_and_blamed_for_another() -> None:
    pieces = found("The flavour of Bolt is lovely, though the wrapper is horrible.")
    taste, packaging = pieces["Bolt", "taste"], pieces["Bolt", "packaging"]
    assert taste.polarity[0] > taste.polarity[1]
    assert packaging.polarity[1] > packaging.polarity[0]


def test_a_text_that_names_only_the_object_is_about_its_first_aspect() -> None:
    (piece,) = found("I bought a Bolt. Wow, it is the best thing ever").values()
    assert (piece.aspect, piece.summary) == ("value", "I bought a Bolt")
    assert piece.polarity[0] > 0.7


def test_with_one_object_its_aspects_are_found_without_its_name() -> None:
    assert list(found("so tasty", BOLT)) == [("Bolt", "taste")]
    assert found("so tasty") == {}


def test_without_a_name_and_without_a_word_of_an_aspect_nothing_is_found() -> None:
    assert found("What a great morning.", BOLT) == {}
    assert found("Bolt is great", Topic(object_type="brand", object="Bolt", aspects=())) == {}
    assert EXTRACTOR.evidence("Bolt is great", ()) == ()


def test_an_aspect_without_a_list_is_looked_for_by_its_name() -> None:
    topic = Topic(object_type="brand", object="Bolt", aspects=("after_sales",))
    assert list(found("their after sales are slow", topic)) == [("Bolt", "after_sales")]


def test_an_aspect_of_another_object_is_not_ascribed_to_this_one() -> None:
    pieces = found("Nut has a nice wrapper")
    assert list(pieces) == [("Nut", "taste")]  # the name alone; packaging is no side of Nut


def test_two_topics_of_one_object_both_hear_of_it() -> None:
    claim = Topic(object_type="claim", object="Bolt", aspects=("truth", "price"))
    pieces = EXTRACTOR.evidence("Bolt is overpriced", (BOLT, claim))
    assert [(p.object_type, p.aspect) for p in pieces] == [("brand", "price"), ("claim", "price")]
    pieces = EXTRACTOR.evidence("Bolt is awful", (BOLT, claim))
    assert [(p.object_type, p.aspect) for p in pieces] == [("brand", "value"), ("claim", "truth")]


def test_an_aspect_named_twice_is_one_piece() -> None:
    topic = Topic(object_type="brand", object="Bolt", aspects=("taste", "taste"))
    assert len(EXTRACTOR.evidence("tasty, what a taste", (topic,))) == 1


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [
        ("Bolt is on sale", "Bolt is good"),
        ("Bolt is good", "Bolt is good!!!"),
        ("Bolt is good", "Bolt is absolutely excellent"),
        ("Maybe Bolt is good", "Bolt is good"),
        ("Is Bolt good?", "Bolt is good"),
    ],
)
def test_what_is_said_more_clearly_is_stronger(weaker: str, stronger: str) -> None:
    (one,), (other,) = found(weaker).values(), found(stronger).values()
    assert one.strength < other.strength


def test_a_negation_turns_a_judgement_in_its_own_clause_only() -> None:
    assert lean("Bolt is not good", BOLT) < 0 < lean("Bolt is good", BOLT)
    assert lean("They sold Bolt, not Nut; great", BOLT) > 0


def test_what_is_only_named_is_neutral_and_weak() -> None:
    (piece,) = found("The Bolt stands on the shelf").values()
    assert (piece.polarity, piece.strength) == ((0.0, 0.0, 1.0), 0.2)


def test_emoji_judge() -> None:
    assert lean("Bolt \U0001f60d", BOLT) > 0.5


@pytest.mark.parametrize(
    "name",
    [
        "'; DROP TABLE units; --",
        "(.*)+$",
        "[a-z",
        "C++",
        "%s {0} \\1",
        "\u0627\u0644\u0642\u0647\u0648\u0629",
        "Stra\u00dfe",
        "\u0130stanbul",
        "\U0001f36b",
        "Do-it-yourself",
        "a/b",
    ],
)
def test_an_object_of_any_name_is_found_literally(name: str) -> None:
    topic = Topic(object_type="brand", object=name, aspects=("value",))
    other = Topic(object_type="brand", object="Else", aspects=("value",))
    pieces = EXTRACTOR.evidence(f"I love {name} a lot.", (topic, other))
    assert [piece.object for piece in pieces] == [name]
    assert EXTRACTOR.evidence("I love ab, a and C a lot.", (topic, other)) == ()


@pytest.mark.parametrize("name", ["", "   ", "\ud800", "x" * 5000])
def test_a_name_that_cannot_stand_in_a_text_does_no_harm(name: str) -> None:
    topic = Topic(object_type="brand", object=name, aspects=("taste",))
    assert len(EXTRACTOR.evidence("tasty", (topic,))) == 1
    assert EXTRACTOR.evidence("great", (topic, NUT)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "\U0001f60d" * 50,
        "\u202e\u0642\u0647\u0648\u0629 \u0631\u0627\u0626\u0639\u0629",
        "\ud800 Bolt \udfff",
        "Bolt \x00\x07 taste",
        "?" * 500,
        "great " * 200_000,
        "Bolt " * 200_000,
        "not " * 250_000,
        "(" * 1_000_000,
        "a-" * 500_000,
        "Bolt" + "\u0301" * 100_000,
    ],
)
def test_no_text_is_refused_and_none_takes_long(text: str) -> None:
    start = time.process_time()
    pieces = EXTRACTOR.evidence(text, (BOLT, NUT))
    assert time.process_time() - start < 1.0  # some milliseconds; a square of it would take hours
    for piece in pieces:
        piece.summary.encode()
        assert len(piece.summary) <= MAX_SUMMARY


@given(
    hostile, st.sampled_from([EXTRACTOR, LexiconExtractor(read_words(), weights=read_weights())])
)
def test_shares_are_a_distribution_in_thousandths_and_strength_is_above_0(
    text: str, extractor: LexiconExtractor
) -> None:
    for piece in extractor.evidence(text, (BOLT, NUT, PLACE)):
        assert min(piece.polarity) >= 0.0
        assert sum(piece.polarity) == pytest.approx(1.0, abs=1e-12)
        assert 0.0 < piece.strength <= 1.0
        for number in (*piece.polarity, piece.strength):
            assert number == round(number * 1000) / 1000
        piece.summary.encode()


@given(st.lists(hostile, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_texts_does_not_matter(texts: list[str], chance: object) -> None:
    order = list(range(len(texts)))
    chance.shuffle(order)  # type: ignore[attr-defined]  # hypothesis' own Random
    near = LexiconExtractor({}, encoder=ENCODER)
    straight = near.extract(texts, (BOLT, NUT), tick=0, ids=[None] * len(texts))
    mixed = near.extract([texts[i] for i in order], (BOLT, NUT), tick=9, ids=["p"] * len(texts))
    assert [straight.evidence[i] for i in order] == list(mixed.evidence)
    assert (straight.error, straight.rejections) == ({}, ())


ENCODER = load(EncoderSpec(name="static"))


def test_with_an_encoder_words_near_the_name_of_an_aspect_speak_of_it() -> None:
    topic = Topic(object_type="place", object="Mario's", aspects=("food", "staff"))
    text = "The meal was awful but the employees were lovely."
    near = LexiconExtractor({}, encoder=ENCODER).evidence(text, (topic,))
    assert [(piece.aspect, piece.polarity[0] > piece.polarity[1]) for piece in near] == [
        ("food", False),
        ("staff", True),
    ]
    assert LexiconExtractor({}).evidence(text, (topic,)) == ()
    (named,) = LexiconExtractor({}, encoder=ENCODER).evidence("good food", (topic,))
    assert named.aspect == "food"  # by its name and by nearness, and once
    listed = LexiconExtractor({"food": ["soup"], "staff": ["cook"]}, encoder=ENCODER)
    assert listed.evidence(text, (topic,)) == ()  # a list is the last word


def test_fitted_weights_tell_how_a_text_of_their_field_leans() -> None:
    words = read_words() | {"parking": ("parking",)}
    weighted = LexiconExtractor(words, weights=read_weights())
    text = "We waited an hour until the waitress came, but the dishes tasted wonderful."
    pieces = {piece.aspect: piece for piece in weighted.evidence(text, (PLACE,))}
    assert {"food", "staff"} <= set(pieces)
    assert pieces["staff"].polarity[1] == max(pieces["staff"].polarity)
    assert pieces["food"].polarity[0] == max(pieces["food"].polarity)
    (parking,) = weighted.evidence("great parking", (PLACE,))[-1:]
    assert parking.aspect == "parking"  # what the weights do not know is found by its list


def test_a_text_may_speak_of_an_aspect_in_no_single_word() -> None:
    weighted = LexiconExtractor({}, weights=read_weights())
    other = Topic(object_type="place", object="Luigi's", aspects=FIELD)
    text = "we"
    assert weighted.evidence(text, (PLACE, other)) == ()
    for piece in weighted.evidence(text, (PLACE,)):
        assert piece.summary == "we"


def test_leaning_is_told_of_an_aspect_that_is_given() -> None:
    assert EXTRACTOR.lean("Great, just great", "taste")[0] > 0.5
    assert EXTRACTOR.lean("The flavour is bad but all else is great", "taste")[1] > 0.4
    weighted = LexiconExtractor(read_words(), weights=read_weights())
    assert weighted.lean("The waiter was rude", "staff")[1] > 0.5
    assert weighted.lean("great parking", "parking")[0] > 0.5
    assert EXTRACTOR.lean("", "taste") == (0.0, 0.0, 1.0)


def test_many_sets_of_topics_do_not_pile_up() -> None:
    extractor = LexiconExtractor(WORDS)
    for i in range(PLANS + 10):
        topic = Topic(object_type="brand", object=f"Brand{i}", aspects=("taste",))
        (piece,) = extractor.evidence("tasty", (topic,))
        assert piece.object == f"Brand{i}"
    assert len(extractor._plans) <= PLANS


def test_a_hundred_objects_with_ten_aspects_are_told_apart() -> None:
    aspects = tuple(f"side {i}" for i in range(9))
    topics = [
        Topic(object_type="brand", object=f"Brand {i}", aspects=("taste", *aspects))
        for i in range(100)
    ]
    pieces = EXTRACTOR.evidence("Brand 7 is tasty, Brand 77 has a bad taste.", topics)
    assert [(piece.object, piece.aspect) for piece in pieces] == [
        ("Brand 7", "taste"),
        ("Brand 77", "taste"),
    ]
    assert pieces[0].polarity[0] > pieces[0].polarity[1]
    assert pieces[1].polarity[0] < pieces[1].polarity[1]


def test_the_example_of_the_page_is_what_comes_out() -> None:
    page = (Path(__file__).resolve().parents[1] / "docs" / "extraction.md").read_text("utf-8")
    _, code, result = page.split("```python\n", 1)[1].partition("\n```\n\n```\n")
    pieces = LexiconExtractor(ontology.load("consumer_products").aspects).evidence(
        "Bolt tastes great, but Nut is overpriced!!",
        (
            Topic(object_type="brand", object="Bolt", aspects=("value", "taste", "price")),
            Topic(object_type="brand", object="Nut", aspects=("value", "price")),
        ),
    )
    assert code
    assert result.partition("\n```")[0].splitlines() == [
        f"{piece.object} {piece.aspect} {piece.polarity} {piece.strength}" for piece in pieces
    ]


def test_fitted_weights_find_no_aspect_that_is_not_asked_for() -> None:
    weighted = LexiconExtractor(read_words(), weights=read_weights())
    only = Topic(object_type="place", object="Mario's", aspects=("food",))
    text = "The waiter was rude and the soup was cold."
    assert [piece.aspect for piece in weighted.evidence(text, (only,))] == ["food"]
