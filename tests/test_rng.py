"""Every draw is a pure function of seed, purpose, tick, id and index."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulation.rng import Streams, sha256_hex, stream_keys

MANY = 40_000
PINNED_BITS = ["0x85a8d52422a5ec94", "0xc8fa96941eaac54d"]
PINNED_UNIFORM = [0.5568657734344712, 0.9018779759629961]
PINNED_GUMBEL = [0.5354068665645132, 2.2703497815449505]
PINNED_NORMAL = [1.0100526059409332, 0.44073318389759314]
IDS = [f"p{i}" for i in range(MANY)]
KEYS = stream_keys(IDS)


def reference(seed: int, purpose: str, tick: int, persona: str, index: int) -> int:
    """Return the 64 bits of one draw in plain integers, as the module's docstring describes."""
    whole = (1 << 64) - 1

    def mix(x: int) -> int:
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & whole
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & whole
        return x ^ (x >> 31)

    digest = hashlib.sha256(f"{seed}|{purpose}|{tick}".encode()).digest()
    first, second = (int.from_bytes(digest[i : i + 8], "little") for i in (0, 8))
    key = int.from_bytes(
        hashlib.sha256(persona.encode("utf-8", "surrogatepass")).digest()[:8], "little"
    )
    mixed = mix(((key ^ first) + 0x9E3779B97F4A7C15) & whole)
    return mix(((mixed ^ second) + index * 0xD1B54A32D192ED03) & whole)


@settings(deadline=None)
@given(
    st.integers(),
    st.sampled_from(["gate", "activity", "recall-random"]),
    st.integers(0, 10_000),
    st.text(),
    st.integers(0, 2**63 - 1),
)
def test_a_draw_is_the_documented_hash(
    seed: int, purpose: str, tick: int, persona: str, index: int
) -> None:
    keys = stream_keys([persona])
    bits = Streams(seed).bits(purpose, tick=tick, keys=keys, index=index)
    assert int(bits[0]) == reference(seed, purpose, tick, persona, index)


def test_draws_are_pinned() -> None:
    streams, keys = Streams(7), stream_keys(["anna", "Zoë"])
    bits = streams.bits("gate", tick=3, keys=keys, index=2)
    assert [hex(b) for b in bits.tolist()] == PINNED_BITS
    np.testing.assert_allclose(
        streams.uniform("gate", tick=3, keys=keys), PINNED_UNIFORM, rtol=1e-15
    )
    np.testing.assert_allclose(
        streams.gumbel("gate", tick=3, keys=keys), PINNED_GUMBEL, rtol=1e-13
    )
    np.testing.assert_allclose(
        streams.normal("gate", tick=3, keys=keys), PINNED_NORMAL, rtol=1e-13
    )


@settings(deadline=None)
@given(st.lists(st.integers(0, MANY - 1), min_size=1, max_size=50))
def test_a_draw_depends_neither_on_its_place_in_a_batch_nor_on_the_others(
    chosen: list[int],
) -> None:
    streams = Streams(1)
    everyone = streams.uniform("activity", tick=5, keys=KEYS)
    some = streams.uniform("activity", tick=5, keys=KEYS[chosen])
    alone = [streams.uniform("activity", tick=5, keys=KEYS[i : i + 1])[0] for i in chosen[:5]]
    assert (some == everyone[chosen]).all()
    assert alone == everyone[chosen[:5]].tolist()


def test_a_table_of_indices_holds_the_draws_of_each_index() -> None:
    streams = Streams(1)
    table = streams.uniform("slot", tick=2, keys=KEYS[:6, None], index=np.arange(4))
    for index in range(4):
        column = streams.uniform("slot", tick=2, keys=KEYS[:6], index=index)
        assert (table[:, index] == column).all()


@pytest.mark.parametrize("purpose", ["activity", "gate"])
def test_uniform_draws_are_uniform_over_personas(purpose: str) -> None:
    draws = Streams(11).uniform(purpose, tick=1, keys=KEYS)
    assert draws.min() > 0
    assert draws.max() < 1
    _assert_uniform(draws)


