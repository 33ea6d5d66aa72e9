"""The command line: one file per verb, which parses, calls and prints. Nothing else prints."""

from __future__ import annotations

from simulation.cli.app import main

__all__ = ["main"]
