"""Files for the study dam: people's own observations, and labelled sentences."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.cli.app import execute
from simulation.encoders import EncoderSpec, load
from simulation.errors import InputError, UsageError
from simulation.studies.dam import aspects, own, streams
from simulation.studies.dam.own import Own, read

SHARED = Path(__file__).resolve().parents[2] / "shared"
ENCODER = load(EncoderSpec(name="static"))
HEADER = "object,aspect,positive,negative,neutral,strength"


def file(tmp_path: Path, content: str | bytes, name: str = "own.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read_text(tmp_path: Path, content: str | bytes, name: str = "own.csv") -> Own:
    return read(file(tmp_path, content, name))


def refusal(tmp_path: Path, content: str | bytes, name: str = "own.csv") -> list[str]:
    with pytest.raises(InputError) as caught:
        read_text(tmp_path, content, name)
    return str(caught.value).splitlines()


# What is valid, however odd


def test_rows_become_evidence_in_their_order(tmp_path: Path) -> None:
    found = read_text(tmp_path, f"{HEADER}\ntea,taste,0.8,0.1,0.1,0.4\ntea,price,0,1,0,1\n")
    (stream,) = found.streams.values()
    assert [(e.object, e.aspect, e.polarity, e.strength) for e in stream.evidence] == [
        ("tea", "taste", (0.8, 0.1, 0.1), 0.4),
        ("tea", "price", (0.0, 1.0, 0.0), 1.0),
    ]
    assert stream.dialogue == [0, 1]
    assert stream.questions[0] == "How do I feel about the taste of tea?"
    assert found.rounded == 0


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\xef\xbb\xbf" + HEADER.encode() + b"\r\ncaf\xc3\xa9,taste,1,0,0,.5\r\n", "bom.csv"),
        ("object,aspect,polarity,strength\ncafe\u0301,taste,POS,0.5\n", "word.csv"),
        (
            "Strength ;Aspect; OBJECT;polarity;Object Type\n 0.5;taste;café;+;;\n\n;;;;\n",
            "semicolon.csv",
        ),
        ("object\taspect\tpolarity\tstrength\ncafé\ttaste\tpositive\t5e-1", "tabs.tsv"),
        (
            '{"object":"café","aspect":"taste","polarity":"Positive","strength":0.5}\r\n\r\n',
            "a.jsonl",
        ),
        (
            '[{"object":"café","aspect":"taste","polarity":"pos","strength":"0.5","x":[1]}]',
            "a.json",
        ),
        (f'{HEADER},note\rcafé,taste,1,0,0,0.50,"a\nb ""c"", d"\r', "mac.csv"),
        (
            "object,aspect,polarity,positive,negative,neutral,strength\ncafé,taste,,1,0,0,.5",
            "b.csv",
        ),
        ("object,aspect,polarity,positive,negative,neutral,strength\ncafé,taste,+,,,,.5", "c.txt"),
    ],
)
def test_odd_but_valid_files_are_read(tmp_path: Path, content: str | bytes, name: str) -> None:
    (stream,) = read_text(tmp_path, content, name).streams.values()
    (piece,) = stream.evidence
    assert (piece.object, piece.aspect, piece.strength) == ("café", "taste", 0.5)
    assert piece.polarity == (1.0, 0.0, 0.0)


def test_rounded_shares_are_divided_by_their_sum_and_counted(tmp_path: Path) -> None:
    found = read_text(tmp_path, f"{HEADER}\ntea,taste,.33,.33,.33,.4\ntea,taste,.5,.25,.25,.4\n")
    (stream,) = found.streams.values()
    assert stream.evidence[0].polarity == pytest.approx((1 / 3,) * 3)
    assert found.rounded == 1


def test_a_memory_belongs_to_a_persona_and_ticks_give_the_order(tmp_path: Path) -> None:
    found = read_text(
        tmp_path,
        "persona,object,aspect,polarity,strength,tick\n"
        "ann,tea,taste,+,.4,3\nbob,tea,taste,-,.4,1\nann,tea,price,-,.4,1\nann,tea,size,-,.4,3\n",
    )
    assert list(found.streams) == ["bob", "ann"]
    ann = found.streams["ann"]
    assert [e.aspect for e in ann.evidence] == ["price", "taste", "size"]
    assert list(ann.dialogue) == [0, 1, 1]
    assert found.places == {"bob": (0,), "ann": (1, 2, 3)}


def test_rows_of_one_dialogue_belong_together_and_rows_without_one_stand_alone(
    tmp_path: Path,
) -> None:
    rows = "".join(f"tea,taste,+,.4,{label}\n" for label in ("a", "a", "b", "", "", "a"))
    found = read_text(tmp_path, f"object,aspect,polarity,strength,dialogue\n{rows}")
    (stream,) = found.streams.values()
    assert list(stream.dialogue) == [0, 0, 1, 2, 3, 4]


# What is not


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("tea,taste,0,0,0,.4", "positive, negative, neutral sum to 0, not to 1"),
        ("tea,taste,.5,.5,.5,.4", "positive, negative, neutral sum to 1.5, not to 1"),
        ("tea,taste,1.2,-.2,0,.4", 'positive is "1.2", not in [0, 1]; negative is "-.2", not in'),
        ("tea,taste,nan,.5,.5,.4", 'positive is "nan", not a number'),
        ("tea,taste,NaN,inf,1_0,.4", 'positive is "NaN", not a number; negative is "inf", not'),
        ("tea,taste,,.5,.5,.4", "positive is empty"),
        ("tea,taste,1,0,0,0", 'strength is "0"; it must be above 0 and at most 1'),
        ("tea,taste,1,0,0,1.01", 'strength is "1.01"; it must be above 0 and at most 1'),
        ("tea,taste,1,0,0,1e999", 'strength is "1e999"; it must be above 0 and at most 1'),
        ("tea,taste,1,0,0,-.1", 'strength is "-.1"; it must be above 0'),
        ("tea,taste,1,0,0,nan", 'strength is "nan", not a number'),
        ("tea,taste,1,0,0", "strength is empty"),
        ('tea,taste,1,0,0,"0,5"', 'strength is "0,5", not a number (write a decimal point)'),
        (",taste,1,0,0,.5", "object is empty"),
        ("tea,  ,1,0,0,.5", "aspect is empty"),
        (f"{'t' * 501},taste,1,0,0,.5", "object has 501 characters; at most 500"),
        ("tea,taste,1,0,0,.5,7", "7 values in a row of 6 columns"),
        ("tea\x1b[2J,taste,\x1b[2J,0,0,.5", 'positive is "\\x1b[2J", not a number'),
    ],
)
def test_a_bad_row_is_one_problem_with_its_line(tmp_path: Path, row: str, told: str) -> None:
    lines = refusal(tmp_path, f"{HEADER}\ntea,taste,1,0,0,.5\n\n{row}\n")
    assert len(lines) == 2
    assert lines[0].endswith("own.csv cannot be used (1 problem):")
    assert lines[1].startswith("  line 4  ")
    assert told in lines[1]


def test_all_problems_are_told_at_once_but_only_the_first_ten(tmp_path: Path) -> None:
    lines = refusal(tmp_path, f"{HEADER}\n" + "tea,taste,0,0,0,0\n" * 37)
    assert "(37 problems; the first 10):" in lines[0]
    assert [line.split("  ")[1] for line in lines[1:]] == [f"line {n}" for n in range(2, 12)]


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        ("", "a.csv", "holds no observations"),
        (HEADER, "a.csv", "holds no observations"),
        ("\n\n", "a.jsonl", "holds no observations"),
        ("[]", "a.json", "holds no observations"),
        (b"\xff\xfeo\x00", "a.csv", "byte 0 is not UTF-8"),
        (
            "objekt,aspect,polarity,strength\na,b,+,1",
            "a.csv",
            'no column "object" (is it "objekt"?)',
        ),
        ("object,aspect,strength\na,b,1", "a.csv", 'nor a column "polarity" with a word instead'),
        ("object,aspect,positive,negative,strength\na,b,1,0,1", "a.csv", 'no column "neutral"'),
        (f"object,{HEADER}\na,a,b,1,0,0,1", "a.csv", '"object" stands 2 times in the header'),
        (f'{HEADER}\n"a"b,c,1,0,0,1', "a.csv", "line 2  not valid CSV"),
        ("object,aspect,polarity,strength\na,b,positve,1", "a.csv", 'did you mean "positive"?'),
        ("object,aspect,polarity,strength\na,b,,1", "a.csv", 'polarity is ""'),
        ("object,aspect,polarity,strength,tick\na,b,+,1,-1", "a.csv", 'tick is "-1", not a whole'),
        ("object,aspect,polarity,strength,tick\na,b,+,1,", "a.csv", "tick is empty"),
        ("{}", "a.jsonl", 'there is no column "object"'),
        ('{"object":', "a.jsonl", "line 1  not valid JSON"),
        ("3\n[1]", "a.jsonl", "line 2  not a JSON object"),
        ("null", "a.jsonl", "line 1  not a JSON object"),
        ('{"object": "a", "object": "b"}', "a.jsonl", '"object" stands twice'),
        ('{"object": ["a"], "aspect": "b"}', "a.jsonl", "object is a list or an object"),
        (
            '{"object": 1.0, "aspect": null, "polarity": "+", "strength": 1}',
            "a.jsonl",
            "aspect is em",
        ),
        ("[" * 100_000, "a.jsonl", "not valid JSON"),
        (
            '{"object": "\\ud800", "aspect": "b", "polarity": "+", "strength": 1}',
            "a.jsonl",
            "surrog",
        ),
        (
            '{"object": 1, "aspect": "b", "polarity": "+", "strength": true}',
            "a.jsonl",
            '"true", not',
        ),
        ('{"object": 1, "aspect": 2, "polarity": "+", "strength": NaN}', "a.jsonl", '"NaN", not'),
    ],
)
def test_a_file_that_cannot_be_used_says_why(
    tmp_path: Path, content: str | bytes, name: str, told: str
) -> None:
    assert told in "\n".join(refusal(tmp_path, content, name))


def test_an_object_with_too_many_aspects_is_refused(tmp_path: Path) -> None:
    rows = "".join(f"tea,side {i},1,0,0,.5\n" for i in range(257))
    assert "has 257 aspects; at most 256" in refusal(tmp_path, f"{HEADER}\n{rows}")[1]
    fine = rows.replace("tea,side 256", "bread,side 256")
    assert len(read_text(tmp_path, f"{HEADER}\n{fine}").streams) == 1


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "none.csv")


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=120), st.sampled_from(["a.csv", "a.jsonl", "a.json", "a.txt"]))
def test_no_file_makes_more_than_a_message(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str
) -> None:
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError):
        read(path)


# What becomes of it


def test_observations_of_several_people_settle_each_in_a_memory_of_its_own(tmp_path: Path) -> None:
    rows = "".join(
        f"{who},'; DROP TABLE units; --|x,side {i % 4},{word},.4\n"
        for i in range(30)
        for who, word in (("ann", "+"), ("bob", "-"))
    )
    found = read_text(tmp_path, f"Persona,object,aspect,polarity,strength\n{rows}")
    taken = streams.take(found, ENCODER)
    units = streams.unit_table(taken).rows
    assert {row[0]: row[10] for row in units} == {"ann": "very good", "bob": "very bad"}
    assert taken.units[-1] == len(units)
    assert (taken.units <= range(1, 61)).all()
    assert taken.compression == pytest.approx(1 - len(units) / 60)
    assert taken.recall[0] == 1.0
    summary = {row[0]: row[1] for row in streams.summary_table(taken).rows}
    assert (summary["observations"], summary["personas"], summary["sides of these"]) == (
        60,
        2,
        8,
    )
    changes = streams.update_table(taken).rows
    assert sum(row[2] == "evidence" for row in changes) == 60
    assert len(streams.growth_table(taken).rows) == 60


def test_a_changed_mind_is_counted(tmp_path: Path) -> None:
    rows = "tea,taste,+,.4\n" * 3 + "tea,taste,-,.4\n" * 5
    taken = streams.take(read_text(tmp_path, f"object,aspect,polarity,strength\n{rows}"), ENCODER)
    summary = {row[0]: row[1] for row in streams.summary_table(taken).rows}
    assert summary["changes of the leading polarity"] == 1


def test_columns_that_are_ignored_are_named(tmp_path: Path) -> None:
    content = "persona id,object,aspect,polarity,strength,\x1b,\nann,tea,taste,+,.4,1,\n"
    taken = streams.take(read_text(tmp_path, content), ENCODER)
    summary = {row[0]: row[1] for row in streams.summary_table(taken).rows}
    assert summary["columns ignored"] == r'"persona_id", "\x1b"'
    assert summary["personas"] == 1


def test_questions_are_spread_over_a_long_file(tmp_path: Path) -> None:
    rows = "tea,taste,+,.4\n" * 1200
    (stream,) = read_text(tmp_path, f"object,aspect,polarity,strength\n{rows}").streams.values()
    assert len(stream.asked) == own.QUESTIONS == 500
    assert (stream.asked[0], stream.asked[-1]) == (0, 1197)


@pytest.mark.parametrize("name", ["own.csv", "none.csv", "own.xml"])
def test_the_study_refuses_bad_data_before_it_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    if name != "none.csv":
        file(tmp_path, f"{HEADER}\ntea,taste,0,0,0,2\n", name)
    out = tmp_path / "out"
    command = ["study", "dam", "--quick", "--data", str(tmp_path / name), "--out", str(out)]
    assert execute(command) == 2
    assert name in capsys.readouterr().err
    assert not out.exists()


# Labelled sentences

XML = """<sentences>{}</sentences>"""
SENTENCE = (
    '<sentence><text>{}</text><aspectCategories><aspectCategory category="food" polarity="{}"/>'
    "</aspectCategories></sentence>"
)


def test_every_sixth_labelled_sentence_is_asked_and_the_others_are_told(tmp_path: Path) -> None:
    many = "".join(SENTENCE.format(f"text {i}", "positive") for i in range(1, 13))
    path = file(tmp_path, XML.format(many), "a.xml")
    for given_path in (path, tmp_path):
        stream = aspects.stream(aspects.read(given_path), aspects.ONE)
        assert len(stream.evidence) == 10
        assert stream.evidence[0].polarity == (1.0, 0.0, 0.0)
        assert list(stream.questions) == ["the restaurant: text 6", "the restaurant: text 12"]
        assert list(stream.asked) == [9, 9]
    dealt = aspects.stream(aspects.read(path), aspects.MANY)
    assert {piece.object for piece in dealt.evidence} <= set(aspects.MANY)
    assert len({piece.object for piece in dealt.evidence}) > 1


def test_labelled_sentences_that_are_too_few_or_absent_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no \.xml file"):
        aspects.read(tmp_path)
    path = file(tmp_path, XML.format(SENTENCE.format("a", "neutral")), "a.xml")
    with pytest.raises(UsageError, match="holds 1 sentences; at least 6"):
        aspects.read(path)


def test_the_data_at_hand_make_a_stream() -> None:
    folder = SHARED / "data" / "aspects"
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    stream = aspects.stream(aspects.read(folder), aspects.MANY)
    assert len(stream.evidence) > 6000
    assert len(stream.questions) == 500


def test_a_cell_too_long_is_told_and_other_readers_of_csv_are_left_as_they_were(
    tmp_path: Path,
) -> None:
    before = csv.field_size_limit()
    told = refusal(tmp_path, f"{HEADER}\n{'x' * 200_000},taste,1,0,0,1\n")
    assert "field larger than field limit" in told[1]
    assert csv.field_size_limit() == before
