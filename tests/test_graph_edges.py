from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulation import graph
from simulation.errors import ScenarioError
from simulation.graph.edges import sorted_nodes
from simulation.population import People
from simulation.rng import Streams
from simulation.scenario.model import Graph

if TYPE_CHECKING:
    from simulation.graph import Follows

SHARED = Path(__file__).resolve().parents[2] / "shared"
FACEBOOK = SHARED / "data" / "graphs" / "ego_facebook.txt"


def people(*ids: str) -> People:
    n = len(ids)
    return People(
        ids=tuple(sorted(ids)),
        attributes=({"a": "b"},) * n,
        activity=np.ones(n),
        tiers=np.zeros(n, dtype=np.int64),
        beliefs=np.zeros((n, 0)),
    )


ABC = people("a", "b", "c")


def build(file: Path | None, who: People = ABC, *, seed: int = 0, **keys: Any) -> Follows:
    described = Graph.model_validate({"kind": "edges", **keys}, strict=False)
    return graph.build(described, people=who, streams=Streams(seed), file=file)


def pairs(follows: Follows, who: People = ABC) -> list[str]:
    ids = who.ids
    ends = zip(follows.source.tolist(), follows.target.tolist(), strict=True)
    return [f"{ids[source]}>{ids[target]}" for source, target in ends]


def edge_file(folder: Path, text: str) -> Path:
    file = folder / "edges.txt"
    file.write_bytes(text.encode())
    return file


def problems(file: Path | None, who: People = ABC, **keys: Any) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        build(file, who, **keys)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    "text",
    [
        "a b\nb c\n",
        "# friends\n\na,b\n  b , c\r\n",
        "source,target\na,b\nb,c",
        "Source Target weight\na b 1\nb c 1.0\n",
        'a\tb\n"b"\t"c"\n',
        '"a","b"\n"b" "c"\n',
        "\ufeffa b\rb c\r",
        "b a\nc b\na b\n",
    ],
)
def test_every_common_spelling_of_an_edge_list_is_read(tmp_path: Path, text: str) -> None:
    follows = build(edge_file(tmp_path, text))
    assert pairs(follows) == ["a>b", "b>a", "b>c", "c>b"]
    assert follows.weight.tolist() == [1.0] * 4


def test_a_directed_line_is_one_follow(tmp_path: Path) -> None:
    assert pairs(build(edge_file(tmp_path, "b a\nb c\n"), directed=True)) == ["b>a", "b>c"]


def test_weights_are_kept_and_of_repeats_the_largest_counts(tmp_path: Path) -> None:
    follows = build(edge_file(tmp_path, "a b 0.5\nb a 2\na c 3\n"))
    assert dict(zip(pairs(follows), follows.weight.tolist(), strict=True)) == {
        "a>b": 2.0,
        "b>a": 2.0,
        "a>c": 3.0,
        "c>a": 3.0,
    }
    assert follows.notes == ("2 follows are said more than once and merge",)


def test_a_node_tied_to_itself_drops_and_is_noted(tmp_path: Path) -> None:
    follows = build(edge_file(tmp_path, "a a\na b\n"))
    assert pairs(follows) == ["a>b", "b>a"]
    assert follows.notes == ("1 lines tie a node to itself and drop",)


def test_ids_with_blanks_and_commas_are_quoted(tmp_path: Path) -> None:
    who = people("a b", "c,d")
    assert pairs(build(edge_file(tmp_path, '"a b","c,d"\n'), who), who) == [
        "a b>c,d",
        "c,d>a b",
    ]
    who = people("a b", "c")
    assert pairs(build(edge_file(tmp_path, '"a b" c\n'), who), who) == ["a b>c", "c>a b"]


def test_an_empty_file_has_no_follows(tmp_path: Path) -> None:
    assert len(build(edge_file(tmp_path, "# nobody\n"))) == 0
    assert len(build(edge_file(tmp_path, ""), people())) == 0


def test_bad_lines_are_named_with_what_stands_there(tmp_path: Path) -> None:
    file = edge_file(
        tmp_path, "a b\na\na b c d\n,b\na b heavy\na b 0\na b nan\na b inf\n" + "x" * 3000
    )
    needed = "`source target` or `source target weight` is needed; found"
    assert problems(file) == [
        f"line 2  {needed} 'a'",
        f"line 3  {needed} 'a b c d'",
        f"line 4  {needed} ',b'",
        "line 5  the weight must be a number above 0; found 'heavy'",
        "line 6  the weight must be a number above 0; found '0'",
        "line 7  the weight must be a number above 0; found 'nan'",
        "line 8  the weight must be a number above 0; found 'inf'",
        f"line 9  {needed} {'x' * 80!r}",
    ]


