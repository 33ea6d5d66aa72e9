"""The scenarios that come with the package, by name."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
# In a wheel the scenarios are package data; in a clone they lie beside the package.
_FOLDERS = (_PACKAGE / "_shipped" / "scenarios", _PACKAGE.parent / "scenarios")


def shipped_scenarios() -> dict[str, Path]:
    """Return name: file of each scenario that ships, by name."""
    folder = next((each for each in _FOLDERS if each.is_dir()), _FOLDERS[0])
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}
