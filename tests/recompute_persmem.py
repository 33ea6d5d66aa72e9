"""Recompute from a run database what personality did: an independent check of method.md 7 and 8.

Like `recompute`, it imports nothing of the package.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from recompute import Check, Run, close, cosine, vectors

Affect = tuple[float, float, float]
Key = tuple[int, str]
START: Affect = (0.0, 0.4, 0.5)
FOREVER = 1_000_000
MAPS = Path(__file__).parents[1] / "simulation" / "personality" / "maps.json"
# From, to, and without a map: mu, mu_d, kappa_fa, and mu, mu_pos, mu_d, kappa_fa, tau_bf
RANGES: dict[str, tuple[list[float], list[float], list[float]]] = {
    "attachment": ([0, 0, 0], [1, 1, 1.2], [0.6] * 3),
    "big_five": ([0, 0, 0, 0, 0.02], [1, 1, 1, 1.2, 0.5], [0.6, 0.6, 0.6, 0.6, 0.12]),
}


@dataclass
class Memory:
    number: int
    written: int
    evicted: int
    importance: float
    affect: Affect
    general: bool
    vector: int
    text: str


class Minds:
    """Personalities, states and memories of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.vectors, self.by_sha = vectors(run)
        rows = run.rows("SELECT persona_id, personality_kind, personality, gains FROM personas")
        self.kind = rows[0][1]
        self.personality: dict[str, list[float]] = {p: v for p, _, v, _ in rows}
        self.gains: dict[str, list[float]] = {p: g for p, _, _, g in rows}
        self.on = set(run.parameters["persmem.switches"])
        self.state: dict[Key, Affect] = {
            (tick, who): (v, a, d)
            for tick, who, v, a, d in run.rows(
                "SELECT tick, persona_id, state_valence, state_arousal, state_dominance "
                "FROM affects WHERE phase = 'in'"
            )
        }
        self.memories: dict[str, list[Memory]] = defaultdict(list)
        for who, *rest in run.rows(
            "SELECT persona_id, memory_id, tick, coalesce(evicted_tick, 1000000), importance, "
            "valence, arousal, dominance, specificity, embedding_id, text FROM memories "
            "ORDER BY memory_id"
        ):
            number, written, evicted, importance, v, a, d, label, vector, text = rest
            self.memories[who].append(
                Memory(
                    number, written, evicted, importance, (v, a, d), label == "overgeneral",
                    vector, text,
                )
            )  # fmt: skip

    def constant(self, name: str) -> float:
        return float(self.run.parameters[f"persmem.{name}"])

    def trait(self, who: str) -> float:
        """Anxiety or neuroticism."""
        return self.personality[who][0 if self.kind == "attachment" else 4]

    def held(self, who: str, tick: int) -> list[Memory]:
        return [m for m in self.memories[who] if m.written < tick <= m.evicted]

    def semantic(self, memory: Memory, query: str) -> float:
        digest = hashlib.sha256(query.encode()).hexdigest()
        vector = self.vectors[self.by_sha[digest]]
        return min(1.0, max(0.0, cosine(self.vectors[memory.vector], vector)))

    def felt(self, raw: Affect, who: str) -> Affect:
        if "A" not in self.on:
            return raw
        v, a, d = raw
        worse = max(-v, 0.0)
        kappa = {name: self.constant(f"appraisal.kappa_{name}") for name in "vabdep"}
        if self.kind == "attachment":
            anx, avo = self.personality[who]
            v -= kappa["v"] * anx * worse
            a = a * (1 - kappa["b"] * avo) + kappa["a"] * anx * worse
            d += kappa["e"] * avo - kappa["d"] * anx
        else:
            _, _, e, agreeable, n = self.personality[who]
            better = max(v, 0.0)
            v += kappa["p"] * (e + agreeable) / 2 * better - kappa["v"] * n * worse
            a += kappa["a"] * n * worse
            d += kappa["d"] * (1 - agreeable)
        return min(1.0, max(-1.0, v)), min(1.0, max(0.0, a)), min(1.0, max(0.0, d))

    def retention(self, memory: Memory, who: str, tick: int) -> float:
        v, a, _ = memory.affect
        rate = (1 - self.constant("retention.rho_a") * a) / self.run.tau
        if "R" in self.on:
            held = self.constant("retention.rho_n") * self.trait(who) * max(-v, 0.0)
            rate *= max(self.constant("retention.rho_min"), 1 - held)
        return math.exp(-(tick - memory.written) * rate)

    def match(self, memory: Memory, state: Affect) -> float:
        gap = np.array(memory.affect) - np.array(state)
        return 1.0 - math.sqrt(float(gap @ gap)) / math.sqrt(6.0)

    def relation(self, memory: Memory, who: str, state: Affect) -> float:
        total = self.match(memory, state)
        if "P" not in self.on:
            return total
        v, _, d = memory.affect
        distress = max(-state[0], 0.0)
        general = float(memory.general and "S" in self.on)
        if self.kind == "attachment":
            anx, avo = self.personality[who]
            phi0, phia = self.constant("passive.phi_0"), self.constant("passive.phi_a")
            vague = phi0 * avo + distress * (phia + (1 - phia) * avo)
            mu, mu_d, kappa = self.gains[who]
            return total + mu * anx * max(-v, 0.0) + mu_d * avo * d + kappa * vague * general
        _, c, e, agreeable, n = self.personality[who]
        warm = (e + agreeable) / 2 * max(v, 0.0)
        vague = (1 - c) + n + distress * state[1]
        mu, mu_pos, mu_d, kappa, _ = self.gains[who]
        total += mu * n * max(-v, 0.0) + mu_pos * warm + mu_d * (1 - agreeable) * d
        return total + kappa * vague * general

    def score(self, who: str, semantic: float, relation: float, retention: float) -> float:
        weight = self.constant("passive.beta_0")
        if "P" in self.on:
            weight *= 1 + self.constant("passive.beta_x") * self.trait(who)
        alpha, gamma = self.constant("passive.alpha"), self.constant("passive.gamma")
        return alpha * semantic + weight * relation + gamma * retention

    def passive(self, memory: Memory, who: str, tick: int, query: str) -> float:
        return self.score(
            who,
            self.semantic(memory, query),
            self.relation(memory, who, self.state[tick, who]),
            self.retention(memory, who, tick),
        )


