"""Words of the rule model: natural, varied, complete, and never a reading of what a user wrote."""

from __future__ import annotations

import sys
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
    complete,
    make_cast,
    make_feed,
    make_reactions,
    make_reflections,
    make_requests,
    speaks_of_itself,
    subset,
)

from simulation.models.base import ACTIONS, SPEAKING, RecalledView
from simulation.models.rule import RuleModel, RuleParameters, consolidate
from simulation.models.words import (
    CLAIM_LENGTH,
    memory_phrases,
    memory_texts,
    phrases,
    plain,
    quoted,
    shorten,
    speeches,
)
from simulation.models.words.matters import Fitting, matters
from simulation.models.words.text import bands
from simulation.rng import Streams

RULE = RuleModel(parameters=RuleParameters(), streams=Streams(11))
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


def test_words_are_whole_and_in_the_first_person(town_run: tuple[list[str], list[str]]) -> None:
    for text in (*town_run[0], *town_run[1]):
        assert complete(text), text
        assert speaks_of_itself(text), text


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
    *phrases.AGREEING.values(),
    *phrases.OPPOSING.values(),
    *phrases.ECHOES,
    *(forms for pair in phrases.REASONS_TO_ACCEPT for forms in pair),
    *(forms for pair in phrases.REASONS_TO_REFUSE for forms in pair),
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


@pytest.mark.parametrize("action", ["comment", "reply", "quote", "answer"])
@pytest.mark.parametrize(("feeling", "said"), [(0.8, -0.9), (-0.3, 0.7)])
def test_who_contradicts_an_item_says_so_and_does_not_recommend_it(
    action: str, feeling: float, said: float
) -> None:
    feed = make_feed(400, stance=np.full((400, 1), said))
    texts = speech_batch(action, feeling, feed=feed)
    named = [text for text in texts if "Source" in text]
    assert 0.3 < len(named) / len(texts) < 0.7
    assert not any("orth reading" in text for text in texts)
    forms = phrases.OPPOSING[action]
    assert all(any(before in text[:1].lower() + text[1:] or before in text
                   for before, _ in forms) for text in named)  # fmt: skip


def test_who_agrees_recommends_at_times_and_who_is_undecided_does_neither() -> None:
    denial = make_feed(400, stance=np.full((400, 1), -0.9))
    assert any("orth reading" in text for text in speech_batch("quote", -0.8, feed=denial))
    assert any("orth reading" in text for text in speech_batch("quote", 0.8))
    opposing = phrases.OPPOSING["quote"]
    for feeling, feed in ((0.0, denial), (0.8, make_feed(400, claim=np.full((400, 1), 1)))):
        texts = speech_batch("quote", feeling, feed=feed)
        assert not any("orth reading" in text for text in texts)
        assert not any(after in text for text in texts for _, after in opposing)


def test_a_peer_is_asked_a_question() -> None:
    assert all(text.endswith("?") for text in speech_batch("ask_peer", -0.3))


def test_voices_are_heard_at_times() -> None:
    cast = make_cast(400, voices=(("as a nurse.",),) * 400)
    texts = speech_batch("post", 0.3, cast=cast)
    heard = [text for text in texts if "s a nurse" in text]
    assert 0.2 < len(heard) / len(texts) < 0.8
    assert any(text.startswith("As a nurse, ") for text in heard)
    assert any(", as a nurse. " in text for text in heard)


def test_a_voice_of_another_matter_is_not_heard_and_one_of_the_matter_more_often() -> None:
    voices = ("as a nurse", "with my diabetes", "counting my protein")
    texts = speech_batch("post", 0.3, cast=make_cast(400, voices=(voices,) * 400))

    def heard(voice: str) -> int:
        return sum(voice in text or text.startswith(voice.capitalize()) for text in texts)

    assert heard("with my diabetes") == 0
    assert heard("counting my protein") > 1.3 * heard("as a nurse") > 0


def test_voices_fit_a_topic_of_which_nothing_is_known() -> None:
    voices = ("with my diabetes", "as a nurse", "with my car")
    assert Fitting("The moon is round.").of(voices) == list(voices)
    of_cars = Fitting("Fewer cars on the ring road")
    assert of_cars.of(voices) == [voices[1], voices[2], voices[2]]
    assert of_cars.of(voices[2:]) == [voices[2], voices[2]]
    vaccine = Fitting("This VACCINE, does it help?")
    assert vaccine.of(voices) == [voices[0], voices[0], voices[1]]
    assert Fitting("tram").of(()) == []


def test_a_voice_without_words_is_not_heard_and_others_are_heard_bare() -> None:
    assert Fitting("The moon is round.").of(("", " . ", " as a\nnurse. ")) == ["as a nurse"]


