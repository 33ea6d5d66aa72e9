from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from written_requests import cast, reflections, turns

from simulation.models.base import ACTIONS, ON_A_PERSONA, ON_A_POST, SPEAKING
from simulation.models.batches import choices, take_reflections, take_turns
from simulation.models.parsing import (
    InvalidAnswerError,
    Parsed,
    answer_schema,
    parse_probe,
    parse_reaction,
    parse_reflection,
    reaction_schema,
    reflection_schema,
)

VALUE, TRUST, C1, C2 = range(4)

# JSON values of every sort, and objects whose keys we know with such values.
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from([*ACTIONS, "10", "12", "bo", "\ud800", 10, 1e999]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
beliefs = st.dictionaries(
    st.sampled_from(["value", "trust", "C1", "C2", "other"]), st.floats(-2, 2) | anything
)
reaction_objects = st.fixed_dictionaries(
    {"action": st.sampled_from(ACTIONS)},
    optional={
        "target": st.sampled_from(["10", "11", "12", "bo", "cem", "anna", 10, None]) | anything,
        "words": st.text(max_size=30) | anything,
        "changes": beliefs | anything,
        "importance": st.floats(-1, 2) | anything,
        "extra": anything,
    },
)


def answer(**fields: object) -> str:
    return json.dumps(fields)


def react(text: str, *, tier: int = 0, **options: Any) -> Parsed:
    return parse_reaction(text, turns((0,), tier=[tier], **options), 0)


def kinds(parsed: Parsed) -> list[str]:
    return [kind for kind, _ in parsed.dropped]


# The JSON of an answer

WRAPPED = """Let me think {as anna}.
```json
{"action": "comment", "target": "11", "words": "I \\"like\\" {it}", "changes": {"C2": 0.25}}
```
So I comment."""


@pytest.mark.parametrize(
    "text",
    [
        WRAPPED.partition("```json")[2].partition("```")[0].strip(),
        WRAPPED,
        WRAPPED.replace("```json", "").replace("```", ""),
        'The post says {"action": "buy"} but: ' + WRAPPED,
        f"\n\n{WRAPPED}",
    ],
)
def test_an_object_is_found_alone_in_a_fence_and_in_prose(text: str) -> None:
    parsed = react(text)
    assert ACTIONS[parsed.action] == "comment"
    assert (parsed.post, parsed.persona, parsed.words) == (11, -1, 'I "like" {it}')
    assert parsed.change.tolist() == [0.0, 0.0, 0.0, 0.25]
    assert parsed.dropped == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"action": "ignore"} or {"action": "buy"}',
        '{"action": "ignore"}{"action": "ignore"}',
        '[{"action": "ignore"}, {"action": "buy"}]',
        '```json\n{"action": "ignore"}\n``` or ```json\n{"action": "buy"}\n```',
    ],
)
def test_of_two_objects_neither_counts(text: str) -> None:
    with pytest.raises(InvalidAnswerError, match="more than one JSON object"):
        react(text)


def test_braces_in_prose_after_an_object_do_no_harm() -> None:
    assert ACTIONS[react('{"action": "ignore"} {sic} and { so on').action] == "ignore"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        ("I would rather not.", "no JSON object"),
        ("[]", "no JSON object"),
        ("}{", "not closed"),
        ('{"action": "ignore"', "not closed"),
        ('{"thought": {"action": "ignore"}, "action": "bu', "not closed"),
        ('{"action": "ignore",, "x": {"action": "buy"}}', "not valid JSON"),
        ("{'action': 'ignore'}", "no JSON object"),
        ("{}", '"action" is missing'),
        ('{"action": "ignore", "action": "buy"}', "twice"),
        ('{"action": "ignore", "changes": {"C1": 0.1, "C1": 0.2}}', "twice"),
        ('{"action": "ignore", "words": "\\ud83d"}', "surrogate"),
        ('{"action": "ignore", "words": "\ud83d"}', "surrogate"),
        ('{"action": "ignore", "\\udc00": 1}', "surrogate"),
        ('{"action": "ignore", "changes": {"C1": NaN}}', "NaN is not a number"),
        ('{"action": "ignore", "changes": {"C1": -Infinity}}', "not a number"),
        ('{"action": "ignore", "changes": {"C1": 1e999}}', "finite"),
        ('{"action": "ignore", "changes": {"C1": -1e999}}', "finite"),
        ('{"action": "ignore", "changes": {"C1": 1' + "0" * 400 + "}}", "finite"),
        ('{"action": "ignore", "changes": {"C1": 1' + "0" * 9000 + "}}", "not valid JSON"),
        ('{"action": "ignore", "x": ' + "[" * 9000 + "]" * 9000 + "}", "nested too deeply"),
        ('{"x": ' * 33 + "1" + "}" * 33, "nested too deeply"),
        ('{"x": ' * 32 + "1" + "}" * 32, '"action" is missing'),
        ('{"action": "ignore"]', "not valid JSON"),
        ('{"action": "ignore"}' + " " * 20_000, "20020 characters"),
    ],
)
def test_what_is_not_a_json_object_is_invalid(text: str, reason: str) -> None:
    with pytest.raises(InvalidAnswerError, match=reason):
        react(text)


