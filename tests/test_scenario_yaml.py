"""Files that are no scenarios: hostile, broken, empty, missing; test_yaml_reading.py has more."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.errors import ScenarioError
from simulation.scenario import load_text, read_scenario, starter

if TYPE_CHECKING:
    from pathlib import Path


def refusal(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        load_text(text)
    assert len(caught.value.problems) == 1
    return str(caught.value.problems[0])


def file_refusal(path: Path | str) -> str:
    with pytest.raises(ScenarioError) as caught:
        read_scenario(path)
    assert len(caught.value.problems) == 1
    return str(caught.value.problems[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("# only a comment\n", "is empty"),
        ("---\n...\n", "is empty"),
        ("- a\n", "line 1  a scenario is a mapping"),
        ("just words", 'not "just words"'),
        ("a: " + "[" * 60 + "]" * 60, "is nested deeper than 50 levels"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_a_text_that_is_no_scenario_is_refused_for_one_reason(text: str, message: str) -> None:
    start = time.perf_counter()
    assert message in refusal(text)
    assert time.perf_counter() - start < 5


def test_a_file_of_nothing_but_wrong_keys_is_refused_in_bounded_time() -> None:
    text = "".join(f"key{i}: {i}\n" for i in range(60_000))
    start = time.process_time()
    with pytest.raises(ScenarioError, match=r"and 59\d{3} more"):
        load_text(text)
    assert time.process_time() - start < 20


def test_a_python_tag_constructs_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    text = f"name: !!python/object/apply:os.mkdir ['{mark}']\n"
    with pytest.raises(ScenarioError, match="is not allowed; only plain values are"):
        load_text(text)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"name: \xff\xfe", "line 1  is not UTF-8 text"),
        (b"a: 1\nb: \xe9\n", "line 2  is not UTF-8 text"),
        ("name: x".encode("utf-16"), "is not UTF-8 text"),
        (b"a: 1\nb: \x00\n", "line 2  contains the character U+0000"),
        (b"", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"#" * (1024 * 1024 + 1), "is larger than 1024 KiB"),
    ],
)
def test_bytes_that_are_no_text_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(data)
    assert message in file_refusal(file)


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + starter("a").replace("\n", "\r\n").encode())
    loaded = read_scenario(file)
    assert loaded.path == file
    assert loaded.sha256 == load_text(starter("a")).sha256
    assert loaded.text == starter("a")


def test_a_missing_file_suggests_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "protein_bar.yaml").write_text("x", encoding="utf-8")
    said = file_refusal(tmp_path / "protien_bar.yaml")
    assert "there is no such file" in said
    assert "protein_bar.yaml" in said
    assert "did you mean" not in file_refusal(tmp_path / "zzz")


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_an_impossible_file_name_is_a_scenario_error(name: str) -> None:
    assert "cannot be read" in file_refusal(name)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert "there is no folder" in file_refusal(tmp_path / "nowhere" / "a.yaml")


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    assert "is a folder, not a file" in file_refusal(tmp_path)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_an_unreadable_file_says_so(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("a: 1", encoding="utf-8")
    file.chmod(0)
    assert "cannot be read: Permission denied" in file_refusal(file)


@given(st.binary(max_size=80))
@settings(max_examples=100, deadline=None)
def test_no_bytes_raise_anything_but_a_scenario_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "fuzz.yaml"
    file.write_bytes(data)
    with pytest.raises(ScenarioError):
        read_scenario(file)
