"""Encoders as a whole: chosen by name, loaded when asked for, errors that help."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simulation.encoders import NAMES, EncoderSpec, load
from simulation.encoders.base import MAX_CHARACTERS, clean, fingerprint, unit_rows
from simulation.errors import UsageError


def test_the_default_encoder_is_the_static_one() -> None:
    assert load(EncoderSpec()).name == "static"


def test_an_unknown_encoder_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(UsageError, match="static, ngram, sentence_transformers, openai"):
        load(EncoderSpec(name="os"))
    assert NAMES == ("static", "ngram", "sentence_transformers", "openai")


@pytest.mark.parametrize("size", [0, -1])
def test_a_batch_of_nothing_is_refused(size: int) -> None:
    with pytest.raises(UsageError, match="batch_size"):
        EncoderSpec(batch_size=size)


@pytest.mark.parametrize("name", ["static", "ngram", "sentence_transformers"])
def test_a_setting_that_would_be_ignored_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="base_url, api_key"):
        load(EncoderSpec(name=name, base_url="http://127.0.0.1/v1", api_key="k"))


def test_a_key_is_never_shown() -> None:
    assert "secret" not in repr(EncoderSpec(name="openai", api_key="secret"))


def test_the_default_encoder_imports_no_sdk() -> None:
    code = (
        "import sys; from simulation.encoders import *; load(EncoderSpec()).encode(['a']);"
        "heavy = {'openai', 'torch', 'transformers', 'sentence_transformers', 'huggingface_hub'};"
        "sys.exit(str(sorted(heavy & set(sys.modules))) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_fingerprint_is_what_sha256sum_prints_hashed_again() -> None:
    # printf 'aa  b.txt\nbb  c.txt\n' | sha256sum
    expected = "869ce35dcff62929"
    digest = fingerprint({"c.txt": "bb", "b.txt": "aa"})
    assert digest[:16] == expected
    assert digest == fingerprint({"b.txt": "aa", "c.txt": "bb"})


def test_cleaning_keeps_the_beginning_of_a_huge_text() -> None:
    assert clean("ab" * MAX_CHARACTERS) == "ab" * (MAX_CHARACTERS // 2)


def test_cleaning_joins_surrogate_pairs_and_replaces_lone_ones() -> None:
    assert clean("\ud83d\ude00") == "\U0001f600"
    assert clean("a\ud800b") == "a\ufffdb"


@given(st.text(st.characters(exclude_categories=[])))
def test_cleaned_text_is_always_valid_unicode(text: str) -> None:
    clean(text).encode("utf-8")


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(0, 4), st.integers(1, 8)),
        elements=st.floats(-1e300, 1e300).filter(lambda x: x == 0 or abs(x) > 1e-290),
    )
)
def test_every_row_has_length_one_or_is_zero_as_before(rows: np.ndarray) -> None:
    scaled = unit_rows(rows)
    length = np.linalg.norm(scaled.astype(np.float64), axis=1)
    assert scaled.dtype == np.float32
    assert length == pytest.approx(np.where(rows.any(axis=1), 1.0, 0.0), abs=1e-6)
