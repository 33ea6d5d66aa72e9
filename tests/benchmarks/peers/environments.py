"""An environment of its own for each peer, in a folder for caches, with the versions pinned here.

They are made by `venv` and `pip`, from whatever package index pip is set up for, and kept: the
next measurement takes them as they are, unless the pins have changed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

PINS = Path(__file__).with_name("versions.toml")
LAST_MINOR = 14  # of the Pythons that are looked for
STAMP = "pinned.txt"


def pins() -> dict[str, tuple[str, list[str]]]:
    """Return for each peer the least Python that it takes, and what is installed."""
    read = tomllib.loads(PINS.read_text("utf-8"))
    return {name: (entry["python"], entry["requirements"]) for name, entry in read.items()}


def folder() -> Path:
    """Return where environments live, outside of the repository."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "simulation-peers"


def interpreter(peer: str, where: Path) -> str:
    """Return the Python of a peer's environment, which is made if it is not there.

    where: the folder of all environments.

    Raises:
        RuntimeError: no Python is new enough, or something cannot be installed; with pip's words.
    """
    least, requirements = pins()[peer]
    home, wanted = where / peer, "\n".join(requirements)
    stamp, python = home / STAMP, home / "bin" / "python"
    if stamp.exists() and stamp.read_text("utf-8") == wanted:
        return str(python)
    shutil.rmtree(home, ignore_errors=True)
    _run([_base(least), "-m", "venv", str(home)])
    _run([str(python), "-m", "pip", "install", "--quiet", *requirements])
    stamp.write_text(wanted, "utf-8")
    return str(python)


def _base(least: str) -> str:
    """Return a Python that is new enough: this one, or the oldest that is found.

    Raises:
        RuntimeError: there is none.
    """
    major, minor = (int(part) for part in least.split("."))
    if sys.version_info[:2] >= (major, minor):
        return sys.executable
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for name in (f"python{major}.{number}" for number in range(minor, LAST_MINOR + 1)):
        found = [shutil.which(name), *sorted(map(str, root.glob(f"versions/*/bin/{name}")))]
        for path in filter(None, found):
            if subprocess.run([path, "-V"], capture_output=True, check=False).returncode == 0:
                return path
    raise RuntimeError(f"it takes Python {least} or newer, and none was found")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = re.findall(r"^ERROR:.*", done.stderr, re.MULTILINE)
        raise RuntimeError("\n".join(errors) or done.stderr[-1000:])
