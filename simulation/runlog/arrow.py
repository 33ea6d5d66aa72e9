"""NumPy arrays and texts as Arrow arrays, made from their buffers.

`pyarrow.array` looks for pandas at its first call and imports it where it is installed, which
takes longer than a small run. Nothing here comes from pandas, so we lay out the buffers ourselves
(Arrow columnar format: validity bits, offsets, data).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMPY = {
    pa.float32(): np.float32,
    pa.float64(): np.float64,
    pa.int8(): np.int8,
    pa.int32(): np.int32,
    pa.int64(): np.int64,
}
_MOST_BYTES = 2**31 - 1  # of all texts of a column: Arrow's offsets are 32 bits wide


def arrow_array(
    values: np.ndarray, arrow_type: pa.DataType, *, missing: np.ndarray | None
) -> pa.Array:
    """Return numbers or booleans, (N,), as an Arrow array.

    missing: (N,) where there is none, whatever `values` has there; None for nowhere.

    Raises:
        ValueError: a value does not fit the type.
    """
    if not len(values):
        values = values.astype(bool if arrow_type == pa.bool_() else np.int8)
    kept = values if missing is None else np.where(missing, np.zeros(1, values.dtype), values)
    data = _bits(kept) if arrow_type == pa.bool_() else _cast(kept, arrow_type)
    valid = None if missing is None or not missing.any() else pa.py_buffer(_packed(~missing))
    return pa.Array.from_buffers(arrow_type, len(values), [valid, pa.py_buffer(data)])


def _bits(values: np.ndarray) -> np.ndarray:
    bits = values.astype(bool)
    if not np.array_equal(bits, values):
        raise ValueError("a value is neither true nor false")
    return _packed(bits)


def _packed(bits: np.ndarray) -> np.ndarray:
    return np.packbits(bits, bitorder="little")


def _cast(values: np.ndarray, arrow_type: pa.DataType) -> np.ndarray:
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{values.dtype} is no {arrow_type}")
    with np.errstate(invalid="ignore"):  # what does not fit is found below
        cast = np.ascontiguousarray(values, dtype=_NUMPY[arrow_type])
    if cast.dtype.kind == "i" and not np.array_equal(cast, values):
        raise ValueError(f"a value does not fit {arrow_type}")
    return cast


def arrow_strings(values: Sequence[Any]) -> pa.Array:
    r"""Return texts as an Arrow array; None is null.

    A lone surrogate, which UTF-8 cannot hold, is written out as `\udXXX`.

    Raises:
        ValueError: a value is no text, or all are more than 2 GiB.
    """
    missing = None
    try:
        data = "".join(values)
    except TypeError:  # most columns hold texts only
        missing = np.array([each is None for each in values], dtype=bool)
        values = ["" if each is None else each for each in values]
        data = _joined(values)
    sizes = map(len, values) if data.isascii() else map(_bytes, values)
    offsets = _offsets(np.fromiter(sizes, np.int64, count=len(values)), "texts")
    valid = pa.py_buffer(_packed(~missing)) if missing is not None and missing.any() else None
    content = pa.py_buffer(data.encode("utf-8", "backslashreplace"))
    return pa.Array.from_buffers(pa.string(), len(values), [valid, offsets, content])


def _joined(values: Sequence[Any]) -> str:
    try:
        return "".join(values)
    except TypeError as error:
        raise ValueError(f"a value is no text: {error}") from None


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "backslashreplace"))


def _offsets(sizes: np.ndarray, what: str) -> pa.Buffer:
    """Return where each value begins and the last ends, of their numbers of bytes, (N,)."""
    ends = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    if ends[-1] > _MOST_BYTES:
        raise ValueError(f"{what} of more than 2 GiB in one column")
    return pa.py_buffer(ends.astype(np.int32))


def arrow_bytes(values: Sequence[bytes] | np.ndarray) -> pa.Array:
    """Return byte strings, or the bytes of each row of an int8 array, as an Arrow array.

    Raises:
        ValueError: all are more than 2 GiB.
    """
    if isinstance(values, np.ndarray):
        sizes, data = np.full(len(values), values.shape[1]), _cast(values, pa.int8()).tobytes()
    else:
        sizes, data = np.fromiter(map(len, values), np.int64, count=len(values)), b"".join(values)
    offsets = _offsets(sizes, "bytes")
    return pa.Array.from_buffers(pa.binary(), len(values), [None, offsets, pa.py_buffer(data)])
