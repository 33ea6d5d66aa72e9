"""Recompute a run from its database alone: an independent check of method.md.

It imports nothing of the package: only DuckDB, numpy and the standard library. Each check returns
a list of differences, empty when the file agrees with the method.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

TOLERANCE = 1e-5
BASE = {
    "ignore": 0.05,
    **dict.fromkeys(("like", "upvote", "downvote", "follow"), 0.2),
    "repost": 0.3,
    **dict.fromkeys(("answer", "post", "comment", "reply", "quote", "ask_peer", "complain"), 0.5),
    **dict.fromkeys(("buy", "reject"), 0.7),
}


class Run:
    """A run database, read with plain SQL."""

    def __init__(self, path: str) -> None:
        self.con = duckdb.connect(path, read_only=True)
        row = self.rows("SELECT seed, horizon, last_tick, tau, parameters FROM run")[0]
        self.seed, self.horizon, self.last_tick, self.tau = row[:4]
        self.parameters: dict[str, Any] = json.loads(row[4])

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.con.execute(query).fetchall()

    def groups(self, query: str) -> Iterator[tuple[tuple[Any, ...], list[tuple[Any, ...]]]]:
        """Group rows by their first two columns, keeping the order."""
        groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
        for row in self.rows(query):
            groups[row[:2]].append(row[2:])
        yield from groups.items()


def close(left: float, right: float) -> bool:
    return abs(left - right) <= TOLERANCE


def tau(run: Run) -> list[str]:
    wanted = max(1.0, run.horizon / 4)
    return [] if run.tau == wanted else [f"tau {run.tau}, not {wanted}"]


def belief_chain(run: Run) -> list[str]:
    """Every change starts where the last one ended, is clipped and clamped, and is a change."""
    now = {
        (p, t): b for p, t, b in run.rows("SELECT persona_id, target, belief FROM initial_beliefs")
    }
    wrong = []
    changes = run.rows(
        "SELECT tick, persona_id, phase, target, requested, before, after FROM belief_changes "
        "ORDER BY tick, phase = 'reflection', persona_id, target"
    )
    for tick, persona, phase, target, requested, before, after in changes:
        if now[persona, target] != before:
            wrong.append(
                f"{tick} {persona} {target}: starts at {before}, was {now[persona, target]}"
            )
        aim = before + max(-1.0, min(1.0, requested)) if phase == "turn" else requested
        if max(0.0, min(1.0, aim)) != after or after == before:
            wrong.append(f"{tick} {persona} {target}: {before} + {requested} gives {after}")
        now[persona, target] = after
    end = run.rows(f"SELECT persona_id, target, belief FROM beliefs WHERE tick = {run.last_tick}")
    wrong += [f"{p} {t}: the view ends at {b}" for p, t, b in end if now[p, t] != b]
    if len(end) != len(now):
        wrong.append(f"the view has {len(end)} beliefs at the end, not {len(now)}")
    return wrong


def importances(run: Run) -> list[str]:
    """min(1, base + 0.6 · max|Δ applied|); a reflection's memories weigh 0.85."""
    moved: dict[tuple[int, str], float] = defaultdict(float)
    for tick, persona, before, after in run.rows(
        "SELECT tick, persona_id, before, after FROM belief_changes WHERE phase = 'turn'"
    ):
        moved[tick, persona] = max(moved[tick, persona], abs(after - before))
    wrong = []
    written = dict(
        run.rows(
            "SELECT (tick, persona_id)::VARCHAR, importance FROM memories WHERE kind = 'turn'"
        )
    )
    for tick, persona, action, importance, largest, key in run.rows(
        "SELECT tick, persona_id, action, importance, max_abs_delta, "
        "(tick, persona_id)::VARCHAR FROM turns"
    ):
        delta = moved[tick, persona]
        if not close(min(1.0, BASE[action] + 0.6 * delta), importance):
            wrong.append(f"{tick} {persona}: {action} with {delta} weighs {importance}")
        if not close(delta, largest):
            wrong.append(f"{tick} {persona}: moved {delta}, logged {largest}")
        if written[key] != importance:
            wrong.append(f"{tick} {persona}: the memory weighs {written[key]}")
    heavy = run.rows("SELECT memory_id FROM memories WHERE kind='reflection' AND importance<>0.85")
    return wrong + [f"memory {i} of a reflection does not weigh 0.85" for (i,) in heavy]


