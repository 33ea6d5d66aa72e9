"""Put what was measured into the pages of docs.

    uv run python tests/benchmarks/pages.py TABLE.json [CURVES.json]

TABLE.json is what table.py wrote, CURVES.json what curves.py did. A page holds blocks between
`<!-- NAME -->` and `<!-- /NAME -->`; only these are replaced.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import curves, table
from benchmarks.measuring import TREE
from benchmarks.needs import needs

if TYPE_CHECKING:
    from benchmarks.measuring import Measured

DOCS = TREE / "docs"
LEAST = 0.005  # share of a stage that is told


def main() -> None:
    """Fill the blocks that the files of the command line tell of."""
    measured = _read(sys.argv[1])
    if measured["quick"]:
        raise SystemExit(f"{sys.argv[1]} is of --quick, which pages do not tell")
    blocks = {"table": table.markdown(measured), "where": where(measured), **needs(measured)}
    if len(sys.argv) > 2:
        blocks["curves"] = curves.markdown(_read(sys.argv[2]))
    for page in ("performance.md", "beyond-one-machine.md"):
        path = DOCS / page
        path.write_text(filled(path.read_text(encoding="utf-8"), blocks), encoding="utf-8")


def filled(page: str, blocks: dict[str, str]) -> str:
    """Return a page with its blocks replaced.

    Example:
        >>> filled("a\\n<!-- x -->\\nold\\n<!-- /x -->\\nb", {"x": "new\\n"})
        'a\\n<!-- x -->\\n\\nnew\\n\\n<!-- /x -->\\nb'
    """
    for name, text in blocks.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if found and closed:
            page = f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}"
    return page


def where(report: Measured) -> str:
    """Return what the stages of a tick take, of a turn and as shares, largest run first."""
    runs = {
        f"{name} personas": report["jobs"][job][-1]
        for job, name in _names(report).items()
        if report["jobs"].get(job)
    }
    stages = dict.fromkeys(stage for run in runs.values() for stage in run["stages"])
    lines = [f"| µs a turn | {' | '.join(runs)} |", f"|---|{'---|' * len(runs)}"]
    rows = {stage: [run["stages"].get(stage, 0.0) for run in runs.values()] for stage in stages}
    rows["the rest"] = [run["run_cpu_s"] - sum(run["stages"].values()) for run in runs.values()]
    rows["**a turn**"] = [run["run_cpu_s"] for run in runs.values()]
    rows["encoding new texts, beside it"] = [run["encoding_cpu_s"] for run in runs.values()]
    for name, seconds in rows.items():
        cells = [
            f"{1e6 * took / run['turns']:.1f} ({took / run['run_cpu_s']:.0%})"
            for took, run in zip(seconds, runs.values(), strict=True)
        ]
        shares = [
            took / run["run_cpu_s"] for took, run in zip(seconds, runs.values(), strict=True)
        ]
        if max(shares) >= LEAST:
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _names(report: Measured) -> dict[str, str]:
    """Return the numbers of personas of the jobs of the three sizes."""
    return {
        name: f"{int(setting.partition('=')[2]):,}"
        for name in ("small", "middle", "large")
        for run in report["jobs"].get(name, [])[:1]
        for setting in run["settings"]
        if setting.startswith("population.size=")
    }


def _read(path: str) -> Measured:
    found: Measured = json.loads(Path(path).read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    main()
