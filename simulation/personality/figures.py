"""How personality is spread among real people: quantiles and rank correlations of each kind.

Figures computed from the openly published survey dumps of openpsychometrics.org
(https://openpsychometrics.org/_rawdata/): the Big Five from the IPIP Big-Five Factor Markers
(Goldberg 1992; 50 items, 10 a trait), attachment from the Experiences in Close Relationships scale
(Brennan, Clark & Shaver 1998; 36 items, 18 a dimension). Each scale is the mean of its items,
reversed where they are keyed so, moved from the answers' range to [0, 1].

The people chose to take a test on the web: the figures describe them, and no nation.
"""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = tuple(i / 20 for i in range(21))  # at which the quantiles stand


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The spread of one kind of personality.

    people: how many were measured.  mean, sd: per trait, of the measured values (for comparison;
    nothing is computed from them).  quantiles: per trait, at `LEVELS`, rising from 0 to 1.
    spearman: rank correlations of the traits, symmetric, 1 on the diagonal.
    """

    people: int
    mean: tuple[float, ...]
    sd: tuple[float, ...]
    quantiles: tuple[tuple[float, ...], ...]
    spearman: tuple[tuple[float, ...], ...]


# fmt: off
FIGURES: dict[str, Figures] = {
    "attachment": Figures(
        people=46_610,
        mean=(0.5238, 0.3912),
        sd=(0.2008, 0.2099),
        quantiles=(
            (  # anxiety
                0.0, 0.1806, 0.2639, 0.3056, 0.3472, 0.375, 0.4167, 0.4444, 0.4722, 0.5, 0.5278,
                0.5556, 0.5833, 0.6111, 0.6389, 0.6667, 0.6944, 0.7361, 0.7778, 0.8472, 1.0,
            ),
            (  # avoidance
                0.0, 0.0694, 0.125, 0.1667, 0.2083, 0.2361, 0.2639, 0.2917, 0.3056, 0.3333,
                0.3611, 0.3889, 0.4306, 0.4583, 0.5, 0.5417, 0.5833, 0.625, 0.6806, 0.7639, 1.0,
            ),
        ),
        spearman=(
            (1.0, -0.0226),
            (-0.0226, 1.0),
        ),
    ),
    "big_five": Figures(
        people=19_718,
        mean=(0.7272, 0.5868, 0.5028, 0.7111, 0.5243),
        sd=(0.1564, 0.1827, 0.2306, 0.1786, 0.2154),
        quantiles=(
            (  # O
                0.0, 0.45, 0.525, 0.55, 0.6, 0.625, 0.65, 0.675, 0.7, 0.725, 0.75, 0.75, 0.775,
                0.8, 0.825, 0.85, 0.875, 0.9, 0.925, 0.95, 1.0,
            ),
            (  # C
                0.0, 0.275, 0.35, 0.4, 0.425, 0.45, 0.475, 0.525, 0.55, 0.575, 0.6, 0.6, 0.625,
                0.65, 0.7, 0.725, 0.75, 0.775, 0.825, 0.9, 1.0,
            ),
            (  # E
                0.0, 0.125, 0.2, 0.25, 0.3, 0.325, 0.375, 0.4, 0.45, 0.475, 0.5, 0.525, 0.575,
                0.6, 0.65, 0.675, 0.725, 0.775, 0.8, 0.875, 1.0,
            ),
            (  # A
                0.0, 0.375, 0.475, 0.525, 0.575, 0.6, 0.65, 0.675, 0.7, 0.7, 0.725, 0.75, 0.775,
                0.8, 0.825, 0.85, 0.875, 0.9, 0.925, 0.95, 1.0,
            ),
            (  # N
                0.0, 0.15, 0.225, 0.275, 0.325, 0.375, 0.4, 0.425, 0.475, 0.5, 0.525, 0.55,
                0.575, 0.625, 0.65, 0.675, 0.725, 0.75, 0.8, 0.875, 1.0,
            ),
        ),
        spearman=(
            (1.0, 0.0743, 0.1561, 0.1412, -0.0897),
            (0.0743, 1.0, 0.1072, 0.1894, -0.2523),
            (0.1561, 0.1072, 1.0, 0.33, -0.2557),
            (0.1412, 0.1894, 0.33, 1.0, -0.1244),
            (-0.0897, -0.2523, -0.2557, -0.1244, 1.0),
        ),
    ),
}
# fmt: on
