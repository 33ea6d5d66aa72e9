"""Rows of the engine as Arrow tables, ready for a bulk insert."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from simulation.records import Coded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.records import Rows

_ARROW_TYPES = {
    "BIGINT": pa.int64(),
    "BIGINT[]": pa.list_(pa.int64()),
    "BOOLEAN": pa.bool_(),
    "DOUBLE": pa.float64(),
    "DOUBLE[]": pa.list_(pa.float64()),
    "FLOAT": pa.float32(),
    "INTEGER": pa.int32(),
    "JSON": pa.string(),
    "TIMESTAMP": pa.timestamp("us"),
    "TINYINT[]": pa.list_(pa.int8()),
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
    if "\\ud" not in text.lower() and not _SURROGATE.search(text):
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
    indices = pa.array(codes, type=pa.int32(), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, _sequence(names, pa.string()))


def _used(codes: np.ndarray) -> tuple[list[int], np.ndarray]:
    used = np.unique(codes[codes >= 0])
    return used.tolist(), np.where(codes < 0, -1, np.searchsorted(used, codes))


def _numbers(values: np.ndarray, arrow_type: pa.DataType, *, nullable: bool) -> pa.Array:
    if values.ndim > 1:
        offsets = np.arange(len(values) + 1, dtype=np.int32) * np.int32(values.shape[1])
        flat = pa.array(np.ascontiguousarray(values).reshape(-1), type=arrow_type.value_type)
        return pa.ListArray.from_arrays(pa.array(offsets), flat)
    # from_pandas: NaN is a missing value.
    return pa.array(
        values, type=arrow_type, mask=values < 0 if nullable else None, from_pandas=True
    )


def _sequence(values: Sequence[Any], arrow_type: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, type=arrow_type, from_pandas=True)
    except UnicodeEncodeError:
        cleaned = [storable(text) if isinstance(text, str) else text for text in values]
        return pa.array(cleaned, type=arrow_type, from_pandas=True)
