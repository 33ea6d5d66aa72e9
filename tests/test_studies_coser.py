"""CoSER's test set as users have it: read, acted by rule, judged, and words compared."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from math import exp
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_model import local_server
from model_server import Asked, Model, good, model, told

from simulation.encoders import EncoderSpec, load
from simulation.errors import UsageError
from simulation.studies import coser
from simulation.studies.coser import acting, casting, judging, overlap, reading
from simulation.studies.coser.judging import Flaw
from simulation.studies.coser.reading import Conversation, Message
from simulation.studies.speaking import Models, Request

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from provider_server import Step

WORDS = st.lists(st.sampled_from("abcde"), max_size=12)


def item(number: int, conversation: int = 0, **given: Any) -> dict[str, Any]:
    """Return a circumstance of a book of our own, in CoSER's form."""
    return {
        "book": "The Harbour",
        "scenario": f"Evening {number} on the pier. Fog comes in.",
        "topic": "the boat",
        "i_p": number,
        "i_c": conversation,
        "plot": {
            "summary": "Ines wants to sail; Otto has hidden the oars.",
            "i_p": number,
            "key_characters": [{"name": "Ines", "description": "A sailor without a boat."}],
        },
        "key_characters": [
            {"name": "Ines", "motivation": "I have to sail before the tide."},
            {"name": "Otto", "thought": "She must not find the oars."},
        ],
        "dialogues": [
            {
                "character": "Ines",
                "message": f"[He lies.] (points) The tide is at {number}, Otto.",
            },
            {"character": "Otto", "message": "[She knows.] The oars are gone, Ines."},
            {"character": "Environment", "message": "A bell rings in the fog."},
            {"character": "Ines", "message": "Then we row with planks."},
        ],
        "speaking_characters_w_env": ["Ines", "Otto", "Environment"],
        "major_characters": ["Ines", "Otto"],
        "character_profiles": {"Ines": "Stubborn and quick.", "Otto": "A harbour master."},
        "weight": 1.5,
    } | given


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Write a test set of three scenes of one book."""
    return written(tmp_path / "set.json", [item(1), item(2), item(2, 1)])


def written(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def without(key: str) -> list[dict[str, Any]]:
    return [item(1), {k: v for k, v in item(2).items() if k != key}]


# BLEU and ROUGE-L


def test_bleu_is_what_one_works_out_by_hand() -> None:
    # precisions 5/6, 3/5, 1/4 and 0/3 for the first; 7/8, 5/7, 3/6, 1/5 for the second
    cat = ["the", "cat", "sat", "on", "the", "mat"]
    assert overlap.bleu(["the", "cat", "is", "on", "the", "mat"], cat) == 0.0
    long = ["a", "b", "c", "d", "x", "e", "f", "g"]
    other = ["a", "b", "c", "d", "e", "f", "g", "h"]
    assert overlap.bleu(long, other) == pytest.approx(
        100 * (7 / 8 * 5 / 7 * 3 / 6 * 1 / 5) ** 0.25
    )


def test_bleu_clips_what_is_repeated_and_punishes_shortness() -> None:
    reference = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
    short = ["a", "b", "c", "d", "e"]
    assert overlap.bleu(short, reference) == pytest.approx(100 * exp(1 - 10 / 5))
    # 4 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 quadruples: the second "a b" is clipped
    twice = ["a", "b", "c", "d", "a", "b"]
    want = 100 * (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25 * exp(1 - 10 / 6)
    assert overlap.bleu(twice, reference) == pytest.approx(want)


def test_rouge_l_is_lins_own_example() -> None:
    reference = ["police", "killed", "the", "gunman"]
    assert overlap.rouge_l(["police", "kill", "the", "gunman"], reference) == pytest.approx(75.0)
    assert overlap.rouge_l(["the", "gunman", "kill", "police"], reference) == pytest.approx(50.0)


def textbook(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence by the table of the textbook."""
    row = [0] * (len(other) + 1)
    for a in one:
        new = [0]
        for j, b in enumerate(other):
            new.append(row[j] + 1 if a == b else max(row[j + 1], new[j]))
        row = new
    return row[-1]


@given(WORDS, WORDS)
def test_the_longest_common_subsequence_is_the_textbooks(one: list[str], other: list[str]) -> None:
    assert overlap.common(one, other) == textbook(one, other)


