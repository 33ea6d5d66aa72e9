"""Executors, chosen by name: where the batches of a tick are worked on. `local` or `ray`.

>>> executor = load(ExecutorSpec(name="local"))
>>> executor.map(pow, executor.share(2), range(4))
[1, 2, 4, 8]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.executors.base import NAMES, Executor, ExecutorSpec
from simulation.executors.local import Local

if TYPE_CHECKING:
    from simulation.encoders.base import Encoder
    from simulation.executors.model import Embedded

__all__ = ["NAMES", "Executor", "ExecutorSpec", "load", "spread_encoder", "spread_model"]


def load(spec: ExecutorSpec) -> Executor:
    """Return the executor that `spec` names, ready to work; close it when done.

    Raises:
        MissingPackageError: its package is not installed; names the extra to install.
        UsageError: the cluster cannot be reached, or its nodes differ from this one.
    """
    if spec.name == "ray":
        from simulation.executors.ray import connect  # noqa: PLC0415 - Ray is an extra

        return connect(spec)
    if spec.workers is not None and spec.workers > 1:
        from simulation.executors.processes import Processes  # noqa: PLC0415 - as needed

        return Processes(spec.workers)
    return Local()


def spread_model(model: Embedded, executor: Executor | None) -> Embedded:
    """Return a model whose large batches go to an executor; without one, the model itself."""
    from simulation.executors.model import Distributed  # noqa: PLC0415 - only a run needs it

    return model if executor is None else Distributed(model, executor)


def spread_encoder(encoder: Encoder, executor: Executor | None) -> Encoder:
    """Return an encoder whose large batches go to an executor, if its vectors allow that."""
    from simulation.executors.encoder import (  # noqa: PLC0415 - only a run needs it
        DistributedEncoder,
        is_exact,
    )

    if executor is None or not is_exact(encoder):
        return encoder
    return DistributedEncoder(encoder, executor)
