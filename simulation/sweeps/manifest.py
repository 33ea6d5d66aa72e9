"""What makes a folder that of one sweep, so that it can be started again and never be mixed up."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from simulation.errors import RunFileError, UsageError
from simulation.rng import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simulation.scenario import Loaded
    from simulation.sweeps.grid import Axis

NAME = "sweep.json"
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A sweep's identity, and the seeds asked for so far, which may grow.

    axes: path: values, in order.  inputs: key and name of a file: SHA-256.
    """

    scenario: str
    scenario_sha256: str
    engine_version: str
    axes: dict[str, list[str]]
    inputs: dict[str, str]
    seeds: list[int]

    @classmethod
    def of(
        cls,
        loaded: Loaded,
        axes: Sequence[Axis],
        inputs: dict[str, str],
        seeds: Sequence[int],
    ) -> Manifest:
        """Return the identity of a sweep."""
        return cls(
            scenario=loaded.scenario.name,
            scenario_sha256=sha256_hex(loaded.text),
            engine_version=importlib.metadata.version("simulation"),
            axes={axis.path: list(axis.values) for axis in axes},
            inputs=inputs,
            seeds=sorted(seeds),
        )

    @property
    def digest(self) -> str:
        """SHA-256 of scenario and grid, without seeds: hexadecimal."""
        told = {**asdict(self), "seeds": [], "engine_version": ""}
        return sha256_hex(json.dumps(told))

    def settle(self, folder: Path) -> Manifest:
        """Take a folder for this sweep, or go on in it; return it with all seeds asked for so far.

        Raises:
            UsageError: the folder is that of another sweep, or holds other things.
            RunFileError: it cannot be written.
        """
        before = _read(folder)
        if before is not None:
            self._check_same(before, folder)
        seeds = sorted({*self.seeds, *(before.seeds if before else ())})
        grown = replace(self, seeds=seeds)
        if grown == before:
            return grown
        text = json.dumps({"format": FORMAT, **asdict(grown)}, indent=2, ensure_ascii=False)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            draft = folder / f".{NAME}.new"
            draft.write_text(f"{text}\n", "utf-8")
            draft.replace(folder / NAME)  # never half a manifest
        except OSError as error:
            reason = error.strerror or error
            raise RunFileError(f"{folder} cannot be written: {reason}") from error
        return grown

    def _check_same(self, before: Manifest, folder: Path) -> None:
        mine, theirs = asdict(self), asdict(before)
        for key, noun in _NOUNS.items():
            if json.dumps(mine[key]) != json.dumps(theirs[key]):  # their order counts, too
                raise UsageError(
                    f"{folder} is the folder of another sweep: {noun} differ"
                    f"{'' if key in ('axes', 'inputs') else 's'} "
                    f"({_short(theirs[key], mine[key])}); choose another --out"
                )


_NOUNS = {
    "scenario_sha256": "the text of the scenario",
    "axes": "its settings",
    "inputs": "the files that the scenario names",
    "engine_version": "the version of the package",
}


def _short(before: object, now: object) -> str:
    """Return what was and what is: of mappings only what differs."""
    if isinstance(before, dict) and isinstance(now, dict):
        keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
        before = "; ".join(_said(key, before) for key in keys)
        now = "; ".join(_said(key, now) for key in keys)
        if before == now:
            return "in their order"
    return f"there {str(before)[:200]}, here {str(now)[:200]}"


def _said(key: str, values: dict[str, object]) -> str:
    value = values.get(key)
    if value is None:
        return f"no {key}"
    return f"{key}={','.join(value) if isinstance(value, list) else str(value)[:12]}"


def _read(folder: Path) -> Manifest | None:
    """Return the manifest of a folder; None for a folder that is new or empty."""
    path = folder / NAME
    if path.is_file():
        try:
            values = json.loads(path.read_text("utf-8"))
            if values.pop("format") != FORMAT:
                raise UsageError(f"{path} was written by another version of the package")
            return Manifest(**values)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise UsageError(f"{path} is damaged ({error}); choose another --out") from error
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; --out names a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} holds other things and no {NAME}; choose another --out")
    return None


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
