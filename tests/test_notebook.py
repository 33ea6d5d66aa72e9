"""The notebook runs from top to bottom in a kernel of its own, and shows what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed (group dev)")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed (group dev)")

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"

pytestmark = pytest.mark.filterwarnings("ignore")  # of the kernel's own packages


@pytest.fixture(name="shown", scope="module")
def all_cells_ran() -> dict[str, str]:
    """Return what each cell shows, by its id."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}
    ).execute()
    return {cell.id: _shown(cell) for cell in notebook.cells if cell.cell_type == "code"}


def _shown(cell: Any) -> str:
    said = [output.get("text") or output["data"]["text/plain"] for output in cell.outputs]
    return "\n".join(said)


def test_every_cell_runs_and_shows_what_it_is_for(shown: dict[str, str]) -> None:
    assert shown["run"] == "('complete', 30)"
    assert re.search(r"^target\s+C1\s+C2\s+C3\s+C4", shown["beliefs"])
    assert "ignore" in shown["turns"]
    assert re.search(r"C1\s+8\d\s+\d", shown["flips"])
    assert "tick" in shown["other"]
    assert shown["ask"].startswith("10 As for trust: ")
    assert re.fullmatch(r"\('p\d{4}', 1\)", shown["society"])


def test_it_is_kept_without_what_it_showed() -> None:
    """A notebook with its output would change with every run."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    assert NOTEBOOK.stat().st_size < 20_000