def test_a_header_further_down_is_an_edge(tmp_path: Path) -> None:
    assert problems(edge_file(tmp_path, "a b\nsource target\n"))[0].startswith("line 2")


def test_twenty_bad_lines_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    found = problems(edge_file(tmp_path, "a\n" * 25))
    assert len(found) == 21
    assert found[-1] == "and 5 more problems"


def test_a_node_that_is_no_persona_is_named_with_its_line(tmp_path: Path) -> None:
    assert problems(edge_file(tmp_path, "a b\nb x\ny a\n")) == [
        "line 2  'x' is not a persona id",
        "line 3  'y' is not a persona id",
    ]


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    assert problems(tmp_path / "none.txt") == ["No such file or directory"]
    assert problems(None) == ["graph.file  an edge list is needed"]
    file = tmp_path / "latin.txt"
    file.write_bytes(b"a \xff\n")
    assert problems(file) == ["byte 2 is not UTF-8"]


RING = "".join(f"{i} {(i + 1) % 12}\n" for i in range(12))


def test_personas_take_the_nodes_in_the_documented_permutation(tmp_path: Path) -> None:
    who = people(*"abcdefgh")
    follows = build(edge_file(tmp_path, RING), who, assign="permutation", seed=4)

    # The same by other code: nodes in numerical order, ranked by their keyed hash.
    mask = 2**64 - 1

    def mixed(x: int) -> int:
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
        return x ^ (x >> 31)

    def key(text: str) -> tuple[int, int]:
        digest = hashlib.sha256(text.encode()).digest()
        return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")

    first, second = key("4|graph:assign|0")

    def draw(node: str) -> int:
        step = (key(node)[0] ^ first) + 0x9E3779B97F4A7C15 & mask
        return mixed(mixed(step) ^ second)

    taken = sorted(map(str, range(12)), key=draw)[:8]
    persona = dict(zip(taken, who.ids, strict=True))
    expected = set()
    for i in range(12):
        ends = [persona.get(str(i)), persona.get(str((i + 1) % 12))]
        if None not in ends:
            expected |= {f"{ends[0]}>{ends[1]}", f"{ends[1]}>{ends[0]}"}
    assert set(pairs(follows, who)) == expected
    assert follows.notes[0].startswith("4 of 12 nodes are unused")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(order=st.permutations(range(12)), flips=st.lists(st.booleans(), min_size=12, max_size=12))
def test_the_order_of_lines_never_matters(
    tmp_path: Path, order: list[int], flips: list[bool]
) -> None:
    who = people(*"abcdefgh")
    lines = [line.split() for line in RING.splitlines()]
    shuffled = "".join(
        " ".join(reversed(lines[i]) if flips[i] else lines[i]) + "\n" for i in order
    )
    first = build(edge_file(tmp_path, RING), who, assign="permutation")
    second = build(edge_file(tmp_path, shuffled), who, assign="permutation")
    assert pairs(first, who) == pairs(second, who)


def test_all_nodes_in_use_drop_nothing(tmp_path: Path) -> None:
    follows = build(edge_file(tmp_path, RING), people(*"abcdefghijkl"), assign="permutation")
    assert len(follows) == 24
    assert follows.notes == ()


def test_more_personas_than_nodes_is_an_error(tmp_path: Path) -> None:
    found = problems(edge_file(tmp_path, "1 2\n"), assign="permutation")
    assert found == ["3 personas but only 2 nodes; lower population.size or take a larger graph"]


def test_node_ids_sort_as_numbers_when_all_are_whole_else_by_code_points() -> None:
    assert sorted_nodes({"10", "9", "-1", "09"}) == ["-1", "09", "9", "10"]
    assert sorted_nodes({"10", "9", "x"}) == ["10", "9", "x"]
    assert sorted_nodes({"1.5", "10"}) == ["1.5", "10"]
    assert sorted_nodes(set()) == []


@pytest.mark.skipif(not FACEBOOK.exists(), reason="the edge list is not beside the repository")
def test_survey_respondents_on_facebook_friendships() -> None:
    who = people(*(f"g{i:04d}" for i in range(3505)))
    follows = build(FACEBOOK, who, assign="permutation", seed=7)
    assert 110_000 < len(follows) < 2 * 88_234
    assert follows.notes[0].startswith("534 of 4,039 nodes are unused")
    full = build(FACEBOOK, people(*(f"n{i:04d}" for i in range(4039))), assign="permutation")
    assert len(full) == 2 * 88_234


@pytest.mark.parametrize("first", ['"' + "a" * 140_000 + '" b', "c" * 140_000])
def test_an_endless_first_line_is_a_bad_line(first: str, tmp_path: Path) -> None:
    file = tmp_path / "edges.txt"
    file.write_text(f"{first}\na b\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"line 1  `source target` or") as caught:
        build(file)
    assert len(str(caught.value)) < 500
