"""How fast a run database is written and read, and how large it gets.

Run by hand: `python tests/benchmarks/runlog_speed.py [PERSONAS] [TICKS]` (default 3505 20). Rows
are made up, about as many a turn as a real run writes: 5 exposures, 3 recalls, 1 memory, 4 moves.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from simulation import records
from simulation.runlog import RunFile, RunHeader, RunWriter

WIDTH = 256
TARGETS = ("value", "fit", "trust", "C1", "C2", "C3")
VIEWS = (
    "SELECT count(*), sum(belief) FROM beliefs",
    "SELECT * FROM belief_summary",
    "SELECT * FROM claim_flips",
    "SELECT * FROM memory_composition",
    "SELECT * FROM posts_reach",
    "SELECT * FROM failures",
    "SELECT * FROM persona_timeline WHERE persona_id = 'p000007' ORDER BY tick, step",
)
log = logging.getLogger("benchmark")


def header(ticks: int) -> RunHeader:
    """Return the header of a made-up run."""
    return RunHeader(
        run_id="benchmark",
        scenario_name="benchmark",
        scenario_yaml="",
        scenario_sha256="",
        settings=(),
        seed=0,
        engine_version="0",
        horizon=ticks,
        tau=max(1.0, ticks / 4),
        parameters={},
        encoder="none",
        encoder_sha256=None,
        models={},
        packages={},
    )


def texts(values: np.ndarray, names: list[str]) -> records.Coded:
    """Return a coded column."""
    return records.Coded(codes=values, names=names)


def start(ids: list[str]) -> records.TickRecords:
    """Return tick 0."""
    people = len(ids)
    who, what = np.divmod(np.arange(people * len(TARGETS)), len(TARGETS))
    personas = records.Personas(
        persona_id=ids,
        persona_index=np.arange(people),
        attributes=["{}"] * people,
        persona_block=["I am a nurse and live in a small town."] * people,
        block_sha256=["0" * 64] * people,
        personality_kind=["none"] * people,
        personality=[None] * people,
        gains=[None] * people,
        reflection_interval=np.full(people, 5),
        activity=np.ones(people),
        tier=["cheap"] * people,
    )
    beliefs = records.InitialBeliefs(
        persona_id=texts(who, ids),
        target=texts(what, list(TARGETS)),
        belief=np.full(len(who), 0.5),
    )
    return records.TickRecords(tick=0, state_digest="", rows=(personas, beliefs))


def tick(number: int, ids: list[str], rng: np.random.Generator) -> records.TickRecords:
    """Return a tick in which everyone takes a turn."""
    people = len(ids)
    each = np.arange(people)
    first = (number - 1) * people
    words = [f"I scrolled past post {first + i}; it did not speak to me at all." for i in each]
    digests = [hashlib.sha256(word.encode()).hexdigest() for word in words]
    none = np.full(people, -1)

    def persons(repeats: int) -> records.Coded:
        return texts(np.repeat(each, repeats), ids)

    def at(repeats: int) -> np.ndarray:
        return np.full(people * repeats, number)

    def some(count: int) -> np.ndarray:
        return rng.random(count)

    rows = (
        records.Exposures(
            tick=at(5),
            persona_id=persons(5),
            post_id=rng.integers(0, first + 1, 5 * people),
            stimulus_id=texts(np.full(5 * people, -1), []),
            position=np.tile(np.arange(5), people),
            score=some(5 * people),
        ),
        records.Posts(
            post_id=first + each,
            tick=at(1),
            author=texts(each, ids),
            kind=texts(each * 0, ["comment"]),
            parent_id=none,
            claim_id=texts(each % 3, ["C1", "C2", "C3"]),
            text=words,
            valence=some(people),
            credibility=some(people),
            addressee=texts(none, []),
            stimulus_id=texts(none, []),
            embedding_id=first + each,
        ),
        records.Turns(
            tick=at(1),
            persona_id=persons(1),
            turn_no=at(1),
            tier=texts(each * 0, ["cheap"]),
            stimulus_text=texts(
                each % 50, [f"Twenty grams of protein, says ad {i}." for i in range(50)]
            ),
            action=texts(each % 3, ["ignore", "like", "comment"]),
            target_id=texts(none, []),
            claim_id=texts(none, []),
            text=words,
            importance=some(people),
            max_abs_delta=some(people),
            source=texts(each * 0, ["rule"]),
            error=texts(none, []),
        ),
        records.BeliefChanges(
            tick=at(4),
            persona_id=persons(4),
            phase=texts(at(4) * 0, ["turn"]),
            target=texts(np.tile(np.arange(4), people), list(TARGETS)),
            requested=some(4 * people),
            before=some(4 * people),
            after=some(4 * people),
            cause_post_id=rng.integers(0, first + 1, 4 * people),
            cause_stimulus_id=texts(np.full(4 * people, -1), []),
        ),
        records.Memories(
            memory_id=first + each,
            persona_id=persons(1),
            tick=at(1),
            kind=texts(each * 0, ["turn"]),
            text=words,
            importance=some(people),
            valence=some(people),
            arousal=some(people),
            dominance=some(people),
            specificity=texts(each * 0, ["specific"]),
            claim_id=texts(none, []),
            stance=some(people),
            embedding_id=first + each,
        ),
        records.Embeddings(
            embedding_id=first + each,
            tick=at(1),
            text=words,
            text_sha256=digests,
            quantised=rng.integers(-127, 128, (people, WIDTH), dtype=np.int8),
            scale=some(people).astype(np.float32),
        ),
        records.Recalls(
            tick=at(3),
            persona_id=persons(3),
            slot=np.tile(np.arange(1, 4), people),
            memory_id=rng.integers(0, first + 1, 3 * people),
            path=texts(at(3) * 0, ["product"]),
            query=texts(at(3) * 0, ["Twenty grams of protein."]),
            recency=some(3 * people),
            importance=some(3 * people),
            relevance=some(3 * people),
            score=some(3 * people),
        ),
        records.Evictions(
            memory_id=first + each[: people // 10], evicted_tick=np.full(people // 10, number)
        ),
    )
    return records.TickRecords(tick=number, state_digest="", rows=rows)


def main(people: int, ticks: int) -> None:
    """Write and read a run, and log what it took."""
    rng = np.random.default_rng(0)
    ids = [f"p{i:06d}" for i in range(people)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.duckdb"
        begun = time.perf_counter()
        writer = RunWriter.create(path, header(ticks))
        log.info("create: %.3f s", time.perf_counter() - begun)
        writer.write(start(ids), wall_s=0)
        rows, spent, slowest = 0, 0.0, 0.0
        for number in range(1, ticks + 1):
            made = tick(number, ids, rng)
            begun = time.perf_counter()
            writer.write(made, wall_s=0)
            took = time.perf_counter() - begun
            rows, spent, slowest = (
                rows + sum(map(len, made.rows)),
                spent + took,
                max(slowest, took),
            )
        log.info(
            "write: %.0f rows/s, %.3f s a tick, slowest %.3f", rows / spent, spent / ticks, slowest
        )
        begun = time.perf_counter()
        writer.finish("complete")
        writer.close()
        log.info("finish: %.3f s", time.perf_counter() - begun)
        log.info("size: %.0f bytes a turn", path.stat().st_size / (people * ticks))
        with RunFile.open(path) as run:
            for sql in VIEWS:
                begun = time.perf_counter()
                found = run.arrow(sql)
                log.info("%.3f s, %d rows: %s", time.perf_counter() - begun, found.num_rows, sql)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(*(int(each) for each in [*sys.argv[1:], "3505", "20"][:2]))
