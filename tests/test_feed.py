from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from test_posts import publish

from simulation import feed
from simulation.posts import KIND_CODE, KINDS, SPREADING, PostLog

PEOPLE = 5
TICK = 6


@dataclass
class Town:
    follows: list[tuple[int, int]]
    posts: list[tuple[int, int, int, int]]  # tick, author, kind, addressee
    shown: dict[int, list[bool]]
    last_turn: list[int]
    size: int


@st.composite
def towns(draw: st.DrawFn) -> Town:
    pair = st.tuples(st.integers(0, PEOPLE - 1), st.integers(0, PEOPLE - 1))
    follows = sorted(draw(st.sets(pair.filter(lambda p: p[0] != p[1]), max_size=12)))
    post = st.tuples(
        st.integers(1, TICK - 1),
        st.integers(0, PEOPLE - 1),
        st.integers(0, len(KINDS) - 1),
        st.integers(-1, PEOPLE - 1),
    )
    posts = sorted(draw(st.lists(post, max_size=15)))
    last_turn = draw(st.lists(st.integers(0, TICK - 1), min_size=PEOPLE, max_size=PEOPLE))
    return Town(follows, posts, {}, last_turn, draw(st.integers(1, 4)))


def log_of(town: Town) -> PostLog:
    log = PostLog()
    for tick, author, kind, addressee in town.posts:
        code = kind if KINDS[kind] != "repost" or len(log) else 0
        publish(
            log,
            tick=[tick],
            author=[author],
            kind=[code],
            addressee=[addressee],
            parent=[len(log) - 1 if KINDS[code] == "repost" else -1],
        )
    return log


def build(town: Town, log: PostLog, **ranking: float) -> feed.Feeds:
    source = np.array([a for a, _ in town.follows], dtype=np.int64)
    return feed.build(
        posts=log,
        offsets=np.searchsorted(source, np.arange(PEOPLE + 1)),
        followees=np.array([b for _, b in town.follows], dtype=np.int64),
        shown={post: np.array(who) for post, who in town.shown.items()},
        rows=np.arange(PEOPLE),
        last_turn=np.array(town.last_turn, dtype=np.int64),
        tick=TICK,
        ranking=feed.Ranking(size=town.size, **ranking),
        similarity=lambda rows, posts: ((rows * 7 + posts * 3) % 11) / 11.0,
    )


def naive(town: Town, log: PostLog) -> list[list[int]]:
    """Return the feeds as one would write them down for one persona at a time."""
    columns = {
        n: log.integers(n).tolist() for n in ("tick", "author", "kind", "addressee", "root")
    }
    feeds = []
    for me in range(PEOPLE):
        mine = {b for a, b in town.follows if a == me}
        best: dict[int, tuple[float, int]] = {}
        for i in range(len(log)):
            followed = columns["author"][i] in mine and KINDS[columns["kind"][i]] in SPREADING
            if not (followed or columns["addressee"][i] == me):
                continue
            if columns["tick"][i] < town.last_turn[me] or columns["tick"][i] >= TICK:
                continue
            root = columns["root"][i]
            if columns["author"][root] == me:
                continue
            score = 1.0 / (1.0 + TICK - columns["tick"][i])
            score += 1.0 * (columns["addressee"][i] == me) + ((me * 7 + i * 3) % 11) / 11.0
            best[root] = max(best.get(root, (-1.0, -1)), (score, i))
        ranked = sorted(best.values(), reverse=True)[: town.size]
        feeds.append([i for _, i in ranked])
    return feeds


@given(towns())
@settings(max_examples=150, deadline=None)
def test_a_feed_is_what_one_would_write_down_for_one_persona_at_a_time(town: Town) -> None:
    log = log_of(town)
    built = build(town, log).post
    assert [[i for i in row if i >= 0] for row in built.tolist()] == naive(town, log)


def one_post(**changes: int) -> tuple[Town, PostLog]:
    town = Town([(0, 1)], [], {}, [0] * PEOPLE, 3)
    log = PostLog()
    publish(log, **{"author": [1], "tick": [2]} | {k: [v] for k, v in changes.items()})
    return town, log


def test_a_follower_sees_a_post_and_others_do_not() -> None:
    town, log = one_post()
    assert build(town, log).post.tolist() == [[0, -1, -1], *[[-1, -1, -1]] * 4]


def test_a_post_of_this_tick_is_seen_in_the_next() -> None:
    town, log = one_post(tick=TICK)
    assert (build(town, log).post == -1).all()


def test_what_was_seen_at_the_last_turn_does_not_come_again() -> None:
    town, log = one_post(tick=2)
    town.last_turn[0] = 3  # the turn of tick 3 saw posts up to tick 2
    assert (build(town, log).post == -1).all()
    town.last_turn[0] = 2
    assert build(town, log).post[0, 0] == 0


def test_a_question_reaches_only_the_persona_it_is_addressed_to() -> None:
    town, log = one_post(kind=KIND_CODE["question"], addressee=3)
    assert build(town, log).post[:, 0].tolist() == [-1, -1, -1, 0, -1]


def test_a_stimulus_of_this_tick_is_seen_at_once_by_its_audience() -> None:
    town, log = one_post(author=-1, stimulus=0, tick=TICK)
    town.shown = {0: [False, True, False, False, True]}
    assert build(town, log).post[:, 0].tolist() == [-1, 0, -1, -1, 0]


def test_an_original_shared_by_two_peers_is_shown_once() -> None:
    town = Town([(0, 1), (0, 2)], [], {}, [0] * PEOPLE, 3)
    log = PostLog()
    publish(log, author=[3], tick=[1])
    repost = KIND_CODE["repost"]
    publish(log, author=[1, 2], tick=[2, 2], kind=[repost, repost], parent=[0, 0])
    feeds = build(town, log, similar=0.0)
    assert feeds.post[0].tolist() == [2, -1, -1]


def test_the_more_engaging_of_two_posts_comes_first() -> None:
    town = Town([(0, 1)], [], {}, [0] * PEOPLE, 3)
    log = PostLog()
    publish(log, author=[1, 1], tick=[2, 2])
    log.engage(np.array([0]), np.array([9.0]))
    feeds = build(town, log, similar=0.0, engaging=1.0)
    assert feeds.post[0].tolist() == [0, 1, -1]
    assert feeds.score[0, 0] > feeds.score[0, 1]
    assert np.isnan(feeds.score[0, 2])


def test_no_posts_and_no_people_give_empty_feeds() -> None:
    town = Town([], [], {}, [0] * PEOPLE, 2)
    assert (build(town, PostLog()).post == -1).all()
    nobody = feed.build(
        posts=PostLog(),
        offsets=np.zeros(1, dtype=np.int64),
        followees=np.zeros(0, dtype=np.int64),
        shown={},
        rows=np.zeros(0, dtype=np.int64),
        last_turn=np.zeros(0, dtype=np.int64),
        tick=1,
        ranking=feed.Ranking(),
        similarity=lambda rows, _posts: np.zeros(len(rows)),
    )
    assert nobody.post.shape == (0, 5)
