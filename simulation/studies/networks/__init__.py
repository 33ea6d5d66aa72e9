"""`simulation study networks`: do personas revise what they believe as people in networks do?

`reading` takes in people's answers as a `panel`; `ties` says who sees whom; `law` is one turn, by
`mind.opinion` and `mind.revision`; `society` runs it in the engine; `fitting` sets its parameters
on half of the networks; `baselines` and `measuring` judge on the other half, and for the
`clinicians` apart; `study` puts together what was `found`, with `verdicts`, `tables`, `pictures`.
"""

from __future__ import annotations

from simulation.studies.networks.study import run

__all__ = ["run"]
