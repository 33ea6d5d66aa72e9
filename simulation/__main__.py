"""`python -m simulation` is the command line."""

from __future__ import annotations

from simulation.cli import main

if __name__ == "__main__":
    main()
