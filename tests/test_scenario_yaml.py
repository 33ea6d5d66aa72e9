"""Reading YAML safely: limits, hostile files, broken bytes, files that are none."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.errors import ScenarioError
from simulation.scenario import load_text, read_scenario, starter
from simulation.scenario.keypath import format_path, parse_path
from simulation.scenario.scalars import quoted

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


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
DEEP_ALIASES = "a0: &a0 [x]\n" + "".join(
    f"a{i}: &a{i} {'[' * 10}*a{i - 1}{']' * 10}\n" for i in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("# only a comment\n", "is empty"),
        ("---\n...\n", "is empty"),
        ("- a\n", "line 1  a scenario is a mapping"),
        ("just words", 'not "just words"'),
        ("a: 1\n---\nb: 2\n", "line 2  holds more than one YAML document"),
        ("a: b: c", 'text that contains ": " needs quotes'),
        ("a:\n\tb: 1", "line 2  this is not YAML"),
        ("a: 'x\nb: 1\nc: 2", "a quote or bracket is not closed"),
        ("a: [x,\nb", "a bracket is not closed"),
        ("a:\n  - x\n b: 1", "check the indentation"),
        ("a: @x", "needs quotes"),
        ("a: *b", "the alias *b has no anchor before it"),
        ("a: &a [*a]", "the anchor &a contains itself"),
        ("a: &a {b: {c: *a}}", "the anchor &a contains itself"),
        ("a: x\nb: \x07", "line 2  contains the character U+0007"),
        ("a: \ud800", "contains the character U+D800"),
        ("a: " + "[" * 60 + "]" * 60, "is nested deeper than 50 levels"),
        ("- " * 300_000, "is nested deeper than 50 levels"),
        ("[" * 300_000, "nest"),
        ("a: &a x\nb: [" + "*a," * 101 + "]", "uses more than 100 aliases"),
        (LAUGHS, "holds more than 200,000 values, aliases expanded"),
        (DEEP_ALIASES, "is nested deeper than 50 levels, aliases expanded"),
        ("#" * (1024 * 1024 + 1), "is larger than 1024 KiB"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_a_text_that_is_no_scenario_is_refused_for_one_reason(text: str, message: str) -> None:
    start = time.perf_counter()
    assert message in refusal(text)
    assert time.perf_counter() - start < 5


def test_a_file_of_nothing_but_wrong_keys_is_refused_in_bounded_time() -> None:
    text = "".join(f"key{i}: {i}\n" for i in range(60_000))
    start = time.perf_counter()
    with pytest.raises(ScenarioError, match=r"and 59\d{3} more"):
        load_text(text)
    assert time.perf_counter() - start < 10


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


_KEYS = st.lists(
    st.integers(0, 999) | st.text(min_size=1, max_size=6).filter(lambda t: not t.isdecimal()),
    min_size=1,
    max_size=4,
).map(tuple)


@given(_KEYS)
@settings(deadline=None)
def test_a_key_path_is_read_back_as_it_was_written(keys: tuple[str | int, ...]) -> None:
    assert parse_path(format_path(keys)) == keys


def test_a_quoted_key_that_is_no_json_is_taken_as_it_stands() -> None:
    assert parse_path(r'a["\q"]') == ("a", r"\q")


@pytest.mark.parametrize("text", ["", ".", "a..b", "a[", "a[x]", "a.", "=", 'a["b]', "[]"])
def test_what_is_no_key_path_is_none(text: str) -> None:
    assert parse_path(text) is None


@given(st.text(max_size=100))
@settings(deadline=None)
def test_a_quoted_text_is_one_short_printable_line(text: str) -> None:
    said = quoted(text)
    assert "\n" not in said
    assert "\x1b" not in said
    assert all(c.isprintable() or c.isspace() or ord(c) > 0xA0 for c in said)