def test_uniform_draws_are_uniform_over_ticks_indices_and_seeds() -> None:
    key = KEYS[:1]
    _assert_uniform(
        np.concatenate([Streams(1).uniform("a", tick=t, keys=key) for t in range(4000)])
    )
    _assert_uniform(Streams(1).uniform("a", tick=1, keys=key, index=np.arange(MANY)))
    _assert_uniform(
        np.concatenate([Streams(s).uniform("a", tick=1, keys=key) for s in range(4000)])
    )


def _assert_uniform(draws: np.ndarray) -> None:
    """Kolmogorov-Smirnov: the largest gap exceeds 2.2 / sqrt(n) once in 8,000 times."""
    ordered = np.sort(draws)
    gap = np.abs(ordered - (np.arange(len(ordered)) + 0.5) / len(ordered)).max()
    assert gap < 2.2 / math.sqrt(len(ordered))


@pytest.mark.parametrize(
    "other",
    [
        Streams(2).uniform("a", tick=1, keys=KEYS),
        Streams(1).uniform("b", tick=1, keys=KEYS),
        Streams(1).uniform("a", tick=2, keys=KEYS),
        Streams(1).uniform("a", tick=1, keys=KEYS, index=1),
        Streams(1).uniform("a", tick=1, keys=np.roll(KEYS, 1)),
    ],
    ids=["seed", "purpose", "tick", "index", "id"],
)
def test_another_seed_purpose_tick_index_or_id_gives_independent_draws(
    other: np.ndarray,
) -> None:
    draws = Streams(1).uniform("a", tick=1, keys=KEYS)
    assert abs(float(np.corrcoef(draws, other)[0, 1])) < 4 / math.sqrt(MANY)
    assert (draws != other).all()


def test_gumbel_and_normal_draws_have_their_moments() -> None:
    error = 4 / math.sqrt(MANY)
    normal = Streams(3).normal("z", tick=0, keys=KEYS)
    assert abs(normal.mean()) < error
    assert abs(normal.std() - 1) < error
    gumbel = Streams(3).gumbel("g", tick=0, keys=KEYS)
    assert abs(gumbel.mean() - np.euler_gamma) < 1.3 * error
    assert abs(gumbel.std() - math.pi / math.sqrt(6)) < 2 * error


def test_normal_draws_of_neighbouring_indices_share_no_uniform() -> None:
    first = Streams(3).normal("z", tick=0, keys=KEYS, index=0)
    second = Streams(3).normal("z", tick=0, keys=KEYS, index=1)
    assert abs(float(np.corrcoef(first, second)[0, 1])) < 4 / math.sqrt(MANY)
    assert abs(float(np.corrcoef(first**2, second**2)[0, 1])) < 4 / math.sqrt(MANY)


@settings(deadline=None)
@given(st.integers(0, 200), st.integers())
def test_a_permutation_holds_every_place_once(size: int, seed: int) -> None:
    order = Streams(seed).permutation("nodes", keys=KEYS[:size])
    assert sorted(order.tolist()) == list(range(size))


def test_permutations_differ_by_seed_purpose_and_tick_and_repeat_otherwise() -> None:
    keys = KEYS[:100]
    first = Streams(1).permutation("nodes", keys=keys).tolist()
    assert first == Streams(1).permutation("nodes", keys=keys).tolist()
    others = (
        Streams(2).permutation("nodes", keys=keys),
        Streams(1).permutation("ties", keys=keys),
        Streams(1).permutation("nodes", keys=keys, tick=1),
    )
    assert all(first != other.tolist() for other in others)


def test_a_permutation_puts_each_place_first_equally_often() -> None:
    keys = KEYS[:5]
    firsts = [int(Streams(s).permutation("x", keys=keys)[0]) for s in range(2000)]
    assert all(330 < n < 470 for n in np.bincount(firsts, minlength=5))


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8")))
def test_digests_are_those_of_the_utf8_bytes(text: str) -> None:
    digest = hashlib.sha256(text.encode())
    assert sha256_hex(text) == digest.hexdigest()
    assert int(stream_keys([text])[0]) == int.from_bytes(digest.digest()[:8], "little")


def test_no_ids_give_no_keys_and_no_draws() -> None:
    keys = stream_keys([])
    assert keys.shape == (0,)
    assert Streams(1).uniform("a", tick=1, keys=keys).shape == (0,)


def test_a_lone_surrogate_in_an_id_is_no_error() -> None:
    assert sha256_hex("\ud800") != sha256_hex("\udfff")