def test_an_answer_of_the_greatest_length_is_read() -> None:
    text = answer(action="ignore")
    assert react(text + " " * (20_000 - len(text))).action == 0


# Actions and targets


@pytest.mark.parametrize("action", ["fly", "", "IGNORE", 3, None, True, ["ignore"], {"a": 1}])
def test_an_unknown_action_is_invalid(action: object) -> None:
    with pytest.raises(InvalidAnswerError, match="is not an action; allowed: ignore, like"):
        react(answer(action=action))


def test_an_action_that_is_not_allowed_now_is_invalid() -> None:
    with pytest.raises(InvalidAnswerError, match=r'"buy" is not possible now; allowed: ignore$'):
        react(answer(action="buy"), actions=("ignore",))


def test_an_action_without_any_possible_target_is_invalid() -> None:
    with pytest.raises(InvalidAnswerError, match='"like" is not possible now; allowed: nothing'):
        react(answer(action="like", target="10"), actions=("like",), empty_feed=True)


@pytest.mark.parametrize("target", ["11", 11, "#11", " 11 "])
@pytest.mark.parametrize("action", [name for name in ON_A_POST if name != "answer"])
def test_a_post_is_named_by_its_id(action: str, target: object) -> None:
    parsed = react(answer(action=action, target=target, words="Yes."))
    assert (parsed.post, parsed.persona) == (11, -1)


@pytest.mark.parametrize(
    ("action", "target", "row"), [("follow", "bo", 1), ("ask_peer", "cem", 2)]
)
def test_a_persona_is_named_by_its_id(action: str, target: str, row: int) -> None:
    parsed = react(answer(action=action, target=target, words="Yes?"))
    assert (parsed.post, parsed.persona) == (-1, row)


def test_a_persona_whose_id_is_a_number_may_be_named_by_a_number() -> None:
    who = cast(ids=("1", "11", "3", "4"))
    parsed = react(answer(action="follow", target=11), who=who)
    assert (parsed.post, parsed.persona) == (-1, 1)


@pytest.mark.parametrize(
    ("action", "target"),
    [
        ("like", "13"),
        ("like", -1),
        ("like", "bo"),
        ("like", 11.0),
        ("like", True),
        ("like", [11]),
        ("like", {"id": 11}),
        ("like", 10**30),
        ("like", "1" * 5000),
        ("answer", "11"),  # not a question
        ("follow", "cem"),  # followed already
        ("follow", "anna"),  # itself
        ("follow", "11"),
        ("ask_peer", "dana"),  # not in sight
    ],
)
def test_an_unknown_target_is_invalid(action: str, target: object) -> None:
    with pytest.raises(InvalidAnswerError, match=f'is not a target of "{action}"; allowed: '):
        react(answer(action=action, target=target, words="x"))


@pytest.mark.parametrize("action", [*ON_A_POST, *ON_A_PERSONA])
@pytest.mark.parametrize("target", [{}, {"target": None}, {"target": ""}])
def test_a_missing_target_is_invalid(action: str, target: dict[str, object]) -> None:
    with pytest.raises(InvalidAnswerError, match=f'"{action}" needs a target'):
        react(answer(action=action, words="x", **target))


def test_a_target_that_an_action_does_not_have_is_dropped_and_named() -> None:
    parsed = react(answer(action="ignore", target="11"))
    assert (parsed.post, parsed.persona) == (-1, -1)
    assert parsed.dropped == (("unused_target", "ignore has no target, given '11'"),)
    assert react(answer(action="ignore", target=None)).dropped == ()