def one_memory_a_turn(run: Run) -> list[str]:
    odd = run.rows(
        "SELECT t.tick, t.persona_id, count(m.memory_id) FROM turns t LEFT JOIN memories m "
        "ON m.tick = t.tick AND m.persona_id = t.persona_id AND m.kind = 'turn' "
        "GROUP BY ALL HAVING count(m.memory_id) <> 1"
    )
    return [f"{tick} {persona}: {count} memories of one turn" for tick, persona, count in odd]


def vectors(run: Run) -> tuple[dict[int, np.ndarray[Any, Any]], dict[str, int]]:
    found, by_sha = {}, {}
    for number, sha, vector in run.rows(
        "SELECT embedding_id, text_sha256, vector FROM embeddings"
    ):
        found[number] = np.array(vector, dtype=np.float64)
        by_sha[sha] = number
    return found, by_sha


def cosine(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> float:
    size = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(left @ right) / size if size else 0.0


class Store:
    """All memories of a run, ranked for a persona, a tick and a stimulus as method.md 3 says."""

    def __init__(self, run: Run) -> None:
        self.tau = run.tau
        self.vectors, self.by_sha = vectors(run)
        self.held: dict[str, list[tuple[int, int, float, int, int | None]]] = defaultdict(list)
        for persona, *memory in run.rows(
            "SELECT persona_id, memory_id, tick, importance, embedding_id, "
            "coalesce(evicted_tick, 1000000) FROM memories"
        ):
            self.held[persona].append(tuple(memory))

    def ranked(self, persona: str, tick: int, stimulus: str) -> list[tuple[float, ...]]:
        """Return (-score, -tick, id, recency, importance, relevance), best first."""
        query = self.vectors[self.by_sha[hashlib.sha256(stimulus.encode()).hexdigest()]]
        rows = []
        for memory, written, importance, vector, evicted in self.held[persona]:
            if written < tick <= (evicted or 0):
                recency = math.exp(-(tick - written) / self.tau)
                relevance = min(1.0, max(0.0, cosine(self.vectors[vector], query)))
                score = recency * importance * relevance
                rows.append((-score, -written, memory, recency, importance, relevance))
        return sorted(rows)


def recalls(run: Run) -> list[str]:
    """Recency, importance, relevance, score, the best k, and their order, of every turn.

    Only where recall goes by the product alone; `recompute_persmem` checks gated recall.
    """
    if run.parameters["recall.mode"] != "product":
        return []
    store = Store(run)
    logged = dict(
        run.groups(
            "SELECT tick, persona_id, memory_id, query, recency, importance, relevance, score "
            "FROM recalls ORDER BY tick, persona_id, slot"
        )
    )
    wrong = []
    for tick, persona, tier, stimulus in run.rows(
        "SELECT tick, persona_id, tier, stimulus_text FROM turns"
    ):
        ranked = store.ranked(persona, tick, stimulus)
        found = logged.get((tick, persona), [])
        parts = {row[2]: (*row[3:], -row[0]) for row in ranked}
        off = [m for m, _, *p in found if not all(map(close, p, parts[m]))]
        best = [-row[0] for row in ranked[: run.parameters[f"recall.k.{tier}"]]]
        order = [parts[memory][-1] for memory, *_ in found]
        if off or len(order) != len(best) or not all(map(close, order, best)):
            wrong.append(f"{tick} {persona}: {off} differ; scores {order}, the best are {best}")
        wrong += [f"{tick} {persona}: query {q}" for _, q, *_ in found if q != stimulus]
    return wrong


def evictions(run: Run) -> list[str]:
    """At the end of a tick the least important beyond the cap go; of equals the oldest."""
    cap = run.parameters["memory.cap"]
    store: dict[str, list[tuple[float, int, int]]] = defaultdict(list)
    wrong = []
    evicted = dict(
        run.groups(
            "SELECT evicted_tick, persona_id, memory_id FROM memories "
            "WHERE evicted_tick IS NOT NULL"
        )
    )
    for (tick, persona), memories in run.groups(
        "SELECT tick, persona_id, importance, tick, memory_id FROM memories ORDER BY memory_id"
    ):
        store[persona] = sorted([*store[persona], *memories])
        surplus = max(0, len(store[persona]) - cap)
        wanted = sorted(memory for _, _, memory in store[persona][:surplus])
        logged = sorted(memory for (memory,) in evicted.pop((tick, persona), []))
        if wanted != logged:
            wrong.append(f"{tick} {persona}: evicted {logged}, not {wanted}")
        store[persona] = store[persona][surplus:]
    return wrong + [f"{key}: evicted out of turn" for key in evicted]


def reflections(run: Run) -> list[str]:
    """Cadence and sharp moves: exactly those who are due reflect, with the right trigger."""
    logged = {
        (tick, persona): (trigger, ids)
        for tick, persona, trigger, ids in run.rows(
            "SELECT tick, persona_id, trigger, memory_ids FROM reflections"
        )
    }
    intervals = dict(run.rows("SELECT persona_id, reflection_interval FROM personas"))
    wrong = []
    for persona, interval in intervals.items():
        text = f"reflection-cadence|{run.seed}|{persona}"
        if interval != 4 + hashlib.sha256(text.encode()).digest()[0] % 5:
            wrong.append(f"{persona}: interval {interval}")
    since: dict[str, int] = defaultdict(int)
    for tick, persona, moved in run.rows(
        "SELECT tick, persona_id, max_abs_delta FROM turns ORDER BY tick"
    ):
        since[persona] += 1
        sharp, due = moved > 0.3 + 1e-6, since[persona] >= intervals[persona]
        wanted = "sharp_move" if sharp else "cadence" if due else None
        trigger, ids = logged.pop((tick, persona), (None, [1]))
        if trigger != wanted:
            wrong.append(f"{tick} {persona}: reflected by {trigger}, not {wanted}")
        if not 1 <= len(ids) <= 3:
            wrong.append(f"{tick} {persona}: {len(ids)} memories of a reflection")
        if wanted:
            since[persona] = 0
    return wrong + [f"{key}: reflected without a turn" for key in logged]


def probes(run: Run) -> list[str]:
    """Which personas are probed; that each is asked about attributes of its own."""
    share, every = run.parameters["probes.share"], run.parameters["probes.every"]
    wrong = []
    asked: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for tick, persona, attribute in run.rows("SELECT tick, persona_id, attribute FROM probes"):
        asked[tick][persona].append(attribute)
    for tick in range(1, run.last_tick + 1):
        active = [p for (p,) in run.rows(f"SELECT persona_id FROM turns WHERE tick = {tick}")]
        count = math.ceil(share * len(active) - 1e-9) if tick % every == 0 else 0
        order = sorted(
            active,
            key=lambda p: hashlib.sha256(
                f"drift-probe|{run.seed}|{tick}|{p}".encode()
            ).hexdigest(),
        )
        if sorted(order[:count]) != sorted(asked[tick]):
            wrong.append(f"{tick}: probed {sorted(asked[tick])}, not {sorted(order[:count])}")
        for persona, attributes in asked[tick].items():
            key = f"probe-question|{run.seed}|{tick}|{persona}|"
            digests = [hashlib.sha256((key + a).encode()).hexdigest() for a in attributes]
            if digests != sorted(digests) or len(set(attributes)) != len(attributes):
                wrong.append(f"{tick} {persona}: asked {attributes}")
    owned = {p: json.loads(a) for p, a in run.rows("SELECT persona_id, attributes FROM personas")}
    return wrong + [
        f"{tick} {persona}: asked about {attribute}, which it has not"
        for tick, people in asked.items()
        for persona, attributes in people.items()
        for attribute in attributes
        if attribute not in owned[persona]
    ]


def feeds(run: Run) -> list[str]:
    """What is seen was published before, was not seen in an earlier turn, and fits the feed."""
    size = run.parameters["feed.size"]
    wrong = [
        f"{tick} {persona}: {count} items in a feed of {size}"
        for tick, persona, count in run.rows(
            "SELECT tick, persona_id, count(*) FROM exposures GROUP BY ALL "
            f"HAVING count(*) > {size}"
        )
    ]
    early = run.rows(
        "SELECT e.tick, e.persona_id, e.post_id FROM exposures e JOIN posts p USING (post_id) "
        "WHERE p.tick > e.tick OR (p.tick = e.tick AND p.stimulus_id IS NULL)"
    )
    wrong += [f"{tick} {persona}: sees post {post} too early" for tick, persona, post in early]
    again = run.rows("SELECT persona_id, post_id FROM exposures GROUP BY ALL HAVING count(*) > 1")
    wrong += [f"{persona}: sees post {post} twice" for persona, post in again]
    unseen = run.rows(
        "SELECT t.tick, t.persona_id, t.action, t.target_id FROM turns t WHERE t.action IN "
        "('like','upvote','downvote','repost','comment','reply','quote','answer') AND NOT EXISTS "
        "(SELECT 1 FROM exposures e WHERE e.tick = t.tick AND e.persona_id = t.persona_id "
        "AND e.post_id::VARCHAR = t.target_id)"
    )
    wrong += [f"{tick} {who}: {action} on unseen {post}" for tick, who, action, post in unseen]
    first = run.rows(
        "SELECT t.tick, t.persona_id FROM turns t JOIN exposures e ON e.tick = t.tick AND "
        "e.persona_id = t.persona_id AND e.position = 0 JOIN posts p USING (post_id) "
        "WHERE p.text <> t.stimulus_text"
    )
    return wrong + [f"{tick} {who}: the stimulus is not the first item" for tick, who in first]


def causes(run: Run) -> list[str]:
    """What moved a belief in a turn was in that turn's feed."""
    odd = run.rows(
        "SELECT c.tick, c.persona_id, c.cause_post_id FROM belief_changes c "
        "WHERE c.cause_post_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM exposures e WHERE "
        "e.tick = c.tick AND e.persona_id = c.persona_id AND e.post_id = c.cause_post_id)"
    )
    return [f"{tick} {persona}: moved by unseen {post}" for tick, persona, post in odd]


def final_decisions(run: Run) -> list[str]:
    if not run.parameters["final_actions"]:
        return []
    twice = run.rows(
        "SELECT persona_id, count(*) FROM turns WHERE action IN ('buy', 'reject') "
        "GROUP BY ALL HAVING count(*) > 1"
    )
    return [f"{persona}: decided {count} times" for persona, count in twice]


Check = Callable[[Run], list[str]]
CHECKS: tuple[Check, ...] = (
    tau,
    belief_chain,
    importances,
    one_memory_a_turn,
    recalls,
    evictions,
    reflections,
    probes,
    feeds,
    causes,
    final_decisions,
)


def differences(path: str) -> dict[str, list[str]]:
    """Return what each check found, by its name; empty lists everywhere for a sound run."""
    run = Run(path)
    return {check.__name__: check(run) for check in CHECKS}


if __name__ == "__main__":
    found = differences(sys.argv[1])
    for name, lines in found.items():
        sys.stdout.write(f"{name}: {len(lines)} differences\n")
        sys.stdout.writelines(f"  {line}\n" for line in lines[:10])
    sys.exit(any(found.values()))