@given(WORDS, WORDS)
def test_overlaps_stay_in_their_range_and_are_whole_for_the_same(
    one: list[str], other: list[str]
) -> None:
    for measure in (overlap.bleu, overlap.rouge_l):
        assert 0.0 <= measure(one, other) <= 100.0 + 1e-9
        assert measure(one, []) == measure([], one) == 0.0
    assert overlap.rouge_l(one, other) == pytest.approx(overlap.rouge_l(other, one))
    if one:
        assert overlap.rouge_l(one, one) == pytest.approx(100.0)
    if len(one) >= overlap.ORDER:
        assert overlap.bleu(one, one) == pytest.approx(100.0)


# Scores


def test_a_score_is_what_cosers_formula_gives() -> None:
    two = [Flaw(instance="", severity=4), Flaw(instance="", severity=2)]
    assert judging.score(two, lines=0) == 70.0
    assert judging.score(two, lines=10) == 85.0
    assert judging.score(two, lines=20) == 100.0
    assert judging.score([], lines=20) == 100.0
    assert judging.score([Flaw(instance="", severity=5)] * 9, lines=5) == 0.0


@pytest.mark.parametrize(
    ("text", "severities"),
    [
        ('{"flaws": []}', []),
        ('Sure: {"flaws": [{"instance": "x", "severity": 4}]} Done.', [4]),
        ('{"Anthropomorphism": {"flaws": [{"instance": "x"}, {"severity": 5}]}}', [1, 5]),
        ('```json\n{"why": "no \\"flaws\\": [1]", "flaws": [{"severity": 2}]}\n```', [2]),
    ],
)
def test_flaws_are_read_out_of_what_a_judge_writes(text: str, severities: list[int]) -> None:
    found = judging.flaws_in(text)
    assert found is not None
    assert [flaw.severity for flaw in found] == severities


ONE = '{"instance": "x", "severity": 3}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "None.",
        "{}",
        "[]",
        '{"flaws": "none"}',
        '{"flaws": [',
        '{"flaws": ' + "[" * 100_000,
        '{"flaws": [' + '{"a":' * 100_000,
        '{"flaws": [{"severity": ' + "1" * 5000 + "}]}",
        *(
            f'{{"flaws": [{ONE}, {{"severity": {severity}}}]}}'
            for severity in ('"5"', "4.0", "500", "0", "-1", "true", "null", "NaN", "[3]")
        ),
        *(f'{{"flaws": [{ONE}, {item}]}}' for item in ('"no object"', "null", "3", "[]", "{}x")),
        f'{{"flaws": [{ONE}]}} {{"flaws": []}}',
        f'{{"flaws": [], "flaws": [{ONE}]}}',
        f'{{"A": {{"flaws": []}}, "B": {{"flaws": [{ONE}]}}}}',
        '{"flaws": [{"severity": 1, "severity": 5}]}',
        '{"A": {"flaws": []}, "B": {"fl',
        '{broken {"flaws": []}',
        '{"flaws": []}}',
        '{"a": {"b": {"flaws": []}}}',
        '{"flaws": [{"instance": "\\ud800", "severity": 3}]}',
        '{"flaws": [{"instance": 7, "severity": 3}]}',
    ],
)
def test_an_answer_that_cannot_be_read_gives_no_score(text: str) -> None:
    assert judging.flaws_in(text) is None


def test_the_judge_never_reads_what_is_only_thought(tiny: Path) -> None:
    scene = acting.Scene(circumstance=reading.read(tiny).circumstances[0], speaker="Ines")
    scene.said.append(Message(character="Ines", text="[I am afraid.] (waves) Come!"))
    asked: list[Request] = []

    class Judge:
        name = "judge"

        def say(self, requests: Sequence[Request]) -> list[str]:
            asked.extend(requests)
            return ['{"flaws": []}', "nonsense", '{"flaws": [{"severity": 3}]}', '{"flaws": []}']

    (found,) = judging.judge_all([scene], Judge())
    read = "\n".join(text for request in asked for _, text in request.messages)
    assert "(waves) Come!" in read
    assert "I am afraid" not in read
    assert "He lies" not in read
    assert found.scores == {
        "Storyline Consistency": 100.0,
        "Character Fidelity": 86.5,
        "Storyline Quality": 100.0,
    }
    assert found.average is None


# Reading


