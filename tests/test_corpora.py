"""The memories and cues of the studies: complete, balanced, and no label to be guessed."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simulation.encoders import EncoderSpec, load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    Row = dict[str, str]

STUDIES = Path(__file__).resolve().parents[1] / "simulation" / "studies"
FOLDER = STUDIES / "corpora"
COLUMNS = ["memory_id", "text", "topic", "valence", "arousal", "dominance", "specificity"]
SIZES = {"calibration": 63, "development": 92, "test": 165, "events": 320}
PREFIXES = {"calibration": "cal", "development": "dev", "test": "test", "events": "event"}
ATTACHMENT = ("calibration", "development", "test")
POINTS = 0.05  # how much better than the majority a guess from the form may be
FORMS: dict[str, Callable[[Row], str]] = {
    "first two words": lambda row: " ".join(_words(row["text"])[:2]),
    "first word": lambda row: _words(row["text"])[0],
    "topic": lambda row: row["topic"],
    "punctuation": lambda row: "".join(sorted(set(re.findall(r'[.,;:!?"]', row["text"][:-1])))),
    "last mark": lambda row: row["text"][-1],
    "length": lambda row: str(_length(row) // 5),
}


def _read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _files() -> list[str]:
    return [name for name in SIZES if name in ATTACHMENT or (FOLDER / f"{name}.csv").exists()]


def _rows(name: str) -> list[Row]:
    names = ATTACHMENT if name == "attachment" else (name,)
    return [row for each in names for row in _read(FOLDER / f"{each}.csv")]


def _everything() -> list[Row]:
    return [row for name in _files() for row in _rows(name)]


def _collections() -> list[str]:
    return ["attachment", *(name for name in _files() if name not in ATTACHMENT)]


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower())


def _length(row: Row) -> int:
    return len(row["text"].split())


def _third(row: Row) -> str:
    valence = float(row["valence"])
    return "negative" if valence < -0.2 else "positive" if valence > 0.2 else "middle"


def _sign(row: Row) -> str:
    return "pleasant" if float(row["valence"]) > 0 else "unpleasant"


def _specificity(row: Row) -> str:
    return row["specificity"]


def _correlation(left: Sequence[float], right: Sequence[float]) -> float:
    return float(np.corrcoef(left, right)[0, 1])


def _gain(forms: Sequence[str], labels: Sequence[str]) -> float:
    """Return by how much the form, left one out, tells the label better than the majority does.

    A form's rows but the one in question vote; where it has no other row, all rows but that one
    do; a tie counts by the share of the right label in it.
    """
    everyone = Counter(labels)
    groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for form, label in zip(forms, labels, strict=True):
        groups[form][label] += 1
    right = 0.0
    for form, label in zip(forms, labels, strict=True):
        left_out = Counter([label])
        votes = (groups[form] - left_out) or (everyone - left_out)
        best = [name for name, count in votes.items() if count == max(votes.values())]
        right += (label in best) / len(best)
    return (right - max(everyone.values())) / len(labels)


def _cosines(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    vectors = np.asarray(load(EncoderSpec(name="static")).encode(list(texts)), dtype=np.float64)
    cosines: npt.NDArray[np.float64] = vectors @ vectors.T
    return cosines


def _jaccard(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    vocabulary = dict.fromkeys(word for text in texts for word in _words(text))
    index = {word: at for at, word in enumerate(vocabulary)}
    has = np.zeros((len(texts), len(index)))
    for row, text in enumerate(texts):
        has[row, [index[word] for word in _words(text)]] = 1
    both = has @ has.T
    sizes = has.sum(axis=1)
    shares: npt.NDArray[np.float64] = both / (sizes[:, None] + sizes[None, :] - both)
    return shares


def _pairs(
    names: Sequence[str], alike: npt.NDArray[np.float64], above: float
) -> list[tuple[str, str]]:
    near = np.argwhere(np.triu(alike > above, k=1)).tolist()
    return [(names[i], names[j]) for i, j in near]


@pytest.mark.parametrize("name", _files())
def test_a_set_has_its_size_its_columns_and_its_ids(name: str) -> None:
    rows = _rows(name)
    assert [list(row) for row in rows] == [COLUMNS] * SIZES[name]
    ids = [f"{PREFIXES[name]}-{number:03d}" for number in range(1, SIZES[name] + 1)]
    assert [row["memory_id"] for row in rows] == ids


@pytest.mark.parametrize("name", _files())
def test_labels_are_in_their_ranges_and_in_steps_of_a_twentieth(name: str) -> None:
    for row in _rows(name):
        for scale, low in (("valence", -1), ("arousal", 0), ("dominance", 0)):
            value = float(row[scale])
            assert low <= value <= 1, row
            assert value * 20 == pytest.approx(round(value * 20)), row
            assert row[scale] == f"{value:.2f}", row
        assert row["specificity"] in {"specific", "overgeneral"}, row


@pytest.mark.parametrize("name", _files())
def test_a_memory_has_twelve_to_forty_five_words_and_no_template(name: str) -> None:
    for row in _rows(name):
        assert 12 <= _length(row) <= 45, row
        assert row["text"] == " ".join(row["text"].split()), row
        assert not re.search(r"\bI (remember|recall)\b", row["text"]), row
        assert "’" not in row["text"], row  # noqa: RUF001 - the curly one would be another word


@pytest.mark.parametrize("name", _files())
def test_specificity_and_the_thirds_of_valence_are_in_balance(name: str) -> None:
    counts = Counter((row["specificity"], _third(row)) for row in _rows(name))
    assert len(counts) == 6
    assert max(counts.values()) - min(counts.values()) <= 1, counts


@pytest.mark.parametrize("name", _files())
def test_each_mood_is_there_calm_and_stirred_powerless_and_in_control(name: str) -> None:
    rows = _rows(name)
    cells = Counter(
        (
            row["specificity"],
            _third(row),
            float(row["arousal"]) >= 0.5,
            float(row["dominance"]) >= 0.5,
        )
        for row in rows
    )
    assert len(cells) == 24, cells
    assert max(cells.values()) <= 2 * len(rows) / 24, cells
    assert min(cells.values()) >= len(rows) / 24 / 2, cells


@pytest.mark.parametrize("name", _files())
def test_each_mood_is_told_briefly_and_at_length(name: str) -> None:
    told = defaultdict(set)
    for row in _rows(name):
        told[row["specificity"], _third(row)].add(
            "short" if _length(row) <= 20 else "long" if _length(row) >= 32 else "middling"
        )
    assert all({"short", "long"} <= lengths for lengths in told.values()), told


@pytest.mark.parametrize("name", _files())
def test_each_topic_has_every_third_of_valence_and_both_kinds(name: str) -> None:
    rows = _rows(name)
    topics = {row["topic"] for row in rows}
    assert len(topics) == 20
    assert {(row["topic"], _third(row)) for row in rows} == set(
        itertools.product(topics, ("negative", "middle", "positive"))
    )
    assert {(row["topic"], row["specificity"]) for row in rows} == set(
        itertools.product(topics, ("specific", "overgeneral"))
    )


@pytest.mark.parametrize("name", _files())
def test_valence_reaches_over_its_range(name: str) -> None:
    values = [float(row["valence"]) for row in _rows(name)]
    assert min(values) <= -0.8
    assert max(values) >= 0.8
    assert len(set(values)) >= 20


def test_no_memory_is_told_twice() -> None:
    rows = _everything()
    texts = [row["text"] for row in rows]
    assert len({" ".join(_words(text)) for text in texts}) == len(texts)
    ids = [row["memory_id"] for row in rows]
    assert _pairs(ids, _jaccard(texts), 0.5) == []
    assert _pairs(ids, _cosines(texts), 0.9) == []


def test_no_memory_is_one_of_those_that_the_gains_were_fitted_to() -> None:
    rows, fitted = _everything(), _read(STUDIES / "calibration" / "set" / "memories.csv")
    texts = [row["text"] for row in (*rows, *fitted)]
    for alike, above in ((_jaccard(texts), 0.5), (_cosines(texts), 0.9)):
        assert (alike[: len(rows), len(rows) :] <= above).all()


def test_near_duplicates_would_be_found() -> None:
    texts = ["The cat sat on the mat by the door.", "The cat sat on a mat by the door, asleep."]
    assert _pairs(["a", "b"], _jaccard(texts), 0.5) == [("a", "b")]
    assert _pairs(["a", "b"], _cosines(texts), 0.9) == [("a", "b")]


@pytest.mark.parametrize("name", _files())
def test_length_tells_neither_valence_nor_specificity(name: str) -> None:
    rows = _rows(name)
    lengths = [_length(row) for row in rows]
    assert abs(_correlation([float(row["valence"]) for row in rows], lengths)) < 0.1
    assert abs(_correlation([row["specificity"] == "specific" for row in rows], lengths)) < 0.1


@pytest.mark.parametrize("name", _collections())
@pytest.mark.parametrize("mark", [r",", r"[.!?](?=\s|$)", r"[;:]", r'[!?"]'])
def test_how_often_a_mark_stands_tells_neither_valence_nor_specificity(
    name: str, mark: str
) -> None:
    rows = _rows(name)
    counts = [len(re.findall(mark, row["text"])) for row in rows]
    assert abs(_correlation([float(row["valence"]) for row in rows], counts)) < 0.2
    assert abs(_correlation([row["specificity"] == "specific" for row in rows], counts)) < 0.2


@pytest.mark.parametrize("name", _collections())
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("label", [_sign, _third, _specificity])
def test_no_form_tells_a_label(name: str, form: str, label: Callable[[Row], str]) -> None:
    rows = [row for row in _rows(name) if label is not _sign or float(row["valence"]) != 0]
    gain = _gain([FORMS[form](row) for row in rows], [label(row) for row in rows])
    assert gain <= POINTS


def test_a_form_that_told_a_label_would_be_found() -> None:
    assert _gain(["I", "I", "We", "We"], ["good", "good", "bad", "bad"]) == pytest.approx(0.5)
    assert _gain(["I", "We", "I", "We"], ["good", "good", "bad", "bad"]) <= 0


@pytest.mark.parametrize("name", _files())
def test_no_opening_of_two_words_is_a_habit(name: str) -> None:
    openings = Counter(FORMS["first two words"](row) for row in _rows(name))
    assert max(openings.values()) <= 6, openings.most_common(3)


def test_cues_are_twelve_and_twenty_and_all_different() -> None:
    cues = _read(FOLDER / "cues.csv")
    assert {tuple(cue) for cue in cues} == {("cue_id", "set", "text")}
    assert Counter(cue["set"] for cue in cues) == {"development": 12, "test": 20}
    ids = [f"dev-cue-{n:02d}" for n in range(1, 13)] + [f"test-cue-{n:02d}" for n in range(1, 21)]
    assert [cue["cue_id"] for cue in cues] == ids
    texts = [cue["text"] for cue in cues]
    assert _pairs(ids, _jaccard(texts), 0.5) == []
    assert _pairs(ids, _cosines(texts), 0.7) == []


def test_no_cue_quotes_a_memory() -> None:
    said = {
        tuple(words[at : at + 5])
        for words in (_words(row["text"]) for row in _everything())
        for at in range(len(words) - 4)
    }
    cues = _read(FOLDER / "cues.csv")
    for cue in cues:
        words = _words(cue["text"])
        assert not said & {tuple(words[at : at + 5]) for at in range(len(words) - 4)}, cue
    texts = [row["text"] for row in (*cues, *_everything())]
    assert (_cosines(texts)[: len(cues), len(cues) :] < 0.7).all()


def _kappa(one: Sequence[str], other: Sequence[str]) -> float:
    """Return Cohen's kappa of two lists of labels."""
    agreed = float(np.mean([a == b for a, b in zip(one, other, strict=True)]))
    shares = [Counter(labels) for labels in (one, other)]
    chance = sum(shares[0][label] * shares[1][label] for label in shares[0]) / len(one) ** 2
    return (agreed - chance) / (1.0 - chance)


@pytest.mark.parametrize("name", list(SIZES))
def test_a_second_reader_who_was_blind_agrees(name: str) -> None:
    rows = _rows(name)
    second = {row["memory_id"]: row for row in _read(FOLDER / "second.csv")}
    again = [second[row["memory_id"]] for row in rows]
    assert _kappa(*([row["specificity"] for row in some] for some in (rows, again))) >= 0.8
    assert _kappa(*([_third(row) for row in some] for some in (rows, again))) >= 0.8
    for label in ("arousal", "dominance"):
        sides = ([str(float(row[label]) >= 0.5) for row in some] for some in (rows, again))
        assert _kappa(*sides) >= 0.8


def test_kappa_is_one_for_equals_and_nothing_for_chance() -> None:
    assert _kappa(list("aabb"), list("aabb")) == 1.0
    assert _kappa(list("aabb"), list("abab")) == 0.0
