"""Settings of all tests: timings on a busy machine must not fail a property."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
