from __future__ import annotations

import numpy as np

from simulation.posts import KIND_CODE, PostLog


def publish(log: PostLog, **columns: list[int]) -> list[int]:
    count = len(columns["author"])
    whole = {
        "tick": [1] * count,
        "kind": [0] * count,
        "parent": [-1] * count,
        "claim": [-1] * count,
        "text": [0] * count,
        "addressee": [-1] * count,
        "stimulus": [-1] * count,
    } | {k: v for k, v in columns.items() if k not in ("stance", "credibility")}
    real = {"stance": [0.0] * count, "credibility": [0.5] * count}
    ids: list[int] = log.publish(
        {name: np.array(values, dtype=np.int64) for name, values in whole.items()},
        {name: np.array(values, dtype=np.float64) for name, values in real.items()},
    ).tolist()
    return ids


def test_ids_are_places_in_order_of_publication() -> None:
    log = PostLog()
    assert publish(log, author=[0, 1]) == [0, 1]
    assert publish(log, author=[2]) == [2]
    assert log.integers("author").tolist() == [0, 1, 2]


def test_the_root_of_a_repost_of_a_repost_is_the_original() -> None:
    log = PostLog()
    publish(log, author=[0])
    publish(log, author=[1], kind=[KIND_CODE["repost"]], parent=[0])
    publish(log, author=[2], kind=[KIND_CODE["repost"]], parent=[1])
    assert log.integers("root").tolist() == [0, 0, 0]


def test_a_comment_is_its_own_root() -> None:
    log = PostLog()
    publish(log, author=[0])
    publish(log, author=[1], kind=[KIND_CODE["comment"]], parent=[0])
    assert log.integers("root").tolist() == [0, 1]


def test_engagement_with_a_repost_counts_for_the_original() -> None:
    log = PostLog()
    publish(log, author=[0])
    publish(log, author=[1], kind=[KIND_CODE["repost"]], parent=[0])
    log.engage(np.array([1, 1, 0]), np.array([1.0, 1.0, -1.0]))
    assert log.floats("engagement").tolist() == [1.0, 0.0]


def test_the_log_grows_past_its_first_room_and_keeps_what_it_holds() -> None:
    log = PostLog()
    for author in range(100):
        publish(log, author=[author, author])
    assert len(log) == 200
    assert log.integers("author")[::2].tolist() == list(range(100))
