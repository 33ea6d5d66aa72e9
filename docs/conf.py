"""Sphinx configuration: `sphinx-build -W docs docs/_build` builds the pages."""

from __future__ import annotations

project = "simulation"
author = "The simulation authors"
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "simulation"
exclude_patterns = ["_build"]