def test_the_test_set_is_read_as_coser_writes_it(tiny: Path) -> None:
    found = reading.read(tiny)
    first = found.circumstances[0]
    assert first.id == "The Harbour-1-0"
    assert first.cast == ("Ines", "Otto", "Environment")
    assert first.profiles["Ines"] == "A sailor without a boat.\n\nStubborn and quick."
    assert first.motives == {
        "Ines": "I have to sail before the tide.",
        "Otto": "She must not find the oars.",
    }
    assert len(first.reference.messages) == 4


def test_only_earlier_conversations_in_which_one_spoke_are_known(tmp_path: Path) -> None:
    silent = item(2, dialogues=[{"character": "Otto", "message": "Nobody here."}])
    path = written(tmp_path / "set.json", [item(3), item(1), silent, item(4)])
    found = reading.read(path)
    known = found.before(found.circumstances[0], "Ines")
    assert [each.place for each in known] == [(1, 0)]
    assert [p.place for p in found.before(found.circumstances[0], "Otto")] == [(1, 0), (2, 0)]
    assert found.before(found.circumstances[1], "Ines") == ()


def test_the_conversations_of_a_book_are_taken_from_its_file(tmp_path: Path) -> None:
    written(tmp_path / "data" / "test" / "test_set.json", [item(2)])
    talk = {"dialogues": [{"character": "Otto", "message": "The oars are in the shed."}]}
    book = {"plots": [{"conversation": [talk]}, {}, {"i_p": 9, "conversation": [talk]}]}
    written(tmp_path / "data" / "final" / "The Harbour.json", book)
    found = reading.read(tmp_path / "data")
    assert [each.place for each in found.before(found.circumstances[0], "Otto")] == [(0, 0)]
    assert [file.name for file in found.files] == ["test_set.json", "The Harbour.json"]


def test_a_book_of_any_name_is_no_path(tmp_path: Path) -> None:
    odd = [item(i, book=name) for i, name in enumerate(("../x", "a/b", "b" * 999, "c\0d"))]
    written(tmp_path / "data" / "test" / "test_set.json", odd)
    written(tmp_path / "data" / "x.json", "no book")
    (tmp_path / "data" / "final").mkdir()
    assert len(reading.read(tmp_path / "data").files) == 1


