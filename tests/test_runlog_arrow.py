"""Arrow arrays from buffers are what pyarrow itself would make of the same values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.runlog.arrow import arrow_array, arrow_strings

TYPES = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int8(): st.integers(-128, 127),
    pa.float64(): st.floats(allow_nan=False),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.bool_(): st.booleans(),
}


def checked(array: pa.Array) -> pa.Array:
    array.validate(full=True)
    return array


@pytest.mark.parametrize("kind", TYPES, ids=str)
@given(data=st.data())
def test_numbers_and_their_gaps_come_through(kind: pa.DataType, data: st.DataObject) -> None:
    given_values = data.draw(st.lists(st.none() | TYPES[kind], max_size=20))
    missing = np.array([value is None for value in given_values], dtype=bool)
    values = np.array([0 if value is None else value for value in given_values])
    array = checked(arrow_array(values, kind, missing=missing))
    assert array.type == kind
    assert array.to_pylist() == given_values
    assert array.null_count == missing.sum()
    if not missing.any():
        assert checked(arrow_array(values, kind, missing=None)).to_pylist() == given_values


@given(st.lists(st.none() | st.text(max_size=8), max_size=20))
def test_texts_and_their_gaps_come_through(texts: list[str | None]) -> None:
    array = checked(arrow_strings(texts))
    assert array.type == pa.string()
    assert array.to_pylist() == texts


def test_half_a_surrogate_pair_stays_visible() -> None:
    assert arrow_strings(["a\ud800b", "é😀"]).to_pylist() == ["a\\ud800b", "é😀"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([2**31], pa.int32()),
        ([-129], pa.int8()),
        ([1.5], pa.int64()),
        ([np.nan], pa.int64()),
        ([1e30], pa.int64()),
        ([2], pa.bool_()),
        (["1"], pa.int64()),
        ([None, "x"], pa.float64()),
    ],
)
def test_a_value_that_does_not_fit_is_refused(values: list[Any], kind: pa.DataType) -> None:
    with pytest.raises(ValueError, match=r"does not fit|is no|neither true nor false"):
        arrow_array(np.array(values), kind, missing=None)


@pytest.mark.parametrize("value", [1, b"x", 0.5, ["x"]])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is no text"):
        arrow_strings(["a", None, value])


def test_texts_beyond_what_offsets_reach_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulation.runlog.arrow._MOST_BYTES", 3)
    assert len(arrow_strings(["a", "bc"])) == 2
    with pytest.raises(ValueError, match="2 GiB"):
        arrow_strings(["ab", "cd"])


def test_a_value_where_one_is_missing_is_not_looked_at() -> None:
    values, missing = np.array([1.0, np.nan]), np.array([False, True])
    assert arrow_array(values, pa.int64(), missing=missing).to_pylist() == [1, None]
