"""What is measured beside what: jobs of the peers and of ours, and what each turn includes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLAIN = ("population.personality=none", "memory.units=false")


@dataclass(frozen=True, slots=True)
class Job:
    """Something that a fresh process measures.

    peer: whose environment it runs in; "" for ours.  label: what a turn is.
    command: what follows the name of Python, in the folder `tests`.
    """

    peer: str
    label: str
    command: tuple[str, ...]

    @property
    def name(self) -> str:
        """What to call it where several are told of."""
        return f"{self.peer or 'ours'}: {self.label} ({' '.join(self.command[1:])})"


@dataclass(frozen=True, slots=True)
class Pair:
    """A peer's turn beside one of ours."""

    size: str
    theirs: Job
    ours: Job

    @property
    def peer(self) -> str:
        """Whose turn it is."""
        return self.theirs.peer


def _peer(peer: str, label: str, program: str, *words: object) -> Job:
    return Job(peer, label, ("-m", f"benchmarks.peers.{program}", *map(str, words)))


def _whole(people: int, ticks: int) -> Job:
    settings = (f"population.size={people}", f"horizon={ticks}")
    return Job("", "a whole turn", _run(*settings))


def _plain(people: int, ticks: int) -> Job:
    settings = (f"population.size={people}", f"horizon={ticks}", *PLAIN)
    return Job("", "without attitudes", _run(*settings))


def _run(*settings: str) -> tuple[str, ...]:
    return ("benchmarks/one_run.py", "../scenarios/protein_bar.yaml", *settings)


def _written(people: int, ticks: int) -> Job:
    words = ("benchmarks/model_turns.py", str(people * ticks), "--ticks", str(ticks))
    return Job("", "a language model's turn", words)


def _recall(people: int, at_once: int, label: str) -> Job:
    words = ("-m", "benchmarks.peers.our_recall", *map(str, (people, 20, at_once)))
    return Job("", label, words)


def pairs() -> list[Pair]:
    """Return all comparisons."""
    return [*_opinions(), *_languages(), *_searches()]


def _opinions() -> list[Pair]:
    found = []
    for people, ticks in ((1_000, 30), (10_000, 10)):
        ours = (_whole(people, ticks), _plain(people, ticks))
        for peer, label, program in (
            ("mesa", "neighbours' mean, memory, collector", "mesa_opinions"),
            ("ndlib", "AlgorithmicBias, one interaction", "ndlib_opinions"),
        ):
            theirs = _peer(peer, label, program, people, ticks)
            size = f"{people:,} x {ticks}"
            found += [Pair(size, theirs, own) for own in ours]
    return found


_KINDS = (
    ("concordia", "minimal", "prefab `minimal`: 1 call"),
    ("concordia", "recalling", "`minimal` that recalls 3 memories: 2 calls"),
    ("concordia", "basic", "prefab `basic`: 4 calls"),
    ("mesa-llm", "above", "2 calls, answered in place of LiteLLM"),
    ("mesa-llm", "litellm", "2 calls, answered by LiteLLM's mock"),
    ("mesa-llm", "shown", "the same, and memories printed, as it ships"),
)
_SLOW = ("basic", "minimal", "shown")  # measured at one size only


def _languages() -> list[Pair]:
    found = []
    for side, ticks, few in ((5, 20, False), (20, 6, True)):
        people = side * side
        ours, size = _written(people, ticks), f"{people} x {ticks}"
        for peer, kind, label in _KINDS:
            if few and kind in _SLOW:
                continue
            place = people if peer == "concordia" else side
            program = f"{peer.replace('-', '_')}_turns"
            found.append(Pair(size, _peer(peer, label, program, kind, place, ticks), ours))
    return found


def _searches() -> list[Pair]:
    one = _recall(200, 1, "recall, one persona a call")
    whole = _recall(10_000, 10_000, "recall, 10,000 personas a call")
    return [
        Pair(f"{users} x 50", _peer("mem0", "one search", "mem0_search", users, 20), ours)
        for users in (1, 20)
        for ours in (one, whole)
    ]


def read(job: Job, told: Mapping[str, Any]) -> dict[str, float]:
    """Return what a job's program told: µs a turn, and µs of encoding texts, which is apart."""
    program = job.command[0].rpartition("/")[2]
    found: dict[str, float] = _READ.get(program, _read_us)(told)
    return found


def _read_us(told: Mapping[str, Any]) -> dict[str, float]:
    return {"us": told["us_per_turn"], "apart_us": 0.0}


def _read_run(told: Mapping[str, Any]) -> dict[str, float]:
    each = 1e6 / told["turns"]
    return {"us": told["run_cpu_s"] * each, "apart_us": told["encoding_cpu_s"] * each}


def _read_written(told: Mapping[str, Any]) -> dict[str, float]:
    return {"us": told["cpu_us_per_turn"], "apart_us": told["apart_us_per_turn"]}


_READ: dict[str, Callable[[Mapping[str, Any]], dict[str, float]]] = {
    "one_run.py": _read_run,
    "model_turns.py": _read_written,
}
