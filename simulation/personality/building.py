"""From a scenario's `population.personality` and its people to one vector per persona."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulation.errors import Problem, ScenarioError
from simulation.mind.traits import ATTACHMENT_PROFILES
from simulation.personality import joint
from simulation.personality.checks import spec_problems, value_named
from simulation.personality.figures import FIGURES
from simulation.personality.personalities import Personalities
from simulation.rng import stream_keys
from simulation.scenario.model import PROFILES, TRAITS
from simulation.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulation.ontology import Attribute, Ontology
    from simulation.population import People
    from simulation.rng import FloatArray, Streams, UIntArray
    from simulation.scenario.model import Personality, PersonalitySource, Profile


def build(
    spec: PersonalitySource,
    *,
    people: People,
    ontology: Ontology,
    streams: Streams,
    source: str,
) -> Personalities:
    """Return the personalities of the people, in their order.

    source: the scenario's name in messages about its keys.

    A vector depends on the seed, the persona's id and what the scenario or the file says of it;
    never on who else takes part.

    Raises:
        ScenarioError: an attribute or value is unknown, or a persona has no profile.
    """
    if spec == "none":
        return Personalities.none(len(people))
    found = spec_problems(spec, ontology=ontology)
    if found:
        raise ScenarioError(source, found)
    if spec.columns is not None:
        return Personalities.of(spec.kind, people.traits)
    if spec.by is not None:
        return Personalities.of(spec.kind, _by(spec, people, ontology[spec.by], source))
    if spec.sample or spec.shares is not None:
        return Personalities.of(spec.kind, _drawn(spec, streams, stream_keys(people.ids)))
    return Personalities.of(spec.kind, np.tile(_fixed(spec), (len(people), 1)))


def _fixed(spec: Personality) -> FloatArray:
    """Return the vector of everyone, (T,)."""
    if spec.profile is not None:
        return np.array(ATTACHMENT_PROFILES[spec.profile])
    return np.array([getattr(spec, name) for name in TRAITS[spec.kind]], dtype=np.float64)


def _drawn(spec: Personality, streams: Streams, keys: UIntArray) -> FloatArray:
    if spec.shares is None:
        return joint.draw(FIGURES[spec.kind], TRAITS[spec.kind], streams=streams, keys=keys)
    return _shared_out(spec.shares, streams.uniform("personality:profile", tick=0, keys=keys))


def _shared_out(shares: Mapping[str, float], uniform: FloatArray) -> FloatArray:
    """Return the vectors of profiles drawn by their shares, (P, 2).

    The profiles stand in their own order, so the order of the scenario's keys never matters.
    """
    weights = np.array([shares.get(name, 0.0) for name in PROFILES])
    rising = np.cumsum(weights / weights.max())
    rising /= rising[-1]
    rising[np.flatnonzero(weights)[-1] :] = 1.0
    return _vectors(PROFILES)[np.searchsorted(rising, uniform, side="right")]


def _vectors(profiles: Sequence[Profile]) -> FloatArray:
    """Return (P, 2) vectors of named profiles."""
    found = [ATTACHMENT_PROFILES[name] for name in profiles]
    return np.array(found, dtype=np.float64).reshape(-1, 2)


def _by(spec: Personality, people: People, attribute: Attribute, source: str) -> FloatArray:
    """Return the vectors of the profiles that the people's values of an attribute call for."""
    profiles = spec.profiles or {}
    by_value = {value_named(attribute, name): profile for name, profile in profiles.items()}
    values = [held.get(attribute.id, "") for held in people.attributes]
    of = {value: _profile(by_value, attribute, value) or spec.otherwise for value in values}
    lacking = [value or "no value" for value, profile in of.items() if profile is None]
    if lacking:
        message = (
            f"no profile for personas with {attribute.id}: {listed(sorted(lacking), most=20)}; "
            "name one, or give `otherwise`"
        )
        problem = Problem(where="population.personality.profiles", message=message)
        raise ScenarioError(source, [problem])
    return _vectors([profile for value in values if (profile := of[value]) is not None])


def _profile(
    by_value: Mapping[str | None, Profile], attribute: Attribute, value: str
) -> Profile | None:
    """Return the profile of a value itself, or else of its band."""
    band = attribute.level(value) if attribute.kind == "number" else None
    return by_value.get(value) or by_value.get(band.id if band else value)
