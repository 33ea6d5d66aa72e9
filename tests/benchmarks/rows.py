"""The rows of the table: what is measured, what it must be and may aim at."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import HERE, Job, Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Found: TypeAlias = "Mapping[str, Measured]"  # what each job measured in one round

SCENARIO = "{tree}/scenarios/protein_bar.yaml"
BIG_FIVE = "population.personality={kind: big_five, sample: true}"
OFF = ("recall.mode=product", "memory.units=off")
MODEL = "models.%s={provider: openai, model: gpt-6-luna}"
WINDOW = 5  # ticks on either side of the two that are compared
FULL = 50  # memories of a full store
_SIZES = ("small", "middle", "large")  # jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How large what is measured is.

    personas: of the three sizes.  ticks: of their runs.  few: personas where sizes do not matter.
    early, late: ticks that are compared.  stores: personas whose full stores are weighed, and
    for how many ticks.  turns: of a language model, at no latency and at a second.
    """

    personas: tuple[int, int, int] = (1_000, 10_000, 100_000)
    ticks: int = 30
    few: int = 1_000
    early: int = 10
    late: int = 100
    stores: tuple[int, int] = (100_000, 3)
    turns: tuple[int, int] = (5_000, 1_000)
    rounds: int = 3


QUICK = Sizes(
    personas=(200, 500, 1_000),
    ticks=10,
    few=200,
    late=30,
    stores=(500, 3),
    turns=(200, 128),
    rounds=1,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the table.

    name: short, for the command line.  jobs: what it is made of.  value: of one round; the table
    says the median of rounds.  note: what stands beside it.  must, aim: bounds; None for a row
    that only informs.  more: more is better, so that they are lower bounds.
    """

    name: str
    what: str
    unit: str
    jobs: tuple[str, ...]
    value: Callable[[Found], float]
    note: Callable[[Found], str] = lambda _: ""
    must: float | None = None
    aim: float | None = None
    more: bool = False

    def met(self, value: float) -> str:
        """Return which of the bounds a value keeps.

        Example:
            >>> row = Row(name="a", what="", unit="s", jobs=(), value=len, must=2.0, aim=1.0)
            >>> [row.met(value) for value in (0.9, 1.5, 2.5)]
            ['aim', 'must', '**no**']
        """
        if self.must is None:
            return ""
        sign = -1 if self.more else 1
        if sign * value > sign * self.must:
            return "**no**"
        return "aim" if self.aim is not None and sign * value <= sign * self.aim else "must"


def jobs(sizes: Sizes) -> dict[str, Job]:
    """Return all that can be measured, by name."""
    few, rounds, ticks = sizes.few, sizes.rounds, f"horizon={sizes.ticks}"
    small, middle, large = sizes.personas
    long = (f"population.size={few}", f"horizon={sizes.late + WINDOW}")
    made = [
        _run("small", small, ticks, repeats=rounds),
        _run("middle", middle, ticks, repeats=rounds),
        _run("large", large, ticks, repeats=1),
        _run("on", few, ticks, BIG_FIVE, repeats=rounds),
        _run("off", few, ticks, BIG_FIVE, *OFF, repeats=rounds),
        _run("many-on", middle, ticks, BIG_FIVE, repeats=rounds),
        _run("many-off", middle, ticks, BIG_FIVE, *OFF, repeats=rounds),
        _run("many-plain", middle, ticks, "memory.units=off", repeats=rounds),
        _run("persmem", few, ticks, BIG_FIVE, "recall.mode=persmem", repeats=rounds),
        Job(name="long", program="one_run.py", words=(SCENARIO, *long), repeats=rounds),
        Job(
            name="long-full",
            program="one_run.py",
            words=("--full", str(FULL), SCENARIO, *long),
            repeats=rounds,
        ),
        Job(
            name="stores",
            program="one_run.py",
            words=(
                *("--full", str(FULL), SCENARIO),
                *(f"population.size={sizes.stores[0]}", f"horizon={sizes.stores[1]}"),
            ),
            repeats=1,
        ),
        Job(name="help", program="", words=("--help",), repeats=rounds, tries=5),
        Job(
            name="first-tick",
            program="",
            words=("run", SCENARIO, "--set", "horizon=1", "--out", "{out}", "--quiet"),
            repeats=rounds,
            tries=2,
        ),
        Job(
            name="model",
            program="model_turns.py",
            words=(str(sizes.turns[0]), "--way", "backend"),
            repeats=rounds,
        ),
        Job(
            name="switchboard",
            program="model_turns.py",
            words=(str(sizes.turns[0]), "--way", "switchboard"),
            repeats=rounds,
        ),
        Job(
            name="waiting",
            program="model_turns.py",
            words=(str(sizes.turns[1]), "--latency", "1", "--concurrency", "64"),
            repeats=1,
        ),
        Job(
            name="tokens",
            program="estimated.py",
            words=(
                *("{tree}/scenarios/protein_bar.yaml", MODEL % "cheap", MODEL % "frontier"),
                *(("population.size=20",) if sizes.few == QUICK.few else ()),
            ),
            repeats=1,
        ),
    ]
    return {job.name: job for job in made if not job.program or (HERE / job.program).exists()}


def _run(name: str, personas: int, *settings: str, repeats: int) -> Job:
    """Return the job of one run of the scenario."""
    words = (SCENARIO, f"population.size={personas}", *settings)
    return Job(name=name, program="one_run.py", words=words, repeats=repeats)


def rows(sizes: Sizes) -> Iterator[Row]:
    """Yield the rows of the table, in its order."""
    yield from _turns(sizes)
    yield from _texts(sizes)
    yield from _growth(sizes)
    yield from _flat(sizes)
    yield from _rest(sizes)
    yield from _models(sizes)


def _turns(sizes: Sizes) -> Iterator[Row]:
    for name, personas, must in zip(_SIZES, sizes.personas, (120, 80, 80), strict=True):
        yield Row(
            name=name,
            what=f"{personas:,} personas, {sizes.ticks} ticks, after start-up",
            unit="µs a turn",
            jobs=(name,),
            value=_each(name),
            note=_beside(name),
            must=must,
            aim=must / 2,
        )
    for name, mode in (("on", "gated"), ("persmem", "persmem")):
        yield Row(
            name="gated" if name == "on" else name,
            what=f"{sizes.few:,} personas with Big Five, recall `{mode}`",
            unit="µs a turn",
            jobs=(name,),
            value=_each(name),
            note=_beside(name),
        )


def _texts(sizes: Sizes) -> Iterator[Row]:
    yield Row(
        name="encoding",
        what=f"encoding a text not seen before ({sizes.personas[1]:,} personas)",
        unit="µs a text",
        jobs=("middle",),
        value=lambda found: _encoding(found["middle"]),
        must=300,
        aim=120,
    )
    yield Row(
        name="appraising",
        what=f"encoding and appraising one ({sizes.few:,} personas with Big Five)",
        unit="µs a text",
        jobs=("on",),
        value=lambda found: _encoding(found["on"]),
        must=300,
        aim=120,
    )
    yield Row(
        name="distinct",
        what="share of distinct memory texts, the least of the three sizes",
        unit="",
        jobs=_SIZES,
        value=lambda found: min(_distinct(found[name]) for name in _SIZES),
        must=0.5,
        more=True,
    )


def _growth(sizes: Sizes) -> Iterator[Row]:
    pairs = (("small", "middle", 1.0), ("middle", "large", 1.05))
    for place, (less, more, must) in enumerate(pairs):
        yield Row(
            name=f"growth-{more}",
            what=f"growth, total CPU ∝ P^e, {sizes.personas[place]:,} to "
            f"{sizes.personas[place + 1]:,} personas",
            unit="",
            jobs=(less, more),
            value=lambda found, less=less, more=more: _exponent(found, less, more, "total_cpu_s"),  # type: ignore[misc]
            note=lambda found, less=less, more=more: (  # type: ignore[misc]
                f"of turns alone {_exponent(found, less, more, 'run_cpu_s'):.3f}"
            ),
            must=must,
        )


def _flat(sizes: Sizes) -> Iterator[Row]:
    for name, stores in (("long-full", "memories full"), ("long", "from empty stores on")):
        yield Row(
            name="flat" if name == "long-full" else "flat-from-empty",
            what=f"flat in time, {sizes.few:,} personas, {stores}: "
            f"tick {sizes.late} against {sizes.early}",
            unit="times",
            jobs=(name,),
            value=lambda found, name=name: flatness(found[name]["tick_cpu_us"], sizes),  # type: ignore[misc]
            note=lambda found, name=name: (  # type: ignore[misc]
                f"means {flatness(found[name]['tick_cpu_us'], sizes, of=mean):.2f}; "
                f"{1e6 * found[name]['run_cpu_s'] / found[name]['turns']:.0f} µs a turn"
            ),
            must=1.1 if name == "long-full" else None,
            aim=1.0 if name == "long-full" else None,
        )


def _rest(sizes: Sizes) -> Iterator[Row]:
    for name, personas, on, off in (
        ("on-off", sizes.personas[1], "many-on", "many-off"),
        ("on-off-few", sizes.few, "on", "off"),
    ):
        yield Row(
            name=name,
            what=f"Big Five, gated recall and units on, against off, {personas:,} personas",
            unit="times",
            jobs=(on, off),
            value=_ratio(on, off),
            note=_both(on, off),
            must=1.6,
            aim=1.3,
        )
    yield Row(
        name="on-plain",
        what=f"the same against neither personality nor units, {sizes.personas[1]:,} personas",
        unit="times",
        jobs=("many-on", "many-plain"),
        value=_ratio("many-on", "many-plain"),
        note=_both("many-on", "many-plain"),
    )
    for name, personas in zip(("middle", "large"), sizes.personas[1:], strict=True):
        yield Row(
            name=f"worst-{name}",
            what=f"worst tick against the median tick, {personas:,} personas",
            unit="times",
            jobs=(name,),
            value=lambda found, name=name: worst(found[name]["tick_cpu_s"]),  # type: ignore[misc]
            must=2.0,
            aim=1.3,
        )
    yield Row(
        name="memory",
        what=f"peak memory, {sizes.stores[0]:,} personas with full {FULL}-memory stores",
        unit="GB",
        jobs=("stores",),
        value=lambda found: found["stores"]["peak_bytes"] / 1e9,
        note=lambda found: f"filled beforehand, then {len(found['stores']['tick_cpu_s'])} ticks",
        must=6.0,
        aim=3.0,
    )
    yield Row(
        name="bytes",
        what=f"run database, without the table of vectors ({sizes.personas[1]:,} personas)",
        unit="kB a turn",
        jobs=("middle",),
        value=lambda found: _kilobytes(found["middle"], "file_bytes_without_vectors"),
        note=lambda found: f"{_kilobytes(found['middle'], 'file_bytes'):.2f} with it",
        must=0.8,
        aim=0.4,
    )
    yield from _starts()


def _starts() -> Iterator[Row]:
    for name, what, must, aim in (
        ("help", "`simulation --help`", 0.3, 0.15),
        ("first-tick", "150-persona run, command line to its first tick and the end", 2.0, 1.0),
    ):
        yield Row(
            name=name,
            what=f"start of {what}" if name == "help" else f"start of a {what}",
            unit="s",
            jobs=(name,),
            value=lambda found, name=name: found[name]["wall_s"],  # type: ignore[misc]
            note=lambda found, name=name: f"by the clock, best; CPU {found[name]['cpu_s']:.2f} s",  # type: ignore[misc]
            must=must,
            aim=aim,
        )


def _models(sizes: Sizes) -> Iterator[Row]:
    yield Row(
        name="model",
        what="a language-model turn at zero latency, in process, retrieval and log included",
        unit="µs a turn",
        jobs=("model",),
        value=lambda found: found["model"]["cpu_us_per_turn"],
        note=lambda found: f"{found['model']['turns']:,} turns",
        must=250,
        aim=120,
    )
    yield Row(
        name="switchboard",
        what="the same by way of a provider: budget, pace, each request in `model_calls`",
        unit="µs a turn",
        jobs=("switchboard",),
        value=lambda found: found["switchboard"]["cpu_us_per_turn"],
        note=lambda found: f"{found['switchboard']['turns']:,} turns",
    )
    yield Row(
        name="waiting",
        what=f"{sizes.turns[1]:,} turns at 1 s latency, 64 calls at once, against the ideal",
        unit="times",
        jobs=("waiting",),
        value=lambda found: found["waiting"]["wall_s"] / found["waiting"]["ideal_s"],
        note=lambda found: f"{found['waiting']['wall_s']:.1f} s by the clock",
        must=1.1,
    )
    yield Row(
        name="tokens",
        what="tokens read for a language-model turn, by the low estimate",
        unit="",
        jobs=("tokens",),
        value=lambda found: found["tokens"]["input_tokens"],
        note=lambda found: f"{found['tokens']['output_tokens']:.0f} written at least",
    )


def _each(name: str) -> Callable[[Found], float]:
    """Return what gives the CPU µs a turn of a run, without encoding."""
    return lambda found: 1e6 * found[name]["run_cpu_s"] / found[name]["turns"]


def _ratio(one: str, other: str) -> Callable[[Found], float]:
    """Return what gives the cost of a turn of one run as a multiple of another's."""
    return lambda found: _each(one)(found) / _each(other)(found)


def _both(one: str, other: str) -> Callable[[Found], str]:
    return lambda found: (
        f"{_each(one)(found):.0f} and {_each(other)(found):.0f} µs a turn, in turn"
    )


def _beside(name: str) -> Callable[[Found], str]:
    """Return what says how varied a run's texts are, and what encoding them costs."""
    return lambda found: (
        f"distinct memory texts {_distinct(found[name]):.2f}; "
        f"+ {_encoding(found[name]):.0f} µs a new text, "
        f"{found[name]['texts'] / found[name]['turns']:.2f} a turn"
    )


def _encoding(run: Measured) -> float:
    return float(1e6 * run["encoding_cpu_s"] / run["texts"])


def _distinct(run: Measured) -> float:
    return float(run["distinct_memories"] / run["memories"])


def _kilobytes(run: Measured, key: str) -> float:
    return float(run[key] / run["turns"] / 1e3)


def _exponent(found: Found, less: str, more: str, key: str) -> float:
    """Return the exponent of growth from one size to the next; by turns, which are ∝ P."""
    grown = found[more][key] / found[less][key]
    return math.log(grown) / math.log(found[more]["turns"] / found[less]["turns"])


def flatness(
    ticks: list[float], sizes: Sizes, of: Callable[[list[float]], float] = median
) -> float:
    """Return what a turn costs around a late tick, as a share of what it does around an early one.

    Example:
        >>> flatness([1.0] * 50 + [2.0] * 55, Sizes())
        2.0
    """

    def around(tick: int) -> float:
        return of(ticks[max(0, tick - 1 - WINDOW) : tick + WINDOW])

    return around(sizes.late) / around(sizes.early)


def worst(ticks: list[float]) -> float:
    """Return the longest as a share of the median.

    Example:
        >>> worst([1.0, 2.0, 3.0])
        1.5
    """
    return max(ticks) / median(ticks)
