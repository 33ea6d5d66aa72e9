"""From a YAML file to a validated Scenario, or to all of its problems at once."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from simulation.errors import Problem, ScenarioError
from simulation.scenario.addresses import KEY_VARIABLES, may_have_key
from simulation.scenario.checks import check
from simulation.scenario.draft import Draft
from simulation.scenario.files import Finder, nearest_file
from simulation.scenario.mending import mended
from simulation.scenario.settings import Setting, SettingProblem, apply_settings
from simulation.scenario.validation import validate
from simulation.scenario.words import shown
from simulation.yaml_reading import (
    Limits,
    Plain,
    YamlError,
    decoded,
    deepest,
    format_path,
    lies_in,
    parse_path,
    quoted,
    read_plain_yaml,
    step_into,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from simulation.scenario.model import Scenario
    from simulation.yaml_reading import Key, KeyPath

_FILE_KEYS = {("ontology",), ("population", "source"), ("graph", "file"), ("encoder", "model")}
_LINE_BREAKS = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "\u0085": "\\u0085"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What the command line allows beyond a scenario's own folder and the providers' own hosts.

    allow_paths: files and folders that may be read.  allow_hosts: hosts (or `host:port`) that a
    `base_url` may name.  key_for: hosts that may get a provider's key.  no_price: language models
    of unknown price may be asked.
    """

    allow_paths: tuple[Path, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    key_for: tuple[str, ...] = ()
    no_price: bool = False


OWN_ONLY = Access()
_LONGEST_HORIZON = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A scenario that was read and validated.

    path: its file, None for a text.  text: as read, with LF line ends and no byte order mark.
    sha256: of the text and the settings, see `digest`.  settings: as given on the command line.
    files: resolved, readable files by key path: `ontology`, `population.source`, `graph.file`,
    `encoder.model`, `affect.norms`, `affect.coefficients`, each where it names a file.
    """

    scenario: Scenario
    path: Path | None
    text: str
    sha256: str
    settings: tuple[str, ...]
    files: Mapping[str, Path]
    name: str = "<scenario>"
    lines: Mapping[KeyPath, int] = field(repr=False, default_factory=dict)
    set_paths: frozenset[KeyPath] = frozenset()
    access: Access = OWN_ONLY

    def key(self, *, provider: str, base_url: str | None) -> str | None:
        """Return the provider's key from the environment, if that address may have it.

        A key goes to its provider's own host, and to hosts named by --key-for; nowhere else.
        provider: `anthropic` or `openai`.  base_url: None for the provider's own address.
        """
        if base_url is not None and not may_have_key(
            base_url, provider=provider, key_for=self.access.key_for
        ):
            return None
        return os.environ.get(KEY_VARIABLES[provider]) or None

    def line_of(self, key_path: str) -> int | None:
        """Return the line of a key path, or of the nearest key above it; None for a setting."""
        return _line(self._path(key_path), self.lines, self.set_paths)

    def problem(self, key_path: str, message: str) -> Problem:
        """Return a problem at a key path, for checks that come after reading."""
        path = self._path(key_path)
        line = _line(path, self.lines, self.set_paths)
        kind = SettingProblem if lies_in(path, self.set_paths) else Problem
        return kind(where=key_path, message=message, line=line)

    def _path(self, text: str) -> KeyPath:
        """Return the exact path of a text, as far as it can be read."""
        path: KeyPath | None = None
        while text and path is None:
            path = parse_path(text)
            text = text.rpartition(".")[0]
        return _exact(path or (), self.scenario.model_dump())


class DraftError(ScenarioError):
    """A scenario that cannot be used, and what of it can still be checked.

    rest: the scenario without what was refused, to look for more problems; None when too little
    is left.  told: the places that have a problem already.
    """

    def __init__(
        self,
        source: str,
        problems: Sequence[Problem],
        *,
        rest: Loaded | None,
        told: frozenset[KeyPath],
    ) -> None:
        """Keep the problems, and what is left."""
        super().__init__(source, problems)
        self.rest = rest
        self.told = told


def _exact(path: KeyPath, data: Any) -> KeyPath:
    keys: list[Key] = []
    for key in path:
        exact, there = step_into(data, key)
        keys.append(exact)
        data = data[exact] if there else None
    return tuple(keys)


def _line(path: KeyPath, lines: Mapping[KeyPath, int], settings: frozenset[KeyPath]) -> int | None:
    if lies_in(path, settings):
        return None
    return lines.get(deepest(path, lines))


def read_scenario(
    path: str | Path, *, settings: Sequence[str] = (), access: Access = OWN_ONLY
) -> Loaded:
    """Return the scenario of a file.

    settings: `path=value` changes, applied in order.

    Raises:
        ScenarioError: with every problem of the file, the settings and the files it names.
    """
    file = Path(path)
    text = _read_text(file)
    folder = file.absolute().parent.resolve()
    return _load(text, name=str(path), path=file, folder=folder, settings=settings, access=access)


def load_text(
    text: str,
    *,
    name: str = "<scenario>",
    folder: Path | None = None,
    settings: Sequence[str] = (),
    access: Access = OWN_ONLY,
    given: Mapping[str, Path | None] = MappingProxyType({}),
) -> Loaded:
    """Return the scenario of a text.

    name: what error messages call it.  folder: where its relative paths start and what it may
    read; without one it may name no files but those that `settings` or `access` allow.
    given: files by key path to take in place of those it names; None for one that is not needed.

    Raises:
        ScenarioError: with every problem.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    home = None if folder is None else Path(folder).resolve()
    return _load(
        text, name=name, path=None, folder=home, settings=settings, access=access, given=given
    )


def load_scenario(
    scenario: Scenario, *, folder: Path | None = None, access: Access = OWN_ONLY
) -> Loaded:
    """Return a scenario made in Python as if it had been read: checked, with its files and text.

    Raises:
        ScenarioError: with every problem of references and files.
    """
    values = scenario.model_dump(mode="json", exclude_unset=True)
    text = json.dumps(values, ensure_ascii=False, indent=2).translate(_LINE_BREAKS)
    return load_text(text + "\n", name=scenario.name, folder=folder, access=access)


def _load(
    text: str,
    *,
    name: str,
    path: Path | None,
    folder: Path | None,
    settings: Sequence[str],
    access: Access,
    given: Mapping[str, Path | None] = MappingProxyType({}),
) -> Loaded:
    try:
        plain = read_plain_yaml(text)
    except YamlError as error:
        raise ScenarioError(name, [error.problem]) from error
    if not isinstance(plain.data, dict):
        raise ScenarioError(name, [*plain.problems, _no_mapping(plain.data)])
    written = plain.data.get("horizon")
    applied = apply_settings(plain, settings)
    set_paths = frozenset(setting.path for setting in applied)
    scenario, complaints = validate(plain.data, words=plain.words, broken=plain.broken)
    draft = Draft(plain.data, plain.broken | {place for place, _ in complaints if place})
    refused = draft.broken
    complaints += check(
        draft, allow_hosts=access.allow_hosts, cut_off=_cut_off(written, set_paths)
    )
    finder = Finder(
        folder=folder,
        allowed=access.allow_paths,
        from_setting=lambda place: lies_in(place, set_paths),
        given=given,
    )
    files, unusable = finder.find(draft)
    problems = plain.problems + [
        _problem(place, message, plain, set_paths) for place, message in complaints + unusable
    ]
    whole = scenario or mended(plain.data, refused)
    loaded = (
        None
        if whole is None
        else Loaded(
            scenario=whole,
            path=path,
            text=text,
            sha256=digest(text, applied),
            settings=tuple(settings),
            files=MappingProxyType(files),
            name=name,
            lines=MappingProxyType(plain.lines),
            set_paths=set_paths,
            access=access,
        )
    )
    if problems or loaded is None:
        told = plain.broken | {place for place, _ in complaints + unusable if place}
        raise DraftError(name, problems, rest=loaded, told=frozenset(told))
    return loaded


def _cut_off(written: object, settings: frozenset[KeyPath]) -> Callable[[KeyPath, int], bool]:
    """Return whether a late tick of the file is only late since --set made the horizon shorter.

    written: the horizon of the file.
    """
    if ("horizon",) not in settings:
        return lambda _place, _tick: False
    until = written if isinstance(written, int) else _LONGEST_HORIZON
    return lambda place, tick: tick <= until and not lies_in(place, settings)


def _problem(place: KeyPath, message: str, plain: Plain, settings: frozenset[KeyPath]) -> Problem:
    kind = SettingProblem if lies_in(place, settings) else Problem
    line = _line(place, plain.lines, settings)
    return kind(where=format_path(place), message=message, line=line)


def _no_mapping(data: object) -> Problem:
    if data is None:
        return Problem(where="", message="is empty; `simulation init` writes one to start from")
    keys = "a scenario is a mapping with keys such as name, horizon and brief"
    return Problem(where="", message=f"{keys}, not {shown(data)}", line=1)


def digest(text: str, settings: Iterable[Setting] = ()) -> str:
    """Return the SHA-256 of a scenario and its settings: the same on every machine.

    Of the UTF-8 bytes of the text, with LF line ends; then, for each setting in order, a zero
    byte and `path=value` with the value as JSON. Of a file that a setting names only the last part
    of its path counts, since where it lies differs between machines.
    """
    parts = [text, *(s.canonical(_portable(s.path, s.value)) for s in settings)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _portable(path: KeyPath, value: Any) -> Any:
    """Return a setting's value with file names for paths."""
    if isinstance(value, dict):
        return {key: _portable((*path, key), item) for key, item in value.items()}
    if path in _FILE_KEYS and isinstance(value, str):
        return value.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return value


def _read_text(file: Path) -> str:
    """Return a file's text, or raise a ScenarioError that says what is the matter with it."""
    try:
        if file.is_dir():
            raise _refused(file, "is a folder, not a file")
        with file.open("rb") as stream:
            data = stream.read(Limits().bytes + 1)
    except FileNotFoundError as error:
        raise _refused(file, _missing(file)) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _refused(file, f"cannot be read: {reason}") from error
    try:
        return decoded(data)
    except YamlError as error:
        raise ScenarioError(str(file), [error.problem]) from error


def _missing(file: Path) -> str:
    if not file.parent.exists():
        return f"there is no folder {quoted(str(file.parent), 200)}"
    near = nearest_file(file)
    hint = f"; did you mean {quoted(str(file.parent / near), 200)}?" if near else ""
    return f"there is no such file{hint}"


def _refused(file: Path, message: str) -> ScenarioError:
    return ScenarioError(str(file), [Problem(where="", message=message)])