def same(left: Affect, right: Affect) -> bool:
    return all(map(close, left, right))


def gains(run: Run) -> list[str]:
    """The gains of everybody follow from the personality, by the map that the run names."""
    minds = Minds(run)
    name = run.parameters["persmem.gains"]
    low, high, reference = RANGES[minds.kind]
    if name == "reference":
        return [f"{p}: {g}" for p, g in minds.gains.items() if g != reference]
    if hashlib.sha256(MAPS.read_bytes()).hexdigest() != run.parameters["persmem.gains_sha256"]:
        return ["the run was made with other maps"]
    found = json.loads(MAPS.read_text(encoding="utf-8"))["maps"][name][minds.kind]
    wrong = []
    for who, traits in minds.personality.items():
        total = np.array(found["weights"]) @ traits + np.array(found["bias"])
        inner = 1.0 / (1.0 + np.exp(-total))
        wanted = low + (np.array(high) - low) * inner
        if len(wanted) != len(minds.gains[who]) or not all(map(close, minds.gains[who], wanted)):
            wrong.append(f"{who}: gains {minds.gains[who]}, not {wanted}")
    return wrong


def appraisals(run: Run) -> list[str]:
    """What is felt follows from the raw affect and the personality; two rows a turn."""
    minds = Minds(run)
    wrong = [
        f"{tick} {who} {phase}: felt {felt}, not {minds.felt((v, a, d), who)}"
        for tick, who, phase, v, a, d, *felt in run.rows(
            "SELECT tick, persona_id, phase, raw_valence, raw_arousal, raw_dominance, "
            "valence, arousal, dominance FROM affects"
        )
        if not same(tuple(felt), minds.felt((v, a, d), who))
    ]
    odd = run.rows(
        "SELECT tick, persona_id, count(phase) FROM turns LEFT JOIN affects "
        "USING (tick, persona_id) GROUP BY ALL HAVING count(DISTINCT phase) <> 2 "
        "OR count(phase) <> 2"
    )
    return wrong + [f"{tick} {who}: {count} appraisals" for tick, who, count in odd]