def test_a_question_that_is_answered_is_the_target_of_the_answer() -> None:
    assert react(answer(action="answer", target="12", words="I would.")).post == 12


# Words


@pytest.mark.parametrize("action", SPEAKING)
@pytest.mark.parametrize("words", [None, "", " \n", "\x00"])
def test_an_action_that_speaks_needs_words(action: str, words: str | None) -> None:
    target = {"answer": "12", "ask_peer": "bo"}.get(action, "10" if action in ON_A_POST else None)
    with pytest.raises(InvalidAnswerError, match=f'"{action}" needs words'):
        react(answer(action=action, target=target, words=words))


@pytest.mark.parametrize("words", [1, True, ["a"], {"a": "b"}])
def test_words_that_are_no_text_are_invalid(words: object) -> None:
    with pytest.raises(InvalidAnswerError, match='"words" must be a text'):
        react(answer(action="ignore", words=words))


def test_words_are_cut_at_a_thousand_code_points_and_it_is_logged() -> None:
    parsed = react(answer(action="post", words="😀" * 1200))
    assert parsed.words == "😀" * 1000
    assert parsed.dropped == (("too_long", "words cut from 1200 to 1000 characters"),)
    assert react(answer(action="post", words="😀" * 1000)).dropped == ()


def test_control_and_reordering_characters_are_stripped_and_it_is_logged() -> None:
    parsed = react(answer(action="post", words="\x1b[31mred\x00\u202e\nline\ttwo\u2028three "))
    assert parsed.words == "[31mred line two three"
    assert parsed.dropped == (("control_characters", "3 in words"),)


def test_a_raw_line_end_within_a_text_is_read() -> None:
    assert react('{"action": "post", "words": "one\ntwo"}').words == "one two"


# Changes


def test_a_change_outside_is_clipped_and_is_no_error() -> None:
    changes = {"value": 7, "trust": -1.5, "C1": 0.5, "C2": -0.0}
    parsed = react(answer(action="ignore", changes=changes))
    assert parsed.change.tolist() == [1.0, -1.0, 0.5, 0.0]
    assert not np.signbit(parsed.change[C2])
    assert parsed.dropped == ()


@pytest.mark.parametrize("value", ["0.1", None, True, [0.1], {"by": 0.1}])
def test_a_change_that_is_no_number_is_invalid(value: object) -> None:
    with pytest.raises(InvalidAnswerError, match="'C1' must be a number"):
        react(answer(action="ignore", changes={"C1": value}))


@pytest.mark.parametrize("changes", [[0.1], "C1", 0.1, True])
def test_changes_that_are_no_object_are_invalid(changes: object) -> None:
    with pytest.raises(InvalidAnswerError, match='"changes" must be an object'):
        react(answer(action="ignore", changes=changes))


def test_an_unknown_belief_is_dropped_and_named_whatever_its_value() -> None:
    parsed = react(answer(action="ignore", changes={"C9": 0.2, "C1": 0.1, "taste": "much"}))
    assert parsed.change.tolist() == [0.0, 0.0, 0.1, 0.0]
    assert parsed.dropped == (("unknown_belief", "'C9'"), ("unknown_belief", "'taste'"))


def test_what_is_shown_of_a_bad_name_is_short_and_printable() -> None:
    ((_, detail),) = react(answer(action="ignore", changes={"\x00\n" * 100: 1})).dropped
    assert detail.isprintable()
    assert len(detail) <= 61


def test_unknown_keys_are_dropped_and_named_together() -> None:
    parsed = react(answer(action="ignore", mood="good", reason="none"))
    assert parsed.dropped == (("unknown_key", "'mood', 'reason'"),)


# Importance


@pytest.mark.parametrize("value", [0, 0.3, 1])
def test_a_rating_is_used_on_the_frontier_tier_only(value: float) -> None:
    text = answer(action="ignore", importance=value)
    assert react(text, tier=1).importance == value
    assert react(text, tier=1).dropped == ()
    cheap = react(text, tier=0)
    assert math.isnan(cheap.importance)
    assert cheap.dropped == (("importance_not_allowed", repr(value)),)