def test_a_stem_is_the_beginning_of_a_word_and_a_full_stop_its_end() -> None:
    assert matters("a car") == matters("the trams") > 0
    assert matters("a carer") == matters("careful") == 0
    assert matters("he said: 'vaccinate!'") == matters("flu") > 0
    assert matters("") == matters("🙂 中文") == 0


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
    ("felt", "allowed"), [(0.6, phrases.ECHOES[0]), (-0.6, phrases.ECHOES[1]), (0.04, ("never",))]
)
def test_the_model_echoes_what_agrees_or_differs_and_nothing_faint(
    felt: float, allowed: tuple[str, ...]
) -> None:
    shape = (300, 1)
    recalled = RecalledView(
        text=np.zeros(shape, dtype=np.int64),
        score=np.ones(shape),
        claim=np.zeros(shape, dtype=np.int64),
        stance=np.full(shape, felt),
        tick=np.zeros(shape, dtype=np.int64),
    )
    beliefs = np.full((300, 6), 0.8)
    requests = make_requests(
        300, beliefs=beliefs, recalled=recalled, allowed=allow(300, "comment")
    )
    unmoved = RuleModel(parameters=RuleParameters(persuasion=0.0), streams=Streams(11))
    words = unmoved.react(requests).words
    every = (*phrases.ECHOES[0], *phrases.ECHOES[1])
    echoes = [text for text in words if text.endswith(every)]
    assert all(text.endswith(allowed) for text in echoes)
    assert (len(echoes) > 50) == (abs(felt) > 0.05)


@pytest.mark.parametrize(("appeal", "band"), [(0.9, 0), (0.5, 2), (0.1, 4)])
def test_the_tone_about_no_claim_is_that_of_the_brands_appeal(appeal: float, band: int) -> None:
    beliefs = np.tile([appeal] * 3 + [0.5] * 3, (50, 1))
    feed = make_feed(50, claim=np.full((50, 1), -1))
    requests = make_requests(50, beliefs=beliefs, feed=feed, allowed=allow(50, "comment"))
    answer = RULE.react(requests)
    assert all(text.endswith(phrases.TAILS[band]) for text in answer.words)
    assert not answer.stance.any()


@pytest.mark.parametrize("weight", [0.4, -0.4])
@pytest.mark.parametrize("feeling", [0.6, 0.2, -0.2, -0.6])
@pytest.mark.parametrize("action", ["buy", "reject"])
def test_a_decision_gives_its_reason_and_a_believed_rumour_speaks_against(
    action: str, feeling: float, weight: float
) -> None:
    weights, favourable = np.full((3, 3), weight), weight > 0.0
    texts = speech_batch(action, feeling, cast=make_cast(400, weights=weights))
    lists = phrases.REASONS_TO_ACCEPT if action == "buy" else phrases.REASONS_TO_REFUSE
    speaks_for = ((feeling > 0.0) == favourable) == (action == "buy")
    reasons = lists[0 if speaks_for else 1][0 if feeling > 0.0 else 1]
    assert all(BRAND in text and complete(text) for text in texts)
    for text in texts:
        fitting_ones = [w for w, end in reasons if f'{w}"{CLAIMS[0]}"{end}.' in text]
        assert len(fitting_ones) == 1, text
    assert all(any(why in text for text in texts) for why, _ in reasons)


def test_a_decision_without_a_view_on_a_claim_stands_alone() -> None:
    for feeling in (0.0, 0.14, -0.14):  # who is undecided has no reason in it
        texts = speech_batch("buy", feeling)
        assert 1 < len(set(texts)) <= len(phrases.ACCEPTANCES)
        assert all(CLAIMS[0] not in text and complete(text) for text in texts)


def test_silent_actions_have_no_words() -> None:
    silent = [name for name in ACTIONS if name not in {*SPEAKING, "buy", "reject"}]
    assert len(silent) == 6
    assert all(set(speech_batch(action, 0.5, 20)) == {""} for action in silent)


def test_what_is_said_depends_on_the_own_turn_only() -> None:
    requests = Town.build(80, seed=2).requests
    rng = np.random.default_rng(3)
    columns: dict[str, Any] = {
        "action": rng.integers(0, len(ACTIONS), 80),
        "slot": rng.integers(-1, requests.feed.post.shape[1], 80),
        "claim": rng.integers(-1, 3, 80),
        "feeling": rng.uniform(-1.0, 1.0, 80),
        "echo": rng.integers(-1, 2, 80),
        "bits": Streams(1).bits("words", tick=1, keys=requests.cast.keys),
    }
    whole = speeches(requests, **columns)
    rows = rng.permutation(80)[:30].tolist()
    part = speeches(
        subset(requests, rows), **{name: column[rows] for name, column in columns.items()}
    )
    assert part == [whole[row] for row in rows]
    assert len(set(part)) > 10


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


WHITE = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if c.isspace())


@given(st.text(max_size=200) | st.text(f'a."🙂{WHITE}', max_size=8) | st.text("a .", max_size=8))
def test_a_text_on_one_line_has_single_spaces(text: str) -> None:
    line = plain(text)
    assert line.split(" ") == (text.split() or [""])


@pytest.mark.parametrize("space", WHITE)
def test_no_white_space_but_a_space_stays_in_a_line(space: str) -> None:
    assert plain(f"a{space}b") == "a b"


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
    memories = memory_texts(requests, make_reactions(requests, every, words))
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


def test_a_claim_without_words_leaves_the_brand_to_speak_of() -> None:
    cast = make_cast(400, claim_texts=(" ",) * 3)
    assert all(BRAND in text for text in speech_batch("post", 0.2, cast=cast))
