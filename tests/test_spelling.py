from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulation.spelling import did_you_mean, listed, nearest

NAMES = ["turns", "ticks", "posts", "Memories"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("turn", "turns"), ("TICKS", "ticks"), ("memorys", "Memories"), ("zzz", None), ("", None)],
)
def test_the_nearest_name_is_found_whatever_the_case(typed: str, meant: str | None) -> None:
    assert nearest(typed, NAMES) == meant
    assert did_you_mean(typed, NAMES) == (f'; did you mean "{meant}"?' if meant else "")


def test_of_names_that_differ_by_case_the_first_is_meant() -> None:
    assert nearest("colr", ["Colour", "colour"]) == "Colour"
    assert nearest("colr", iter(["colour", "Colour"])) == "colour"


def test_only_so_many_names_are_compared() -> None:
    names = [f"zz{i}" for i in range(200)] + ["turns"]
    assert nearest("turns", names) is None
    assert nearest("turns", names, most=201) == "turns"


def test_a_huge_name_costs_little() -> None:
    start = time.perf_counter()
    nearest("ab" * 1_000_000, ["ab" * 100_000] * 200)
    assert time.perf_counter() - start < 5


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=8))
def test_a_right_name_is_its_own_nearest_but_for_case(names: list[str]) -> None:
    found = nearest(names[-1], names)
    assert found is not None
    assert found.casefold() == names[-1].casefold()


def test_long_lists_are_cut_with_their_rest_counted() -> None:
    assert listed(["a", "b", "c"], most=2) == "a, b and 1 more"
    assert listed([]) == ""
