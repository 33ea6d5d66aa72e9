"""Other labels of the same memories: a second reader, and two automatic annotators.

The automatic ones label affect alone; what is overgeneral stays as the first reader said, as in
the source's check with a lexicon (E.4).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from simulation.appraisal import Appraisals
from simulation.appraisers import AppraiserSpec, load
from simulation.studies import corpus as corpora

if TYPE_CHECKING:
    from simulation.studies.attachment.traces import Annotate
    from simulation.studies.corpus import Corpus
    from simulation.studies.recalling import Bank

FIRST: Final = "first reader"
SECOND: Final = "second reader"
AUTOMATIC: Final = {"regression (embedding)": "embedding", "sentiment rules (lexicon)": "lexicon"}
"""Appraisers of the engine, by what they are called here."""


def annotators() -> dict[str, Annotate | None]:
    """Return who labels, by name, the first reader first."""
    found: dict[str, Annotate | None] = {FIRST: None, SECOND: _second}
    return found | {name: _automatic(appraiser) for name, appraiser in AUTOMATIC.items()}


def _second(bank: Bank) -> Corpus:
    return corpora.second(bank.corpus)


def _automatic(name: str) -> Annotate:
    def annotate(bank: Bank) -> Corpus:
        encoder = bank.encoder if name == "embedding" else None  # no other reads vectors
        appraiser = load(AppraiserSpec(name=name, encoder=encoder))
        return replace(bank.corpus, affect=Appraisals(appraiser, bank.texts).raw(bank.items))

    return annotate
