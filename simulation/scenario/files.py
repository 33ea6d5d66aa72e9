"""The files that a scenario names: found, and only where it may look.

A scenario reads only files under its own folder, symbolic links followed. Others must be named on
the command line, by --set or --allow-path: a shared YAML must not read a disk.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from simulation.scenario.checks import SAMPLE
from simulation.spelling import nearest
from simulation.yaml_reading import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from simulation.scenario.draft import Draft
    from simulation.yaml_reading import KeyPath

_SHIPPED = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_LOOKS_LIKE_A_PATH = re.compile(r"(?:\.|~|[/\\]|[A-Za-z]:[/\\])|(?:.*[/\\])?\.\.(?:[/\\]|$)")


class UnusableFileError(ValueError):
    """A file that is missing, unreadable or not to be read; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finder:
    """Finds the files of one scenario.

    folder: the scenario's own, None for a text without one.  allowed: more files and folders that
    may be read.  from_setting: whether a key path was set on the command line.  given: files by
    key path that stand for what the scenario names; None for one that is not needed.
    """

    folder: Path | None
    allowed: tuple[Path, ...]
    from_setting: Callable[[KeyPath], bool]
    given: Mapping[str, Path | None] = field(default_factory=dict)

    def find(self, draft: Draft) -> tuple[dict[str, Path], list[tuple[KeyPath, str]]]:
        """Return the resolved files by key path, and the problems."""
        files = {key: path for key, path in self.given.items() if path is not None}
        problems: list[tuple[KeyPath, str]] = []
        for place, name, folders_too in self._named(draft):
            key = ".".join(map(str, place))
            if key in self.given:
                continue
            try:
                files[key] = self.resolve(place, name, folders_too)
            except (OSError, ValueError, RuntimeError) as error:
                problems.append((place, _said(error)))
        return files, problems

    def _named(self, draft: Draft) -> Iterator[tuple[KeyPath, str, bool]]:
        """Yield the key path and text of each value that names a file; True: or a folder."""
        ontology = draft.value("ontology")
        if isinstance(ontology, str):
            name = self._beside(ontology) if _SHIPPED.fullmatch(ontology) else ontology
            if name is not None:
                yield ("ontology",), name, False
        source = draft.value("population", "source")
        if isinstance(source, str) and source != SAMPLE:
            yield ("population", "source"), source, False
        file = draft.value("graph", "file")
        if isinstance(file, str) and draft.value("graph", "kind") == "edges":
            yield ("graph", "file"), file, False
        for key in ("norms", "coefficients"):
            named = draft.value("affect", key)
            if isinstance(named, str):
                yield ("affect", key), named, False
        model = draft.value("encoder", "model")
        if isinstance(model, str) and self._is_a_model_folder(draft, model):
            yield ("encoder", "model"), model, True

    def _beside(self, name: str) -> str | None:
        """Return the file of a bare ontology name, when it lies with the scenario."""
        if self.folder is None:
            return None
        candidates = (f"{name}.yaml", f"ontology/{name}.yaml")
        found = (file for file in candidates if _exists(self.folder / file))
        return next(found, None)

    def _is_a_model_folder(self, draft: Draft, model: str) -> bool:
        """Return whether an encoder's model is a path; a name such as `org/model` is none."""
        encoder = draft.value("encoder", "name")
        if encoder != "sentence_transformers":
            return bool(encoder == "static")
        place: KeyPath = ("encoder", "model")
        return bool(_LOOKS_LIKE_A_PATH.match(model)) or any(
            _exists(base / model) for base in self._bases(place)
        )

    def _bases(self, place: KeyPath) -> list[Path]:
        """Return the folders that a relative name is looked for in, first match wins."""
        own = [self.folder] if self.folder is not None else []
        return [Path.cwd(), *own] if self.from_setting(place) else own or [Path.cwd()]

    def resolve(self, place: KeyPath, name: str, folders_too: bool) -> Path:  # noqa: FBT001 - one caller
        """Return the file that a value names, symbolic links followed.

        Raises:
            UnusableFileError: it may not be read, is missing, or is no file.
            OSError, ValueError, RuntimeError: the system cannot make sense of the name.
        """
        mine = self.from_setting(place)
        named = Path(name).expanduser() if mine else Path(name)
        candidates = [base / named for base in self._bases(place)]
        chosen = next((path for path in candidates if _exists(path)), candidates[0])
        real = chosen.resolve()
        if not mine:
            self._check_allowed(real, name)
        if not real.exists():
            raise UnusableFileError(_missing(name, candidates))
        if real.is_dir() and folders_too:
            if not mine:
                self._check_links(real, name)
            return real
        if not real.is_file():
            raise UnusableFileError(f"{quoted(name)} is a folder or device, not a file")
        real.open("rb").close()
        return real

    def _check_allowed(self, real: Path, name: str) -> None:
        folder = () if self.folder is None else (self.folder,)
        roots = [Path(root).resolve() for root in (*folder, *self.allowed)]
        if not any(real.is_relative_to(root) for root in roots):
            home = "lies outside the scenario's folder"
            if self.folder is None:
                home = "may not be read: a scenario without a folder names no files"
            raise UnusableFileError(
                f"{quoted(name)} {home}; if you trust it, "
                "add --allow-path with this file or its folder, or name the file with --set"
            )

    def _check_links(self, real: Path, name: str) -> None:
        """Refuse a folder whose links lead to where a file could not be named."""
        for root, folders, files in os.walk(real):
            for entry in (*folders, *files):
                path = Path(root, entry)
                if path.is_symlink():
                    self._check_allowed(path.resolve(), f"{name}/{path.relative_to(real)}")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _missing(name: str, candidates: list[Path]) -> str:
    # The folders as they are, not as they were put together: "a/../b" is "b", and told once.
    looked = dict.fromkeys(os.path.normpath(path.parent) for path in candidates)
    folders = " or ".join(quoted(folder, 200) for folder in looked)
    hint = next(filter(None, map(nearest_file, candidates)), None)
    also = f"; did you mean {quoted(hint)}?" if hint else ""
    return f"there is no file {quoted(Path(name).name)} in {folders}{also}"


def nearest_file(path: Path) -> str | None:
    """Return the name in the same folder that is nearest to a missing one, or None."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir())
    except (OSError, ValueError):
        return None
    return nearest(path.name, names)


def _said(error: Exception) -> str:
    if isinstance(error, UnusableFileError):
        return str(error)
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"cannot be read: {quoted(reason, 200)[1:-1]}"
