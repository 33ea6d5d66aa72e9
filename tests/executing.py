"""Runs on executors for their tests: digests of every tick, and parts that misbehave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from small import small

from simulation import executors
from simulation.engine import Engine
from simulation.executors import encoder, model
from simulation.founding import read
from simulation.models.rule import RuleModel
from simulation.scenario import Access

if TYPE_CHECKING:
    import pytest

    from simulation.executors import Executor
    from simulation.models.base import Reactions, TurnRequests
    from simulation.scenario import Loaded

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios"
SURVEYS = [
    {"id": "taste", "tick": [2, 6], "question": "Is Bolt tasty?", "target": "C2",
     "anchors": "agreement"},
    {"id": "buys", "tick": 4, "question": "Buy it?", "kind": "choice",
     "choices": ["no", "perhaps", "yes"]},
]  # fmt: skip


def scenario(name: str) -> Loaded:
    """Return a scenario by name, short enough for a test."""
    if name == "small":
        return small(surveys=SURVEYS, rule={"drift_rate": 0.3})
    sizes = {"protein_bar": "horizon=12", "anxious_neighbours": "horizon=10"}
    return read(SCENARIOS / f"{name}.yaml", settings=(sizes[name],), access=Access())


def cut_small(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Have parts so small that every batch of a test's run has several."""
    monkeypatch.setattr(model, "BATCH", size)
    monkeypatch.setattr(encoder, "BATCH", size)


def told(loaded: Loaded, executor: Executor | None, **given: Any) -> list[Any]:
    """Return all that a run tells, tick by tick: digests first, then each row."""
    engine = Engine(loaded, executor=executor, **given)
    found = [plain(engine.records)]
    while engine.world.tick < loaded.scenario.horizon:
        found.append(plain(engine.advance()))
    return found


def plain(value: Any) -> Any:
    """Return records as lists and numbers that can be compared."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.shape, value.tobytes()]
    if hasattr(value, "__dataclass_fields__"):
        return [type(value).__name__, *(plain(getattr(value, f)) for f in _fields(value))]
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def _fields(value: Any) -> list[str]:
    return list(value.__dataclass_fields__)


def process_of(_: Any, seconds: float) -> int:
    """Return the process that works on a part, after a while."""
    time.sleep(seconds)
    return os.getpid()


def shared_plus(value: int, part: int) -> int:
    """Return a sum; the first parts take longest, so that they are done last."""
    time.sleep(0.05 / (part + 1))
    return value + part


def hand_back(_: Any, part: TurnRequests | None) -> Any:
    """Return about what a model answers to turns, by size: the columns of beliefs twice."""
    return None if part is None else (part.beliefs, part.initial, part.row, part.tier)


def die_once(marks: str, part: int) -> int:
    """End the worker hard when a part is first worked on; return the part the second time."""
    mark = Path(marks) / str(part)
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def die(_: Any, __: Any) -> None:
    """End the worker hard, always."""
    os.kill(os.getpid(), signal.SIGKILL)


def fail(error: Exception, part: int) -> int:
    """Raise the shared error for one part."""
    if part == 1:
        raise error
    return part


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadly(RuleModel):
    """A rule model that ends its worker hard when it is first asked in tick `fatal`.

    home: process in which it never does that.  mark: file that says it has been done.
    """

    fatal: int
    home: int
    mark: str

    def react(self, requests: TurnRequests) -> Reactions:
        """Answer turns, but for the first time in the fatal tick."""
        mark = Path(self.mark)
        if requests.tick == self.fatal and os.getpid() != self.home and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return RuleModel.react(self, requests)


def survived(executor: Executor, mark: Path) -> tuple[list[Any], list[Any]]:
    """Return what a run tells in which a worker dies in mid-tick, and what it should tell."""
    loaded = small()
    engine = Engine(loaded)
    rule = engine.rule
    assert isinstance(rule, RuleModel)
    deadly = Deadly(
        parameters=rule.parameters,
        streams=rule.streams,
        fatal=3,
        home=os.getpid(),
        mark=str(mark),
    )
    spread = executors.spread_model(deadly, executor)
    return told(loaded, executor, tiers=(spread, spread)), told(loaded, None)


def interrupted(folder: Path, *options: str) -> tuple[int, str]:
    """Strike Ctrl-C in a run of the command line, as a terminal does: to all of its processes.

    Return its exit code and what it said on stderr; the file is out.duckdb.
    """
    (folder / "small.yaml").write_text(small().text, encoding="utf-8")
    line = ["run", "small.yaml", "--out", "out.duckdb", *options]
    program = subprocess.Popen(
        [sys.executable, "-m", "simulation", *line],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while not (folder / "out.duckdb").exists():
        assert time.monotonic() < until
        time.sleep(0.1)
    time.sleep(3)
    os.killpg(program.pid, signal.SIGINT)
    _, said = program.communicate(timeout=60)
    return program.returncode, said
