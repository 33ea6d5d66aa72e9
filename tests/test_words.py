"""Words: natural, varied, complete, and never a reading of what a user wrote."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rule_requests import (
    BRAND,
    CLAIMS,
    Town,
    allow,
    codes,
    make_cast,
    make_feed,
    make_reflections,
    make_requests,
    subset,
)

from simulation.models.base import ACTIONS, SPEAKING, Reactions, TurnRequests
from simulation.models.rule import RuleModel, RuleParameters, consolidate
from simulation.models.words import (
    CLAIM_LENGTH,
    MEMORY_WORDS,
    memory_phrases,
    memory_texts,
    phrases,
    plain,
    quoted,
    shorten,
    speeches,
)
from simulation.models.words.text import bands
from simulation.rng import Streams

RULE = RuleModel(parameters=RuleParameters(), streams=Streams(11))
FIRST_PERSON = re.compile(r"\b(I|I'm|I'd|I've|I'll|me|my)\b", re.IGNORECASE)
NASTY = (
    "{} {0} {a!r} %s %(x)d $x",
    "\n\t many \r\n lines \u2028 ",
    "“Quoted” and \"double\" and 'single'",
    "🙂🙂🙂",
    "…",
    ".",
    "\x00\x1b[31m",
    "العربية 中文 ß",
    "w" * 5000,
    "word " * 2000,
)


@pytest.fixture(scope="module")
def town_run() -> tuple[list[str], list[str]]:
    """Return the words and the memory texts of 150 personas over 30 ticks."""
    said: list[str] = []
    remembered: list[str] = []
    for tick in range(1, 31):
        requests = Town.build(150, seed=tick, tick=tick).requests
        reactions = RULE.react(requests)
        said += [text for text in reactions.words if text]
        remembered += memory_texts(requests, reactions)
    return said, remembered


def complete(text: str) -> bool:
    """Return whether a text is whole: no gaps, no leftovers of a template, a start and an end."""
    whole = text[0].isupper() and text[-1] in '.?!…"'
    gaps = "  " in text or " ," in text or " ." in text or ".." in text or text != text.strip()
    leftovers = any(sign in text for sign in "{}%<>_") or "None" in text or '""' in text
    return whole and not gaps and not leftovers


def test_words_are_whole_and_in_the_first_person(town_run: tuple[list[str], list[str]]) -> None:
    for text in (*town_run[0], *town_run[1]):
        assert complete(text), text
        assert FIRST_PERSON.search(text), text


def test_words_and_memories_of_a_run_are_varied(town_run: tuple[list[str], list[str]]) -> None:
    said, remembered = town_run
    assert len(said) > 500
    assert len(set(said)) >= 0.8 * len(said)
    assert len(set(remembered)) >= 0.8 * len(remembered)


def test_memories_of_one_ad_shown_again_and_again_still_vary() -> None:
    texts: list[str] = []
    for tick in range(1, 31):
        ad = make_feed(150, post=np.zeros((150, 1), dtype=np.int64))
        requests = make_requests(
            150, cast=make_cast(150), tick=tick, feed=ad, allowed=allow(150, "ignore")
        )
        texts += memory_texts(requests, RULE.react(requests))
    assert len(set(texts)) >= 0.5 * len(texts)  # one ad, one action, one or two bands


LISTS: tuple[tuple[object, ...], ...] = (
    *phrases.VERDICTS,
    *phrases.TAILS,
    *phrases.ADDRESSES.values(),
    *phrases.ECHOES,
    *phrases.REASONS_TO_ACCEPT,
    *phrases.REASONS_TO_REFUSE,
    phrases.QUESTIONS,
    phrases.COMPLAINTS,
    phrases.GRIEVANCES,
    phrases.ACCEPTANCES,
    phrases.REFUSALS,
    *memory_phrases.DEEDS.values(),
    *memory_phrases.PASSING,
    *memory_phrases.FEELINGS,
    *memory_phrases.CLAIM_MOVES,
    *memory_phrases.DIMENSION_MOVES,
    memory_phrases.IDLE,
    memory_phrases.UNMOVED,
    memory_phrases.LOOKING_BACK,
    memory_phrases.KEEPSAKES,
)


def test_no_form_stands_twice_in_a_list() -> None:
    for forms in LISTS:
        assert len(set(forms)) == len(forms) > 1


def test_there_are_forms_for_every_action_and_band() -> None:
    assert tuple(sorted(memory_phrases.DEEDS)) == tuple(sorted(ACTIONS))
    assert len(phrases.VERDICTS) == len(phrases.TAILS) == 5
    assert len(memory_phrases.PASSING) == len(memory_phrases.FEELINGS) == 6


def speech_batch(action: str, feeling: float, count: int = 400, **given_: Any) -> list[str]:
    """Return what `count` personas say about claim 0, with a feeling."""
    requests = make_requests(count, **given_)
    return speeches(
        requests,
        action=np.repeat(codes(action), count),
        slot=np.zeros(count, dtype=np.int64),
        claim=np.zeros(count, dtype=np.int64),
        feeling=np.full(count, feeling),
        echo=np.zeros(count, dtype=np.int64),
        bits=Streams(1).bits("words", tick=1, keys=requests.cast.keys),
    )


@pytest.mark.parametrize("action", SPEAKING)
@pytest.mark.parametrize("feeling", [0.9, 0.3, 0.0, -0.3, -0.9])
def test_every_action_and_band_has_many_forms(action: str, feeling: float) -> None:
    texts = speech_batch(action, feeling)
    assert len(set(texts)) > 250
    assert all('"20 g protein with zero sugar"' in text for text in texts)
    assert all(complete(text) for text in texts)


def test_the_stance_decides_the_words() -> None:
    strong, against = (set(speech_batch("post", feeling)) for feeling in (0.9, -0.9))
    assert not strong & against
    assert any("no doubt" in text for text in strong)
    assert any("I don't believe" in text for text in against)


def test_bands_are_even_on_both_sides_and_firm_on_their_edges() -> None:
    stance = np.array([1.0, 0.5, 0.49, 0.15, 0.14, 0.0, -0.14, -0.15, -0.49, -0.5, -1.0])
    assert bands(stance).tolist() == [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4]


def test_who_is_answered_is_named_at_times() -> None:
    feed = make_feed(400, names=dict.fromkeys(range(400), "Maria"))
    for action in ("reply", "comment", "quote", "answer"):
        named = ["Maria" in text for text in speech_batch(action, 0.3, feed=feed)]
        assert 0.3 < np.mean(named) < 0.7
    assert not any("Maria" in text for text in speech_batch("post", 0.3, feed=feed))


def test_a_peer_is_asked_a_question() -> None:
    assert all(text.endswith("?") for text in speech_batch("ask_peer", -0.3))


def test_voices_are_heard_at_times() -> None:
    cast = make_cast(400, voices=(("as a nurse.",),) * 400)
    texts = speech_batch("post", 0.3, cast=cast)
    heard = [text for text in texts if "s a nurse" in text]
    assert 0.2 < len(heard) / len(texts) < 0.8
    assert any(text.startswith("As a nurse, ") for text in heard)
    assert any(", as a nurse. " in text for text in heard)


@pytest.mark.parametrize("voice", ["🙂 always", "中文", ""])
def test_a_voice_that_has_no_capital_never_starts_a_text(voice: str) -> None:
    texts = speech_batch("post", 0.3, cast=make_cast(400, voices=((voice,),) * 400))
    assert all(complete(text) for text in texts)
    assert any(voice in text for text in texts)


@pytest.mark.parametrize(("echo", "forms"), [(1, phrases.ECHOES[0]), (-1, phrases.ECHOES[1])])
def test_a_recalled_memory_is_echoed_at_times(echo: int, forms: tuple[str, ...]) -> None:
    requests = make_requests(300)
    texts = speeches(
        requests,
        action=np.repeat(codes("post"), 300),
        slot=np.full(300, -1),
        claim=np.zeros(300, dtype=np.int64),
        feeling=np.full(300, 0.3),
        echo=np.full(300, echo),
        bits=Streams(1).bits("words", tick=1, keys=requests.cast.keys),
    )
    share = np.mean([text.endswith(forms) for text in texts])
    assert 0.2 < share < 0.5


@pytest.mark.parametrize(
    ("action", "feeling", "reasons"),
    [
        ("buy", 0.6, phrases.REASONS_TO_ACCEPT[0]),
        ("buy", -0.6, phrases.REASONS_TO_ACCEPT[1]),
        ("reject", -0.6, phrases.REASONS_TO_REFUSE[0]),
        ("reject", 0.6, phrases.REASONS_TO_REFUSE[1]),
    ],
)
def test_a_decision_gives_its_reason(
    action: str, feeling: float, reasons: tuple[tuple[str, str], ...]
) -> None:
    texts = speech_batch(action, feeling)
    assert all(BRAND in text and complete(text) for text in texts)
    assert all(any(before in text for before, _ in reasons) for text in texts)


def test_a_decision_without_a_view_on_a_claim_stands_alone() -> None:
    texts = speech_batch("buy", 0.0)
    assert 1 < len(set(texts)) <= len(phrases.ACCEPTANCES)
    assert all(CLAIMS[0] not in text and complete(text) for text in texts)


def test_silent_actions_have_no_words() -> None:
    silent = [name for name in ACTIONS if name not in {*SPEAKING, "buy", "reject"}]
    assert len(silent) == 6
    assert all(set(speech_batch(action, 0.5, 20)) == {""} for action in silent)


# Texts by users


@given(st.text(max_size=300), st.integers(1, 120))
def test_a_shortened_text_is_short_and_starts_as_before(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_texts_are_cut_at_a_word() -> None:
    assert (
        shorten("Its protein comes from peas, beans and oats", 30)
        == "Its protein comes from peas…"
    )
    assert shorten("x" * 40, 10) == "x" * 9 + "…"
    assert shorten("short", 10) == "short"


@given(st.text(max_size=200))
def test_a_text_on_one_line_has_single_spaces(text: str) -> None:
    line = plain(text)
    assert line.splitlines() in ([line], []) or not line.split()
    assert "  " not in line


def test_a_quote_holds_no_quote_and_no_full_stop() -> None:
    assert quoted('Say "yes". ') == "\"Say 'yes'\""
    assert quoted(" . ") == ""
    assert len(quoted("word " * 100)) <= CLAIM_LENGTH + 2


@given(claim=st.text(max_size=120), brand=st.text(max_size=60), voice=st.text(max_size=80))
@example(claim="", brand="", voice="")
@example(claim=NASTY[0], brand=NASTY[0], voice=NASTY[0])
@settings(deadline=None, max_examples=40)
def test_any_text_of_a_user_goes_through_every_sentence(
    claim: str, brand: str, voice: str
) -> None:
    check_user_text(claim, brand, voice)


@pytest.mark.parametrize("text", NASTY)
def test_nasty_texts_go_through_every_sentence(text: str) -> None:
    check_user_text(text, text, text)


def check_user_text(claim: str, brand: str, voice: str) -> None:
    count = 3 * len(ACTIONS)
    cast = make_cast(
        count,
        claim_texts=(claim,) * 3,
        brand=brand,
        voices=((voice,),) * count,
    )
    feed = make_feed(count, names=dict.fromkeys(range(count), brand))
    requests = make_requests(
        count, cast=cast, feed=feed, texts=(claim,), friend=np.arange(count) - 1
    )
    every = np.tile(np.arange(len(ACTIONS)), 3)
    words = speeches(
        requests,
        action=every,
        slot=np.zeros(count, dtype=np.int64),
        claim=np.tile([0, 1, -1], len(ACTIONS)),
        feeling=np.linspace(-1.0, 1.0, count),
        echo=np.zeros(count, dtype=np.int64),
        bits=Streams(1).bits("words", tick=1, keys=cast.keys),
    )
    memories = memory_texts(requests, reactions(requests, every, words))
    reflections = consolidate(
        make_reflections(np.full((4, 6), 0.5), np.eye(4, 6), cast=cast, texts=(claim,))
    ).memories
    known = plain(f"{claim} {brand} {voice}")
    for text in (*filter(None, words), *memories, *(m[0] for m in reflections)):
        assert text
        assert text == text.strip()
        assert "\n" not in text
        assert len(text) < 1000
        assert text[0].isupper()
        assert ("{" in text) <= ("{" in known)


# Memories


def reactions(
    requests: TurnRequests, action: Any, words: list[str] | None = None, **given_: Any
) -> Reactions:
    count = len(requests)
    values: dict[str, Any] = {
        "action": action,
        "post": requests.feed.post[:, 0] if requests.feed.post.shape[1] else np.full(count, -1),
        "persona": np.full(count, -1, dtype=np.int64),
        "words": words or [""] * count,
        "change": np.zeros((count, 6)),
        "claim": np.zeros(count, dtype=np.int64),
        "stance": np.zeros(count),
        "cause": np.full((count, 6), -1),
        "importance": np.full(count, np.nan),
        "source": np.zeros(count, dtype=np.int64),
    }
    return Reactions(**(values | given_))


def one(action: str, words: str = "", **given_: Any) -> str:
    """Return the memory text of one turn about an ad of the brand."""
    named = {"names": {0: BRAND, 1: "Maria"}}
    feed = make_feed(
        1, 2, sponsored=np.array([[True, False]]), author=np.array([[-1, 3]]), **named
    )
    request = {k: given_.pop(k) for k in ("feed", "texts", "stimulus") if k in given_}
    requests = make_requests(1, cast=make_cast(5), **({"feed": feed} | request))
    return memory_texts(requests, reactions(requests, codes(action), [words], **given_))[0]


AD = 'Bolt Bar\'s ad "Bolt Bar has 20 g of protein, a test finds"'
POST = 'Maria\'s post "Bolt Bar has 20 g of protein, a test finds"'


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_leaves_a_memory_in_the_first_person(action: str) -> None:
    text = one(action, persona=np.array([3]))
    assert complete(text)
    assert FIRST_PERSON.search(text)


@pytest.mark.parametrize("action", ["like", "upvote", "repost", "comment", "ignore"])
def test_a_memory_names_the_item(action: str) -> None:
    assert AD in one(action)


def test_a_memory_names_the_post_that_was_acted_on() -> None:
    assert POST in one("like", post=np.array([1]))


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


def test_an_empty_feed_is_remembered_as_quiet() -> None:
    text = one("ignore", feed=make_feed(1, 0), claim=np.array([-1]), texts=("Buy Bolt Bar.",))
    assert '"Buy Bolt Bar"' in text
    assert complete(text)
    unused = make_feed(1, 1, post=np.array([[-1]]))
    assert BRAND in one("ignore", feed=unused, texts=(" ",), claim=np.array([-1]))


def test_an_item_without_a_name_or_a_text_is_still_remembered() -> None:
    text = one("like", feed=make_feed(1, names={0: " "}), texts=("",))
    assert "somebody's post" in text


def test_how_it_felt_is_remembered() -> None:
    def thoughts(stance: float, claim: int) -> set[str]:
        requests = make_requests(300)
        felt: Any = {"stance": np.full(300, stance), "claim": np.full(300, claim)}
        texts = memory_texts(requests, reactions(requests, np.zeros(300, dtype=np.int64), **felt))
        return {text.rsplit("; ", 1)[1] for text in texts}

    lists = [thoughts(stance, 0) for stance in (0.8, 0.3, 0.0, -0.3, -0.8)]
    assert [len(each) for each in lists] == [12] * 5
    assert not lists[0] & lists[4]
    assert thoughts(0.0, -1) == {f"{text}." for text in memory_phrases.PASSING[5]}


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
    assert all(FIRST_PERSON.search(text) for text in texts)
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
    assert all(
        BRAND in text
        for text in speech_batch("post", 0.2, cast=make_cast(400, claim_texts=(" ",) * 3))
    )


def test_dimensions_are_read_without_underscores() -> None:
    cast = make_cast(200, dimensions=("public_trust", "fit", "value"))
    assert all("public trust" in text for text in reflection(0, 0.2, cast=cast))
