"""A memory that settles: routed, extracted, updated, merged, deleted, recalled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.attitudes import AttitudeMemory, as_said
from simulation.encoders import EncoderSpec, load
from simulation.extractors import Evidence, Extracted, Topic
from simulation.extractors.lexicon import LexiconExtractor
from simulation.extractors.routing import Routed, RuleRouter
from simulation.units import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

ENCODER = load(EncoderSpec(name="static"))
GOOD, BAD, TORN = (0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.36, 0.34, 0.3)


def piece(
    obj: str,
    aspect: str,
    polarity: tuple[float, float, float] = GOOD,
    strength: float = 0.4,
    said: str = "",
) -> Evidence:
    return Evidence(
        object_type="thing",
        object=obj,
        aspect=aspect,
        polarity=polarity,
        strength=strength,
        summary=said,
    )


def memory(**settings: Any) -> AttitudeMemory:
    return AttitudeMemory(encoder=ENCODER, **settings)


def test_evidence_about_a_side_settles_in_one_unit_whose_summary_is_told_anew() -> None:
    mind = memory()
    first = mind.take([piece("coffee", "taste")])
    second = mind.take([piece("coffee", "taste", BAD)])
    assert [change.kind for change in (*first, *second)] == ["evidence", "evidence"]
    (unit,) = mind.units()
    assert unit.confidence == pytest.approx((0.45, 0.45, 0.1))
    assert (unit.weight, unit.observations, unit.created, unit.updated) == (0.8, 2, 1, 2)
    assert unit.summary == "coffee, taste: neither good nor bad, torn."
    assert second[0].entropy == unit.entropy == pytest.approx(1.369, abs=1e-3)
    assert mind.find("thing", "coffee", "taste") == unit.unit_id
    assert mind.find("thing", "coffee", "price") is mind.find("thing", "tea", "taste") is None


def test_alike_sides_merge_and_the_survivor_answers_for_both() -> None:
    mind = memory(rules=Rules(similarity=-1.0))
    changes = mind.take([piece("tea", "taste"), piece("tea", "smell", strength=0.6)])
    assert [(c.kind, c.unit_id, c.other) for c in changes][-1] == ("merge", 1, 0)
    (unit,) = mind.units()
    assert unit.aspects == ("taste", "smell")
    assert unit.summary == "tea, taste and smell: very good, mixed."
    assert mind.find("thing", "tea", "taste") == 1


def test_noise_is_deleted_after_five_observations_of_other_things() -> None:
    mind = memory()
    mind.take([piece("bread", "size", TORN)])
    kinds = [[c.kind for c in mind.take([piece(f"tea {i}", "taste")])] for i in range(5)]
    assert kinds == [["evidence"]] * 4 + [["evidence", "delete"]]
    assert mind.find("thing", "bread", "size") is None


def test_stage_one_keeps_the_sides_that_a_question_names_and_falls_back() -> None:
    mind = memory(rules=Rules(merging=False))
    mind.take(
        [
            piece("Red Kite tea", "taste"),
            piece("Red Kite tea", "price", BAD),
            piece("tea", "taste"),
            piece("a+b (c)", "taste"),
            piece("a+b (c)", "taste of it"),
        ]
    )

    def asked(query: str, k: int = 5) -> list[tuple[str, str]]:
        return [(unit.object, unit.aspects[0]) for unit in mind.recall(query, k)]

    assert asked("How is the PRICE of Red Kite tea?") == [("Red Kite tea", "price")]
    assert asked("the price of tea") == [("tea", "taste")]
    assert asked("What about Red Kite tea?", 1)[0][0] == "Red Kite tea"
    assert set(asked("A+B (c), taste of it?")) == {
        ("a+b (c)", "taste"),
        ("a+b (c)", "taste of it"),
    }
    assert len(asked("something else")) == 5
    assert len(asked("the price of Red Kite tea", 0)) == 0
    assert len(mind.recall("the price of Red Kite tea", by_name=False)) == 5
    assert memory().recall("anything") == ()


def test_a_memory_of_facts_keeps_what_was_said() -> None:
    mind = memory(updating=False, told=as_said)
    ids = mind.keep([piece("tea", "taste", said="It is fine tea."), piece("tea", "taste")])
    assert ids == (0, 1)
    assert [unit.summary for unit in mind.units()] == [
        "It is fine tea.",
        "tea, taste: very good, mixed.",
    ]
    assert mind.keep([]) == ()


def test_keeping_is_taking_where_nothing_is_compressed() -> None:
    pieces = [piece("tea", "taste"), piece("tea", "price", BAD), piece("tea", "taste", BAD)]
    one, other = memory(updating=False), memory(updating=False)
    for each in (one, other):
        each.rules = Rules(merging=False, deleting=False)
    one.keep(pieces)
    other.take(pieces)
    np.testing.assert_array_equal(one.store.confidence, other.store.confidence)
    assert [u.summary for u in one.units()] == [u.summary for u in other.units()]
    assert one.clock == other.clock == 3


def test_an_object_cannot_have_more_aspects_than_a_store_tells_apart() -> None:
    mind = memory(rules=Rules(merging=False))
    mind.take([piece("tea", f"side {i}") for i in range(256)])
    with pytest.raises(ValueError, match="more than 256 aspects"):
        mind.take([piece("tea", "one more")])
    assert len(mind) == 256
    mind.take([piece("bread", "one more")])
    assert len(mind) == 257


def test_impossible_evidence_is_refused() -> None:
    mind = memory()
    with pytest.raises(ValueError, match="strength"):
        mind.take([piece("tea", "taste", strength=0.0)])
    assert (len(mind), mind.clock) == (0, 0)


# The loop on texts

TOPICS = (Topic(object_type="drink", object="coffee", aspects=("taste", "price")),)
WORDS = {"taste": ("taste", "flavour"), "price": ("price", "expensive")}


def listener(**settings: Any) -> AttitudeMemory:
    return memory(
        topics=TOPICS, extractor=LexiconExtractor(WORDS), router=RuleRouter(WORDS), **settings
    )


def test_what_is_told_is_stored_what_is_asked_is_recalled_and_the_rest_is_left() -> None:
    mind = listener()
    told = mind.hear("I love the taste of the coffee.")
    assert (told.route, told.errors) == ("store", ())
    assert [(e.object, e.aspect) for e in told.evidence] == [("coffee", "taste")]
    assert [change.kind for change in told.changes] == ["evidence"]
    asked = mind.hear("What do I think of the coffee?")
    assert asked.route == "retrieve"
    assert [unit.object for unit in asked.recalled] == ["coffee"]
    assert asked.recalled[0].confidence[0] > 0.5
    left = mind.hear("See you at noon.")
    assert (left.route, left.evidence, left.changes, left.recalled) == ("answer", (), (), ())
    assert mind.clock == 1


def test_many_contradictions_turn_what_is_heard_by_and_by() -> None:
    mind = listener()
    for _ in range(4):
        mind.hear("The taste of the coffee is great!")
    for text in ["The taste of the coffee is awful!"] * 3:
        before = mind.units()[0].confidence[1]
        mind.hear(text)
        assert before < mind.units()[0].confidence[1] < 0.8


def test_hearing_needs_a_router_and_an_extractor() -> None:
    with pytest.raises(ValueError, match="needs a router and an extractor"):
        memory(extractor=LexiconExtractor(WORDS)).hear("hello")


class _Stubborn:
    """A model that failed: what it gave came by rule."""

    def route(self, texts: Sequence[str], topics: Sequence[Topic], **_: Any) -> Routed:
        del texts, topics
        return Routed(routes=("store",), error={0: "no route"}, rejections=())

    def extract(self, texts: Sequence[str], topics: Sequence[Topic], **_: Any) -> Extracted:
        del texts, topics
        return Extracted(evidence=[()], error={0: "no evidence"}, rejections=())


def test_why_a_models_answer_was_not_used_is_told() -> None:
    mind = memory(extractor=_Stubborn(), router=_Stubborn())
    heard = mind.hear("anything")
    assert heard.errors == ("no route", "no evidence")
    assert (heard.changes, len(mind)) == ((), 0)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["tea", "'; DROP TABLE units; --", "", "\n|", "ﬁsh"]),
            st.sampled_from(["taste", "price", "SELECT *", "\\"]),
            st.sampled_from([GOOD, BAD, TORN, (0.0, 0.0, 1.0)]),
            st.floats(0.01, 1.0),
        ),
        min_size=1,
        max_size=15,
    )
)
def test_whatever_things_are_called_every_unit_can_be_found_and_is_a_belief(
    evidence: list[tuple[str, str, tuple[float, float, float], float]],
) -> None:
    mind = memory()
    mind.take([piece(*each) for each in evidence])
    for unit in mind.units():
        assert sum(unit.confidence) == pytest.approx(1.0)
        assert 0.0 <= unit.entropy <= 1.585
        for aspect in unit.aspects:
            assert mind.find("thing", unit.object, aspect) == unit.unit_id
    assert len(mind.recall("tea, the taste?", 3)) <= 3