def states(run: Run) -> list[str]:
    """Each state is the mean of the last one and what is felt, weighted by the rate."""
    rate = float(run.parameters["persmem.rate"])
    now: dict[str, Affect] = defaultdict(lambda: START)
    wrong = []
    for tick, who, phase, *values in run.rows(
        "SELECT tick, persona_id, phase, valence, arousal, dominance, state_valence, "
        "state_arousal, state_dominance FROM affects ORDER BY tick, persona_id, phase"
    ):
        felt, logged = values[:3], tuple(values[3:])
        wanted = tuple((1 - rate) * s + rate * e for s, e in zip(now[who], felt, strict=True))
        if not same(logged, wanted):
            wrong.append(f"{tick} {who} {phase}: state {logged}, not {wanted}")
        now[who] = logged
    return wrong


def memory_affects(run: Run) -> list[str]:
    """A turn's memory has the mean affect of stimulus and reply; reflections are general."""
    wrong = [
        f"{tick} {who}: {name} of the memory is {found}, not {wanted}"
        for tick, who, *pairs in run.rows(
            "SELECT m.tick, m.persona_id, m.valence, avg(a.valence), m.arousal, avg(a.arousal), "
            "m.dominance, avg(a.dominance) FROM memories m LEFT JOIN affects a "
            "USING (tick, persona_id) WHERE m.kind = 'turn' GROUP BY ALL"
        )
        for name, found, wanted in zip(
            ("valence", "arousal", "dominance"), pairs[::2], pairs[1::2], strict=True
        )
        if found is None or wanted is None or not close(found, wanted)
    ]
    odd = run.rows(
        "SELECT memory_id FROM memories WHERE valence IS NULL OR arousal IS NULL OR "
        "dominance IS NULL OR (specificity = 'overgeneral') <> (kind = 'reflection')"
    )
    return wrong + [f"memory {number}: no affect, or a wrong label" for (number,) in odd]


GATES = (
    "SELECT tick, persona_id, step, memory_id, mode, query, semantic, retention, affect_match, "
    "relation, passive_score, threshold, arousal, probability, draw, fired FROM gates"
)


def gates(run: Run) -> list[str]:
    """Threshold, probability and outcome of every decision."""
    minds = Minds(run)
    wanted_mode = run.parameters["persmem.gate.mode"] if "G" in minds.on else "off"
    wrong = []
    for tick, who, step, _, mode, *_, score, limit, arousal, chance, draw, fired in run.rows(
        GATES
    ):
        eta = 0.0 if mode == "neutral" else minds.constant("gate.eta")
        theta = minds.constant("gate.theta_0") - eta * minds.trait(who)
        logit = minds.constant("gate.lambda_i") * (score - theta)
        logit += minds.constant("gate.nu") * arousal
        wanted = 0.0 if mode == "off" else 1.0 / (1.0 + math.exp(-logit))
        checks = {
            "mode": mode == wanted_mode,
            "threshold": close(limit, theta),
            "arousal": arousal == minds.state[tick, who][1],
            "probability": close(chance, wanted),
            "draw": 0.0 < draw < 1.0,
            "fired": fired == (draw < chance),
        }
        wrong += [f"{tick} {who} {step}: {name}" for name, good in checks.items() if not good]
    return wrong


def passive_scores(run: Run) -> list[str]:
    """Every part of the passive score of each memory that was proposed, and their sum."""
    minds = Minds(run)
    wrong = []
    for row in run.rows(GATES):
        tick, who, step, number, _, query = row[:6]
        (memory,) = (m for m in minds.memories[who] if m.number == number)
        state = minds.state[tick, who]
        parts = (
            minds.semantic(memory, query),
            minds.retention(memory, who, tick),
            minds.match(memory, state),
            minds.relation(memory, who, state),
        )
        score = minds.score(who, row[6], row[9], row[7])
        names = ("semantic", "retention", "match", "relation", "score")
        for name, found, wanted in zip(names, row[6:11], (*parts, score), strict=True):
            if not close(found, wanted):
                wrong.append(f"{tick} {who} {step}: {name} is {found}, not {wanted}")
    return wrong


