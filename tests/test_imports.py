"""What a run loads: slow packages only where they are needed."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from small import SMALL

if TYPE_CHECKING:
    from pathlib import Path

SLOW = ("mesa", "networkx", "pandas", "scipy")
_REPORT = f"import json, sys; print(json.dumps([m for m in {SLOW!r} if m in sys.modules]))"
_RUN = "import sys; from simulation.runs import simulate; simulate(sys.argv[1], out=sys.argv[2]); "


def loaded(program: str, *words: str) -> list[str]:
    """Return which slow packages a new process has loaded after a program."""
    done = subprocess.run(
        [sys.executable, "-c", program + _REPORT, *words],
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[str] = json.loads(done.stdout)
    return found


def test_the_composition_root_loads_no_slow_package() -> None:
    assert loaded("import simulation.runs; ") == []


@pytest.mark.parametrize(
    ("graph", "needed"),
    [
        ({"kind": "none"}, []),
        ({"kind": "homophily", "degree": 4, "by": ["gender"]}, []),
        ({"kind": "edges", "file": "edges.txt", "assign": "permutation"}, []),
        ({"kind": "watts_strogatz", "degree": 4}, ["networkx"]),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_a_run_loads_networkx_only_for_a_graph_of_its_own(
    tmp_path: Path, graph: dict[str, Any], needed: list[str]
) -> None:
    (tmp_path / "edges.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(12)), "utf-8")
    scenario = tmp_path / "small.yaml"
    scenario.write_text(yaml.safe_dump(SMALL | {"graph": graph}), "utf-8")
    assert loaded(_RUN, str(scenario), str(tmp_path / "run.duckdb")) == needed
