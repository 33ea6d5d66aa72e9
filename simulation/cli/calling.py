"""How the program was called, so that a command it suggests works where it is pasted."""

from __future__ import annotations

import os

PROGRAM = "simulation"
_UV_RUN = "UV_RUN_RECURSION_DEPTH"  # `uv run` sets it for what it runs; other verbs of uv do not


def program_words() -> tuple[str, ...]:
    """Return the words that call this program: `uv run simulation` where uv runs it."""
    return ("uv", "run", PROGRAM) if os.environ.get(_UV_RUN) else (PROGRAM,)


def program_call() -> str:
    """Return the same as one text."""
    return " ".join(program_words())
