"""Rows of the engine as Arrow tables, ready for a bulk insert."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from simulation.records import Coded
from simulation.runlog.arrow import arrow_array, arrow_bytes, arrow_strings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.records import Rows

_ARROW_TYPES = {
    "BIGINT": pa.int64(),
    "BLOB": pa.binary(),
    "BIGINT[]": pa.list_(pa.int64()),
    "BOOLEAN": pa.bool_(),
    "DOUBLE": pa.float64(),
    "DOUBLE[]": pa.list_(pa.float64()),
    "FLOAT": pa.float32(),
    "INTEGER": pa.int32(),
    "JSON": pa.string(),
    "TIMESTAMP": pa.timestamp("us"),
    "VARCHAR": pa.string(),
    "VARCHAR[]": pa.list_(pa.string()),
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_FEW = 4  # below one used name in four, only the used names are handed over


def storable(text: str) -> str:
    r"""Return the text with each lone surrogate written out as `\udXXX`.

    UTF-8 has no form for half a surrogate pair, so no database can hold one. It stays visible,
    and two different ids stay different.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def storable_json(text: str) -> str:
    r"""Return JSON whose strings are as `storable` leaves them; other JSON is not touched.

    A lone surrogate may hide behind JSON's own escape, which DuckDB refuses.
    """
    # Requests are long and nearly all plain, so what is dear is looked for only where it can be.
    hidden = ("\\u" in text or "\\U" in text) and "\\ud" in text.lower()
    if not hidden and (text.isascii() or not _SURROGATE.search(text)):
        return text
    plain = json.dumps(json.loads(text), ensure_ascii=False)
    return _SURROGATE.sub(lambda half: f"\\\\u{ord(half[0]):04x}", plain)


def arrow_table(rows: Rows, types: Mapping[str, str], extra: Mapping[str, Any]) -> pa.Table:
    """Return rows as an Arrow table.

    types: column name: DuckDB type of the table.  extra: more columns of the same length.

    Raises:
        ValueError: a column does not exist, has another length or does not fit its type.
    """
    columns = {**rows.columns(), **extra}
    unknown = sorted(columns.keys() - types.keys())
    if unknown:
        raise ValueError(f'table "{rows.table}" has no column {", ".join(unknown)}')
    arrays = {
        name: _array(values, types[name], nullable=name in rows.nullable)
        for name, values in columns.items()
    }
    return pa.table(arrays)


def _array(values: Any, duckdb_type: str, *, nullable: bool) -> pa.Array:
    arrow_type = _ARROW_TYPES[duckdb_type]
    if isinstance(values, Coded):
        return _coded(values)
    if isinstance(values, np.ndarray):
        return _numbers(values, arrow_type, nullable=nullable)
    if duckdb_type == "JSON":
        values = [None if text is None else storable_json(text) for text in values]
    return _sequence(values, arrow_type)


def _coded(values: Coded) -> pa.Array:
    codes = np.asarray(values.codes)
    names = values.names
    if len(names) > _FEW * len(codes):  # do not carry 100,000 names for ten rows
        used, codes = _used(codes)
        names = [names[code] for code in used]
    indices = arrow_array(codes, pa.int32(), missing=codes < 0)
    known = _lasting(names) if isinstance(names, tuple) else arrow_strings(names)
    return pa.DictionaryArray.from_arrays(indices, known)


@lru_cache(maxsize=64)
def _lasting(names: tuple[str, ...]) -> pa.Array:
    """Return names as an Arrow array; a run hands over the same personas in every table."""
    return arrow_strings(names)


def _used(codes: np.ndarray) -> tuple[list[int], np.ndarray]:
    used = np.unique(codes[codes >= 0])
    return used.tolist(), np.where(codes < 0, -1, np.searchsorted(used, codes))


def _numbers(values: np.ndarray, arrow_type: pa.DataType, *, nullable: bool) -> pa.Array:
    if pa.types.is_binary(arrow_type):
        return arrow_bytes(values)
    if values.ndim > 1:
        offsets = np.arange(len(values) + 1) * values.shape[1]
        return _lists(offsets, values.reshape(-1), arrow_type)
    return arrow_array(values, arrow_type, missing=values < 0 if nullable else _nan(values))


def _nan(values: np.ndarray) -> np.ndarray | None:
    """Return where values are NaN, which stands for a missing value; None for nowhere."""
    return np.isnan(values) if values.dtype.kind == "f" else None


def _sequence(values: Sequence[Any], arrow_type: pa.DataType) -> pa.Array:
    if pa.types.is_string(arrow_type):
        return arrow_strings(values)
    if pa.types.is_binary(arrow_type):
        return arrow_bytes(values)
    if pa.types.is_list(arrow_type):
        offsets = np.cumsum([0, *(len(each or ()) for each in values)])
        flat = [x for each in values for x in each or ()]
        missing = np.array([each is None for each in values], dtype=bool)
        return _lists(offsets, flat, arrow_type, missing=missing)
    missing = np.array([value is None for value in values], dtype=bool)
    filled = np.array([0 if value is None else value for value in values])
    return arrow_array(filled, arrow_type, missing=missing)


def _lists(
    offsets: np.ndarray,
    flat: np.ndarray | Sequence[Any],
    arrow_type: pa.DataType,
    *,
    missing: np.ndarray | None = None,
) -> pa.Array:
    ends = arrow_array(offsets, pa.int32(), missing=None)
    kind = arrow_type.value_type
    items = (
        arrow_strings(list(flat))
        if pa.types.is_string(kind)
        else arrow_array(np.asarray(flat), kind, missing=None)
    )
    mask = None if missing is None else arrow_array(missing, pa.bool_(), missing=None)
    return pa.ListArray.from_arrays(ends, items, mask=mask)
