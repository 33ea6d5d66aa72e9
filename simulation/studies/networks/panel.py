"""People's answers to one question in three rounds, and in which network each was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

ROUNDS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Panel:
    """N people's answers, in the order of their ids; a person with four questions is four rows.

    network: (N,) which trial.  group: (N,) who could see each other: trial, and question or
    condition.  tied: (N,) whether they did.  claim: (N,) index into `claims`.  answers: (N, 3),
    [0, 1], the first always there, later ones NaN where missing.  truth: (C,) 1 or 0, whether the
    claim is true, or the right answer.  labels: the trials' names, by `network`.
    """

    ids: tuple[str, ...]
    network: IntArray
    group: IntArray
    tied: BoolArray
    claim: IntArray
    claims: tuple[str, ...]
    answers: FloatArray
    truth: FloatArray
    labels: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ids)

    @property
    def first(self) -> FloatArray:
        """First answers, (N,)."""
        return self.answers[:, 0]

    @property
    def last(self) -> FloatArray:
        """Last answers, (N,), NaN where missing."""
        return self.answers[:, -1]

    @property
    def scored(self) -> BoolArray:
        """Whether there is a last answer, (N,)."""
        return ~np.isnan(self.last)

    @property
    def networks(self) -> IntArray:
        """Trials that occur, rising."""
        return np.unique(self.network)

    def of(self, networks: Sequence[int] | IntArray) -> Panel:
        """Return the rows of some networks; ids and indices stay what they are."""
        return self.where(np.isin(self.network, networks))

    def where(self, kept: BoolArray) -> Panel:
        """Return some of the rows."""
        rows = np.flatnonzero(kept)
        return Panel(
            ids=tuple(self.ids[i] for i in rows.tolist()),
            network=self.network[rows],
            group=self.group[rows],
            tied=self.tied[rows],
            claim=self.claim[rows],
            claims=self.claims,
            answers=self.answers[rows],
            truth=self.truth,
            labels=self.labels,
        )


def halves(panel: Panel) -> tuple[Panel, Panel]:
    """Return the fitting half and the test half: trials in order, alternating."""
    networks = panel.networks
    return panel.of(networks[::2]), panel.of(networks[1::2])


def others_mean(values: FloatArray, group: IntArray) -> FloatArray:
    """Return the mean of the others of one's group, one's own value where there are none.

    values: (..., N).  group: (N,).
    """
    _, of = np.unique(group, return_inverse=True)
    size = np.bincount(of)
    flat = values.reshape(-1, len(group))
    total = np.stack([np.bincount(of, weights=row, minlength=len(size)) for row in flat])
    total = total.reshape(*values.shape[:-1], len(size))
    count = (size - 1)[of]
    mean = (total[..., of] - values) / np.maximum(count, 1)
    return np.where(count > 0, mean, values)
