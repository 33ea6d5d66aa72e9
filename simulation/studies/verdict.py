"""What a study claims: each number beside what it was aimed at and what the source found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulation.studies.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS = {True: "reached", False: "not reached", None: "reported"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A claim.

    found: here.  theirs: in the source, or among people; "" where it says nothing.  target: what
    was aimed at.  reached: None where there is no target.
    """

    claim: str
    found: str
    target: str
    reached: bool | None
    theirs: str = ""

    def __str__(self) -> str:
        """Return it as a line."""
        beside = "; ".join(filter(None, (self.target, self.theirs and f"theirs: {self.theirs}")))
        return f"{WORDS[self.reached]:<13}{self.claim}: {self.found}{beside and f' ({beside})'}"


def verdict_table(found: Sequence[Verdict]) -> Table:
    """Return claims as a table."""
    return Table(
        name="verdicts",
        title="Found and aimed at",
        columns=("claim", "found", "theirs", "target", "verdict"),
        rows=tuple((v.claim, v.found, v.theirs, v.target, WORDS[v.reached]) for v in found),
    )