def redirects(run: Run) -> list[str]:
    """The memories that came back by a redirection are those whose gate fired."""
    by_slot = "slot" if run.parameters["recall.mode"] == "gated" else "0"
    by_step = "step" if run.parameters["recall.mode"] == "gated" else "0"
    fired = run.rows(
        f"SELECT tick, persona_id, {by_step}, memory_id, passive_score FROM gates WHERE fired "
        "ORDER BY ALL"
    )
    found = run.rows(
        f"SELECT tick, persona_id, {by_slot}, memory_id, score FROM recalls "
        "WHERE path = 'redirect' ORDER BY ALL"
    )
    return [f"{one} fired, {other} came back" for one, other in zip(fired, found, strict=False)
            if one != other] + ([] if len(fired) == len(found) else [
                f"{len(fired)} gates fired, {len(found)} redirections"])  # fmt: skip


def slots(run: Run) -> list[str]:
    """Walk through the slots of every gated turn: queries, candidates, best memories, scores."""
    if run.parameters["recall.mode"] != "gated":
        return []
    minds = Minds(run)
    found = dict(
        run.groups(
            "SELECT tick, persona_id, memory_id, path, query, recency, importance, relevance, "
            "score FROM recalls ORDER BY tick, persona_id, slot"
        )
    )
    proposed = {
        (tick, who, step): (number, query)
        for tick, who, step, number, query in run.rows(
            "SELECT tick, persona_id, step, memory_id, query FROM gates"
        )
    }
    wrong = []
    for tick, who, tier, stimulus in run.rows(
        "SELECT tick, persona_id, tier, stimulus_text FROM turns"
    ):
        unused = {m.number: m for m in minds.held(who, tick)}
        logged = found.get((tick, who), [])
        if len(logged) != min(len(unused), run.parameters[f"recall.k.{tier}"]):
            wrong.append(f"{tick} {who}: {len(logged)} slots of {len(unused)} memories")
        query = stimulus
        for step, (number, path, asked, *parts) in enumerate(logged, start=1):
            wrong += [
                f"{tick} {who} slot {step}: {what}"
                for what in _slot(
                    minds, unused, who, tick, query, asked, number, path, parts,
                    proposed.get((tick, who, step)),
                )
            ]  # fmt: skip
            if path == "redirect":
                query = unused[number].text[:60] or query
            unused.pop(number, None)
    return wrong


def _slot(
    minds: Minds,
    unused: dict[int, Memory],
    who: str,
    tick: int,
    query: str,
    asked: str,
    number: int,
    path: str,
    parts: list[float],
    proposed: tuple[int, str] | None,
) -> list[str]:
    if number not in unused or query != asked or proposed is None or proposed[1] != query:
        return [f"memory {number} by {asked!r}, proposed {proposed}, query {query!r}"]
    tau = minds.run.tau
    product = {
        n: math.exp(-(tick - m.written) / tau) * m.importance * minds.semantic(m, query)
        for n, m in unused.items()
    }
    memory = unused[number]
    recency = math.exp(-(tick - memory.written) / tau)
    score = product[number] if path == "product" else minds.passive(memory, who, tick, query)
    wanted = (recency, memory.importance, minds.semantic(memory, query), score)
    wrong = [] if all(map(close, parts, wanted)) else [f"parts {parts}, not {wanted}"]
    if path == "product" and not close(product[number], max(product.values())):
        wrong.append(f"{product[number]} is not the best, {max(product.values())}")
    scores = {n: minds.passive(m, who, tick, query) for n, m in unused.items()}
    count = int(minds.constant("passive.candidates"))
    least = sorted(scores.values(), reverse=True)[:count][-1]
    if scores[proposed[0]] < least - 1e-5:
        wrong.append(f"memory {proposed[0]} is no candidate: {scores[proposed[0]]} < {least}")
    return wrong


CHECKS: tuple[Check, ...] = (
    gains,
    appraisals,
    states,
    memory_affects,
    gates,
    passive_scores,
    redirects,
    slots,
)


if __name__ == "__main__":
    differences = {check.__name__: check(Run(sys.argv[1])) for check in CHECKS}
    for name, lines in differences.items():
        sys.stdout.write(f"{name}: {len(lines)} differences\n")
        sys.stdout.writelines(f"  {line}\n" for line in lines[:10])
    sys.exit(any(differences.values()))
