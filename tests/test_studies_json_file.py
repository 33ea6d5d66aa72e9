"""Users' JSON files: whatever cannot be used is refused when read, with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulation.errors import UsageError
from simulation.studies.json_file import read_json

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path, content: bytes, most: int = 1_000_000) -> object:
    path.write_bytes(content)
    return read_json(path, wanted="a list of things", most=most)


def test_a_file_with_or_without_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    content = '[{"a": "\u00e9", "b": [1, -2, 1.5, null, true]}, "\\ud83d\\ude00"]'.encode()
    expected = [{"a": "\u00e9", "b": [1, -2, 1.5, None, True]}, "\U0001f600"]
    assert read(tmp_path / "x.json", content) == expected
    assert read(tmp_path / "x.json", b"\xef\xbb\xbf" + content) == expected


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (rb'[{"a": {"b": ["x", "\ud800"]}}]', "[0].a.b[1] holds half of a surrogate pair"),
        (rb'{"a": {"\udc00": 1}}', r'a has the key "\udc00" with half of a surrogate pair'),
        (rb'{"\udc00": "\udc00"}', r'it has the key "\udc00" with half'),
        (rb'"\ud800"', "it holds half of a surrogate pair"),
        (b'[{"a": {"b": 1, "b": 2}}]', '[0].a has the key "b" 2 times'),
        (b'{"a": 1, "a": 2}', 'it has the key "a" 2 times'),
        (b'{"a": [' + b"1" * 5000 + b"]}", "a[0] is a number of 5,000 digits; at most 18"),
        (b'{"a": [0, NaN]}', "a[1] is NaN, which is no JSON"),
        (b'{"a": -Infinity}', "a is -Infinity, which is no JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[1,\n2", "line 2, column 2: this is no JSON"),
        (b"", "line 1, column 1: this is no JSON"),
        (b'["\xff"]', "is no UTF-8 at byte 2"),
        ("[]".encode("utf-16"), "is no UTF-8 at byte 0"),
        ("[]".encode("utf-16-le"), "holds zero bytes, as UTF-16 does"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_place(
    tmp_path: Path, content: bytes, told: str
) -> None:
    with pytest.raises(UsageError) as error:
        read(tmp_path / "x.json", content)
    assert told in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "x.json"))
    str(error.value).encode("utf-8")


def test_the_first_of_several_faults_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="b is NaN"):
        read(tmp_path / "x.json", b'{"a": [1], "b": NaN, "c": Infinity}')


def test_a_missing_file_and_one_beyond_measure_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_json(tmp_path / "none.json", wanted="anything", most=1)
    with pytest.raises(UsageError, match="larger than 3 bytes"):
        read(tmp_path / "x.json", '["\u00e9"]'.encode()[:3] + b"....", most=3)
