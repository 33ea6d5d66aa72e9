"""What the types of a scenario cannot say: references, sums, and keys that need one another.

Each check reads a Draft, so it runs on a broken file too, and yields (key path, message).
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from simulation.scenario.addresses import address_problem
from simulation.scenario.model import ACTIONS, TIERS
from simulation.scenario.persmem import MAPS
from simulation.scenario.personality import personality_problems
from simulation.scenario.survey import survey_problems
from simulation.scenario.validation import MOST
from simulation.scenario.words import MOST_LISTED
from simulation.spelling import did_you_mean, listed
from simulation.yaml_reading import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simulation.scenario.draft import Draft
    from simulation.yaml_reading import KeyPath


MOST_HEAT = 2.0  # of any provider's temperature
_WAYS = {
    "anthropic": ("auto", "json_schema", "tool", "plain"),
    "openai": ("auto", "json_schema", "json_object", "plain"),
}
_ALL_WAYS = frozenset(way for ways in _WAYS.values() for way in ways)
SAMPLE = "sample"  # the population source that is no file
ALWAYS_POSSIBLE = ("ignore", "post", "buy", "reject", "complain")
FINAL = ("buy", "reject")
_GROUPING = frozenset({"stochastic_block", "homophily"})
_PERSONAL = ("gated", "persmem")
_APPRAISERS = frozenset({"embedding", "lexicon", "model"})
_NO_DEGREE = frozenset({"none", "edges"})


def check(
    draft: Draft,
    *,
    allow_hosts: Sequence[str] = (),
    cut_off: Callable[[KeyPath, int], bool] = lambda _place, _tick: False,
) -> list[tuple[KeyPath, str]]:
    """Return every problem of references and combinations, each as (key path, message).

    cut_off: whether a tick beyond the horizon is only so since the horizon was set shorter.
    """
    found = [problem for rule in _CHECKS for problem in islice(rule(draft), MOST)]
    late = (each for each in _late_ticks(draft) if not cut_off(each[0], each[1]))
    horizon = draft.value("horizon")
    found += [
        (place, f"must be between 1 and the horizon ({horizon}), not {tick}")
        for place, tick in islice(late, MOST)
    ]
    return [*found, *_addresses(draft, allow_hosts)]


def _reference(name: str, allowed: Sequence[str], noun: str, plural: str) -> str:
    allowed = list(dict.fromkeys(allowed))
    hint = did_you_mean(name, allowed)
    names = listed(allowed, most=MOST_LISTED)
    these = f"{plural} are {names}" if allowed else f"there are no {plural}"
    return f"{quoted(name)} is not {noun}; {these}{hint}"


def _duplicates(names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the index and name of each that stood before; empty names are not compared."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name and name in seen:
            yield index, name
        seen.add(name)


def _brief(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    dimensions = draft.names("brief", "dimensions")
    for index, name in _duplicates(dimensions):
        yield ("brief", "dimensions", index), f"the dimension {quoted(name)} appears twice"
    claims = draft.names("brief", "claims", key="id")
    for index, name in _duplicates(claims):
        yield ("brief", "claims", index, "id"), f"the claim {quoted(name)} appears twice"
    taken = set(dimensions) - {""}
    for index, name in enumerate(claims):
        if name in taken:
            yield (
                ("brief", "claims", index, "id"),
                f"{quoted(name)} is also a dimension; beliefs need different names",
            )


def _weights(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    dimensions = draft.names("brief", "dimensions")
    known = set(dimensions)
    for index, _ in draft.items("brief", "claims"):
        for name in draft.entries("brief", "claims", index, "weights"):
            if known and name not in known:
                yield (
                    ("brief", "claims", index, "weights", name),
                    _reference(name, dimensions, "a dimension of the brief", "dimensions"),
                )


def _claims_known(draft: Draft) -> list[str] | None:
    """Return the ids of the claims, or None when they cannot be read."""
    claims = draft.value("brief", "claims")
    if not isinstance(claims, list | tuple):
        return None
    return [name for name in draft.names("brief", "claims", key="id") if name]


def _stimulus_claims(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    claims = _claims_known(draft)
    known = set(claims or ())
    for index, _ in draft.items("stimuli"):
        place: KeyPath = ("stimuli", index, "claim")
        name = draft.value(*place)
        if claims is not None and isinstance(name, str) and name not in known:
            yield place, _reference(name, claims, "a claim of the brief", "claims")


def _late_ticks(draft: Draft) -> Iterator[tuple[KeyPath, int]]:
    """Yield the ticks of stimuli and surveys that lie beyond the horizon."""
    horizon = draft.value("horizon")
    if not _whole(horizon):
        return
    for place in _timed(draft):
        ticks = [((*place, i), tick) for i, tick in draft.items(*place)]
        for where, tick in ticks or [(place, draft.value(*place))]:
            if _whole(tick) and tick > horizon:
                yield where, tick


def _timed(draft: Draft) -> Iterator[KeyPath]:
    """Yield the places of ticks: of stimuli, then of surveys."""
    for key in ("stimuli", "surveys"):
        for index, _ in draft.items(key):
            yield key, index, "tick"


def _survey_targets(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    claims, dimensions = _claims_known(draft), draft.names("brief", "dimensions")
    targets = dict.fromkeys([*dimensions, *(claims or ())])
    for index, _ in draft.items("surveys"):
        place: KeyPath = ("surveys", index, "target")
        name = draft.value(*place)
        known = claims is not None and bool(dimensions)
        if known and isinstance(name, str) and name not in targets:
            noun = "a dimension or claim of the brief"
            yield place, _reference(name, [*targets], noun, "beliefs")


def _stimulus_ids(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    """Compare given and default ids.

    A stimulus with several ticks becomes several events, ID-TICK; since no id holds a "-" and no
    tick appears twice in a list, events differ when the ids do.
    """
    seen: dict[str, int] = {}
    for index, item in draft.items("stimuli"):
        given = item.get("id") if isinstance(item, dict) else None
        name = given if isinstance(given, str) else f"s{index + 1}"
        if name in seen:
            yield (
                ("stimuli", index, "id"),
                f"the id {quoted(name)} is taken by stimuli[{seen[name]}]; ids must differ",
            )
        seen.setdefault(name, index)


def _repeated_ticks(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    for place in _timed(draft):
        words = [str(tick) if _whole(tick) else "" for _, tick in draft.items(*place)]
        for at, word in _duplicates(words):
            yield (*place, at), f"the tick {word} appears twice"


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _population(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    if draft.value("population", "source") != SAMPLE or not draft.wrote("population"):
        return
    if not draft.wrote("population", "size"):
        yield ("population", "size"), "is required when the population is sampled"
    for key in ("id_column", "columns"):
        if draft.wrote("population", key) and draft.value("population", key) != {}:
            yield ("population", key), _only_for_a_file("")
    if draft.entries("population", "personality", "columns"):
        yield ("population", "personality", "columns"), _only_for_a_file("")
    for place in _column_places(draft):
        yield place, _only_for_a_file("a column ")


def _only_for_a_file(what: str) -> str:
    return f"{what}needs a file in population.source; the population is sampled"


def _column_places(draft: Draft) -> Iterator[KeyPath]:
    """Yield the places that are read from a column of the population's file."""
    places: list[KeyPath] = [("population", "activity"), ("population", "tier")]
    places += [("population", "beliefs", name) for name in draft.entries("population", "beliefs")]
    for place in places:
        if "column" in draft.entries(*place) and "distribution" not in draft.entries(*place):
            yield (*place, "column")


