"""Reading YAML safely: limits, hostile texts, broken bytes, key paths."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.yaml_reading import (
    Limits,
    YamlError,
    decoded,
    deepest,
    format_path,
    parse_path,
    quoted,
    read_plain_yaml,
)

TIGHT = Limits(bytes=40, depth=2, aliases=0, nodes=6)


def refusal(text: str, limits: Limits | None = None) -> str:
    with pytest.raises(YamlError) as caught:
        read_plain_yaml(text, limits or Limits())
    return str(caught.value.problem)


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
def test_a_text_that_is_no_plain_yaml_is_refused_for_one_reason(text: str, message: str) -> None:
    start = time.perf_counter()
    assert message in refusal(text)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x b", "line 1  anchors and aliases are not allowed"),
        ("a: 1\nb: *x", "line 2  anchors and aliases are not allowed"),
        ("a: [[x]]", "line 1  is nested deeper than 2 levels"),
        ("[1, 2, 3, 4, 5, 6]", "line 1  holds more than 6 values, aliases expanded"),
        ("#" * 41, "is larger than 0 KiB"),
    ],
)
def test_limits_are_those_of_the_reader(text: str, message: str) -> None:
    assert refusal(text, TIGHT) == message


def test_a_text_at_its_limits_is_read() -> None:
    assert read_plain_yaml("[1, 2, [3, 4]]", TIGHT).data == [1, 2, [3, 4]]
    assert read_plain_yaml("#" * 40, TIGHT).data is None


def test_bytes_become_text_with_plain_line_ends() -> None:
    assert decoded(b"\xef\xbb\xbfa: 1\r\nb: \xc3\xa9\rc: 3\n") == "a: 1\nb: é\nc: 3\n"
    assert decoded(b"x" * 40, TIGHT) == "x" * 40


def test_bytes_that_are_no_text_or_too_many_are_refused() -> None:
    with pytest.raises(YamlError, match="is not UTF-8 text; save it as UTF-8") as caught:
        decoded(b"a: 1\nb: \xe9\n")
    assert caught.value.problem.line == 2
    with pytest.raises(YamlError, match="is larger than 0 KiB"):
        decoded(b"x" * 41, TIGHT)


def test_the_deepest_known_part_of_a_path_is_found() -> None:
    places = {("a",), ("a", 0), ("a", 0, "b")}
    assert deepest(("a", 0, "c", "d"), places) == ("a", 0)
    assert deepest(("a", 0, "b"), places) == ("a", 0, "b")
    assert deepest(("z",), places) == ()
    assert deepest((), places) == ()


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
