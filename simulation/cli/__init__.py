"""The command line: one file per verb, which parses, calls and prints. Nothing else prints."""

from __future__ import annotations

from simulation.cli.process import main

__all__ = ["main"]
