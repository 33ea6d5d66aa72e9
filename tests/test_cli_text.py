"""What is printed: safe characters, tables that fit, values as JSON and CSV have them."""

from __future__ import annotations

import json
import math
from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from simulation.cli.grid import grid
from simulation.cli.text import (
    cut,
    explained,
    jsonable,
    many,
    paragraph,
    percent,
    plain,
    print_json,
    print_rows,
    seconds,
)

CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.floats(), st.text(max_size=60)
)


def test_what_could_steer_a_terminal_is_shown_instead_of_sent() -> None:
    assert plain("a\x1b[2Jb\x00\u202ec\ud800") == "a\\x1b[2Jb\\x00\\u202ec\\ud800"


def test_line_breaks_become_visible_and_tabs_become_spaces() -> None:
    assert plain("one\r\ntwo\tthree") == "one ⏎two three"
    assert plain("one\ntwo", keep="\n") == "one\ntwo"


def test_ordinary_text_of_any_language_is_left_alone() -> None:
    text = "Größe, 日本語, العربية, 👩‍👩‍👧"
    assert plain(text) == text


def test_a_cut_text_says_so_and_a_fitting_one_is_whole() -> None:
    assert cut("protein bar", 8) == "protein…"
    assert cut("bar", 3) == "bar"


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "0%"), (0.0004, "< 0.1%"), (0.123, "12.3%"), (0.5, "50%"), (1.0, "100%")],
)
def test_a_share_that_is_not_nothing_never_shows_as_nothing(share: float, words: str) -> None:
    assert percent(share) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.04, "0.0 s"), (9.94, "9.9 s"), (59.4, "59 s"), (185, "3 min 5 s"), (7500, "2 h 5 min")],
)
def test_durations_are_said_as_people_say_them(value: float, words: str) -> None:
    assert seconds(value) == words


def test_counts_carry_their_noun() -> None:
    assert many(1, "tick") == "1 tick"
    assert many(1200, "stimulus", "stimuli") == "1,200 stimuli"


def test_a_paragraph_hangs_from_its_first_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    lines = paragraph("word " * 12, indent="  ", hanging="    ").splitlines()
    assert lines[0].startswith("  word")
    assert all(line.startswith("    word") and len(line) <= 30 for line in lines[1:])


def test_explanations_wrap_beside_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = explained([["turns", "one row per persona and turn, in order"], ["run", ""]])
    first, second, third = text.splitlines()
    assert first.startswith("  turns  one row")
    assert second.startswith(" " * 9)
    assert third == "  run"
    assert max(map(len, text.splitlines())) <= 40
    assert explained([]) == ""


def test_a_table_aligns_numbers_right_and_text_left() -> None:
    table = grid(("tick", "action"), [(1, "like"), (20, "ignore")], space=80)
    assert table.lines == ("tick  action", "----  ------", "   1  like", "  20  ignore")
    assert not table.cut
    assert table.hidden == ()


def test_a_table_rounds_reals_to_six_digits_and_names_nothing_null() -> None:
    rows = [(1 / 3, None, True, [1, 2], Decimal("0.25"))]
    table = grid(("x", "n", "b", "l", "d"), rows, space=80)
    assert table.lines[-1].split() == ["0.333333", "NULL", "true", "[1,", "2]", "0.25"]


def test_long_text_gives_way_and_numbers_do_not() -> None:
    table = grid(("n", "text"), [(123456789, "x" * 90)], space=40)
    assert table.lines[-1] == "123456789  " + "x" * 28 + "…"
    assert table.cut


def test_columns_that_cannot_fit_are_left_out_and_named() -> None:
    names = tuple(f"column_{i}" for i in range(9))
    table = grid(names, [("some longer text",) * 9], space=40)
    assert table.hidden == names[3:]
    assert max(map(cell_len, table.lines)) <= 40


def test_a_table_without_rows_shows_its_columns() -> None:
    table = grid(("tick", "persona_id"), [], space=80)
    assert table.lines == ("tick  persona_id", "----  ----------")
    assert not table.cut


def test_wide_characters_count_as_wide() -> None:
    table = grid(("a", "b"), [("日本語", "x"), ("ab", "y")], space=80)
    assert table.lines[2:] == ("日本語  x", "ab      y")


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(
            st.lists(st.text(max_size=20), min_size=n, max_size=n),
            st.lists(st.lists(CELLS, min_size=n, max_size=n), max_size=4),
        )
    ),
    st.integers(20, 120),
)
def test_no_line_of_a_table_is_wider_than_the_screen(
    table: tuple[list[str], list[list[object]]], space: int
) -> None:
    laid_out = grid(*table, space=space)
    assert max(cell_len(line) for line in laid_out.lines) <= space
    assert not any("\n" in line for line in laid_out.lines)
    assert len(laid_out.lines) == len(table[1]) + 2


def test_json_says_null_for_what_it_cannot_say() -> None:
    values = {"a": math.nan, "b": [math.inf, Decimal("1.5")], "c": datetime(2026, 1, 2, 3, 4)}  # noqa: DTZ001 - as DuckDB hands it over
    assert jsonable(values) == {"a": None, "b": [None, 1.5], "c": "2026-01-02T03:04:00"}
    assert jsonable(b"\x01\xff") == "01ff"
    assert jsonable((1, "x", None, True)) == [1, "x", None, True]


def test_rows_are_one_json_array_with_a_row_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([{"a": 1}, {"a": "é"}])
    out = capsys.readouterr().out
    assert json.loads(out) == [{"a": 1}, {"a": "é"}]
    assert len(out.splitlines()) == 4
    print_rows([])
    assert capsys.readouterr().out == "[]\n"


def test_half_a_character_does_not_break_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": "x\ud800"})
    assert json.loads(capsys.readouterr().out) == {"a": "x\ud800"}
