"""Turns of a language model that answers at once, or after a while: what the engine adds to them.

    python tests/benchmarks/model_turns.py [TURNS] [--latency S] [--concurrency N] [--way WAY]
    python tests/benchmarks/model_turns.py --calls N    whether memory grows with calls

Prints measures as JSON. `measured` runs in this process; use a fresh one for each, since memory
and imports stay. Encoding of new texts and the stub that answers are counted apart, the stub by
what its last answers take once more: to look at the clock for each would cost more than it does.

Ways: `switchboard`, the one that a real model takes: tiers of the scenario, a provider on the
event loop, budget, pace, each request in `model_calls`. `backend`: a backend of one's own, asked
for a whole batch in this thread.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import math
import resource
import sys
import tempfile
import time
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.one_run import Clock

from simulation import simulate
from simulation.calls.base import Call
from simulation.calls.settings import ModelSettings
from simulation.calls.switchboard import Switchboard
from simulation.encoders.static import StaticEncoder
from simulation.models import languages
from simulation.providers.base import Completion, Prompt
from simulation.rng import Streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulation.providers.base import Request
    from simulation.records import TickRecords

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "protein_bar.yaml"
WAYS = ("switchboard", "backend")
TICKS = 10
SAMPLE = 1000
DEEDS = ("like", "comment", "ignore", "post", "reply")
log = logging.getLogger("benchmark")


class Writer:
    """Answers by what a schema allows, each time in other words, at once."""

    def __init__(self) -> None:
        """Start with the first answer."""
        self.answers = 0
        self._schemas: deque[dict[str, Any]] = deque(maxlen=SAMPLE)

    @property
    def spent(self) -> float:
        """CPU seconds of all answers, by those to the last schemas, written again."""
        schemas, answers = tuple(self._schemas), self.answers
        start = time.process_time()
        for schema in schemas:
            self.answer(schema)
        took = time.process_time() - start
        self.answers = answers
        return took * answers / max(1, len(schemas))

    def answer(self, schema: dict[str, Any]) -> str:
        """Return an answer that can be used."""
        self.answers += 1
        self._schemas.append(schema)
        words = f"What I saw as number {self.answers} is worth a second look to me."
        properties = schema["properties"]
        if "action" in properties:
            return json.dumps(self._reaction(properties, words))
        if "memories" in properties:
            beliefs = dict.fromkeys(properties["beliefs"]["properties"])
            return json.dumps({"beliefs": beliefs, "memories": [words]})
        return json.dumps({"answer": words})

    def _reaction(self, properties: dict[str, Any], words: str) -> dict[str, Any]:
        possible, target = properties["action"]["enum"], properties["target"]
        action = DEEDS[self.answers % len(DEEDS)]
        if action not in possible:
            action = possible[0]
        aimed = action in ("like", "comment", "reply")
        changes = dict.fromkeys(properties["changes"]["properties"], 0.0)
        changes[next(reversed(changes))] = 0.02
        return {
            "action": action,
            "target": target["anyOf"][0]["enum"][0] if aimed else None,
            "words": words,
            "changes": changes,
        }


class Backend:
    """A backend of one's own."""

    name = "stub"

    def __init__(self, writer: Writer) -> None:
        """Keep who answers."""
        self._answer = writer.answer

    def complete(self, prompts: Sequence[str], *, schemas: Sequence[dict[str, Any]]) -> list[str]:
        """Answer all prompts."""
        return [self._answer(schema) for schema in schemas[: len(prompts)]]


class Provider:
    """A provider without a network."""

    provider, model, host = "openai", "stub", "stub.test"
    notes: tuple[str, ...] = ()

    def __init__(self, writer: Writer, latency: float) -> None:
        """Answer after `latency` seconds."""
        self._answer, self._latency = writer.answer, latency
        self.flying = self.most_flying = 0

    async def check(self) -> None:
        """Be there."""

    async def close(self) -> None:
        """Hold nothing."""

    async def complete(self, request: Request) -> Completion:
        """Answer one request."""
        self.flying += 1
        self.most_flying = max(self.most_flying, self.flying)
        if self._latency:
            await asyncio.sleep(self._latency)
        self.flying -= 1
        return Completion(
            text=self._answer(request.schema or {}),
            finish="stop",
            input_tokens=900,
            cached_tokens=0,
            written_tokens=0,
            output_tokens=80,
        )


