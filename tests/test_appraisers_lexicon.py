"""Sentiment rules for valence, norms that the user names for the rest."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from simulation.appraisers import AppraiserSpec, load
from simulation.appraisers.lexicon import WITHOUT_NORMS
from simulation.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.appraisers import Appraiser

GLASGOW = "word,valence_mean,arousal_mean,dominance_mean\ncalm,6,1,9\nstorm,4,9,3\n"
WARRINER = ",Word,V.Mean.Sum,V.SD.Sum,A.Mean.Sum,D.Mean.Sum\n1,calm,6,1,1,9\n2,storm,4,1,9,3\n"


@pytest.fixture
def norms(tmp_path: Path) -> Path:
    return tmp_path / "norms.csv"


def with_norms(file: Path, content: str) -> Appraiser:
    file.write_text(content, encoding="utf-8")
    return load(AppraiserSpec(name="lexicon", norms=file))


def rows(appraiser: Appraiser, *texts: str) -> list[list[float]]:
    found: list[list[float]] = appraiser.appraise(texts, None).tolist()
    return found


def test_valence_is_the_compound_score_of_vader() -> None:
    texts = ("VERY good!!!", "not bad at all", "I don\u2019t like it :(", "kind of awful", "so 😀")
    analyzer = import_module("vaderSentiment.vaderSentiment").SentimentIntensityAnalyzer()
    expected = [analyzer.polarity_scores(text)["compound"] for text in texts]
    assert [row[0] for row in rows(load(AppraiserSpec(name="lexicon")), *texts)] == expected
    assert len(set(expected)) == len(expected)


def test_without_norms_arousal_and_dominance_are_neutral_and_it_says_so() -> None:
    appraiser = load(AppraiserSpec(name="lexicon"))
    assert [row[1:] for row in rows(appraiser, "storm", "I hate it")] == [[0.4, 0.5]] * 2
    assert appraiser.notes == (WITHOUT_NORMS,)
    assert appraiser.name == "lexicon"


@pytest.mark.parametrize(
    "content", [GLASGOW, WARRINER, "\ufeff" + GLASGOW.replace("word", " WORD ")]
)
def test_glasgow_and_warriner_columns_are_recognised(norms: Path, content: str) -> None:
    appraiser = with_norms(norms, content)
    texts = ("A storm.", "CALM", "storm, then calm calm", "nothing known")
    found = [row[1:] for row in rows(appraiser, *texts)]
    assert found == [[1.0, 0.25], [0.0, 1.0], [1 / 3, 0.75], [0.4, 0.5]]
    assert (appraiser.notes, appraiser.name) == ((), "lexicon+norms")


def test_of_a_word_that_stands_twice_the_first_row_counts(norms: Path) -> None:
    appraiser = with_norms(norms, GLASGOW + "\nStorm,1,1,1\n")
    assert rows(appraiser, "storm")[0][1:] == [1.0, 0.25]


def test_words_with_apostrophes_and_hyphens_are_one_word(norms: Path) -> None:
    appraiser = with_norms(norms, GLASGOW + "can't,5,9,1\nwell-being,7,1,9\n")
    assert rows(appraiser, "CAN\u2019T", "well-being")[0][1:] == [1.0, 0.0]
    assert rows(appraiser, "well-being")[0][1:] == [0.0, 1.0]


def test_the_fingerprint_tells_the_norms(norms: Path) -> None:
    first, second = with_norms(norms, GLASGOW).sha256, with_norms(norms, WARRINER).sha256
    assert len({first, second, load(AppraiserSpec(name="lexicon")).sha256}) == 3


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "none of the known columns"),
        ("word,arousal\n", "Glasgow: word, arousal_mean, dominance_mean; Warriner: Word"),
        (GLASGOW.splitlines()[0] + "\n", "holds no word"),
        (
            GLASGOW + "x,1,ten,1\ny,1,nan,1\nz,1,1,10\nq\n",
            r"4 problems\): row 4: .*ten.*row 7 has 1",
        ),
        (GLASGOW + "x,1,0.5,1\n" * 9, "row 8: 0.5 is outside of 1 to 9; and 4 more"),
        (GLASGOW + "x" * 200_000 + ",1,1,1\n", "is no CSV in UTF-8"),
    ],
)
def test_norms_that_cannot_be_used_are_one_clear_message(
    norms: Path, content: str, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        with_norms(norms, content)


def test_norms_in_another_encoding_or_absent_are_a_clear_message(norms: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load(AppraiserSpec(name="lexicon", norms=norms))
    norms.write_bytes(GLASGOW.replace("calm", "café").encode("latin-1"))
    with pytest.raises(UsageError, match="no CSV in UTF-8"):
        load(AppraiserSpec(name="lexicon", norms=norms))