def _beliefs(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    claims, dimensions = _claims_known(draft), draft.names("brief", "dimensions")
    targets = dict.fromkeys([*dimensions, *(claims or ())])
    for name, source in draft.entries("population", "beliefs").items():
        place: KeyPath = ("population", "beliefs", name)
        if claims is not None and dimensions and name not in targets:
            yield (
                place,
                _reference(name, [*targets], "a dimension or claim of the brief", "beliefs"),
            )
        if isinstance(source, dict):
            for key, message in _distribution(source):
                yield (*place, key), message


def _distribution(source: dict[str, Any]) -> Iterator[tuple[str, str]]:
    match source:
        case {
            "distribution": "uniform",
            "low": float() | int() as low,
            "high": float() | int() as high,
        } if low > high:
            yield "low", f"must not be above high ({high})"
        case {"distribution": "choice", "values": values, "weights": list() | tuple() as weights}:
            if isinstance(values, list | tuple) and len(weights) != len(values):
                yield "weights", f"must be one per value ({len(values)}), not {len(weights)}"
            elif weights and not any(weights):
                yield "weights", "must not all be 0"


def _graph(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    kind = draft.value("graph", "kind")
    if kind == "edges" and not draft.wrote("graph", "file"):
        yield ("graph", "file"), "is required by kind edges: a file of `source target` lines"
    if kind in _GROUPING and draft.value("graph", "by") in ([], ()):
        yield ("graph", "by"), f"is required by kind {kind}: a list of attributes"
    degree, size = draft.value("graph", "degree"), draft.value("population", "size")
    if kind in _NO_DEGREE or not draft.wrote("graph", "degree"):
        return
    if _whole(degree) and _whole(size) and degree >= size > 1:
        yield (
            ("graph", "degree"),
            f"must be less than population.size ({size}), not {degree}: ties are to others",
        )


def _actions(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    actions = draft.names("actions")
    for index, name in _duplicates(actions):
        yield ("actions", index), f"the action {quoted(name)} appears twice"
    final = draft.value("final_actions") is not False
    needed = [name for name in ALWAYS_POSSIBLE if not (final and name in FINAL)]
    if not actions or set(actions) - set(ACTIONS) or set(needed) & set(actions):
        return
    because = " (buy and reject are final; see final_actions)" if final else ""
    yield (
        ("actions",),
        f"must include an action that is always possible: one of {listed(needed)}{because}",
    )


def _models(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    for tier in TIERS:
        provider = draft.value("models", tier, "provider")
        if provider in _WAYS:
            yield from _language(draft, tier, str(provider))
    if draft.value("encoder", "name") == "openai" and not draft.wrote("encoder", "model"):
        yield ("encoder", "model"), "is required by the encoder openai"


def _language(draft: Draft, tier: str, provider: str) -> Iterator[tuple[KeyPath, str]]:
    if not draft.wrote("models", tier, "model"):
        yield ("models", tier, "model"), f"is required by the provider {provider}"
    way, ways = draft.value("models", tier, "structured"), _WAYS[provider]
    if way not in ways and way in _ALL_WAYS:
        allowed = f"the provider {provider} has {listed(ways)}"
        yield ("models", tier, "structured"), f"{way} is none of its ways; {allowed}"
    own: KeyPath = ("models", tier, "temperature")
    place = own if draft.value(*own) is not None else ("temperature",)
    heat = draft.value(*place)
    if provider == "anthropic" and isinstance(heat, int | float) and 1.0 < heat <= MOST_HEAT:
        yield place, "must be at most 1 for the provider anthropic"


def _recall(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    mode, traits = draft.value("recall", "mode"), draft.value("population", "personality")
    if mode in _PERSONAL and traits == "none":
        yield (
            ("recall", "mode"),
            f"{mode} needs personas with a personality; population.personality is none",
        )


def _gains(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    name, kind = draft.value("persmem", "gains"), draft.value("population", "personality", "kind")
    known = MAPS.get(kind, ()) if isinstance(kind, str) else ()
    if known and name not in known and any(name in names for names in MAPS.values()):
        yield (
            ("persmem", "gains"),
            f"there is no map {name} for the personality {kind}; there are {listed(known)}",
        )


def _affect(draft: Draft) -> Iterator[tuple[KeyPath, str]]:
    appraiser = draft.value("affect", "appraiser")
    for key, owner in (("norms", "lexicon"), ("coefficients", "embedding")):
        if draft.wrote("affect", key) and appraiser in _APPRAISERS - {owner}:
            yield ("affect", key), f"belongs to the appraiser {owner}, not {appraiser}"
    if draft.value("models", "cheap", "provider") != "rule":
        return
    for place in (("affect", "appraiser"), ("persmem", "controller")):
        if draft.value(*place) == "model":
            yield (
                place,
                "model asks the model of the cheap tier, and models.cheap.provider is rule",
            )


def _addresses(draft: Draft, allow_hosts: Sequence[str]) -> Iterator[tuple[KeyPath, str]]:
    places: list[tuple[KeyPath, KeyPath]] = [
        (("models", tier, "base_url"), ("models", tier, "provider")) for tier in TIERS
    ]
    places.append((("encoder", "base_url"), ("encoder", "name")))
    for place, provider in places:
        url = draft.value(*place)
        if isinstance(url, str):
            problem = address_problem(
                url, provider=str(draft.value(*provider)), allow_hosts=allow_hosts
            )
            if problem is not None:
                yield place, problem


_CHECKS = (
    _brief,
    _weights,
    _stimulus_claims,
    _repeated_ticks,
    _stimulus_ids,
    survey_problems,
    _survey_targets,
    _population,
    _beliefs,
    personality_problems,
    _graph,
    _actions,
    _recall,
    _gains,
    _affect,
    _models,
)