@pytest.mark.parametrize("value", [1.01, -0.1, "0.5", True, False, [0.5], {"is": 0.5}, 10**400])
def test_a_bad_rating_is_ignored_and_logged(value: object) -> None:
    parsed = react(answer(action="ignore", importance=value), tier=1)
    assert math.isnan(parsed.importance)
    assert kinds(parsed) == ["bad_importance"]


def test_no_rating_is_no_error() -> None:
    for text in (answer(action="ignore"), answer(action="ignore", importance=None)):
        parsed = react(text, tier=1)
        assert math.isnan(parsed.importance)
        assert parsed.dropped == ()


# Claim, stance and cause


def test_a_reaction_is_about_the_claim_of_the_post_it_acts_on() -> None:
    parsed = react(answer(action="like", target="10", changes={"C1": -0.1, "C2": 0.2}))
    assert (parsed.claim, parsed.cause) == (0, 0)
    assert parsed.stance == pytest.approx(2 * (0.7 - 0.1) - 1)  # C1 is held at .7
    second = react(answer(action="like", target="11", changes={"C1": 0.2}))
    assert (second.claim, second.cause) == (1, 1)
    assert second.stance == pytest.approx(2 * 0.8 - 1)


def test_without_a_claim_on_its_post_a_reaction_is_about_the_claim_it_moves_most() -> None:
    parsed = react(answer(action="like", target="12", changes={"C1": 0.1, "C2": -0.2}))
    assert (parsed.claim, parsed.cause) == (1, 2)
    assert parsed.stance == pytest.approx(2 * 0.6 - 1)
    even = react(answer(action="ignore", changes={"C1": 0.1, "C2": -0.1}))
    assert (even.claim, even.cause) == (0, 0)


def test_a_reaction_that_moves_no_claim_is_about_none() -> None:
    parsed = react(answer(action="ignore", changes={"trust": 0.5}))
    assert (parsed.claim, parsed.stance, parsed.cause) == (-1, 0.0, 0)


def test_the_stance_is_that_of_a_belief_that_cannot_leave_its_bounds() -> None:
    assert react(answer(action="ignore", changes={"C2": 1})).stance == 1.0
    assert react(answer(action="ignore", changes={"C2": -1})).stance == -1.0


def test_with_an_empty_feed_nothing_is_the_cause() -> None:
    parsed = react(answer(action="ignore", changes={"C1": 0.1}), empty_feed=True)
    assert parsed.cause == -1


# Whatever is answered


def is_valid(parsed: Parsed, tier: int) -> bool:
    requests = turns((0,))
    action = ACTIONS[parsed.action]
    target = parsed.post if action in ON_A_POST else parsed.persona
    number = math.isnan(parsed.importance) or (0 <= parsed.importance <= 1 and tier == 1)
    return (
        (target in choices(requests, 0)[action] or choices(requests, 0)[action] == ())
        and (parsed.post >= 0) == (action in ON_A_POST)
        and (parsed.persona >= 0) == (action in ON_A_PERSONA)
        and bool((np.abs(parsed.change) <= 1).all())
        and -1 <= parsed.stance <= 1
        and number
        and len(parsed.words) <= 1000
        and "\x00" not in parsed.words
        and parsed.words.encode() is not None
    )


@given(st.text() | anything.map(json.dumps) | reaction_objects.map(json.dumps), st.integers(0, 1))
def test_any_answer_is_a_valid_reaction_or_an_invalid_answer(text: str, tier: int) -> None:
    refused = ""
    try:
        parsed = react(text, tier=tier)
    except InvalidAnswerError as error:
        refused = str(error)
        parsed = react(answer(action="ignore"))
    assert is_valid(parsed, tier)
    assert json.dumps([refused, *parsed.dropped], ensure_ascii=False).encode()
    assert len(refused.splitlines()) <= 1


@given(reaction_objects.map(json.dumps), st.integers(0, 300))
def test_a_truncated_answer_is_never_taken_for_a_whole_one(text: str, keep: int) -> None:
    if keep < len(text):
        with pytest.raises(InvalidAnswerError):
            react(text[:keep])


# Reflections


def test_a_reflection_holds_absolute_beliefs_and_memories() -> None:
    text = answer(beliefs={"C1": 0.2, "trust": None, "C2": 0.85}, memories=["One.", "Two."])
    parsed = parse_reflection(text, reflections((0,)), 0)
    assert np.isnan(parsed.revised[[VALUE, TRUST]]).all()
    assert parsed.revised[[C1, C2]].tolist() == [0.2, 0.85]
    assert parsed.memories == ("One.", "Two.")
    assert parsed.claim == 0  # moved from .7 to .2
    assert parsed.stance == pytest.approx(-0.6)
    assert parsed.dropped == ()


