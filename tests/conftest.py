"""Settings of all tests: timings on a busy machine must not fail a property."""

from __future__ import annotations

import os

from hypothesis import settings

# `uv run pytest` and `pytest` are one: commands that the program suggests follow how it was run.
os.environ.pop("UV_RUN_RECURSION_DEPTH", None)

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