def measured(
    turns: int,
    *,
    latency: float = 0.0,
    concurrency: int = 64,
    way: str = "switchboard",
    ticks: int | None = None,
    scenario: Path = SCENARIO,
) -> dict[str, float]:
    """Return the measures of a run whose personas are a language model's.

    turns: about so many; all personas take one in each tick.  latency: seconds to an answer.
    ticks: 10, or one where answers take a while, as then only the waiting is of interest.

    `cpu_us_per_turn` is the CPU time of the whole process after tick 0 over turns: retrieval, log,
    reflections and probes included.  `wall_s` and `ideal_s`: of all ticks; ideal are turns in full
    houses of `concurrency`, tick by tick.  `by_model`, `distinct_memories`: shares.
    """
    ticks = ticks or (1 if latency else TICKS)
    clock, writer = Clock(), Writer()
    provider, backend = Provider(writer, latency), Backend(writer)
    settings = [
        f"population.size={max(1, round(turns / ticks))}",
        "population.activity=1.0",
        f"horizon={ticks}",
        *(_models(concurrency) if way == "switchboard" else ()),
    ]
    ends: list[float] = []

    def tick(records: TickRecords) -> None:
        clock.tick(records)
        ends.append(time.perf_counter())

    encode = clock.watched(StaticEncoder.encode)
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(StaticEncoder, "encode", encode),
        patch.object(languages, "load", lambda _spec: provider),
    ):
        out = Path(folder) / "run.duckdb"
        tiers = (backend, backend) if way == "backend" else None
        simulate(scenario, settings=settings, out=out, tiers=tiers, on_tick=tick)
        told = _told(out)
    taken = sum(count for _, _, count in clock.ticks)
    (start, start_apart, _), (end, end_apart, _) = clock.ticks[0], clock.ticks[-1]
    apart = end_apart - start_apart + writer.spent
    cpu = end - start - apart
    houses = sum(math.ceil(count / concurrency) for _, _, count in clock.ticks)
    return {
        "turns": taken,
        "answers": writer.answers,
        "cpu_us_per_turn": 1e6 * cpu / taken,
        "cpu_us_per_answer": 1e6 * cpu / max(1, writer.answers),
        "apart_us_per_turn": 1e6 * apart / taken,
        "wall_s": ends[-1] - ends[0],
        "ideal_s": houses * latency,
        "most_in_flight": provider.most_flying,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        **told,
    }


def kept(calls: int, *, batch: int = 500) -> dict[str, float]:
    """Return the CPU time of a call that asks and reads nothing much, and what memory keeps of it.

    A tenth of the calls go before, so that what is made once is there.
    """
    text = "words " * 500
    asked = [
        Call(
            tick=1,
            persona_id=f"p{i}",
            purpose="turn",
            prompt=lambda: Prompt(system=text, persona=text, question=text),
            schema={"properties": {"answer": {"type": "string"}}},
            read=len,
        )
        for i in range(batch)
    ]
    model = ModelSettings(
        provider="openai", model="stub", max_tokens=100, temperature=None, price=None
    )
    with Switchboard(streams=Streams(1), sink=lambda _records: None) as board:
        asker = board.asker(lambda: Provider(Writer(), 0.0), model)
        for _ in range(max(1, calls // (10 * batch))):
            asker.ask(asked)
        before, start = _resident(), time.process_time()
        for tick in range(calls // batch):
            asker.ask([replace(call, tick=tick) for call in asked])
        took = time.process_time() - start
        return {
            "calls": calls // batch * batch,
            "cpu_us_per_call": 1e6 * took / (calls // batch * batch),
            "bytes_before": before,
            "bytes_after": _resident(),
        }


def _resident() -> int:
    """Return the bytes of memory that this process has now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def _models(concurrency: int) -> list[str]:
    spec = {
        "provider": "openai",
        "model": "stub",
        "base_url": "http://127.0.0.1:1/v1",
        "price": json.dumps({"input": 1.0, "output": 5.0}),
    }
    tiers = [
        f"models.{t}.{key}={value}" for t in ("cheap", "frontier") for key, value in spec.items()
    ]
    return [*tiers, f"calls.concurrency={concurrency}"]


def _told(path: Path) -> dict[str, float]:
    """Return what a run's file says: how many turns are a model's, and calls by purpose."""
    with duckdb.connect(str(path), read_only=True) as connection:
        found = connection.execute(
            "SELECT (SELECT avg((source = 'model')::INT) FROM turns), "
            "(SELECT count(DISTINCT text) / count(*) FROM memories)"
        ).fetchone()
    by_model, distinct = found or (math.nan, math.nan)
    return {"by_model": by_model, "distinct_memories": distinct}


def main() -> None:
    """Measure what the command line says."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("turns", type=int, nargs="?", default=1000)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--way", choices=WAYS, default=WAYS[0])
    parser.add_argument("--ticks", type=int)
    parser.add_argument("--calls", type=int)
    given = vars(parser.parse_args())
    calls = given.pop("calls")
    log.info(json.dumps(kept(calls) if calls else measured(**given)))


if __name__ == "__main__":
    main()
