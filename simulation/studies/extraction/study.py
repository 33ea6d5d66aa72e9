"""The study `extraction`: how well evidence is found offline in sentences with labelled aspects.

Restaurant sentences, each with at least two aspects. Word lists, thresholds and weights were made
and tuned on training sentences only; here they meet sentences that had no part in that. Baselines
find aspects as the extractor does and guess how the text leans: by the commonest label of the
training sentences, and by the sentiment of the whole sentence.

Source: DAM-LLM, its extraction agent, which the seed does not measure; the measures are this
project's.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from simulation.errors import UsageError
from simulation.extractors import near, polarity, weights
from simulation.extractors.base import POLARITIES
from simulation.extractors.lexicon import LexiconExtractor
from simulation.extractors.lists import RESTAURANT, read_words
from simulation.studies.extraction import fit, tables
from simulation.studies.extraction.data import read_sentences
from simulation.studies.output import Findings, publish, sha256_of, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from simulation.extractors.weights import Weights
    from simulation.studies.extraction.data import Sentence
    from simulation.studies.extraction.tables import Method, Score
    from simulation.studies.tables import Table

NAME: Final = "extraction"
TRAIN: Final = "acsa_train.xml"
HELD_OUT: Final = "acsa_val.xml"
FOLDS: Final = 5
FITTED: Final = "lists and weights"
LISTS: Final = "lists"
NEEDED: Final = (
    f"the study {NAME} needs labelled sentences: name a folder with {TRAIN} and {HELD_OUT}, or "
    "one such XML file to report on, with --data"
)


def run(folder: Path, *, quick: bool, data: Path | None) -> str:
    """Make the study, write it into a new folder and return what to print.

    Raises:
        UsageError: There are no data, or they cannot be used.
    """
    return publish(extract_study(data, quick=quick), folder, quick=quick)


def extract_study(data: Path | None, *, quick: bool) -> Findings:
    """Return what the study finds.

    data: a folder with the training and the held-out sentences, or one file to report on.
    quick: without the cross-validation within the training sentences, which takes a minute.

    Raises:
        UsageError: There are no data, or they cannot be used.
    """
    held_out, train = _files(data)
    sentences = read_sentences(held_out)
    training = None if train is None else read_sentences(train)
    fitted, words = weights.read_weights(), read_words(RESTAURANT)
    scores = {
        name: tables.score(sentences, method) for name, method in _methods(words, fitted).items()
    }
    finders = {name: scores[name] for name in (LISTS, FITTED)}
    summary = tables.summary_table(scores, title="Over all aspects", name="summary")
    found = [
        summary,
        tables.aspect_table(finders, tuple(words)),
        tables.polarity_table(scores, tuple(words)),
    ]
    if training is not None and not quick:
        found.append(_within(training, words))
    given = [path for path in (held_out, train) if path is not None]
    return Findings(
        name=NAME,
        title="evidence in labelled sentences",
        about=f"{len(sentences)} sentences of {held_out.name}. Word lists and weights come from "
        "training sentences only; figures on those would flatter.",
        verdicts=(),
        tables=tuple(found),
        configuration=_configuration(fitted),
        data={path.name: sha256_of(path) for path in given},
        notes=(shown(summary).rstrip(),),
    )


def _files(data: Path | None) -> tuple[Path, Path | None]:
    """Return the file to report on, and the training file if there is one."""
    if data is None:
        raise UsageError(NEEDED)
    if not data.is_dir():
        return data, None
    missing = [name for name in (TRAIN, HELD_OUT) if not (data / name).is_file()]
    if missing:
        raise UsageError(f"{data} has no {' and no '.join(missing)}; {NEEDED}")
    return data / HELD_OUT, data / TRAIN


def _methods(words: Mapping[str, Sequence[str]], fitted: Weights) -> dict[str, Method]:
    """Return what is compared."""
    best = tables.Extraction(LexiconExtractor(words, weights=fitted), tuple(words))
    overall, each = _commonest(fitted)
    return {
        FITTED: best,
        LISTS: tables.Extraction(LexiconExtractor(words), tuple(words)),
        "commonest polarity": tables.Baseline(best, lambda _, __: overall),
        "commonest polarity of the aspect": tables.Baseline(
            best, lambda _, a: each.get(a, overall)
        ),
        "sentiment of the sentence": tables.Baseline(best, tables.sentence_polarity),
    }


def _commonest(fitted: Weights) -> tuple[str, dict[str, str]]:
    """Return the commonest label of the training sentences, over all and of each aspect."""
    totals = [sum(column) for column in zip(*fitted.labels.values(), strict=True)]
    each = {aspect: _largest(counts) for aspect, counts in fitted.labels.items()}
    return _largest(totals), each


def _largest(counts: Sequence[int]) -> str:
    return POLARITIES[max(range(len(POLARITIES)), key=lambda i: counts[i])]


def _within(training: Sequence[Sentence], words: Mapping[str, Sequence[str]]) -> Table:
    """Return the same measures within the training sentences, fitted on four fifths at a time."""
    total: dict[str, Score] = {}
    for fold in range(FOLDS):
        rest = [sentence for i, sentence in enumerate(training) if i % FOLDS != fold]
        table = weights.from_table(fit.fit(rest, words))
        for name, method in _methods(words, table).items():
            counts = tables.score(training[fold::FOLDS], method)
            total.setdefault(name, tables.Score()).add(counts)
    title = f"Within the training sentences, {FOLDS}-fold cross-validation"
    return tables.summary_table(total, title=title, name="cross_validation")


def _configuration(fitted: Weights) -> dict[str, Any]:
    return {
        "weights_sha256": fitted.sha256,
        "words_sha256": sha256_of(RESTAURANT),
        "opinions_sha256": sha256_of(polarity.OPINIONS),
        "fit": asdict(fit.SETTINGS),
        "reach": polarity.REACH,
        "step": polarity.STEP,
        "quiet": polarity.QUIET,
        "near": near.NEAR,
    }
