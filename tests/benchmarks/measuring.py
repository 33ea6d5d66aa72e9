"""Measurements, each in a fresh process, of this tree or of another, in turn.

A process finds the package of a tree through PYTHONPATH; the programs that measure are always
those beside this file, so that two trees are measured alike.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
PACKAGES = ("simulation", "numpy", "duckdb", "pyarrow", "tokenizers")
Measured: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something to measure.

    program: a file beside this one, which prints JSON; "" for the command line of the package,
    whose time is taken.  words: of its command line; {tree} and {out} are filled in.
    repeats: how often it is measured; the command line's best of `tries` is one measurement.
    """

    name: str
    program: str
    words: tuple[str, ...]
    repeats: int = 3
    tries: int = 1

    def measure(self, tree: Path) -> Measured:
        """Return what a fresh process measures.

        Raises:
            RuntimeError: it failed; with the end of what it said.
        """
        if not self.program:
            runs = [self._timed(tree) for _ in range(self.tries)]
            return {"wall_s": min(wall for wall, _ in runs), "cpu_s": min(cpu for _, cpu in runs)}
        command = [sys.executable, str(HERE / self.program), *self._words(tree, Path())]
        done = subprocess.run(
            command, cwd=tree, env=environment(tree), capture_output=True, text=True, check=False
        )
        found = json_in(done.stdout + "\n" + done.stderr)
        if done.returncode or found is None:
            raise RuntimeError(f"{self.name}: {(done.stderr or done.stdout)[-2000:]}")
        return found

    def _words(self, tree: Path, folder: Path) -> list[str]:
        out = str(folder / "run.duckdb")
        return [word.replace("{tree}", str(tree)).replace("{out}", out) for word in self.words]

    def _timed(self, tree: Path) -> tuple[float, float]:
        """Return seconds by the clock and of the processor, from Python's start to its end."""
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "simulation", *self._words(tree, Path(folder))]
            before, started = os.times(), time.perf_counter()
            done = subprocess.run(
                command, cwd=tree, env=environment(tree), capture_output=True, check=False
            )
            wall, after = time.perf_counter() - started, os.times()
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr.decode()[-2000:]}")
        user, system = (getattr(after, n) - getattr(before, n) for n in _OF_CHILDREN)
        return wall, user + system


_OF_CHILDREN = ("children_user", "children_system")


def json_in(said: str) -> Measured | None:
    """Return the last line that is a JSON object; None if there is none.

    Example:
        >>> json_in('a note\\n{"turns": 3}\\n')
        {'turns': 3}
    """
    lines = [line for line in said.splitlines() if line.startswith("{")]
    found: Measured | None = json.loads(lines[-1]) if lines else None
    return found


def environment(tree: Path) -> dict[str, str]:
    """Return the variables of a process that imports the package of a tree, compiled once."""
    return {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": ""}


def alternating(
    jobs: Sequence[Job], trees: Sequence[Path], *, say: Callable[[str], None]
) -> list[dict[str, list[Measured]]]:
    """Return per tree what each job measured, round after round.

    In a round all jobs that have one left take their turn, on one tree and then on the next; every
    other round begins with the last tree. What fails on a tree is told and left out there.
    """
    found: list[dict[str, list[Measured]]] = [{job.name: [] for job in jobs} for _ in trees]
    for number in range(max((job.repeats for job in jobs), default=0)):
        order = list(range(len(trees)))[:: -1 if number % 2 else 1]
        for job in (job for job in jobs if number < job.repeats):
            for place in (place for place in order if len(found[place][job.name]) == number):
                started = time.perf_counter()
                try:
                    found[place][job.name].append(job.measure(trees[place]))
                except RuntimeError as error:
                    say(f"{error}\n{job.name} cannot be measured any more of {trees[place]}")
                else:
                    took = time.perf_counter() - started
                    say(f"round {number + 1}: {job.name} of {trees[place]}, {took:.0f} s")
    return found


def machine() -> Measured:
    """Return what the measurements were made on."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 2),
    }


def versions(tree: Path) -> dict[str, str]:
    """Return the versions of what was measured, and the commit of the tree if it has one."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    commit = _git(tree, "rev-parse", "--short", "HEAD")
    changed = _git(tree, "status", "--porcelain", "--", "simulation")
    return found | {"commit": commit + (" with changes" if changed else "") if commit else "none"}


def told(machine: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """Return both in a line.

    Example:
        >>> told(
        ...     {"cpu": "X1", "cores": 2, "memory_gb": 16.0, "system": "Linux x86_64", "load": 1},
        ...     {"python": "3.12", "commit": "abc"},
        ... )
        'X1, 2 cores, 16.0 GB, Linux x86_64, load 1 at the start; python 3.12, commit abc'
    """
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
        f"{machine['system']}, load {machine['load']} at the start; "
        + ", ".join(f"{name} {number}" for name, number in versions.items())
    )


def _cpu() -> str:
    """Return the processor's name."""
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _git(tree: Path, *words: str) -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    done = subprocess.run(
        [git, "-C", str(tree), *words], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""
