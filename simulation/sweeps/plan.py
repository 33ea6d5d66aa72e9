"""What a sweep is to do: its grid, checked before any run starts, and what it will take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulation import runs
from simulation.errors import InputError, UsageError
from simulation.founding import read
from simulation.scenario import Access
from simulation.sweeps.base import Job
from simulation.sweeps.grid import MOST_RUNS, cells, parse_axes, parse_seeds
from simulation.sweeps.manifest import Manifest, sha256_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.scenario import Loaded
    from simulation.sweeps.grid import Axis, Cell

# Measured: of runs of 120 and 600 personas over 30 ticks with the static encoder.
_BYTES_OF_A_FILE = 5_300_000
_BYTES_OF_A_TURN = 800


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One run of the grid. number: from 1.  path: of its run database."""

    number: int
    cell: Cell
    seed: int
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A sweep, checked and ready to start.

    folder: of its runs.  targets: dimensions and claims of any cell, in order.  horizons: ticks
    by number of the cell.  bytes: about what all runs will take on the disk.
    """

    name: str
    folder: Path
    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    seeds: tuple[int, ...]
    runs: tuple[PlannedRun, ...]
    targets: tuple[str, ...]
    horizons: dict[int, int]
    bytes: int
    manifest: Manifest
    text: str
    scenario: Path
    access: Access

    def job(self, run: PlannedRun) -> Job:
        """Return what a worker needs for a run."""
        return Job(
            number=run.number,
            text=self.text,
            name=str(self.scenario),
            folder=str(self.scenario.absolute().parent),
            settings=run.cell.settings,
            seed=run.seed,
            out=str(run.path),
            allow_paths=tuple(str(path) for path in self.access.allow_paths),
            allow_hosts=self.access.allow_hosts,
            key_for=self.access.key_for,
            no_price=self.access.no_price,
        )


def plan(
    scenario: str | Path,
    *,
    seeds: str | Sequence[int] | None = None,
    settings: Sequence[str] = (),
    out: str | Path | None = None,
    access: Access | None = None,
) -> Plan:
    """Return a sweep with every combination of settings read and founded; nothing is written.

    seeds: `1-20`, `1,4,9`, or numbers; default, the scenario's own.  settings: `path=a,b,c`.
    out: the folder; default, one in `runs/` that is named after the scenario and the grid, so that
    the same command finds it again.

    Raises:
        ScenarioError: the scenario cannot be used with any settings.
        UsageError: the grid makes no sense, or some of its settings cannot be used: all are told.
    """
    access = access or Access()
    axes = parse_axes(settings)
    numbers = parse_seeds(seeds) if isinstance(seeds, str) else seeds
    name = Path(scenario).stem
    loaded, sizes = _checked(Path(scenario), cells(axes, name=name), access)
    first = next(iter(loaded.values()))
    name = first.scenario.name
    grid = cells(axes, name=name)
    seeds_used = tuple(numbers) if numbers is not None else (first.scenario.seed,)
    if len(grid) * len(seeds_used) > MOST_RUNS:
        raise UsageError(f"{len(grid) * len(seeds_used):,} runs are more than {MOST_RUNS:,}")
    manifest = Manifest.of(first, axes, _inputs(loaded), seeds_used)
    folder = Path(out) if out is not None else runs.RUNS / f"{name}-sweep-{manifest.digest[:8]}"
    made = [
        (cell, seed, folder / f"{cell.label}-seed{seed}.duckdb")
        for cell in grid
        for seed in seeds_used
    ]
    return Plan(
        name=name,
        folder=folder,
        axes=axes,
        cells=grid,
        seeds=seeds_used,
        runs=tuple(
            PlannedRun(number=i, cell=cell, seed=seed, path=path)
            for i, (cell, seed, path) in enumerate(made, start=1)
        ),
        targets=tuple(dict.fromkeys(t for each in loaded.values() for t in each.scenario.targets)),
        horizons={number: each.scenario.horizon for number, each in loaded.items()},
        bytes=sum(sizes) * len(seeds_used),
        manifest=manifest,
        text=first.text,
        scenario=Path(scenario),
        access=access,
    )


def _checked(
    scenario: Path, grid: Sequence[Cell], access: Access
) -> tuple[dict[int, Loaded], list[int]]:
    """Return each cell's scenario, read and founded once, and the bytes of a run of it."""
    loaded: dict[int, Loaded] = {}
    sizes: list[int] = []
    problems: dict[str, list[Cell]] = {}
    for cell in grid:
        try:
            found = read(scenario, settings=cell.settings, access=access)
            world = runs.check(found)
        except InputError as error:
            if len(grid) == 1:
                raise
            problems.setdefault(str(error), []).append(cell)
            continue
        loaded[cell.number] = found
        turns = float(world.activity.sum()) * found.scenario.horizon
        sizes.append(round(_BYTES_OF_A_FILE + _BYTES_OF_A_TURN * turns))
    if problems:
        raise UsageError(_told(problems, len(grid)))
    return loaded, sizes


def _told(problems: dict[str, list[Cell]], count: int) -> str:
    """Return one message for all cells with a problem; the same problem is told once."""
    bad = sum(len(each) for each in problems.values())
    if len(problems) == 1 and bad == count:
        return next(iter(problems))
    lines = [f"{bad} of {count} combinations of settings cannot be run; no run was started"]
    for message, where in problems.items():
        more = f" and {len(where) - 1} more" if len(where) > 1 else ""
        lines += [f"with {' '.join(where[0].settings)}{more}:"]
        lines += [f"  {line}" for line in message.splitlines()]
    return "\n".join(lines)


def _inputs(loaded: dict[int, Loaded]) -> dict[str, str]:
    """Return the SHA-256 of every file that the scenarios name."""
    files = {
        f"{key}: {path.name}": path
        for each in loaded.values()
        for key, path in each.files.items()
        if path.is_file()
    }
    return {name: sha256_of(path) for name, path in sorted(files.items())}
