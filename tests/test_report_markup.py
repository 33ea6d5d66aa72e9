"""Text in a page is text, whatever it says; numbers read as people read them."""

from __future__ import annotations

import json
import math
from datetime import datetime
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.analysis.report.markup import element, joined, script_json, shown, trusted
from simulation.analysis.report.numbers import (
    cell,
    cut,
    known_number,
    listed,
    many,
    percent,
    plain,
    quoted,
    signed,
)


class Seen(HTMLParser):
    """What a browser would see: elements, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.values: list[str | None] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values += [value for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text())
def test_no_text_becomes_an_element_or_leaves_its_attribute(text: str) -> None:
    seen = Seen(element("p", text, title=text))
    assert seen.tags == ["p"]
    assert seen.values == [shown(text)]
    assert seen.text == shown(text)


@given(st.recursive(st.text() | st.floats() | st.none(), st.lists, max_leaves=5))
def test_json_in_a_script_holds_no_mark_that_could_end_it(value: object) -> None:
    text = script_json({"a": value})
    assert not any(mark in text for mark in ("<", ">", "&", "\u2028", "\u2029"))
    assert set(json.loads(text)) == {"a"}


def test_json_in_a_script_gives_back_what_it_was_given() -> None:
    value = {"</script>": ["<b>", "&", "\u2028", "ü", True, 3, 0.123456789, None]}
    back = json.loads(script_json(value))
    assert back == {"</script>": ["<b>", "&", "\u2028", "ü", True, 3, 0.12346, None]}
    assert json.loads(script_json([math.nan, math.inf])) == [None, None]


def test_elements_nest_and_take_markup_as_it_is() -> None:
    inner = element("b", "x & y")
    assert element("p", "a < b ", inner, [inner, "!"], class_="c") == (
        '<p class="c">a &lt; b <b>x &amp; y</b><b>x &amp; y</b>!</p>'
    )
    assert element("input", disabled=True, hidden=False, data_x=None) == "<input disabled>"
    assert joined("<", trusted("<i>")) == "&lt;<i>"


def test_what_a_page_cannot_hold_is_made_visible() -> None:
    assert shown("a\x1b\u202e\ud800\x85é\n\t") == "a\\u001b\\u202e\\ud800\\u0085é\n\t"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),  # noqa: RUF001 - the dash of an empty cell
        (True, "yes"),
        (False, "no"),
        (1234567, "1,234,567"),
        (0.12345, "0.123"),
        (-1234.5, "-1,234.500"),
        (math.nan, "–"),  # noqa: RUF001 - as above
        ("x" * 300, "x" * 279 + "…"),
        (datetime(2026, 11, 30, 9, 5), "2026-11-30 09:05 UTC"),  # noqa: DTZ001 - as DuckDB gives it
        ([1, 2], "[1, 2]"),
    ],
)
def test_cells_read_as_people_read_them(value: object, text: str) -> None:
    assert cell(value) == text


def test_shares_and_changes_read_as_people_read_them() -> None:
    space = "\N{NO-BREAK SPACE}"
    shares = (0, 1, 0.5, 0.123, 0.0004, 0.9999, None)
    assert [percent(share) for share in shares] == [
        f"0{space}%",
        f"100{space}%",
        f"50{space}%",
        f"12.3{space}%",
        f"less than 0.1{space}%",
        f"more than 99.9{space}%",
        "no share",
    ]
    minus = "\N{MINUS SIGN}"
    changes = (0.126, -0.126, 0.004, -0.004)
    assert [signed(change) for change in changes] == ["+0.13", f"{minus}0.13", "0.00", "0.00"]
    assert [plain(-0.5), plain(-0.001)] == [f"{minus}0.50", "0.00"]
    assert (known_number(math.nan), known_number(None), known_number(0.5)) == (None, None, 0.5)


def test_words_are_listed_counted_cut_and_quoted() -> None:
    assert [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert (many(1, "run"), many(1200, "run"), many(2, "body", "bodies")) == (
        "1 run",
        "1,200 runs",
        "2 bodies",
    )
    assert (cut("abcdef", 4), cut("abcd", 4)) == ("abc…", "abcd")
    assert quoted("a\n b.", 20) == "“a b”"
