"""The tables of the study `attachment-direction`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from simulation.mind.traits import ATTACHMENT_TRAITS
from simulation.studies.attachment_direction import protocol, redirections, specificity
from simulation.studies.intervals import spread
from simulation.studies.tables import Table
from simulation.studies.verdict import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulation.rng import FloatArray
    from simulation.studies.attachment_direction.claims import Claim
    from simulation.studies.attachment_direction.directions import Directions, Size
    from simulation.studies.attachment_direction.recall import Measures
    from simulation.studies.recalling import Bank
    from simulation.studies.tables import Cell

MEASURES: Final = ("valence", "negative", "dominance", "overgeneral")


def tables(
    found: Directions, elsewhere: Mapping[str, Directions], bank: Bank
) -> tuple[Table, ...]:
    """Return the tables of the report. elsewhere: other sets and maps, by their names."""
    return (
        _profiles(found),
        _sweeps(found),
        _probes(found),
        _specificity(found),
        _mistakes(found, bank),
        _redirections(found),
        _settings(found, elsewhere),
    )


def _by_seed(values: FloatArray) -> str:
    """Return a spread over seeds, from (S, C)."""
    return spread(values.mean(axis=1))


def _profiles(found: Directions) -> Table:
    bad = np.array(found.moods) == "negative"

    def cells(state: str, who: int) -> Iterator[str]:
        measured = found.profiles[state]
        yield f"{measured.first[0, who].mean():.3f}"
        yield _by_seed(measured.valence[:, who])
        yield f"{(measured.first[0, who][bad] < protocol.NEGATIVE).mean():.3f}"
        yield _by_seed(measured.negative[:, who][:, bad])
        yield _by_seed(measured.overgeneral[:, who])

    return Table(
        name="profiles",
        title="E.5: what profiles recall; means of the seeds (least to most) where not of one",
        columns=(
            "profile",
            "state",
            "valence, one memory a cue, seed 0",
            "valence, all draws",
            "negative-cue congruence, one memory a cue, seed 0",
            "negative-cue congruence, all draws",
            "overgeneral, all draws",
        ),
        rows=tuple(
            (name, state, *cells(state, who))
            for state in protocol.STATES
            for who, name in enumerate(protocol.PROFILES)
        ),
    )


def _sweeps(found: Directions) -> Table:
    return Table(
        name="sweeps",
        title=f"E.5: one trait moves, the other stays at {protocol.HELD}; means of the seeds",
        columns=("trait", "state", "level", *MEASURES),
        rows=tuple(
            (ATTACHMENT_TRAITS[trait], state, level, *_means(measured, place))
            for trait, states in found.sweeps.items()
            for state, measured in states.items()
            for place, level in enumerate(protocol.LEVELS)
        ),
    )


def _means(measured: Measures, who: int) -> tuple[float, ...]:
    return tuple(float(getattr(measured, name)[:, who].mean()) for name in MEASURES)


def _probes(found: Directions) -> Table:
    return Table(
        name="probes",
        title="E.5: eight neutral and eight positive-only probes; "
        "bias is the mean of [-v]+ of the three best scores",
        columns=("probes", "profile", *MEASURES, "bias"),
        rows=tuple(
            (probes, name, *_means(measured, who), float(found.bias[probes][who].mean()))
            for probes, measured in found.probes.items()
            for who, name in enumerate(protocol.PROFILES)
        ),
    )


def _specificity(found: Directions) -> Table:
    theirs = {
        f"term on less off, {profile}, {state}": value
        for (profile, state), value in specificity.TERM.items()
    } | {
        f"{profile} less secure, distress": value
        for profile, value in specificity.ABOVE_SECURE.items()
    }
    return Table(
        name="specificity",
        title="E.6: overgeneral recall by the second reader's labels; intervals over cues",
        columns=("difference", "found", "low", "high", "least seed", "most", "p", "theirs"),
        rows=tuple(
            (
                name,
                one.mean.value,
                one.mean.low,
                one.mean.high,
                min(one.seeds),
                max(one.seeds),
                f"{one.p:.2g}",
                theirs.get(name, ""),
            )
            for name, one in found.differences.items()
        ),
    )


def _mistakes(found: Directions, bank: Bank) -> Table:
    keys = tuple(specificity.TERM)
    crossed = found.crossed

    def row(share: float) -> tuple[Cell, ...]:
        labels = specificity.mistaken(crossed.second, bank.corpus.ids, share)
        return (share, *(float(crossed.term(*key, labels).mean()) for key in keys))

    return Table(
        name="mistakes",
        title="E.6: the term on less off, where a share of the counting labels is turned round",
        columns=("share", *(f"{profile}, {state}" for profile, state in keys)),
        rows=tuple(map(row, protocol.MISTAKES)),
    )


def _redirections(found: Directions) -> Table:
    def row(state: str, who: int, name: str) -> tuple[Cell, ...]:
        redirected = found.redirected[state]
        neutral = state == "neutral"
        return (
            state,
            name,
            spread(redirected.pooled[:, who]),
            redirections.SHARES[name] if neutral else "",
            spread(np.nanmean(redirected.share(name), axis=1)),
            spread(redirected.totals[:, who], 0),
            redirections.COUNTS[name] if neutral else "",
            spread((redirected.count[:, who] > 0).mean(axis=1)),
        )

    return Table(
        name="redirections",
        title="E.7: memories that took over an active search, four goals; means of the seeds",
        columns=(
            "state",
            "profile",
            "negative, pooled",
            "theirs",
            "negative, mean of runs",
            "redirections a seed",
            "theirs (number)",
            "runs with any",
        ),
        rows=tuple(
            row(state, who, name)
            for state in found.redirected
            for who, name in enumerate(protocol.ACTIVE_PROFILES)
        ),
    )


def _settings(found: Directions, elsewhere: Mapping[str, Directions]) -> Table:
    every = _every(found, elsewhere)
    claims = zip(*every.values(), strict=True)
    return Table(
        name="settings",
        title="Every direction, over both sets of memories, with calibrated and with fixed gains",
        columns=("part", "claim", *every),
        rows=tuple(
            (same[0].part, same[0].text, *(WORDS[claim.holds] for claim in same))
            for same in claims
            if same[0].holds is not None
        ),
    )


def _every(found: Directions, elsewhere: Mapping[str, Directions]) -> dict[str, tuple[Claim, ...]]:
    main = {f"{protocol.STORE}, {protocol.MAPS[0]}": found.claims}
    return main | {name: other.claims for name, other in elsewhere.items()}


def summary(elsewhere: Mapping[str, Directions]) -> Iterator[tuple[str, int, int]]:
    """Yield how many of the directions hold in each other setting: its name, that, and of what."""
    for name, found in elsewhere.items():
        judged = [claim.holds for claim in found.claims if claim.holds is not None]
        yield name, sum(judged), len(judged)


def records(found: Directions, elsewhere: Mapping[str, Directions], size: Size) -> dict[str, str]:
    """Return the long tables: claims in all settings, cues, what each gave, and each run."""
    return {
        "cues.csv": Table(
            name="cues",
            title="Cues",
            columns=("cue", "mood", "text"),
            rows=tuple(
                (i, m, t) for i, (m, t) in enumerate(zip(found.moods, found.cues, strict=True))
            ),
        ).csv(),
        "claims.csv": _claims(found, elsewhere).csv(),
        "rates.csv": _rates(found, size).csv(),
        "runs.csv": _runs(found, size).csv(),
    }


def _claims(found: Directions, elsewhere: Mapping[str, Directions]) -> Table:
    return Table(
        name="claims",
        title="Every claim in every setting",
        columns=("memories and gains", "part", "claim", "found", "target", "theirs", "verdict"),
        rows=tuple(
            (name, one.part, one.text, one.found, one.target, one.theirs, WORDS[one.holds])
            for name, claims in _every(found, elsewhere).items()
            for one in claims
        ),
    )


def _rates(found: Directions, size: Size) -> Table:
    rows = []
    for state, measured in found.profiles.items():
        on = {profile: found.crossed.term(profile, state) for profile in protocol.PROFILES}
        for s, seed in enumerate(size.seeds):
            for who, profile in enumerate(protocol.PROFILES):
                columns = [getattr(measured, name)[s, who].tolist() for name in MEASURES]
                columns += [measured.first[s, who].tolist(), on[profile][s].tolist()]
                rows += [
                    (state, seed, profile, cue, *values)
                    for cue, values in enumerate(zip(*columns, strict=True))
                ]
    head = ("state", "seed", "profile", "cue", *MEASURES, "first_valence", "term_on_less_off")
    return Table(name="rates", title="Cue by cue", columns=head, rows=tuple(rows))


def _runs(found: Directions, size: Size) -> Table:
    rows = tuple(
        (
            state,
            seed,
            profile,
            protocol.GOALS[run // size.runs],
            run % size.runs,
            int(redirected.count[s, who, run]),
            int(redirected.bad[s, who, run]),
        )
        for state, redirected in found.redirected.items()
        for s, seed in enumerate(size.seeds)
        for who, profile in enumerate(protocol.ACTIVE_PROFILES)
        for run in range(redirected.count.shape[2])
    )
    head = ("state", "seed", "profile", "goal", "run", "redirections", "negative")
    return Table(name="runs", title="Run by run", columns=head, rows=rows)
