"""How a text is read for extraction: words, clauses, lists, names, nearness and judgements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.encoders import EncoderSpec, load
from simulation.extractors import near, polarity
from simulation.extractors.clauses import (
    CLAUSE_WORDS,
    MAX_CHARACTERS,
    head,
    lowered,
    read,
    stem,
)
from simulation.extractors.lists import Lists, read_words, with_names
from simulation.extractors.objects import Names, owner


def clauses(text: str) -> list[str]:
    reading = read(head(text), polarity.emoji())
    steps = sorted(set(reading.clause))
    return [" ".join(reading.words[reading.span(step, step)]).strip() for step in steps]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It is good, really good.", ["it is good", "really good"]),
        ("It is good but dear", ["it is good", "but dear"]),
        ("It is good and dear", ["it is good", "and dear"]),
        ("good,bad", ["good", "bad"]),
        ("It was fine.But late", ["it was fine", "but late"]),
        ("fine -- late", ["fine", "late"]),
        ("fine (late) here", ["fine", "late", "here"]),
        ('He said "no!" twice', ["he said no", "twice"]),
        ("well-made and/or cheap", ["well made", "and or cheap"]),
        ("It\u2019s fine", ["it's fine"]),
        ("", []),
    ],
)
def test_a_text_is_parted_into_clauses(text: str, parts: list[str]) -> None:
    assert [part for part in clauses(text) if part] == parts


def test_but_parts_more_than_and() -> None:
    one, other = read("good and bad"), read("good but bad")
    assert one.clause[-1] - one.clause[0] < other.clause[-1] - other.clause[0]


def test_a_clause_without_an_end_is_cut() -> None:
    reading = read("word " * (3 * CLAUSE_WORDS))
    assert max(reading.clause.count(step) for step in set(reading.clause)) == CLAUSE_WORDS


def test_marks_are_kept_with_their_clause() -> None:
    reading = read("Really? Yes!! Fine.")
    assert reading.marks == {0: "?", 2: "!!"}


def test_only_the_head_of_a_text_is_read_and_it_is_valid_unicode() -> None:
    assert len(head("x" * (2 * MAX_CHARACTERS))) == MAX_CHARACTERS
    assert head("a\x00b\ud800c\nd") == "ab\ufffdc d"


@given(st.text(max_size=100))
def test_reading_keeps_its_arrays_of_one_length_and_finds_its_words(text: str) -> None:
    reading = read(head(text))
    lengths = {
        len(each)
        for each in (reading.raw, reading.words, reading.stems, reading.clause, reading.starts)
    }
    assert len(lengths) == 1
    assert list(reading.clause) == sorted(reading.clause)
    assert all(reading.word_at(start) == i for i, start in enumerate(reading.starts))


@given(st.text(max_size=100))
def test_lower_case_never_changes_the_length(text: str) -> None:
    assert len(lowered(text)) == len(text)


@pytest.mark.parametrize(
    "forms",
    [
        ("taste", "tastes", "tasted", "tasting"),
        ("waiter", "waiters", "waiter's"),
        ("delivery", "deliveries"),
        ("dish", "dishes"),
        ("box", "boxes"),
        ("stop", "stops", "stopped", "stopping"),
        ("call", "calls", "called", "calling"),
        ("menu", "menus"),
    ],
)
def test_the_forms_of_a_word_meet(forms: tuple[str, ...]) -> None:
    assert len(set(map(stem, forms))) == 1


@pytest.mark.parametrize(
    "pair", [("evening", "even"), ("bus", "bu"), ("this", "thi"), ("sting", "st"), ("red", "r")]
)
def test_what_only_looks_inflected_does_not_meet(pair: tuple[str, str]) -> None:
    assert stem(pair[0]) != stem(pair[1])


def test_the_longest_phrase_goes_first_and_no_word_counts_twice() -> None:
    lists = Lists({"food": ["wine", "list"], "menu": ["wine list"], "drink": ["wine"]})
    assert lists.find(read("the wine lists and wine").stems) == [
        (1, "menu"),
        (4, "food"),
        (4, "drink"),
    ]


def test_a_phrase_is_found_only_as_a_whole() -> None:
    lists = Lists({"fit": ["for me", "--"]})
    assert lists.find(read("it is for you and me").stems) == []
    assert lists.find(read("not for me").stems) == [(1, "fit")]


def test_aspects_without_words_are_looked_for_by_name() -> None:
    assert with_names({"taste": ["tasty"], "fit": []}, ["taste", "fit", "after_sales"]) == {
        "taste": ("tasty",),
        "fit": ("fit",),
        "after_sales": ("after sales",),
    }


def test_the_shipped_lists_name_the_aspects_of_a_restaurant() -> None:
    words = read_words()
    assert list(words) == [
        *("food", "staff", "service", "price", "ambience", "menu", "place", "miscellaneous"),
    ]
    assert all(words.values())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Bolt and BOLTS, bolt's", ["Bolt", "Bolt", "Bolt"]),
        ("Bolted, unbolt, bolt2", []),
        ("Bolt Max beats Bolt", ["Bolt Max", "Bolt"]),
        ("the bolt-max one", ["Bolt Max"]),
        ("@bolt #Bolt", ["Bolt", "Bolt"]),
        ("nothing", []),
    ],
)
def test_names_are_found_between_the_edges_of_words(text: str, found: list[str]) -> None:
    names = Names(["Bolt", "Bolt Max"])
    assert [name for _, name in names.find(read(text))] == found


@pytest.mark.parametrize(
    ("text", "word", "name"),
    [
        ("Bolt is here. It tastes fine. Nut too", 4, "Bolt"),
        ("As to taste, Nut wins", 2, "Nut"),
        ("Bolt is fine, but the taste of Nut is not", 5, "Nut"),
        ("Bolt has taste and Nut has not", 2, "Bolt"),
        ("taste", 0, None),
    ],
)
def test_a_word_speaks_of_the_object_named_before_it_or_in_its_clause(
    text: str, word: int, name: str | None
) -> None:
    reading = read(text)
    assert owner(reading, word, Names(["Bolt", "Nut"]).find(reading)) == name


def test_a_word_counts_less_the_farther_it_stands() -> None:
    reading = read("taste is good and price is fine, but the box is bad")
    share = polarity.nearness(reading, [0])
    assert share[0] == 1.0
    assert share == sorted(share, reverse=True)
    both = polarity.nearness(reading, [0, 4])
    assert both == list(map(max, share, polarity.nearness(reading, [4])))
    assert polarity.nearness(reading, []) == [0.0] * len(reading.words)
    far = read("taste " + "word " * 200)
    assert polarity.nearness(far, [0])[100:] == [0.0] * 101


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("good", "+"),
        ("not good", "-"),
        ("no good", "-"),
        ("very bland", "-"),
        ("the price was fair and the box flimsy", "+-"),
        ("GREAT food", "+"),
        ("kind of good", "+"),
        ("\U0001f60d", "++"),
        ("the table", ""),
    ],
)
def test_words_judge_by_the_sentiment_rules_and_our_words(text: str, signs: str) -> None:
    said = polarity.judgements(read(text, polarity.emoji()))
    assert "".join("+" if value > 0 else "-" for _, value in said) == signs


def test_exclamation_marks_make_a_clause_louder() -> None:
    (plain,) = polarity.judgements(read("good"))
    (loud,) = polarity.judgements(read("good!!"))
    (loudest,) = polarity.judgements(read("good!!!!!!"))
    assert loud[1] == pytest.approx(plain[1] + 2 * polarity.MARK)
    assert loudest[1] == pytest.approx(plain[1] + polarity.MARKS * polarity.MARK)
    ((_, bad),) = polarity.judgements(read("bad!"))
    assert bad < polarity.judgements(read("bad"))[0][1]


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_shares_follow_what_is_said_for_and_against(good: float, bad: float) -> None:
    up, down, rest = polarity.shares(good, bad)
    assert up + down + rest == pytest.approx(1.0, abs=1e-12)
    assert min(up, down, rest) >= 0.0
    assert (up >= down) if good >= bad else (down >= up)


def test_words_are_near_an_aspect_or_none_and_forgotten_ones_are_learnt_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = near.NearWords(load(EncoderSpec(name="static")), ["food", "staff"])
    text = ("the", "meal", "employees", "zzzz", "is")
    expected = [(1, "food"), (2, "staff")]
    assert words.find(text) == expected
    monkeypatch.setattr(near, "KNOWN", 1)
    assert words.find(text) == expected
    assert words.find(("is",)) == []