def test_who_may_speak_is_who_speaks_where_nothing_else_is_said(tmp_path: Path) -> None:
    bare = {
        key: value
        for key, value in item(1).items()
        if key in {"book", "scenario", "plot", "dialogues"}
    }
    (one,) = reading.read(written(tmp_path / "set.json", [bare])).circumstances
    assert one.cast == ("Ines", "Otto", "Environment")
    assert one.major == ("Ines", "Otto")
    assert one.motives == {}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"book": "x"}, "the file must be a list"),
        ([], "holds no circumstance"),
        ([3], "item 1: the item must be an object, not 3"),
        (without("book"), "item 2: book is missing; text is needed"),
        (without("plot"), "item 2: plot is missing; an object is needed"),
        ([item(1, dialogues="none")], 'item 1: dialogues must be a list, not "none"'),
        ([item(1, dialogues=[])], "item 1: dialogues is empty"),
        ([item(1, dialogues=[{"character": "Ines"}])], "dialogues[0]: message is missing"),
        (
            [item(1, dialogues=[{"character": " ", "message": "x"}])],
            "item 1, dialogues[0]: character is empty; a name is needed",
        ),
        ([item(1, major_characters=[""])], "item 1: major_characters[0] is empty"),
        ([item(1, book="\ud800")], "[0].book holds half of a surrogate pair"),
        ([item(1, i_c=True)], "i_c must be a whole number, not true"),
        ([item(1), item(1)], "two items are of the same place in their book: The Harbour-1-0"),
        ([item(1, speaking_characters_w_env=["Environment"])], "nobody but the environment"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_place(
    tmp_path: Path, value: object, told: str
) -> None:
    path = written(tmp_path / "set.json", value)
    with pytest.raises(UsageError) as error:
        reading.read(path)
    assert told in str(error.value)
    assert "set.json" in str(error.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'[\n{"book": }]', "line 2, column 10: this is no JSON"),
        (b'["\xff"]', "is no UTF-8 at byte 2"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_json_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "set.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=told):
        reading.read(path)


def test_without_the_test_set_it_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"needs CoSER's test set: name your copy"):
        coser.run(tmp_path / "out", quick=True, data=None)
    with pytest.raises(UsageError, match="cannot be read"):
        coser.run(tmp_path / "out", quick=True, data=tmp_path / "none.json")
    assert not (tmp_path / "out").exists()


# Memory and prompts


def test_a_character_remembers_what_came_before_but_not_the_last_messages() -> None:
    earlier = Conversation(place=(0, 0), messages=(Message(character="Otto", text="[Aha.] Hm."),))
    said = [Message(character="Ines", text=f"[no] line {i}") for i in range(casting.RECENT + 2)]
    found = casting.memories_of("Otto", [earlier], said)
    assert [memory.text for memory in found] == [
        "Otto: [Aha.] Hm.",
        "Ines: line 0",
        "Ines: line 1",
    ]
    assert [memory.age for memory in found] == [9, 8, 7]


def test_memory_brings_back_what_fits_and_is_the_same_every_time() -> None:
    memory = casting.Remembering(load(EncoderSpec(name="static")))
    held = [
        casting.Memory(text=text, age=1)
        for text in (
            "Otto: The oars are hidden in the shed.",
            "Ines: My sister sings on Sundays.",
            "Otto: Bread is dear this year.",
        )
    ]
    once = memory.recall(held, "Where are the oars?", stream="a")
    assert once
    assert set(once) <= {each.text for each in held}
    assert once == memory.recall(held, "Where are the oars?", stream="a")
    assert memory.recall([], "Where are the oars?", stream="a") == ()


def test_a_prompt_names_no_trait_and_hides_the_thoughts_of_others(tiny: Path) -> None:
    scene = reading.read(tiny).circumstances[0]
    said = [Message(character="Otto", text="[She knows.] Good evening.")]
    request = casting.act(scene, "Ines", said, ["Otto: The oars are gone."], id="x")
    whole = request.system + request.messages[0][1]
    assert "She knows" not in whole
    assert "She must not find the oars" not in whole
    assert "I have to sail before the tide." in whole
    assert "- Otto: The oars are gone." in whole
    for trait in ("openness", "neurotic", "personality", "valence", "feel"):
        assert trait not in whole.lower()


# Acting


class Scripted:
    """Says the same each time, and names who is next as it is told to."""

    name = "scripted"

    def __init__(self, following: str, words: str = "Yes.") -> None:
        self.following, self.words = following, words

    def say(self, requests: Sequence[Request]) -> list[str]:
        return [self.following if r.id.endswith("next") else self.words for r in requests]


def played(tiny: Path, speaker: Scripted, rounds: int = 8) -> tuple[acting.Scene, ...]:
    found = reading.read(tiny)
    memory = casting.Remembering(load(EncoderSpec(name="static")))
    return acting.play(found, found.circumstances, speaker, memory, rounds=rounds)


def test_a_scene_cannot_end_before_six_messages(tiny: Path) -> None:
    scenes = played(tiny, Scripted("<END CHAT>"))
    assert {len(scene.said) for scene in scenes} == {acting.LEAST}
    assert {scene.drawn for scene in scenes} == {acting.LEAST - 1}


def test_who_is_named_speaks_and_who_is_not_of_the_cast_is_replaced_and_counted(
    tiny: Path,
) -> None:
    named = played(tiny, Scripted("Otto."), rounds=2)[0]
    assert [message.character for message in named.said] == ["Ines", "Otto"]
    assert named.drawn == 0
    scene = played(tiny, Scripted("the captain"))[0]
    speakers = [message.character for message in scene.said]
    assert scene.drawn == 7
    assert all(a != b for a, b in pairwise(speakers))
    assert set(speakers) <= {"Ines", "Otto", "Environment"}


def test_silence_is_counted_and_a_name_in_front_is_cut_off(tiny: Path) -> None:
    silent = played(tiny, Scripted("Otto", words=" "), rounds=2)[0]
    assert silent.silent == 2
    spoken = played(tiny, Scripted("Otto", words="Ines: Come here."), rounds=1)[0]
    assert spoken.said == [Message(character="Ines", text="Come here.")]
    assert spoken.lines == 1


# The whole


def test_the_whole_study_runs_by_rule_and_comes_out_the_same_twice(
    tiny: Path, tmp_path: Path
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    text = coser.run(one, quick=False, data=tiny)
    coser.run(other, quick=False, data=tiny, models=Models())
    names = sorted(path.name for path in one.iterdir())
    assert names == sorted(path.name for path in other.iterdir())
    for name in names:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert "BLEU" in text
    report = (one / "report.md").read_text(encoding="utf-8")
    assert "No language model spoke" in report.split("\n")[2]
    with (one / "scenes.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["scene"] for row in rows] == [
        "The Harbour-1-0",
        "The Harbour-2-0",
        "The Harbour-2-1",
    ]
    assert rows[0]["memories_shown"] == "0"
    assert int(rows[2]["memories_shown"]) > 0
    manifest = json.loads((one / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["data"]) == {"set.json"}


def test_a_short_form_acts_two_scenes_of_six_messages(tiny: Path, tmp_path: Path) -> None:
    coser.run(tmp_path / "out", quick=True, data=tiny)
    with (tmp_path / "out" / "scenes.csv").open(encoding="utf-8") as file:
        assert [int(row["messages"]) for row in csv.DictReader(file)] == [6, 6]


def test_without_a_readable_judgement_a_score_is_missing_and_told(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "by_rule", lambda _: "I liked it.")
    text = coser.run(tmp_path / "out", quick=True, data=tiny)
    assert text.count("no scene has it; 2 of 2 judgements could not be read") == 4
    with (tmp_path / "out" / "summary.csv").open(encoding="utf-8") as file:
        assert [row["measure"] for row in csv.DictReader(file)] == ["BLEU", "ROUGE-L"]


def test_a_judgement_that_never_came_is_told_apart(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["", "I liked it.", *['{"flaws": []}'] * 6])
    monkeypatch.setattr(judging, "by_rule", lambda _: next(answers))
    text = coser.run(tmp_path / "out", quick=True, data=tiny)
    assert "1 scenes; 1 of 2 judgements never came" in text
    assert "1 scenes; 1 of 2 judgements could not be read" in text


def test_an_error_after_all_was_judged_names_the_kept_answers(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("simulation.studies.coser.study.publish", fail)
    with model(_held) as server:
        models = Models.parse(model="openai:m", base_url=server.base_url("openai"))
        with pytest.raises(OSError, match="No space") as caught:
            coser.run(tmp_path / "out", quick=True, data=tiny, models=models)
    assert any("out.calls.jsonl" in note for note in caught.value.__notes__)


def test_the_rule_judge_finds_repetition_and_what_is_far_from_the_book() -> None:
    acted = "Ines: The tide turns.\n\nInes: The tide turns.\n\nOtto: Bananas dance on Mars today."
    request = Request(
        id="x", messages=(("user", "?"),), material=(acted, "Ines: The tide turns. Otto: Yes.")
    )
    found = judging.flaws_in(judging.by_rule(request))
    assert found is not None
    assert [flaw.severity for flaw in found] == [2, 1]


def _held(asked: Asked, _: Model) -> list[Step]:
    return told(asked, "Row!") if asked.schema is None else good(asked)


def test_flaws_and_names_are_read_where_a_server_holds_a_model_to_the_form(
    tiny: Path, tmp_path: Path
) -> None:
    with model(_held) as server:
        models = Models.parse(model="openai:m", base_url=server.base_url("openai"))
        coser.run(tmp_path / "out", quick=True, data=tiny, models=models)
    with (tmp_path / "out" / "flaws.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["dimension"] for row in rows} == set(judging.DIMENSIONS)
    assert {row["severity"] for row in rows} <= set("12345")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["models"]["judge"]["forms"] == {"fixed": 8, "free": 0}
    assert manifest["models"]["speaker"]["forms"] == {"fixed": 10, "free": 0}


def test_the_longest_list_of_flaws_is_below_the_longest_answer() -> None:
    flaw = {"instance": "x" * judging.INSTANCE, "severity": 5}
    longest = json.dumps({"flaws": [flaw] * judging.MOST}, indent=1)
    assert len(longest) / 3 < judging.TOKENS  # English has more than three characters a token


@pytest.mark.local_model
def test_a_real_model_acts_and_judges_a_tiny_set(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "TOKENS", 40)
    with local_server(context=16_384) as url:
        models = Models.parse(model="openai:smollm2", base_url=f"{url}/v1", max_tokens=12)
        coser.run(tmp_path / "out", quick=True, data=tiny, models=models)
    lines = (tmp_path / "out" / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 * (6 + 5 + 4)
    with (tmp_path / "out" / "scenes.csv").open(encoding="utf-8") as file:
        assert [int(row["messages"]) for row in csv.DictReader(file)] == [6, 6]
