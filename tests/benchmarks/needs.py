"""What large runs need, extrapolated from what was measured: for docs/beyond-one-machine.md."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from benchmarks.measuring import Measured

PRICES = Path(__file__).resolve().parents[2] / "simulation" / "calls" / "prices.yaml"
ESTIMATED = ("openai", "gpt-6-luna")  # whose prices the estimate was made with
SHOWN = (
    ESTIMATED,
    ("anthropic", "claude-haiku-5-5"),
    ("anthropic", "claude-sonnet-5-5"),
    ("anthropic", "claude-opus-5-5"),
)
RUNS = (  # personas, turns of each
    (100_000, 24),
    (1_000_000, 24),
    (1_000_000, 1_000),
)
FULL = 50  # memories of a full store, so about the turns that fill it
ATONCE = (64, 1_000, 10_000)  # calls, of a second each


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """What one of each needs, measured.

    turn_s, text_s: CPU seconds of a turn, and of encoding a new text.  texts: new ones a turn.
    log_bytes, vector_bytes: in the file, a turn.  persona_bytes: of memory, with a full store.
    read, written: tokens of a turn of a language model, at least.  usd: of a turn with ESTIMATED,
    low and high, to be expected.
    """

    turn_s: float
    text_s: float
    texts: float
    log_bytes: float
    vector_bytes: float
    persona_bytes: float
    read: float
    written: float
    usd: tuple[float, float]

    @property
    def grown_bytes(self) -> float:
        """Return the memory that each turn adds for good: its new texts and their vectors."""
        return self.texts * self.persona_bytes / FULL


def units(report: Measured) -> Units | None:
    """Return what one of each needs; None where not all of it was measured."""
    jobs = report["jobs"]
    if not all(jobs.get(name) for name in ("middle", "stores", "tokens")):
        return None
    run = (jobs.get("large") or jobs["middle"])[-1]
    turns, stores, tokens = run["turns"], jobs["stores"][-1], jobs["tokens"][-1]
    people = int(_setting(stores, "population.size"))
    return Units(
        turn_s=run["run_cpu_s"] / turns,
        text_s=run["encoding_cpu_s"] / run["texts"],
        texts=run["texts"] / turns,
        log_bytes=run["file_bytes_without_vectors"] / turns,
        vector_bytes=(run["file_bytes"] - run["file_bytes_without_vectors"]) / turns,
        persona_bytes=stores["peak_bytes"] / people,
        read=tokens["input_tokens"],
        written=tokens["output_tokens"],
        usd=tuple(tokens["usd"]),
    )


def _setting(run: Measured, path: str) -> str:
    return str(next(s.partition("=")[2] for s in run["settings"] if s.startswith(f"{path}=")))


def needs(report: Measured) -> dict[str, str]:
    """Return the blocks of the page; none where something was not measured."""
    one = units(report)
    if one is None:
        return {}
    return {"units": _units(one), "needs": _machine(one), "calls": _calls(one)}


def _units(one: Units) -> str:
    return _table(
        ("of", "needs"),
        ("a turn of the rule model", f"{1e6 * one.turn_s:.0f} µs of CPU"),
        (
            "encoding what it says and remembers",
            f"{1e6 * one.text_s:.0f} µs a text, {one.texts:.2f} new texts a turn",
        ),
        (
            "a persona with a full store of 50 texts of its own",
            f"{one.persona_bytes / 1e3:.1f} kB",
        ),
        ("a turn, in memory, for good (its new texts)", f"{one.grown_bytes / 1e3:.2f} kB"),
        (
            "a turn, on disk",
            f"{one.log_bytes / 1e3:.2f} kB, and {one.vector_bytes / 1e3:.2f} kB of vectors",
        ),
        (
            "a turn of a language model",
            f"at least {one.read:,.0f} tokens read and {one.written:.0f} written",
        ),
    )


def _machine(one: Units) -> str:
    """Return what runs of the rule model need."""
    lines = []
    for personas, each in RUNS:
        turns = personas * each
        later = max(0, each - FULL) * personas  # turns that a full store does not account for
        memory = personas * one.persona_bytes + later * one.grown_bytes
        lines.append(
            (
                f"{personas:,} personas, {each:,} turns each: {spoken(turns)}",
                _time(turns * one.turn_s),
                _time(turns * one.texts * one.text_s),
                _bytes(memory),
                _bytes(turns * one.log_bytes),
                _bytes(turns * one.vector_bytes),
            )
        )
    names = (
        "run",
        "turns, one core",
        "encoding, one core",
        "memory, stores full",
        "log",
        "vectors",
    )
    return _table(names, *lines)


def _calls(one: Units) -> str:
    """Return what the same turns cost when a language model takes each of them."""
    prices = yaml.safe_load(PRICES.read_text(encoding="utf-8"))
    base = prices[ESTIMATED[0]]["models"][ESTIMATED[1]]["input"]
    head = tuple(f"{spoken(personas * each)} turns" for personas, each in RUNS)
    totals = [personas * each for personas, each in RUNS]
    lines = [("tokens read, at least", *(f"{spoken(one.read * turns)}" for turns in totals))]
    for provider, model in SHOWN:
        price = prices[provider]["models"][model]
        times = price["input"] / base
        told = (
            f"{spoken(turns * one.usd[0] * times)} to {spoken(turns * one.usd[1] * times)}"
            for turns in totals
        )
        name = f"USD, `{model}` ({price['input']:g} and {price['output']:g})"
        lines.append((name, *told))
    for most in ATONCE:
        name = f"time, {most:,} calls of a second at once"
        lines.append((name, *(_time(turns / most) for turns in totals)))
    return _table(("", *head), *lines)


def _table(*lines: tuple[str, ...]) -> str:
    head, *rest = (f"| {' | '.join(cells)} |" for cells in lines)
    return "\n".join([head, f"|{'---|' * len(lines[0])}", *rest])


def spoken(number: float) -> str:
    """Return a large number in words, with two digits that count.

    Example:
        >>> [spoken(number) for number in (960, 2.4e6, 24e6, 1e9, 8.9e11)]
        ['960', '2.4 million', '24 million', '1 billion', '890 billion']
    """
    for size, name in ((1e9, " billion"), (1e6, " million"), (1e3, " thousand"), (1, "")):
        if number >= size:
            return f"{float(f'{number / size:.2g}'):,g}{name}"
    return f"{number:.2g}"


def _time(seconds: float) -> str:
    """Return a time in its unit.

    Example:
        >>> [_time(seconds) for seconds in (90, 5_400, 2 * 86_400, 400 * 86_400)]
        ['1.5 min', '1.5 h', '2 days', '1.1 years']
    """
    for size, name in (
        (365.25 * 86_400, "years"),
        (1.5 * 86_400, "days"),
        (3_600, "h"),
        (60, "min"),
    ):
        if seconds >= size:
            unit = 86_400 if name == "days" else size
            return f"{float(f'{seconds / unit:.2g}'):g} {name}"
    return f"{seconds:.2g} s"


def _bytes(count: float) -> str:
    for size, name in ((1e12, "TB"), (1e9, "GB")):
        if count >= size:
            return f"{float(f'{count / size:.2g}'):g} {name}"
    return f"{count / 1e6:.0f} MB"
