"""Why two runs part: what differs between them that can make a difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.runlog import RunFile

CauseKind = Literal[
    "setting", "seed", "engine", "encoder", "model", "package", "model_reply", "model_request",
    "personas", "graph", "unknown",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Something that differs between two runs before they part, or in that tick.

    name: the setting, package or tier; of a model call, its purpose.  values: in each run, None
    for none; of a model call, its answers or the digests of its requests.
    """

    kind: CauseKind
    name: str = ""
    values: tuple[Any, Any] = (None, None)
    tick: int | None = None
    persona_id: str | None = None


def causes(
    runs: tuple[RunFile, RunFile], *, until: int, same_personas: bool, same_graph: bool
) -> tuple[Cause, ...]:
    """Return all that can be why two runs part in tick `until`; `unknown` if nothing is found.

    same_personas, same_graph: whether they start alike. Where settings and seed agree and they do
    not, a file that the scenario names has changed.
    """
    found = [*_headers(runs)]
    call = _first_call(runs, until)
    if call is not None:
        found.append(call)
    if not any(cause.kind in ("setting", "seed", "engine") for cause in found):
        if not same_personas:
            found.append(Cause(kind="personas"))
        if not same_graph:
            found.append(Cause(kind="graph"))
    return tuple(found) or (Cause(kind="unknown"),)


def _headers(runs: tuple[RunFile, RunFile]) -> Iterator[Cause]:
    first, second = (run.run.header for run in runs)
    mappings: tuple[tuple[CauseKind, str], ...] = (
        ("setting", "parameters"),
        ("model", "models"),
        ("package", "packages"),
    )
    if first.seed != second.seed:
        yield Cause(kind="seed", name="seed", values=(first.seed, second.seed))
    for kind, attribute in mappings[:2]:
        yield from _differing(kind, getattr(first, attribute), getattr(second, attribute))
    if first.engine_version != second.engine_version:
        versions = (first.engine_version, second.engine_version)
        yield Cause(kind="engine", name="simulation", values=versions)
    encoders = tuple(_encoder(header.encoder, header.encoder_sha256) for header in (first, second))
    if encoders[0] != encoders[1]:
        yield Cause(kind="encoder", name="encoder", values=(encoders[0], encoders[1]))
    yield from _differing("package", first.packages, second.packages)


def _encoder(name: str, digest: str | None) -> str:
    return f"{name} {(digest or '')[:12]}".rstrip()


def _differing(kind: CauseKind, first: Any, second: Any) -> Iterator[Cause]:
    for key in sorted({*first, *second}):
        if key != "seed" and first.get(key) != second.get(key):
            yield Cause(kind=kind, name=key, values=(first.get(key), second.get(key)))


_CALLS = """
SELECT tick, coalesce(persona_id, '') AS persona_id, purpose, request_sha256,
    list(CAST(response AS VARCHAR) ORDER BY call_id) AS responses
FROM model_calls WHERE tick <= ? GROUP BY ALL
"""

_Place = tuple[int, str, str]  # tick, persona, purpose


def _first_call(runs: tuple[RunFile, RunFile], until: int) -> Cause | None:
    """Return the first request answered differently, or the first that only one run made.

    Within a tick an answer goes first: it can be why a later request differs.
    """
    first, second = (_calls(run, until) for run in runs)
    found = []
    for place in sorted({*first, *second}):
        one, two = first.get(place, {}), second.get(place, {})
        replies = [key for key in sorted(one) if key in two and one[key] != two[key]]
        if replies:
            values = (_text(one[replies[0]]), _text(two[replies[0]]))
            found.append(_call("model_reply", place, values))
        elif one.keys() != two.keys():
            found.append(_call("model_request", place, (_text(sorted(one)), _text(sorted(two)))))
        if found and place[0] > (found[0].tick or 0):
            break
    return min(found, key=lambda each: (each.tick, each.kind != "model_reply"), default=None)


def _calls(run: RunFile, until: int) -> dict[_Place, dict[str, list[str]]]:
    found: dict[_Place, dict[str, list[str]]] = {}
    for tick, persona, purpose, digest, responses in run.query(_CALLS, parameters=[until]).rows:
        found.setdefault((tick, persona, purpose), {})[digest] = responses
    return found


def _call(kind: CauseKind, place: _Place, values: tuple[str | None, str | None]) -> Cause:
    tick, persona, purpose = place
    return Cause(kind=kind, name=purpose, values=values, tick=tick, persona_id=persona or None)


def _text(parts: list[str]) -> str | None:
    return " | ".join(part or "no answer" for part in parts) if parts else None