def test_a_reflection_may_revise_nothing() -> None:
    parsed = parse_reflection(answer(beliefs={}, memories=["One."]), reflections((0,)), 0)
    assert np.isnan(parsed.revised).all()
    assert (parsed.claim, parsed.stance) == (-1, 0.0)


def test_what_a_reflection_may_do_without_is_dropped_and_named() -> None:
    text = answer(beliefs={"C9": 0.2}, memories=["x" * 1001, "a\x00b"], action="buy")
    parsed = parse_reflection(text, reflections((0,)), 0)
    assert parsed.memories == ("x" * 1000, "ab")
    assert [kind for kind, _ in parsed.dropped] == [
        "unknown_key",
        "unknown_belief",
        "too_long",
        "control_characters",
    ]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, '"beliefs" must be an object'),
        ({"beliefs": None, "memories": ["a"]}, '"beliefs" must be an object'),
        ({"beliefs": [0.1], "memories": ["a"]}, '"beliefs" must be an object'),
        ({"beliefs": {"C1": 1.1}, "memories": ["a"]}, "must lie in 0 to 1, not 1.1"),
        ({"beliefs": {"C1": -0.1}, "memories": ["a"]}, "must lie in 0 to 1"),
        ({"beliefs": {"C1": "high"}, "memories": ["a"]}, "must be a number, not 'high'"),
        ({"beliefs": {"C1": True}, "memories": ["a"]}, "must be a number, not true"),
        ({"beliefs": {}}, "1 to 3 texts"),
        ({"beliefs": {}, "memories": "a"}, "1 to 3 texts"),
        ({"beliefs": {}, "memories": []}, "1 to 3 texts"),
        ({"beliefs": {}, "memories": ["a"] * 4}, "1 to 3 texts"),
        ({"beliefs": {}, "memories": ["a", 1]}, "says something"),
        ({"beliefs": {}, "memories": ["a", " \x00"]}, "says something"),
    ],
)
def test_a_reflection_that_breaks_a_rule_is_invalid(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidAnswerError, match=reason):
        parse_reflection(answer(**fields), reflections((0,)), 0)


@given(
    st.text()
    | st.fixed_dictionaries(
        {"beliefs": beliefs, "memories": st.lists(st.text(), max_size=4) | anything}
    ).map(json.dumps)
)
def test_any_answer_is_a_valid_reflection_or_an_invalid_answer(text: str) -> None:
    try:
        parsed = parse_reflection(text, reflections((0,)), 0)
    except InvalidAnswerError:
        return
    revised = parsed.revised[~np.isnan(parsed.revised)]
    assert ((revised >= 0) & (revised <= 1)).all()
    assert 1 <= len(parsed.memories) <= 3
    assert all(parsed.memories)
    assert -1 <= parsed.stance <= 1


# Probes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("34", "34"),
        ("\n  thirty four \nand more", "thirty four"),
        ("thirty\x00 four", "thirty four"),
        ("x" * 300, "x" * 200),
        ('{"answer": "34"}', "34"),
        ('```json\n{"answer": "34\\nor so"}\n```', "34"),
    ],
)
def test_a_probe_is_answered_by_the_first_line(text: str, said: str) -> None:
    assert parse_probe(text) == said


@pytest.mark.parametrize(
    "text",
    ["", " \n", "\x00", "\ud800", '{"answer": 34}', '{"answer": null}', "{}", "{", "x" * 20_001],
)
def test_a_probe_without_an_answer_is_invalid(text: str) -> None:
    with pytest.raises(InvalidAnswerError):
        parse_probe(text)


@given(st.text())
def test_any_answer_to_a_probe_is_one_short_line_or_invalid(text: str) -> None:
    try:
        said = parse_probe(text)
    except InvalidAnswerError:
        return
    assert said.strip() == said
    assert 1 <= len(said) <= 200
    assert len(said.splitlines()) == 1


# Schemas


