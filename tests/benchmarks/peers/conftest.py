"""The programs here run in environments of their own: nothing to collect."""

from __future__ import annotations

collect_ignore_glob = ["*.py"]
