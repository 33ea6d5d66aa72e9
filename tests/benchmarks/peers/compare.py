"""Turns of peers beside ours, in CPU time, measured in one go.

    uv run python tests/benchmarks/peers/compare.py [NAME …] [--json OUT] [--page PAGE]

NAME: mesa, ndlib, concordia, mesa-llm or mem0; default, all. Each measurement is a fresh process
that counts its own CPU time, after imports and building. In a round each takes its turn once,
peers before ours and in every other round the other way; a ratio is taken within a round, and all
figures are medians over rounds. What cannot be installed or measured is told and left out.

--page puts the result, whole, between `<!-- peers -->` and `<!-- /peers -->` of a page.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

TESTS = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS))

from benchmarks.measuring import json_in, machine, told, versions  # noqa: E402 - found by the path
from benchmarks.peers.environments import folder, interpreter, pins  # noqa: E402 - likewise
from benchmarks.peers.plan import Job, Pair, pairs, read  # noqa: E402 - likewise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COLUMNS = (
    "peer", "turn", "size", "theirs_us", "ours", "ours_us", "ours_with_texts_us", "ratio"
)  # fmt: skip
HEAD = (
    "| peer | its turn | size | theirs, µs | ours | ours, µs | with new texts | theirs / ours |\n"
    "|---|---|---|---|---|---|---|---|"
)


class Measurements:
    """What each job measured, round after round, and what could not be."""

    def __init__(self, where: Path) -> None:
        """Start with nothing.

        where: the folder of environments.
        """
        self._where = where
        self.found: dict[Job, list[dict[str, float]]] = {}
        self.versions: dict[str, dict[str, str]] = {}
        self.failed: dict[str, str] = {}

    def round(self, jobs: Iterable[Job]) -> None:
        """Let each job measure once, unless it has failed before."""
        for job in jobs:
            if job.peer in self.failed or job.name in self.failed:
                continue
            try:
                measured = self._measured(job)
            except RuntimeError as error:
                self.failed[job.name] = str(error)
                say(f"{job.name}: {error}")
                continue
            self.found.setdefault(job, []).append(read(job, measured))
            if job.peer:
                self.versions[job.peer] = measured["versions"]
            say(f"{job.name}: {self.found[job][-1]['us']:,.1f} µs a turn")

    def prepare(self, peers: Iterable[str]) -> None:
        """Make the environments of peers."""
        for peer in peers:
            say(f"{peer}: its environment")
            try:
                interpreter(peer, self._where)
            except RuntimeError as error:
                self.failed[peer] = str(error)
                say(f"{peer} could not be installed: {error}")

    def _measured(self, job: Job) -> dict[str, Any]:
        python = interpreter(job.peer, self._where) if job.peer else sys.executable
        done = subprocess.run(
            [python, *job.command],
            cwd=TESTS,
            env=_variables(own=not job.peer),
            capture_output=True,
            text=True,
            check=False,
        )
        found = json_in(done.stdout + "\n" + done.stderr)
        if done.returncode or found is None:
            raise RuntimeError(f"failed: {(done.stderr or done.stdout)[-1000:]}")
        return found

    def row(self, pair: Pair) -> dict[str, Any] | None:
        """Return a comparison, medians over rounds; None if a side could not be measured."""
        theirs, ours = (self.found.get(job, []) for job in (pair.theirs, pair.ours))
        if not theirs or not ours:
            return None
        us = [median(one["us"] for one in side) for side in (theirs, ours)]
        return {
            "peer": pair.peer,
            "turn": pair.theirs.label,
            "size": pair.size,
            "theirs_us": us[0],
            "ours": pair.ours.label,
            "ours_us": us[1],
            "ours_with_texts_us": us[1] + median(one["apart_us"] for one in ours),
            "ratio": median(a["us"] / b["us"] for a, b in zip(theirs, ours, strict=False)),
            "rounds": min(len(theirs), len(ours)),
        }


def _variables(*, own: bool) -> dict[str, str]:
    """Return the variables of a process: ours finds this tree, a peer's asks no network."""
    mine = {"PYTHONPATH": str(TESTS.parent)} if own else {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return {**os.environ, **mine}


def say(line: str) -> None:
    """Tell how far it is, beside the result."""
    sys.stderr.write(f"{line}\n")


def figures(value: float) -> str:
    """Return a number with two figures, or all those before the point.

    Example:
        >>> figures(0.0347), figures(3.47), figures(3470.2)
        ('0.035', '3.5', '3,470')
    """
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def markdown(report: dict[str, Any]) -> str:
    """Return a report as a table, with machine and versions."""
    lines = [HEAD]
    for row in report["rows"]:
        numbers = {name: figures(value) for name, value in row.items() if name.endswith("_us")}
        cells = row | numbers | {"ratio": figures(row["ratio"])}
        lines.append(f"| {' | '.join(str(cells[column]) for column in COLUMNS)} |")
    lines += ["", f"{report['rounds']} rounds. {told(report['machine'], report['versions'])}", ""]
    for peer, found in report["peers"].items():
        lines.append(f"- {peer}: {', '.join(f'{name} {has}' for name, has in found.items())}")
    lines += [f"- not measured: {name}: {error}" for name, error in report["failed"].items()]
    return "\n".join(lines) + "\n"


def measure(wanted: Sequence[Pair], rounds: int, where: Path) -> dict[str, Any]:
    """Return the report of some comparisons."""
    done, here = Measurements(where), machine()
    done.prepare(dict.fromkeys(pair.peer for pair in wanted))
    jobs = list(dict.fromkeys(job for pair in wanted for job in (pair.theirs, pair.ours)))
    for number in range(rounds):
        done.round(jobs[:: -1 if number % 2 else 1])
    return {
        "rows": [row for row in map(done.row, wanted) if row is not None],
        "rounds": rounds,
        "machine": here,
        "versions": versions(TESTS.parent),
        "peers": done.versions,
        "failed": done.failed,
    }


def main() -> None:
    """Compare what the command line names."""
    parser = argparse.ArgumentParser(description="Turns of peers beside ours.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(pins()))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--folder", type=Path, default=folder(), help="of environments")
    given = parser.parse_args()
    if unknown := set(given.names) - set(pins()):
        parser.error(f"{', '.join(sorted(unknown))}: no such peer; there are {', '.join(pins())}")
    wanted = [pair for pair in pairs() if pair.peer in (given.names or pins())]
    report = measure(wanted, given.rounds, given.folder)
    if given.json:
        given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    text = markdown(report)
    if given.page:
        page = given.page.read_text("utf-8")
        block = f"<!-- peers -->\n\n{text}\n<!-- /peers -->"
        page = re.sub(r"<!-- peers -->.*<!-- /peers -->", lambda _: block, page, flags=re.DOTALL)
        given.page.write_text(page, "utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
