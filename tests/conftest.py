"""Settings of all tests: timings on a busy machine must not fail a property."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# `uv run pytest` and `pytest` are one: commands that the program suggests follow how it was run.
os.environ.pop("UV_RUN_RECURSION_DEPTH", None)

# A shell that starts the tests in the background has them ignore Ctrl-C; so would every program
# that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
