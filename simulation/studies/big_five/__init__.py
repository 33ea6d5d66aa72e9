"""The study `big-five`: does recall follow the Big Five as in PersMem, and as in people?"""

from simulation.studies.big_five.study import run

__all__ = ["run"]