def test_the_schema_of_a_reaction_allows_what_is_possible_now_and_nothing_else() -> None:
    requests = turns((0,), actions=("ignore", "like", "follow"))
    schema = reaction_schema(requests, 0)
    assert schema["properties"]["action"]["enum"] == ["ignore", "like", "follow"]
    assert schema["properties"]["target"]["anyOf"][0]["enum"] == ["10", "11", "12", "bo"]
    assert schema["properties"]["changes"]["required"] == ["value", "trust", "C1", "C2"]
    assert schema["required"] == ["action", "target", "words", "changes"]
    assert schema["additionalProperties"] is False
    json.dumps(schema)


def test_the_schema_offers_no_target_where_there_is_none() -> None:
    schema = reaction_schema(turns((0,), actions=("ignore", "like"), empty_feed=True), 0)
    assert schema["properties"]["action"]["enum"] == ["ignore"]
    assert schema["properties"]["target"] == {"type": "null"}


def test_the_schema_asks_for_importance_on_the_frontier_tier_only() -> None:
    requests = turns((0, 0), tier=[0, 1])
    assert "importance" not in reaction_schema(requests, 0)["properties"]
    assert "importance" in reaction_schema(requests, 1)["required"]


def test_every_target_of_the_schema_can_be_parsed() -> None:
    requests = turns((0,))
    enum = reaction_schema(requests, 0)["properties"]["target"]["anyOf"][0]["enum"]
    named = set()
    for action, targets in choices(requests, 0).items():
        for target in enum:
            try:
                react(answer(action=action, target=target, words="x"))
            except InvalidAnswerError:
                continue
            if targets:
                named.add(target)
    assert named == set(enum)


def test_the_schemas_of_reflections_and_probes_name_what_is_asked_for() -> None:
    schema = reflection_schema(reflections())
    assert list(schema["properties"]["beliefs"]["properties"]) == ["value", "trust", "C1", "C2"]
    assert schema["properties"]["memories"]["maxItems"] == 3
    assert answer_schema()["required"] == ["answer"]


# Batches


def test_some_turns_of_a_batch_are_a_batch_whose_prompts_follow() -> None:
    requests = turns((0, 1, 2, 3), tier=[0, 1, 0, 1])
    some = take_turns(requests, [3, 1])
    assert len(some) == 2
    assert some.row.tolist() == [3, 1]
    assert some.beliefs.tolist() == requests.beliefs[[3, 1]].tolist()
    assert some.feed.post.shape == (2, 4)
    assert some.recalled.text[:, 0].tolist() == [7, 5]
    assert [str(some.prompt(j)) for j in range(2)] == ["prompt 3", "prompt 1"]
    assert str(take_turns(some, [1]).prompt(0)) == "prompt 1"


def test_some_reflections_of_a_batch_are_a_batch_whose_prompts_follow() -> None:
    some = take_reflections(reflections((0, 1, 3)), [2])
    assert some.row.tolist() == [3]
    assert some.memories == [((7, 0.6, 2),)]
    assert str(some.prompt(0)) == "prompt 2"


def test_a_persona_cannot_follow_or_ask_itself() -> None:
    possible = choices(turns((1,)), 0)  # bo, whose own post stands in the feed
    assert "follow" not in possible
    assert possible["ask_peer"] == (2,)


def _told(answer: str) -> object:
    """Return what an answer to the first turn comes to, or why it is refused."""
    try:
        parsed = parse_reaction(answer, turns(), 0)
    except InvalidAnswerError as error:
        return str(error)
    return parsed.action, parsed.words, parsed.change.tobytes(), parsed.dropped


@given(reaction_objects, st.data())
def test_an_object_alone_comes_to_the_same_as_one_in_prose(
    given_object: dict[str, Any], data: st.DataObject
) -> None:
    """What is one object is not read character by character; what holds one is."""
    text = json.dumps(given_object, ensure_ascii=data.draw(st.booleans()))
    at = data.draw(st.integers(0, len(text)))
    more = data.draw(st.sampled_from(["", "{", "}", "[", '"', "\\", ",", "\n"]))
    broken = text[:at] + more + text[at:]
    if broken.strip().startswith("{"):
        assert _told(broken) == _told(f"So: {broken}")


def test_a_deep_answer_is_refused_however_it_is_given() -> None:
    for depth, reason in ((33, "the JSON is nested too deeply"), (32, '"action" is missing')):
        deep = '{"a":' * depth + "1" + "}" * depth
        assert [_told(deep), _told(f"So: {deep}")] == [reason, reason]
