"""Names of run databases: files on this machine, whatever else DuckDB could take a name for."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from simulation.runlog import problems

if TYPE_CHECKING:
    from pathlib import Path

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # two characters at least: C: is a drive


def absolute(path: Path) -> str:
    """Return the name to give DuckDB: absolute, since then no prefix (`md:`, `s3:`) is special.

    Raises:
        RunFileError: no file can have this name.
    """
    name = os.path.abspath(path)  # noqa: PTH100 - Path.absolute keeps "..", as DuckDB would
    if "\\" in name and os.sep != "\\":
        raise problems.unusable_name(path, "DuckDB takes a backslash for a slash")
    try:
        name.encode()
        os.lstat(f"{name}.wal")  # the longest name that a run needs
    except UnicodeEncodeError as error:
        shown = type(path)(str(path).encode("utf-8", "backslashreplace").decode())
        raise problems.unusable_name(shown, "it is not valid UTF-8") from error
    except (FileNotFoundError, NotADirectoryError):
        return name
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise problems.unusable_name(path, why or str(error)) from error
    return name


def check_local(path: Path) -> None:
    """Refuse an address such as `s3://bucket/run`, of which folders would be made.

    Raises:
        RunFileError: it is one, or DuckDB would look for its log elsewhere.
    """
    if "?" in os.path.abspath(path):  # noqa: PTH100 - as above
        raise problems.unusable_name(path, "DuckDB takes what follows a question mark for options")
    first = path.parts[0] if path.parts else ""
    if len(path.parts) > 1 and _SCHEME.fullmatch(first) and not os.path.isdir(first):  # noqa: PTH112 - a part, not a path
        raise problems.unusable_name(
            path, f'a run is written to this machine, and "{first}" begins the address of another'
        )
