"""The study `extraction`: what it reads, what it counts, and that shipped weights are its own."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simulation.errors import UsageError
from simulation.extractors import weights
from simulation.extractors.lists import read_words
from simulation.studies.extraction import data, tables
from simulation.studies.extraction import fit as extraction_fit
from simulation.studies.extraction import study as extraction
from simulation.studies.extraction.data import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.studies.output import Findings

SHARED = Path(__file__).resolve().parents[2] / "shared"
ASPECTS = SHARED / "data" / "aspects"
needs_data = pytest.mark.skipif(
    not ASPECTS.is_dir(), reason="the labelled sentences are not beside the repository"
)


def sentence(text: str = "Good soup", *labels: tuple[str, str]) -> str:
    given = labels or (("food", "positive"),)
    inner = "".join(f'<aspectCategory category="{a}" polarity="{p}"/>' for a, p in given)
    categories = f"<aspectCategories>{inner}</aspectCategories>"
    return f"<sentence><text>{text}</text>{categories}</sentence>"


def write(path: Path, *sentences: str) -> Path:
    path.write_text(f"<sentences>{''.join(sentences)}</sentences>", encoding="utf-8")
    return path


MADE = [
    sentence("The soup was delicious.", ("food", "positive"), ("staff", "neutral")),
    sentence(
        "The waiter was rude &amp; the bill high.", ("staff", "negative"), ("price", "neutral")
    ),
    sentence("A table by the door.", ("place", "neutral")),
] * 12


def test_sentences_are_read_with_their_labels(tmp_path: Path) -> None:
    found = data.read_sentences(write(tmp_path / "x.xml", *MADE))
    assert len(found) == 36
    assert found[1].text == "The waiter was rude & the bill high."
    assert dict(found[1].labels) == {"staff": "negative", "price": "neutral"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no element found"),
        ("<sentences>", "no element found"),
        ("<sentences/>", "there is no <sentence> in it"),
        ("text,label\n", "syntax error"),
        (sentence("  "), "sentence 1 has no text"),
        ("<a><sentence><text>x</text></sentence></a>", "sentence 1 has no label"),
        (sentence("x", ("food", "good")), 'label "food" with the polarity "good"; polarities are'),
        (sentence("x", ("", "positive")), 'label "" with the polarity "positive"'),
        (
            sentence("x", ("food", "positive"), ("food", "negative")),
            'sentence 1 has the label "food" twice',
        ),
        ('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "declares a document type or an entity"),
        ("<! entity a>", "declares a document type or an entity"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_one_message(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "x.xml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=r"x\.xml holds no labelled sentences") as caught:
        data.read_sentences(path)
    assert message in str(caught.value)


def test_a_file_in_another_encoding_too_large_or_missing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.xml"
    path.write_bytes('<?xml version="1.0" encoding="utf-16"?><a/>'.encode("utf-16"))
    with pytest.raises(UsageError, match="holds no labelled sentences"):
        data.read_sentences(path)
    monkeypatch.setattr(data, "MAX_BYTES", 10)
    with pytest.raises(UsageError, match="larger than 10 bytes"):
        data.read_sentences(write(path, *MADE))
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        data.read_sentences(tmp_path / "y.xml")


class Oracle:
    """Finds what it was told to find."""

    def __init__(self, found: dict[str, str]) -> None:
        self._found = found

    def found(self, text: str) -> dict[str, str]:
        assert text
        return self._found

    def given(self, text: str, aspects: Sequence[str]) -> dict[str, str]:
        assert text
        return dict.fromkeys(aspects, "negative")


def test_scores_are_counted_by_hand() -> None:
    labels = {"food": "positive", "staff": "negative", "price": "neutral"}
    said = Oracle({"food": "positive", "staff": "positive", "menu": "neutral"})
    counts = tables.score([Sentence(text="x", labels=labels)], said)
    assert counts.finding(tables.ALL) == (2 / 3, 2 / 3, 2 / 3)
    assert counts.finding("food") == (1.0, 1.0, 1.0)
    assert counts.finding("menu") == (0.0, 0.0, 0.0)
    assert counts.finding("place") == (0.0, 0.0, 0.0)
    assert counts.leaning(tables.ALL) == (1 / 2, 1 / 3, 1 / 3)
    assert counts.leaning("staff") == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("text", "polarity"),
    [("I love it", "positive"), ("I hate it", "negative"), ("It is a table", "neutral")],
)
def test_the_baseline_takes_the_sentiment_of_the_whole_sentence(text: str, polarity: str) -> None:
    assert tables.sentence_polarity(text, "food") == polarity


def test_two_largest_shares_are_neutral() -> None:
    assert tables._leading((0.5, 0.5, 0.0)) == "neutral"
    assert tables._leading((0.2, 0.5, 0.3)) == "negative"


def test_without_data_the_study_says_which_file_it_needs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"acsa_train.xml and acsa_val.xml.*--data"):
        extraction.run(tmp_path / "out", quick=True, data=None)
    with pytest.raises(UsageError, match=r"has no acsa_train.xml and no acsa_val.xml; the study"):
        extraction.run(tmp_path / "out", quick=True, data=tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_single_file_is_reported_on(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.xml", *MADE)
    text = extraction.run(tmp_path / "out", quick=False, data=path)
    assert text.startswith("Over all aspects\n\n| method |")
    assert text.endswith(f"wrote {tmp_path / 'out'}")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert list(manifest["data"]) == ["mine.xml"]
    assert manifest["configuration"]["weights_sha256"] == weights.read_weights().sha256
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == digest
    assert set(manifest["files"]) == {"summary.csv", "aspects.csv", "polarity.csv", "report.md"}


def test_a_folder_adds_the_measures_within_the_training_sentences(tmp_path: Path) -> None:
    write(tmp_path / "acsa_train.xml", *MADE)
    write(tmp_path / "acsa_val.xml", *MADE[:3])
    study = extraction.extract_study(tmp_path, quick=False)
    within = next(table for table in study.tables if table.name == "cross_validation")
    best = dict(zip(within.columns, within.rows[0], strict=True))
    assert best["method"] == extraction.FITTED
    assert best["right of labelled, aspects told"] == 1.0  # the same three sentences in each part
    quick = extraction.extract_study(tmp_path, quick=True)
    assert "cross_validation" not in {table.name for table in quick.tables}


def test_a_fit_writes_the_table_that_is_read(tmp_path: Path) -> None:
    unknown = sentence("Free parking.", ("parking", "positive"))  # no aspect of the lists
    source, target = write(tmp_path / "x.xml", *MADE, unknown), tmp_path / "table.json"
    assert extraction_fit.main([str(source), str(target)]) == 0
    table = weights.read_weights(target)
    assert table.aspects == tuple(read_words())
    assert table.labels["staff"] == (0, 12, 12)
    again = extraction_fit.fit(data.read_sentences(source), read_words())
    assert target.read_text() == extraction_fit.written(again)


def figures(study: Findings, name: str) -> dict[tuple[str, ...], dict[str, float]]:
    table = next(table for table in study.tables if table.name == name)
    rows = csv.DictReader(io.StringIO(table.csv()))
    keys = ("method", "aspect") if name != "summary" else ("method",)
    return {
        tuple(row[key] for key in keys): {k: float(v) for k, v in row.items() if k not in keys}
        for row in rows
    }


@needs_data
def test_evidence_is_found_in_sentences_that_had_no_part_in_the_fit() -> None:
    study = extraction.extract_study(ASPECTS, quick=True)
    told = "right of labelled, aspects told"
    found = figures(study, "summary")
    best = found[extraction.FITTED,]
    assert best["labels"] == 888
    assert best["F1"] > 0.85
    assert best[told] > 0.74
    assert best["found and right of labelled"] > 0.67
    assert best["F1"] > found[extraction.LISTS,]["F1"] > 0.82
    for baseline in ("commonest polarity of the aspect", "sentiment of the sentence"):
        assert best[told] > found[baseline,][told] + 0.1
    assert found[extraction.LISTS,][told] > found["sentiment of the sentence",][told] + 0.1
    by_aspect = figures(study, "aspects")
    assert min(row["F1"] for (method, _), row in by_aspect.items() if method == "lists") > 0.6


@pytest.mark.slow
@needs_data
def test_the_shipped_weights_are_those_of_the_training_sentences() -> None:
    sentences = data.read_sentences(ASPECTS / extraction.TRAIN)
    fitted = weights.from_table(extraction_fit.fit(sentences, read_words()))
    shipped = weights.read_weights()
    assert fitted.labels == shipped.labels
    for name in ("find", "lean"):
        ours, theirs = getattr(fitted, name), getattr(shipped, name)
        shared = ours.keys() & theirs.keys()
        assert len(shared) > 0.99 * len(ours.keys() | theirs.keys())
        assert all(
            abs(a - b) <= 20 for key in shared for a, b in zip(ours[key], theirs[key], strict=True)
        )
